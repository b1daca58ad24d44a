"""`PyBoy.memory_scanner`: finding where a game keeps a number."""

from __future__ import annotations

import operator
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING

from emurust.pyboy.utils import ByteOrder, InvalidValueError, bcd_to_dec

if TYPE_CHECKING:
    from emurust.pyboy.memory import PyBoyMemoryView

__all__ = ["DynamicComparisonType", "MemoryScanner", "ScanMode", "StandardComparisonType"]


class StandardComparisonType(Enum):
    """How a value in memory is to be to the given one."""

    EXACT = 1
    LESS_THAN = 2
    GREATER_THAN = 3
    LESS_THAN_OR_EQUAL = 4
    GREATER_THAN_OR_EQUAL = 5


class DynamicComparisonType(Enum):
    """How a value in memory is to be to what it was, or (MATCH) to the given one."""

    UNCHANGED = 1
    CHANGED = 2
    INCREASED = 3
    DECREASED = 4
    MATCH = 5


class ScanMode(Enum):
    """What bytes mean: a binary number, or two decimal digits each."""

    INT = 1
    BCD = 2


_STANDARD: dict[StandardComparisonType, Callable[[int, int], bool]] = {
    StandardComparisonType.EXACT: operator.eq,
    StandardComparisonType.LESS_THAN: operator.lt,
    StandardComparisonType.GREATER_THAN: operator.gt,
    StandardComparisonType.LESS_THAN_OR_EQUAL: operator.le,
    StandardComparisonType.GREATER_THAN_OR_EQUAL: operator.ge,
}
_DYNAMIC: dict[DynamicComparisonType, Callable[[int, int], bool]] = {
    DynamicComparisonType.UNCHANGED: operator.eq,
    DynamicComparisonType.CHANGED: operator.ne,
    DynamicComparisonType.INCREASED: operator.gt,
    DynamicComparisonType.DECREASED: operator.lt,
}


class MemoryScanner:
    """Narrows down addresses by what is known of the value there, scan by scan."""

    def __init__(self, memory: PyBoyMemoryView) -> None:
        self._memory = memory
        self._found: dict[int, int] = {}
        self._width = 1
        self._mode = ScanMode.INT
        self._byteorder: ByteOrder = "little"

    def scan_memory(
        self,
        target_value: int | None = None,
        start_addr: int = 0x0000,
        end_addr: int = 0xFFFF,
        standard_comparison_type: StandardComparisonType = StandardComparisonType.EXACT,
        value_type: ScanMode = ScanMode.INT,
        byte_width: int = 1,
        byteorder: ByteOrder = "little",
    ) -> list[int]:
        """Begins anew: the addresses whose value compares so to `target_value`.

        Args:
            target_value: what to compare with; None takes every address.
            start_addr, end_addr: the range, both included.
            standard_comparison_type: how the value found is to be to it.
            value_type: binary or decimal.
            byte_width: bytes of a value.
            byteorder: their order.

        Raises:
            ValueError: `byte_width` is less than 1.
        """
        if byte_width <= 0:
            raise InvalidValueError(f"byte_width must be positive, not {byte_width}")
        self._width, self._mode, self._byteorder = byte_width, value_type, byteorder
        self._found = {}
        last = end_addr - (byte_width - 1)
        if start_addr > last:
            return []
        content = bytes(self._memory[start_addr : end_addr + 1])
        compare = _STANDARD[standard_comparison_type]
        for address in range(start_addr, last + 1):
            at = address - start_addr
            value = self._value(content[at : at + byte_width], byteorder)
            if target_value is None or compare(value, target_value):
                self._found[address] = value
        return list(self._found)

    def rescan_memory(
        self,
        new_value: int | None = None,
        dynamic_comparison_type: DynamicComparisonType = DynamicComparisonType.UNCHANGED,
        byteorder: ByteOrder | None = None,
    ) -> list[int]:
        """Keeps the addresses whose value compares so to that of the last scan.

        Args:
            new_value: what MATCH compares with.
            dynamic_comparison_type: how the value is to be to what it was.
            byteorder: of the values now; that of `scan_memory` by default.

        Raises:
            ValueError: MATCH without a `new_value`.
        """
        matches = dynamic_comparison_type is DynamicComparisonType.MATCH
        if matches and new_value is None and self._found:
            raise InvalidValueError("MATCH compares with new_value, which was not given")
        kept = {}
        for address, before in self._found.items():
            content = bytes(self._memory[address : address + self._width])
            value = self._value(content, byteorder or self._byteorder)
            if value == new_value if matches else _DYNAMIC[dynamic_comparison_type](value, before):
                kept[address] = value
        self._found = kept
        return list(kept)

    def _value(self, content: bytes, byteorder: ByteOrder) -> int:
        value = int.from_bytes(content, byteorder)
        if self._mode is ScanMode.BCD:
            return bcd_to_dec(value, self._width, byteorder)
        return value
