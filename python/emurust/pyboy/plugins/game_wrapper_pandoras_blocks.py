"""Pandora's Blocks."""

from __future__ import annotations

from typing import ClassVar

from emurust.pyboy.plugins.falling_blocks import FallingBlocksGame
from emurust.pyboy.plugins.game_values import Digits, Value
from emurust.pyboy.plugins.known_game import group_tiles
from emurust.pyboy.utils import PyBoyException, UnknownNameError

__all__ = ["GameWrapperPandorasBlocks"]

_SHAPES = "IZSJLOT"
_NEXT_SHAPE = 0xFFD2
_STATE, _PLAYING = 0xFFFD, 3
_MODE, _GAME_OVER_MODES = 0xFFDB, (21, 24)
_FREE = (1, 108)
_BLOCKS = (*range(48, 105), 106, 107)
_LOST = (145, 147, 167, 187)
_TITLE_SCREEN = [171, 177, 179, 185, 187, 193, 195, 201, 203, 209, 211, 217, 219, 225]
_MOST_PRESSES = 500


class GameWrapperPandorasBlocks(FallingBlocksGame):
    """Pandora's Blocks: the area is the 10 by 18 well.

    Attributes:
        score: in points.
        level, lines: the same number; the game counts levels in lines.
        mapping_compressed: 1 for blocks, 2 for what fills the lost game, 0 for the rest.
        mapping_minimal: 0 for free cells, 2 for what fills the lost game, 1 for the rest.
    """

    title = "Pandora's Blocks"
    cartridge_title = "DMGTRIS"
    values: ClassVar[dict[str, Value]] = {
        "score": Digits(0xFFB8, 8),
        "level": Digits(0xFF90, 4),
        "lines": Digits(0xFF90, 4),
    }
    mapping_compressed = group_tiles([_BLOCKS, _LOST])
    mapping_minimal = group_tiles([_FREE, [], _LOST], others=1, first=0)

    def _enter_game(self) -> None:
        for _ in range(_MOST_PRESSES):
            if self.pyboy.memory[_STATE] == _PLAYING:
                return
            self.pyboy.button("start")
            for _ in range(8):
                self.pyboy.tick(1, False, False)
                if self.pyboy.memory[_STATE] == _PLAYING:
                    return
        raise PyBoyException(f"{self.title} did not begin after {_MOST_PRESSES} presses of start")

    def start_game(self, timer_div: int | None = None) -> None:
        """Goes through the menus into the game; `reset_game` goes back to the title screen.

        Args:
            timer_div: what DIV becomes at the title screen; None for a random number.
        """
        background = self.pyboy.tilemap_background
        if background[3:17, 2] != _TITLE_SCREEN:
            self._wait_for_background(slice(3, 17), 2, _TITLE_SCREEN)
        super().start_game(timer_div)
        self._enter_game()

    def reset_game(self, timer_div: int | None = None) -> None:
        """Goes back to the title screen, and into the game again."""
        super().reset_game(timer_div)
        self._enter_game()

    def next_block(self) -> str:
        """The block that comes next, one of "IZSJLOT"."""
        return _SHAPES[self.pyboy.memory[_NEXT_SHAPE]]

    def set_block(self, shape: str) -> None:
        """Has `shape` come next, one of "IZSJLOT".

        Raises:
            KeyError: there is no such block.
        """
        if not isinstance(shape, str) or len(shape) != 1 or shape not in _SHAPES:
            raise UnknownNameError(f"a block is one of {', '.join(_SHAPES)}, not {shape!r}")
        self.pyboy.memory[_NEXT_SHAPE] = _SHAPES.index(shape)

    def game_over(self) -> bool:
        """The game is over, or about to be."""
        return self.pyboy.memory[_MODE] in _GAME_OVER_MODES
