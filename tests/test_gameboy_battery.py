"""Battery RAM in files."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emurust import GameBoy
from emurust.errors import SaveFileError

if TYPE_CHECKING:
    from conftest import RomBuilder


@pytest.fixture
def rom_file(build_rom: RomBuilder, tmp_path: Path) -> Path:
    path = tmp_path / "game.gb"
    path.write_bytes(build_rom(cartridge_type=0x1B, banks=4, ram_code=0x03))
    return path


@pytest.fixture
def ram_file(rom_file: Path) -> Path:
    return rom_file.with_name("game.gb.ram")


def test_stop_saves_next_to_the_rom(rom_file: Path, ram_file: Path) -> None:
    gameboy = GameBoy(rom_file)
    gameboy.memory[1, 0xA000:0xA004] = [1, 2, 3, 4]
    gameboy.stop()
    content = ram_file.read_bytes()
    assert len(content) == 4 * 0x2000
    assert content[0x2000:0x2004] == b"\x01\x02\x03\x04"
    assert sorted(path.name for path in rom_file.parent.iterdir()) == ["game.gb", "game.gb.ram"]
    assert GameBoy(rom_file).memory[1, 0xA000:0xA004] == [1, 2, 3, 4]


def test_stop_without_saving(rom_file: Path, ram_file: Path) -> None:
    GameBoy(rom_file).stop(save=False)
    assert not ram_file.exists()


def test_the_old_file_is_replaced_whole(rom_file: Path, ram_file: Path) -> None:
    ram_file.write_bytes(bytes(4 * 0x2000) + b"a clock's 48 bytes")
    ram_file.chmod(0o640)
    before = ram_file.stat().st_ino
    with GameBoy(rom_file) as gameboy:
        gameboy.memory[0, 0xA000] = 1
    assert ram_file.stat().st_ino != before
    assert len(ram_file.read_bytes()) == 4 * 0x2000
    assert ram_file.stat().st_mode & 0o777 == 0o640


def test_no_battery_no_file(build_rom: RomBuilder, tmp_path: Path) -> None:
    path = tmp_path / "game.gb"
    path.write_bytes(build_rom(cartridge_type=0x1A, banks=4, ram_code=0x03))
    GameBoy(path).stop()
    assert [entry.name for entry in tmp_path.iterdir()] == ["game.gb"]


def test_other_places(rom_file: Path, ram_file: Path, tmp_path: Path) -> None:
    gameboy = GameBoy(rom_file)
    gameboy.memory[0, 0xA000] = 5
    buffer = io.BytesIO()
    gameboy.stop(ram_file=buffer)
    assert not ram_file.exists()
    buffer.seek(0)
    other = GameBoy(rom_file.read_bytes(), ram_file=buffer)
    assert other.memory[0, 0xA000] == 5
    other.stop(ram_file=tmp_path / "elsewhere.ram")
    third = GameBoy(rom_file, ram_file=tmp_path / "elsewhere.ram")
    assert third.memory[0, 0xA000] == 5


def test_a_rom_without_a_path_saves_nowhere(rom_file: Path) -> None:
    with GameBoy(rom_file.read_bytes()) as gameboy:
        gameboy.memory[0, 0xA000] = 5
    fork = GameBoy(rom_file).fork()
    fork.stop()
    assert [path.name for path in rom_file.parent.iterdir()] == ["game.gb"]


def test_a_short_file_is_refused(rom_file: Path, ram_file: Path) -> None:
    ram_file.write_bytes(b"\x01" * 100)
    with pytest.raises(SaveFileError, match=r"game.gb.ram has 100 bytes, but the cartridge has 32"):
        GameBoy(rom_file)


def test_a_missing_file_that_was_named(rom_file: Path, tmp_path: Path) -> None:
    with pytest.raises(SaveFileError, match="there is no battery RAM file at"):
        GameBoy(rom_file, ram_file=tmp_path / "missing.ram")


def test_a_failed_save_leaves_machine_and_old_file(rom_file: Path, ram_file: Path) -> None:
    ram_file.write_bytes(bytes(4 * 0x2000))
    gameboy = GameBoy(rom_file)
    gameboy.memory[0, 0xA000] = 5
    missing = rom_file.parent / "no such directory" / "game.ram"
    with pytest.raises(SaveFileError, match="cannot be written: No such file or directory"):
        gameboy.stop(ram_file=missing)
    assert not gameboy.stopped
    assert ram_file.read_bytes() == bytes(4 * 0x2000)
    gameboy.stop()
    assert ram_file.read_bytes()[0] == 5


def test_a_full_disk_leaves_the_old_file(
    rom_file: Path, ram_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ram_file.write_bytes(bytes(4 * 0x2000))
    gameboy = GameBoy(rom_file)
    gameboy.memory[0, 0xA000] = 5

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SaveFileError, match="No space left on device"):
        gameboy.stop()
    assert ram_file.read_bytes() == bytes(4 * 0x2000)
    names = sorted(path.name for path in rom_file.parent.iterdir())
    assert names == ["game.gb", "game.gb.ram"], "the temporary file was left behind"
