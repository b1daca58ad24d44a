"""EmuRust against PyBoy on generated programs, and both ways of starting."""

from __future__ import annotations

import random

import numpy as np
import pytest

from emurust.verify import fields, generated
from emurust.verify.backends import BOOT_LOGO_VRAM, EmuRustMachine, PyBoyMachine
from emurust.verify.compare import compare
from emurust.verify.levels import Job, Verdict, generated_jobs, run_job


def check(verdict: Verdict) -> None:
    assert verdict.equal, verdict.explain()


SEEDS = range(12)


def jobs(level: int, *, sound: bool, seeds: range) -> list[Job]:
    return list(generated_jobs(level, seeds, Job("", b"", 0, sound=sound)))


@pytest.mark.parametrize("seed", SEEDS)
def test_level_1_properties(seed: int, long_run: bool) -> None:
    step = 1000 if long_run else 1
    for job in jobs(1, sound=bool(seed % 2), seeds=range(seed * step, (seed + 1) * step)):
        check(run_job(job))


@pytest.mark.parametrize("sound", [False, True], ids=["silent", "sound"])
@pytest.mark.parametrize("seed", SEEDS)
def test_level_2_interactions(seed: int, sound: bool, long_run: bool) -> None:
    step = 1000 if long_run else 1
    for job in jobs(2, sound=sound, seeds=range(seed * step, (seed + 1) * step)):
        check(run_job(job))


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
    case = generated.chaos(11)
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
    assert caught >= 3
