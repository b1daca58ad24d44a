"""Exceptions of the verification harness."""

from __future__ import annotations

from emurust.errors import EmuRustError


class VerifyError(EmuRustError):
    """Verification could not be carried out (this is never a verdict)."""


class ReferenceMissingError(VerifyError):
    """PyBoy, the reference, is not installed."""


class StateFormatError(VerifyError):
    """A PyBoy save state does not have the expected layout."""


class StructLayoutError(VerifyError):
    """The structures inside this PyBoy are not laid out as expected."""


class ButtonScriptError(VerifyError):
    """A button file has a line that cannot be understood."""


class AssemblyError(VerifyError):
    """A program given to the assembler is wrong."""


class CartridgeImageError(VerifyError):
    """A generated cartridge would not be valid."""
