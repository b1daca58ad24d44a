"""The CPU registers under PyBoy's names."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, SupportsIndex

from emurust.errors import ArgumentTypeError

if TYPE_CHECKING:
    from emurust._emurust import Machine

__all__ = ["RegisterFile"]

_NAMES = ("A", "F", "B", "C", "D", "E", "HL", "SP", "PC")


class _Register:
    """A register as an attribute of `RegisterFile`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._index = _NAMES.index(name)
        self._mask = 0xFF if len(name) == 1 else 0xFFFF

    def __get__(self, registers: RegisterFile, owner: type) -> int:
        return registers._machine.registers()[self._index]

    def __set__(self, registers: RegisterFile, value: SupportsIndex) -> None:
        try:
            value = operator.index(value)
        except TypeError:
            raise ArgumentTypeError(
                f"register {self._name} takes an integer, not {type(value).__name__}"
            ) from None
        registers._machine.set_register(self._name, value & self._mask)


class RegisterFile:
    """The CPU registers of one machine; reached as `GameBoy.register_file`.

    A F B C D E have 8 bits, HL SP PC 16. Assigned integers are cut to the register's
    width; F keeps its upper four bits.
    """

    A = _Register()
    F = _Register()
    B = _Register()
    C = _Register()
    D = _Register()
    E = _Register()
    HL = _Register()
    SP = _Register()
    PC = _Register()

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def __repr__(self) -> str:
        values = zip(_NAMES, self._machine.registers(), strict=True)
        return " ".join(f"{name}={value:0{2 * len(name)}X}" for name, value in values)
