"""The stub of the compiled module says what the module has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_stub_matches_the_module(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "emurust._emurust"]
    # From elsewhere: what is installed is to be tested.
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_package_is_marked_as_typed() -> None:
    import emurust

    assert (Path(emurust.__file__).parent / "py.typed").exists()
