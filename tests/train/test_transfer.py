"""Level 4: policies play the same episodes on EmuRust and on PyBoy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytestmark = [
    pytest.mark.train,
    # PyTorch's, where standard error is no file.
    pytest.mark.filterwarnings("ignore:Unable to enable fault handler"),
]
for needed in ("torch", "pufferlib", "pyboy"):
    pytest.importorskip(needed, reason=f"{needed} is not installed")

from emurust.cli import main  # noqa: E402
from emurust.train.checkpoint import read_checkpoint  # noqa: E402
from emurust.train.errors import ConfigError  # noqa: E402
from emurust.train.evaluate import evaluate  # noqa: E402
from emurust.train.run import resume_config, train  # noqa: E402
from emurust.verify import transfer as level4  # noqa: E402

if TYPE_CHECKING:
    from conftest import Small


def test_a_policy_from_here_plays_there(small: Small, capsys: pytest.CaptureFixture[str]) -> None:
    config = small("run", "--env.start_state=['new-game', 'leader-1']", "--env.max_steps=40")
    folder = train(config).checkpoint.parents[1]
    capsys.readouterr()
    assert main(["verify", "--level", "4", str(folder), "--episodes", "3", "--seed", "5"]) == 0
    out = capsys.readouterr().out
    assert "level 4, greedily: EQUAL" in out
    assert "40 equal steps in 1 whole episodes" in out
    assert "level 4, by sampling: EQUAL" in out
    assert "120 equal steps in 3 whole episodes" in out


@pytest.mark.parametrize("observation", ["packed", "all", "ram", "screen"])
def test_every_observation_transfers(small: Small, observation: str) -> None:
    config = small("run", f"--env.observation={observation}", "--train.total_timesteps=64")
    checkpoint = read_checkpoint(train(config).checkpoint)
    found = level4.transfer(checkpoint, greedy=False, episodes=2, max_steps=30)
    assert found.comparison.equal, found.comparison.difference
    assert found.comparison.steps == 60


def test_a_policy_from_there_scores_the_same_here(small: Small) -> None:
    config = small(
        "pyboy",
        "--env.backend=pyboy",
        "--env.workers=2",
        "--env.num_agents=4",
        "--train.total_timesteps=128",
        "--train.minibatch_size=32",
    )
    outcome = train(config)
    checkpoint = read_checkpoint(outcome.checkpoint)
    assert (outcome.checkpoint.parents[1] / "episodes.csv").read_text().count("\n") == 5
    found = level4.transfer(checkpoint, greedy=False, episodes=4, seed=3)
    assert found.comparison.equal, found.comparison.difference
    here = evaluate(checkpoint, episodes=4, seed=3)
    returns = [episode.info["episode_return"] for episode in here.episodes]
    assert returns == list(found.comparison.returns)
    with pytest.raises(ConfigError, match="on PyBoy cannot be resumed"):
        resume_config(outcome.checkpoint, [])


def test_a_difference_is_named(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = read_checkpoint(train(small("run", "--train.total_timesteps=64")).checkpoint)
    reference_setup = level4.reference_setup

    def other_reward(config: Any) -> Any:
        rom, recipe, starts = reference_setup(config)
        return rom, recipe.with_options(reward_scale=0.5), starts

    monkeypatch.setattr(level4, "reference_setup", other_reward)
    found = level4.transfer(checkpoint, greedy=False, episodes=2)
    assert found.comparison.difference is not None
    assert found.comparison.difference.what == "reward"
    assert len(found.comparison.actions) == found.comparison.difference.step
    assert found.side.startswith("EmuRust in threads")


def test_level_4_needs_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--level", "4"]) == 1
    assert "needs a checkpoint" in capsys.readouterr().err
    assert main(["verify", "--level", "4", str(tmp_path)]) == 1
    assert "there is no checkpoint in" in capsys.readouterr().err
    assert main(["verify", "--level", "4", "x", "--episodes", "0"]) == 1
    assert "--episodes must be 1 or more" in capsys.readouterr().err
