"""`PyBoy.gameshark`: cheat codes that write a byte at the start of each frame."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emurust.pyboy.utils import InvalidValueError, PyBoyInvalidInputException

if TYPE_CHECKING:
    from emurust.pyboy.memory import PyBoyMemoryView

__all__ = ["GameShark"]

_CODE = re.compile("[0-9A-Fa-f]{8}")
_WRITE_BYTE = 0x01
_FIRST_RAM = 0x8000


@dataclass(frozen=True)
class _Cheat:
    address: int
    value: int
    original: int


class GameShark:
    """GameShark codes: eight hexadecimal digits ``01vvllhh`` write vv to address hhll.

    The byte is written through the bus at the start of every frame that is run.
    """

    def __init__(self, memory: PyBoyMemoryView) -> None:
        self._memory = memory
        self._cheats: dict[str, _Cheat] = {}

    def add(self, code: str) -> None:
        """Writes a byte from the next frame on.

        Raises:
            ValueError: the code is no GameShark code, or does not write to RAM.
            PyBoyInvalidInputException: it is active already.
        """
        if not _CODE.fullmatch(code):
            raise InvalidValueError(
                f"a GameShark code has 8 hexadecimal digits, such as 010138CD, and not {code!r}"
            )
        kind, value, low, high = bytes.fromhex(code)
        address = high << 8 | low
        if address < _FIRST_RAM:
            raise InvalidValueError(f"the code {code} writes to 0x{address:04X}, which is not RAM")
        if code in self._cheats:
            raise PyBoyInvalidInputException(f"the GameShark code {code} is active already")
        if kind != _WRITE_BYTE:
            raise InvalidValueError(f"only codes that begin with 01 are known, not {code}")
        self._cheats[code] = _Cheat(address, value, self._memory[address])

    def remove(self, code: str, restore_value: bool = True) -> None:
        """Writes the byte no more, and puts back the one that was there at first.

        Raises:
            ValueError: the code is not active.
        """
        if code not in self._cheats:
            raise InvalidValueError(f"the GameShark code {code} is not active")
        cheat = self._cheats.pop(code)
        if restore_value:
            self._memory[cheat.address] = cheat.original

    def clear_all(self, restore_value: bool = True) -> None:
        """Removes every code, as `remove` does."""
        for code in list(self._cheats):
            self.remove(code, restore_value)

    def _write(self) -> None:
        """Writes all bytes; at the start of a frame."""
        for cheat in self._cheats.values():
            self._memory[cheat.address] = cheat.value
