"""What the verification tests share."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("pyboy", reason="PyBoy, the reference, is not installed")


@pytest.fixture(scope="session")
def long_run() -> bool:
    """EMURUST_VERIFY_LONG asks for many times as many frames and programs."""
    return os.environ.get("EMURUST_VERIFY_LONG", "") not in ("", "0")
