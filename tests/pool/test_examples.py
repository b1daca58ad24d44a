"""Each example runs, where what it needs is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NEEDS = {
    "pool.py": None,
    "gymnasium_vector.py": None,
    "pufferlib_native.py": "pufferlib",
    "stable_baselines3_ppo.py": "stable_baselines3",
}


def test_every_example_is_known() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} >= set(NEEDS)


@pytest.mark.parametrize("name", ["pool.py", "gymnasium_vector.py", "pufferlib_native.py"])
def test_example(name: str, tmp_path: Path) -> None:
    needed = NEEDS[name]
    if needed is not None and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    done = subprocess.run(
        [sys.executable, EXAMPLES / name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "places" in done.stdout
