"""What a machine must offer to be compared with another, and nothing more.

Two machines that implement :class:`Machine` can be run side by side by
:mod:`emurust.verify.rollout`; nothing there knows about Game Boys. To compare
another pair (an environment rewritten for speed against its original, say),
implement this protocol on both sides and reuse the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: One input event, for a Game Boy ``("press", "a")`` or ``("release", "left")``.
Input = tuple[str, str]


@dataclass
class Snapshot:
    """Everything compared at one step boundary.

    Attributes:
        ints: scalars by name.
        arrays: memories by name, ``uint8``. They may be live views into the
            machine: valid until its next step, never written to.
    """

    ints: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[np.uint8]] = field(default_factory=dict)

    def frozen(self) -> Snapshot:
        """A copy that later steps do not change."""
        return Snapshot(
            dict(self.ints), {name: np.array(value) for name, value in self.arrays.items()}
        )


@runtime_checkable
class Machine(Protocol):
    """A deterministic machine that advances in steps under recorded inputs."""

    @property
    def name(self) -> str:
        """How reports call this side."""

    def reset(self) -> None:
        """Go to the start: after this, equal inputs must give equal runs."""

    def step(self, inputs: Sequence[Input], *, observe: bool) -> None:
        """Apply ``inputs``, then advance one step; ``observe`` asks for an observation."""

    def snapshot(self) -> Snapshot:
        """The state at this boundary. Must have no side effects."""

    def bus_snapshot(self) -> Snapshot:
        """The state as seen through the public interface; may have side effects.

        Both sides are always asked at the same boundaries.
        """

    def observation(self) -> NDArray[np.uint8]:
        """The last observation (a live view is allowed)."""

    def close(self) -> None:
        """Free the machine."""


@dataclass(frozen=True)
class TraceEntry:
    """The machine just before one instruction.

    ``registers`` maps register names (``a`` ... ``sp``) to values; ``bank`` is the
    ROM bank mapped at 4000-7FFF, or -1 when unknown.
    """

    cycle: int
    pc: int
    bank: int
    registers: Mapping[str, int]


@runtime_checkable
class Tracing(Protocol):
    """A machine that can also record the instructions of one step."""

    def trace_step(self, inputs: Sequence[Input], *, observe: bool) -> list[TraceEntry]:
        """As ``step``, and return its instructions in order (possibly not all)."""


@runtime_checkable
class Locking(Protocol):
    """A machine that can get stuck for good, where its reference would never return."""

    @property
    def locked(self) -> bool:
        """It got stuck in the last step; no state from here on can be compared."""


#: Makes a fresh machine; called again for every replay.
MachineFactory = Callable[[], Machine]
