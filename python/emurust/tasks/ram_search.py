"""Finding where a game keeps a number: compare memory over time and drop what does not fit.

Typical use: start a search while the number is on the screen, keep what equals it, let it
change, keep what changed the same way, until few addresses are left.

`RamSearch` is the search; `main` is ``emurust ram``, which runs one from a script or a
prompt.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, TextIO

import numpy as np
import numpy.typing as npt

from emurust.errors import ArgumentError
from emurust.gameboy import GameBoy
from emurust.rom import load_rom

__all__ = ["FILTERS", "TYPES", "RamSearch", "main"]

Numbers = npt.NDArray[np.int64]


class MemoryHolder(Protocol):
    """A machine whose memory can be read, such as `emurust.GameBoy` or PyBoy."""

    @property
    def memory(self) -> Any:
        """Lists of bytes by slices of addresses."""


def _binary(order: int, length: int) -> Callable[[Numbers], Numbers]:
    def decode(memory: Numbers) -> Numbers:
        places = range(length) if order > 0 else reversed(range(length))
        return sum(
            (np.roll(memory, -place) << 8 * n for n, place in enumerate(places)),
            np.zeros_like(memory),
        )

    return decode


def _decimal(order: int, length: int, bcd: bool) -> Callable[[Numbers], Numbers]:
    def decode(memory: Numbers) -> Numbers:
        digits = (memory >> 4) * 10 + (memory & 15) if bcd else memory
        wrong = ((memory >> 4) > 9) | ((memory & 15) > 9) if bcd else memory > 9
        base = 100 if bcd else 10
        places = range(length) if order > 0 else reversed(range(length))
        total = np.zeros_like(memory)
        invalid = np.zeros(memory.shape, bool)
        for n, place in enumerate(places):
            total += np.roll(digits, -place) * base**n
            invalid |= np.roll(wrong, -place)
        # What is no number equals no number.
        return np.where(invalid, -1, total)

    return decode


TYPES: dict[str, tuple[int, Callable[[Numbers], Numbers]]] = {
    "u8": (1, _binary(1, 1)),
    "u16le": (2, _binary(1, 2)),
    "u16be": (2, _binary(-1, 2)),
    "u24le": (3, _binary(1, 3)),
    "u24be": (3, _binary(-1, 3)),
    **{f"bcd{n}": (n, _decimal(-1, n, True)) for n in (1, 2, 3, 4)},
    **{f"bcdle{n}": (n, _decimal(1, n, True)) for n in (2, 3, 4)},
    **{f"digits{n}": (n, _decimal(-1, n, False)) for n in (2, 3, 4, 5, 6)},
    **{f"digitsle{n}": (n, _decimal(1, n, False)) for n in (2, 3, 4, 5, 6)},
}
"""How numbers may be spelled, as in task files, decimal ones with their length in bytes."""

FILTERS: dict[str, tuple[bool, Callable[[Numbers, Numbers, int], npt.NDArray[np.bool_]]]] = {
    "increased": (False, lambda before, now, _: now > before),
    "decreased": (False, lambda before, now, _: now < before),
    "changed": (False, lambda before, now, _: now != before),
    "unchanged": (False, lambda before, now, _: now == before),
    "equal": (True, lambda _, now, number: now == number),
    "above": (True, lambda _, now, number: now > number),
    "below": (True, lambda _, now, number: now < number),
    "by": (True, lambda before, now, number: now - before == number),
}
"""Name of a filter: whether it takes a number, and what it keeps."""


class RamSearch:
    """A search through a machine's RAM.

    Args:
        machine: its ``memory[a:b]`` gives lists of bytes.
        types: how the number may be spelled; see `TYPES`.
        ranges: pairs of first and last address; by default work RAM and high RAM.

    Raises:
        ArgumentError: an unknown type or a range that is empty or outside memory.
    """

    DEFAULT_RANGES: ClassVar = ((0xC000, 0xDFFF), (0xFF80, 0xFFFE))

    def __init__(
        self,
        machine: MemoryHolder,
        *,
        types: Iterable[str] = ("u8",),
        ranges: Iterable[tuple[int, int]] = DEFAULT_RANGES,
    ) -> None:
        self._machine = machine
        self.types = tuple(types)
        for name in self.types:
            if name not in TYPES:
                raise ArgumentError(f"the type {name!r} is unknown; expected {', '.join(TYPES)}")
        self._ranges = tuple(ranges)
        for first, last in self._ranges:
            if not 0 <= first <= last <= 0xFFFF:
                raise ArgumentError(
                    f"0x{first:04X}-0x{last:04X} is no range; expected first <= last <= 0xFFFF"
                )
        self._candidates: dict[str, npt.NDArray[np.bool_]] = {}
        for name in self.types:
            keep = np.zeros(0x10000, bool)
            for first, last in self._ranges:
                keep[first : max(first, last + 2 - TYPES[name][0])] = True
            self._candidates[name] = keep
        self._undo: list[tuple[dict[str, npt.NDArray[np.bool_]], Numbers]] = []
        self._last = self._read()

    def __len__(self) -> int:
        """Number of candidates left."""
        return sum(int(keep.sum()) for keep in self._candidates.values())

    def snapshot(self) -> None:
        """Remembers memory as it is now, for the next filter to compare with."""
        self._last = self._read()

    def keep(self, name: str, number: int | None = None) -> int:
        """Keeps the candidates that fit, then takes a snapshot.

        Args:
            name: ``"increased"``, ``"decreased"``, ``"changed"`` or ``"unchanged"`` since the
                last snapshot; ``"equal"``, ``"above"`` or ``"below"`` a number; ``"by"``:
                changed by exactly that number.
            number: for the filters that take one.

        Returns:
            How many are left.

        Raises:
            ArgumentError: an unknown filter, or a number missing or too many.
        """
        if name not in FILTERS:
            raise ArgumentError(f"the filter {name!r} is unknown; expected {', '.join(FILTERS)}")
        takes_number, fits = FILTERS[name]
        if takes_number != (number is not None):
            wanted = "needs a number" if takes_number else "takes no number"
            raise ArgumentError(f"the filter {name!r} {wanted}")
        now = self._read()
        self._undo.append((self._candidates, self._last))
        kept = {}
        for spelling, candidates in self._candidates.items():
            decode = TYPES[spelling][1]
            new = decode(now)
            kept[spelling] = candidates & fits(decode(self._last), new, number or 0) & (new >= 0)
        self._candidates, self._last = kept, now
        return len(self)

    def undo(self) -> int:
        """Takes back the last filter; how many candidates there are then.

        Raises:
            ArgumentError: there is nothing to take back.
        """
        if not self._undo:
            raise ArgumentError("there is no filter to take back")
        self._candidates, self._last = self._undo.pop()
        return len(self)

    def candidates(self) -> list[tuple[str, int]]:
        """(type, address) of what is left."""
        return [
            (name, int(address))
            for name, keep in self._candidates.items()
            for address in np.flatnonzero(keep)
        ]

    def values(self) -> list[tuple[str, int, int, int]]:
        """(type, address, number at the last snapshot, number now) of what is left."""
        now = self._read()
        rows = []
        for name, keep in self._candidates.items():
            decode = TYPES[name][1]
            before, after = decode(self._last), decode(now)
            rows += [(name, int(a), int(before[a]), int(after[a])) for a in np.flatnonzero(keep)]
        return rows

    def _read(self) -> Numbers:
        memory = np.zeros(0x10000, np.int64)
        for first, last in self._ranges:
            memory[first : last + 1] = self._machine.memory[first : last + 1]
        return memory


_HELP = """\
commands, one a line ('#' starts a comment):
  run FRAMES                 let frames pass
  tap BUTTON [FRAMES]        hold a button for FRAMES (8), then 8 frames more
  press BUTTON, release BUTTON
  play FILE FRAMES           run frames with a file of buttons (see 'emurust run --help')
  snapshot                   compare with memory as it is now
  increased, decreased, changed, unchanged
  equal N, above N, below N, by N
  undo                       take the last filter back
  show [N]                   the first N (20) candidates: before and now
  quit"""


def main(argv: Sequence[str]) -> int:
    """``emurust ram search``: a search from a script or a prompt."""
    parser = argparse.ArgumentParser(
        prog="emurust ram",
        description="Finds where a game keeps a number.",
        epilog=_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("action", choices=["search"])
    parser.add_argument("rom", nargs="?", help="the ROM; the shipped cartridge by default")
    parser.add_argument("--state", type=Path, metavar="FILE", help="start from a saved state")
    parser.add_argument(
        "--types", default="u8", help="how the number may be spelled, by comma (%(default)s)"
    )
    parser.add_argument("--script", type=Path, metavar="FILE", help="commands to run; see below")
    options = parser.parse_args(argv)
    with GameBoy(load_rom(options.rom)) as gameboy:
        if options.state:
            gameboy.set_state(_read(options.state, Path.read_bytes))
        session = _Session(gameboy, options.types.split(","), sys.stdout)
        if options.script:
            lines = _read(options.script, Path.read_text).splitlines()
            for number, line in enumerate(lines, start=1):
                try:
                    going_on = session.execute(line)
                except ArgumentError as error:
                    raise ArgumentError(f"{options.script}:{number}: {error}") from None
                if not going_on:
                    break
        else:
            _prompt(session)
    return 0


def _read(path: Path, how: Callable[[Path], Any]) -> Any:
    try:
        return how(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{path} cannot be read: {error}") from None


def _prompt(session: _Session) -> None:
    print(_HELP)
    while True:
        print(f"[{len(session.search)}] > ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        try:
            if not session.execute(line):
                return
        except ArgumentError as error:
            print(error)


class _Session:
    """Carries out commands."""

    def __init__(self, gameboy: GameBoy, types: Sequence[str], out: TextIO) -> None:
        self._gameboy = gameboy
        self._out = out
        self.search = RamSearch(gameboy, types=types)

    def execute(self, line: str) -> bool:
        """Carries out one command; False to end."""
        words = line.split("#", 1)[0].split()
        if not words:
            return True
        command, arguments = words[0].lower(), words[1:]
        gameboy = self._gameboy
        match command, arguments:
            case "run", [frames]:
                gameboy.tick(_number(frames))
            case "tap", [button]:
                self._tap(button, 8)
            case "tap", [button, frames]:
                self._tap(button, _number(frames))
            case "press", [button]:
                gameboy.button_press(button)
            case "release", [button]:
                gameboy.button_release(button)
            case "play", [path, frames]:
                self._play(Path(path), _number(frames))
            case "snapshot", []:
                self.search.snapshot()
            case "undo", []:
                self._report(self.search.undo())
            case "show", []:
                self._show(20)
            case "show", [count]:
                self._show(_number(count))
            case "quit", []:
                return False
            case name, [] if name in FILTERS:
                self._report(self.search.keep(name))
            case name, [number] if name in FILTERS:
                self._report(self.search.keep(name, _number(number)))
            case _:
                raise ArgumentError(f"{line.strip()!r} is no command\n{_HELP}")
        return True

    def _tap(self, button: str, frames: int) -> None:
        self._gameboy.button(button, frames)
        self._gameboy.tick(frames + 8)

    def _play(self, path: Path, frames: int) -> None:
        from emurust.verify.inputs import read_buttons

        for events in _read(path, lambda file: read_buttons(file, frames)):
            for action, button in events:
                if action == "press":
                    self._gameboy.button_press(button)
                else:
                    self._gameboy.button_release(button)
            self._gameboy.tick()

    def _report(self, left: int) -> None:
        print(f"{left} left", file=self._out)
        if left <= 10:
            self._show(left)

    def _show(self, count: int) -> None:
        for name, address, before, now in self.search.values()[:count]:
            print(f"0x{address:04X} {name:9} {before:6} -> {now:6}", file=self._out)


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ArgumentError(f"{text!r} is no whole number") from None
