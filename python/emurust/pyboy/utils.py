"""What `pyboy.utils` offers to programs: exceptions, events, decimal numbers in bytes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from emurust.errors import EmuRustError

__all__ = [
    "AccessError",
    "InvalidAssertionError",
    "InvalidIndexError",
    "InvalidTypeError",
    "InvalidValueError",
    "PillowImportError",
    "PyBoyAssertException",
    "PyBoyDependencyError",
    "PyBoyException",
    "PyBoyFeatureDisabledError",
    "PyBoyInternalError",
    "PyBoyInvalidInputException",
    "PyBoyInvalidOperationException",
    "PyBoyNotImplementedException",
    "PyBoyOutOfBoundsException",
    "SoundEnabledError",
    "UnavailableError",
    "UnknownNameError",
    "WindowEvent",
    "bcd_to_dec",
    "cython_compiled",
    "dec_to_bcd",
]

STATE_VERSION = 29
INTR_VBLANK, INTR_LCDC, INTR_TIMER, INTR_SERIAL, INTR_HIGHTOLOW = (1 << bit for bit in range(5))
OPCODE_BRK = 0xDB
FRAME_CYCLES = 70_224
CLOCK_RATE = 4_194_304
MAX_CYCLES = 1 << 31

cython_compiled = False
"""PyBoy's own test for its compiled form; this one is compiled in another way."""

ByteOrder = Literal["little", "big"]


class PyBoyException(EmuRustError):
    """Base of the exceptions of PyBoy's vocabulary."""


class PyBoyInternalError(PyBoyException):
    """A bug."""


class PyBoyAssertException(PyBoyException):
    """Something that must hold does not, such as the length of a state."""


class PyBoyOutOfBoundsException(PyBoyException):
    """An address, bank or number is outside of what there is."""


class PyBoyNotImplementedException(PyBoyException):
    """A method that a subclass has to bring."""


class PyBoyInvalidInputException(PyBoyException):
    """An argument makes no sense."""


class PyBoyInvalidOperationException(PyBoyException):
    """This cannot be done now."""


class InvalidValueError(PyBoyInvalidInputException, ValueError):
    """An argument makes no sense, for which PyBoy raises ValueError."""


class InvalidTypeError(PyBoyInvalidInputException, TypeError):
    """An argument has a type that makes no sense."""


class InvalidIndexError(PyBoyOutOfBoundsException, IndexError):
    """A place is outside of what there is, for which PyBoy raises IndexError."""


class InvalidAssertionError(PyBoyInvalidInputException, AssertionError):
    """An argument makes no sense, for which PyBoy raises AssertionError."""


class UnknownNameError(PyBoyInvalidInputException, KeyError):
    """There is nothing of this name, for which PyBoy raises KeyError."""

    __str__ = Exception.__str__  # KeyError's would quote the message.


class PyBoyDependencyError(PyBoyException):
    """A package is missing."""


class PyBoyFeatureDisabledError(PyBoyException):
    """A feature was switched off."""


class UnavailableError(PyBoyFeatureDisabledError, NotImplementedError):
    """PyBoy can do this and EmuRust cannot; the message says why, and what to do instead."""


class AccessError(PyBoyException):
    """Stands in for something that is not there: every use of it raises."""

    _exception_type: ClassVar[type[PyBoyException]] = PyBoyException
    _exception_message: ClassVar[str] = "this is not there"

    def __bool__(self) -> bool:
        return False

    def __getattribute__(self, name: str) -> Any:
        if name in ("_exception_type", "_exception_message", "__class__"):
            return super().__getattribute__(name)
        raise self._exception_type(self._exception_message)

    def __getitem__(self, key: object) -> Any:
        raise self._exception_type(self._exception_message)

    def __setitem__(self, key: object, value: object) -> None:
        raise self._exception_type(self._exception_message)


class PillowImportError(AccessError, PyBoyDependencyError):
    """Stands in for pictures while Pillow is missing."""

    _exception_type = PyBoyDependencyError
    _exception_message = "this needs Pillow; install it with: pip install 'emurust[image]'"


class SoundEnabledError(AccessError, PyBoyFeatureDisabledError):
    """Stands in for sound that is not emulated."""

    _exception_type = PyBoyFeatureDisabledError
    _exception_message = "sound is not emulated; make the PyBoy with sound_emulated=True"


_EVENTS = (
    "QUIT",
    *(f"PRESS_ARROW_{name}" for name in ("UP", "DOWN", "RIGHT", "LEFT")),
    *(f"PRESS_BUTTON_{name}" for name in ("A", "B", "SELECT", "START")),
    *(f"RELEASE_ARROW_{name}" for name in ("UP", "DOWN", "RIGHT", "LEFT")),
    *(f"RELEASE_BUTTON_{name}" for name in ("A", "B", "SELECT", "START")),
    "_INTERNAL_TOGGLE_DEBUG",
    "PRESS_SPEED_UP",
    "RELEASE_SPEED_UP",
    "STATE_SAVE",
    "STATE_LOAD",
    "PASS",
    "SCREEN_RECORDING_TOGGLE",
    "PAUSE",
    "UNPAUSE",
    "PAUSE_TOGGLE",
    "PRESS_REWIND_BACK",
    "PRESS_REWIND_FORWARD",
    "RELEASE_REWIND_BACK",
    "RELEASE_REWIND_FORWARD",
    "WINDOW_FOCUS",
    "WINDOW_UNFOCUS",
    "_INTERNAL_RENDERER_FLUSH",
    "_INTERNAL_MOUSE",
    "_INTERNAL_MARK_TILE",
    "SCREENSHOT_RECORD",
    "DEBUG_MEMORY_SCROLL_DOWN",
    "DEBUG_MEMORY_SCROLL_UP",
    "MOD_SHIFT_ON",
    "MOD_SHIFT_OFF",
    "FULL_SCREEN_TOGGLE",
    "CYCLE_PALETTE",
    "SCREEN_RECORDING_TOGGLE_MP4",
    "DEBUG_GAME_AREA_TOGGLE",
)


class WindowEvent:
    """Events for `PyBoy.send_input`, as integer constants with PyBoy's numbers.

    An instance wraps a number, compares equal to it and prints its name.
    """

    QUIT = 0
    PRESS_ARROW_UP = 1
    PRESS_ARROW_DOWN = 2
    PRESS_ARROW_RIGHT = 3
    PRESS_ARROW_LEFT = 4
    PRESS_BUTTON_A = 5
    PRESS_BUTTON_B = 6
    PRESS_BUTTON_SELECT = 7
    PRESS_BUTTON_START = 8
    RELEASE_ARROW_UP = 9
    RELEASE_ARROW_DOWN = 10
    RELEASE_ARROW_RIGHT = 11
    RELEASE_ARROW_LEFT = 12
    RELEASE_BUTTON_A = 13
    RELEASE_BUTTON_B = 14
    RELEASE_BUTTON_SELECT = 15
    RELEASE_BUTTON_START = 16
    _INTERNAL_TOGGLE_DEBUG = 17
    PRESS_SPEED_UP = 18
    RELEASE_SPEED_UP = 19
    STATE_SAVE = 20
    STATE_LOAD = 21
    PASS = 22
    SCREEN_RECORDING_TOGGLE = 23
    PAUSE = 24
    UNPAUSE = 25
    PAUSE_TOGGLE = 26
    PRESS_REWIND_BACK = 27
    PRESS_REWIND_FORWARD = 28
    RELEASE_REWIND_BACK = 29
    RELEASE_REWIND_FORWARD = 30
    WINDOW_FOCUS = 31
    WINDOW_UNFOCUS = 32
    _INTERNAL_RENDERER_FLUSH = 33
    _INTERNAL_MOUSE = 34
    _INTERNAL_MARK_TILE = 35
    SCREENSHOT_RECORD = 36
    DEBUG_MEMORY_SCROLL_DOWN = 37
    DEBUG_MEMORY_SCROLL_UP = 38
    MOD_SHIFT_ON = 39
    MOD_SHIFT_OFF = 40
    FULL_SCREEN_TOGGLE = 41
    CYCLE_PALETTE = 42
    SCREEN_RECORDING_TOGGLE_MP4 = 43
    DEBUG_GAME_AREA_TOGGLE = 44

    # As PyBoy's, whose events compare but do not hash.
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, event: int) -> None:
        self._event = int(event)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, WindowEvent):
            return self._event == other._event
        if isinstance(other, int):
            return self._event == other
        return NotImplemented

    def __int__(self) -> int:
        return self._event

    def __str__(self) -> str:
        return _EVENTS[self._event]


def dec_to_bcd(value: int, byte_width: int = 1, byteorder: ByteOrder = "little") -> int:
    """A number whose bytes, in `byteorder`, hold two decimal digits of `value` each."""
    digits = f"{value:0{2 * byte_width}d}"[-2 * byte_width :]
    content = bytes.fromhex(digits)
    return int.from_bytes(content if byteorder == "little" else content[::-1], "big")


def bcd_to_dec(value: int, byte_width: int = 1, byteorder: ByteOrder = "little") -> int:
    """The number whose decimal digits, two to a byte, are in `value`.

    Raises:
        OverflowError: `value` has more than `byte_width` bytes.
    """
    total = 0
    for place, byte in enumerate(value.to_bytes(byte_width, byteorder)):
        total += (10 * (byte >> 4) + (byte & 0xF)) * 100**place
    return total
