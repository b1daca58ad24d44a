"""Fixtures that several test files share."""

from __future__ import annotations

import importlib
import importlib.util
import io
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

# No test may open a window on somebody's desk.
os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")

RomBuilder = Callable[..., bytes]


def header_checksum(image: bytes | bytearray) -> int:
    """The byte that belongs at 0x014D."""
    total = 0
    for byte in image[0x134:0x14D]:
        total = (total - byte - 1) & 0xFF
    return total


def rom_image(
    code: bytes = b"\x18\xfe",
    *,
    cartridge_type: int = 0x00,
    banks: int = 2,
    size_code: int | None = None,
    ram_code: int = 0x00,
    title: bytes = b"TEST",
) -> bytes:
    """A cartridge that runs `code` from 0x0150 on (an endless loop by default).

    Each bank's byte at its offset 0x3000 is the bank's number.
    """
    image = bytearray(banks * 0x4000)
    for bank in range(banks):
        image[bank * 0x4000 + 0x3000] = bank & 0xFF
    image[0x100:0x104] = b"\x00\xc3\x50\x01"
    image[0x134 : 0x134 + len(title)] = title
    image[0x147] = cartridge_type
    image[0x148] = (banks.bit_length() - 2) if size_code is None else size_code
    image[0x149] = ram_code
    image[0x14D] = header_checksum(image)
    image[0x150 : 0x150 + len(code)] = code
    return bytes(image)


@pytest.fixture(scope="session")
def build_rom() -> RomBuilder:
    """`rom_image`, which builds a small cartridge."""
    return rom_image


JOYPAD_LOGGER = bytes.fromhex(
    "21 00 C0"  # ld hl,C000
    "F0 44 FE 90 20 FA"  # until LY is 144
    "3E 20 E0 00 F0 00 22"  # log the direction keys
    "3E 10 E0 00 F0 00 22"  # log the button keys
    "F0 44 FE 90 28 FA"  # until LY is no longer 144
    "18 E4"
)
"""Logs the joypad to 0xC000 on: two bytes in each frame, at its line 144."""


@pytest.fixture(scope="session")
def joypad_rom() -> bytes:
    """A cartridge that logs the joypad, frame by frame."""
    return rom_image(JOYPAD_LOGGER, cartridge_type=0x1B, banks=4, ram_code=0x03)


@pytest.fixture(scope="session")
def roms() -> Path:
    """The directory with test ROMs; skips where there is none."""
    default = Path(__file__).parents[2] / "shared" / "roms"
    path = Path(os.environ.get("EMURUST_TEST_ROMS", default))
    if not path.is_dir():
        pytest.skip(f"no test ROMs at {path}; EMURUST_TEST_ROMS names their directory")
    return path


@pytest.fixture(scope="session")
def pyboy_class() -> Any:
    """PyBoy's class; skips where it is not installed."""
    if importlib.util.find_spec("pyboy") is None:
        pytest.skip("PyBoy is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SDL2's notice about its own binaries
        return importlib.import_module("pyboy").PyBoy


@pytest.fixture(scope="session")
def boot_rom(pyboy_class: Any) -> bytes:
    """The boot ROM that comes with PyBoy."""
    spec = importlib.util.find_spec("pyboy")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return (Path(spec.submodule_search_locations[0]) / "core" / "bootrom_dmg.bin").read_bytes()


@pytest.fixture
def make_pyboy(pyboy_class: Any) -> Iterator[Callable[[bytes], Any]]:
    """Makes PyBoy instances that run a ROM's bytes, and stops them."""
    made = []

    def make(image: bytes, **options: Any) -> Any:
        pyboy = pyboy_class(
            io.BytesIO(image),
            window="null",
            cgb=False,
            sound_emulated=False,
            log_level="CRITICAL",
            **options,
        )
        made.append(pyboy)
        return pyboy

    yield make
    for pyboy in made:
        pyboy.stop(save=False)
