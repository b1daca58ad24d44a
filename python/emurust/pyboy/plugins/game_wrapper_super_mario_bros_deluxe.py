"""Super Mario Bros. Deluxe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from emurust.pyboy.api.constants import TILES_CGB
from emurust.pyboy.plugins.game_values import Byte, PackedDecimal, Value, Word
from emurust.pyboy.plugins.known_game import KnownGame
from emurust.pyboy.utils import PyBoyInvalidInputException, UnavailableError

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["GameWrapperSuperMarioBrosDeluxe"]

# Addresses as PyBoy 2.8.1 has them.
_LEVEL_SET, _SUBLEVEL, _LEVEL = 0xC160, 0xC162, 0xC163
_TIME_LEFT, _LIVES_LEFT = 0xC17D, 0xC17F
_MENU_ENTRY, _CHALLENGE_UNLOCKED = 0xC1A8, 0xC18E
_PLAYER_STATE, _PLAYER_DIED = 0xC1C1, 3
_PLAYER_X, _LEVEL_X = 0xC1CA, 0xFFA7
_MODE = 0xFFB5

_IN_TITLE, _TO_WORLD_MAP, _ON_WORLD_MAP, _IN_LEVEL = 0x03, 0x04, 0x05, 0x0B
_IN_FILES, _IN_MENU, _IN_CHALLENGES = 0x17, 0x19, 0x1E
_TO_LEVEL_CHOICE, _IN_LEVEL_CHOICE = 0x31, 0x32
_OVER = (0x0E, 0x10, 0x11, 0x14, 0x1B)

_LEVELS_OF_A_WORLD, _WORLDS, _WORLDS_FOR_SUPER_PLAYERS = 4, 8, 13
_LAST_LEVEL = 0x63
_HELD_FRAMES, _LOOK_FRAMES, _SETTLE_FRAMES = 20, 4, 20
_STUCK_FRAMES = 600
_LONGEST_STEP = 32
"""Further than this nobody goes in a frame: the camera's position wrapped."""

#: Numbers of things in the area: tiles of sprites, and kinds of the game's objects.
_TILES: dict[int, tuple[int | range, ...]] = {
    0: (
        *(range(28, 34), 38, 39, range(68, 74), range(84, 92), range(96, 100), 132, 133, 138, 139),
        *(range(168, 172), range(176, 184), range(186, 190)),
    ),
    1: (range(8), range(16, 24), range(384, 392)),  # Mario
    7: (range(52, 56),),
    8: (range(128, 132), 136, 137),
    9: (range(42, 46),),
    10: (34, 35, range(124, 128)),
    11: (46, 47, range(114, 118)),
    12: (range(92, 96),),
    14: (100, 101),
    15: (48, 49, range(80, 84)),
    16: (range(414, 420), 482, 483),
    17: (range(474, 482),),
    18: (range(194, 198),),
    19: (range(56, 68),),
    20: (range(108, 114),),
    21: (428, 429),
    22: (range(400, 410), range(496, 512)),
    23: (range(422, 428),),
    24: (range(74, 80),),
    25: (26, 27),
    26: (range(144, 156), range(160, 168)),
    27: (range(102, 108),),
    28: (range(438, 446), range(456, 464)),
    29: (range(464, 468),),
    30: (range(448, 456),),
    31: (range(470, 474),),
}
_OBJECT_KINDS = 0x65
_OBJECTS: dict[int, tuple[int | range, ...]] = {
    7: (0x04,),
    8: (0x0E,),
    10: (0x19, 0x47),
    12: (0x0D,),
    15: (0x09,),
    16: (0x2D, 0x4D),
    17: (range(0x26, 0x2C),),
    18: (range(0x0F, 0x17),),
    19: (0x02, 0x03, 0x31),
    20: (0x1B,),
    21: (range(0x56, 0x65),),
    22: (0x1A,),
    23: (0x2C,),
    24: (range(0x05, 0x09),),
    25: (0x1F,),
    26: (0x17,),
    27: (0x18,),
    28: (0x2F, 0x30),
    30: (0x2E,),
    31: (0x25,),
}


def _mapping(
    base: npt.NDArray[np.uint32], groups: dict[int, tuple[int | range, ...]]
) -> npt.NDArray[np.uint32]:
    for number, members in groups.items():
        for member in members:
            base[member if isinstance(member, int) else list(member)] = number
    return base


class GameWrapperSuperMarioBrosDeluxe(KnownGame):
    """Super Mario Bros. Deluxe, as far as an original Game Boy goes.

    The game itself runs on a Game Boy Color only, and there are its level and its objects in
    work RAM: `game_area` and the like raise UnavailableError.

    Attributes:
        level: its number, from 0.
        world: (world, level) from 1, or (0, number) beyond the worlds.
        coins, lives_left, score, time_left: as the game shows them.
        level_progress: how far right Mario is in the level, in pixels.
        stuck_frames: for how many frames of a level he has not gone to either side.
        stuck: for 600 at least.
        mapping_minimal, mapping_compressed: a number for each kind of thing.
        object_id_mapping: the same numbers for the game's objects.
    """

    title = "Super Mario Bros. Deluxe"
    cartridge_title = "MARIO DELUXAHY"
    section = (0, 6, 20, 26)
    values: ClassVar[dict[str, Value]] = {
        "level": Byte(_LEVEL),
        "coins": Byte(0xC1F2),
        "lives_left": Byte(_LIVES_LEFT),
        "score": PackedDecimal(0xC17A, 3),
        "time_left": Word(_TIME_LEFT),
    }
    labels: ClassVar[dict[str, str]] = {
        "coins": "Coins",
        "lives_left": "Lives left",
        "score": "Score",
        "time_left": "Time left",
        "level_progress": "Level progress",
    }
    mapping_minimal = _mapping(np.arange(TILES_CGB, dtype=np.uint32), _TILES)
    mapping_compressed = mapping_minimal
    object_id_mapping = _mapping(np.zeros(_OBJECT_KINDS, dtype=np.uint32), _OBJECTS)

    level: int
    coins: int
    lives_left: int
    score: int
    time_left: int

    def __init__(self, pyboy: PyBoy) -> None:
        super().__init__(pyboy)
        self.mapping = self.mapping_minimal
        self.world = (0, 0)
        self.level_progress = 0
        self.stuck, self.stuck_frames = False, 0
        self._last_progress: int | None = None
        self._chosen: tuple[int, bool] | None = None
        self._sequence: list[int] = []
        self._place_in_sequence = -1
        self._next_is_set = False

    def post_tick(self) -> None:
        """Reads the attributes anew; called after each `PyBoy.tick`."""
        mode = self._mode()
        if mode == _TO_WORLD_MAP and not self._next_is_set:
            self._set_next_level()
        elif mode == _IN_LEVEL:
            self._next_is_set = False
        super().post_tick()
        self.mapping = self.mapping_minimal
        world, level = divmod(self.level, _LEVELS_OF_A_WORLD)
        self.world = (world + 1, level + 1) if world < _WORLDS else (0, self.level)
        x = Word(_PLAYER_X).read(self.pyboy)
        self.level_progress = self.pyboy.memory[_LEVEL_X] + x
        self._look_for_movement(mode)

    def _mode(self) -> int:
        return int(self.pyboy.memory[_MODE])

    def _look_for_movement(self, mode: int) -> None:
        before = self._last_progress
        self._last_progress = self.level_progress if mode == _IN_LEVEL else None
        if before is None or mode != _IN_LEVEL:
            self.stuck_frames = 0
        elif abs(self.level_progress - before) > _LONGEST_STEP:
            self._last_progress = before
            return
        else:
            self.stuck_frames = 0 if self.level_progress != before else self.stuck_frames + 1
        self.stuck = self.stuck_frames >= _STUCK_FRAMES

    def _set_next_level(self) -> None:
        following = self._place_in_sequence + 1
        if 0 < following < len(self._sequence):
            self._write_level(self._sequence[following], False)
            self._place_in_sequence = following
            self._next_is_set = True

    def reset_game(self, timer_div: int | None = None) -> None:
        """Goes back to where `start_game` ended."""
        super().reset_game(timer_div)
        self.stuck, self.stuck_frames = False, 0
        self._last_progress = self.level_progress if self._mode() == _IN_LEVEL else None

    # -- changing the game -----------------------------------------------------------

    def set_lives_left(self, amount: int) -> None:
        """Sets the lives, 0 to 99.

        Raises:
            PyBoyInvalidInputException: they are out of bounds.
        """
        if not 0 <= amount <= 99:
            raise PyBoyInvalidInputException(f"the lives are from 0 to 99, not {amount}")
        self.pyboy.memory[_LIVES_LEFT] = amount

    def set_time_left(self, time: int) -> None:
        """Sets the time left, 0 to 999.

        Raises:
            PyBoyInvalidInputException: it is out of bounds.
        """
        if not 0 <= time <= 999:
            raise PyBoyInvalidInputException(f"the time left is from 0 to 999, not {time}")
        self.pyboy.memory[_TIME_LEFT : _TIME_LEFT + 2] = list(time.to_bytes(2, "little"))

    def set_world_level(self, world: int, level: int, super_player_levels: bool = False) -> None:
        """Has the game begin in a level. Call it before `start_game`.

        Args:
            world: 1 to 8, or to 13 of the levels for super players.
            level: 1 to 4.
            super_player_levels: of those, rather than of the original game.

        Raises:
            PyBoyInvalidInputException: there is no such level.
        """
        self._choose(_level_number(world, level, super_player_levels), super_player_levels)

    def _choose(self, number: int, super_player_levels: bool) -> None:
        if not 0 <= number <= _LAST_LEVEL:
            raise PyBoyInvalidInputException(
                f"a level's number is from 0 to {_LAST_LEVEL}, not {number}"
            )
        self._write_level(number, super_player_levels)
        self._chosen = (number, super_player_levels)

    def _write_level(self, number: int, super_player_levels: bool) -> None:
        self.pyboy.memory[_LEVEL_SET] = int(super_player_levels)
        self.pyboy.memory[_SUBLEVEL] = self.pyboy.memory[_LEVEL] = number

    # -- starting --------------------------------------------------------------------

    def start_game(
        self,
        timer_div: int | None = None,
        world_level: tuple[int, int] | None = None,
        level: int | None = None,
        super_player_levels: bool = False,
        challenge: bool = False,
        unlock_level_select: bool = False,
        custom_level_sequence: Iterable[tuple[int, int]] | None = None,
    ) -> None:
        """Goes through the title screen to the beginning of a level.

        Args:
            timer_div: what DIV becomes; None for a random number.
            world_level: world and level to begin with, from 1.
            level: the same as a number from 0, instead.
            super_player_levels: of the levels for super players.
            challenge: play the level as a challenge.
            unlock_level_select: stop where one chooses a challenge, all of which are open.
            custom_level_sequence: worlds and levels that follow one another.

        Raises:
            PyBoyException: it was called before, or the game does not start.
            PyBoyInvalidInputException: there is no such level, or both `world_level` and
                `level` are given.
        """
        self._check_not_started()
        if world_level is not None and level is not None:
            raise PyBoyInvalidInputException("give world_level or level, not both")
        sequence: list[int] = []
        if custom_level_sequence is not None:
            sequence = [
                _sequence_entry(entry, super_player_levels) for entry in custom_level_sequence
            ]
            if not sequence:
                raise PyBoyInvalidInputException("custom_level_sequence has no level")
        if world_level is not None:
            self.set_world_level(*world_level, super_player_levels)
        elif level is not None:
            self._choose(level, super_player_levels)

        self._sequence = sequence
        self._wait_for(_IN_TITLE, press_start=True)
        self._wait_for(_IN_MENU, press_start=True)
        if challenge or unlock_level_select:
            self._begin_challenge(stay=unlock_level_select)
        else:
            self._begin_level()
        super().start_game(timer_div)

        begun = self.pyboy.memory[_LEVEL]
        if begun in sequence and not (challenge or unlock_level_select or super_player_levels):
            self._place_in_sequence = sequence.index(begun)
        else:
            self._place_in_sequence = -1
        self._next_is_set = False

    def _begin_challenge(self, stay: bool) -> None:
        self.pyboy.memory[_MENU_ENTRY] = 1
        self._hold("a")
        self._wait_for(_IN_CHALLENGES)
        self.pyboy.memory[_CHALLENGE_UNLOCKED] = 1
        if self._chosen is not None and not stay:
            self._write_level(*self._chosen)
            self._hold("a")
            self._wait_for(_ON_WORLD_MAP)
            self._hold("start")
            self._wait_for(_IN_LEVEL)

    def _begin_level(self) -> None:
        if self._chosen is not None:
            # A choice that the game has and does not offer.
            number, super_player_levels = self._chosen
            self.pyboy.memory[_MODE] = _TO_LEVEL_CHOICE
            self._wait_for(_IN_LEVEL_CHOICE)
            self.pyboy.memory[_LEVEL_SET] = int(super_player_levels)
            self.pyboy.memory[_SUBLEVEL] = number
            self._hold("a")
        else:
            self._hold("a")
            self._wait_for(_IN_FILES)
            self._hold("a")
            self._wait_for(_ON_WORLD_MAP)
            self._hold("start")
        self._wait_for(_IN_LEVEL)

    def _hold(self, button: str) -> None:
        self.pyboy.button_press(button)
        for _ in range(_HELD_FRAMES):
            self.pyboy.tick(1, False)
        self.pyboy.button_release(button)

    def _wait_for(self, mode: int, *, press_start: bool = False) -> None:
        press = (lambda: self.pyboy.button("start")) if press_start else None
        self._wait_until(lambda: self._mode() == mode, frames=_LOOK_FRAMES, each=press)
        self.pyboy.tick(_SETTLE_FRAMES, False)

    def game_over(self) -> bool:
        """Mario has died, or the game shows that it is over."""
        died = self.pyboy.memory[_PLAYER_STATE] == _PLAYER_DIED
        return bool(died or self._mode() in _OVER)

    # -- what only a Game Boy Color has ----------------------------------------------

    def game_area(self) -> NoReturn:
        """Raises UnavailableError."""
        raise UnavailableError(
            "the level and its objects are in the work RAM of a Game Boy Color, which EmuRust is "
            "not; PyBoy with cgb=False raises here too"
        )

    game_area_background = game_area

    def object_slots(self) -> NoReturn:
        """Raises UnavailableError."""
        self.game_area()

    def game_area_annotations(self) -> NoReturn:
        """Raises UnavailableError."""
        self.game_area()

    def _headline(self) -> str:
        return f"{self.title}: World {self.world[0]}-{self.world[1]}"

    def __repr__(self) -> str:
        return "\n".join(self._summary())


def _level_number(world: int, level: int, super_player_levels: bool) -> int:
    if not isinstance(super_player_levels, bool):
        raise PyBoyInvalidInputException(
            f"super_player_levels is True or False, not {super_player_levels!r}"
        )
    worlds = _WORLDS_FOR_SUPER_PLAYERS if super_player_levels else _WORLDS
    if not 1 <= world <= worlds:
        raise PyBoyInvalidInputException(
            f"worlds are from 1 to {_WORLDS}, for super players to {_WORLDS_FOR_SUPER_PLAYERS}, "
            f"not {world}"
        )
    if not 1 <= level <= _LEVELS_OF_A_WORLD:
        raise PyBoyInvalidInputException(
            f"levels of a world are from 1 to {_LEVELS_OF_A_WORLD}, not {level}"
        )
    return (world - 1) * _LEVELS_OF_A_WORLD + level - 1


def _sequence_entry(entry: tuple[int, int], super_player_levels: bool) -> int:
    if len(entry) != 2:
        raise PyBoyInvalidInputException(
            f"custom_level_sequence has pairs of world and level, not {entry!r}"
        )
    return _level_number(*entry, super_player_levels)
