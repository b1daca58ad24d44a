"""Comparing environments that have nothing to do with Game Boys: a pond and a faster pond."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from emurust.verify.environments import (
    Environment,
    Step,
    compare_episodes,
    compare_steps,
    first_difference,
)

ROWS, COLUMNS = 5, 6


class Pond:
    """A frog hops from leaf to leaf; a leaf sinks under it. Written to be obvious."""

    name = "pond"

    def reset(self, seed: int) -> None:
        self.leaves = {
            (row, column)
            for row in range(ROWS)
            for column in range(COLUMNS)
            if (seed * 31 + row * 7 + column * 3) % 5
        }
        self.frog = (0, 0)
        self.leaves.add(self.frog)
        self.eaten = 0

    def step(self, action: int) -> Step:
        self.leaves.discard(self.frog)
        row, column = self.frog
        down, right = ((1, 0), (0, 1), (-1, 0), (0, -1))[action]
        self.frog = ((row + down) % ROWS, (column + right) % COLUMNS)
        if self.frog not in self.leaves:
            return Step(-1.0, terminated=True)
        self.eaten += 1
        return Step(0.5, truncated=self.eaten == 12)

    def state_hash(self) -> int:
        return zlib.crc32(repr((sorted(self.leaves), self.frog, self.eaten)).encode())

    def observation(self) -> dict[str, npt.NDArray[Any]]:
        leaves = np.zeros((ROWS, COLUMNS), np.uint8)
        for place in self.leaves:
            leaves[place] = 1
        return {"leaves": leaves, "frog": np.array(self.frog, np.int16)}


class FastPond:
    """The same in an array, with `mistake` from a step of the episode on."""

    name = "fast pond"

    def __init__(self, mistake: str = "", after: int = 0) -> None:
        self.mistake = mistake
        self.after = after

    def reset(self, seed: int) -> None:
        row, column = np.indices((ROWS, COLUMNS))
        self.leaves = ((seed * 31 + row * 7 + column * 3) % 5 > 0).astype(np.uint8)
        self.leaves[0, 0] = 1
        self.at = 0
        self.eaten = 0
        self.steps = 0

    def step(self, action: int) -> Step:
        self.steps += 1
        wrong = self.mistake if self.steps > self.after else ""
        if wrong != "leaves stay":
            self.leaves.flat[self.at] = 0
        row, column = divmod(self.at, COLUMNS)
        row = (row + (1, 0, -1, 0)[action]) % ROWS
        column = (column + (0, 1, 0, -1)[action]) % COLUMNS
        self.at = row * COLUMNS + column
        if not self.leaves[row, column]:
            return Step(-1.0, terminated=True)
        self.eaten += 1
        if wrong == "forgets to count":
            self.eaten -= 1
        return Step(0.5 + (wrong == "reward") * 1e-9, truncated=self.eaten == 12)

    def state_hash(self) -> int:
        leaves = sorted(divmod(int(place), COLUMNS) for place in np.flatnonzero(self.leaves))
        return zlib.crc32(repr((leaves, divmod(self.at, COLUMNS), self.eaten)).encode())

    def observation(self) -> dict[str, npt.NDArray[Any]]:
        return {
            "leaves": self.leaves,
            "frog": np.array(divmod(self.at, COLUMNS), np.int16),
        }


def onward(observation: dict[str, npt.NDArray[Any]]) -> int:
    """To the first neighbour with a leaf; the frog lives long."""
    row, column = observation["frog"].tolist()
    for action, (down, right) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
        if observation["leaves"][(row + down) % ROWS, (column + right) % COLUMNS]:
            return action
    return 0


def test_both_are_environments() -> None:
    assert isinstance(Pond(), Environment)
    assert isinstance(FastPond(), Environment)


def test_equal_ponds() -> None:
    found = compare_episodes(Pond(), FastPond(), onward, seeds=range(20), max_steps=30)
    assert found.equal
    assert found.episodes == len(found.returns) == 20
    assert found.steps > 100
    assert len(set(found.returns)) >= 3


@pytest.mark.parametrize(
    ("mistake", "what"),
    [
        ("leaves stay", "observation leaves"),
        ("reward", "reward"),
        ("forgets to count", "state"),
    ],
)
def test_the_first_difference_is_named(mistake: str, what: str) -> None:
    found = compare_episodes(Pond(), FastPond(mistake, 3), onward, seeds=[4], max_steps=30)
    assert found.difference is not None
    assert (found.difference.step, found.difference.what) == (4, what)
    assert (found.steps, len(found.actions)) == (4, 4)
    assert f"after step 4: {what}" in str(found.difference)


@pytest.mark.parametrize("every", [1, 5, 64])
@pytest.mark.parametrize("after", [0, 2, 6])
def test_bisecting_finds_the_same_step(every: int, after: int) -> None:
    pond = Pond()
    pond.reset(4)
    actions = []
    for _ in range(9):
        actions.append(onward(pond.observation()))
        pond.step(actions[-1])
    mistaken = FastPond("forgets to count", after)
    found = first_difference(Pond(), mistaken, actions, seed=4, every=every)
    assert found is not None
    assert found.step == after + 1
    assert first_difference(Pond(), FastPond(), actions, seed=4, every=every) is None


def test_shapes_and_fields_are_compared() -> None:
    seen = {"a": np.zeros((2, 3), np.uint8)}

    def what(other: dict[str, Any]) -> str:
        found = compare_steps((Step(), seen, 1), (Step(), other, 1), 7)
        assert found is not None
        return str(found)

    assert "fields" in what({"b": seen["a"]})
    assert "uint8 (2, 3) and uint8 (3, 2)" in what({"a": seen["a"].reshape(3, 2)})
    assert "uint8 (2, 3) and int8 (2, 3)" in what({"a": seen["a"].astype(np.int8)})
    other = seen["a"].copy()
    other[1, 2] = 9
    assert "at [1, 2] (1 of 6 differ): 0 and 9" in what({"a": other})
