"""Running two machines side by side until they differ."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from emurust.verify.compare import (
    ArrayDifference,
    Differences,
    FieldFilter,
    compare,
    compare_arrays,
)
from emurust.verify.errors import VerifyError
from emurust.verify.inputs import Script, no_buttons
from emurust.verify.protocol import Locking, Machine, MachineFactory, Snapshot

if TYPE_CHECKING:
    from numpy.typing import NDArray

Render = Literal["every", "none", "mixed"]


@dataclass(frozen=True)
class Plan:
    """What a rollout does; equal plans give equal rollouts.

    Attributes:
        frames: steps to run.
        script: inputs per step (missing steps mean no input).
        render: which steps ask for an observation.
        seed: of the ``mixed`` render pattern.
        always_render: steps that are observed in every ``render`` mode but ``none``.
        bus_every: read the whole bus on both sides every so many steps (0: never);
            such reads have side effects, equal ones on both sides.
        screen_every: compare the picture this often even when nothing was drawn
            (0: only when it was).
    """

    frames: int
    script: Script = ()
    render: Render = "mixed"
    seed: int = 0
    always_render: frozenset[int] = frozenset()
    bus_every: int = 0
    screen_every: int = 16

    def observed(self) -> list[bool]:
        """For every step whether it is observed."""
        if self.render == "every":
            return [True] * self.frames
        if self.render == "none":
            pattern = np.zeros(self.frames, dtype=bool)
        else:
            # Stretches of drawn and undrawn frames, so that the first drawn frame
            # after many undrawn ones and single drawn ones both occur.
            rng = np.random.default_rng(self.seed + 0x5EED)
            lengths = rng.integers(1, 24, size=self.frames + 1)
            kinds = rng.random(self.frames + 1) < 0.35
            pattern = np.repeat(kinds, lengths)[: self.frames]
        result: list[bool] = pattern.tolist()
        for step in self.always_render:
            if step < self.frames:
                result[step] = True
        return result


@dataclass(frozen=True)
class Divergence:
    """The first step after which two machines differ.

    Attributes:
        step: its number, counted from 0.
        observed: whether it was observed.
        differences: what differs.
        left, right: both states, frozen.
        left_screen, right_screen: both pictures, frozen.
    """

    step: int
    observed: bool
    differences: Differences
    left: Snapshot
    right: Snapshot
    left_screen: NDArray[np.uint8]
    right_screen: NDArray[np.uint8]


@dataclass(frozen=True)
class Outcome:
    """What a rollout found.

    Attributes:
        steps: how many were run and found equal (all of them without divergence).
        divergence: the first difference, or None.
        compared: names of all fields that were compared.
        seconds: wall-clock time.
        left, right: the states at the end, frozen (empty after a divergence).
        locked: the run ended early because the right machine locked up (see
            :attr:`.protocol.Locking.locked`) and the left one would not have returned.
    """

    steps: int
    divergence: Divergence | None
    compared: frozenset[str]
    seconds: float
    left: Snapshot = field(default_factory=Snapshot)
    right: Snapshot = field(default_factory=Snapshot)
    locked: bool = False


#: Called after each step with the number of steps done.
Progress = Callable[[int], None]

#: Fields without which a rollout proves nothing.
REQUIRED = frozenset(
    {"a", "f", "b", "c", "d", "e", "hl", "sp", "pc", "cycles"}
    | {"vram", "wram", "oam", "hram", "cart_ram", "screen"}
)


def rollout(
    left: Machine,
    right: Machine,
    plan: Plan,
    *,
    keep: FieldFilter | None = None,
    required: Iterable[str] = REQUIRED,
    progress: Progress | None = None,
) -> Outcome:
    """Run both machines through ``plan`` and stop after the first differing step.

    Both must be at their start. ``keep`` chooses the scalars that are compared.

    Raises:
        VerifyError: a ``required`` field is missing on one side, so that equality
            would not mean what it should.
    """
    started = time.perf_counter()
    observed = plan.observed()
    script = [*plan.script, *no_buttons(plan.frames - len(plan.script))]
    compared = _compared_names(left.snapshot(), right.snapshot(), keep, required)

    for step in range(plan.frames):
        observe = observed[step]
        inputs = script[step]
        right.step(inputs, observe=observe)
        if isinstance(right, Locking) and right.locked:
            end = time.perf_counter() - started
            return Outcome(step, None, compared, end, locked=True)
        left.step(inputs, observe=observe)
        left_state, right_state = left.snapshot(), right.snapshot()
        differences = compare(left_state, right_state, keep)
        if observe or (plan.screen_every and step % plan.screen_every == 0):
            screen = compare_arrays("screen", left.observation(), right.observation())
            if screen is not None:
                differences = _with(differences, screen)
        if not differences and plan.bus_every and (step + 1) % plan.bus_every == 0:
            # Read after the state: bus reads may change it, equally on both sides.
            differences = compare(left.bus_snapshot(), right.bus_snapshot())
        if differences:
            divergence = Divergence(
                step,
                observe,
                differences,
                left_state.frozen(),
                right_state.frozen(),
                left.observation().copy(),
                right.observation().copy(),
            )
            return Outcome(step, divergence, compared, time.perf_counter() - started)
        if progress is not None:
            progress(step + 1)
    return Outcome(
        plan.frames,
        None,
        compared,
        time.perf_counter() - started,
        left.snapshot().frozen(),
        right.snapshot().frozen(),
    )


def replay(factory: MachineFactory, plan: Plan, steps: int) -> Machine:
    """A fresh machine taken through the first ``steps`` steps of ``plan``.

    Replaying from the start, rather than loading a saved state, also reproduces what
    a machine remembers outside its saved state.
    """
    machine = factory()
    observed = plan.observed()
    for step in range(steps):
        inputs = plan.script[step] if step < len(plan.script) else ()
        machine.step(inputs, observe=observed[step])
        if plan.bus_every and (step + 1) % plan.bus_every == 0:
            machine.bus_snapshot()
    return machine


def _compared_names(
    left: Snapshot, right: Snapshot, keep: FieldFilter | None, required: Iterable[str]
) -> frozenset[str]:
    ints = {name for name in left.ints.keys() & right.ints.keys() if keep is None or keep(name)}
    names = ints | (left.arrays.keys() & right.arrays.keys()) | {"screen"}
    missing = sorted(set(required) - names)
    if missing:
        raise VerifyError(f"one of the machines does not show {', '.join(missing)}")
    return frozenset(names)


def _with(differences: Differences, extra: ArrayDifference) -> Differences:
    return Differences(differences.scalars, (*differences.arrays, extra))
