"""``EmuRust-Pokemon`` for PufferLib 3.

A native `PufferEnv`: many machines in one environment, stepped on threads, that write their
observations and rewards straight into PufferLib's buffers. It runs alone and under
PufferLib's Serial and Multiprocessing backends. PufferLib's trainer trains on it with

    python -m emurust.puffer train --train.device cpu

which takes PufferLib's options; the defaults are in ``configs/emurust_pokemon.ini`` beside
this module. Needs ``pip install 'emurust[puffer]'``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from emurust.errors import ArgumentError, DependencyError
from emurust.pool import Array, Pool
from emurust.rom import RomSource, usual_rom

try:
    import pufferlib
except ImportError as error:
    raise DependencyError(
        "emurust.puffer needs PufferLib: pip install 'emurust[puffer]'"
    ) from error

if TYPE_CHECKING:
    from emurust.puffer_policy import Policy, Recurrent

__all__ = ["CONFIG", "PokemonPuffer", "Policy", "Recurrent", "env_creator", "make"]

CONFIG = Path(__file__).with_name("configs") / "emurust_pokemon.ini"
"""Options for PufferLib's trainer."""

ENV_NAME = "emurust_pokemon"
_FLAT = ("packed", "all", "screen")


class PokemonPuffer(pufferlib.PufferEnv):  # type: ignore[misc]
    """Many machines that play `EmuRust-Pokemon`, each an agent of PufferLib's.

    An episode's end begins the next at once. Infos are a list of dicts of numbers: one for
    each ended episode (``episode_return``, ``episode_length`` and the task's progress at its
    end), and every `report_interval` steps one with the means of the progress over all agents
    under ``progress/``, as episodes are long; most steps give an empty list.

    Random streams: PufferLib gives each environment a number when it is made (as `seed`) and
    seeds that overlap between workers when it is reset. Agents' streams are derived from both
    and from the agent's number, so that no two agents of a run share one.

    Args:
        num_agents: number of machines.
        rom: as `emurust.vector.PokemonVectorEnv`.
        observation: ``"packed"`` (small), ``"all"`` or ``"screen"``: PufferLib's native
            environments have one flat array.
        report_interval: steps between reports of progress; 0: none.
        num_threads: threads; by default one under a backend of PufferLib's, which runs one
            process for each core, and one for each core alone.
        buf, seed: PufferLib's.
        pool_options: other arguments of `emurust.Pool`.

    Raises:
        As `emurust.Pool`.
    """

    def __init__(
        self,
        num_agents: int = 64,
        rom: RomSource = None,
        *,
        observation: str = "packed",
        report_interval: int = 1024,
        num_threads: int | None = None,
        buf: dict[str, Array] | None = None,
        seed: int | None = None,
        render_mode: str | None = None,
        **pool_options: Any,
    ) -> None:
        if observation not in _FLAT:
            raise ArgumentError(
                f"observation must be one of {', '.join(_FLAT)} for PufferLib, not {observation!r}"
            )
        if num_threads is None and buf is not None and "backend" not in pool_options:
            num_threads = 1
        self.num_agents = num_agents
        self.render_mode = render_mode
        self.report_interval = report_interval
        number = 0 if seed is None else int(seed)
        options: dict[str, Any] = {
            "observation": observation,
            "autoreset": "same_step",
            "first_index": number * num_agents,
            "num_threads": num_threads,
            **pool_options,
        }
        rom = usual_rom(rom)
        # The spaces are needed before PufferLib makes the buffers, and the buffers before the
        # pool: one machine says what they are.
        with Pool(rom, 1, **{**options, "num_threads": None, "backend": "threads"}) as one:
            self.task = one.task
            self.single_observation_space: Any = one.single_observation_space
            self.single_action_space: Any = spaces.Discrete(int(one.single_action_space.n))
        super().__init__(buf)
        self.pool = Pool(
            rom,
            num_agents,
            buffers={
                "observations": self.observations,
                "rewards": self.rewards,
                "terminations": self.terminals,
                "truncations": self.truncations,
            },
            **options,
        )
        self._returns = np.zeros(num_agents)
        self._lengths = np.zeros(num_agents, dtype=np.int64)
        self._steps = 0
        self._began = False

    def reset(self, seed: int | None = None) -> tuple[Array, list[dict[str, float]]]:
        """Begins episodes on all machines."""
        if seed is None and not self._began:
            seed = 0
        self.pool.reset(None if seed is None else int(seed))
        self._began = True
        self._returns[:] = 0
        self._lengths[:] = 0
        return self.observations, []

    def step(
        self, actions: npt.ArrayLike
    ) -> tuple[Array, Array, Array, Array, list[dict[str, float]]]:
        """Steps all machines."""
        _, _, _, _, infos = self.pool.step(np.asarray(actions).reshape(-1))
        self._returns += self.rewards
        self._lengths += 1
        self._steps += 1
        reports = []
        over = self.terminals | self.truncations
        if over.any():
            reports.extend(self._ended(over, infos))
        if self.report_interval and self._steps % self.report_interval == 0:
            means = self.pool.info_records.mean(axis=0, dtype=np.float64).tolist()
            names = self.pool.info_names
            reports.append(
                {f"progress/{name}": mean for name, mean in zip(names, means, strict=True)}
            )
        lost = int(infos["lost"].sum())
        if lost:
            reports.append({"lost": float(lost)})
        return self.observations, self.rewards, self.terminals, self.truncations, reports

    def _ended(self, over: Array, infos: dict[str, Any]) -> list[dict[str, float]]:
        reports = []
        for index in np.flatnonzero(over).tolist():
            report = {name: float(value[index]) for name, value in _columns(infos)}
            report["episode_return"] = report["score"] = float(self._returns[index])
            report["episode_length"] = float(self._lengths[index])
            reports.append(report)
            self._returns[index] = 0
            self._lengths[index] = 0
        return reports

    def render(self) -> Array:
        """The first machine's picture, (144, 160, 3) uint8; drawn only if the observation has
        pictures."""
        grey = np.array([255, 153, 85, 0, 0], dtype=np.uint8)[self.pool.screens()[0]]
        return np.repeat(grey[..., np.newaxis], 3, axis=-1)

    def close(self) -> None:
        """Ends the pool."""
        self.pool.close()


def _columns(infos: dict[str, Any]) -> Any:
    return infos["final_info"].items()


def env_creator(name: str = ENV_NAME) -> Callable[..., PokemonPuffer]:
    """What PufferLib's `vector.make` takes.

    Raises:
        ArgumentError: there is no environment of that name.
    """
    if name != ENV_NAME:
        raise ArgumentError(f"there is no environment {name!r}; there is {ENV_NAME!r}")
    return make


def make(*args: Any, **kwargs: Any) -> PokemonPuffer:
    """Makes the environment; a plain function, so that it pickles."""
    return PokemonPuffer(*args, **kwargs)


def __getattr__(name: str) -> Any:
    # The policies need torch, the environment does not.
    if name in ("Policy", "Recurrent"):
        from emurust import puffer_policy

        return getattr(puffer_policy, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_config(arguments: list[str]) -> dict[str, Any]:
    """PufferLib's configuration for the trainer: its defaults, ours, and ``--section.key
    value`` from the command line.

    Raises:
        ArgumentError: an argument is unknown or has no value.
    """
    import ast
    import configparser

    from pufferlib import pufferl

    own = configparser.ConfigParser()
    own.read(CONFIG)
    kept = sys.argv
    sys.argv = kept[:1]
    try:
        config: dict[str, Any] = pufferl.load_config("default")
    finally:
        sys.argv = kept

    def literal(text: str) -> Any:
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text

    for section in own.sections():
        target = config if section == "base" else config.setdefault(section, {})
        target.update({key: literal(value) for key, value in own[section].items()})
    rest = list(arguments)
    while rest:
        option = rest.pop(0)
        name = option.removeprefix("--").replace("-", "_")
        section, _, key = name.rpartition(".")
        target = config if not section else config.get(section, {})
        known = key in target or section in ("env", "policy", "rnn")
        if not option.startswith("--") or not known:
            raise ArgumentError(
                f"unknown option {option!r}; options are --section.key value, with the sections "
                "vec, env, policy, rnn and train and PufferLib's keys"
            )
        if not rest:
            raise ArgumentError(f"option {option} needs a value")
        target[key] = literal(rest.pop(0))
    config["train"]["use_rnn"] = config["rnn_name"] is not None
    return config


def main(arguments: list[str] | None = None) -> None:
    """``python -m emurust.puffer train [--section.key value ...]``."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] != "train":
        raise SystemExit("usage: python -m emurust.puffer train [--section.key value ...]")
    import pufferlib.vector
    from pufferlib import pufferl

    from emurust import puffer_policy

    config = load_config(arguments[1:])
    vecenv = pufferlib.vector.make(env_creator(), env_kwargs=config["env"], **config["vec"])
    policy = getattr(puffer_policy, config["policy_name"])(vecenv.driver_env, **config["policy"])
    if config["rnn_name"] is not None:
        wrapper = getattr(puffer_policy, config["rnn_name"])
        policy = wrapper(vecenv.driver_env, policy, **config["rnn"])
    policy = policy.to(config["train"]["device"])
    pufferl.train(ENV_NAME, args=config, vecenv=vecenv, policy=policy)


if __name__ == "__main__":
    main()
