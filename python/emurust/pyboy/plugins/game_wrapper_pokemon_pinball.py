"""Pokemon Pinball."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, EnumMeta
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from emurust.pyboy.plugins.game_values import Byte, Flag, PackedDecimal, Value
from emurust.pyboy.plugins.known_game import KnownGame
from emurust.pyboy.utils import OPCODE_BRK, PyBoyInvalidInputException, UnavailableError

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = [
    "BallSize",
    "BallType",
    "GameWrapperPokemonPinball",
    "Maps",
    "Pokemon",
    "SpecialMode",
    "Stage",
]


class Stage(Enum):
    """Tables, and stages for a bonus."""

    RED_TOP = 0
    RED_BOTTOM = 1
    BLUE_TOP = 4
    BLUE_BOTTOM = 5
    GENGAR = 7
    MEWTWO = 9
    MEOWTH = 11
    DIGLETT = 13
    SEEL = 15


class SpecialMode(Enum):
    """What the table asks for."""

    CATCH = 0
    EVOLVE = 1
    STAGE_CHANGE = 2


class BallType(Enum):
    """Balls; better ones multiply what is won."""

    POKEBALL = 0
    GREATBALL = 2
    ULTRABALL = 3
    MASTERBALL = 5


class BallSize(Enum):
    """How large the ball is."""

    DEFAULT = 0
    MINI = 1
    SUPERMINI = 2


class _WithoutNames(EnumMeta):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in cls.__members__:  # Before Python 3.11 members are found here.
            return cls.__members__[name]
        raise UnavailableError(
            f"EmuRust does not come with the game's names, such as {cls.__name__}.{name}; give "
            f"the number instead: {cls.__doc__}"
        )


class Pokemon(Enum, metaclass=_WithoutNames):
    """Pokemon(0) to Pokemon(150) in the order of the Pokedex, which counts from 1."""

    _ignore_ = "number"
    for number in range(151):
        vars()[f"NUMBER_{number + 1}"] = number


class Maps(Enum, metaclass=_WithoutNames):
    """Maps(0) to Maps(17) in the order of the game's table of places."""

    _ignore_ = "number"
    for number in range(18):
        vars()[f"NUMBER_{number}"] = number


_Member = TypeVar("_Member", bound=Enum)

_POKEDEX, _CAUGHT = 0xD962, 2
_LIVES, _BALL, _EXTRA_BALLS = 0xD49E, 0xD49D, 0xD49B
_SAVER_SECONDS, _FULL_SAVER = 0xD4A4, 30

#: Which frame of the slot's picture, and what balls collide with: what the game's main
#: tables set up and its bonus stages rely on.
_BEFORE_BONUS = {0xD603: 7, _BALL: 1, _LIVES: 3, 0xD4AF: 4, 0xD7AD: 4}
_STAGE_AFTER_BONUS = 0xD4AD
_TABLE_OF_BONUS = {
    Stage.DIGLETT: Stage.RED_BOTTOM,
    Stage.GENGAR: Stage.RED_BOTTOM,
    Stage.MEWTWO: Stage.RED_BOTTOM,
    Stage.MEOWTH: Stage.BLUE_BOTTOM,
    Stage.SEEL: Stage.BLUE_BOTTOM,
}

#: Where the game looks up which stage to begin with: an offset in bank 3.
_STAGE_CHOICE = 0x1799
_STAGE_CHOICE_BYTES = 11
_LD_A = 0x3E

_POKEMON_TO_CATCH, _TIMER_ACTIVE = 0xD579, 0xD57D
_MODE, _MODE_ACTIVE = 0xD550, 0xD54B
_CATCH_STARTS = {0xD54D: 0, 0xD5C6: 0, 0xD5C0: 0, 0xD5B6: 0}
_ILLUMINATED_TILES = range(0xD586, 0xD5B6)
_TWO_MINUTES = {0xD57A: 0, 0xD57B: 2, 0xD57C: 0, 0xD57E: 0, 0xD57F: 0, _TIMER_ACTIVE: 1, 0xD580: 1}

#: Bank and address of the code that begins an evolution, and of the operands of the code
#: that begins a pause.
_EVOLUTION = (4, 0x4AB3)
_PAUSE_BANK, _PAUSE_ADDRESS = (3, 0x5954), (3, 0x5956)
_TIMER_STARTS = (4, 0x4D64)

#: What is counted whenever the game comes by: banks and addresses, as PyBoy 2.8.1 has them.
_COUNTED: dict[str, tuple[tuple[int, int], ...]] = {
    "evolution_success_count": ((8, 0x470B), (8, 0x4D30)),
    "evolution_failure_count": ((8, 0x4757), (8, 0x4D7C)),
    "pokemon_caught_in_session": ((4, 0x473D),),  # AddCaughtPokemonToParty
    "pokemon_seen_in_session": ((4, 0x4753),),  # SetPokemonSeenFlag
    "diglett_stages_visited": ((6, 0x59F2),),
    "diglett_stages_completed": ((6, 0x6BF2),),
    "gengar_stages_visited": ((6, 0x4099),),
    "gengar_stages_completed": ((6, 0x4A14),),
    "meowth_stages_visited": ((9, 0x4000),),
    "meowth_stages_completed": ((9, 0x444B),),
    "mewtwo_stages_visited": ((6, 0x524F),),
    "mewtwo_stages_completed": ((6, 0x565E),),
    "seel_stages_visited": ((9, 0x5A7C),),
    "seel_stages_completed": ((9, 0x5C5A),),
    "pikachu_saver_increments": ((5, 0x4E8A), (7, 0x4AFF)),
    "pikachu_saver_used": ((5, 0x6634), (7, 0x50C9)),
    "map_change_attempts": ((12, 0x41EC),),
    "map_change_successes": ((12, 0x55D5),),
    "extra_balls_added": ((12, 0x4164),),
    "lost_ball_during_saver": ((3, 0x5D7F), (3, 0x5E58)),
    "roulette_slots_opened": ((5, 0x5284), (7, 0x667E)),
    "roulette_slots_entered": ((3, 0x6D8E),),
}
_BALL_UPGRADES = ((5, 0x53C0), (7, 0x63DE))
_UPGRADE_FROM = {
    BallType.POKEBALL.value: "great_ball_upgrades",
    BallType.GREATBALL.value: "ultra_ball_upgrades",
    BallType.ULTRABALL.value: "master_ball_upgrades",
}
#: An extra ball that the roulette gave; it comes by the place of the others too.
_EXTRA_BALL_OF_ROULETTE = (3, 0x6FA7)
_COUNTERS = (*_COUNTED, *_UPGRADE_FROM.values())

_TITLE_TILE, _TITLE_TILE_PLACE = 269, (10, 10)
#: Frames before each press of A, and how long it is held: title screen, choice of a table.
_MENUS = ((18, 2), (95, 1))
_FRAMES_TO_FIRST_INPUT = 1 + 74 + 4


class GameWrapperPokemonPinball(KnownGame):
    """Pokemon Pinball: the area is the table without the status line.

    Counters are since the beginning or `reset_tracking`, and keep counting after `reset_game`
    and `PyBoy.load_state`. They hang on hooks (`PyBoy.hook_register`) in the game's code.

    Attributes:
        score: in points.
        balls_left: the one being played is among them.
        game_over: the game is over. (No method, unlike other games'.)
        current_stage, ball_type, ball_size, special_mode: numbers of `Stage`, `BallType`,
            `BallSize`, `SpecialMode`.
        current_map: number of a place, 0 to 17.
        special_mode_active: 1 while something is to be caught, to evolve or to be reached.
        multiplier: of what is won.
        ball_x, ball_y, ball_x_velocity, ball_y_velocity: bytes of the game's numbers, in
            pixels, and for velocities the part below one.
        ball_saver_seconds_left: for how long a lost ball comes back.
        pikachu_saver_charge: 0 to 15.
        pokedex: 151 numbers: 2 for caught, 1 for seen.
    """

    title = "PokemonPinball"
    cartridge_title = "POKEPINBALLVPH"
    section = (0, 0, 20, 16)
    follows_scrolling = True
    values: ClassVar[dict[str, Value]] = {
        "score": PackedDecimal(0xD46A, 6, times=10),
        "game_over": Flag(0xD616),
        "ball_type": Byte(0xD47E),
        "multiplier": Byte(0xD482),
        "current_stage": Byte(0xD4AC),
        "ball_size": Byte(0xD4C8),
        "ball_x": Byte(0xD4B3),
        "ball_y": Byte(0xD4B5),
        "ball_x_velocity": Byte(0xD4BB),
        "ball_y_velocity": Byte(0xD4BD),
        "special_mode": Byte(_MODE),
        "pikachu_saver_charge": Byte(0xD517),
        "current_map": Byte(0xD54A),
    }

    score: int
    balls_left: int
    game_over: bool  # type: ignore[assignment]
    ball_type: int
    multiplier: int
    current_stage: int
    ball_size: int
    ball_x: int
    ball_y: int
    ball_x_velocity: int
    ball_y_velocity: int
    special_mode: int
    special_mode_active: int
    pikachu_saver_charge: int
    current_map: int
    pokedex: list[int]

    def __init__(self, pyboy: PyBoy) -> None:
        super().__init__(pyboy)
        self.multiplier = 1
        self.balls_left = self.special_mode_active = 0
        self.ball_saver_seconds_left = 0
        self.pokedex = [0] * len(Pokemon)
        self._unlimited_saver = False
        self.reset_tracking()
        for counter, places in _COUNTED.items():
            self._at(places, lambda counter: self._count(counter), counter)
        self._at(_BALL_UPGRADES, self._count_upgrade, None)
        self._at((_EXTRA_BALL_OF_ROULETTE,), lambda _: self._count("extra_balls_added", -1), None)

    def _at(
        self, places: tuple[tuple[int, int], ...], callback: Callable[[Any], None], context: Any
    ) -> None:
        for place in places:
            self.pyboy.hook_register(*place, callback, context)

    def _count(self, counter: str, by: int = 1) -> None:
        setattr(self, counter, getattr(self, counter) + by)

    def _count_upgrade(self, _: Any) -> None:
        counter = _UPGRADE_FROM.get(self.ball_type)
        if counter is not None:
            self._count(counter)

    def post_tick(self) -> None:
        """Reads the attributes anew; called after each `PyBoy.tick`."""
        super().post_tick()
        memory = self.pyboy.memory
        self.balls_left = 3 - memory[_BALL] + memory[_EXTRA_BALLS]
        self.special_mode_active = int(memory[_MODE_ACTIVE] == 1)
        if self._unlimited_saver:
            memory[_SAVER_SECONDS] = _FULL_SAVER
        self.ball_saver_seconds_left = memory[_SAVER_SECONDS]
        self.pokedex[:] = memory[_POKEDEX : _POKEDEX + len(self.pokedex)]

    # -- what was reached ------------------------------------------------------------

    def has_pokemon(self, pokemon: Pokemon | int) -> bool:
        """It is caught, in this or an earlier game.

        Args:
            pokemon: its number in the Pokedex, less one, or that as a `Pokemon`.

        Raises:
            PyBoyInvalidInputException: there is no such Pokemon.
        """
        return self.pokedex[int(_member(Pokemon, pokemon).value)] == _CAUGHT

    def get_unique_pokemon_caught(self) -> int:
        """How many different ones are caught, in this or an earlier game."""
        return self.pokedex.count(_CAUGHT)

    def current_map_completed(self) -> bool:
        """True. PyBoy's wrapper never finds the current stage among those it knows maps of."""
        return True

    def reset_tracking(self) -> None:
        """Sets the counters to 0."""
        for counter in _COUNTERS:
            setattr(self, counter, 0)

    # -- changing the game -----------------------------------------------------------

    def set_unlimited_saver(self, unlimited_saver: bool = True) -> None:
        """From now on lost balls always come back, or no longer."""
        self._unlimited_saver = unlimited_saver

    def start_catch_mode(self, pokemon: Pokemon | int = 0, unlimited_time: bool = False) -> None:
        """Has a Pokemon appear on the table.

        The stage stays: the ball may have to go to its other half first.

        Args:
            pokemon: its number in the Pokedex, less one, or that as a `Pokemon`.
            unlimited_time: without the two minutes that there are for it.

        Raises:
            PyBoyInvalidInputException: there is no such Pokemon.
        """
        number = _member(Pokemon, pokemon).value
        self._write(
            {
                _MODE: SpecialMode.CATCH.value,
                _POKEMON_TO_CATCH: number,
                _MODE_ACTIVE: 1,
                **_CATCH_STARTS,
                **dict.fromkeys(_ILLUMINATED_TILES, 0),
                **({} if unlimited_time else _TWO_MINUTES),
            }
        )

    def enable_evolve_hack(self, unlimited_time: bool = False) -> None:
        """Changes the game's code: what would pause the game begins an evolution.

        Args:
            unlimited_time: without the time that there is for it.
        """
        bank, address = _EVOLUTION
        memory = self.pyboy.memory
        memory[_PAUSE_BANK] = bank
        pause_bank, pause_address = _PAUSE_ADDRESS
        memory[pause_bank, pause_address] = address & 0xFF
        memory[pause_bank, pause_address + 1] = address >> 8
        if unlimited_time and memory[_TIMER_STARTS] != OPCODE_BRK:
            self._at((_TIMER_STARTS,), lambda _: self._write({_TIMER_ACTIVE: 0}), None)

    def _write(self, content: dict[int, int]) -> None:
        for address, byte in content.items():
            self.pyboy.memory[address] = byte

    # -- starting --------------------------------------------------------------------

    def start_game(self, timer_div: int | None = None, stage: Stage | None = None) -> None:
        """Goes through the title screen to the first ball.

        Args:
            timer_div: what DIV becomes; None for a random number.
            stage: what to begin with. It changes the game's code.

        Raises:
            PyBoyException: it was called before, or the game does not start.
            PyBoyInvalidInputException: there is no such stage.
        """
        self._check_not_started()
        if stage is not None:
            stage = _member(Stage, stage)
            self._choose_stage(stage)
        background = self.pyboy.tilemap_background
        self._wait_until(lambda: background[_TITLE_TILE_PLACE] == _TITLE_TILE)
        for frames, held in _MENUS:
            self.pyboy.tick(frames, False, False)
            self.pyboy.button_press("a")
            self.pyboy.tick(held, False, False)
            self.pyboy.button_release("a")
        self.pyboy.tick(_FRAMES_TO_FIRST_INPUT, False, False)
        if stage in _TABLE_OF_BONUS:
            self._write({_STAGE_AFTER_BONUS: _TABLE_OF_BONUS[stage].value, **_BEFORE_BONUS})
        super().start_game(timer_div)

    def _choose_stage(self, stage: Stage) -> None:
        memory = self.pyboy.memory
        code = bytes([_LD_A, stage.value]).ljust(_STAGE_CHOICE_BYTES, b"\0")
        for offset, byte in enumerate(code):
            memory[3, _STAGE_CHOICE + offset] = byte

    def __repr__(self) -> str:
        lines = {
            "Score": self.score,
            "Multiplier": self.multiplier,
            "Balls left": self.balls_left,
            "Ball type": _name(BallType, self.ball_type),
            "Ball X": self.ball_x,
            "Ball Y": self.ball_y,
            "Ball X Velocity": self.ball_x_velocity,
            "Ball Y Velocity": self.ball_y_velocity,
            "Current stage": _name(Stage, self.current_stage),
            "Game over": self.game_over,
            "Ball saver seconds left": self.ball_saver_seconds_left,
            "Pokemon caught in session": self._counted("pokemon_caught_in_session"),
            "Pokemon seen in session": self._counted("pokemon_seen_in_session"),
            "Ball lost during saver": self._counted("lost_ball_during_saver"),
            "Special mode active": self.special_mode_active,
            "Evolution failure count": self._counted("evolution_failure_count"),
            "Evolution success count": self._counted("evolution_success_count"),
            "Pikachu saver charge": self.pikachu_saver_charge,
            "Pikachu saver used": self._counted("pikachu_saver_used"),
            **{
                f"{ball} Ball upgrades": self._counted(f"{ball.lower()}_ball_upgrades")
                for ball in ("Great", "Ultra", "Master")
            },
            "Extra balls added": self._counted("extra_balls_added"),
            "Roulette slots opened": self._counted("roulette_slots_opened"),
            "Roulette slots entered": self._counted("roulette_slots_entered"),
            "Current map": self.current_map,
            **{
                f"{name} stages completed": self._of_stage(name.lower())
                for name in ("Diglett", "Gengar", "Meowth", "Mewtwo", "Seel")
            },
        }
        return "".join(
            [f"{self._headline()}\n", *(f"{label}: {value}\n" for label, value in lines.items())]
        )

    def _of_stage(self, name: str) -> str:
        completed = self._counted(f"{name}_stages_completed")
        return f"{completed} / Visited: {self._counted(f'{name}_stages_visited')}"

    def _counted(self, counter: str) -> int:
        return int(getattr(self, counter))


def _member(kind: type[_Member], value: Any) -> _Member:
    """The member of an enumeration that is meant by a member, of PyBoy's too, or a number."""
    try:
        return kind(getattr(value, "value", value))
    except ValueError:
        raise PyBoyInvalidInputException(
            f"there is no {kind.__name__} {value!r}; {kind.__doc__}"
        ) from None


def _name(kind: type[Enum], value: int) -> str:
    """What `print` shows of a number; PyBoy raises where there is no name."""
    try:
        return kind(value).name
    except ValueError:
        return str(value)
