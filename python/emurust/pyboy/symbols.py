"""Symbol files: names for places in a game, as assemblers write them."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

from emurust.pyboy.utils import InvalidValueError

__all__ = ["SymbolTable", "symbol_files"]

_LOGGER = logging.getLogger("emurust.pyboy")
_LINKER_MAP_LINE = re.compile(r"\s*([0-9A-Fa-f]{8})\s+(\S+)\s+\S*\s*$")


def symbol_files(rom_path: str | None, symbols: str | os.PathLike[str] | None) -> list[Path]:
    """The files to read for a ROM: the given one, then those next to the ROM.

    Raises:
        FileNotFoundError: the given one does not exist.
    """
    files = []
    if symbols is not None:
        if not Path(symbols).is_file():
            raise FileNotFoundError(f"there is no file of symbols at {os.fspath(symbols)}")
        files.append(Path(symbols))
    if rom_path:
        rom = Path(rom_path)
        for suffix in (".sym", ".map"):
            files += [rom.with_suffix(suffix), rom.with_name(rom.name + suffix)]
    return [file for file in files if file.is_file()]


class SymbolTable:
    """Names and the places they stand for.

    Attributes:
        places: (bank, address) by name.
        names: names by bank and address.
    """

    def __init__(self) -> None:
        self.places: dict[str, tuple[int, int]] = {}
        self.names: dict[int, dict[int, list[str]]] = {}

    def read(self, path: Path) -> None:
        """Adds the symbols of a file: ``.map`` of sdcc's linker, or else ``.sym``."""
        with path.open(encoding="utf-8", errors="replace") as file:
            if path.suffix == ".map":
                for line in file:
                    self._read_map_line(line)
            else:
                self._read_sym(file.read())

    def _read_sym(self, text: str) -> None:
        group = "labels"
        for line in map(str.strip, text.splitlines()):
            if not line or line.startswith(";"):
                continue
            if line.startswith("["):
                group = line[1:-1]
            elif group == "labels":
                # bank:address name
                parts = re.split("[: ]", line)
                try:
                    bank, address, name = int(parts[0], 16), int(parts[1], 16), parts[2]
                except (ValueError, IndexError):
                    _LOGGER.debug("skipping the symbol line %r", line)
                    continue
                if len(parts) == 3:
                    self._add(bank, address, name)
            elif group != "definitions":
                _LOGGER.warning("the symbol line %r is in an unknown group %r", line, group)

    def _read_map_line(self, line: str) -> None:
        # A linker's map names no banks; a name that is known already keeps its place.
        if (match := _LINKER_MAP_LINE.match(line)) and match[2] not in self.places:
            self._add(0, int(match[1], 16), match[2])

    def _add(self, bank: int, address: int, name: str) -> None:
        self.names.setdefault(bank, {}).setdefault(address, []).append(name)
        self.places[name] = (bank, address)

    def lookup(self, name: str) -> tuple[int, int]:
        """The bank and address of a name.

        Raises:
            ValueError: it is in no file that was read.
        """
        try:
            return self.places[name]
        except KeyError:
            raise InvalidValueError(
                f"the symbol {name!r} is in no symbol file that was read: one next to the ROM, or "
                "given as PyBoy(symbols=...)"
            ) from None
