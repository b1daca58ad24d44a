"""Every exception that EmuRust raises on purpose.

All derive from `EmuRustError`, and each also from the built-in exception that
describes it best, so that ``except ValueError`` and the like keep working.
"""

from __future__ import annotations

__all__ = [
    "AddressError",
    "ArgumentError",
    "ArgumentTypeError",
    "BankError",
    "BootRomError",
    "ButtonError",
    "ClosedError",
    "DependencyError",
    "EmuRustError",
    "InternalError",
    "IntroError",
    "LogFileError",
    "RecordingError",
    "RomError",
    "RomNotFoundError",
    "RomReadError",
    "RomSizeError",
    "SaveFileError",
    "StateCorruptError",
    "StateError",
    "StateMismatchError",
    "StateVersionError",
    "UnsupportedMapperError",
]


class EmuRustError(Exception):
    """Base of all EmuRust exceptions."""


class RomError(EmuRustError, ValueError):
    """The bytes are not a ROM that this machine can run."""


class RomSizeError(RomError):
    """The file's length is no ROM's, or less than its header promises."""


class UnsupportedMapperError(RomError):
    """The cartridge type is known but not emulated; the message names it."""


class RomNotFoundError(EmuRustError, FileNotFoundError):
    """There is no file at the ROM's path."""


class RomReadError(EmuRustError, OSError):
    """The ROM's file exists but cannot be read."""


class BootRomError(EmuRustError, ValueError):
    """The boot ROM does not have the 256 bytes of an original Game Boy's."""


class SaveFileError(EmuRustError, OSError):
    """A battery RAM file could not be read or written, or does not fit."""


class ArgumentError(EmuRustError, ValueError):
    """An argument has a value that makes no sense; the message says which would."""


class ArgumentTypeError(EmuRustError, TypeError):
    """An argument has a type that makes no sense."""


class ButtonError(ArgumentError):
    """There is no such button; the message lists those there are."""


class AddressError(EmuRustError, IndexError):
    """An address or a slice of addresses is outside what it was used on."""


class BankError(AddressError):
    """There is no such bank; the message says which there are."""


class StateError(EmuRustError, ValueError):
    """A saved state cannot be loaded; the machine is unchanged."""


class StateCorruptError(StateError):
    """The bytes are no state, cut short or damaged."""


class StateVersionError(StateError):
    """The state has a format that this version does not read."""


class StateMismatchError(StateError):
    """The state was saved on a machine with another cartridge or other options."""


class ClosedError(EmuRustError, RuntimeError):
    """The machine or environment was stopped."""


class IntroError(EmuRustError, RuntimeError):
    """No button script reached a moment at which the game can be played."""


class LogFileError(EmuRustError, ValueError):
    """A recording or a log of visits cannot be read or written; the message names file and
    line."""


class RecordingError(EmuRustError, ValueError):
    """A recording does not fit the ROM, or its replay went another way."""


class DependencyError(EmuRustError, ImportError):
    """A feature needs a package that is not installed; the message says how to get it."""


class InternalError(EmuRustError, RuntimeError):
    """A bug in EmuRust."""
