"""``emurust verify`` as its users meet it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from emurust.cli import main
from emurust.verify import backends, generated, history, levels
from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.levels import Job


@pytest.fixture
def rom(tmp_path: Path) -> Path:
    path = tmp_path / "game.gb"
    path.write_bytes(generated.video_rules(1).rom)
    return path


def test_equal(rom: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(rom), "--frames", "60", "--seed", "3"]) == 0
    output = capsys.readouterr().out
    assert "level 3: EQUAL" in output
    assert "125 equal frames" in output


def test_all_levels_without_boot_and_with_sound(
    rom: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--frames", "30", "--level", "all", "--programs", "1", "--sound", "--no-boot"]
    assert main(["verify", str(rom), *arguments]) == 0
    output = capsys.readouterr().out
    assert "level 1: EQUAL: 3 programs" in output
    assert "level 2: EQUAL: 5 programs" in output
    assert "level 3: EQUAL" in output
    assert "sound on" in output


def test_the_shipped_cartridge_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--frames", "20", "--render", "none"]) == 0
    assert "the shipped cartridge" in capsys.readouterr().out


def test_a_cartridge_that_locks_the_cpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "locks.gb"
    path.write_bytes(history.illegal_rom(0xD3))
    assert main(["verify", str(path), "--frames", "60"]) == 0
    output = capsys.readouterr().out
    assert "executes an illegal opcode" in output
    assert "level 3: EQUAL" in output


def test_buttons_from_a_file(rom: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    buttons = tmp_path / "buttons.txt"
    buttons.write_text("3 tap start\n10 press a\n")
    assert main(["verify", str(rom), "--frames", "20", "--buttons", str(buttons)]) == 0
    buttons.write_text("3 tap turbo\n")
    assert main(["verify", str(rom), "--frames", "20", "--buttons", str(buttons)]) == 1
    assert "buttons.txt:1: no button 'turbo'" in capsys.readouterr().err


def test_a_difference_is_reported_in_full(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """EmuRust is given a cartridge whose program differs in one constant."""
    source = "ORG $0150\nLD HL,$C000\nloop: LD A,{value}\nLD (HL+),A\nLDH ($47),A\nJR loop"
    path = tmp_path / "game.gb"
    path.write_bytes(assemble_cartridge(source.format(value=7)))
    other = assemble_cartridge(source.format(value=9))

    class Tampered(backends.EmuRustMachine):
        def __init__(self, rom: bytes, **options: Any) -> None:
            super().__init__(other, **options)

    monkeypatch.setattr(levels, "EmuRustMachine", Tampered)
    images = tmp_path / "images"
    arguments = ["--frames", "30", "--images", str(images), "--ascii", "--render", "every"]
    assert main(["verify", str(path), *arguments]) == 1
    output = capsys.readouterr().out
    assert "DIFFERENT" in output
    assert "first difference after frame" in output
    assert "bgp" in output
    assert "C000" in output
    assert "PyBoy, last instructions" in output
    assert "EmuRust's picture" in output
    (image,) = images.glob("*.png")
    assert image.read_bytes().startswith(b"\x89PNG")


def test_processes(rom: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(rom), "--level", "1", "--programs", "2", "--jobs", "2"]) == 0
    assert "6 programs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--frames", "0"], "--frames must be 1 or more, not 0"),
        (["--programs", "0"], "--programs must be 1 or more, not 0"),
        (["--jobs", "-1"], "--jobs must be 1 or more, not -1"),
        (["--seed", "-1"], "--seed must be 0 or more, not -1"),
    ],
)
def test_wrong_numbers(
    rom: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(rom), *arguments]) == 1
    assert message in capsys.readouterr().err


def test_a_missing_cartridge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path / "none.gb")]) == 1
    assert "none.gb" in capsys.readouterr().err


def test_without_pyboy(
    rom: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends.importlib.util, "find_spec", lambda name: None)
    assert main(["verify", str(rom)]) == 1
    assert "pip install pyboy==2.8.1" in capsys.readouterr().err


def test_another_pyboy_is_warned_about(
    rom: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "reference_version", lambda: "2.9.0")
    with pytest.warns(UserWarning, match="comparing through PyBoy's API"):
        assert main(["verify", str(rom), "--frames", "3"]) == 0
    output = capsys.readouterr().out
    assert "PyBoy 2.9.0 is installed" in output
    assert "EQUAL" in output


def test_jobs_can_be_sent_to_other_processes() -> None:
    import pickle

    job = Job("x", b"\0" * 32, 3)
    assert pickle.loads(pickle.dumps(job)) == job
