"""``emurust convert-state``: saved states from one format to another."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from emurust.errors import ArgumentError, EmuRustError, SaveFileError, StateMismatchError
from emurust.gameboy import GameBoy, StateFormat
from emurust.rom import Rom, load_rom

__all__ = ["convert_state", "main"]

_DESCRIPTION = """\
Converts saved states of PyBoy (versions 7 to 29) or EmuRust to PyBoy's current version,
which PyBoy 2.8.1 loads, or to EmuRust's own format, which is checked when loaded."""


def convert_state(state: bytes, rom: Rom, to: StateFormat = "pyboy") -> bytes:
    """A state of `rom` in another format.

    Args:
        state: an EmuRust state, or a state file of PyBoy's, version 7 to 29.
        rom: the cartridge it was saved with.
        to: ``"pyboy"`` (version 29) or ``"emurust"``. An EmuRust state made of a PyBoy
            file is one with sound.

    Raises:
        StateError: it is no state, damaged, or not of this cartridge.
    """
    # A machine with sound takes over everything that a PyBoy file can hold; an
    # EmuRust state has a sound setting of its own.
    for sound in (True, False):
        with GameBoy(rom, sound=sound) as gameboy:
            try:
                gameboy.set_state(state)
            except StateMismatchError:
                if sound:
                    continue
                raise
            return gameboy.get_state(to)
    raise AssertionError("the second machine returns or raises")


def main(argv: Sequence[str]) -> int:
    """Converts the files that are named."""
    parser = argparse.ArgumentParser(prog="emurust convert-state", description=_DESCRIPTION)
    parser.add_argument("states", nargs="+", type=Path, metavar="STATE", help="files to convert")
    parser.add_argument("--rom", help="the ROM they are of; the shipped cartridge by default")
    parser.add_argument(
        "--to", choices=("pyboy", "emurust"), default="pyboy", help="(default: %(default)s)"
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "-o", "--output", metavar="PATH", help="a file, or a directory, which several are put into"
    )
    where.add_argument("--in-place", action="store_true", help="replace the files themselves")
    options = parser.parse_args(argv)
    rom = load_rom(options.rom)
    output = None if options.output is None else Path(options.output)
    if output is not None and (len(options.states) > 1 or options.output.endswith(("/", os.sep))):
        _make_directory(output)
    failed = 0
    for source in options.states:
        try:
            _convert_file(source, _target(source, output), rom, options.to)
        except EmuRustError as error:
            failed += 1
            print(f"{source}: {error}", file=sys.stderr)
    return 1 if failed else 0


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ArgumentError(f"--output {path} is no directory: {error.strerror}") from error


def _target(source: Path, output: Path | None) -> Path:
    if output is None:
        return source
    return output / source.name if output.is_dir() else output


def _convert_file(source: Path, target: Path, rom: Rom, to: StateFormat) -> None:
    try:
        state = source.read_bytes()
    except OSError as error:
        raise SaveFileError(f"cannot be read: {error.strerror}") from error
    converted = convert_state(state, rom, to)
    try:
        target.write_bytes(converted)
    except OSError as error:
        raise SaveFileError(f"{target} cannot be written: {error.strerror}") from error
    print(f"{source}: {_format_of(state)} -> {target}: {_format_of(converted)}")


def _format_of(state: bytes) -> str:
    if state.startswith(b"EMURUST"):
        return "EmuRust"
    return f"PyBoy version {state[0]}"
