"""Colours of the four shades of an original Game Boy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from emurust.pyboy.utils import PyBoyInvalidInputException

__all__ = ["GREY", "NAMED_PALETTES", "Palette"]

GREY = (0xFFFFFF, 0x999999, 0x555555, 0x000000)

NAMED_PALETTES = {
    "SameBoy DMG": (0xC6DE8C, 0x84A563, 0x396139, 0x081810),
    "Classic Green": (0x9BBC0F, 0x8BAC0F, 0x306230, 0x0F380F),
    "Parchment": (0xE0DBCD, 0xA89F94, 0x706B64, 0x2B2B26),
    "Mossy": (0xC4CFA1, 0x8B956D, 0x4D533C, 0x1F1F1C),
    "Grey": GREY,
}
"""The palettes through which `WindowEvent.CYCLE_PALETTE` goes."""

_SHADES = 5
"""Four, and that of a pixel never drawn."""


class Palette:
    """Four 24-bit RGB colours, lightest first, and the RGBA bytes that they make."""

    def __init__(self, colours: Sequence[int] = GREY) -> None:
        self.set(colours)

    def set(self, colours: Sequence[int]) -> None:
        """Takes other colours.

        Raises:
            PyBoyInvalidInputException: they are not four 24-bit numbers.
        """
        values = tuple(int(colour) for colour in colours)
        if len(values) != 4 or not all(0 <= value <= 0xFFFFFF for value in values):
            raise PyBoyInvalidInputException(
                f"a palette is four colours from 0 to 0xFFFFFF, not {colours!r}"
            )
        self.colours = values
        self.rgba = np.zeros((_SHADES, 4), dtype=np.uint8)
        for shade, value in enumerate(values):
            self.rgba[shade] = (*value.to_bytes(3, "big"), 0xFF)

    @property
    def is_grey(self) -> bool:
        """These are the usual colours."""
        return self.colours == GREY

    def colour(self, shades: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """RGBA of shades 0 to 4, with one more axis of length 4, uint8."""
        return self.rgba[shades]
