"""Cartridges: where they come from and what they say about themselves."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol, TypeAlias

from emurust._emurust import Rom
from emurust.errors import (
    ArgumentTypeError,
    RomError,
    RomNotFoundError,
    RomReadError,
    RomSizeError,
)

__all__ = [
    "ROM_VARIABLE",
    "Rom",
    "RomSource",
    "load_rom",
    "read_rom",
    "shipped_cartridge",
    "usual_rom",
]

ROM_VARIABLE = "EMURUST_ROM"
"""Environment variable with the path of the ROM that environments play by default."""

_BANK_SIZE = 0x4000


class BinaryReader(Protocol):
    """A file opened for reading bytes."""

    def read(self, size: int = -1, /) -> bytes: ...


RomSource: TypeAlias = (
    "str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryReader | None"
)
"""A path, the bytes of a ROM, a binary file, or None for the shipped cartridge."""


def shipped_cartridge() -> Path:
    """The path of the cartridge that comes with EmuRust.

    Raises:
        RomNotFoundError: the installation is incomplete.
    """
    path = Path(__file__).parent / "data" / "cartridge.gb"
    if not path.is_file():
        raise RomNotFoundError(f"the shipped cartridge is missing from the installation: {path}")
    return path


def usual_rom(source: RomSource) -> RomSource:
    """The source, or without one the file that the environment variable EMURUST_ROM names."""
    return source if source is not None else os.environ.get(ROM_VARIABLE) or None


def rom_path(source: RomSource) -> Path | None:
    """The user's own file that `source` names, if it names one."""
    if isinstance(source, str | os.PathLike):
        return Path(source)
    return None


def read_rom(source: RomSource) -> bytes:
    """The bytes of a ROM, unchecked.

    Raises:
        RomNotFoundError: there is no such file.
        RomReadError: the file cannot be read.
        ArgumentTypeError: the source is of no kind that a ROM can come from.
    """
    if source is None:
        return shipped_cartridge().read_bytes()
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            return path.read_bytes()
        except FileNotFoundError:
            raise RomNotFoundError(f"there is no ROM file at {path}") from None
        except IsADirectoryError:
            raise RomReadError(f"{path} is a directory; give the path of a ROM file") from None
        except OSError as error:
            raise RomReadError(f"the ROM file {path} cannot be read: {error.strerror}") from error
    if hasattr(source, "read"):
        image: object = source.read()
        if isinstance(image, bytes | bytearray | memoryview):
            return bytes(image)
        raise ArgumentTypeError("the ROM's file is open as text; open it with mode 'rb'")
    raise ArgumentTypeError(
        f"a ROM is a path, bytes, a binary file or None, not {type(source).__name__}"
    )


def load_rom(source: RomSource) -> Rom:
    """Reads and checks a cartridge.

    Args:
        source: a path, the ROM's bytes, a binary file, or None for the shipped cartridge.

    Raises:
        RomNotFoundError: there is no such file.
        RomReadError: the file cannot be read.
        RomSizeError: the length is no ROM's, or less than the header promises.
        UnsupportedMapperError: the cartridge's bank switching is not emulated.
        RomError: the header is wrong otherwise.
    """
    image = read_rom(source)
    path = source if isinstance(source, str | os.PathLike) else None
    try:
        rom = Rom(image)
        # A longer file (padding, two images in one) still holds the game.
        if rom.declared_rom_banks is not None and rom.declared_rom_banks > rom.rom_banks:
            raise RomSizeError(
                f"the header promises {rom.declared_rom_banks * _BANK_SIZE} bytes "
                f"(the size byte at 0x0148), but there are only {len(image)}; "
                "the file is truncated or its header is wrong"
            )
    except RomError as error:
        if path is None:
            raise
        raise type(error)(f"{os.fspath(path)}: {error}") from None
    return rom
