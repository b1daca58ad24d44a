"""One script drives EmuRust and PyBoy, and sees the same."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from emurust import BUTTONS, GameBoy, WindowEvent

if TYPE_CHECKING:
    from conftest import RomBuilder

Script = Callable[[Any], Any]
BOOT_FRAMES = 80
JOYPAD_LOG = slice(0xC000, 0xC100)


@pytest.fixture
def both(
    joypad_rom: bytes, boot_rom: bytes, make_pyboy: Callable[[bytes], Any]
) -> Callable[[Script], Any]:
    """Runs a script on both, right after the boot ROM; fails where they differ."""

    def run(script: Script) -> Any:
        results = []
        for machine in (make_pyboy(joypad_rom), GameBoy(joypad_rom, bootrom=boot_rom)):
            assert machine.tick(BOOT_FRAMES, True, False) is True
            results.append(script(machine))
        assert results[0] == results[1]
        return results[0]

    return run


def _log(machine: Any) -> list[int]:
    values: list[int] = machine.memory[JOYPAD_LOG]
    return values


def test_boots_to_the_same_machine(both: Callable[[Script], Any]) -> None:
    def script(machine: Any) -> Any:
        registers = machine.register_file
        names = ("A", "F", "B", "C", "D", "E", "HL", "SP", "PC")
        return (
            [getattr(registers, name) for name in names],
            machine.memory[0x0000:0x10000],
            machine.frame_count,
            machine.cartridge_title,
            machine.screen.ndarray.tobytes(),
        )

    both(script)


@pytest.mark.parametrize("name", BUTTONS)
@pytest.mark.parametrize("delay", [0, 1, 2, 5])
def test_button(both: Callable[[Script], Any], name: str, delay: int) -> None:
    def script(machine: Any) -> list[int]:
        machine.button(name, delay)
        for _ in range(8):
            machine.tick(1, False, False)
        return _log(machine)

    log = both(script)
    if delay:
        # It was seen at all: otherwise this test would compare nothing.
        assert len(set(log[: 2 * BOOT_FRAMES])) > 2


def test_press_and_release(both: Callable[[Script], Any]) -> None:
    def script(machine: Any) -> list[int]:
        machine.button_press("A")
        machine.button_press("down")
        machine.tick(3, False, False)
        machine.button_release("down")
        machine.button_release("b")
        machine.tick(2, False, False)
        machine.button_press("left")
        machine.button_release("left")
        machine.tick(2, False, False)
        machine.button_release("a")
        machine.tick(4, False, False)
        return _log(machine)

    both(script)


def test_many_buttons_at_random(both: Callable[[Script], Any]) -> None:
    def script(machine: Any) -> list[int]:
        rng = np.random.default_rng(5)
        for _ in range(60):
            kind, button = rng.integers(4), BUTTONS[rng.integers(8)]
            if kind == 0:
                machine.button(button, int(rng.integers(6)))
            elif kind == 1:
                machine.button_press(button)
            elif kind == 2:
                machine.button_release(button)
            machine.tick(int(rng.integers(3)), False, False)
        return _log(machine)

    both(script)


def test_send_input(both: Callable[[Script], Any]) -> None:
    from pyboy.utils import WindowEvent as PyBoyEvent

    def script(machine: Any) -> list[int]:
        event = WindowEvent if isinstance(machine, GameBoy) else PyBoyEvent
        machine.send_input(event.PRESS_ARROW_UP)
        machine.send_input(event.PRESS_BUTTON_START, 2)
        machine.send_input(event.RELEASE_ARROW_UP, 4)
        machine.tick(3, False, False)
        machine.send_input(event.RELEASE_BUTTON_START)
        machine.tick(4, False, False)
        return _log(machine)

    both(script)
    for event in WindowEvent:
        assert getattr(PyBoyEvent, event.name) == event


def test_tick_returns_the_same(both: Callable[[Script], Any]) -> None:
    assert both(lambda machine: [machine.tick(n, False, False) for n in (0, 1, 5)]) == [
        False,
        True,
        True,
    ]


def test_frame_count(both: Callable[[Script], Any]) -> None:
    def script(machine: Any) -> list[int]:
        counts = []
        for count in (1, 0, 7):
            machine.tick(count, False, False)
            counts.append(machine.frame_count)
        return counts

    both(script)


def test_memory_reads(both: Callable[[Script], Any]) -> None:
    def script(machine: Any) -> list[Any]:
        memory = machine.memory
        memory[0x2000] = 2
        return [
            memory[0x7000],
            memory[0xC000:0xC010],
            memory[0x0100:0x0150:2],
            memory[0, 0x0100:0x0150],
            [memory[bank, 0x7000] for bank in range(4)],
            [memory[bank, 0x3000] for bank in range(4)],
            memory[3, 0x6FF0:0x7010],
            memory[0, 0x8010:0x8020],
            memory[0, 0xC010],
            memory[0, 0xD010],
            memory[0, 0xC000:0xC020],
            memory[0xFF00],
            memory[0xFFFF],
            memory[-1, 0x10:0x40],
            memory[-1, 0],
        ]

    both(script)


def test_memory_writes(both: Callable[[Script], Any]) -> None:
    def script(machine: Any) -> list[Any]:
        memory = machine.memory
        memory[0xC800] = 1
        memory[0xC801:0xC804] = [2, 3, 4]
        memory[0xC804:0xC808] = 5
        memory[0, 0xC808] = 6
        memory[0, 0xD809] = 7
        memory[0, 0xC80A:0xC80C] = [8, 9]
        memory[0x0000] = 0x0A
        memory[0x4000] = 1
        memory[0xA000:0xA003] = [10, 11, 12]
        memory[3, 0xA000:0xA004] = 13
        memory[2, 0xA001] = 14
        memory[0x8800] = 15
        memory[0, 0x8801:0x8803] = [16, 17]
        memory[0xFF80] = 18
        memory[0xFE00] = 19
        memory[0xFFFF] = 0x1F
        memory[0xFF45] = 20
        memory[0xFF04] = 21
        return [
            memory[0xC800:0xC810],
            memory[0xD800:0xD810],
            [memory[bank, 0xA000:0xA008] for bank in range(4)],
            memory[0xA000:0xA008],
            memory[0x8800:0x8808],
            memory[0xFE00:0xFE04],
            memory[0xFF00:0x10000],
        ]

    both(script)


def test_rom_override(both: Callable[[Script], Any]) -> None:
    def script(machine: Any) -> list[Any]:
        memory = machine.memory
        memory[0, 0x0300] = 1
        memory[1, 0x4000:0x4004] = [2, 3, 4, 5]
        memory[3, 0x4000:0x4004] = 6
        memory[0, 0x0170:0x0172] = 0
        # The logger's loop now logs the buttons of the direction keys' bits.
        memory[0, 0x015A] = 0x10
        machine.button_press("a")
        machine.tick(4, False, False)
        return [memory[0x0300], memory[0x4000:0x4004], memory[3, 0x4000:0x4004], _log(machine)]

    both(script)


def test_registers(both: Callable[[Script], Any]) -> None:
    def script(machine: Any) -> list[int]:
        registers = machine.register_file
        registers.A = 0x1234
        registers.F = 0xFF
        registers.HL = 0xC7FF
        registers.SP = 0xDFFF
        registers.PC = 0x0150
        registers.E = 0x55
        values = [getattr(registers, name) for name in ("A", "F", "HL", "SP", "PC", "E")]
        machine.tick(2, False, False)
        return [*values, registers.PC, registers.HL, *_log(machine)]

    both(script)


def test_states(both: Callable[[Script], Any]) -> None:
    def script(machine: Any) -> list[Any]:
        file = io.BytesIO()
        machine.button_press("b")
        machine.tick(3, False, False)
        machine.save_state(file)
        machine.button_release("b")
        machine.tick(5, False, False)
        file.seek(0)
        machine.load_state(file)
        first = _log(machine)
        machine.tick(5, False, False)
        return [first, _log(machine), machine.frame_count]

    both(script)


def test_screen(make_pyboy: Callable[[bytes], Any], boot_rom: bytes) -> None:
    from emurust import shipped_cartridge

    image = shipped_cartridge().read_bytes()
    pyboy, gameboy = make_pyboy(image), GameBoy(image, bootrom=boot_rom)
    assert pyboy.screen.raw_buffer_dims == gameboy.screen.raw_buffer_dims
    assert pyboy.screen.raw_buffer_format == gameboy.screen.raw_buffer_format
    assert pyboy.screen.ndarray.shape == gameboy.screen.ndarray.shape
    held = gameboy.screen.ndarray
    rng = np.random.default_rng(0)
    for _ in range(60):
        button = BUTTONS[rng.integers(8)]
        for machine in (pyboy, gameboy):
            machine.button(button, 4)
            machine.tick(20, True, False)
        assert np.array_equal(held, pyboy.screen.ndarray)
    assert len(np.unique(held)) > 2


def test_battery_ram_files(
    build_rom: RomBuilder, pyboy_class: Any, tmp_path: Any, boot_rom: bytes
) -> None:
    """Each reads what the other one left next to the ROM."""
    path = tmp_path / "game.gb"
    path.write_bytes(build_rom(cartridge_type=0x1B, banks=4, ram_code=0x03))

    def make(kind: str) -> Any:
        if kind == "emurust":
            return GameBoy(path)
        return pyboy_class(
            str(path), window="null", cgb=False, sound_emulated=False, log_level="CRITICAL"
        )

    for value, (writer, reader) in enumerate(
        [("emurust", "pyboy"), ("pyboy", "emurust"), ("emurust", "emurust")], start=1
    ):
        machine = make(writer)
        machine.memory[3, 0xA123] = value
        machine.stop()
        machine = make(reader)
        assert machine.memory[3, 0xA123] == value
        machine.stop(save=False)
