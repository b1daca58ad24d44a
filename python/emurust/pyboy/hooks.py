"""Hooks: callbacks before the instruction at an address runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from emurust.errors import AddressError
from emurust.pyboy.utils import (
    OPCODE_BRK,
    InvalidTypeError,
    InvalidValueError,
    PyBoyOutOfBoundsException,
)

if TYPE_CHECKING:
    from emurust._emurust import Machine
    from emurust.pyboy.memory import PyBoyMemoryView
    from emurust.pyboy.symbols import SymbolTable

__all__ = ["Hooks"]

Callback = Callable[[Any], object]


class Hooks:
    """The hooks of one machine.

    As in PyBoy the hooked place holds the opcode 0xDB, which the program and
    `PyBoy.memory` can read. While its callback runs the real opcode is back.
    """

    def __init__(self, machine: Machine, memory: PyBoyMemoryView, symbols: SymbolTable) -> None:
        self._machine = machine
        self._memory = memory
        self._symbols = symbols
        self._callbacks: dict[tuple[int, int], tuple[Callback, Any]] = {}

    def __bool__(self) -> bool:
        return bool(self._callbacks)

    def _place(self, bank: int | None, address: int | str) -> tuple[int, int]:
        if bank is None and isinstance(address, str):
            return self._symbols.lookup(address)
        if not isinstance(bank, int) or not isinstance(address, int):
            raise InvalidTypeError(
                "a hook is at a bank and an address, or at None and the name of a symbol, "
                f"not at {bank!r} and {address!r}"
            )
        return bank, address

    def register(
        self, bank: int | None, address: int | str, callback: Callback, context: Any
    ) -> None:
        """See `PyBoy.hook_register`."""
        if not callable(callback):
            raise InvalidTypeError(f"a hook calls a function, not {callback!r}")
        place = self._place(bank, address)
        if place in self._callbacks or self._memory[place] == OPCODE_BRK:
            raise InvalidValueError("Hook already registered for this bank and address.")
        try:
            self._machine.set_stop(*place)
        except AddressError as error:
            raise PyBoyOutOfBoundsException(str(error)) from None
        self._callbacks[place] = (callback, context)

    def deregister(self, bank: int | None, address: int | str) -> None:
        """See `PyBoy.hook_deregister`."""
        place = self._place(bank, address)
        try:
            self._machine.clear_stop(*place)
        except AddressError as error:
            raise InvalidValueError(f"Breakpoint not found for bank and addr: {error}") from None
        del self._callbacks[place]

    def run_frame(self, render: bool, sound: bool) -> None:
        """Runs one frame, calling back at every hook that it passes.

        What a callback raises is raised when the frame is done.
        """
        failure: BaseException | None = None
        place = self._machine.run_to_stop(True, render, sound)
        while place is not None:
            callback, context = self._callbacks[place]
            try:
                callback(context)
            except BaseException as error:
                failure = failure or error
            place = self._machine.run_to_stop(False, render, sound)
        if failure is not None:
            raise failure
