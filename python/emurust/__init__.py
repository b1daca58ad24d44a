"""EmuRust: an exact Game Boy for reinforcement learning.

`GameBoy` is PyBoy's machine with PyBoy's vocabulary, much faster. Importing this
package registers the Gymnasium environment ``EmuRust-Pokemon``.
"""

from emurust._emurust import Memory, __version__
from emurust.buttons import BUTTONS, WindowEvent
from emurust.envs import register_envs
from emurust.errors import EmuRustError
from emurust.gameboy import GameBoy
from emurust.pool import Pool
from emurust.registers import RegisterFile
from emurust.rom import Rom, load_rom, shipped_cartridge
from emurust.screen import Screen

__all__ = [
    "BUTTONS",
    "EmuRustError",
    "GameBoy",
    "Memory",
    "Pool",
    "RegisterFile",
    "Rom",
    "Screen",
    "WindowEvent",
    "__version__",
    "load_rom",
    "register_envs",
    "shipped_cartridge",
]

register_envs()
