"""From a differing frame to the first differing instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from emurust.verify.compare import Differences, FieldFilter, compare
from emurust.verify.errors import VerifyError
from emurust.verify.protocol import Machine, MachineFactory, TraceEntry, Tracing
from emurust.verify.rollout import Divergence, Plan, replay

#: Instructions kept before the difference.
HISTORY = 24


@dataclass(frozen=True)
class InstructionDivergence:
    """Where two instruction traces part.

    Attributes:
        left, right: each side's state before its first differing instruction; None
            when that side executed no instruction at this point.
        left_history, right_history: the instructions before, oldest first. The last
            one is where the cause lies: it ran from an equal state to an unequal one.
        writers: instructions of the frame, by side, that wrote to the first differing
            memory byte, when registers agree to the end of the frame.
        disturbed: fields in which tracing changed the reference; empty when the trace
            is exact.
        note: why there is less here than usual.
    """

    left: TraceEntry | None = None
    right: TraceEntry | None = None
    left_history: tuple[TraceEntry, ...] = ()
    right_history: tuple[TraceEntry, ...] = ()
    writers: tuple[tuple[str, TraceEntry], ...] = ()
    disturbed: tuple[str, ...] = ()
    note: str = ""


def find_instruction(
    left_factory: MachineFactory,
    right_factory: MachineFactory,
    plan: Plan,
    divergence: Divergence,
    *,
    keep: FieldFilter | None = None,
    writes: Callable[[TraceEntry], Sequence[int]] | None = None,
    address_of: Callable[[Differences], int | None] | None = None,
) -> InstructionDivergence:
    """Replay both sides up to the differing frame and compare their instructions.

    Args:
        left_factory, right_factory: make fresh machines; the left is the reference.
        plan, divergence: of the rollout.
        keep: the rollout's choice of scalars.
        writes: addresses that an instruction writes to, to name the writer of a byte.
        address_of: the bus address of the first byte in some differences.
    """
    left = replay(left_factory, plan, divergence.step)
    right = replay(right_factory, plan, divergence.step)
    try:
        return _compare_traces(left, right, plan, divergence, keep, writes, address_of)
    finally:
        left.close()
        right.close()


def _trace(machine: Machine, plan: Plan, step: int) -> tuple[list[TraceEntry], str]:
    observe = plan.observed()[step]
    inputs = plan.script[step] if step < len(plan.script) else ()
    if isinstance(machine, Tracing):
        try:
            return machine.trace_step(inputs, observe=observe), ""
        except VerifyError as error:
            return [], f"{machine.name} cannot trace: {error}"
    return [], f"{machine.name} cannot trace"


def _compare_traces(
    left: Machine,
    right: Machine,
    plan: Plan,
    divergence: Divergence,
    keep: FieldFilter | None,
    writes: Callable[[TraceEntry], Sequence[int]] | None,
    address_of: Callable[[Differences], int | None] | None,
) -> InstructionDivergence:
    left_trace, left_note = _trace(left, plan, divergence.step)
    right_trace, right_note = _trace(right, plan, divergence.step)
    note = "; ".join(part for part in (left_note, right_note) if part)
    disturbed: tuple[str, ...] = ()
    if left_trace:
        disturbed = compare(divergence.left, left.snapshot(), keep).names()
    if not left_trace or not right_trace:
        return InstructionDivergence(
            left_history=tuple(left_trace[-HISTORY:]),
            right_history=tuple(right_trace[-HISTORY:]),
            disturbed=disturbed,
            note=note or "one side executed no traceable instruction in this frame",
        )
    complete = getattr(right, "traces_everything", False)
    parting = first_parting(left_trace, right_trace, right_complete=complete)
    if parting is not None:
        i, j = parting
        return InstructionDivergence(
            left=left_trace[i] if i < len(left_trace) else None,
            right=right_trace[j] if j < len(right_trace) else None,
            left_history=tuple(left_trace[max(0, i - HISTORY) : i]),
            right_history=tuple(right_trace[max(0, j - HISTORY) : j]),
            disturbed=disturbed,
            note=note,
        )
    writers: list[tuple[str, TraceEntry]] = []
    address = address_of(divergence.differences) if address_of is not None else None
    if address is not None and writes is not None:
        for side, trace in ((left.name, left_trace), (right.name, right_trace)):
            writers += [(side, entry) for entry in trace if address in writes(entry)][-4:]
    return InstructionDivergence(
        left_history=tuple(left_trace[-HISTORY:]),
        right_history=tuple(right_trace[-HISTORY:]),
        writers=tuple(writers),
        disturbed=disturbed,
        note="every traced instruction agrees; the difference is not in the registers",
    )


def first_parting(
    left: Sequence[TraceEntry], right: Sequence[TraceEntry], *, right_complete: bool = False
) -> tuple[int, int] | None:
    """Indices of the first entries that disagree, or None.

    Entries are matched by their cycle, which increases with every instruction. A
    reference that traces through hooks misses instructions until it has hooked them,
    so an entry that only one side has is a disagreement only if the other side has
    traced that address before, or (``right_complete``) if it traces everything.
    """
    right_at = {entry.cycle: index for index, entry in enumerate(right)}
    left_at = {entry.cycle: index for index, entry in enumerate(left)}
    seen_left: set[int] = set()
    seen_right: set[int] = set()
    for cycle in sorted(left_at.keys() | right_at.keys()):
        i, j = left_at.get(cycle), right_at.get(cycle)
        if i is not None and j is not None:
            if left[i].pc != right[j].pc or left[i].registers != right[j].registers:
                return i, j
            seen_left.add(left[i].pc)
            seen_right.add(right[j].pc)
        elif i is not None:
            if right_complete or left[i].pc in seen_right:
                return i, _first_from(right, cycle)
            seen_left.add(left[i].pc)
        elif j is not None:
            if right[j].pc in seen_left:
                return _first_from(left, cycle), j
            seen_right.add(right[j].pc)
    return None


def _first_from(trace: Sequence[TraceEntry], cycle: int) -> int:
    for index, entry in enumerate(trace):
        if entry.cycle >= cycle:
            return index
    return len(trace)
