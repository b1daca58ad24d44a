"""A drop-in for PyBoy 2.8, without a window: ``from emurust.pyboy import PyBoy``.

The modules have PyBoy's names (`emurust.pyboy.utils`, `emurust.pyboy.api`), so that
changing the imports is all that a program needs. `install` makes ``import pyboy`` give
this package to programs that cannot be edited.
"""

from emurust.pyboy.importing import install, uninstall
from emurust.pyboy.memory import PyBoyMemoryView
from emurust.pyboy.pyboy import PyBoy
from emurust.pyboy.registers import PyBoyRegisterFile
from emurust.pyboy.utils import WindowEvent

__all__ = [
    "PyBoy",
    "PyBoyMemoryView",
    "PyBoyRegisterFile",
    "WindowEvent",
    "install",
    "uninstall",
]
