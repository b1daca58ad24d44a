"""Stands in for PyBoy's tables of Pokemon Red's and Blue's names, which are not here."""

from __future__ import annotations

from typing import NoReturn

from emurust.pyboy.utils import UnavailableError

__all__ = ["BADGES"]

BADGES = {
    name: number
    for number, name in enumerate(
        ("boulder", "cascade", "thunder", "rainbow", "soul", "marsh", "volcano", "earth")
    )
}
"""Numbers of the badges, as `set_badge` takes them."""


def __getattr__(name: str) -> NoReturn:
    if name.startswith("_"):
        raise AttributeError(name)
    raise UnavailableError(
        f"EmuRust does not come with PyBoy's table {name}: names of species, moves, items and "
        "trainers are read from the ROM that runs (give them to the methods of "
        "PyBoy.game_wrapper), and those of maps and events are a disassembly's (give numbers)"
    )
