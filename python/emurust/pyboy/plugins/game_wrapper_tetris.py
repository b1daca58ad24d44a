"""Tetris."""

from __future__ import annotations

from typing import ClassVar

from emurust.pyboy.plugins.falling_blocks import FallingBlocksGame
from emurust.pyboy.plugins.game_values import ScreenNumber, Value
from emurust.pyboy.plugins.known_game import group_tiles
from emurust.pyboy.utils import UnknownNameError

__all__ = ["GameWrapperTetris"]

_SHAPES = "LJIOZST"
_TURNS = 4  # Shapes are numbered in steps of their four directions.
_NEXT_SHAPE = 0xC213
_BLANK, _BLACK = 47, 135
_BLOCKS = ([129], [130], [131], [132], [133], [134], [128, 136, 137, 138, 139, 143])

_LD_A, _NOP = 0x3E, 0x00
#: Instructions of the game that load a random shape into A, and their lengths.
_SHAPE_LOADS = {0x206E: 3, 0x20B0: 2}


class GameWrapperTetris(FallingBlocksGame):
    """Tetris: the area is the 10 by 18 well.

    Attributes:
        score, level, lines: as the screen shows them.
        mapping_compressed: 0 for free cells, a number for each tetromino.
        mapping_minimal: 0 for free cells, 1 for blocks, 2 for what fills the lost game.
    """

    title = "Tetris"
    cartridge_title = "TETRIS"
    values: ClassVar[dict[str, Value]] = {
        "score": ScreenNumber(13, 3, 6, blank=_BLANK, zero=0),
        "level": ScreenNumber(14, 7, 4, blank=_BLANK, zero=0),
        "lines": ScreenNumber(14, 10, 4, blank=_BLANK, zero=0),
    }
    mapping_compressed = group_tiles([[_BLANK], *_BLOCKS, [_BLACK]], first=0)
    mapping_minimal = group_tiles([[_BLANK], [], [_BLACK]], others=1, first=0)

    def start_game(self, timer_div: int | None = None) -> None:
        """Goes through the menus to the first falling shape.

        Args:
            timer_div: what DIV becomes, which shapes depend on; None for a random number.
        """
        self._wait_for_background(slice(2, 9), 14, [89, 25, 21, 10, 34, 14, 27])  # 1PLAYER
        self.pyboy.tick(5, False)
        for _ in range(2):
            self._press("start", 7)
        super().start_game()
        self.reset_game(timer_div)

    def reset_game(self, timer_div: int | None = None) -> None:
        """Goes back to the menu before the first shape, and starts again.

        Raises:
            PyBoyException: `start_game` was not called.
        """
        super().reset_game(timer_div)
        self._press("start", 7)

    def next_tetromino(self) -> str:
        """The shape that comes next, one of "LJIOZST"."""
        return _SHAPES[self.pyboy.memory[_NEXT_SHAPE] // _TURNS]

    def set_tetromino(self, shape: str) -> None:
        """Has only `shape` come, one of "LJIOZST". It changes the ROM; states lack it.

        Raises:
            KeyError: there is no such shape.
        """
        if not isinstance(shape, str) or len(shape) != 1 or shape not in _SHAPES:
            raise UnknownNameError(f"a tetromino is one of {', '.join(_SHAPES)}, not {shape!r}")
        for address, length in _SHAPE_LOADS.items():
            code = [_LD_A, _TURNS * _SHAPES.index(shape), _NOP][:length]
            for offset, byte in enumerate(code):
                self.pyboy.memory[0, address + offset] = byte

    def game_over(self) -> bool:
        """The lost game's tiles have reached the top."""
        return bool(self.pyboy.tilemap_background[2, 0] == _BLACK)
