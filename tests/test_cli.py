"""The command ``emurust``."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import emurust
from emurust.cli import COMMANDS, main
from emurust.cli.progress import Progress

if TYPE_CHECKING:
    from conftest import RomBuilder

Capture = pytest.CaptureFixture[str]


def test_as_a_module_and_as_a_script(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("emurust")
    for command in ([sys.executable, "-m", "emurust"], [str(script)]):
        result = subprocess.run(
            [*command, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert result.stdout == f"emurust {emurust.__version__}\n"


def test_help_lists_every_command(capsys: Capture) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    text = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n  {name} " in text


@pytest.mark.parametrize("arguments", [[], ["dance"], ["--dance"]])
def test_wrong_usage(arguments: list[str], capsys: Capture) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert "usage: emurust" in capsys.readouterr().err


def test_errors_are_one_line(capsys: Capture, tmp_path: Path) -> None:
    assert main(["info", str(tmp_path / "missing.gb")]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("emurust: there is no ROM file at ")
    assert captured.err.count("\n") == 1


class TestInfo:
    def test_fields(self, build_rom: RomBuilder, tmp_path: Path, capsys: Capture) -> None:
        path = tmp_path / "game.gb"
        path.write_bytes(build_rom(cartridge_type=0x1B, banks=8, ram_code=3, title=b"HELLO"))
        assert main(["info", str(path)]) == 0
        rows = dict(
            line.split(":", 1) for line in capsys.readouterr().out.replace(": ", ":").splitlines()
        )
        assert rows["title"].strip() == "HELLO"
        assert rows["cartridge"].strip() == "MBC5 (type 0x1B) with RAM, battery"
        assert rows["made for"].strip() == "Game Boy"
        assert rows["ROM"].strip() == "128 KiB in 8 banks"
        assert rows["RAM"].strip() == "32 KiB emulated (size code 0x03)"
        assert rows["header checksum"].strip().endswith("right")
        assert "wrong" in rows["global checksum"]
        assert rows["tasks"].strip() == "none of the shipped ones"
        assert "game" not in rows

    def test_a_header_that_promises_less(
        self, build_rom: RomBuilder, tmp_path: Path, capsys: Capture
    ) -> None:
        path = tmp_path / "game.gb"
        path.write_bytes(build_rom(cartridge_type=1, banks=8, size_code=1))
        assert main(["info", str(path)]) == 0
        assert "128 KiB in 8 banks; the header promises 64 KiB" in capsys.readouterr().out

    def test_shipped_cartridge_by_default(self, capsys: Capture) -> None:
        assert main(["info"]) == 0
        out = capsys.readouterr().out
        assert str(emurust.shipped_cartridge()) in out
        assert "Kithwild, which comes with EmuRust" in out
        assert out.rstrip().endswith("explore, pokemon")


class TestRun:
    def test_prints_where_it_ended(self, capsys: Capture) -> None:
        assert main(["run", "--frames", "30"]) == 0
        out = capsys.readouterr().out
        assert out.startswith("30 frames, ")
        assert "PC=" in out

    def test_pictures(self, tmp_path: Path) -> None:
        image = pytest.importorskip("PIL.Image")
        png, gif = tmp_path / "last.png", tmp_path / "run.gif"
        arguments = ["run", "--frames", "400", "--screenshot", str(png), "--gif", str(gif)]
        assert main([*arguments, "--gif-every", "20"]) == 0
        gameboy = emurust.GameBoy()
        gameboy.tick(400)
        with image.open(png) as picture:
            assert picture.convert("RGBA").tobytes() == gameboy.screen.ndarray.tobytes()
        with image.open(gif) as film:
            assert film.size == (160, 144)
            assert film.n_frames > 1

    def test_buttons(self, joypad_rom: bytes, tmp_path: Path) -> None:
        rom, script, state = tmp_path / "a.gb", tmp_path / "buttons.txt", tmp_path / "a.state"
        rom.write_bytes(joypad_rom)
        script.write_text(
            "# a comment\n10 tap a\n20 press down  # held\n25 tap b 3\n30 release down\n"
        )
        arguments = ["run", str(rom), "--frames", "50", "--buttons", str(script)]
        assert main([*arguments, "--state", str(state)]) == 0
        gameboy = emurust.GameBoy(joypad_rom)
        for frame in range(50):
            if frame == 10:
                gameboy.button("a", 8)
            elif frame == 20:
                gameboy.button_press("down")
            elif frame == 25:
                gameboy.button("b", 3)
            elif frame == 30:
                gameboy.button_release("down")
            gameboy.tick()
        assert state.read_bytes() == gameboy.get_state()

    def test_film_does_not_change_the_run(self, joypad_rom: bytes, tmp_path: Path) -> None:
        pytest.importorskip("PIL")
        rom = tmp_path / "a.gb"
        rom.write_bytes(joypad_rom)
        script = tmp_path / "buttons.txt"
        script.write_text("7 tap a\n33 tap b\n")
        states = []
        for extra in ([], ["--gif", str(tmp_path / "a.gif"), "--gif-every", "5"]):
            state = tmp_path / "a.state"
            arguments = ["run", str(rom), "--frames", "62", "--buttons", str(script)]
            assert main([*arguments, "--state", str(state), *extra]) == 0
            loaded = emurust.GameBoy(joypad_rom)
            loaded.set_state(state.read_bytes())
            states.append(loaded.memory[0xC000:0xC100])
        assert states[0] == states[1]

    def test_battery_ram_is_left_alone(self, joypad_rom: bytes, tmp_path: Path) -> None:
        rom = tmp_path / "a.gb"
        rom.write_bytes(joypad_rom)
        assert main(["run", str(rom), "--frames", "3"]) == 0
        assert [path.name for path in tmp_path.iterdir()] == ["a.gb"]

    @pytest.mark.parametrize(
        ("line", "message"),
        [("5 tap q", "no button 'q'"), ("x tap a", "not a whole number"), ("5 tap", "expected")],
    )
    def test_wrong_button_file(
        self, tmp_path: Path, capsys: Capture, line: str, message: str
    ) -> None:
        script = tmp_path / "buttons.txt"
        script.write_text(f"# first line\n{line}\n")
        assert main(["run", "--buttons", str(script)]) == 1
        err = capsys.readouterr().err
        assert "buttons.txt:2" in err
        assert message in err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--frames", "0"], "--frames must be 1 or more, not 0"),
            (["--gif-every", "0"], "--gif-every must be 1 or more, not 0"),
            (["--buttons", "missing.txt"], "missing.txt cannot be read"),
            (["--frames", "1", "--state", "no/such/place"], "no/such/place cannot be written"),
            (["--frames", "1", "--screenshot", "no/such/a.png"], "a.png cannot be written"),
        ],
    )
    def test_wrong_options(self, capsys: Capture, arguments: list[str], message: str) -> None:
        assert main(["run", *arguments]) == 1
        assert message in capsys.readouterr().err

    def test_without_pillow(self, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "PIL", None)
        assert main(["run", "--screenshot", "a.png"]) == 1
        assert "pip install 'emurust[image]'" in capsys.readouterr().err


class TestPlay:
    def test_window(self) -> None:
        pytest.importorskip("pygame")
        assert main(["play", "--frames", "5", "--scale", "2"]) == 0

    def test_keys(self, joypad_rom: bytes) -> None:
        pygame = pytest.importorskip("pygame")
        from emurust.window import Window

        window = Window("test", 1)
        for kind, key in [
            (pygame.KEYDOWN, pygame.K_z),
            (pygame.KEYUP, pygame.K_z),
            (pygame.KEYDOWN, pygame.K_LEFT),
            (pygame.KEYDOWN, pygame.K_q),
        ]:
            pygame.event.post(pygame.event.Event(kind, key=key))
        assert list(window.events()) == [("a", True), ("a", False), ("left", True)]
        assert not window.closed_by_user
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        assert list(window.events()) == []
        assert window.closed_by_user
        window.close()

    def test_without_pygame(self, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pygame", None)
        assert main(["play"]) == 1
        assert "pip install 'emurust[play]'" in capsys.readouterr().err

    def test_wrong_scale(self, capsys: Capture) -> None:
        assert main(["play", "--scale", "0"]) == 1
        assert "--scale must be 1 to 20" in capsys.readouterr().err


class TestBench:
    def test_with_pyboy(self, capsys: Capture, pyboy_class: object) -> None:
        assert main(["bench", "--frames", "48", "--rounds", "1"]) == 0
        out = capsys.readouterr().out
        assert out.count("x)\n") == 2
        assert "no rendering: EmuRust" in out

    def test_without_pyboy(self, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert main(["bench", "--frames", "48", "--rounds", "1"]) == 0
        out = capsys.readouterr().out
        assert "PyBoy" not in out.splitlines()[1]
        assert "emurust[verify]" in out

    def test_wrong_options(self, capsys: Capture) -> None:
        assert main(["bench", "--frames", "3"]) == 1
        assert "--frames must be 24 or more" in capsys.readouterr().err


class TestProgress:
    def test_on_a_terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = 0.0
        monkeypatch.setattr("time.perf_counter", lambda: now)
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda: True)
        with Progress(200, "frames", stream) as progress:
            progress.update(10)
            assert stream.getvalue() == "", "short work stays silent"
            now = 2.0
            progress.update(50)
            progress.update(51)
        assert stream.getvalue() == "\r50 of 200 frames (25%), 25 a second\x1b[K\n"

    def test_in_a_log(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = 0.0
        monkeypatch.setattr("time.perf_counter", lambda: now)
        stream = io.StringIO()
        with Progress(200, "frames", stream) as progress:
            for now in (2.0, 5.0, 13.0):
                progress.update(int(now))
        assert stream.getvalue().splitlines() == [
            "2 of 200 frames (1%), 1 a second",
            "13 of 200 frames (6%), 1 a second",
        ]
