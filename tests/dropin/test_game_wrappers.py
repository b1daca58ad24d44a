"""Wrappers of single games, on cartridges that have those games' titles and nothing else.

The games' ROMs are not needed: wrappers read memory, and tests write it, in both classes.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from emurust.errors import EmuRustError
from emurust.pyboy import PyBoy
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
    b"POKEMON RED": ("money",),
    b"POKEMON BLUE": ("money",),
}
#: Digits of numbers for which PyBoy's 32 bits would not do if they were any bytes.
DIGITS = {b"DMGTRIS": ((0xFF90, 4), (0xFFB8, 8))}
NOT_WRAPPED = [b"POKEPINBALLVPH", b"MARIO DELUXAHY", b"2048"]
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

LCDC, SCY, SCX, WY, WX = 0xFF40, 0xFF42, 0xFF43, 0xFF4A, 0xFF4B
#: Tiles below 128 are numbered 256 more without bit 4.
LCDC_LOW_TILES, LCDC_HIGH_TILES = 0xF3, 0xE3


@pytest.fixture
def make_pair(both: Pair, build_rom: Callable[..., bytes]) -> Iterator[MakePair]:
    """Makes PyBoy's and our class run a cartridge of a title that does nothing."""
    made = []

    def make(title: bytes, **options: Any) -> Pair:
        image = build_rom(title=title, **options)
        pair = []
        for package in both:
            pyboy = package.PyBoy(
                io.BytesIO(image),
                window="null",
                cgb=False,
                sound_emulated=False,
                log_level="CRITICAL",
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
    assert {name for name in public(theirs) if not hasattr(ours, name)} == set()


@pytest.mark.parametrize("title", GAMES)
def test_values_and_areas(make_pair: MakePair, title: bytes) -> None:
    rng = random.Random(f"values of {title!r}")
    pair = make_pair(title)
    same(pair, GAMES[title])
    for _ in range(12):
        scramble(pair, rng)
        for start, length in DIGITS.get(title, ()):
            write(pair, start, [rng.randrange(10) for _ in range(length)])
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


SCREENS: dict[bytes, Callable[[Pair], None]] = {
    b"TETRIS": show_tetris,
    b"SUPER MARIOLAND": show_mario,
    b"KIRBY DREAM LAN": show_kirby,
    b"DMGTRIS": show_pandora,
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


@pytest.mark.parametrize("title", [b"SUPER MARIOLAND", b"KIRBY DREAM LAN"])
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


@pytest.mark.parametrize("title", NOT_WRAPPED)
def test_games_without_a_wrapper_say_so(build_rom: Callable[..., bytes], title: bytes) -> None:
    image = io.BytesIO(build_rom(title=title))
    with PyBoy(image, window="null", cgb=False, sound_emulated=False) as pyboy:
        pyboy.tick()
        assert pyboy.game_area().shape == (32, 32)
        for name in ("start_game", "reset_game", "game_over"):
            with pytest.raises(UnavailableError, match=f"no game_wrapper.{name} for"):
                getattr(pyboy.game_wrapper, name)()
        with pytest.raises(UnavailableError, match="no game_wrapper.score for"):
            _ = pyboy.game_wrapper.score
        with pytest.raises(UnavailableError):
            pyboy.game_area_collision()


# -- Pokemon -------------------------------------------------------------------------

WINDOW = 0x9C00
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
    with pytest.raises(UnavailableError, match="give a nickname"):
        wrapper.set_party([nameless])
    with pytest.raises(UnavailableError, match="give the number"):
        wrapper.add_pokemon("PIKACHU")
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
    with pytest.raises(UnavailableError, match="items"):
        ours.set_item("POTION", 1)
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
    with pytest.raises(UnavailableError, match="maps"):
        ours.warp("viridian_pokecenter")


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
