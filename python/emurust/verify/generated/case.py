"""What every generator makes, and what it is made with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: Mappers in turn: cartridge type and RAM size code.
MAPPERS = ((0x08, 2), (0x03, 3), (0x06, 0), (0x13, 3), (0x1B, 3))


@dataclass(frozen=True)
class Case:
    """One generated program.

    Attributes:
        name: what it is about, with its seed.
        rom: the cartridge image.
        frames: how long to run it after the boot program's frames.
        buttons: whether random buttons are pressed.
    """

    name: str
    rom: bytes
    frames: int
    buttons: bool = False


class Random:
    """Small helpers over a seeded generator."""

    def __init__(self, *seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def below(self, limit: int) -> int:
        return int(self.rng.integers(limit))

    def between(self, first: int, last: int) -> int:
        return int(self.rng.integers(first, last + 1))

    def byte(self) -> int:
        """A byte; the interesting corners come up often."""
        if self.below(4) == 0:
            return (0x00, 0x01, 0x0F, 0x10, 0x7F, 0x80, 0xF0, 0xFF)[self.below(8)]
        return self.below(256)

    def pick(self, items: Sequence[str]) -> str:
        return items[self.below(len(items))]

    def number(self, items: Sequence[int]) -> int:
        return items[self.below(len(items))]

    def number_list(self, items: Sequence[Sequence[int]]) -> Sequence[int]:
        return items[self.below(len(items))]


def db(values: Sequence[int]) -> str:
    return "DB " + ",".join(f"${value:02X}" for value in values)
