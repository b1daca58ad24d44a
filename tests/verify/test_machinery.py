"""The comparison itself: it must find what is there, and say where.

The pairs here are not Game Boys, or a PyBoy against a PyBoy tampered with.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from emurust.verify import fields
from emurust.verify.backends import BOOT_FRAMES, PyBoyMachine
from emurust.verify.bisect import find_instruction, first_parting
from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.compare import compare
from emurust.verify.errors import VerifyError
from emurust.verify.inputs import no_buttons, random_buttons
from emurust.verify.levels import Job, run_job
from emurust.verify.protocol import Input, Machine, Snapshot, TraceEntry
from emurust.verify.report import first_address, writes_of
from emurust.verify.rollout import Plan, replay, rollout


class Counter:
    """A machine that counts steps and presses; wrong from one step on, if asked."""

    def __init__(self, wrong_from: int = 1 << 30) -> None:
        self.steps = 0
        self.wrong_from = wrong_from
        self.memory = np.zeros(16, dtype=np.uint8)
        self.picture = np.zeros((2, 2, 4), dtype=np.uint8)

    @property
    def name(self) -> str:
        return "counter"

    def reset(self) -> None:
        self.steps = 0

    def step(self, inputs: Sequence[Input], *, observe: bool) -> None:
        self.steps += 1
        self.memory[self.steps % 16] += len(inputs) + (self.steps > self.wrong_from)
        if observe:
            self.picture += 1

    def snapshot(self) -> Snapshot:
        return Snapshot({"steps": self.steps}, {"memory": self.memory})

    def bus_snapshot(self) -> Snapshot:
        return self.snapshot()

    def observation(self) -> npt.NDArray[np.uint8]:
        return self.picture

    def close(self) -> None:
        pass


def test_equal_machines_are_equal() -> None:
    plan = Plan(200, random_buttons(200, seed=1), "mixed", bus_every=7)
    outcome = rollout(Counter(), Counter(), plan, required=("memory",))
    assert outcome.divergence is None
    assert outcome.steps == 200
    assert outcome.compared == {"steps", "memory", "screen"}


def test_the_first_differing_step_is_found() -> None:
    plan = Plan(200, no_buttons(200))
    outcome = rollout(Counter(), Counter(wrong_from=123), plan, required=())
    assert outcome.divergence is not None
    assert outcome.steps == outcome.divergence.step == 123
    assert outcome.divergence.differences.names() == ("memory",)
    (difference,) = outcome.divergence.differences.arrays
    assert difference.positions == ((124 % 16, 0, 1),)


def test_a_field_that_proves_nothing_by_its_absence_is_refused() -> None:
    with pytest.raises(VerifyError, match="does not show cycles, oam"):
        rollout(Counter(), Counter(), Plan(1), required=("memory", "oam", "cycles"))


def test_pictures_are_compared_also_when_not_drawn() -> None:
    right = Counter()
    right.picture[1, 1, 2] = 9
    outcome = rollout(Counter(), right, Plan(3, render="none"), required=())
    assert outcome.divergence is not None
    assert outcome.divergence.differences.names() == ("screen",)


def test_a_locked_machine_ends_the_run_before_the_reference_hangs() -> None:
    class Locks(Counter):
        @property
        def locked(self) -> bool:
            return self.steps > 7

    left = Counter()
    outcome = rollout(left, Locks(), Plan(50), required=())
    assert outcome.locked
    assert outcome.divergence is None
    assert outcome.steps == left.steps == 7


def test_mixed_rendering_has_long_gaps_and_single_frames() -> None:
    observed = Plan(3000, render="mixed", seed=3).observed()
    assert 0.1 < sum(observed) / len(observed) < 0.7
    runs = "".join("x" if drawn else "." for drawn in observed)
    assert ".x." in runs
    assert "." * 12 in runs


def test_a_rollout_is_reproducible() -> None:
    assert random_buttons(500, 4) == random_buttons(500, 4)
    assert random_buttons(500, 4) != random_buttons(500, 5)
    assert Plan(300, seed=4).observed() == Plan(300, seed=4).observed()


#: Counts frames in VBlank and stores a table entry; line 3 of the table is odd.
COUNTING = """
    ORG $0040
    PUSH AF
    PUSH HL
    LD A,($C000)
    INC A
    LD ($C000),A
    LD HL,$C100
    LD L,A
    CP {moment}
    JR NZ,usual
    LD (HL),{value}
    JR done
usual:
    LD (HL),$55
done:
    POP HL
    POP AF
    RETI
    ORG $0150
    LD SP,$DFF0
    XOR A
    LDH ($0F),A
    LD A,1
    LDH ($FF),A
    EI
forever:
    INC B
    JR forever
"""


def counting_rom(value: int, moment: int = 40) -> bytes:
    return assemble_cartridge(COUNTING.format(value=value, moment=moment))


def tampered(job: Job, rom: bytes) -> PyBoyMachine:
    return PyBoyMachine(rom, sound=job.sound, boot=job.boot)


def reference(job: Job) -> PyBoyMachine:
    return PyBoyMachine(job.rom, sound=job.sound, boot=job.boot)


def test_pyboy_equals_itself() -> None:
    job = Job("counting", counting_rom(0x77), 60, seed=1)
    verdict = run_job(job, left=reference, right=reference)
    assert verdict.equal
    assert {"vram", "wram", "oam", "hram", "cart_ram", "screen"} <= verdict.outcome.compared
    assert len(verdict.outcome.compared) > 60


def test_one_byte_is_found_and_its_instruction_named() -> None:
    job = Job("counting", counting_rom(0x77), 60, buttons="none")
    verdict = run_job(
        job, left=reference, right=partial(tampered, rom=counting_rom(0x78)), bisect=True
    )
    divergence = verdict.outcome.divergence
    assert divergence is not None
    # The cartridge's first VBlank comes in the frame after the boot program's last.
    assert divergence.step == BOOT_FRAMES + 39
    assert divergence.differences.names() == ("wram",)
    assert first_address(divergence.differences) == 0xC100 + 40
    found = verdict.instruction
    assert found is not None
    assert not found.disturbed
    assert found.writers
    writer = found.writers[-1][1]
    assert writes_of(job.rom, writer) == (0xC100 + 40,)
    text = verdict.explain("left", "right")
    assert "C128" in text
    assert "LD (HL),77" in text


def test_registers_that_part_are_found_at_their_instruction() -> None:
    """From some frame on one side counts down instead of up."""
    source = COUNTING.format(value=0x55, moment=200).replace(
        "    INC B\n    JR forever",
        "    LD A,($C000)\n    CP 30\n    JR C,forever\n    {change}\n    JR forever",
    )
    left_rom = assemble_cartridge(source.format(change="INC B"))
    right_rom = assemble_cartridge(source.format(change="DEC B"))
    job = Job("parting", left_rom, 60, buttons="none")
    verdict = run_job(job, left=reference, right=partial(tampered, rom=right_rom))
    found = verdict.instruction
    assert found is not None
    assert found.left is not None
    assert found.right is not None
    assert found.left_history[-1].pc == found.right_history[-1].pc
    culprit = left_rom[found.left_history[-1].pc], right_rom[found.right_history[-1].pc]
    assert culprit == (0x04, 0x05)  # INC B, DEC B
    assert (found.left.registers["b"], found.right.registers["b"]) == (1, 0xFF)


@pytest.mark.parametrize("area", ["vram", "oam", "hram", "wram", "cart_ram", "unusable"])
def test_a_flipped_bit_anywhere_is_noticed(area: str) -> None:
    left, right = PyBoyMachine(counting_rom(1)), PyBoyMachine(counting_rom(1))
    try:
        base, length = {
            "vram": (0x8000, 8192),
            "oam": (0xFE00, 160),
            "hram": (0xFF80, 127),
            "wram": (0xC000, 8192),
            "cart_ram": (0xA000, 8192),
            "unusable": (0xFEA0, 96),
        }[area]
        for offset in (0, length // 2, length - 1):
            if area == "cart_ram":
                right.pyboy.memory[0, base + offset] ^= 0x10
            else:
                right.pyboy.memory[base + offset] ^= 0x10
            differences = compare(left.snapshot(), right.snapshot())
            assert differences.names() == (area,)
            assert differences.arrays[0].positions[0][0] == offset
            if area == "cart_ram":
                right.pyboy.memory[0, base + offset] ^= 0x10
            else:
                right.pyboy.memory[base + offset] ^= 0x10
        assert not compare(left.snapshot(), right.snapshot())
    finally:
        left.close()
        right.close()


def test_a_changed_register_is_noticed() -> None:
    left, right = PyBoyMachine(counting_rom(1)), PyBoyMachine(counting_rom(1))
    try:
        for name in fields.REGISTERS:
            setattr(right.pyboy.register_file, name.upper(), 0x10)
            assert compare(left.snapshot(), right.snapshot()).names() == (name,)
            setattr(right.pyboy.register_file, name.upper(), 0)
    finally:
        left.close()
        right.close()


def test_both_ways_of_reading_pyboy_agree() -> None:
    live = PyBoyMachine(counting_rom(1), boot=False)
    public = PyBoyMachine(counting_rom(1), boot=False, live_views=False)
    try:
        assert public.structs is None
        for _ in range(5):
            live.step((), observe=True)
            public.step((), observe=True)
            fast, slow = live.snapshot(), public.snapshot()
            assert {"pc", "cycles", "if", "ie"} <= slow.ints.keys()
            assert {"vram", "wram", "hram", "cart_ram", "unusable"} <= slow.arrays.keys()
            assert not compare(fast, slow)
    finally:
        live.close()
        public.close()


def test_replaying_reaches_the_same_state() -> None:
    job = Job("counting", counting_rom(9), 30, seed=2)
    plan = job.plan()
    first, second = replay(partial(reference, job), plan, 80), reference(job)
    try:
        observed = plan.observed()
        for step in range(80):
            second.step(plan.script[step], observe=observed[step])
        assert not compare(first.snapshot(), second.snapshot())
    finally:
        first.close()
        second.close()


def entry(cycle: int, pc: int, **registers: int) -> TraceEntry:
    return TraceEntry(cycle, pc, 1, registers)


def test_traces_part_at_the_first_unequal_entry() -> None:
    left = [entry(0, 10, a=1), entry(4, 11, a=1), entry(8, 12, a=2)]
    assert first_parting(left, left) is None
    changed = [*left[:2], entry(8, 12, a=3)]
    assert first_parting(left, changed) == (2, 2)


def test_traces_may_miss_what_was_not_hooked_yet() -> None:
    complete = [entry(0, 10), entry(4, 11), entry(8, 12), entry(12, 10), entry(16, 11)]
    partial_trace = [complete[0], *complete[2:]]
    assert first_parting(partial_trace, complete, right_complete=True) is None
    # Once hooked, an instruction must be reached whenever the other side reaches it.
    missing_later = [complete[0], complete[1], complete[2], complete[3]]
    assert first_parting(missing_later, complete, right_complete=True) == (4, 4)


def test_a_trace_without_counterpart_parts_from_a_complete_one() -> None:
    complete = [entry(0, 10), entry(4, 11)]
    other = [entry(0, 10), entry(4, 11), entry(8, 99)]
    assert first_parting(other, complete, right_complete=True) == (2, 2)


def test_without_traces_the_bisection_says_so() -> None:
    plan = Plan(20, no_buttons(20))
    outcome = rollout(Counter(), Counter(wrong_from=5), plan, required=())
    assert outcome.divergence is not None
    found = find_instruction(Counter, partial(Counter, 5), plan, outcome.divergence)
    assert "cannot trace" in found.note


def test_the_protocol_is_what_the_machines_implement() -> None:
    assert isinstance(Counter(), Machine)
    machine = PyBoyMachine(counting_rom(1))
    try:
        assert isinstance(machine, Machine)
    finally:
        machine.close()
