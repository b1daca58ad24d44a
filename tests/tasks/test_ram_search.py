"""RAM search on memory that the test changes, and on the shipped cartridge."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emurust import EmuRustError, shipped_cartridge
from emurust.errors import ArgumentError
from emurust.tasks import RamSearch
from emurust.tasks.ram_search import FILTERS, TYPES, main


class Flat:
    """A machine of flat memory."""

    def __init__(self) -> None:
        self.memory = [0] * 0x10000


def test_narrows_down_to_the_number() -> None:
    machine = Flat()
    search = RamSearch(machine)
    assert len(search) == 0x2000 + 127
    machine.memory[0xC010] = 5
    machine.memory[0xC020] = 7
    machine.memory[0xFF90] = 5
    assert search.keep("increased") == 3
    machine.memory[0xC010] = 3
    machine.memory[0xC020] = 8
    assert search.keep("changed") == 2
    assert search.keep("unchanged") == 2
    machine.memory[0xC010] = 4
    machine.memory[0xC020] = 9
    assert search.values() == [("u8", 0xC010, 3, 4), ("u8", 0xC020, 8, 9)]
    assert search.keep("by", 1) == 2
    assert search.keep("above", 4) == 1
    assert search.candidates() == [("u8", 0xC020)]
    assert search.undo() == 2
    assert search.keep("below", 5) == 1
    assert search.candidates() == [("u8", 0xC010)]
    machine.memory[0xC010] = 1
    search.snapshot()
    assert search.keep("decreased") == 0


def test_searches_pyboy_too(make_pyboy: Callable[[bytes], Any]) -> None:
    pyboy = make_pyboy(Path(shipped_cartridge()).read_bytes())
    pyboy.tick(300, False)
    search = RamSearch(pyboy)
    pyboy.memory[0xC123] = (pyboy.memory[0xC123] + 1) & 0x7F | 1
    assert ("u8", 0xC123) in search.candidates()
    search.keep("changed")
    assert search.candidates() == [("u8", 0xC123)]


@pytest.mark.parametrize(
    ("spelling", "content", "number"),
    [
        ("u8", [200], 200),
        ("u16le", [0x34, 0x12], 0x1234),
        ("u16be", [0x12, 0x34], 0x1234),
        ("u24le", [3, 2, 1], 0x010203),
        ("u24be", [1, 2, 3], 0x010203),
        ("bcd1", [0x42], 42),
        ("bcd3", [0x01, 0x23, 0x45], 12345),
        ("bcdle3", [0x45, 0x23, 0x01], 12345),
        ("digits4", [1, 2, 3, 4], 1234),
        ("digitsle4", [4, 3, 2, 1], 1234),
    ],
)
def test_spellings(spelling: str, content: list[int], number: int) -> None:
    machine = Flat()
    machine.memory[0xD000 : 0xD000 + len(content)] = content
    search = RamSearch(machine, types=[spelling])
    search.keep("equal", number)
    assert (spelling, 0xD000) in search.candidates()


def test_digits_that_are_none_are_no_number() -> None:
    machine = Flat()
    machine.memory[0xD000] = 0x1A
    search = RamSearch(machine, types=["bcd1", "digits2"])
    search.keep("unchanged")
    assert ("bcd1", 0xD000) not in search.candidates()
    assert ("digits2", 0xD000) not in search.candidates()
    assert ("digits2", 0xD001) in search.candidates()


def test_numbers_do_not_reach_beyond_their_range() -> None:
    search = RamSearch(Flat(), types=["u16le"], ranges=[(0xC000, 0xC003)])
    assert [address for _, address in search.candidates()] == [0xC000, 0xC001, 0xC002]


def test_bad_input() -> None:
    with pytest.raises(ArgumentError, match=r"type 'u64' is unknown; expected u8"):
        RamSearch(Flat(), types=["u64"])
    with pytest.raises(ArgumentError, match="is no range"):
        RamSearch(Flat(), ranges=[(2, 1)])
    search = RamSearch(Flat())
    with pytest.raises(ArgumentError, match=r"filter 'bigger' is unknown; expected increased"):
        search.keep("bigger")
    with pytest.raises(ArgumentError, match="needs a number"):
        search.keep("equal")
    with pytest.raises(ArgumentError, match="takes no number"):
        search.keep("changed", 3)
    with pytest.raises(ArgumentError, match="no filter to take back"):
        search.undo()
    assert {"increased", "equal"} <= set(FILTERS)
    assert "u8" in TYPES


def test_the_command_runs_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    buttons = tmp_path / "buttons.txt"
    buttons.write_text("5 tap a\n")
    script = tmp_path / "search.txt"
    script.write_text(
        f"run 60\nsnapshot  # the game counts frames at 0xFFD5\n"
        f"run 1\nchanged\nplay {buttons} 10\nchanged\ntap start\npress left\nrun 2\nrelease left\n"
        "undo\nshow 3\nabove 0\nquit\nnonsense after the end\n"
    )
    assert main(["search", "--script", str(script)]) == 0
    printed = capsys.readouterr().out
    assert " left\n" in printed
    assert "0x" in printed


def test_the_command_prompts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("run 30\nwhat\nequal 256\n"))
    assert main(["search"]) == 0
    printed = capsys.readouterr().out
    assert "[8319] > " in printed
    assert "'what' is no command" in printed
    assert "0 left" in printed


def test_the_command_names_the_wrong_line(tmp_path: Path) -> None:
    script = tmp_path / "search.txt"
    script.write_text("run 1\nrun many\n")
    with pytest.raises(EmuRustError, match=r"search\.txt:2: 'many' is no whole number"):
        main(["search", "--script", str(script)])
    with pytest.raises(EmuRustError, match="cannot be read"):
        main(["search", "--script", str(tmp_path / "none")])
