"""`PyBoy.sgb`: the Super Game Boy, which is not emulated."""

from __future__ import annotations

from typing import Any, NoReturn

from emurust.pyboy.utils import UnavailableError

__all__ = ["SGB"]


class SGB:
    """A Super Game Boy that is not there, as in PyBoy without ``sgb_border=True``."""

    enabled = False
    detected = False
    border_enabled = False
    border_data: tuple[Any, Any, Any] = (None, None, None)

    def get_border_buffer(self) -> NoReturn:
        """Raises `UnavailableError`."""
        _raise()

    def get_composited_frame(self) -> NoReturn:
        """Raises `UnavailableError`."""
        _raise()


def _raise() -> NoReturn:
    raise UnavailableError(
        "EmuRust does not emulate the Super Game Boy; screen.ndarray has the picture without border"
    )
