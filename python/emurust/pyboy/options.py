"""The constructor's options: which are heeded, which ignored, which refused."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from emurust.pyboy.utils import PyBoyInvalidInputException, UnavailableError, UnknownNameError

__all__ = ["NoWindowWarning", "check_options", "is_headless"]

_LOGGER = logging.getLogger("emurust.pyboy")
_HEADLESS = ("null", "headless", "dummy")
_WINDOWS = ("SDL2", "OpenGL", "GLFW")
_LOG_LEVELS = ("CRITICAL", "ERROR", "WARNING", "INFO", "DEBUG")
_SAMPLE_RATE = 48_000

# Options of PyBoy's plugins that mean nothing without a window.
_WITHOUT_EFFECT = {"autopause", "scale", "title_status", "printer_output"}
# Options that are refused when they are switched on, with the reason.
_REFUSED = {
    "printer": "EmuRust has no Game Boy Printer",
    "rewind": "EmuRust has no rewinding; keep states of save_state or GameBoy.fork instead",
    "record_input": "EmuRust records no input here; 'emurust run --buttons' plays scripts of it",
    "breakpoints": "EmuRust has no debugger prompt; use hook_register",
    "randomize": "EmuRust starts with memory zero, as PyBoy does by default",
    "serial_shared_memory": "EmuRust connects no machines",
    "debug": "EmuRust has no debugger windows",
}


class NoWindowWarning(UserWarning):
    """A window was asked for, and there is none."""


def is_headless(window: str) -> bool:
    """The window is none."""
    return window in _HEADLESS


def check_options(
    *,
    window: str,
    cgb: bool | None,
    cgb_flag: int,
    sgb_border: bool,
    is_sgb: bool,
    sound_volume: int,
    sound_sample_rate: int | None,
    log_level: str,
    others: dict[str, Any],
) -> None:
    """Raises what PyBoy raises for wrong options, and `UnavailableError` where EmuRust
    cannot do what an option asks for."""
    if window not in _HEADLESS + _WINDOWS:
        raise UnknownNameError(
            f'there is no window {window!r}; there are "null", {", ".join(_WINDOWS)}'
        )
    if window in _WINDOWS:
        warnings.warn(
            f"emurust.pyboy shows no window, so window={window!r} is as 'null' here, at real-time "
            "speed until set_emulation_speed(0); 'emurust play' has a window",
            NoWindowWarning,
            stacklevel=3,
        )
    if not 0 <= sound_volume <= 100:
        raise PyBoyInvalidInputException(f"sound_volume is 0 to 100, not {sound_volume}")
    if sound_sample_rate not in (None, _SAMPLE_RATE):
        raise UnavailableError(
            f"EmuRust samples sound at {_SAMPLE_RATE} Hz, PyBoy's default, "
            f"not at {sound_sample_rate}"
        )
    if log_level not in _LOG_LEVELS:
        raise UnknownNameError(f"log_level is one of {', '.join(_LOG_LEVELS)}, not {log_level!r}")
    _LOGGER.setLevel(log_level)
    if cgb or (cgb is None and cgb_flag & 0x80):
        raise UnavailableError(
            "EmuRust is an original Game Boy so far; PyBoy would run this as a Game Boy Color. "
            "With cgb=False the cartridge runs as it does on PyBoy with cgb=False"
        )
    if sgb_border and is_sgb:
        raise UnavailableError("EmuRust does not emulate the Super Game Boy and its borders")
    for name, value in others.items():
        if name in _REFUSED:
            if value:
                raise UnavailableError(f"{name}={value!r}: {_REFUSED[name]}")
        elif name not in _WITHOUT_EFFECT:
            raise UnknownNameError(f"PyBoy has no option {name}")
