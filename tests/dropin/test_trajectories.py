"""One script on both classes: the same log."""

from __future__ import annotations

import functools
import io
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emurust import BUTTONS, GameBoy

OPTIONS = {"window": "null", "cgb": False, "log_level": "CRITICAL"}
REGISTERS = ("A", "F", "B", "C", "D", "E", "HL", "SP", "PC")


@functools.cache
def executed(rom: Path) -> list[tuple[int, int]]:
    """Instructions that the game really runs: where a hook changes nothing by itself.

    (In data PyBoy's opcode would be read by the game, which may crash it; PyBoy then
    never returns. Neither does it from a frame that ends on a hooked HALT.) Busy ones are
    left out, for their thousands of calls a frame.
    """
    with GameBoy(rom.read_bytes()) as gameboy:
        counts: Counter[tuple[int, int]] = Counter()
        for frame in range(240):
            if frame % 20 == 0:
                gameboy.button("start" if frame % 40 else "a", 4)
            if frame % 4:
                gameboy.tick(1, False)
                continue
            for moment in gameboy._machine.trace_tick(False):
                pc, bank = moment[1:3]
                if pc < 0x8000:
                    counts[0 if pc < 0x4000 else bank, pc] += 1
        return sorted(
            place
            for place, count in counts.items()
            if count <= 40 and gameboy.memory[place] != 0x76
        )


@functools.cache
def unused(rom: Path) -> int:
    """16 bytes of work RAM that the game leaves alone."""
    with GameBoy(rom.read_bytes()) as gameboy:
        touched = np.zeros(0x2000, dtype=bool)
        for _ in range(100):
            gameboy.button("a", 2)
            gameboy.tick(5, False)
            touched |= gameboy.wram != 0
    free = [at for at in range(0, 0x2000, 16) if not touched[at : at + 16].any()]
    return 0xC000 + free[len(free) // 2]


class Session:
    """A script that uses all of the public API and writes down what it sees.

    Everything is drawn from a generator with the same seed on both sides.
    """

    def __init__(self, package: Any, rom: Path, seed: int, **options: Any) -> None:
        self.package = package
        self.rng = random.Random(seed)
        self.log: list[Any] = []
        self.states: list[bytes] = []
        self.pyboy = package.PyBoy(str(rom), **OPTIONS, **options)
        self.pyboy.set_emulation_speed(0)
        self.spare = unused(rom)
        self.hooked: set[tuple[int, int]] = set()
        self.places = executed(rom)
        self.actions: list[Callable[[], object]] = [
            self.press,
            self.press,
            self.hook,
            self.unhook,
            self.write,
            self.save,
            self.load,
            self.look_at_tiles,
            self.look_at_game_area,
            self.look_at_memory,
            self.cheat,
            self.scan,
        ]

    def run(self, steps: int) -> list[Any]:
        for _ in range(steps):
            if self.rng.random() < 0.5:
                self.rng.choice(self.actions)()
            count = self.rng.choice([0, 1, 1, 2, 7])
            render, sound = self.rng.random() < 0.7, self.rng.random() < 0.5
            self.note("tick", self.pyboy.tick(count, render, sound), self.pyboy.frame_count)
            self.note(self.registers(), self.pyboy._cycles())
            self.note(self.pyboy.screen.ndarray.tobytes())
        self.pyboy.stop(save=False)
        return self.log

    def note(self, *what: Any) -> None:
        self.log.append(what)

    def registers(self) -> tuple[int, ...]:
        return tuple(getattr(self.pyboy.register_file, name) for name in REGISTERS)

    def press(self) -> None:
        button = self.rng.choice(BUTTONS)
        kind = self.rng.randrange(4)
        if kind == 0:
            self.pyboy.button(button, self.rng.randrange(1, 9))
        elif kind == 1:
            self.pyboy.button_press(button)
        elif kind == 2:
            self.pyboy.button_release(button)
        else:
            event = self.rng.randrange(1, 17)
            self.pyboy.send_input(event, self.rng.randrange(0, 5))

    def hook(self) -> None:
        place = self.rng.choice(self.places)
        if place in self.hooked:
            with pytest.raises(ValueError, match="already registered"):
                self.pyboy.hook_register(*place, self.called, place)
            return
        changes = self.rng.random() < 0.2
        self.pyboy.hook_register(*place, self.called, (place, changes))
        self.hooked.add(place)
        self.note("hooked", place, self.pyboy.memory[place])

    def called(self, context: tuple[tuple[int, int], bool]) -> None:
        place, changes = context
        pyboy = self.pyboy
        self.note("hook", place, self.registers(), pyboy._cycles(), pyboy.frame_count)
        self.note(pyboy.memory[place], pyboy.memory[0xFF0F], pyboy.memory[0xFF44])
        if changes:
            # Work RAM that no code looks at decides nothing, but a state holds it.
            pyboy.memory[self.spare] = (pyboy.memory[self.spare] + 1) & 0xFF

    def unhook(self) -> None:
        place = self.rng.choice(self.places)
        if place in self.hooked:
            self.pyboy.hook_deregister(*place)
            self.hooked.remove(place)
        else:
            with pytest.raises(ValueError, match="not found"):
                self.pyboy.hook_deregister(*place)
        self.note("unhooked", place, self.pyboy.memory[place])

    def write(self) -> None:
        memory = self.pyboy.memory
        address = self.rng.choice([0x9800, 0x8010, self.spare + 1, 0xFF43, 0xFF42, 0xFF47])
        memory[address + self.rng.randrange(0, 2)] = self.rng.randrange(256)
        memory[self.spare + 2 : self.spare + 6] = [self.rng.randrange(256) for _ in range(4)]
        memory[self.spare + 6 : self.spare + 9] = 7
        memory[0, 0x013F] = self.rng.randrange(256)
        self.note(memory[self.spare : self.spare + 16], memory[0, 0x0134:0x0150])

    def save(self) -> None:
        file = io.BytesIO()
        self.pyboy.save_state(file)
        self.states.append(file.getvalue())
        self.note("saved", len(file.getvalue()), file.getvalue()[:33])

    def load(self) -> None:
        if self.states:
            state = self.rng.choice(self.states)
            self.pyboy.load_state(io.BytesIO(state))
            self.note("loaded", self.registers())

    def look_at_tiles(self) -> None:
        pyboy = self.pyboy
        background, window = pyboy.tilemap_background, pyboy.tilemap_window
        self.note(background[:, :], window[3:9, 5], window[2, 4:7], background[31, 31])
        self.note(repr(background), background.map_offset)
        self.note(background.search_for_identifiers([0, 1, 40]))
        background.use_tile_objects(True)
        self.note(list(map(str, background[0:4, 2])))
        background.use_tile_objects(False)
        tile = pyboy.get_tile(self.rng.randrange(384))
        self.note(str(tile), tile.data_address, tile.ndarray().tobytes(), tile.shape)
        # The picture itself is black in PyBoy whatever the tile.
        self.note(tile.image().mode, tile.image().size)
        sprites = [pyboy.get_sprite(index) for index in range(40)]
        self.note([str(sprite) for sprite in sprites])
        self.note([(s.attr_x_flip, s.attr_y_flip, s.attr_palette_number) for s in sprites])
        self.note(pyboy.get_sprite_by_tile_identifier([0, 2, 40], on_screen=False))
        self.note(pyboy.get_sprite_by_tile_identifier([0, 2, 40]))

    def look_at_game_area(self) -> None:
        pyboy = self.pyboy
        section = (self.rng.randrange(3), self.rng.randrange(3), 10, 9)
        pyboy.game_area_dimensions(*section, self.rng.random() < 0.5)
        if self.rng.random() < 0.3:
            pyboy.game_area_mapping([n // 2 for n in range(384)], 1000)
        else:
            pyboy.game_area_mapping(None, 0)
        pyboy.game_wrapper.post_tick()
        area = pyboy.game_area()
        self.note(area.tolist(), str(area.dtype), area.shape, pyboy.game_wrapper.shape)
        self.note(repr(pyboy.game_wrapper))

    def look_at_memory(self) -> None:
        pyboy = self.pyboy
        self.note([pyboy.memory[address] for address in range(0xC000, 0xE000, 97)])
        self.note(pyboy.memory[0xFF00:0x10000], pyboy.memory[0x8000:0xA000:32])
        self.note(pyboy.memory[0, 0x8000:0x8020], pyboy.memory[1, 0x4000:0x4010])
        screen = pyboy.screen
        self.note(screen.tilemap_position_list, screen.get_tilemap_position())
        self.note(
            np.asarray(screen.raw_buffer).tobytes(),
            screen.raw_buffer_dims,
            screen.raw_buffer_format,
        )
        self.note(screen.image.tobytes(), screen.image.size)
        self.note(pyboy.rumble.supported, pyboy.rumble.enabled)

    def cheat(self) -> None:
        gameshark = self.pyboy.gameshark
        low, high = (self.spare + 9).to_bytes(2, "little")
        code = f"01{self.rng.choice([0x55, 0xAA]):02X}{low:02X}{high:02X}"
        try:
            gameshark.add(code)
        except Exception as error:
            self.note("cheat", type(error).__name__)
            gameshark.remove(code, self.rng.random() < 0.5)
        self.note(self.pyboy.memory[self.spare + 9])

    def scan(self) -> None:
        scanner = self.pyboy.memory_scanner
        self.note(len(scanner.scan_memory(self.rng.randrange(4), 0xC000, 0xDFFF)))
        self.pyboy.tick(1, False)
        self.note(scanner.rescan_memory())


@pytest.mark.parametrize("sound", [False, True], ids=["silent", "sound"])
@pytest.mark.parametrize("seed", range(3))
def test_the_shipped_cartridge(both: Any, game_file: Path, seed: int, sound: bool) -> None:
    logs = [Session(one, game_file, seed, sound_emulated=sound).run(120) for one in both]
    compare(*logs)


@pytest.mark.parametrize("name", ["2048gb.gb", "tobutobugirl.gb", "dawn-will-come.gb"])
def test_games(both: Any, roms: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    shutil.copy(roms / "homebrew" / name, path)
    compare(*(Session(one, path, 7, sound_emulated=False).run(120) for one in both))


def compare(ours: list[Any], theirs: list[Any]) -> None:
    for index, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        assert one == other, f"entry {index} of the log"
    assert len(ours) == len(theirs)


def test_sound_is_sampled_alike(both: Any, game_file: Path) -> None:
    theirs, ours = (one.PyBoy(str(game_file), **OPTIONS) for one in both)
    for _ in range(200):
        for pyboy in (theirs, ours):
            pyboy.tick(2, False)
        assert np.array_equal(theirs.sound.ndarray, ours.sound.ndarray)
        assert theirs.sound.raw_buffer_head == ours.sound.raw_buffer_head
    assert ours.sound.ndarray.any()
    assert ours.sound.raw_buffer_length == theirs.sound.raw_buffer_length
    for pyboy in (theirs, ours):
        pyboy.stop(save=False)
