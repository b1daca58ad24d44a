"""Tiles: the 8 by 8 pixel pictures of which everything on the screen is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from emurust.pyboy.api.constants import LOW_TILEDATA, TILES
from emurust.pyboy.utils import PillowImportError, PyBoyOutOfBoundsException

if TYPE_CHECKING:
    from emurust._emurust import Machine
    from emurust.pyboy.api.palette import Palette

__all__ = ["Tile"]

_BYTES_PER_TILE = 16


class Tile:
    """One of the 384 tiles in video RAM, by its number from the start of tile data.

    Made by `PyBoy.get_tile`, tile maps and sprites. Its picture is read when asked for.

    Attributes:
        tile_identifier: its number, 0 to 383.
        data_address: where its 16 bytes begin.
        vram_bank: always 0 on an original Game Boy.
        shape: (8, 8).
        raw_buffer_format: ``"RGBA"``.

    Raises:
        PyBoyOutOfBoundsException: there is no such tile.
    """

    vram_bank = 0
    shape = (8, 8)
    raw_buffer_format = "RGBA"

    # As PyBoy's, which compare but do not hash.
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, machine: Machine, palette: Palette, identifier: int) -> None:
        if not 0 <= identifier < TILES:
            raise PyBoyOutOfBoundsException(
                f"tiles are numbered 0 to {TILES - 1}, not {identifier}"
            )
        self._machine = machine
        self._palette = palette
        self.tile_identifier = identifier
        self.data_address = LOW_TILEDATA + _BYTES_PER_TILE * identifier

    def _shades(self) -> npt.NDArray[np.uint8]:
        """Shades of the pixels after the background palette, shape (8, 8)."""
        start = _BYTES_PER_TILE * self.tile_identifier
        rows = np.array(self._machine.vram()[start : start + _BYTES_PER_TILE]).reshape(8, 2)
        bits = np.unpackbits(rows, axis=1).reshape(8, 2, 8)
        colours = bits[:, 0] | bits[:, 1] << 1
        bgp = self._machine.peek(0xFF47)
        shades = np.array([bgp >> 2 * colour & 0b11 for colour in range(4)], dtype=np.uint8)
        pixels: npt.NDArray[np.uint8] = shades[colours]
        return pixels

    def ndarray(self) -> npt.NDArray[np.uint8]:
        """The picture now, shape (8, 8, 4), uint8 RGBA, through the background palette."""
        return self._palette.colour(self._shades())

    def image(self) -> Any:
        """The picture now as a Pillow image, mode RGBA, size (8, 8).

        Raises:
            PyBoyDependencyError: Pillow is not installed.
        """
        try:
            from PIL import Image
        except ImportError:
            raise PillowImportError._exception_type(PillowImportError._exception_message) from None
        return Image.frombytes("RGBA", self.shape, self.ndarray().tobytes())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tile):
            return NotImplemented
        return self.data_address == other.data_address

    def __repr__(self) -> str:
        return f"Tile: {self.tile_identifier}"
