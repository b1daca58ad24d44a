"""Telling whether a task fits a cartridge."""

from __future__ import annotations

import hashlib
import warnings

from emurust._emurust import Rom, Task
from emurust.tasks.errors import TaskCartridgeError

__all__ = ["CartridgeWarning", "check_cartridge"]

# SHA-1 of the world (USA, Europe) versions, as the public disassembly states them.
_KNOWN = {
    "POKEMON RED": "ea9bcae617fdf159b045185467ae58b2e4a48b9a",
    "POKEMON BLUE": "d7037c83e1ae5b39bde3c30787637ba1d4c48ce2",
}


class CartridgeWarning(UserWarning):
    """The cartridge looks like one that the task is made for, but is not that one."""


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
    known = _KNOWN.get(rom.title)
    if known is None or not task.cartridge_titles:
        return
    if rom.cartridge_type != 0x13 or len(rom.image()) != 1 << 20:
        raise TaskCartridgeError(
            f"the cartridge is titled {rom.title!r} but is not that game: expected 1 MiB and "
            f"type 0x13 (MBC3, RAM, battery), found {len(rom.image())} bytes and type "
            f"0x{rom.cartridge_type:02X}"
        )
    if hashlib.sha1(rom.image(), usedforsecurity=False).hexdigest() != known:
        warnings.warn(
            f"this {rom.title!r} is not the world (USA, Europe) version; the task "
            f"{task.name!r} may read the wrong addresses",
            CartridgeWarning,
            stacklevel=2,
        )
