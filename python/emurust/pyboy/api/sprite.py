"""Sprites: the 40 movable objects (Pan Docs: OAM)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emurust.pyboy.api.constants import COLS, LCDC_OFFSET, OAM_OFFSET, ROWS, SPRITES
from emurust.pyboy.api.tile import Tile
from emurust.pyboy.utils import PyBoyOutOfBoundsException

if TYPE_CHECKING:
    from emurust._emurust import Machine, Memory
    from emurust.pyboy.api.palette import Palette

__all__ = ["Sprite"]

_OBJ_TALL = 0x04


class Sprite:
    """A sprite as it was when this was made; see `PyBoy.get_sprite`.

    Attributes:
        sprite_index: its place in OAM, 0 to 39.
        x, y: the screen position of its upper left corner; may be outside of the screen.
        tile_identifier: the number of its (upper) tile.
        tiles: its tile, or two of them when sprites are tall.
        shape: (8, 8) or (8, 16): width and height.
        attr_obj_bg_priority: 1 behind the background's colours 1 to 3.
        attr_y_flip, attr_x_flip: 1 when upside down, or mirrored.
        attr_palette_number: 0 or 1.
        attr_cgb_bank_number: always 0 on an original Game Boy.
        on_screen: a part of its rectangle is.

    Raises:
        PyBoyOutOfBoundsException: there is no such sprite, or its tile does not exist.
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
        address = OAM_OFFSET + 4 * sprite_index
        # Read through the bus: while OAM DMA runs it shows FF, as to PyBoy.
        y, x, tile, attributes = memory[address : address + 4]
        self.x = x - 8
        self.y = y - 16
        self.tile_identifier = tile
        self.attr_obj_bg_priority = attributes >> 7 & 1
        self.attr_y_flip = attributes >> 6 & 1
        self.attr_x_flip = attributes >> 5 & 1
        self.attr_palette_number = attributes >> 4 & 1
        height = 16 if machine.peek(LCDC_OFFSET) & _OBJ_TALL else 8
        self.shape = (8, height)
        self.tiles = [Tile(machine, palette, tile + below) for below in range(height // 8)]
        self.on_screen = -height < self.y < ROWS and -8 < self.x < COLS

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
