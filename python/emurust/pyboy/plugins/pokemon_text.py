"""How Pokemon Red and Blue write names: bytes for characters."""

from __future__ import annotations

from emurust.pyboy.utils import PyBoyInvalidInputException

__all__ = ["TERMINATOR", "InvalidPokemonValueError", "encode"]

TERMINATOR = 0x50

_RUNS = {
    0x7F: " ",
    0x80: "ABCDEFGHIJKLMNOPQRSTUVWXYZ():;[]abcdefghijklmnopqrstuvwxyz",
    0xBA: "é",
    0xE0: "'",
    0xE3: "-",
    0xE6: "?!.",
    0xEC: "▷▶▼♂¥\u00d7",
    0xF3: "/,♀0123456789",
}
_BYTES = {
    character: first + place for first, run in _RUNS.items() for place, character in enumerate(run)
}


class InvalidPokemonValueError(PyBoyInvalidInputException, ValueError):
    """A number, name or party that the game cannot have."""


def encode(text: str) -> list[int]:
    """The game's bytes for a text, without a terminator.

    Raises:
        InvalidPokemonValueError: the game has no such character.
    """
    strange = sorted(set(text) - set(_BYTES))
    if strange:
        raise InvalidPokemonValueError(f"the game cannot write {' '.join(strange)} of {text!r}")
    return [_BYTES[character] for character in text]
