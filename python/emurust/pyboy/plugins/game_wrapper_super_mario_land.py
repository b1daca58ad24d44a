"""Super Mario Land."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, ClassVar

from emurust.pyboy.plugins.game_values import Nibbles, PackedDecimal, ScreenNumber, Value
from emurust.pyboy.plugins.known_game import KnownGame, group_tiles
from emurust.pyboy.utils import PyBoyException, PyBoyInvalidInputException, dec_to_bcd

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["GameWrapperSuperMarioLand"]

_LOGGER = logging.getLogger("emurust.pyboy")

_BLANK, _ZERO = 300, 256
_TIME_LEFT = 0xDA01
_LIVES_LEFT = 0xDA15
_LIVES_LEFT_ON_SCREEN = 0x9806
_TIMES_WON = 0xFF9A
_GAME_OVER, _GAME_IS_OVER = 0xC0A4, 0x39
_LEVEL_BLOCK, _MARIO_X = 0xC0AB, 0xC202
_LINE_BELOW_STATUS = 16
_STATUS_TITLE = [278, 266, 283, 274, 280]  # MARIO
_LEVEL_SELECT_FRAME = 71
_START_FRAMES = 3600
#: The code of the title screen that chooses the level, and where it loads one into A.
_LEVEL_CHOICE, _LEVEL_LOAD = range(0x450, 0x461), 0x451
_LD_A = 0x3E

#: Tiles by what they show, in the order of `mapping_compressed`.
_TILES: dict[str, list[int]] = {
    "Mario and Daisy": [*range(81)],
    "plane": [*range(99, 110)],
    "submarine": [*range(112, 122)],
    "shots": [96, 110, 122],
    "coin": [244],
    "mushroom": [131],
    "heart": [132],
    "star": [134],
    "lever": [255],
    "solid": [
        *(142, 143, 221, 222, *range(231, 237), *range(301, 305), 319, 340, 352, 353),
        *(*range(355, 363), *range(381, 384)),
    ],
    "moving": [230, 238, 239],
    "pushable": [128, 130, 354],
    "question mark": [129],
    "pipe": [*range(368, 381)],
    "goomba": [144],
    "koopa": [*range(150, 154)],
    "plant": [*range(146, 150)],
    "moth": [*range(160, 164), *range(176, 180)],
    "flying moth": [*range(192, 196), *range(208, 212)],
    "sphinx": [*range(164, 168), *range(180, 184)],
    "big sphinx": [198, 199, *range(201, 206), 214, 215, *range(217, 220)],
    "fist": [*range(240, 244)],
    "bill": [249],
    "projectile": [172, 188, 196, 197, 212, 213, 226, 227],
    "shell": [154, 155],
    "explosion": [157, 158],
    "spike": [237],
}
_PLAYER = ("Mario and Daisy", "plane", "submarine")
_WANTED = ("coin", "mushroom", "heart", "star", "lever")
_SOLID = ("solid", "moving", "pushable", "question mark", "pipe")
_ENEMIES = tuple(_TILES)[tuple(_TILES).index("goomba") :]


class GameWrapperSuperMarioLand(KnownGame):
    """Super Mario Land: the area is the screen below the status lines.

    Attributes:
        world: (world, level).
        coins, lives_left, score: as the game shows them.
        time_left: in the game's seconds.
        level_progress: how far right Mario is in the level, in pixels.
        mapping_compressed: a number for each kind of thing, 0 for what is none.
        mapping_minimal: 1 for the player, 2 for what is to be taken, 3 for what one stands
            on, 4 for enemies.
    """

    title = "Super Mario Land"
    cartridge_title = "SUPER MARIOLAND"
    section = (0, 2, 20, 16)
    follows_scrolling = True
    values: ClassVar[dict[str, Value]] = {
        "world": Nibbles(0xFFB4),
        "coins": ScreenNumber(9, 1, 2, blank=_BLANK, zero=_ZERO),
        "lives_left": PackedDecimal(_LIVES_LEFT),
        "score": ScreenNumber(0, 1, 6, blank=_BLANK, zero=_ZERO),
        "time_left": PackedDecimal(_TIME_LEFT, 2),
    }
    labels: ClassVar[dict[str, str]] = {
        "coins": "Coins",
        "lives_left": "lives_left",
        "score": "Score",
        "time_left": "Time left",
        "level_progress": "Level progress",
    }
    mapping_compressed = group_tiles(_TILES.values())
    mapping_minimal = group_tiles(
        [tile for name in names for tile in _TILES[name]]
        for names in (_PLAYER, _WANTED, _SOLID, _ENEMIES)
    )

    world: tuple[int, int]
    coins: int
    lives_left: int
    score: int
    time_left: int

    def __init__(self, pyboy: PyBoy) -> None:
        super().__init__(pyboy)
        self.level_progress = 0

    def post_tick(self) -> None:
        """Reads the attributes anew; called after each `PyBoy.tick`."""
        super().post_tick()
        memory = self.pyboy.memory
        scx = self.pyboy.screen._position(_LINE_BELOW_STATUS)[0]
        self.level_progress = 16 * memory[_LEVEL_BLOCK] + (scx - 7) % 16 + memory[_MARIO_X]

    def _warn_before_start(self, method: str) -> None:
        if not self.game_has_started:
            _LOGGER.warning("%s has no lasting effect before start_game", method)

    def set_time_left(self, time: int) -> None:
        """Sets the time left, 0 to 999, of a game that was started.

        Raises:
            PyBoyInvalidInputException: it is out of bounds.
        """
        self._warn_before_start("set_time_left")
        if not 0 <= time <= 999:
            raise PyBoyInvalidInputException(f"the time left is from 0 to 999, not {time}")
        self.pyboy.memory[_TIME_LEFT] = dec_to_bcd(time % 100)
        self.pyboy.memory[_TIME_LEFT + 1] = time // 100

    def set_lives_left(self, amount: int) -> None:
        """Sets the lives, 0 to 99, of a game that was started.

        Raises:
            PyBoyInvalidInputException: they are out of bounds.
        """
        self._warn_before_start("set_lives_left")
        if not 0 <= amount <= 99:
            raise PyBoyInvalidInputException(f"the lives are from 0 to 99, not {amount}")
        self.pyboy.memory[_LIVES_LEFT] = dec_to_bcd(amount)
        for place, digit in enumerate(divmod(amount, 10)):
            self.pyboy.memory[_LIVES_LEFT_ON_SCREEN + place] = digit

    def set_world_level(self, world: int, level: int) -> None:
        """Has the game begin in a level. It changes the ROM: call it before `start_game`."""
        memory = self.pyboy.memory
        for address in _LEVEL_CHOICE:
            memory[0, address] = 0
        memory[0, _LEVEL_LOAD] = _LD_A
        memory[0, _LEVEL_LOAD + 1] = (world << 4) | (level & 0xF)

    def start_game(
        self,
        timer_div: int | None = None,
        world_level: tuple[int, int] | None = None,
        unlock_level_select: bool = False,
    ) -> None:
        """Goes through the title screen to the first frame of the game.

        Args:
            timer_div: what DIV becomes; None for a random number.
            world_level: world and level to begin with.
            unlock_level_select: stop at the title screen, which lets one choose the level.

        Raises:
            PyBoyException: it was called before, or the game does not start.
        """
        self._check_not_started()
        if world_level is not None:
            self.set_world_level(*world_level)
        self._wait_for_background(slice(6, 11), 13, [284, 285, 266, 283, 285])  # START
        self.pyboy.tick(3, False)
        self._press("start", 1)
        self._wait_for_level(unlock_level_select)
        super().start_game(timer_div)

    def _wait_for_level(self, unlock_level_select: bool) -> None:
        background = self.pyboy.tilemap_background
        for _ in range(_START_FRAMES):
            if unlock_level_select and self.pyboy.frame_count == _LEVEL_SELECT_FRAME:
                self.pyboy.memory[_TIMES_WON] = 2
                return
            self.pyboy.tick(1, False)
            if background[0:5, 0] == _STATUS_TITLE and background[5, 1] == _ZERO:
                return
        raise PyBoyException(f"the level did not begin within {_START_FRAMES} frames")

    def game_over(self) -> bool:
        """The game is over."""
        return bool(self.pyboy.memory[_GAME_OVER] == _GAME_IS_OVER)

    def _headline(self) -> str:
        return f"{self.title}: World {self.world[0]}-{self.world[1]}"
