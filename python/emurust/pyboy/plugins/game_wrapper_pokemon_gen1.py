"""Pokemon Red and Blue."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from emurust.pyboy.plugins.game_wrapper_pokemon_gen1_constants import BADGES
from emurust.pyboy.plugins.known_game import KnownGame
from emurust.pyboy.plugins.pokemon_names import (
    ITEMS,
    MOVES,
    SPECIES,
    TRAINERS,
    NameTable,
    PokemonNames,
)
from emurust.pyboy.plugins.pokemon_text import TERMINATOR, InvalidPokemonValueError, encode
from emurust.pyboy.utils import (
    InvalidIndexError,
    PyBoyException,
    UnavailableError,
    bcd_to_dec,
    dec_to_bcd,
)

if TYPE_CHECKING:
    from emurust.pyboy.pyboy import PyBoy

__all__ = ["GameWrapperPokemonGen1"]

Monster: TypeAlias = dict[str, Any]

_PARTY_COUNT, _PARTY_SPECIES, _PARTY = 0xD163, 0xD164, 0xD16B
_TRAINER_NAMES, _NICKNAMES, _PLAYER_NAME = 0xD273, 0xD2B5, 0xD158
_PARTY_LENGTH, _NAME_LENGTH, _NO_SPECIES = 6, 11, 0xFF
_LAST_SPECIES, _LAST_LEVEL = 0xBE, 100
_DEFAULT_MOVES, _DEFAULT_PP, _DEFAULT_CATCH_RATE = (0x21, 0, 0, 0), 35, 45

#: A monster of the party: the game's record of 44 bytes. The level is in it twice.
_RECORD = struct.Struct(">B H BBBBB 4s H 3s 5H H 4s B 5H")
_FIELDS = (
    *("species", "hp", "box_level", "status", "type1", "type2", "catch_rate", "moves", "ot_id"),
    *("exp", "hp_exp", "attack_exp", "defense_exp", "speed_exp", "special_exp", "dvs", "pp"),
    *("level", "max_hp", "attack", "defense", "speed", "special"),
)

_MONEY, _MONEY_BYTES, _MOST_MONEY = 0xD347, 3, 999_999
_BAG_COUNT, _BAG = 0xD31D, 0xD31E
_BAG_PLACES, _LAST_ITEM, _MOST_OF_ITEM, _NO_ITEM = 20, 0xFE, 99, 0xFF

_BADGES_OWNED, _EVENTS = 0xD356, 0xD747

_OPPONENT, _OPPONENT_LEVEL, _BATTLE_TYPE, _TRAINER_SET = 0xD059, 0xD127, 0xD05A, 0xD05D
_FIRST_TRAINER = 200
_WARP_MAP, _WARP_NUMBER, _WARP_FLAGS, _WARP_FROM_SCRIPT = 0xFF8B, 0xD42F, 0xD72D, 3

_WALKABLE_TILES, _GRASS_TILE, _TILESET_KIND = 0xD530, 0xD535, 0xFFD7
_LIST_END, _LONGEST_LIST, _FIRST_BACKGROUND_TILE = 0xFF, 0x180, 0x100
_SCREEN = (18, 20)

_NEW_GAME, _CONTINUE, _ARROW = 141, 130, 238
_MENU_FRAMES, _DIALOGUE_STEPS = 8000, 600


class GameWrapperPokemonGen1(KnownGame):
    """Pokemon Red and Blue: the area is the screen, or the window when that covers it.

    Species, moves, items and trainers are given by the game's numbers or by name; names are
    read from the ROM. Maps and events have no names in the game: those that PyBoy takes are a
    disassembly's, and asking by them raises UnavailableError.
    """

    title = "Pokemon Gen 1"
    section = (0, 0, 20, 18)
    follows_scrolling = True

    def __init__(self, pyboy: PyBoy) -> None:
        super().__init__(pyboy)
        self._names = PokemonNames(pyboy)

    def enabled(self) -> bool:
        """It is Red or Blue."""
        return self.pyboy.cartridge_title in ("POKEMON RED", "POKEMON BLUE")

    def post_tick(self) -> None:
        """Looks whether the window covers the screen; called after each `PyBoy.tick`."""
        super().post_tick()
        window_y = self.pyboy.screen._position(0)[3]
        self.use_background(window_y != 0)

    # -- starting --------------------------------------------------------------------

    def start_game(self, timer_div: int | None = None) -> None:
        """Starts a new game, with the names Red and Blue, up to the player's room.

        Raises:
            PyBoyException: there is a saved game, or the menu does not show up.
        """
        tick = self.pyboy.tick
        tick(120, False, False)
        self._find_new_game()
        self.pyboy.button("start")
        tick(100, False, False)
        self._skip_dialogues(15)
        self._choose_first_name(129)  # B
        self._skip_dialogues(6)
        self._choose_first_name(145)  # R
        self._skip_dialogues(8)
        tick(240, False, False)  # The player shrinks.
        super().start_game(timer_div)

    def _find_new_game(self) -> None:
        for _ in range(_MENU_FRAMES):
            entry = self.pyboy.tilemap_window[2, 2]
            if entry == _NEW_GAME:
                return
            if entry == _CONTINUE:
                raise PyBoyException("there is a saved game; start without its .ram file")
            self.pyboy.button("start")
            self.pyboy.tick(10, False, False)
        raise PyBoyException("the game's menu did not show up")

    def _skip_dialogues(self, count: int) -> None:
        for _ in range(count):
            for _ in range(_DIALOGUE_STEPS):
                if self.pyboy.tilemap_window[18, 16] == _ARROW:
                    break
                self.pyboy.tick(10, False, False)
            else:
                raise PyBoyException("the game waits for something other than a dialogue")
            self.pyboy.button("a")
            self.pyboy.tick(60, False, False)

    def _choose_first_name(self, initial: int) -> None:
        if self.pyboy.tilemap_window[2, 4] != initial:
            raise PyBoyException("the game does not ask for a name where it should")
        for button in ("down", "a"):
            self.pyboy.button(button)
            self.pyboy.tick(10, False, False)

    # -- memory ----------------------------------------------------------------------

    def _read(self, address: int, length: int) -> bytes:
        return bytes(self.pyboy.memory[address : address + length]) if length else b""

    def _write(self, address: int, content: Iterable[int]) -> None:
        values = list(content)
        self.pyboy.memory[address : address + len(values)] = values

    def _number(self, table: NameTable, value: int | str) -> int:
        return self._names.number(table, value) if isinstance(value, str) else _whole(value)

    def _read_name(self, address: int) -> tuple[int, ...]:
        return tuple(self._read(address, _NAME_LENGTH - 1).partition(bytes([TERMINATOR]))[0])

    def _write_name(self, address: int, name: str | Iterable[int]) -> None:
        content = encode(name.upper()) if isinstance(name, str) else list(name)
        if len(content) > _NAME_LENGTH:
            raise InvalidPokemonValueError(f"a name has at most {_NAME_LENGTH - 1} characters")
        self._write(address, content + [TERMINATOR] * (_NAME_LENGTH - len(content)))

    # -- party -----------------------------------------------------------------------

    @property
    def party(self) -> list[Monster]:
        """The party's monsters as dictionaries of the game's numbers; names are its bytes.

        Raises:
            ValueError: the game has not set up a party yet.
        """
        count = self.pyboy.memory[_PARTY_COUNT]
        if count > _PARTY_LENGTH:
            raise InvalidPokemonValueError(
                f"a party of {count} is none; the game is not that far yet"
            )
        return [self._read_monster(place) for place in range(count)]

    @party.setter
    def party(self, party: Iterable[Monster]) -> None:
        self.set_party(party)

    def _read_monster(self, place: int) -> Monster:
        record = self._read(_PARTY + place * _RECORD.size, _RECORD.size)
        monster: Monster = dict(zip(_FIELDS, _RECORD.unpack(record), strict=True))
        del monster["box_level"]
        monster["exp"] = int.from_bytes(monster["exp"], "big")
        for name in ("moves", "pp"):
            monster[name] = tuple(monster[name])
        monster["ot_name"] = self._read_name(_TRAINER_NAMES + place * _NAME_LENGTH)
        monster["nickname"] = self._read_name(_NICKNAMES + place * _NAME_LENGTH)
        return monster

    def set_party(self, party: Iterable[Monster]) -> None:
        """Replaces the party.

        Each monster needs species (a number), level, hp, max_hp, attack, defense, speed and
        special; without a nickname it is called as its species. Nothing is written if one of
        them is wrong.

        Raises:
            ValueError: it is too large, or the game cannot have a number or name.
            UnavailableError: a nickname is missing, and the ROM has no names where the
                English Red and Blue have them.
        """
        monsters = list(party)
        if len(monsters) > _PARTY_LENGTH:
            raise InvalidPokemonValueError(f"a party has at most {_PARTY_LENGTH} monsters")
        records = [_pack(monster) for monster in monsters]
        species = [monster["species"] for monster in monsters]
        trainers = [monster.get("ot_name", self._read_name(_PLAYER_NAME)) for monster in monsters]
        nicknames = [
            monster["nickname"] if "nickname" in monster else self._names.nickname(number)
            for monster, number in zip(monsters, species, strict=True)
        ]

        free = _PARTY_LENGTH - len(monsters)
        self._write(_PARTY_COUNT, [len(monsters)])
        self._write(_PARTY_SPECIES, [*species, *[_NO_SPECIES] * (free + 1)])
        self._write(_PARTY, b"".join(records) + bytes(free * _RECORD.size))
        for start, names in ((_TRAINER_NAMES, trainers), (_NICKNAMES, nicknames)):
            for place, name in enumerate([*names, *[()] * free]):
                self._write_name(start + place * _NAME_LENGTH, name)

    def add_pokemon(
        self,
        species: int | str,
        level: int = 2,
        moves: Sequence[int | str] | None = None,
        **kwargs: Any,
    ) -> None:
        """Adds a monster that can fight, with middling numbers where none are given.

        Args:
            species: the game's internal number, or a name.
            level: 1 to 100.
            moves: at most four numbers or names.
            kwargs: further entries, as in `party`, and `stats`, a dictionary of some.

        Raises:
            ValueError: the party is full, or a number or name is wrong.
            UnavailableError: the ROM has no names where the English Red and Blue have them.
        """
        party = self.party
        if len(party) == _PARTY_LENGTH:
            raise InvalidPokemonValueError("the party is full")
        species = self._number(SPECIES, species)
        numbers = [self._number(MOVES, move) for move in moves or ()]
        if len(numbers) > 4:
            raise InvalidPokemonValueError("a monster has at most four moves")
        numbers += [0] * (4 - len(numbers))
        max_hp = kwargs.pop("max_hp", 2 * level + 10)
        stats = dict.fromkeys(("attack", "defense", "speed", "special"), level + 5)
        stats.update(kwargs.pop("stats", {}))
        monster = {"species": species, "level": level, "hp": max_hp, "max_hp": max_hp}
        self.set_party([*party, {**monster, "moves": tuple(numbers), **stats, **kwargs}])

    def remove_pokemon(self, index: int) -> None:
        """Takes a monster out of the party.

        Raises:
            IndexError: there is none at this place.
        """
        party = self.party
        if not 0 <= index < len(party):
            raise InvalidIndexError(f"there is no monster {index} in a party of {len(party)}")
        del party[index]
        self.set_party(party)

    # -- money and bag ---------------------------------------------------------------

    @property
    def money(self) -> int:
        """The player's money, 0 to 999999.

        As in PyBoy, the byte of the two highest digits counts as the lowest one, and the
        other way round: right for 3000, wrong for 123456.
        """
        value = int.from_bytes(self._read(_MONEY, _MONEY_BYTES), "big")
        return bcd_to_dec(value, byte_width=_MONEY_BYTES, byteorder="big")

    def set_money(self, amount: int) -> None:
        """Sets what `money` reads, with its bytes the wrong way round as there.

        Raises:
            ValueError: it is not from 0 to 999999.
        """
        if not isinstance(amount, int) or not 0 <= amount <= _MOST_MONEY:
            raise InvalidPokemonValueError(f"money is from 0 to {_MOST_MONEY}, not {amount!r}")
        value = dec_to_bcd(amount, byte_width=_MONEY_BYTES, byteorder="big")
        self._write(_MONEY, value.to_bytes(_MONEY_BYTES, "big"))

    @property
    def inventory(self) -> list[dict[str, int]]:
        """What is in the bag: dictionaries of item and quantity."""
        count = self.pyboy.memory[_BAG_COUNT]
        if count > _BAG_PLACES:
            raise InvalidPokemonValueError(f"a bag of {count} is none; the game is not that far")
        content = self._read(_BAG, 2 * count)
        return [
            {"item": item, "quantity": quantity}
            for item, quantity in zip(content[::2], content[1::2], strict=True)
        ]

    def set_inventory(
        self,
        inventory: Mapping[int | str, int] | Iterable[tuple[int | str, int]],
        force: bool = False,
    ) -> None:
        """Replaces what is in the bag by items and quantities.

        Args:
            inventory: numbers or names of items, and 0 to 99 of each.
            force: up to 255 of each.

        Raises:
            ValueError: a number or name is wrong, comes twice, or there are more than 20.
            UnavailableError: the ROM has no names where the English Red and Blue have them.
        """
        given = inventory.items() if isinstance(inventory, Mapping) else inventory
        pairs = [(self._item(item), _quantity(quantity, force)) for item, quantity in given]
        if len({item for item, _ in pairs}) < len(pairs):
            raise InvalidPokemonValueError("an item comes twice")
        if len(pairs) > _BAG_PLACES:
            raise InvalidPokemonValueError(f"a bag has at most {_BAG_PLACES} kinds of items")
        self._write(_BAG_COUNT, [len(pairs)])
        pairs += [(_NO_ITEM, 0)] * (_BAG_PLACES - len(pairs))
        self._write(_BAG, [byte for pair in pairs for byte in pair])

    def _quantities(self) -> dict[int | str, int]:
        return {entry["item"]: entry["quantity"] for entry in self.inventory}

    def _item(self, item: int | str) -> int:
        item = self._number(ITEMS, item)
        _check_range(item, 1, _LAST_ITEM, "an item")
        return item

    def set_item(self, item: int | str, quantity: int, force: bool = False) -> None:
        """Sets how many of an item are in the bag; with 0 it is taken out."""
        quantities = self._quantities()
        item = self._item(item)
        quantities[item] = _quantity(quantity, force)
        if not quantity:
            del quantities[item]
        # What is there already may have been forced.
        self.set_inventory(quantities, force=True)

    def remove_item(self, item: int | str, quantity: int = 1) -> None:
        """Takes some of an item out of the bag.

        Raises:
            ValueError: there are not as many.
        """
        item = self._item(item)
        there = self._quantities().get(item, 0)
        if not isinstance(quantity, int) or not 1 <= quantity <= there:
            raise InvalidPokemonValueError(
                f"cannot take {quantity!r} of {there} pieces of item {item}"
            )
        self.set_item(item, there - quantity, force=True)

    # -- battles, places, story ------------------------------------------------------

    def start_wild_battle(self, species: int | str, level: int, force: bool = False) -> None:
        """Has a battle against a wild monster begin with the next frame.

        Raises:
            ValueError: the game has no such name, or, unless `force`, species or level.
            UnavailableError: the ROM has no names where the English Red and Blue have them.
        """
        species = self._number(SPECIES, species)
        if not force:
            _check_species_and_level(species, level)
        self._schedule_battle(species)
        self.pyboy.memory[_OPPONENT_LEVEL] = level

    def start_trainer_battle(
        self, trainer_class: int | str, trainer_set: int = 1, force: bool = False
    ) -> None:
        """Has a battle against a trainer begin with the next frame.

        Raises:
            ValueError: the game has no such name, or, unless `force`, class or set. (A ROM
                that has other code than the English Red and Blue does not tell the sets.)
            UnavailableError: the ROM has no names where the English Red and Blue have them.
        """
        trainer_class = self._number(TRAINERS, trainer_class)
        if not force:
            _check_range(trainer_class, 1, TRAINERS.count, "a trainer class")
            sets = self._names.parties(trainer_class)
            if sets == 0:
                raise InvalidPokemonValueError(f"trainers of class {trainer_class} have no party")
            _check_range(trainer_set, 1, 0xFF if sets is None else sets, "a trainer's set")
        self._schedule_battle(_FIRST_TRAINER + trainer_class)
        self.pyboy.memory[_TRAINER_SET] = trainer_set

    def _schedule_battle(self, opponent: int) -> None:
        self.pyboy.memory[_OPPONENT] = opponent
        self.pyboy.memory[_BATTLE_TYPE] = 0

    def warp(self, destination: int) -> None:
        """Has the game go to a map, by its number, with the next frame.

        Raises:
            ValueError: it is no byte.
            UnavailableError: it is given by name.
        """
        destination = _nameless(destination, "maps")
        _check_range(destination, 0, 0xFF, "a map")
        self.pyboy.memory[_WARP_MAP] = destination
        self.pyboy.memory[_WARP_NUMBER] = 0
        self._set_bit(_WARP_FLAGS, _WARP_FROM_SCRIPT, True)

    def _set_bit(self, address: int, bit: int, on: bool) -> None:
        address, bit = address + bit // 8, 1 << bit % 8
        byte = self.pyboy.memory[address]
        self.pyboy.memory[address] = byte | bit if on else byte & ~bit

    def set_event_flag(self, event: int) -> None:
        """Notes that something happened in the story, by the event's number."""
        self._set_bit(_EVENTS, _nameless(event, "events"), True)

    def reset_event_flag(self, event: int) -> None:
        """Notes that something did not happen in the story, by the event's number."""
        self._set_bit(_EVENTS, _nameless(event, "events"), False)

    def set_badge(self, badge: str | int) -> None:
        """Gives a badge, by name ("boulder" to "earth") or number (0 to 7).

        Raises:
            ValueError: there is no such badge.
        """
        self._set_bit(_BADGES_OWNED, _badge(badge), True)

    def reset_badge(self, badge: str | int) -> None:
        """Takes a badge away; see `set_badge`."""
        self._set_bit(_BADGES_OWNED, _badge(badge), False)

    # -- where one can go ------------------------------------------------------------

    def game_area_collision(self) -> npt.NDArray[np.uint32]:
        """1 where one can walk, 0 elsewhere: shape (height, width), uint32.

        The game decides by the lower left tile of each step of two by two tiles.
        """
        (scx, scy), _ = self.pyboy.screen.get_tilemap_position()
        tilemap = self.pyboy.tilemap_background._identifiers()
        height, width = _SCREEN
        # Rounded up, as PyBoy does, between two tiles.
        screen = np.roll(tilemap, (-scy // 8, -scx // 8), (0, 1))[:height, :width]
        walkable = self._walkable_tiles()[screen[1::2, ::2]]
        _, _, width, height = self.game_area_section
        steps = walkable[: height // 2, : width // 2].astype(np.uint32)
        return steps.repeat(2, axis=0).repeat(2, axis=1)

    def _walkable_tiles(self) -> npt.NDArray[np.bool_]:
        """By the number of a tile, whether one can walk on it."""
        memory = self.pyboy.memory
        start = memory[_WALKABLE_TILES] + (memory[_WALKABLE_TILES + 1] << 8)
        content = self.pyboy._machine.peek_block(start, _LONGEST_LIST)
        tiles = list(content.partition(bytes([_LIST_END]))[0])
        if memory[_TILESET_KIND] > 0 and memory[_GRASS_TILE] != _LIST_END:
            tiles.append(memory[_GRASS_TILE])
        walkable = np.zeros(2 * _FIRST_BACKGROUND_TILE, dtype=np.bool_)
        walkable[np.array(tiles, dtype=np.intp) + _FIRST_BACKGROUND_TILE] = True
        return walkable


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise InvalidPokemonValueError(f"the game's numbers are whole, not {value!r}")
    return value


def _nameless(value: Any, kind: str) -> int:
    if isinstance(value, str):
        raise UnavailableError(
            f"the game has no names of its {kind}, from which EmuRust could read {value!r}: PyBoy "
            "has them from a disassembly (pokered); give the number instead"
        )
    return _whole(value)


def _check_range(value: Any, first: int, last: int, what: str) -> None:
    if not isinstance(value, int) or not first <= value <= last:
        raise InvalidPokemonValueError(f"{what} is from {first} to {last}, not {value!r}")


def _check_species_and_level(species: Any, level: Any) -> None:
    _check_range(species, 1, _LAST_SPECIES, "a species")
    _check_range(level, 1, _LAST_LEVEL, "a level")


def _quantity(quantity: Any, force: bool) -> int:
    _check_range(quantity, 0, 0xFF if force else _MOST_OF_ITEM, "a quantity")
    return int(quantity)


def _badge(badge: Any) -> int:
    if isinstance(badge, str) and badge not in BADGES:
        raise InvalidPokemonValueError(f"a badge is one of {', '.join(BADGES)}, not {badge!r}")
    number = BADGES.get(badge, badge)
    _check_range(number, 0, len(BADGES) - 1, "a badge")
    return int(number)


def _pack(monster: Monster) -> bytes:
    """The game's record of a monster, with what it does not say filled in."""
    level = monster["level"]
    _check_species_and_level(monster["species"], level)
    moves = tuple(monster.get("moves", _DEFAULT_MOVES))
    pp = tuple(monster.get("pp", (_DEFAULT_PP if move else 0 for move in moves)))
    if len(moves) != 4 or len(pp) != 4:
        raise InvalidPokemonValueError("moves and pp have four numbers each")
    filled = {
        **dict.fromkeys(_FIELDS[:-5], 0),
        "catch_rate": _DEFAULT_CATCH_RATE,
        "dvs": 0xFFFF,
        "exp": level**3,
        **monster,
        "box_level": level,
    }
    try:
        filled.update(moves=bytes(moves), pp=bytes(pp), exp=filled["exp"].to_bytes(3, "big"))
        return _RECORD.pack(*(filled[name] for name in _FIELDS))
    except (struct.error, ValueError, OverflowError, TypeError) as error:
        raise InvalidPokemonValueError(f"a number of the monster is too large: {error}") from error
