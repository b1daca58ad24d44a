"""One file of options, every one of which the command line can override.

The shipped ``pokemon.toml`` has all options with their defaults: what is not there is no
option, and a value has the type of its default.
"""

from __future__ import annotations

import copy
import difflib
import importlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from emurust.errors import DependencyError
from emurust.train.errors import ConfigError

tomllib: Any
try:
    tomllib = importlib.import_module("tomllib")
except ImportError:  # Python 3.10
    try:
        tomllib = importlib.import_module("tomli")
    except ImportError as error:
        raise DependencyError(
            "training needs tomli on Python 3.10: pip install 'emurust[train]'"
        ) from error

__all__ = ["DEFAULTS", "Config", "default_config", "load_config", "override", "to_toml"]

Config: TypeAlias = dict[str, dict[str, Any]]

DEFAULTS = Path(__file__).with_name("pokemon.toml")
"""All options with their defaults."""

# Whoever gives weights knows the task's terms; the task checks them.
_FREE_TABLES = ("env.reward_weights",)
_SEVERAL = ("env.start_state",)
_CHOICES = {
    "env.backend": ("threads", "processes", "pyboy"),
    "env.groups": (1, 2),
    "env.observation": ("packed", "all", "screen", "ram"),
    "report.dashboard": ("auto", "on", "off"),
    "train.optimizer": ("adam", "muon"),
    "train.precision": ("float32", "bfloat16"),
}
_AT_LEAST_1 = (
    "env.max_steps",
    "env.num_agents",
    "policy.hidden_size",
    "policy.cell_size",
    "policy.other_size",
    "train.bptt_horizon",
    "train.checkpoint_interval",
    "train.keep_checkpoints",
    "train.max_minibatch_size",
    "train.minibatch_size",
    "train.total_timesteps",
    "train.update_epochs",
)


def default_config() -> Config:
    """All options with their defaults."""
    config: Config = tomllib.loads(DEFAULTS.read_text("utf-8"))
    return config


def load_config(path: Path | None = None, arguments: Sequence[str] = ()) -> Config:
    """The options of a training.

    Args:
        path: a TOML file with what differs from the defaults.
        arguments: ``--section.key value`` or ``--section.key=value``, stronger than the file.

    Raises:
        ConfigError: the file cannot be read, an option does not exist or a value makes no
            sense; the message names it.
    """
    config = default_config()
    if path is not None:
        try:
            own = tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            raise ConfigError(f"the options {path} cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"the options {path} are no TOML: {error}") from error
        for section, table in own.items():
            if not isinstance(table, dict):
                raise ConfigError(f"{path}: {_no_option(config, section)}")
            _merge(config, section, table, str(path))
    return override(config, arguments)


def override(config: Config, arguments: Sequence[str]) -> Config:
    """A copy of `config` with options from the command line.

    Raises:
        ConfigError: as `load_config`.
    """
    config = copy.deepcopy(config)
    rest = list(arguments)
    while rest:
        option = rest.pop(0)
        name, equals, text = option.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        if not option.startswith("--"):
            raise ConfigError(f"unexpected argument {option!r}; options are --section.key value")
        *tables, key = name.split(".")
        if not tables:
            raise ConfigError(f"{option}: {_no_option(config, name)}")
        _check_exists(config, name, "command line")
        if not equals:
            if not rest:
                raise ConfigError(f"{option} needs a value")
            text = rest.pop(0)
        table: Any = _value(text)
        for part in reversed((*tables[1:], key)):
            table = {part: table}
        _merge(config, tables[0], table, "command line")
    _check(config)
    return config


def to_toml(config: Config) -> str:
    """The options as a file."""
    lines = []
    for section, table in config.items():
        inner = {key: value for key, value in table.items() if isinstance(value, dict)}
        lines.append(f"[{section}]")
        # JSON's texts, numbers, truths and lists are TOML's.
        lines += [f"{key} = {json.dumps(table[key])}" for key in table if key not in inner]
        for name, own in inner.items():
            lines.append(f"\n[{section}.{name}]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in own.items()]
        lines.append("")
    return "\n".join(lines)


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _merge(config: Config, section: str, table: dict[str, Any], where: str) -> None:
    for key, value in table.items():
        name = f"{section}.{key}"
        _check_exists(config, name, where)
        if name == "env.task" and value != default_config()["env"]["task"]:
            # Another task has other terms; the defaults are not for it.
            for term, weight in default_config()["env"]["reward_weights"].items():
                if config["env"]["reward_weights"].get(term) == weight:
                    del config["env"]["reward_weights"][term]
        if name in _FREE_TABLES:
            if not isinstance(value, dict):
                raise ConfigError(f"{where}: {name} must be a table of numbers, not {value!r}")
            for term, weight in value.items():
                if isinstance(weight, bool) or not isinstance(weight, int | float):
                    raise ConfigError(f"{where}: {name}.{term} must be a number, not {weight!r}")
                config[section][key][term] = float(weight)
        else:
            config[section][key] = _typed(name, config[section][key], value, where)


def _typed(name: str, default: Any, value: Any, where: str) -> Any:
    if name in _SEVERAL and (
        isinstance(value, str)
        or (isinstance(value, list) and value and all(isinstance(one, str) for one in value))
    ):
        return value
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if type(value) is not type(default):
        names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
        wanted = "a text or a list of texts" if name in _SEVERAL else names[type(default)]
        raise ConfigError(f"{where}: {name} must be {wanted}, not {value!r}")
    return value


def _check_exists(config: Config, name: str, where: str) -> None:
    section, _, key = name.partition(".")
    if f"{section}.{key.partition('.')[0]}" in _FREE_TABLES:
        return
    if key not in config.get(section, {}):
        raise ConfigError(f"{where}: {_no_option(config, name)}")


def _no_option(config: Config, name: str) -> str:
    names = [f"{section}.{key}" for section, table in config.items() for key in table]
    near = difflib.get_close_matches(name, names, 3, 0.5) or [
        one for one in names if one.endswith(f".{name.rpartition('.')[2]}")
    ]
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"there is no option {name!r}{hint} ('emurust train --options' lists all)"


def _check(config: Config) -> None:
    def option(name: str) -> Any:
        section, key = name.split(".")
        return config[section][key]

    for name, choices in _CHOICES.items():
        if option(name) not in choices:
            listed = ", ".join(map(repr, choices))
            raise ConfigError(f"{name} must be one of {listed}, not {option(name)!r}")
    for name in _AT_LEAST_1:
        if option(name) < 1:
            raise ConfigError(f"{name} must be 1 or more, not {option(name)}")
    for section, table in config.items():
        for key, value in table.items():
            if isinstance(value, int | float) and value < 0:
                raise ConfigError(f"{section}.{key} must be 0 or more, not {value}")
    agents, groups = option("env.num_agents"), option("env.groups")
    if agents % groups:
        raise ConfigError(f"env.num_agents ({agents}) must be a multiple of env.groups ({groups})")
    horizon, minibatch = option("train.bptt_horizon"), option("train.minibatch_size")
    batch = agents * horizon
    if minibatch % horizon or batch % minibatch:
        raise ConfigError(
            f"train.minibatch_size ({minibatch}) must be a multiple of train.bptt_horizon "
            f"({horizon}) and divide env.num_agents x train.bptt_horizon ({batch})"
        )
    most = option("train.max_minibatch_size")
    if minibatch > most and minibatch % most:
        raise ConfigError(
            f"train.minibatch_size ({minibatch}) must be a multiple of "
            f"train.max_minibatch_size ({most}) when it is larger"
        )
    if option("train.total_timesteps") < batch:
        raise ConfigError(
            f"train.total_timesteps ({option('train.total_timesteps')}) must be one update "
            f"({batch} steps) or more"
        )
