"""Game wrappers: what is known about single games."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emurust.pyboy.plugins.base_plugin import PyBoyGameWrapper

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["PyBoyGameWrapper", "wrapper_for"]


def wrapper_for(pyboy: PyBoy) -> Any:
    """The wrapper for the game that is running, or the generic one."""
    return PyBoyGameWrapper(pyboy)
