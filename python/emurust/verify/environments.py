"""Comparing two implementations of an environment: of any kind, not only Game Boys.

Implement `Environment` on both sides and call `compare_episodes`, which plays both with the
same actions and stops at the first step after which they differ. Where states are costly to
look at, `first_difference` looks at few and finds the step by bisecting. docs/recipe.md tells
how to get from there to a correct rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

__all__ = [
    "Comparison",
    "Difference",
    "Environment",
    "Step",
    "compare_episodes",
    "compare_steps",
    "first_difference",
]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Step:
    """What a step of one agent gave, beside the observation."""

    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False


@runtime_checkable
class Environment(Protocol):
    """An environment that can be compared with another implementation of itself.

    Equal seeds and actions must give equal runs.
    """

    @property
    def name(self) -> str:
        """How reports call this side."""

    def reset(self, seed: int) -> None:
        """Begins an episode."""

    def step(self, action: int) -> Step:
        """Takes an action."""

    def state_hash(self) -> int:
        """A number that differs when anything differs on which later steps depend. What may
        differ between the sides without consequences does not belong into it."""

    def observation(self) -> dict[str, Array]:
        """What the agent sees, by name; a live view is allowed."""


@dataclass(frozen=True)
class Difference:
    """The first difference of two sides.

    Attributes:
        step: number of the step, counted from 1; 0: at the reset.
        what: ``"observation NAME"``, ``"reward"``, ``"terminated"``, ``"truncated"`` or
            ``"state"``.
        left, right: both sides' values: where an observation differs first.
        where: index in the observation, and how many elements differ.
        seed: of the episode.
        agent: number of the agent, where many are compared at once.
    """

    step: int
    what: str
    left: Any
    right: Any
    where: str = ""
    seed: int = 0
    agent: int = 0

    def __str__(self) -> str:
        at = "at the reset" if self.step == 0 else f"after step {self.step}"
        where = f" {self.where}" if self.where else ""
        return (
            f"seed {self.seed}, agent {self.agent}, {at}: {self.what}{where}: "
            f"{self.left} and {self.right}"
        )


@dataclass(frozen=True)
class Comparison:
    """What came of comparing.

    Attributes:
        steps: how many were compared and found equal.
        episodes: how many ended.
        difference: the first, or None.
        actions: of the episode in which the sides differ, to play it again.
        returns: sums of the rewards of the episodes that ended.
    """

    steps: int
    episodes: int
    difference: Difference | None
    actions: Sequence[int] = ()
    returns: Sequence[float] = field(default_factory=tuple)

    @property
    def equal(self) -> bool:
        """Whether no difference was found."""
        return self.difference is None


def compare_steps(
    left: tuple[Step, dict[str, Array], int],
    right: tuple[Step, dict[str, Array], int],
    step: int,
    *,
    seed: int = 0,
    agent: int = 0,
) -> Difference | None:
    """The first difference between what both sides gave: step, observation and state hash.

    Rewards are compared by value: one that was rounded otherwise is another one.
    """

    def difference(what: str, one: Any, other: Any, where: str = "") -> Difference:
        return Difference(step, what, one, other, where, seed, agent)

    for what in ("reward", "terminated", "truncated"):
        one, other = getattr(left[0], what), getattr(right[0], what)
        if one != other:
            return difference(what, one, other)
    if left[1].keys() != right[1].keys():
        return difference("observation", sorted(left[1]), sorted(right[1]), "fields")
    for name, one in left[1].items():
        other = right[1][name]
        if one.shape != other.shape or one.dtype != other.dtype:
            described = [f"{array.dtype} {array.shape}" for array in (one, other)]
            return difference(f"observation {name}", *described)
        unequal = np.argwhere(np.atleast_1d(one != other))
        if len(unequal):
            index = tuple(unequal[0].tolist())
            return difference(
                f"observation {name}",
                np.atleast_1d(one)[index],
                np.atleast_1d(other)[index],
                f"at {list(index)} ({len(unequal)} of {one.size} differ)",
            )
    if left[2] != right[2]:
        return difference("state", f"{left[2]:#x}", f"{right[2]:#x}", "hash")
    return None


def compare_episodes(
    left: Environment,
    right: Environment,
    choose: Callable[[dict[str, Array]], int],
    *,
    seeds: Sequence[int],
    max_steps: int,
) -> Comparison:
    """Plays an episode for each seed on both sides and compares after each step.

    Args:
        left, right: both sides.
        choose: the action for an observation (of the left side, which is equal to the
            other's), for example a policy's or a random one.
        seeds: of the episodes.
        max_steps: longest episode.
    """
    steps = episodes = 0
    returns: list[float] = []
    for seed in seeds:
        left.reset(seed)
        right.reset(seed)
        actions: list[int] = []
        total = 0.0
        given = [Step(), Step()]
        while True:
            sides = [
                (one, side.observation(), side.state_hash())
                for one, side in zip(given, (left, right), strict=True)
            ]
            difference = compare_steps(sides[0], sides[1], len(actions), seed=seed)
            if difference is not None:
                return Comparison(steps, episodes, difference, actions, returns)
            total += given[0].reward
            over = given[0].terminated or given[0].truncated or len(actions) == max_steps
            if over:
                break
            actions.append(choose(left.observation()))
            given = [side.step(actions[-1]) for side in (left, right)]
            steps += 1
        episodes += 1
        returns.append(total)
    return Comparison(steps, episodes, None, (), returns)


def first_difference(
    left: Environment,
    right: Environment,
    actions: Sequence[int],
    *,
    seed: int = 0,
    every: int = 64,
) -> Difference | None:
    """The first step of a run after which the sides differ, looking at few states.

    The run is played once with a look every so many steps. When they differ, it is played
    again from the reset up to the middle of what is left, until one step is left.

    Args:
        left, right: both sides.
        actions: the run.
        seed: of its episode.
        every: steps between looks; 1 looks at each.
    """

    def at(count: int) -> Difference | None:
        """How the sides differ after `count` actions, played from the reset."""
        sides = []
        for side in (left, right):
            side.reset(seed)
            given = Step()
            for action in actions[:count]:
                given = side.step(action)
            sides.append((given, side.observation(), side.state_hash()))
        return compare_steps(sides[0], sides[1], count, seed=seed)

    left.reset(seed)
    right.reset(seed)
    equal_after = -1
    for count in range(len(actions) + 1):
        given = [Step(), Step()]
        if count > 0:
            given = [side.step(actions[count - 1]) for side in (left, right)]
        if count % every and count != len(actions):
            continue
        sides = [
            (one, side.observation(), side.state_hash())
            for one, side in zip(given, (left, right), strict=True)
        ]
        found = compare_steps(sides[0], sides[1], count, seed=seed)
        if found is None:
            equal_after = count
            continue
        differs_after = count
        while differs_after - equal_after > 1:
            middle = (equal_after + differs_after) // 2
            earlier = at(middle)
            if earlier is None:
                equal_after = middle
            else:
                differs_after, found = middle, earlier
        return found
    return None
