"""How Pokemon Red and Blue write names: bytes for characters."""

from __future__ import annotations

from emurust.pyboy.utils import InvalidValueError

__all__ = ["TERMINATOR", "InvalidPokemonValueError", "decode", "encode"]

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
#: What the game writes with one byte and we with more. They are only read.
_ABBREVIATIONS = {
    0x54: "POKé",
    **dict(zip(range(0xBB, 0xC0), ("'d", "'l", "'s", "'t", "'v"), strict=True)),
    0xE4: "'r",
    0xE5: "'m",
}
_TEXTS = {**{byte: character for character, byte in _BYTES.items()}, **_ABBREVIATIONS}


class InvalidPokemonValueError(InvalidValueError):
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


def decode(name: bytes) -> str:
    """The text of the game's bytes up to the terminator, or to the end.

    Raises:
        InvalidPokemonValueError: it is no text.
    """
    characters = name.partition(bytes([TERMINATOR]))[0]
    strange = sorted(set(characters) - set(_TEXTS))
    if strange:
        raise InvalidPokemonValueError(f"bytes {strange} are no characters of the game")
    return "".join(_TEXTS[byte] for byte in characters)
