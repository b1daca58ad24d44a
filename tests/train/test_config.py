"""Options of a training: one file, overridden on the command line. Needs no PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

from emurust.train.config import default_config, load_config, override, to_toml
from emurust.train.errors import ConfigError


def test_the_defaults_are_an_example(tmp_path: Path) -> None:
    assert load_config() == default_config()
    path = tmp_path / "options.toml"
    path.write_text(to_toml(default_config()))
    assert load_config(path) == default_config()


def test_the_command_line_is_stronger_than_the_file(tmp_path: Path) -> None:
    path = tmp_path / "options.toml"
    path.write_text(
        '[env]\nmax_steps = 99\nstart_state = ["new-game", "leader-1"]\n'
        "[env.reward_weights]\nbadge = 20\n[train]\nlearning_rate = 1\n"
    )
    config = load_config(
        path,
        [
            "--env.max-steps=7",
            "--env.reward_weights.event",
            "1.5",
            "--policy.recurrent",
            "false",
            "--run.directory",
            "some where",
        ],
    )
    assert config["env"]["max_steps"] == 7
    assert config["env"]["start_state"] == ["new-game", "leader-1"]
    weights = config["env"]["reward_weights"]
    assert (weights["badge"], weights["event"]) == (20, 1.5)
    assert config["train"]["learning_rate"] == 1.0
    assert config["policy"]["recurrent"] is False
    assert config["run"]["directory"] == "some where"
    # What was not named stays as it was.
    assert config["train"]["gamma"] == default_config()["train"]["gamma"]
    path.write_text(to_toml(config))
    assert load_config(path) == config


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--env.max_step", "5"], "no option 'env.max_step'; did you mean env.max_steps"),
        (["--max_steps", "5"], "did you mean env.max_steps"),
        (["--colour", "5"], "no option 'colour'"),
        (["--env.reward_weights.event", "much"], "event must be a number, not 'much'"),
        (["--env.reward_weights", "5"], "must be a table of numbers, not 5"),
        (["--env.max_steps"], "--env.max_steps needs a value"),
        (["--env.max_steps", "1.5"], "max_steps must be a whole number, not 1.5"),
        (["--env.max_steps", "true"], "max_steps must be a whole number, not True"),
        (["--env.max_steps", "0"], "max_steps must be 1 or more, not 0"),
        (["--run.minutes", "-1"], "run.minutes must be 0 or more, not -1.0"),
        (["--train.gamma", "high"], "train.gamma must be a number, not 'high'"),
        (["--policy.recurrent", "1"], "policy.recurrent must be true or false, not 1"),
        (["--run.device", "3"], "run.device must be a text, not 3"),
        (["--env.start_state", "[]"], "start_state must be a text or a list of texts"),
        (["--env.observation", "dict"], "must be one of 'packed', 'all', 'screen', 'ram'"),
        (["--env.backend", "magic"], "env.backend must be one of"),
        (["--env.groups", "2", "--env.num_agents", "7"], "must be a multiple of env.groups"),
        (["--train.minibatch_size", "100"], "minibatch_size \\(100\\) must be a multiple"),
        (["--train.minibatch_size", "65536"], "divide env.num_agents x train.bptt_horizon"),
        (["--train.total_timesteps", "9"], "must be one update"),
        (["env.max_steps", "5"], "unexpected argument 'env.max_steps'"),
    ],
)
def test_wrong_options(arguments: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(None, arguments)


def test_wrong_files(tmp_path: Path) -> None:
    path = tmp_path / "options.toml"
    with pytest.raises(ConfigError, match=r"options\.toml cannot be read"):
        load_config(path)
    for text, message in (
        ("[env\n", "no TOML"),
        ("[enw]\nmax_steps = 3\n", "no option 'enw.max_steps'; did you mean env.max_steps"),
        ("[env]\nmax_step = 3\n", "options.toml: there is no option 'env.max_step'"),
        ("max_steps = 3\n", "no option 'max_steps'"),
        ("[env]\nreward_weights = 3\n", "must be a table of numbers"),
    ):
        path.write_text(text)
        with pytest.raises(ConfigError, match=message):
            load_config(path)


def test_overriding_changes_a_copy() -> None:
    config = default_config()
    changed = override(config, ["--env.reward_weights.event", "9", "--run.seed", "5"])
    assert changed["run"]["seed"] == 5
    assert config == default_config()
