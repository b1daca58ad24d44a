"""`PyBoy.register_file`: the CPU's registers."""

from __future__ import annotations

from emurust.registers import RegisterFile

__all__ = ["PyBoyRegisterFile"]


class PyBoyRegisterFile(RegisterFile):
    """The CPU registers A F B C D E HL SP PC, to read and write.

    Assigned integers are cut to the register's width; F keeps its upper four bits.
    """
