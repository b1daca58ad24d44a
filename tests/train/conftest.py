"""Small trainings for the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_SMALL = [
    "--run.device=cpu",
    "--run.threads=1",
    "--env.num_agents=8",
    "--env.max_steps=24",
    "--env.workers=2",
    "--train.bptt_horizon=8",
    "--train.minibatch_size=32",
    "--train.total_timesteps=512",
    "--train.checkpoint_interval=1000",
    "--policy.recurrent=true",
    "--policy.hidden_size=16",
    "--policy.cell_size=4",
    "--policy.other_size=8",
    "--report.dashboard=off",
    "--report.tensorboard=false",
    "--report.picture_interval=0",
    "--report.video_interval=0",
]
"""Eight updates of 64 steps, within seconds."""

Small = Callable[..., Any]


@pytest.fixture(scope="session")
def small_options() -> list[str]:
    """Options of a small training, as on the command line."""
    return list(_SMALL)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Options of a small training in a folder of its own; with more of them."""
    from emurust.train.config import load_config

    def options(folder: str, *more: str) -> Any:
        return load_config(None, [*_SMALL, f"--run.directory={tmp_path / folder}", *more])

    return options
