"""The time before the cartridge: PyBoy's boot program, or the frames that it takes."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path

from emurust.errors import BootRomError

__all__ = ["BOOT_FRAMES", "read_boot_rom"]

BOOT_FRAMES = 64
"""Whole frames that PyBoy's boot program takes. It hands over to the cartridge in the next."""

_BOOT_ROM_LEN = 256


def read_boot_rom(path: str | os.PathLike[str] | None) -> bytes | None:
    """The boot ROM at a path; without one that of an installed PyBoy, if there is any.

    PyBoy's boot program is not ours to ship. Without it `PyBoy` lets the same time pass.

    Raises:
        BootRomError: the file cannot be read. (Its length is checked by the machine.)
    """
    if path is not None:
        try:
            return Path(path).read_bytes()
        except OSError as error:
            raise BootRomError(f"the boot ROM {path} cannot be read: {error.strerror}") from error
    try:
        package = importlib.metadata.distribution("pyboy")
        image = Path(str(package.locate_file("pyboy/core/bootrom_dmg.bin"))).read_bytes()
    except (importlib.metadata.PackageNotFoundError, OSError):
        return None
    return image if len(image) == _BOOT_ROM_LEN else None
