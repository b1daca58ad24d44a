"""Where games keep their numbers, and in which form: what wrappers are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from emurust.pyboy.utils import bcd_to_dec

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = [
    "Byte",
    "Digits",
    "Flag",
    "Nibbles",
    "PackedDecimal",
    "ScreenNumber",
    "Value",
    "Word",
    "screen_number",
]


class Value(Protocol):
    """Something that can be read from a running game."""

    @property
    def initial(self) -> Any:
        """What it is before the first frame."""

    def read(self, pyboy: PyBoy) -> Any:
        """What it is now."""


@dataclass(frozen=True)
class _Number:
    @property
    def initial(self) -> int:
        return 0


@dataclass(frozen=True)
class Byte(_Number):
    """A byte, plus a constant."""

    address: int
    plus: int = 0

    def read(self, pyboy: PyBoy) -> int:
        return int(pyboy.memory[self.address]) + self.plus


@dataclass(frozen=True)
class PackedDecimal(_Number):
    """Two decimal digits to a byte, the lowest byte first, times a constant."""

    address: int
    length: int = 1
    times: int = 1

    def read(self, pyboy: PyBoy) -> int:
        content = pyboy.memory[self.address : self.address + self.length]
        number = bcd_to_dec(int.from_bytes(content, "little"), byte_width=self.length)
        return number * self.times


@dataclass(frozen=True)
class Word(_Number):
    """Two bytes, the lower one first."""

    address: int

    def read(self, pyboy: PyBoy) -> int:
        return int.from_bytes(pyboy.memory[self.address : self.address + 2], "little")


@dataclass(frozen=True)
class Flag:
    """Whether a byte is 1."""

    address: int

    @property
    def initial(self) -> bool:
        return False

    def read(self, pyboy: PyBoy) -> bool:
        return bool(pyboy.memory[self.address] == 1)


@dataclass(frozen=True)
class Digits(_Number):
    """One decimal digit to a byte, the highest first, times a constant."""

    address: int
    length: int
    times: int = 1

    def read(self, pyboy: PyBoy) -> int:
        number = 0
        for digit in pyboy.memory[self.address : self.address + self.length]:
            number = 10 * number + digit
        return number * self.times


@dataclass(frozen=True)
class ScreenNumber(_Number):
    """Decimal digits in the background's tile map.

    `blank` is the tile of a place without a digit, `zero` that of the digit 0.
    """

    column: int
    row: int
    length: int
    blank: int
    zero: int

    def read(self, pyboy: PyBoy) -> int:
        tiles = pyboy.tilemap_background._row(self.column, self.row, self.length)
        return screen_number(tiles, self.blank, -self.zero)


@dataclass(frozen=True)
class Nibbles:
    """The upper and the lower half of a byte."""

    address: int

    @property
    def initial(self) -> tuple[int, int]:
        return (0, 0)

    def read(self, pyboy: PyBoy) -> tuple[int, int]:
        byte = pyboy.memory[self.address]
        return byte >> 4, byte & 0xF


def screen_number(tiles: list[int], blank: int, plus: int) -> int:
    """The decimal number that tiles show, one a digit; `plus` makes a digit of a tile."""
    number = 0
    for tile in tiles:
        number = 10 * number + (0 if tile == blank else tile + plus)
    return number
