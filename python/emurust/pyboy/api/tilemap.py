"""Tile maps: which tile is where on the background and the window."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from emurust.pyboy.api.constants import (
    HIGH_TILEMAP,
    LCDC_OFFSET,
    LOW_TILEMAP,
    VRAM_OFFSET,
)
from emurust.pyboy.api.tile import Tile
from emurust.pyboy.utils import InvalidAssertionError, InvalidIndexError, InvalidValueError

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["TileMap"]

_SIZE = 32
_MAP_BIT = {"BACKGROUND": 0x08, "WINDOW": 0x40}
_TILE_DATA = 0x10


class TileMap:
    """A map of 32 by 32 tiles; reached as `PyBoy.tilemap_background` and `tilemap_window`.

    ``tilemap[column, row]`` is a tile's number (see `Tile`), or a list of them, or a list
    of rows, where slices are given; ``tilemap[:, :]`` is all. After `use_tile_objects` it
    is `Tile` objects instead.

    Attributes:
        shape: (32, 32).
        map_offset: address at which the map begins, as LCDC says.
    """

    shape = (_SIZE, _SIZE)

    def __init__(self, pyboy: PyBoy, select: Literal["BACKGROUND", "WINDOW"]) -> None:
        self._pyboy = pyboy
        self._machine = pyboy._machine
        self._map_bit = _MAP_BIT[select]
        self._use_tile_objects = False
        self._read_lcdc()

    def _read_lcdc(self) -> None:
        lcdc = self._machine.peek(LCDC_OFFSET)
        self.map_offset = HIGH_TILEMAP if lcdc & self._map_bit else LOW_TILEMAP
        self.signed_tile_data = not lcdc & _TILE_DATA

    def _refresh_lcdc(self) -> None:
        # PyBoy looks at LCDC once before the first frame, and afterwards always.
        if self._pyboy.frame_count != 0:
            self._read_lcdc()

    def _identifiers(self) -> npt.NDArray[np.int64]:
        """All tile numbers, [row, column]."""
        self._refresh_lcdc()
        start = self.map_offset - VRAM_OFFSET
        numbers = self._machine.vram()[start : start + _SIZE * _SIZE].astype(np.int64)
        if self.signed_tile_data:
            numbers = (numbers ^ 0x80) + 0x80
        return numbers.reshape(_SIZE, _SIZE)

    def tile_identifier(self, column: int, row: int) -> int:
        """The number of the tile at a place, 0 to 383.

        Raises:
            IndexError: column or row is not 0 to 31.
        """
        for name, place in (("column", column), ("row", row)):
            if not 0 <= place < _SIZE:
                raise InvalidIndexError(f"a {name} of a tile map is 0 to {_SIZE - 1}, not {place}")
        self._refresh_lcdc()
        number = self._machine.peek(self.map_offset + _SIZE * row + column)
        return (number ^ 0x80) + 0x80 if self.signed_tile_data else number

    def tile(self, column: int, row: int) -> Tile:
        """The tile at a place.

        Raises:
            IndexError: column or row is not 0 to 31.
        """
        return self._tile(self.tile_identifier(column, row))

    def _tile(self, identifier: int) -> Tile:
        return Tile(self._machine, self._pyboy._palette, identifier)

    def search_for_identifiers(self, identifiers: Iterable[int]) -> list[list[list[int]]]:
        """For each tile number the places, [row, column], at which it is."""
        numbers = self._identifiers()
        return [np.argwhere(numbers == identifier).tolist() for identifier in identifiers]

    def use_tile_objects(self, switch: bool) -> None:
        """Whether indexing gives `Tile` objects rather than numbers."""
        self._use_tile_objects = switch

    def __getitem__(self, place: Any) -> Any:
        columns, rows = (place, slice(None)) if isinstance(place, int | slice) else place
        column_range, row_range = _range(columns), _range(rows)
        outside = [p for r in (column_range, row_range) for p in r if not 0 <= p < _SIZE]
        if outside:
            raise InvalidIndexError(f"a place in a tile map is 0 to {_SIZE - 1}, not {outside[0]}")
        numbers = self._identifiers()
        area = numbers[np.ix_(list(row_range), list(column_range))].tolist()
        if self._use_tile_objects:
            area = [[self._tile(number) for number in row] for row in area]
        if isinstance(columns, slice) and isinstance(rows, slice):
            return area
        if isinstance(columns, slice):
            return area[0]
        column = [row[0] for row in area]
        return column if isinstance(rows, slice) else column[0]

    def __repr__(self) -> str:
        numbers = self._identifiers()
        head = "".join(f"{column: <4}" for column in range(_SIZE))
        lines = [
            f"Tile Map Address: {self.map_offset:#06x}, "
            f"Signed Tile Data: {'Yes' if self.signed_tile_data else 'No'}",
            " " * 5 + head,
            "_" * (4 * _SIZE + 2),
            *(
                f"{row: <3}| " + "".join(str(number).ljust(4) for number in line)
                for row, line in enumerate(numbers.tolist())
            ),
        ]
        return "\n".join(lines)


def _range(place: int | slice) -> range:
    """The places that an index or a slice names."""
    if not isinstance(place, slice):
        if not isinstance(place, int):
            raise InvalidAssertionError(
                f"a place in a tile map is an integer or a slice, not {place!r}"
            )
        return range(place, place + 1)
    start = 0 if place.start is None else place.start
    stop = _SIZE if place.stop is None else place.stop
    step = 1 if place.step is None else place.step
    if step < 0:
        raise InvalidValueError("a slice of a tile map cannot go backwards")
    if start > stop:
        raise InvalidValueError(f"a slice of a tile map cannot start at {start} and stop at {stop}")
    return range(start, stop, step)
