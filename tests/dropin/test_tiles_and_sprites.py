"""Tile maps and sprites on random video memory: both classes say the same."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

LCDC, LCDC_VALUES = 0xFF40, (0x91, 0x81, 0xF3, 0xE7, 0xCF, 0x00)


@pytest.fixture
def pair(
    both: tuple[Any, Any], build_rom: Callable[..., bytes]
) -> Iterator[tuple[random.Random, Any, Any]]:
    """PyBoy's and our class, running nothing, with the same random memory."""
    rng = random.Random("tiles and sprites")
    image = build_rom()
    made = [
        package.PyBoy(
            io.BytesIO(image), window="null", cgb=False, sound_emulated=False, log_level="CRITICAL"
        )
        for package in both
    ]
    contents = [(0x9800, rng.randbytes(0x800)), (0xFE00, rng.randbytes(0xA0))]
    for pyboy in made:
        pyboy.tick(70, False)
        for start, content in contents:
            pyboy.memory[start : start + len(content)] = list(content)
    yield rng, *made
    for pyboy in made:
        pyboy.stop(save=False)


def place(rng: random.Random) -> int | slice:
    if rng.random() < 0.3:
        return rng.randrange(32)
    start = rng.randrange(32)
    stop = rng.randrange(start + 1, 33)
    return rng.choice((slice(start, stop), slice(start, stop, rng.randrange(1, 4)), slice(None)))


def test_parts_of_tile_maps(pair: tuple[random.Random, Any, Any]) -> None:
    rng, theirs, ours = pair
    for step in range(300):
        if step % 30 == 0:
            for pyboy in (theirs, ours):
                pyboy.memory[LCDC] = LCDC_VALUES[step // 30 % len(LCDC_VALUES)]
        for name in ("tilemap_background", "tilemap_window"):
            there, here = (getattr(pyboy, name) for pyboy in (theirs, ours))
            part = (place(rng), place(rng))
            assert here[part] == there[part], (name, part)
            column, row = rng.randrange(32), rng.randrange(32)
            assert here.tile_identifier(column, row) == there.tile_identifier(column, row)
            length = rng.randrange(1, 33 - column)
            assert here._row(column, row, length) == here[column : column + length, row]
            assert (
                here._area(*(slice(start, 32) for start in (column, row))).tolist()
                == (here[column:32, row:32])
            )
        assert ours.screen.tilemap_position_list == theirs.screen.tilemap_position_list
        line = rng.randrange(144)
        assert ours.screen._position(line) == theirs.screen.tilemap_position_list[line]


def test_sprites(pair: tuple[random.Random, Any, Any]) -> None:
    rng, theirs, ours = pair
    seen = 0
    for _ in range(12):
        content = list(rng.randbytes(0xA0))
        for pyboy in (theirs, ours):
            pyboy.memory[LCDC] = (
                rng.choice((0x91, 0x95)) if pyboy is theirs else theirs.memory[LCDC]
            )
            pyboy.memory[0xFE00:0xFEA0] = content
            pyboy.game_wrapper.post_tick()
        there, here = (
            [str(pyboy.get_sprite(index)) for index in range(40)] for pyboy in (theirs, ours)
        )
        assert here == there
        on_screen = ours.game_wrapper._sprites_on_screen()
        assert list(map(str, on_screen)) == [text for text in there if "On screen: True" in text]
        assert ours.game_area().tolist() == theirs.game_area().tolist()
        numbers = rng.sample(range(256), 20)
        for flag in (True, False):
            assert ours.get_sprite_by_tile_identifier(
                numbers, on_screen=flag
            ) == theirs.get_sprite_by_tile_identifier(numbers, on_screen=flag)
        seen += len(on_screen)
    assert seen > 50


def test_blocks_are_what_peek_says(pair: tuple[random.Random, Any, Any]) -> None:
    machine = pair[2]._machine
    for address, length in ((0x9800, 1024), (0xFFF0, 0x20), (0, 3), (5, 0)):
        single = [machine.peek((address + offset) & 0xFFFF) for offset in range(length)]
        assert list(machine.peek_block(address, length)) == single
