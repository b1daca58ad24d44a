"""EmuRust against PyBoy on generated programs, and both ways of starting."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from emurust.verify import fields, generated
from emurust.verify.backends import BOOT_LOGO_VRAM, EmuRustMachine, PyBoyMachine
from emurust.verify.compare import compare
from emurust.verify.levels import Job, Verdict, generated_jobs, run_job
from emurust.verify.protocol import Input, Machine


def check(verdict: Verdict) -> None:
    assert verdict.equal, verdict.explain()


#: How many programs of each kind; `mappers` has a cartridge type for each.
PROGRAMS = {
    "single instructions": 6,
    "memory map": 6,
    "mappers": 26,
    "chaos": 12,
    "video rules": 8,
    "interrupt timing": 12,
    "clock": 5,
    "wild": 10,
}
GENERATORS = {**generated.PROPERTY_GENERATORS, **generated.INTERACTION_GENERATORS}
CASES = [(name, seed) for name, count in PROGRAMS.items() for seed in range(count)]


def test_every_generator_is_used() -> None:
    assert PROGRAMS.keys() == GENERATORS.keys()
    assert {job.level for job in generated_jobs(2, range(1), Job("", b"", 0))} == {2}


@pytest.mark.parametrize(("name", "seed"), CASES, ids=lambda value: str(value))
def test_generated_programs(name: str, seed: int, long_run: bool) -> None:
    repeats = 200 if long_run else 1
    for number in range(repeats):
        case = GENERATORS[name](seed + number * PROGRAMS[name])
        check(
            run_job(
                Job(
                    case.name,
                    case.rom,
                    case.frames,
                    seed=seed,
                    sound=(seed + number) % 2 == 1,
                    buttons="random" if case.buttons else "none",
                    bus_every=50 if seed % 3 == 0 else 0,
                )
            )
        )


class Poked:
    """Calls into a machine from outside between frames, the same ones on every side."""

    def __init__(self, machine: Machine, target: Any, seed: int) -> None:
        self._machine = machine
        self._target = target
        self._random = random.Random(seed)
        self.seen: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._machine, name)

    def step(self, inputs: Sequence[Input], *, observe: bool) -> None:
        chance = self._random
        for _ in range(chance.randrange(4)):
            self._poke(chance)
        self._machine.step(inputs, observe=observe)

    def _poke(self, chance: random.Random) -> None:
        memory, registers = self._target.memory, self._target.register_file
        first, last = chance.choice(
            (
                *((0x8000, 0x9FFF), (0xC000, 0xDDFF), (0xE000, 0xFDFF), (0xFE00, 0xFEFF)),
                *((0xFF00, 0xFF4F), (0xFF80, 0xFFFF), (0x0000, 0x7FFF), (0xA000, 0xBFFF)),
            )
        )
        address = chance.randint(first, last)
        kind = chance.randrange(10)
        if kind < 4:
            memory[address] = chance.randrange(256)
        elif kind < 8:
            self.seen.append(memory[address])
        elif kind == 8:
            setattr(registers, chance.choice(("A", "F", "B", "C", "D", "E")), chance.randrange(256))
        else:
            bank = 0
            start = chance.randint(0xC000, 0xCF00)
            self.seen.extend(memory[bank, start : start + 16])
            memory[start : start + 4] = [chance.randrange(256) for _ in range(4)]


@pytest.mark.parametrize("sound", [False, True], ids=["silent", "sound"])
@pytest.mark.parametrize("seed", range(6))
def test_reading_and_writing_from_outside(seed: int, sound: bool) -> None:
    """PyBoy's API and EmuRust's do the same to the machine, and return the same."""
    case = generated.chaos(seed + 300)
    job = Job(case.name, case.rom, 80, seed=seed, sound=sound, buttons="none")
    sides: list[Poked] = []

    def pyboy(job: Job) -> Any:
        machine = PyBoyMachine(job.rom, sound=job.sound)
        sides.append(Poked(machine, machine.pyboy, seed))
        return sides[-1]

    def emurust(job: Job) -> Any:
        machine = EmuRustMachine(job.rom, sound=job.sound)
        sides.append(Poked(machine, machine.gameboy, seed))
        return sides[-1]

    check(run_job(job, left=pyboy, right=emurust, bisect=False))
    assert len(sides[0].seen) > 50
    assert sides[0].seen == sides[1].seen


@pytest.mark.parametrize("render", ["every", "none"])
def test_drawing_everything_and_nothing(render: str) -> None:
    assert render in ("every", "none")
    case = generated.video_rules(77)
    check(run_job(Job(case.name, case.rom, 40, render=render, buttons="none")))  # type: ignore[arg-type]


def test_the_start_without_boot_rom_differs_in_the_drawing_only() -> None:
    rom = generated.interrupt_timing(5).rom
    pyboy, emurust = PyBoyMachine(rom, boot=False), EmuRustMachine(rom, boot=False)
    try:
        differences = compare(pyboy.snapshot(), emurust.snapshot())
        assert [array.name for array in differences.arrays] == ["vram"]
        left, right = pyboy.snapshot().arrays["vram"], emurust.snapshot().arrays["vram"]
        differing = left != right
        assert differing.any()
        assert not (differing & ~BOOT_LOGO_VRAM).any()
        assert not right[BOOT_LOGO_VRAM].any()
        assert np.array_equal(left[~BOOT_LOGO_VRAM], right[~BOOT_LOGO_VRAM])
        compared = {scalar.name for scalar in differences.scalars}
        assert not compared & {*fields.REGISTERS, "cycles", "div_counter"}
    finally:
        pyboy.close()
        emurust.close()


@pytest.mark.parametrize("sound", [False, True], ids=["silent", "sound"])
@pytest.mark.parametrize("seed", range(3))
def test_everything_is_equal_after_the_start_without_boot_rom(seed: int, sound: bool) -> None:
    for generator in (generated.chaos, generated.interrupt_timing, generated.video_rules):
        case = generator(seed + 500)
        check(run_job(Job(case.name, case.rom, 60, seed=seed, sound=sound, boot=False)))


@pytest.mark.parametrize("seed", range(4))
def test_saving_and_restoring_changes_nothing(seed: int) -> None:
    """A machine that is saved and restored at random frames equals PyBoy that is not."""

    class Restored(EmuRustMachine):
        chance = random.Random(seed)

        def step(self, inputs: object, *, observe: bool) -> None:
            super().step(inputs, observe=observe)  # type: ignore[arg-type]
            roll = self.chance.random()
            if roll < 0.2:
                state = self.gameboy.get_state()
                self.gameboy.tick(1 + seed, False)
                self.gameboy.set_state(state)
            elif roll < 0.4:
                state = self.gameboy.get_state()
                self.reset()
                self.gameboy.set_state(state)

    case = generated.chaos(seed + 900)
    job = Job(case.name, case.rom, 90, seed=seed, buttons="none", sound=bool(seed % 2))
    verdict = run_job(
        job,
        right=lambda job: Restored(job.rom, sound=job.sound, boot=job.boot),
        bisect=False,
    )
    check(verdict)


def test_a_machine_with_a_wrong_program_is_caught() -> None:
    """The levels can fail: one bit in the program is enough."""
    case = generated.interrupt_timing(4)
    caught = 0
    chance = random.Random(7)
    code = [offset for offset in range(0x150, 0x1000) if case.rom[offset] == 0x3E]  # LD A,d8
    for _ in range(6):
        rom = bytearray(case.rom)
        rom[chance.choice(code) + 1] ^= 0x04
        verdict = run_job(
            Job(case.name, case.rom, case.frames, buttons="none"),
            right=lambda job, rom=bytes(rom): EmuRustMachine(rom, boot=job.boot),  # type: ignore[misc]
            bisect=False,
        )
        caught += not verdict.equal
    assert caught >= 4
