"""The generic game wrapper: the game area as a matrix of tile numbers."""

from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from emurust.pyboy.api.constants import TILES_CGB
from emurust.pyboy.api.sprite import Sprite, sprites_on_screen
from emurust.pyboy.plugins.game_values import screen_number
from emurust.pyboy.utils import InvalidIndexError, PyBoyException

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["PyBoyGameWrapper"]

_TILE_PIXELS = 8
_MAP_TILES = 32
_SCREEN_ROWS = 18


class PyBoyGameWrapper:
    """Knows nothing of any game; reached as `PyBoy.game_wrapper`.

    Attributes:
        shape: width and height of the game area in tiles.
        game_area_section: left, top, width and height.
        game_area_follow_scxy: the area moves with SCX and SCY.
        mapping: what each tile number becomes in `game_area`, uint32.
        mapping_one_to_one: a mapping that changes nothing (for numbers up to 255).
    """

    argv: ClassVar[list[Any]] = []
    cartridge_title: ClassVar[str | None] = None
    mapping_one_to_one = np.arange(TILES_CGB, dtype=np.uint32).astype(np.uint8)

    shape: tuple[int, int]

    def __init__(
        self,
        pyboy: PyBoy,
        game_area_section: tuple[int, int, int, int] = (0, 0, 32, 32),
        game_area_follow_scxy: bool = False,
    ) -> None:
        self.pyboy = pyboy
        self.tilemap_use_background = True
        self.mapping: npt.NDArray[np.uint32] = np.arange(TILES_CGB, dtype=np.uint32)
        self.sprite_offset = 0
        self.game_has_started = False
        self.saved_state = io.BytesIO()
        self._tiles: npt.NDArray[np.uint32] | None = None
        self._sprites: list[Sprite] | None = None
        self._set_dimensions(*game_area_section, game_area_follow_scxy)

    def enabled(self) -> bool:
        """It fits the game."""
        return self.cartridge_title in (None, self.pyboy.cartridge_title)

    def stop(self) -> None:
        """Called at the end."""

    def post_tick(self) -> None:
        """Called after each `PyBoy.tick`."""
        self._tiles = self._sprites = None

    # -- starting over ---------------------------------------------------------------

    def start_game(self, timer_div: int | None = None) -> None:
        """Notes where `reset_game` goes back to.

        Args:
            timer_div: what DIV becomes; None for a random number. Games draw from it.
        """
        self.game_has_started = True
        self.saved_state.seek(0)
        self.pyboy.save_state(self.saved_state)
        self._set_timer_div(timer_div)

    def reset_game(self, timer_div: int | None = None) -> None:
        """Goes back to where `start_game` was called.

        Raises:
            PyBoyException: it was not called.
        """
        if not self.game_has_started:
            raise PyBoyException("there is nothing to go back to; call start_game first")
        self.saved_state.seek(0)
        self.pyboy.load_state(self.saved_state)
        self._set_timer_div(timer_div)
        self.post_tick()

    def _set_timer_div(self, timer_div: int | None) -> None:
        div = random.getrandbits(8) if timer_div is None else timer_div & 0xFF
        self.pyboy._machine.set_div(div)

    def game_over(self) -> bool:
        """Whether the game is over.

        Raises:
            NotImplementedError: nothing is known of this game.
        """
        raise NotImplementedError("nothing is known of when this game is over")

    # -- the game area ---------------------------------------------------------------

    def _set_dimensions(
        self, x: int, y: int, width: int, height: int, follow_scrolling: bool = True
    ) -> None:
        self.shape = (width, height)
        self.game_area_section = (x, y, width, height)
        self.game_area_follow_scxy = follow_scrolling

    def use_background(self, value: bool) -> None:
        """Whether the area is of the background, or of the window."""
        self.tilemap_use_background = value

    def game_area_mapping(self, mapping: npt.ArrayLike, sprite_offset: int) -> None:
        """What tile numbers become in `game_area`, and what is added for sprites."""
        self.mapping = np.asarray(mapping, dtype=np.uint32)
        self.sprite_offset = sprite_offset

    def game_area_annotations(self) -> list[tuple[int, int, str]]:
        """Texts to show over the picture: (x, y, text) in pixels."""
        return []

    def _sprites_on_screen(self) -> list[Sprite]:
        if self._sprites is None:
            pyboy = self.pyboy
            self._sprites = sprites_on_screen(pyboy._machine, pyboy.memory._memory, pyboy._palette)
        return self._sprites

    def _game_area_tiles(self) -> npt.NDArray[np.uint32]:
        if self._tiles is None:
            pyboy = self.pyboy
            tilemap = (
                pyboy.tilemap_background if self.tilemap_use_background else pyboy.tilemap_window
            )
            x, y, width, height = self.game_area_section
            if self.game_area_follow_scxy:
                if y + height > _SCREEN_ROWS:
                    raise InvalidIndexError(
                        f"a game area that follows the scrolling is of the screen, which has "
                        f"{_SCREEN_ROWS} rows of tiles; this one has {height} from row {y} on"
                    )
                numbers = tilemap._identifiers()
                lines = pyboy.screen._positions()[_TILE_PIXELS * np.arange(y, y + height), :2]
                lines = lines // _TILE_PIXELS
                rows = (np.arange(y, y + height) + lines[:, 1]) % _MAP_TILES
                columns = (np.arange(x, x + width) + lines[:, :1]) % _MAP_TILES
                tiles = numbers[rows[:, np.newaxis], columns]
            else:
                tiles = tilemap._area(slice(x, x + width), slice(y, y + height))
            self._tiles = np.asarray(tiles, dtype=np.uint32)
        return self._tiles

    def game_area(self) -> npt.NDArray[np.uint32]:
        """Tile numbers of the area after `mapping`, sprites over them.

        Shape (height, width), uint32. Each sprite is put into the cell that its upper left
        corner is in, and a tall one into the cell below too.
        """
        area = self.mapping[self._game_area_tiles()]
        left, top, width, height = self.game_area_section
        for sprite in self._sprites_on_screen():
            x = sprite.x // _TILE_PIXELS - left
            y = sprite.y // _TILE_PIXELS - top
            if not 0 <= x < width:
                continue
            for below in range(sprite.shape[1] // _TILE_PIXELS):
                if 0 <= y + below < height:
                    number = self.mapping[sprite.tile_identifier + below]
                    area[y + below][x] = number + self.sprite_offset
        return area

    def _sum_number_on_screen(
        self, x: int, y: int, length: int, blank_tile_identifier: int, tile_identifier_offset: int
    ) -> int:
        """A decimal number that the background shows, one tile a digit."""
        tiles = self.pyboy.tilemap_background[x : x + length, y]
        return screen_number(tiles, blank_tile_identifier, tile_identifier_offset)

    def __repr__(self) -> str:
        width = self.shape[0]
        lines = [
            "Sprites on screen:",
            "\n".join(map(str, self._sprites_on_screen())),
            "Tiles on screen:",
            " " * 4 + "".join(f"{column: >4}" for column in range(width)),
            "_" * (4 * width + 4),
            *(
                (f"{row: <3}|" + "".join(str(tile).rjust(4) for tile in line)).strip()
                for row, line in enumerate(self.game_area().tolist())
            ),
        ]
        return "\n".join(lines)
