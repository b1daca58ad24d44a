"""`PyBoy.screen`: the picture of the last rendered frame."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from emurust.pyboy.utils import PillowImportError
from emurust.screen import SCREEN_HEIGHT, SCREEN_WIDTH

if TYPE_CHECKING:
    from emurust._emurust import Machine
    from emurust.pyboy.api.palette import Palette

__all__ = ["Screen"]

_LCDC, _LCD_ENABLE = 0xFF40, 0x80
_POSITION_OFFSETS = np.array([0, 0, 7, 0])


class Screen:
    """The picture, live: what was taken from here shows the latest rendered frame.

    Reached as `PyBoy.screen`. Copy what must not change.
    """

    raw_buffer_dims = (SCREEN_HEIGHT, SCREEN_WIDTH)
    raw_buffer_format = "RGBA"

    def __init__(self, machine: Machine, palette: Palette) -> None:
        self._machine = machine
        self._palette = palette
        self._array: weakref.ref[npt.NDArray[np.uint8]] | None = None
        self._picture: weakref.ref[Any] | None = None
        self._coloured: npt.NDArray[np.uint8] | None = None

    @property
    def ndarray(self) -> npt.NDArray[np.uint8]:
        """The picture, shape (144, 160, 4), uint8 RGBA, live and writeable."""
        if self._coloured is not None:
            return self._coloured
        if not self._palette.is_grey:
            return self._with_colours()
        array = self._array() if self._array is not None else None
        if array is None:
            array = self._machine.rgba()
            self._array = weakref.ref(array)
        return array

    def _with_colours(self) -> npt.NDArray[np.uint8]:
        if self._coloured is None:
            self._coloured = self._palette.colour(self._machine.shades())
        return self._coloured

    def _refresh(self) -> None:
        """To be called after each rendered frame."""
        if self._coloured is not None:
            self._coloured[...] = self._palette.colour(self._machine.shades())

    def _recolour(self) -> None:
        """The palette has changed: from here on the colours are our own business."""
        self._array = self._picture = None
        self._coloured = self.ndarray.copy()

    @property
    def raw_buffer(self) -> memoryview:
        """The 92,160 bytes of the picture as 144 rows of 160 32-bit pixels, live."""
        pixels = self.ndarray.data.cast("B")
        return pixels.cast("I", [SCREEN_HEIGHT, SCREEN_WIDTH])

    @property
    def image(self) -> Any:
        """The picture as a Pillow image, mode RGBA, size (160, 144), live.

        Without Pillow it is an object whose every use raises `PyBoyDependencyError`.
        """
        picture = self._picture() if self._picture is not None else None
        # Pillow detaches an image from its memory when it is drawn into.
        if picture is None or not picture.readonly:
            try:
                from PIL import Image
            except ImportError:
                return PillowImportError()
            size = (SCREEN_WIDTH, SCREEN_HEIGHT)
            picture = Image.frombuffer("RGBA", size, self.ndarray, "raw", "RGBA", 0, 1)
            self._picture = weakref.ref(picture)
        return picture

    @property
    def tilemap_position_list(self) -> list[list[int]]:
        """[SCX, SCY, WX - 7, WY] of each of the 144 lines as it was drawn; zeros while
        the LCD is off."""
        positions: list[list[int]] = self._positions().tolist()
        return positions

    def _positions(self) -> npt.NDArray[np.int64]:
        """`tilemap_position_list` as an array, shape (144, 4)."""
        if not self._machine.peek(_LCDC) & _LCD_ENABLE:
            return np.zeros((SCREEN_HEIGHT, 4), dtype=np.int64)
        content = np.frombuffer(self._machine.line_parameters(), dtype=np.uint8)
        lines: npt.NDArray[np.int64] = content.reshape(SCREEN_HEIGHT, -1)[:, :4] - _POSITION_OFFSETS
        return lines

    def _position(self, line: int) -> list[int]:
        """One of `tilemap_position_list`."""
        if not self._machine.peek(_LCDC) & _LCD_ENABLE:
            return [0, 0, 0, 0]
        lines = self._machine.line_parameters()
        at = len(lines) // SCREEN_HEIGHT * line
        return [lines[at], lines[at + 1], lines[at + 2] - 7, lines[at + 3]]

    def get_tilemap_position(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """((SCX, SCY), (WX - 7, WY)) as the registers are now."""
        scy, scx, wy, wx = (self._machine.peek(0xFF00 | low) for low in (0x42, 0x43, 0x4A, 0x4B))
        return (scx, scy), (wx - 7, wy)
