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
)
from emurust.pyboy.api.tile import Tile
from emurust.pyboy.utils import InvalidAssertionError, InvalidIndexError, InvalidValueError

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["TileMap"]

_SIZE = 32
_MAP_BIT = {"BACKGROUND": 0x08, "WINDOW": 0x40}
_TILE_DATA = 0x10

#: Tile numbers by the bytes of a map, as they are counted from the start of tile data, or
#: from its middle as signed bytes.
_NUMBERS = np.arange(256), (np.arange(256) ^ 0x80) + 0x80
_NUMBERS_LISTED = [numbers.tolist() for numbers in _NUMBERS]


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
        self._has_run = False
        self._read_lcdc()

    def _read_lcdc(self) -> None:
        lcdc = self._machine.peek(LCDC_OFFSET)
        self.map_offset = HIGH_TILEMAP if lcdc & self._map_bit else LOW_TILEMAP
        self.signed_tile_data = not lcdc & _TILE_DATA

    def _refresh_lcdc(self) -> None:
        # PyBoy looks at LCDC once before the first frame, and afterwards always.
        if self._has_run or self._pyboy.frame_count != 0:
            self._has_run = True
            self._read_lcdc()

    def _identifiers(self) -> npt.NDArray[np.int64]:
        """All tile numbers, [row, column]."""
        self._refresh_lcdc()
        content = self._machine.peek_block(self.map_offset, _SIZE * _SIZE)
        places = np.frombuffer(content, dtype=np.uint8).reshape(_SIZE, _SIZE)
        return np.take(_NUMBERS[self.signed_tile_data], places)

    def _row(self, column: int, row: int, length: int) -> list[int]:
        """The tile numbers of so many places in a row, all of them in the map."""
        self._refresh_lcdc()
        content = self._machine.peek_block(self.map_offset + _SIZE * row + column, length)
        return list(map(_NUMBERS_LISTED[self.signed_tile_data].__getitem__, content))

    def _area(self, columns: slice, rows: slice) -> npt.NDArray[np.int64]:
        """The tile numbers of a part, [row, column]."""
        columns, rows = (_slice(_places(place)) for place in (columns, rows))
        return self._identifiers()[rows, columns]

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
        chosen, lines = _slice(_places(columns)), _places(rows)
        self._refresh_lcdc()
        number = _NUMBERS_LISTED[self.signed_tile_data].__getitem__
        first = lines.start
        content = self._machine.peek_block(self.map_offset + _SIZE * first, _SIZE * _span(lines))
        area: list[list[Any]] = [
            list(map(number, content[_SIZE * (line - first) : _SIZE * (line - first + 1)][chosen]))
            for line in lines
        ]
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


def _places(place: int | slice) -> range:
    """The places that an index or a slice names, all of them in the map."""
    places = _range(place)
    for end in (places[0], places[-1]) if places else ():
        if not 0 <= end < _SIZE:
            raise InvalidIndexError(f"a place in a tile map is 0 to {_SIZE - 1}, not {end}")
    return places


def _slice(places: range) -> slice:
    return slice(places.start, places.stop, places.step)


def _span(places: range) -> int:
    """From the first of them to the last, how many there are with those in between."""
    return places[-1] - places.start + 1 if places else 0


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
