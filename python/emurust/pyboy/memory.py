"""`PyBoy.memory`, with PyBoy's exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emurust._emurust import Memory
from emurust.errors import AddressError, ArgumentError, ArgumentTypeError
from emurust.pyboy.utils import PyBoyInvalidInputException, PyBoyOutOfBoundsException

if TYPE_CHECKING:
    from emurust._emurust import Machine

__all__ = ["PyBoyMemoryView"]


class PyBoyMemoryView:
    """The 64 KiB that the CPU sees, and the banks behind them; see `emurust.Memory`.

    ``memory[addr]`` is an int and ``memory[start:stop]`` a list of ints, read as the CPU
    would read; ``memory[bank, addr]`` and ``memory[bank, start:stop]`` look into one bank.
    Assignment writes. Slices of a bank may include its last byte, which PyBoy refuses.

    Raises:
        PyBoyOutOfBoundsException: there is no such address or bank.
        PyBoyInvalidInputException: no integer, no byte, or as many values as do not fit.
    """

    def __init__(self, machine: Machine) -> None:
        self._memory = Memory(machine)

    def __getitem__(self, place: Any) -> Any:
        try:
            return self._memory[place]
        except (AddressError, ArgumentError, ArgumentTypeError) as error:
            raise _translated(error) from None

    def __setitem__(self, place: Any, value: Any) -> None:
        try:
            self._memory[place] = value
        except (AddressError, ArgumentError, ArgumentTypeError) as error:
            raise _translated(error) from None


def _translated(error: Exception) -> Exception:
    if isinstance(error, AddressError):
        return PyBoyOutOfBoundsException(str(error))
    return PyBoyInvalidInputException(str(error))
