"""Both classes side by side."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from emurust import shipped_cartridge


@pytest.fixture(scope="session")
def both(pyboy_class: Any) -> tuple[Any, Any]:
    """PyBoy's package and ours."""
    return importlib.import_module("pyboy"), importlib.import_module("emurust.pyboy")


@pytest.fixture
def game_file(tmp_path: Path) -> Path:
    """The shipped cartridge and its symbols, in a directory of their own."""
    source = shipped_cartridge()
    path = tmp_path / "game.gb"
    path.write_bytes(source.read_bytes())
    path.with_suffix(".sym").write_bytes(source.with_suffix(".sym").read_bytes())
    return path
