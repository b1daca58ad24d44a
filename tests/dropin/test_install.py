"""`install()` gives programs that import pyboy ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import emurust.pyboy
emurust.pyboy.install()
emurust.pyboy.install()
import pyboy
from pyboy import PyBoy, PyBoyMemoryView
from pyboy.utils import WindowEvent, PyBoyException
from pyboy.api.memory_scanner import DynamicComparisonType
from pyboy.api.constants import TILES
import pyboy.api as api
import sys
assert PyBoy is emurust.pyboy.PyBoy
assert pyboy.utils.WindowEvent is emurust.pyboy.WindowEvent
assert issubclass(PyBoyException, emurust.EmuRustError)
try:
    import pyboy.core
except ModuleNotFoundError as error:
    assert "stands in for pyboy" in str(error)
else:
    raise AssertionError("pyboy.core")
with PyBoy(sys.argv[1], window="null", cgb=False) as game:
    game.tick(100)
    print(game.cartridge_title, game.frame_count, game.memory[0xFF40])
emurust.pyboy.uninstall()
assert "pyboy" not in sys.modules
"""

TOO_LATE = """
import sys, types
sys.modules["pyboy"] = types.ModuleType("pyboy")
import emurust.pyboy
try:
    emurust.pyboy.install()
except emurust.EmuRustError as error:
    assert "imported already" in str(error)
else:
    raise AssertionError
"""


def test_a_program_that_imports_pyboy(game_file: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(game_file)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("KITHWILD 100 ")


def test_too_late() -> None:
    subprocess.run([sys.executable, "-c", TOO_LATE], check=True)
