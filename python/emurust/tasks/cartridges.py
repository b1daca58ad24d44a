"""Telling whether a task fits a cartridge."""

from __future__ import annotations

import hashlib
import warnings

from emurust._emurust import Rom, Task
from emurust.rom import load_rom
from emurust.tasks.errors import TaskCartridgeError

__all__ = ["CartridgeWarning", "check_cartridge", "recognise"]

# SHA-1 of the world (USA, Europe) versions, as the public disassembly states them.
_KNOWN = {
    "POKEMON RED": "ea9bcae617fdf159b045185467ae58b2e4a48b9a",
    "POKEMON BLUE": "d7037c83e1ae5b39bde3c30787637ba1d4c48ce2",
}


_SHIPPED_TITLE = "KITHWILD"


class CartridgeWarning(UserWarning):
    """The cartridge looks like one that the task is made for, but is not that one."""


def recognise(rom: Rom) -> str | None:
    """Which known game a cartridge is, in words; None: none that EmuRust knows of."""
    if rom.title == _SHIPPED_TITLE:
        if rom.fingerprint == load_rom(None).fingerprint:
            return "Kithwild, which comes with EmuRust"
        return "titled as Kithwild, but not the one that comes with this EmuRust"
    if rom.title not in _KNOWN:
        return None
    name = rom.title.title()
    if _is_known_version(rom):
        return f"{name}, the world (USA, Europe) version"
    return f"titled as {name}, but not the world (USA, Europe) version"


def _is_known_version(rom: Rom) -> bool:
    found = hashlib.sha1(rom.image(), usedforsecurity=False).hexdigest()
    return found == _KNOWN.get(rom.title)


def check_cartridge(task: Task, rom: Rom) -> None:
    """Checks that a task is made for a cartridge.

    Args:
        task: the task.
        rom: the cartridge.

    Raises:
        TaskCartridgeError: the header's title is not one of the task's; the message says
            which are.

    Warns:
        CartridgeWarning: the title is right but the content is not that of the known
            version: a translation or a changed game may keep its variables elsewhere.
    """
    task.check_cartridge(rom)
    if rom.title not in _KNOWN or not task.cartridge_titles:
        return
    if rom.cartridge_type != 0x13 or len(rom.image()) != 1 << 20:
        raise TaskCartridgeError(
            f"the cartridge is titled {rom.title!r} but is not that game: expected 1 MiB and "
            f"type 0x13 (MBC3, RAM, battery), found {len(rom.image())} bytes and type "
            f"0x{rom.cartridge_type:02X}"
        )
    if not _is_known_version(rom):
        warnings.warn(
            f"this {rom.title!r} is not the world (USA, Europe) version; the task "
            f"{task.name!r} may read the wrong addresses",
            CartridgeWarning,
            stacklevel=2,
        )
