"""Names of Pokemon Red and Blue, read from the ROM that runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from emurust.pyboy.plugins.pokemon_text import TERMINATOR, InvalidPokemonValueError, decode
from emurust.pyboy.utils import PyBoyOutOfBoundsException, UnavailableError, UnknownNameError

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["NameTable", "PokemonNames", "UnknownPokemonNameError"]

_BANK_END = 0x8000
#: What is in names and not in identifiers.
_SPELLINGS = str.maketrans({"♂": "M", "♀": "F", "é": "E", "É": "E"})


class UnknownPokemonNameError(InvalidPokemonValueError, UnknownNameError):
    """The game has no such name."""


@dataclass(frozen=True)
class NameTable:
    """Where the ROM has a list of names, as pokered's symbol says. The first one has number 1.

    Attributes:
        what: what it names, in a sentence.
        length: bytes of a name; without it each ends with a terminator.
        others: identifiers of pokered, which PyBoy takes too, that are no names in the game,
            or are the names of several.
    """

    what: str
    bank: int
    address: int
    count: int
    length: int | None = None
    others: dict[str, int] = field(default_factory=dict)


#: MonsterNames, MoveNames, ItemNames and TrainerNames.
SPECIES = NameTable(
    *("species", 0x07, 0x421E, 190, 10),
    {"NOMON": 0, "FOSSILKABUTOPS": 0xB6, "FOSSILAERODACTYL": 0xB7, "MONGHOST": 0xB8},
)
MOVES = NameTable("moves", 0x2C, 0x4000, 165, others={"NOMOVE": 0, "PSYCHICM": 0x5E})
ITEMS = NameTable("items", 0x01, 0x472B, 0x53, others={"SURFBOARD": 0x07})
TRAINERS = NameTable(
    *("trainer classes", 0x0E, 0x59FF, 0x2F),
    others={"NOBODY": 0, "UNUSEDJUGGLER": 0x0D, "FISHER": 0x0E, "PSYCHICTR": 0x13},
)
#: TrainerDataPointers, in the bank of the names.
_TRAINER_PARTIES = 0x5D3B


class PokemonNames:
    """The names in one machine's ROM, and how many parties its trainers have."""

    def __init__(self, pyboy: PyBoy) -> None:
        self._pyboy = pyboy
        self._numbers: dict[str, dict[str, int]] = {}

    def number(self, table: NameTable, name: str) -> int:
        """The game's number of a name, written as in the game or as in pokered.

        Upper and lower case, blanks and signs make no difference: "Mr.Mime" is MR_MIME.

        Raises:
            UnknownPokemonNameError: the game has no such name.
            UnavailableError: the ROM has no names where Red and Blue have them.
        """
        numbers = self._numbers.get(table.what)
        if numbers is None:
            numbers = {_plain(text): place + 1 for place, text in enumerate(self._texts(table))}
            numbers.update(table.others)
            self._numbers[table.what] = numbers
        try:
            return numbers[_plain(name)]
        except KeyError:
            raise UnknownPokemonNameError(
                f"the game's {table.what} have no name like {name!r}"
            ) from None

    @cached_property
    def _species(self) -> list[str]:
        return self._texts(SPECIES)

    def nickname(self, species: int) -> str:
        """What a monster is called that was given no name, as PyBoy spells it.

        Raises:
            UnavailableError: the ROM has no names where Red and Blue have them.
        """
        text = self._species[species - 1]
        # Numbers that nothing has share a name.
        if self._species.count(text) > 1:
            return "MON"
        for sign, spelling in (("♂", " M"), ("♀", " F"), (".", " "), ("'", "")):
            text = text.replace(sign, spelling)
        return text

    def parties(self, trainer_class: int) -> int | None:
        """How many parties the trainers of a class have; None if the ROM does not say."""
        bank, address = TRAINERS.bank, _TRAINER_PARTIES
        try:
            content = bytes(self._pyboy.memory[bank, address : address + 2 * TRAINERS.count])
        except PyBoyOutOfBoundsException:
            return None
        starts = [low | high << 8 for low, high in zip(content[::2], content[1::2], strict=True)]
        if starts != sorted(starts) or starts[0] < address or starts[-1] >= _BANK_END:
            return None
        if trainer_class == len(starts):
            return 1  # Nothing says where the last class ends.
        start, end = starts[trainer_class - 1 : trainer_class + 1]
        return self._pyboy.memory[bank, start:end].count(0) if start < end else 0

    def _texts(self, table: NameTable) -> list[str]:
        try:
            return self._read(table)
        except (PyBoyOutOfBoundsException, InvalidPokemonValueError):
            raise UnavailableError(
                f"EmuRust reads names from the ROM, and this one has none of the game's "
                f"{table.what} where the English Red and Blue have them; give the number"
            ) from None

    def _read(self, table: NameTable) -> list[str]:
        memory, start = self._pyboy.memory, table.address
        if table.length is None:
            content = bytes(memory[table.bank, start:_BANK_END])
            names = content.split(bytes([TERMINATOR]), table.count)[: table.count]
        else:
            content = bytes(memory[table.bank, start : start + table.count * table.length])
            places = range(0, len(content), table.length)
            names = [content[place : place + table.length] for place in places]
        texts = [decode(name) for name in names]
        if len(texts) < table.count or not all(texts):
            raise InvalidPokemonValueError("an empty name")
        return texts


def _plain(name: str) -> str:
    spelled = name.translate(_SPELLINGS).upper()
    return "".join(character for character in spelled if character.isalnum())
