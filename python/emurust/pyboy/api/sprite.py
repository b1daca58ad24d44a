"""Sprites: the 40 movable objects (Pan Docs: OAM)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emurust.pyboy.api.constants import COLS, LCDC_OFFSET, OAM_OFFSET, ROWS, SPRITES
from emurust.pyboy.api.tile import Tile
from emurust.pyboy.utils import PyBoyOutOfBoundsException

if TYPE_CHECKING:
    from emurust._emurust import Machine, Memory
    from emurust.pyboy.api.palette import Palette

__all__ = ["Sprite", "sprites_on_screen"]

_OBJ_TALL = 0x04
_BYTES_PER_SPRITE = 4


class Sprite:
    """A sprite as it was when this was made; see `PyBoy.get_sprite`.

    Attributes:
        sprite_index: its place in OAM, 0 to 39.
        x, y: the screen position of its upper left corner; may be outside of the screen.
        tile_identifier: the number of its (upper) tile.
        shape: (8, 8) or (8, 16): width and height.
        attr_obj_bg_priority: 1 behind the background's colours 1 to 3.
        attr_y_flip, attr_x_flip: 1 when upside down, or mirrored.
        attr_palette_number: 0 or 1.
        attr_cgb_bank_number: always 0 on an original Game Boy.
        on_screen: a part of its rectangle is.

    Raises:
        PyBoyOutOfBoundsException: there is no such sprite.
    """

    attr_cgb_bank_number = 0

    # As PyBoy's, which compare but do not hash.
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, machine: Machine, memory: Memory, palette: Palette, sprite_index: int
    ) -> None:
        if not 0 <= sprite_index < SPRITES:
            raise PyBoyOutOfBoundsException(
                f"sprites are numbered 0 to {SPRITES - 1}, not {sprite_index}"
            )
        self.sprite_index = sprite_index
        address = OAM_OFFSET + _BYTES_PER_SPRITE * sprite_index
        # Read through the bus: while OAM DMA runs it shows FF, as to PyBoy.
        y, x, tile, attributes = memory[address : address + _BYTES_PER_SPRITE]
        self.x = x - 8
        self.y = y - 16
        self.tile_identifier = tile
        self.attr_obj_bg_priority = attributes >> 7 & 1
        self.attr_y_flip = attributes >> 6 & 1
        self.attr_x_flip = attributes >> 5 & 1
        self.attr_palette_number = attributes >> 4 & 1
        height = _height(machine)
        self.shape = (8, height)
        self.on_screen = _is_on_screen(x, y, height)
        self._machine = machine
        self._palette = palette

    @property
    def tiles(self) -> list[Tile]:
        """Its tile, or two of them when sprites are tall."""
        return [
            Tile(self._machine, self._palette, self.tile_identifier + below)
            for below in range(self.shape[1] // 8)
        ]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sprite):
            return NotImplemented
        return self.sprite_index == other.sprite_index

    def __repr__(self) -> str:
        tiles = ", ".join(map(str, self.tiles))
        return (
            f"Sprite [{self.sprite_index}]: Position: ({self.x}, {self.y}), "
            f"Shape: {self.shape}, Tiles: ({tiles}), On screen: {self.on_screen}"
        )


def _height(machine: Machine) -> int:
    return 16 if machine.peek(LCDC_OFFSET) & _OBJ_TALL else 8


def _is_on_screen(x: int, y: int, height: int) -> bool:
    """By the bytes of OAM, which are 8 and 16 more than the position."""
    return 16 - height < y < ROWS + 16 and 0 < x < COLS + 8


def sprites_on_screen(machine: Machine, memory: Memory, palette: Palette) -> list[Sprite]:
    """The sprites of which a part is on the screen, in the order of OAM."""
    height = _height(machine)
    content = memory[OAM_OFFSET : OAM_OFFSET + _BYTES_PER_SPRITE * SPRITES]
    places = zip(content[1::_BYTES_PER_SPRITE], content[::_BYTES_PER_SPRITE], strict=True)
    return [
        Sprite(machine, memory, palette, index)
        for index, (x, y) in enumerate(places)
        if _is_on_screen(x, y, height)
    ]
