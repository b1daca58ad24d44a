"""Wrappers of single games, on cartridges that have those games' titles and nothing else.

The games' ROMs are not needed: wrappers read memory, and tests write it, in both classes.
"""

from __future__ import annotations

import importlib
import io
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emurust.errors import EmuRustError
from emurust.pyboy import PyBoy
from emurust.pyboy.plugins.game_wrapper_pokemon_pinball import Maps, Pokemon
from emurust.pyboy.plugins.pokemon_text import decode, encode
from emurust.pyboy.utils import PyBoyException, PyBoyInvalidInputException, UnavailableError

Pair = tuple[Any, Any]
MakePair = Callable[..., Pair]

#: Title, and attributes that PyBoy's wrapper of the game has.
GAMES: dict[bytes, tuple[str, ...]] = {
    b"TETRIS": ("score", "level", "lines"),
    b"SUPER MARIOLAND": (
        *("world", "coins", "lives_left", "score", "time_left"),
        "level_progress",
    ),
    b"KIRBY DREAM LAN": ("score", "health", "lives_left"),
    b"DMGTRIS": ("score", "level", "lines"),
    b"2048": ("score", "winner", "board"),
    b"POKEPINBALLVPH": (
        *("score", "balls_left", "game_over", "ball_type", "multiplier", "current_stage"),
        *("ball_size", "ball_saver_seconds_left", "pokedex", "ball_x", "ball_y"),
        *("ball_x_velocity", "ball_y_velocity", "special_mode", "special_mode_active"),
        *("pikachu_saver_charge", "current_map"),
    ),
    b"POKEMON RED": ("money",),
    b"POKEMON BLUE": ("money",),
}
#: Digits of numbers for which PyBoy's 32 bits would not do if they were any bytes.
DIGITS = {b"DMGTRIS": ((0xFF90, 4), (0xFFB8, 8))}
#: Numbers that mean something: PyBoy cannot print others.
MEANINGFUL: dict[bytes, dict[int, tuple[int, ...]]] = {
    b"POKEPINBALLVPH": {
        0xD47E: (0, 2, 3, 5),
        0xD4AC: (0, 1, 4, 5, 7, 9, 11, 13, 15),
        0xD616: (0, 1),
    },
    b"2048": {
        **dict.fromkeys(range(0xC102, 0xC12F, 2), (0, 2, 64, 128, 3)),
        **dict.fromkeys(range(0xC103, 0xC130, 2), (0, 0, 0, 4, 8, 16, 64)),
        0xC142: (0, 1),
        0xC143: (0, 1, 2, 3),
    },
}
#: Larger cartridges, where wrappers look into many banks.
CARTRIDGES = {b"POKEPINBALLVPH": {"cartridge_type": 0x19, "banks": 16}}
#: Names that PyBoy's wrappers declare and never set.
NEVER_SET = {b"POKEPINBALLVPH": {"evolution_count", "slots_entered", "slots_opened"}}
#: What the symbol file of 2048 says.
SYMBOLS = "00:C100 _board\n00:C140 _score\n00:C142 _winner\n00:C143 _state\n"
MONSTER = {
    "species": 84,
    "level": 5,
    "hp": 20,
    "max_hp": 21,
    "attack": 11,
    "defense": 12,
    "speed": 13,
    "special": 300,
    "nickname": "Zap-2",
}

WINDOW = 0x9C00
LCDC, SCY, SCX, WY, WX = 0xFF40, 0xFF42, 0xFF43, 0xFF4A, 0xFF4B
#: Tiles below 128 are numbered 256 more without bit 4.
LCDC_LOW_TILES, LCDC_HIGH_TILES = 0xF3, 0xE3


@pytest.fixture
def make_pair(both: Pair, build_rom: Callable[..., bytes], tmp_path: Path) -> Iterator[MakePair]:
    """Makes PyBoy's and our class run a cartridge of a title that does nothing."""
    made = []
    symbols = tmp_path / "symbols.sym"
    symbols.write_text(SYMBOLS)

    def make(title: bytes, change: Callable[[bytearray], None] = len, **options: Any) -> Pair:
        image = bytearray(build_rom(title=title, **{**CARTRIDGES.get(title, {}), **options}))
        change(image)
        pair = []
        for package in both:
            pyboy = package.PyBoy(
                io.BytesIO(image),
                window="null",
                cgb=False,
                sound_emulated=False,
                log_level="CRITICAL",
                symbols=str(symbols) if title == b"2048" else None,
            )
            made.append(pyboy)
            pyboy.tick(100, True)
            pair.append(pyboy)
        return pair[0], pair[1]

    yield make
    for pyboy in made:
        pyboy.stop(save=False)


def write(pair: Pair, address: int, content: list[int]) -> None:
    for pyboy in pair:
        for offset, byte in enumerate(content):
            pyboy.memory[address + offset] = byte


def tick(pair: Pair) -> None:
    for pyboy in pair:
        pyboy.tick(1, True)


def scramble(pair: Pair, rng: random.Random) -> None:
    """Random tile maps, sprites, work RAM and scrolling; the stack is left alone."""
    for start, length in ((0x9800, 0x800), (0xFE00, 0xA0), (0xFF88, 0x70)):
        write(pair, start, list(rng.randbytes(length)))
    for start in (0xC000, 0xD000):
        write(pair, start, list(rng.randbytes(0x1000)))
    write(pair, LCDC, [rng.choice((LCDC_LOW_TILES, LCDC_HIGH_TILES, 0xE7, 0xF7))])
    for register in (SCX, SCY, WX):
        write(pair, register, [rng.randrange(256)])
    write(pair, WY, [rng.choice((0, 80))])


def game_over(pyboy: Any) -> bool | str:
    if pyboy.cartridge_title == "POKEPINBALLVPH":
        return bool(pyboy.game_wrapper.game_over)
    try:
        return bool(pyboy.game_wrapper.game_over())
    except NotImplementedError:
        return "unknown"


def same(pair: Pair, names: tuple[str, ...]) -> None:
    theirs, ours = (pyboy.game_wrapper for pyboy in pair)
    for name in (*names, "shape", "game_area_section", "game_area_follow_scxy"):
        assert getattr(ours, name) == getattr(theirs, name), name
    area = ours.game_area()
    assert area.dtype == np.uint32
    assert area.tolist() == theirs.game_area().tolist()
    assert repr(ours) == repr(theirs)
    assert game_over(pair[1]) == game_over(pair[0])


def public(item: Any) -> set[str]:
    return {name for name in dir(item) if not name.startswith("_")}


@pytest.mark.parametrize("title", GAMES)
def test_all_names_are_there(make_pair: MakePair, title: bytes) -> None:
    theirs, ours = (pyboy.game_wrapper for pyboy in make_pair(title))
    assert type(ours).__name__ == type(theirs).__name__
    assert ours.enabled() is theirs.enabled() is True
    assert set(GAMES[title]) <= public(theirs)
    missing = {name for name in public(theirs) if not hasattr(ours, name)}
    assert missing == NEVER_SET.get(title, set())


@pytest.mark.parametrize("title", GAMES)
def test_values_and_areas(make_pair: MakePair, title: bytes) -> None:
    rng = random.Random(f"values of {title!r}")
    pair = make_pair(title)
    same(pair, GAMES[title])
    for _ in range(12):
        scramble(pair, rng)
        for start, length in DIGITS.get(title, ()):
            write(pair, start, [rng.randrange(10) for _ in range(length)])
        for address, choices in MEANINGFUL.get(title, {}).items():
            write(pair, address, [rng.choice(choices)])
        tick(pair)
        same(pair, GAMES[title])


@pytest.mark.parametrize("title", [b"TETRIS", b"SUPER MARIOLAND", b"DMGTRIS"])
@pytest.mark.parametrize("name", ["mapping_compressed", "mapping_minimal"])
def test_mappings(make_pair: MakePair, title: bytes, name: str) -> None:
    pair = make_pair(title)
    theirs, ours = (getattr(pyboy.game_wrapper, name) for pyboy in pair)
    assert ours.dtype == theirs.dtype
    assert ours.tolist() == theirs.tolist()
    for pyboy in pair:
        pyboy.game_area_mapping(getattr(pyboy.game_wrapper, name), 40)
    scramble(pair, random.Random(f"{name} of {title!r}"))
    tick(pair)
    same(pair, ())


def test_the_area_of_tetris_stays_the_well(make_pair: MakePair) -> None:
    pair = make_pair(b"TETRIS")
    scramble(pair, random.Random("the well"))
    for pyboy in pair:
        pyboy.game_area_dimensions(0, 0, 10, 18, False)
    tick(pair)
    same(pair, ())


# -- starting and resetting ----------------------------------------------------------


def show(pair: Pair, column: int, row: int, identifiers: list[int]) -> None:
    """Puts tiles into the background; numbers from 256 on need LCDC_HIGH_TILES."""
    write(pair, 0x9800 + 32 * row + column, [number & 0xFF for number in identifiers])


def show_tetris(pair: Pair) -> None:
    write(pair, LCDC, [0x91])
    show(pair, 2, 14, [89, 25, 21, 10, 34, 14, 27])


def show_mario(pair: Pair) -> None:
    write(pair, LCDC, [0x81])
    show(pair, 6, 13, [284, 285, 266, 283, 285])
    show(pair, 0, 0, [278, 266, 283, 274, 280])
    show(pair, 5, 1, [256])


def show_kirby(pair: Pair) -> None:
    show(pair, 0, 16, [231, 224, 235])


def show_pandora(pair: Pair) -> None:
    titles = [171, 177, 179, 185, 187, 193, 195, 201, 203, 209, 211, 217, 219, 225]
    show(pair, 3, 2, titles)
    write(pair, 0xFFFD, [3])


def show_2048(pair: Pair) -> None:
    write(pair, LCDC, [0xE1])
    write(pair, WINDOW + 32 * 5 + 5, [38, 53, 40, 36, 55, 40, 39, 35, 37])  # PRESS START
    write(pair, 0xC102, [2, 0, 0, 0, 4])
    write(pair, 0xC143, [1])


def show_pinball(pair: Pair) -> None:
    write(pair, LCDC, [0x81])
    show(pair, 10, 10, [269])


SCREENS: dict[bytes, Callable[[Pair], None]] = {
    b"TETRIS": show_tetris,
    b"SUPER MARIOLAND": show_mario,
    b"KIRBY DREAM LAN": show_kirby,
    b"DMGTRIS": show_pandora,
    b"2048": show_2048,
    b"POKEPINBALLVPH": show_pinball,
}
DIV = 0xFF04


@pytest.mark.parametrize("title", SCREENS)
def test_starting_and_resetting(make_pair: MakePair, title: bytes) -> None:
    pair = make_pair(title)
    SCREENS[title](pair)

    def look() -> None:
        theirs, ours = pair
        for address in (DIV, 0xC100):
            assert ours.memory[address] == theirs.memory[address]
        assert ours.frame_count == theirs.frame_count
        same(pair, GAMES[title])

    for pyboy in pair:
        with pytest.raises(Exception, match="start"):
            pyboy.game_wrapper.reset_game()
        pyboy.game_wrapper.start_game(timer_div=0x55)
    look()
    write(pair, 0xC100, [77])
    tick(pair)
    for pyboy in pair:
        pyboy.game_wrapper.reset_game(timer_div=0x66)
    assert pair[1].memory[0xC100] == 0
    look()


@pytest.mark.parametrize(
    "title", [b"SUPER MARIOLAND", b"KIRBY DREAM LAN", b"2048", b"POKEPINBALLVPH"]
)
def test_these_start_only_once(make_pair: MakePair, title: bytes) -> None:
    pair = make_pair(title)
    SCREENS[title](pair)
    pair[1].game_wrapper.start_game()
    with pytest.raises(PyBoyException, match="reset_game"):
        pair[1].game_wrapper.start_game()


def test_a_game_that_does_not_start(make_pair: MakePair) -> None:
    with pytest.raises(PyBoyException, match="just switched on"):
        make_pair(b"KIRBY DREAM LAN")[1].game_wrapper.start_game()


# -- single games --------------------------------------------------------------------


def test_tetrominoes(make_pair: MakePair) -> None:
    pair = make_pair(b"TETRIS")
    for number in range(28):
        write(pair, 0xC213, [number])
        theirs, ours = (pyboy.game_wrapper.next_tetromino() for pyboy in pair)
        assert ours == theirs
    for shape in "LJIOZST":
        for pyboy in pair:
            pyboy.game_wrapper.set_tetromino(shape)
        theirs, ours = (pyboy.memory[0, 0x2060:0x20C0] for pyboy in pair)
        assert ours == theirs
    with pytest.raises(KeyError, match="one of L"):
        pair[1].game_wrapper.set_tetromino("X")


def test_blocks(make_pair: MakePair) -> None:
    pair = make_pair(b"DMGTRIS")
    for shape in "IZSJLOT":
        for pyboy in pair:
            pyboy.game_wrapper.set_block(shape)
            assert pyboy.game_wrapper.next_block() == shape
        assert pair[0].memory[0xFFD2] == pair[1].memory[0xFFD2]
    with pytest.raises(KeyError, match="one of I"):
        pair[1].game_wrapper.set_block("X")


def test_game_over(make_pair: MakePair) -> None:
    overs = {
        b"TETRIS": (0x9802, [135]),
        b"SUPER MARIOLAND": (0xC0A4, [0x39]),
        b"DMGTRIS": (0xFFDB, [21]),
    }
    for title, (address, content) in overs.items():
        pair = make_pair(title)
        assert game_over(pair[0]) is game_over(pair[1]) is False
        write(pair, address, content)
        assert game_over(pair[0]) is game_over(pair[1]) is True


def test_kirby_is_over_when_the_last_health_runs_out(make_pair: MakePair) -> None:
    pair = make_pair(b"KIRBY DREAM LAN")
    seen = []
    for lives, health in ((2, 3), (2, 0), (1, 6), (1, 2), (1, 0), (1, 5)):
        write(pair, 0xD089, [lives])
        write(pair, 0xD086, [health])
        tick(pair)
        same(pair, GAMES[b"KIRBY DREAM LAN"])
        seen.append(game_over(pair[1]))
    assert seen == [False, False, False, False, True, True]


def test_setting_marios_numbers(make_pair: MakePair) -> None:
    pair = make_pair(b"SUPER MARIOLAND")
    for time, lives, world in ((0, 0, (1, 1)), (123, 10, (3, 2)), (999, 99, (4, 3))):
        for pyboy in pair:
            pyboy.game_wrapper.set_time_left(time)
            pyboy.game_wrapper.set_lives_left(lives)
            pyboy.game_wrapper.set_world_level(*world)
        tick(pair)
        same(pair, GAMES[b"SUPER MARIOLAND"])
        assert pair[1].game_wrapper.time_left == time
        theirs, ours = (pyboy.memory[0, 0x440:0x470] for pyboy in pair)
        assert ours == theirs
    for method, value in (("set_time_left", 1000), ("set_lives_left", -1)):
        with pytest.raises(PyBoyInvalidInputException, match="from 0 to"):
            getattr(pair[1].game_wrapper, method)(value)


def test_2048_without_symbols(build_rom: Callable[..., bytes]) -> None:
    image = io.BytesIO(build_rom(title=b"2048"))
    with PyBoy(image, window="null", cgb=False, sound_emulated=False) as pyboy:
        pyboy.tick()
        assert pyboy.game_area().shape == (18, 20)
        assert "without symbols" in repr(pyboy.game_wrapper)
        wrapper = pyboy.game_wrapper
        for act in (wrapper.start_game, wrapper.game_over, lambda: wrapper.score):
            with pytest.raises(UnavailableError, match="no symbols _board, .*symbols="):
                act()
        assert not hasattr(wrapper, "level")


# -- Super Mario Bros. Deluxe --------------------------------------------------------

DELUXE = b"MARIO DELUXAHY"
DELUXE_NAMES = (
    *("world", "level", "coins", "lives_left", "score", "time_left", "level_progress"),
    *("stuck", "stuck_frames", "shape", "game_area_section", "game_area_follow_scxy"),
)
#: Goes through the modes at 0x0200, eight frames each.
DELUXE_MODES = bytes([0x03, 0x19, 0x17, 0x05, 0x0B, 0x1E, 0x32, 0x04])
SHOW_MODES = bytes.fromhex(
    "0E00 F044FE9020FA F044FE9028FA 0C 79 CB3F CB3F CB3F E607 210002 85 6F 7E E0B5 18E2"
)


def same_deluxe(pair: Pair) -> None:
    theirs, ours = (pyboy.game_wrapper for pyboy in pair)
    for name in DELUXE_NAMES:
        assert getattr(ours, name) == getattr(theirs, name), name
    assert game_over(pair[1]) == game_over(pair[0])
    assert pair[1].memory[0xC160:0xC1FF] == pair[0].memory[0xC160:0xC1FF]


def test_names_and_mappings_of_deluxe(make_pair: MakePair) -> None:
    theirs, ours = (pyboy.game_wrapper for pyboy in make_pair(DELUXE))
    assert type(ours).__name__ == type(theirs).__name__
    assert {name for name in public(theirs) if not hasattr(ours, name)} == set()
    for name in ("mapping_minimal", "mapping_compressed", "object_id_mapping"):
        mine, there = getattr(ours, name), getattr(theirs, name)
        assert mine.dtype == there.dtype
        assert mine.tolist() == there.tolist()


def test_values_of_deluxe(make_pair: MakePair) -> None:
    rng = random.Random("deluxe")
    pair = make_pair(DELUXE)
    same_deluxe(pair)
    for _ in range(40):
        write(pair, 0xC160, list(rng.randbytes(0xA0)))
        write(pair, 0xC163, [rng.choice((0, 7, 31, 32, 99, 255))])
        write(pair, 0xC1C1, [rng.randrange(4)])
        write(pair, 0xFFA7, [rng.randrange(256)])
        write(pair, 0xFFB5, [rng.choice((0x0B, 0x10, 0x1B, 3))])
        tick(pair)
        same_deluxe(pair)
        assert repr(pair[1].game_wrapper).startswith("Super Mario Bros. Deluxe: World ")


def test_standing_still_in_deluxe(make_pair: MakePair) -> None:
    pair = make_pair(DELUXE)
    seen = set()
    for mode, x, frames in (
        *((3, 5, 3), (0x0B, 5, 4), (0x0B, 6, 2), (0x0B, 100, 2), (0x0B, 6, 605)),
        *((0x0B, 200, 1), (0x0B, 7, 2), (0x10, 7, 1), (0x0B, 8, 3)),
    ):
        write(pair, 0xFFB5, [mode])
        write(pair, 0xC1CA, [x, 0])
        for _ in range(frames):
            for pyboy in pair:
                pyboy.tick(1, False)
            same_deluxe(pair)
            seen.add(pair[1].game_wrapper.stuck)
    assert seen == {False, True}
    for pyboy in pair:
        pyboy.game_wrapper.set_lives_left(42)
        pyboy.game_wrapper.set_time_left(321)
    tick(pair)
    same_deluxe(pair)
    assert pair[1].game_wrapper.time_left == 321


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"world_level": (3, 2)},
        {"level": 40, "super_player_levels": True},
        {"world_level": (13, 4), "super_player_levels": True},
        {"challenge": True},
        {"challenge": True, "level": 9},
        {"unlock_level_select": True, "level": 9},
        {"custom_level_sequence": [(1, 1), (2, 3), (8, 4)]},
        {"custom_level_sequence": [(5, 1)], "world_level": (5, 1)},
    ],
    ids=str,
)
def test_starting_deluxe(make_pair: MakePair, options: dict[str, Any]) -> None:
    def modes(image: bytearray) -> None:
        image[0x200:0x208] = DELUXE_MODES

    pair = make_pair(DELUXE, modes, code=SHOW_MODES)
    for pyboy in pair:
        pyboy.game_wrapper.start_game(timer_div=3, **options)
    assert pair[1].frame_count == pair[0].frame_count > 150
    same_deluxe(pair)
    for _ in range(200):
        tick(pair)
        same_deluxe(pair)
    for pyboy in pair:
        pyboy.game_wrapper.reset_game(timer_div=4)
    same_deluxe(pair)
    with pytest.raises(PyBoyException, match="reset_game"):
        pair[1].game_wrapper.start_game()


def test_bad_levels_of_deluxe(make_pair: MakePair) -> None:
    pair = make_pair(DELUXE)
    ours = pair[1].game_wrapper
    for options in (
        {"world_level": (9, 1)},
        {"world_level": (14, 1), "super_player_levels": True},
        {"world_level": (1, 5)},
        {"level": 100},
        {"world_level": (1, 1), "level": 1},
        {"custom_level_sequence": []},
        {"custom_level_sequence": [(1, 1), (9, 1)]},
        {"custom_level_sequence": [(1,)]},
        {"world_level": (1, 1), "super_player_levels": 3},
    ):
        with pytest.raises(PyBoyInvalidInputException):
            ours.start_game(**options)
    for method, value in (("set_time_left", 1000), ("set_lives_left", -1)):
        with pytest.raises(PyBoyInvalidInputException, match="from 0 to"):
            getattr(ours, method)(value)
    for name in ("game_area", "game_area_background", "object_slots", "game_area_annotations"):
        with pytest.raises(UnavailableError, match="work RAM of a Game Boy Color"):
            getattr(ours, name)()
        with pytest.raises(Exception, match="only supported for CGB|out of range"):
            getattr(pair[0].game_wrapper, name)()


# -- Pokemon Pinball -----------------------------------------------------------------


def pinball_constants(both: Pair) -> Any:
    name = f"{both[0].__name__}.plugins.game_wrapper_pokemon_pinball"
    return importlib.import_module(name)


def counters(wrapper: Any) -> dict[str, int]:
    ends = ("_count", "_completed", "_visited", "_session", "_used", "_increments", "_attempts")
    ends += ("_successes", "_upgrades", "_added", "_saver", "_opened", "_entered")
    names = {name for name in public(wrapper) if name.endswith(ends)}
    names -= NEVER_SET[b"POKEPINBALLVPH"]
    return {name: value for name in names if type(value := getattr(wrapper, name)) is int}


def test_counters_of_pinball(both: Pair, make_pair: MakePair) -> None:
    """A program calls all of the places that PyBoy's wrapper hooks, again and again."""
    constants = pinball_constants(both)
    apart = ("START_EVOLUTION", "PAUSE_METHOD_BANK", "PAUSE_METHOD_CALL", "DISABLE_TIMER")
    places = [
        place
        for name, place in vars(constants).items()
        if name.startswith("BANK_OFFSET_") and not name.endswith(apart)
    ]
    assert len(places) > 30
    calls = b"".join(
        b"\x3e%c\xea\x00\x20\xcd%c%c" % (bank, address & 0xFF, address >> 8)
        for bank, address in places
    )

    def returns(image: bytearray) -> None:
        for bank, address in places:
            image[bank * 0x4000 + address - 0x4000] = 0xC9

    pair = make_pair(b"POKEPINBALLVPH", returns, code=calls + b"\xc3\x50\x01")
    theirs, ours = (pyboy.game_wrapper for pyboy in pair)
    for ball in (0, 2, 3, 5, 0):
        write(pair, 0xD47E, [ball])
        tick(pair)
        assert counters(ours) == counters(theirs)
        assert repr(ours) == repr(theirs)
    assert len(counters(ours)) == 25
    assert all(value > 3 for name, value in counters(ours).items() if name != "extra_balls_added")
    for wrapper in (theirs, ours):
        wrapper.reset_tracking()
    assert counters(ours) == counters(theirs)
    assert set(counters(ours).values()) == {0}


def test_changing_pinball(both: Pair, make_pair: MakePair) -> None:
    rng = random.Random("pinball")
    constants = pinball_constants(both)
    pair = make_pair(b"POKEPINBALLVPH")
    theirs, ours = (pyboy.game_wrapper for pyboy in pair)
    for act in (
        lambda wrapper: wrapper.start_catch_mode(constants.Pokemon.SEEL),
        lambda wrapper: wrapper.start_catch_mode(unlimited_time=True),
        lambda wrapper: wrapper.set_unlimited_saver(),
        lambda wrapper: wrapper.enable_evolve_hack(),
        lambda wrapper: wrapper.enable_evolve_hack(unlimited_time=True),
        lambda wrapper: wrapper.enable_evolve_hack(unlimited_time=True),
        lambda wrapper: wrapper.set_unlimited_saver(False),
    ):
        write(pair, 0xD400, list(rng.randbytes(0x600)))
        for wrapper in (theirs, ours):
            act(wrapper)
        tick(pair)
        assert ours.ball_saver_seconds_left == theirs.ball_saver_seconds_left
        assert ours.current_map_completed() is theirs.current_map_completed() is True
        for place in (slice(0xD400, 0xDA00), (3, slice(0x5950, 0x5960)), (4, 0x4D64)):
            assert pair[1].memory[place] == pair[0].memory[place]
    write(pair, 0xD962, [rng.randrange(3) for _ in range(151)])
    tick(pair)
    assert ours.get_unique_pokemon_caught() == theirs.get_unique_pokemon_caught() > 9
    for pokemon in constants.Pokemon:
        assert ours.has_pokemon(pokemon) is theirs.has_pokemon(pokemon)
        assert ours.has_pokemon(pokemon.value) is theirs.has_pokemon(pokemon)


@pytest.mark.parametrize("name", ["MEWTWO", "SEEL", "BLUE_BOTTOM"])
def test_starting_pinball_elsewhere(both: Pair, make_pair: MakePair, name: str) -> None:
    stage = pinball_constants(both).Stage[name]
    pair = make_pair(b"POKEPINBALLVPH")
    show_pinball(pair)
    for pyboy in pair:
        pyboy.game_wrapper.start_game(0, stage)
    assert pair[1].frame_count == pair[0].frame_count
    for place in (slice(0xD400, 0xDA00), (3, slice(0x1790, 0x17B0))):
        assert pair[1].memory[place] == pair[0].memory[place]


def test_pinball_has_no_names(make_pair: MakePair) -> None:
    wrapper = make_pair(b"POKEPINBALLVPH")[1].game_wrapper
    assert [pokemon.value for pokemon in Pokemon] == list(range(151))
    assert [place.value for place in Maps] == list(range(18))
    assert wrapper.has_pokemon(Pokemon(24)) is False
    assert Pokemon.NUMBER_25 is Pokemon(24)
    with pytest.raises(UnavailableError, match=r"Pokemon.PIKACHU; give the number .* Pokedex"):
        _ = Pokemon.PIKACHU
    for act in (
        lambda: wrapper.has_pokemon(151),
        lambda: wrapper.start_catch_mode(-1),
        lambda: wrapper.start_game(stage=3),
    ):
        with pytest.raises(PyBoyInvalidInputException, match="there is no"):
            act()


# -- Pokemon -------------------------------------------------------------------------

#: Counts down for about 1340 frames, then shows an R where the game lists names.
SHOW_R_LATER = bytes.fromhex("11c758 0600 05 20fd 1b 7a b3 20f6 3e91 ea829c 18f9")


def test_starting_pokemon(make_pair: MakePair) -> None:
    pair = make_pair(b"POKEMON BLUE", code=SHOW_R_LATER)
    write(pair, LCDC, [0xD1])
    # New game, the B of the first list of names, and the arrow under each dialogue.
    for row, column, tile in ((2, 2, 141), (4, 2, 129), (16, 18, 238)):
        write(pair, WINDOW + 32 * row + column, [tile])
    for pyboy in pair:
        pyboy.game_wrapper.start_game(timer_div=0x12)
    frames = pair[1].frame_count
    assert frames == pair[0].frame_count > 2000
    same(pair, ())
    for pyboy in pair:
        pyboy.tick(10, True)
        pyboy.game_wrapper.reset_game(timer_div=0x34)
    assert pair[0].memory[DIV] == pair[1].memory[DIV] == 0x34
    same(pair, ())


def test_pokemon_with_a_saved_game_or_without_names(make_pair: MakePair) -> None:
    pair = make_pair(b"POKEMON BLUE")
    write(pair, LCDC, [0xD1])
    for row, column, tile in ((2, 2, 130), (16, 18, 238)):
        write(pair, WINDOW + 32 * row + column, [tile])
    with pytest.raises(PyBoyException, match="saved game"):
        pair[1].game_wrapper.start_game()
    write(pair, WINDOW + 32 * 2 + 2, [141])
    with pytest.raises(PyBoyException, match="ask for a name"):
        pair[1].game_wrapper.start_game()


#: What the party, bag and so on are in.
POKEMON_MEMORY = ((0xD050, 0xD060), (0xD120, 0xD300), (0xD310, 0xD480), (0xD700, 0xD900))


def same_memory(pair: Pair) -> None:
    for start, end in (*POKEMON_MEMORY, (0xFF8B, 0xFF8C)):
        theirs, ours = (pyboy.memory[start:end] for pyboy in pair)
        assert ours == theirs, hex(start)


def test_party(make_pair: MakePair) -> None:
    rng = random.Random("party")
    pair = make_pair(b"POKEMON RED")
    theirs, ours = (pyboy.game_wrapper for pyboy in pair)
    for count in range(7):
        write(pair, 0xD158, list(rng.randbytes(0x200)))
        write(pair, 0xD163, [count])
        assert ours.party == theirs.party
    full = {
        **MONSTER,
        "status": 8,
        "type1": 1,
        "type2": 2,
        "catch_rate": 3,
        "moves": (1, 2, 0, 0),
        "pp": (4, 3, 2, 1),
        "ot_id": 0xABCD,
        "exp": 70000,
        "hp_exp": 515,
        "dvs": 258,
        "ot_name": (0x80, 0x81),
    }
    for party in ([], [MONSTER], [full, MONSTER], [full] * 6):
        for wrapper in (theirs, ours):
            wrapper.set_party(party)
        same_memory(pair)
        assert ours.party == theirs.party
    for wrapper in (theirs, ours):
        wrapper.remove_pokemon(2)
        wrapper.add_pokemon(12, 7, (5, 6), nickname="A", hp=3, stats={"speed": 99}, status=1)
        wrapper.party = wrapper.party[1:]
        wrapper.add_pokemon(13, nickname=(0x99,))
    same_memory(pair)


def test_bad_parties(make_pair: MakePair) -> None:
    wrapper = make_pair(b"POKEMON RED")[1].game_wrapper
    wrapper.set_party([MONSTER])
    nameless = {name: value for name, value in MONSTER.items() if name != "nickname"}
    for party in (
        *([MONSTER] * 7, [{**MONSTER, "species": 0}], [{**MONSTER, "level": 101}]),
        *([{**MONSTER, "moves": (1,)}], [{**MONSTER, "hp": 70000}]),
    ):
        with pytest.raises(ValueError, match="is from|at most|four|too large") as error:
            wrapper.set_party(party)
        assert isinstance(error.value, EmuRustError)
    for act in (
        lambda: wrapper.set_party([nameless]),
        lambda: wrapper.add_pokemon("PIKACHU"),
        lambda: wrapper.add_pokemon(84, moves=["CUT"]),
    ):
        with pytest.raises(UnavailableError, match="this one has none of .* give the number"):
            act()
    with pytest.raises(ValueError, match="at most four"):
        wrapper.add_pokemon(84, moves=[1] * 5)
    with pytest.raises(IndexError, match="party of 1"):
        wrapper.remove_pokemon(1)
    for name in ("twelve chars", "%"):
        with pytest.raises(ValueError, match="at most 10|cannot write"):
            wrapper.set_party([{**MONSTER, "nickname": name}])


def test_money_and_bag(make_pair: MakePair) -> None:
    pair = make_pair(b"POKEMON BLUE")
    theirs, ours = (pyboy.game_wrapper for pyboy in pair)
    for amount in (0, 7, 123456, 999999):
        for wrapper in (theirs, ours):
            wrapper.set_money(amount)
        same_memory(pair)
        assert ours.money == theirs.money == amount
    for wrapper in (theirs, ours):
        wrapper.set_inventory({1: 5, 200: 99})
        wrapper.set_item(7, 3)
        wrapper.set_item(1, 0)
        wrapper.set_item(9, 200, force=True)
        wrapper.remove_item(9, 20)
        wrapper.remove_item(200)
    same_memory(pair)
    assert ours.inventory == theirs.inventory
    for call in (
        lambda: ours.set_money(1_000_000),
        lambda: ours.set_inventory([(1, 1), (1, 2)]),
        lambda: ours.set_inventory({1: 100}),
        lambda: ours.set_inventory({0: 1}),
        lambda: ours.set_inventory(dict.fromkeys(range(1, 22), 1)),
        lambda: ours.set_item(1, -1),
        lambda: ours.remove_item(1),
    ):
        with pytest.raises(PyBoyInvalidInputException):
            call()
    same_memory(pair)


def test_battles_warps_and_story(make_pair: MakePair) -> None:
    pair = make_pair(b"POKEMON RED")
    write(pair, 0xD050, list(random.Random("story").randbytes(0x900)))
    for act in (
        lambda wrapper: wrapper.start_wild_battle(84, 9),
        lambda wrapper: wrapper.start_trainer_battle(26, 2),
        lambda wrapper: wrapper.warp(41),
        lambda wrapper: wrapper.set_event_flag(37),
        lambda wrapper: wrapper.reset_event_flag(70),
        lambda wrapper: wrapper.set_badge("boulder"),
        lambda wrapper: wrapper.reset_badge("earth"),
        lambda wrapper: wrapper.set_badge(3),
    ):
        for pyboy in pair:
            act(pyboy.game_wrapper)
        same_memory(pair)
    ours = pair[1].game_wrapper
    for bad in (
        lambda: ours.start_wild_battle(0, 5),
        lambda: ours.start_trainer_battle(48),
        lambda: ours.warp(256),
        lambda: ours.set_badge("mud"),
        lambda: ours.set_badge(8),
    ):
        with pytest.raises(ValueError, match="is from|one of"):
            bad()
    for call, kind in ((ours.warp, "maps"), (ours.set_event_flag, "events")):
        with pytest.raises(UnavailableError, match=f"no names of its {kind}"):
            call("a_name")


def test_where_one_can_walk(make_pair: MakePair) -> None:
    rng = random.Random("walk")
    pair = make_pair(b"POKEMON RED")
    walkable = 0
    for _ in range(20):
        scramble(pair, rng)
        write(pair, LCDC, [0xE3])
        write(pair, 0xD530, [0x00, 0xC0])  # Where the list is.
        write(pair, 0xC000, [*rng.sample(range(128), rng.randrange(100)), 0xFF])
        write(pair, 0xFFD7, [rng.randrange(2)])
        write(pair, 0xD535, [rng.choice((0xFF, 5))])
        tick(pair)
        theirs, ours = (pyboy.game_area_collision() for pyboy in pair)
        assert ours.dtype == theirs.dtype
        assert ours.tolist() == theirs.tolist()
        walkable += int(ours.sum())
    assert 0 < walkable < 20 * ours.size


# -- Pokemon by name -----------------------------------------------------------------

#: What the game writes otherwise than by the rules in `in_game`, with signs of its own.
SPELLINGS = {
    "POKE_BALL": "POKé BALL",
    "S_S_TICKET": "S.S.TICKET",
    "SURFBOARD": "?????",
    "MR_MIME": "MR.MIME",
    "FARFETCHD": "FARFETCH'D",
    "PSYCHIC_M": "PSYCHIC",
    "FISHER": "FISHERMAN",
    "PSYCHIC_TR": "PSYCHIC",
    "UNUSED_JUGGLER": "JUGGLER",
    **dict.fromkeys(("FOSSIL_KABUTOPS", "FOSSIL_AERODACTYL", "MON_GHOST"), "NOTHING."),
}


def in_game(name: str) -> list[int]:
    text = SPELLINGS.get(name, name)
    for end, sign in (("_M", "♂"), ("_F", "♀")):
        text = text[:-2] + sign if text.endswith(end) else text
    return encode(text.replace("_", " "))


def name_table(names: dict[str, int], count: int, length: int | None = None) -> bytes:
    """What the game's list of these names looks like."""
    listed = {number: name for name, number in names.items()}
    coded = [bytes(in_game(listed.get(number, "NOTHING."))) for number in range(1, count + 1)]
    if length is None:
        return b"".join(name + b"\x50" for name in coded)
    return b"".join(name.ljust(length, b"\x50") for name in coded)


def party_table(counts: list[int], address: int) -> bytes:
    """Pointers to the parties of all classes, and the parties: of both kinds that there are."""
    pointers, parties = b"", b""
    for count in counts:
        pointers += (address + 2 * len(counts) + len(parties)).to_bytes(2, "little")
        parties += b"".join(
            (b"\x05\x01\x02\0", b"\xff\x05\x01\x06\x02\0")[i % 2] for i in range(count)
        )
    return pointers + parties


@pytest.fixture
def tables(both: Pair) -> Any:
    """The module with PyBoy's names."""
    return importlib.import_module(
        f"{both[0].__name__}.plugins.game_wrapper_pokemon_gen1_constants"
    )


@pytest.fixture
def named_pair(make_pair: MakePair, tables: Any) -> Pair:
    """Both classes on a cartridge that has PyBoy's names where the game has its own."""

    def put(image: bytearray) -> None:
        for bank, address, content in (
            (0x07, 0x421E, name_table(tables.POKEMON_SPECIES, 190, 10)),
            (0x2C, 0x4000, name_table(tables.POKEMON_MOVES, 165)),
            (0x01, 0x472B, name_table(tables.ITEMS, 0x53)),
            (0x0E, 0x59FF, name_table(tables.TRAINER_CLASSES, 0x2F)),
            (0x0E, 0x5D3B, party_table(list(tables.TRAINER_SET_COUNTS.values())[1:], 0x5D3B)),
        ):
            start = bank * 0x4000 + address - 0x4000
            image[start : start + len(content)] = content

    return make_pair(b"POKEMON RED", put, cartridge_type=0x19, banks=64)


def outcome(act: Callable[[], object]) -> bool:
    """Whether it is allowed."""
    try:
        act()
    except (ValueError, KeyError):
        return False
    return True


def test_species_by_name(named_pair: Pair, tables: Any) -> None:
    theirs, ours = (pyboy.game_wrapper for pyboy in named_pair)
    for name, number in tables.POKEMON_SPECIES.items():
        for wrapper in (theirs, ours):
            wrapper.start_wild_battle(name.lower(), 9, force=True)
        same_memory(named_pair)
        assert named_pair[1].memory[0xD059] == number
    nameless = {name: value for name, value in MONSTER.items() if name != "nickname"}
    # PyBoy cannot write the name of a fossil.
    for species in {*range(1, 191)} - {0xB6, 0xB7, 0xB8}:
        for wrapper in (theirs, ours):
            wrapper.set_party([{**nameless, "species": species}])
        same_memory(named_pair)
    for wrapper in (theirs, ours):
        wrapper.set_party([])
        wrapper.add_pokemon("nidoran_f", level=7)
    same_memory(named_pair)


def test_moves_items_and_trainers_by_name(named_pair: Pair, tables: Any) -> None:
    theirs, ours = (pyboy.game_wrapper for pyboy in named_pair)
    for name, number in tables.POKEMON_MOVES.items():
        for wrapper in (theirs, ours):
            wrapper.set_party([])
            wrapper.add_pokemon(1, moves=[name])
        same_memory(named_pair)
        assert ours.party[0]["moves"][0] == number
    names = list(tables.ITEMS)
    for start in range(0, len(names), 20):
        bag = dict.fromkeys(names[start : start + 20], 2)
        for wrapper in (theirs, ours):
            wrapper.set_inventory(bag)
            wrapper.set_item(names[start].lower(), 5)
            wrapper.remove_item(names[start])
        same_memory(named_pair)
    allowed = 0
    for name, count in tables.TRAINER_SET_COUNTS.items():
        for trainer_set in (0, 1, count, count + 1):
            results = [
                outcome(lambda: wrapper.start_trainer_battle(name, trainer_set))  # noqa: B023
                for wrapper in (theirs, ours)
            ]
            assert results[0] is results[1], (name, trainer_set)
            same_memory(named_pair)
            allowed += results[1]
    assert allowed > 80


def test_unknown_names(named_pair: Pair) -> None:
    ours = named_pair[1].game_wrapper
    for act in (
        lambda: ours.add_pokemon("TEAPOT"),
        lambda: ours.add_pokemon(1, moves=["POUR"]),
        lambda: ours.set_item("TEA", 1),
        lambda: ours.start_trainer_battle("COOK"),
    ):
        with pytest.raises(ValueError, match="have no name like") as error:
            act()
        assert isinstance(error.value, EmuRustError)
        assert isinstance(error.value, KeyError)
    with pytest.raises(ValueError, match="of class 27 have no party"):
        ours.start_trainer_battle("CHIEF")


def test_signs_of_several_characters() -> None:
    assert decode(bytes([0x54, 0x7F, 0x80, 0xBD, 0x50, 0x81])) == "POKé A's"


def test_tables_of_names_say_where_names_are() -> None:
    module = importlib.import_module("emurust.pyboy.plugins.game_wrapper_pokemon_gen1_constants")
    assert module.BADGES["earth"] == 7
    with pytest.raises(UnavailableError, match="read from the ROM"):
        _ = module.POKEMON_SPECIES
