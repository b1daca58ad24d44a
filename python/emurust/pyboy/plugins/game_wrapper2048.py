"""2048, a free game whose addresses are in the symbol file of its build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from emurust.pyboy.plugins.game_values import Flag, Value, Word
from emurust.pyboy.plugins.known_game import KnownGame
from emurust.pyboy.utils import UnavailableError

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["GameWrapper2048"]

_SYMBOLS = ("_board", "_score", "_state", "_winner")
_SIZE = 5
_LARGEST_TILE = 2048

_PLAYING, _LOST = 1, 3
_PRESS_START = [294, 309, 296, 292, 311, 296, 295, 291, 293]
_FIRST_TILES = 2
_DEAF_FRAMES = 30
"""How long the game takes no input after it has begun."""


class GameWrapper2048(KnownGame):
    """2048: the area is the screen.

    Its numbers are found by the symbols `_board`, `_score`, `_state` and `_winner`, in a
    ``.map`` or ``.sym`` file next to the ROM or given as ``PyBoy(symbols=...)``. Without them
    the area is all there is.

    Attributes:
        score: in points.
        winner: a tile of 2048 was made.
        board: 5 lists of 5 tiles each, 0 where there is none.

    Raises:
        UnavailableError: by `start_game`, `game_over` and the attributes, without symbols.
    """

    title = "2048"
    cartridge_title = "2048"
    section = (0, 0, 20, 18)
    labels: ClassVar[dict[str, str]] = {
        "score": "Score",
        "winner": "Winner",
        "_game_over": "Game Over",
    }

    score: int
    winner: bool
    board: list[list[int]]
    _game_over: bool

    def __init__(self, pyboy: PyBoy) -> None:
        super().__init__(pyboy)
        known = pyboy.rom_symbols_inverse
        self._missing = [name for name in _SYMBOLS if name not in known]
        if not self._missing:
            self._addresses = {name: known[name][1] for name in _SYMBOLS}
            self._values: dict[str, Value] = {
                "score": Word(self._addresses["_score"]),
                "winner": Flag(self._addresses["_winner"]),
            }
            self.score, self.winner, self._game_over = 0, False, False
            self.board = [[0] * _SIZE for _ in range(_SIZE)]

    def __getattr__(self, name: str) -> Any:
        if name in ("score", "winner", "board", "_game_over"):
            raise UnavailableError(
                f"2048 keeps its numbers at other places in every build, and there are no symbols "
                f"{', '.join(self._missing)}: put the build's .map file next to the ROM, or give "
                "it as PyBoy(symbols=...)"
            )
        raise AttributeError(name)

    def post_tick(self) -> None:
        """Reads the attributes anew; called after each `PyBoy.tick`."""
        super().post_tick()
        if self._missing:
            return
        for name, value in self._values.items():
            setattr(self, name, value.read(self.pyboy))
        self._game_over = self._state() == _LOST
        start = self._addresses["_board"]
        content = self.pyboy.memory[start : start + 2 * _SIZE * _SIZE]
        tiles = [
            _tile(low | high << 8) for low, high in zip(content[::2], content[1::2], strict=True)
        ]
        for row, line in enumerate(self.board):
            line[:] = tiles[_SIZE * row : _SIZE * (row + 1)]

    def _state(self) -> int:
        return int(self.pyboy.memory[self._addresses["_state"]])

    def start_game(self, timer_div: int | None = None) -> None:
        """Goes through the title screen to the first two tiles.

        Raises:
            PyBoyException: it was called before, or the game does not start.
            UnavailableError: there are no symbols.
        """
        self._check_not_started()
        board = self.board
        window = self.pyboy.tilemap_window
        self._wait_until(lambda: window[5:14, 5] == _PRESS_START)
        self.pyboy.button("start")
        self._wait_until(lambda: self._state() == _PLAYING)
        self._wait_until(lambda: sum(tile > 0 for line in board for tile in line) >= _FIRST_TILES)
        self.pyboy.tick(_DEAF_FRAMES, False)
        super().start_game(timer_div)

    def game_over(self) -> bool:
        """No tile can be moved any more."""
        return self._game_over

    def _summary(self) -> list[str]:
        if self._missing:
            return [f"{self.title}, without symbols"]
        return [*super()._summary(), "Board:", *(f"\t{line}" for line in self.board)]


def _tile(value: int) -> int:
    """What the game shows for a number: nothing unless it is a power of two from 2 on."""
    is_tile = 1 < value <= _LARGEST_TILE and value & (value - 1) == 0
    return value if is_tile else 0
