"""What the drop-in says to arguments that make no sense.

Exceptions are those that PyBoy raises, and EmuRust's at the same time.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from emurust import EmuRustError, shipped_cartridge
from emurust.pyboy import PyBoy
from emurust.pyboy.utils import (
    PyBoyException,
    PyBoyInvalidInputException,
    PyBoyOutOfBoundsException,
    UnavailableError,
    WindowEvent,
)

Act = Callable[[Any], object]


@pytest.fixture
def pyboy() -> Iterator[Any]:
    game = io.BytesIO(shipped_cartridge().read_bytes())
    with PyBoy(game, window="null", sound_emulated=False) as machine:
        machine.tick(80)
        yield machine
        machine.stop(save=False)


def area(pyboy: Any, *section: int) -> None:
    pyboy.game_area_dimensions(*section)
    pyboy.game_area()


BAD: dict[str, tuple[Act, type[Exception], str]] = {
    "button": (lambda p: p.button("x"), PyBoyInvalidInputException, "the buttons are up, down"),
    "no name": (lambda p: p.button(3), PyBoyInvalidInputException, "there is no button 3"),
    "event": (lambda p: p.send_input(999), PyBoyInvalidInputException, "no event 999"),
    "event name": (lambda p: p.send_input("a"), PyBoyInvalidInputException, "button takes names"),
    "count": (lambda p: p.tick("a"), PyBoyInvalidInputException, "whole number of frames"),
    "address": (lambda p: p.memory[0x10000], PyBoyOutOfBoundsException, "0x0000 to 0xFFFF"),
    "bank": (lambda p: p.memory[99, 0x4000], PyBoyOutOfBoundsException, "banks 0 to 15"),
    "hook": (lambda p: p.hook_register(0, 0x40, 5, 1), TypeError, "calls a function, not 5"),
    "hook place": (lambda p: p.hook_register(0, "x", print, 1), TypeError, "name of a symbol"),
    "hook symbol": (lambda p: p.hook_register(None, "x", print, 1), ValueError, "symbols="),
    "no hook": (lambda p: p.hook_deregister(0, 0x50), ValueError, "there is no stop"),
    "symbol": (lambda p: p.symbol_lookup("x"), ValueError, "in no symbol file"),
    "cheat": (lambda p: p.gameshark.add("zz"), ValueError, "8 hexadecimal digits, such as"),
    "cheat letters": (lambda p: p.gameshark.add("01FF00CX"), ValueError, "8 hexadecimal"),
    "cheat of ROM": (lambda p: p.gameshark.add("01FF0040"), ValueError, "which is not RAM"),
    "no cheat": (lambda p: p.gameshark.remove("01FF00C0"), ValueError, "is not active"),
    "state": (lambda p: p.load_state(io.BytesIO(b"?")), PyBoyException, "no saved state"),
    "read state": (lambda p: p.load_state(io.BytesIO()), PyBoyException, r"go back with seek\(0"),
    "area": (lambda p: area(p, 0, 9, 20, 18), IndexError, "which has 18 rows .* from row 9"),
    "tile": (lambda p: p.get_tile(384), PyBoyOutOfBoundsException, "0 to 383"),
    "place": (lambda p: p.tilemap_window[32, 0], IndexError, "0 to 31, not 32"),
    "place name": (lambda p: p.tilemap_window["a", 0], AssertionError, "or a slice, not 'a'"),
    "backwards": (lambda p: p.tilemap_window[5:2, 0], ValueError, "start at 5 and stop at 2"),
    "mapping": (lambda p: p.game_area_mapping([1]), AssertionError, r"array of \(384, 768\)"),
    "offset": (lambda p: p.game_area_mapping(None, "a"), AssertionError, "is an integer"),
    "width": (lambda p: p.memory_scanner.scan_memory(byte_width=0), ValueError, "positive"),
    "window": (lambda _: PyBoy(shipped_cartridge(), window="X"), KeyError, "^there is no window"),
    "level": (
        lambda _: PyBoy(shipped_cartridge(), window="null", log_level="X"),
        *(KeyError, "^log_level is one of"),
    ),
    "option": (lambda _: PyBoy(shipped_cartridge(), window="null", x=1), KeyError, "^PyBoy has"),
    "rate": (
        lambda _: PyBoy(shipped_cartridge(), window="null", sound_sample_rate=8000),
        *(UnavailableError, "at 48000 Hz"),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(pyboy: Any, name: str) -> None:
    act, kind, says = BAD[name]
    with pytest.raises(kind, match=says) as error:
        act(pyboy)
    assert isinstance(error.value, EmuRustError)


def test_names_of_version_1_say_what_there_is_now(pyboy: Any) -> None:
    with pytest.raises(AttributeError, match=r"'get_memory_value'; use memory\[address\]"):
        pyboy.get_memory_value(0xC000)
    with pytest.raises(AttributeError, match="no attribute 'teapot'$"):
        _ = pyboy.teapot
    assert not hasattr(pyboy, "botsupport_manager")


def test_what_a_callback_raises(pyboy: Any) -> None:
    """The frame ends as if nothing had been raised, the hook stays, delayed input comes."""
    other = PyBoy(io.BytesIO(shipped_cartridge().read_bytes()), window="null", sound_emulated=False)
    other.tick(80)
    seen: list[int] = []

    def callback(machine: Any) -> None:
        seen.append(machine.frame_count)
        if len(seen) == 2:
            raise RuntimeError("of the callback")

    pyboy.hook_register(0, 0x40, callback, pyboy)
    other.hook_register(0, 0x40, lambda _: None, None)
    for machine in (pyboy, other):
        machine.send_input(WindowEvent.PAUSE, 4)
    with pytest.raises(RuntimeError, match="of the callback"):
        pyboy.tick(3, False)
    other.tick(pyboy.frame_count - other.frame_count, False)
    for _ in range(2):
        states = []
        for machine in (pyboy, other):
            state = io.BytesIO()
            machine.save_state(state)
            states.append(state.getvalue())
        assert states[0] == states[1]
        assert pyboy.memory[0x40] == 0xDB
        pyboy.tick(6, False)
        other.tick(6, False)
    assert pyboy.paused
    pyboy.hook_deregister(0, 0x40)
    other.stop(save=False)


def test_a_rom_that_is_no_file_keeps_no_ram(caplog: pytest.LogCaptureFixture) -> None:
    with PyBoy(io.BytesIO(shipped_cartridge().read_bytes()), window="null") as pyboy:
        pyboy.tick()
    assert "kept nowhere; give stop a ram_file" in caplog.text
