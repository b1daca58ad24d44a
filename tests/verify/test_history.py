"""What PyBoy's result depends on besides the machine's state, shown on PyBoy itself.

And that EmuRust does what `KNOWN_REFERENCE_HISTORY` says it does.
"""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from emurust.verify.backends import BOOT_FRAMES, EmuRustMachine, PyBoyMachine
from emurust.verify.history import (
    KNOWN_REFERENCE_HISTORY,
    clock_rom,
    cut_window_rom,
    illegal_rom,
    window_rom,
)
from emurust.verify.instructions import ILLEGAL_OPCODES
from emurust.verify.levels import WARMING_FRAME

AFTER_BOOT = BOOT_FRAMES + 10


def test_every_case_has_its_test() -> None:
    names = [case.name for case in KNOWN_REFERENCE_HISTORY]
    assert len(set(names)) == len(names)
    for case in KNOWN_REFERENCE_HISTORY:
        assert case.test in globals(), f"{case.name} names a test that does not exist"
        assert case.cause
        assert case.here


def run(machine: PyBoyMachine | EmuRustMachine, frames: int, drawn: frozenset[int]) -> None:
    for frame in range(frames):
        machine.step((), observe=frame in drawn)


def picture(machine: PyBoyMachine | EmuRustMachine) -> np.ndarray:
    machine.step((), observe=True)
    return machine.observation().copy()


def test_first_drawn_window_is_one_row_off() -> None:
    fresh, warm = PyBoyMachine(window_rom()), PyBoyMachine(window_rom())
    emurust = EmuRustMachine(window_rom())
    try:
        for machine, drawn in ((fresh, frozenset()), (warm, frozenset({WARMING_FRAME}))):
            run(machine, AFTER_BOOT, frozenset(drawn))
        run(emurust, AFTER_BOOT, frozenset())
        first = picture(fresh)
        usual = picture(warm)
        assert np.array_equal(first[:-1], usual[1:]), "one row off"
        assert not np.array_equal(first, usual)
        assert np.array_equal(picture(fresh), picture(warm)), "right from the second on"
        assert np.array_equal(picture(emurust), usual), "EmuRust is right at once"
    finally:
        for machine in (fresh, warm, emurust):
            machine.close()


def test_window_counter_remembers_a_frame_cut_short() -> None:
    """Two PyBoys in the same state, whose next picture differs by one earlier frame."""

    def play(machine: PyBoyMachine | EmuRustMachine, draw_the_cut_frame: bool) -> np.ndarray:
        run(machine, AFTER_BOOT, frozenset({WARMING_FRAME}))
        if isinstance(machine, PyBoyMachine):
            machine.pyboy.memory[0xC000] = 1
        else:
            machine.gameboy.memory[0xC000] = 1
        # LCD off in line 77 ends one tick, LCD on again the next; then a first frame
        # that is not drawn, so that it does not reset the counter.
        machine.step((), observe=draw_the_cut_frame)
        for _ in range(2):
            machine.step((), observe=False)
        return picture(machine)

    machines = [PyBoyMachine(cut_window_rom()) for _ in range(2)]
    twins = [EmuRustMachine(cut_window_rom()) for _ in range(2)]
    try:
        drawn, undrawn = play(machines[0], True), play(machines[1], False)
        assert machines[0].snapshot().ints["cycles"] == machines[1].snapshot().ints["cycles"]
        assert not np.array_equal(drawn, undrawn)
        assert np.array_equal(play(twins[0], True), drawn)
        assert np.array_equal(play(twins[1], False), undrawn)
    finally:
        for machine in (*machines, *twins):
            machine.close()


def test_banked_write_leaves_old_tile_pixels() -> None:
    pyboy, emurust = PyBoyMachine(window_rom()), EmuRustMachine(window_rom())
    try:
        for machine in (pyboy, emurust):
            run(machine, AFTER_BOOT, frozenset({WARMING_FRAME}))
        before = picture(pyboy)
        assert np.array_equal(before, picture(emurust))
        for address in range(0x8000, 0x8010):
            pyboy.pyboy.memory[0, address] = 0xFF
            emurust.gameboy.memory[0, address] = 0xFF
        assert np.array_equal(picture(pyboy), before), "PyBoy still shows the old tile"
        after = picture(emurust)
        assert (after[:, :, :3] == 0).all(), "EmuRust shows what is in memory"
        pyboy.pyboy.memory[0x8000] = 0xFF
        assert np.array_equal(picture(pyboy), after), "a bus write makes PyBoy look again"
    finally:
        pyboy.close()
        emurust.close()


def test_clock_read_twice_advances_by_host_time() -> None:
    pyboy, emurust = PyBoyMachine(clock_rom()), EmuRustMachine(clock_rom())
    try:
        run(pyboy, AFTER_BOOT, frozenset())
        run(emurust, AFTER_BOOT, frozenset())
        assert pyboy.structs is not None
        assert pyboy.structs.rtc is not None

        def state_after_reading_twice() -> tuple[bytes, bytes]:
            _ = emurust.gameboy.memory[0xA000]
            first = emurust.gameboy.get_state()
            time.sleep(0.02)
            _ = emurust.gameboy.memory[0xA000]
            return first, emurust.gameboy.get_state()

        _ = pyboy.pyboy.memory[0xA000]
        before = pyboy.structs.rtc.rtc_cycles
        time.sleep(0.02)
        _ = pyboy.pyboy.memory[0xA000]
        assert pyboy.structs.rtc.rtc_cycles != before, "PyBoy looked at the host's clock"
        first, second = state_after_reading_twice()
        assert first == second, "EmuRust did not"
    finally:
        pyboy.close()
        emurust.close()


HANGING = """
import sys
from emurust.verify.backends import PyBoyMachine
from emurust.verify.history import illegal_rom
machine = PyBoyMachine(illegal_rom(int(sys.argv[1])))
for _ in range(80):
    machine.step((), observe=False)
print("came back")
"""


@pytest.mark.parametrize("opcode", [0xD3, 0xFD], ids=["D3", "FD"])
def test_illegal_opcode_never_returns(opcode: int) -> None:
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        subprocess.run(
            [sys.executable, "-c", HANGING, str(opcode)],
            timeout=6,
            capture_output=True,
            check=False,
        )
    assert b"came back" not in (caught.value.stdout or b"")


@pytest.mark.parametrize("opcode", sorted(ILLEGAL_OPCODES), ids=lambda opcode: f"{opcode:02X}")
def test_illegal_opcode_locks_emurust_and_frames_go_on(opcode: int) -> None:
    machine = EmuRustMachine(illegal_rom(opcode))
    try:
        run(machine, BOOT_FRAMES + 20, frozenset())
        before = machine.snapshot()
        pc, cycles = before.ints["pc"], before.ints["cycles"]
        run(machine, 10, frozenset({9}))
        after = machine.snapshot().ints
        assert after["pc"] == pc
        assert after["cycles"] - cycles == pytest.approx(10 * 70_224, abs=100)
        assert after["locked"] == 1
    finally:
        machine.close()


def test_only_illegal_opcodes_are_asked_for() -> None:
    with pytest.raises(ValueError, match="00 is a legal opcode"):
        illegal_rom(0x00)


def test_hook_is_readable_in_memory() -> None:
    machine = PyBoyMachine(window_rom())
    try:
        before = machine.pyboy.memory[0x0150]
        machine.pyboy.hook_register(0, 0x0150, lambda context: None, None)
        assert machine.pyboy.memory[0x0150] == 0xDB != before
    finally:
        machine.close()
