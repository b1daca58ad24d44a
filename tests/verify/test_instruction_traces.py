"""Both machines instruction by instruction: the traces agree, and a difference is placed."""

from __future__ import annotations

import random

import pytest

from emurust.verify import generated
from emurust.verify.backends import BOOT_FRAMES, EmuRustMachine, PyBoyMachine
from emurust.verify.bisect import first_parting
from emurust.verify.levels import Job, run_job


@pytest.fixture(scope="module", autouse=True)
def needs_traces() -> None:
    machine = EmuRustMachine(generated.video_rules(0).rom)
    try:
        if not hasattr(machine.gameboy._machine, "trace_tick"):
            pytest.skip("this build of EmuRust has no instruction trace")
    finally:
        machine.close()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("generator", ["chaos", "interrupt timing", "video rules"])
def test_traces_of_equal_machines_agree(generator: str, seed: int) -> None:
    case = generated.INTERACTION_GENERATORS[generator](seed)
    pyboy, emurust = PyBoyMachine(case.rom), EmuRustMachine(case.rom)
    try:
        for _ in range(BOOT_FRAMES + 3 + seed):
            pyboy.step((), observe=False)
            emurust.step((), observe=False)
        left = pyboy.trace_step((), observe=False)
        right = emurust.trace_step((), observe=False)
        assert left
        assert len(right) >= len(left)
        parting = first_parting(left, right, right_complete=True)
        assert parting is None, (left[parting[0]], right[parting[1]])
        assert pyboy.snapshot().ints["cycles"] == emurust.snapshot().ints["cycles"]
    finally:
        pyboy.close()
        emurust.close()


def test_tracing_changes_nothing() -> None:
    case = generated.chaos(5)
    traced, plain = EmuRustMachine(case.rom), EmuRustMachine(case.rom)
    try:
        for frame in range(BOOT_FRAMES + 20):
            if frame % 3 == 0:
                traced.trace_step((), observe=frame % 2 == 0)
            else:
                traced.step((), observe=frame % 2 == 0)
            plain.step((), observe=frame % 2 == 0)
        assert traced.gameboy.get_state() == plain.gameboy.get_state()
    finally:
        traced.close()
        plain.close()


@pytest.mark.parametrize("seed", range(4))
def test_the_instruction_that_differs_is_named(seed: int) -> None:
    """EmuRust runs a program with one constant changed; the report names its place."""
    case = generated.interrupt_timing(4)
    chance = random.Random(seed)
    code = [offset for offset in range(0x0200, 0x0400) if case.rom[offset] == 0x3E]  # LD A,d8
    changed = chance.choice(code)
    rom = bytearray(case.rom)
    rom[changed + 1] ^= 0x04
    verdict = run_job(
        Job(case.name, case.rom, 20, buttons="none"),
        right=lambda job: EmuRustMachine(bytes(rom), sound=job.sound, boot=job.boot),
    )
    found = verdict.instruction
    assert found is not None
    assert found.right_history[-1].pc == changed
    assert found.left_history[-1].pc == changed
    assert "<- differs" in verdict.explain()
