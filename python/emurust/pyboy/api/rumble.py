"""`PyBoy.rumble`: the motor in some MBC5 cartridges."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emurust._emurust import Machine, Rom

__all__ = ["Rumble"]


class Rumble:
    """State of the rumble motor; reached as `PyBoy.rumble`."""

    def __init__(self, machine: Machine, rom: Rom) -> None:
        self._machine = machine
        self._supported = rom.has_rumble

    @property
    def supported(self) -> bool:
        """The cartridge has a motor."""
        return self._supported

    @property
    def enabled(self) -> bool:
        """The motor is on."""
        return self._supported and self._machine.rumbling
