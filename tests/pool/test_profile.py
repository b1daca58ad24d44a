"""Costs by part."""

from __future__ import annotations

import pytest

from emurust.cli import main
from emurust.pool_profile import profile


def test_parts_are_told() -> None:
    told: list[tuple[int, int]] = []
    costs = profile(num_envs=2, rounds=1, seconds=0.05, progress=lambda *now: told.append(now))
    assert set(costs) == {"emulation", "rendering", "task", "hand-over", "total"}
    assert told == [(number, 5) for number in range(1, 6)]
    assert costs["emulation"] > costs["hand-over"] > 0


@pytest.mark.slow
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--profile", "--rounds", "1"]) == 0
    said = capsys.readouterr().out
    for part in ("emulation", "rendering", "task", "hand-over", "total", "steps/s"):
        assert part in said
