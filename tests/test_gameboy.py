"""`GameBoy`: what it does by itself. `test_gameboy_like_pyboy` compares it with PyBoy."""

from __future__ import annotations

import copy
import gc
import io
import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import emurust
from emurust import GameBoy

if TYPE_CHECKING:
    from conftest import RomBuilder

FRAME_CYCLES = 70_224
JOYPAD_LOG = slice(0xC000, 0xC040)


@pytest.fixture
def gameboy(joypad_rom: bytes) -> GameBoy:
    return GameBoy(joypad_rom)


def test_rom_from_every_source(joypad_rom: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.gb"
    path.write_bytes(joypad_rom)
    sources = [
        path,
        str(path),
        joypad_rom,
        bytearray(joypad_rom),
        memoryview(joypad_rom),
        io.BytesIO(joypad_rom),
        emurust.load_rom(path),
    ]
    states = []
    for source in sources:
        gameboy = GameBoy(source)
        gameboy.tick(30)
        assert gameboy.cartridge_title == "TEST"
        states.append(gameboy.get_state())
    assert len(set(states)) == 1


def test_none_runs_the_shipped_cartridge() -> None:
    with GameBoy() as gameboy:
        assert gameboy.rom.image() == emurust.shipped_cartridge().read_bytes()
        assert gameboy.tick(60)


def test_starts_where_the_boot_rom_hands_over(joypad_rom: bytes) -> None:
    gameboy = GameBoy(joypad_rom)
    registers = gameboy.register_file
    assert (registers.PC, registers.SP) == (0x0100, 0xFFFE)
    assert gameboy.frame_count == 0
    assert gameboy.cycles > 60 * FRAME_CYCLES
    assert not gameboy.vram.any()


def test_tick_counts_frames_and_cycles(gameboy: GameBoy) -> None:
    gameboy.tick()
    before = gameboy.cycles
    assert gameboy.tick(10) is True
    assert gameboy.frame_count == 11
    # A frame ends at the end of the instruction that reaches it.
    assert abs(gameboy.cycles - before - 10 * FRAME_CYCLES) < 24
    assert gameboy.tick(np.int64(2)) is True
    assert gameboy.frame_count == 13


def test_only_the_last_frame_is_drawn(build_rom: RomBuilder) -> None:
    # Inverts BGP in every frame: the picture tells which frame was drawn last.
    code = bytes.fromhex("F0 44 FE 90 20 FA F0 47 2F E0 47 F0 44 FE 90 28 FA 18 EB")
    gameboy = GameBoy(build_rom(code))
    gameboy.tick(3, True)
    picture = gameboy.screen.shades.copy()
    assert len(np.unique(picture)) == 1
    gameboy.tick(5, False)
    assert np.array_equal(gameboy.screen.shades, picture)
    gameboy.tick(4, True)
    assert (gameboy.screen.shades == 3 - picture).all()


class TestViews:
    def test_shapes(self, gameboy: GameBoy) -> None:
        gameboy.tick(2)
        shapes = {
            "wram": (0x2000,),
            "vram": (0x2000,),
            "oam": (0xA0,),
            "hram": (0x7F,),
            "cart_ram": (4 * 0x2000,),
        }
        for name, shape in shapes.items():
            view = getattr(gameboy, name)
            assert (view.shape, view.dtype) == (shape, np.uint8), name
            assert not view.flags.writeable
        assert gameboy.screen.shades.shape == (144, 160)
        assert gameboy.screen.ndarray.shape == (144, 160, 4)
        assert gameboy.screen.ndarray.dtype == np.uint8
        assert gameboy.screen.ndarray.flags.c_contiguous
        assert len(gameboy.screen.raw_buffer) == 144 * 160 * 4

    def test_show_what_memory_holds(self, gameboy: GameBoy) -> None:
        gameboy.tick(20)
        for name, start, end in (
            ("wram", 0xC000, 0xE000),
            ("vram", 0x8000, 0xA000),
            ("oam", 0xFE00, 0xFEA0),
            ("hram", 0xFF80, 0xFFFF),
        ):
            assert getattr(gameboy, name).tolist() == gameboy.memory[start:end], name
        for bank in range(4):
            gameboy.memory[bank, 0xA000 + bank] = 0x40 + bank
        banks = gameboy.cart_ram.reshape(4, 0x2000)
        assert [banks[bank, bank] for bank in range(4)] == [0x40, 0x41, 0x42, 0x43]

    def test_are_live_without_being_fetched_again(self, gameboy: GameBoy) -> None:
        wram, cart_ram, hram = gameboy.wram, gameboy.cart_ram, gameboy.hram
        log = wram[:64]
        assert not log.any()
        gameboy.tick(12)
        assert log[:20].all()
        gameboy.memory[0xC100] = 7
        assert wram[0x100] == 7
        gameboy.memory[0, 0xC101] = 8
        assert wram[0x101] == 8
        gameboy.memory[2, 0xA000] = 9
        assert cart_ram[2 * 0x2000] == 9
        gameboy.memory[0xFF80] = 10
        assert hram[0] == 10
        state = gameboy.get_state()
        gameboy.tick(12)
        assert log[22:40].all()
        gameboy.set_state(state)
        assert not log[22:40].any()

    def test_screen_is_live(self) -> None:
        gameboy = GameBoy()
        shades, colours = gameboy.screen.shades, gameboy.screen.ndarray
        gameboy.tick(400)
        assert len(np.unique(shades)) > 1
        red = np.array([255, 153, 85, 0, 0], dtype=np.uint8)
        for channel in range(3):
            assert np.array_equal(colours[:, :, channel], red[shades])
        assert (colours[:, :, 3] == 255).all()

    def test_of_the_screen_before_anything_is_drawn(self, joypad_rom: bytes) -> None:
        gameboy = GameBoy(joypad_rom, bootrom=bytes(256))
        assert (gameboy.screen.shades == 4).all()
        assert not gameboy.screen.ndarray.any()

    def test_come_back_after_nobody_held_one(self, gameboy: GameBoy) -> None:
        first = gameboy.wram
        del first
        gc.collect()
        gameboy.tick(12)
        assert gameboy.wram[:20].all()

    def test_share_memory(self, gameboy: GameBoy) -> None:
        assert np.shares_memory(gameboy.wram, gameboy.wram)

    def test_cannot_be_made_writeable(self, gameboy: GameBoy) -> None:
        view = gameboy.wram
        with pytest.raises(ValueError, match="WRITEABLE|read-only"):
            view.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            view[0] = 1

    def test_drawing_into_the_screen_changes_no_machine(self, gameboy: GameBoy) -> None:
        state = gameboy.get_state()
        gameboy.screen.ndarray[:] = 77
        assert gameboy.get_state() == state

    def test_outlive_the_machine(self, gameboy: GameBoy) -> None:
        gameboy.tick(10)
        view, expected = gameboy.wram, gameboy.wram.copy()
        gameboy.stop(save=False)
        del gameboy
        gc.collect()
        assert np.array_equal(view, expected)

    def test_of_a_fork_are_its_own(self, gameboy: GameBoy) -> None:
        view = gameboy.wram
        fork = gameboy.fork()
        fork.tick(12)
        assert fork.wram[:20].all()
        assert not view.any()


class TestMemory:
    def test_single_and_slice(self, gameboy: GameBoy) -> None:
        gameboy.memory[0xC100:0xC104] = [1, 2, 3, 4]
        assert gameboy.memory[0xC102] == 3
        assert gameboy.memory[0xC100:0xC104] == [1, 2, 3, 4]
        assert gameboy.memory[0xC100:0xC104:2] == [1, 3]
        assert gameboy.memory[0xC100:0xC103:2] == [1, 3]
        gameboy.memory[0xC100:0xC104:2] = 9
        assert gameboy.memory[0xC100:0xC104] == [9, 2, 9, 4]
        assert gameboy.memory[np.uint16(0xC101)] == 2
        gameboy.memory[0xC100:0xC102] = np.array([5, 6], dtype=np.uint8)
        gameboy.memory[0xC102:0xC104] = b"\x07\x08"
        assert gameboy.memory[0xC100:0xC104] == [5, 6, 7, 8]
        assert len(gameboy.memory[0:0x10000]) == 0x10000

    def test_echo_ram(self, gameboy: GameBoy) -> None:
        gameboy.memory[0xC123] = 0x5A
        assert gameboy.memory[0xE123] == 0x5A

    def test_rom_banks(self, gameboy: GameBoy) -> None:
        # Each bank has its number at offset 0x3000.
        assert [gameboy.memory[bank, 0x3000] for bank in range(4)] == [0, 1, 2, 3]
        assert [gameboy.memory[bank, 0x7000] for bank in range(4)] == [0, 1, 2, 3]
        assert gameboy.memory[2, 0x6FFF:0x7002] == [0, 2, 0]
        assert len(gameboy.memory[3, 0x0000:0x4000]) == 0x4000
        assert gameboy.memory[0x7000] == 1
        gameboy.memory[0x2000] = 3
        assert gameboy.memory[0x7000] == 3

    def test_cartridge_ram_banks(self, gameboy: GameBoy) -> None:
        for bank in range(4):
            gameboy.memory[bank, 0xA000:0xA002] = [bank, 0xFF]
        assert [gameboy.memory[bank, 0xA000] for bank in range(4)] == [0, 1, 2, 3]
        assert gameboy.memory[0xA001] == 0xFF  # RAM is not enabled: open bus
        gameboy.memory[0x0000] = 0x0A
        gameboy.memory[0x4000] = 2
        assert gameboy.memory[0xA000] == 2

    def test_work_ram_banks(self, gameboy: GameBoy) -> None:
        gameboy.memory[0xC010] = 1
        gameboy.memory[0xD010] = 2
        assert gameboy.memory[0, 0xC010] == 1
        assert gameboy.memory[1, 0xD010] == 2
        # As in PyBoy: bank 0 is what lies at 0xC000.
        assert gameboy.memory[0, 0xD010] == 1

    def test_video_ram_bank(self, gameboy: GameBoy) -> None:
        gameboy.memory[0, 0x8010:0x8012] = [1, 2]
        assert gameboy.memory[0x8010:0x8012] == [1, 2]

    def test_boot_rom_bank(self, joypad_rom: bytes) -> None:
        boot_rom = bytes(range(256))
        gameboy = GameBoy(joypad_rom, bootrom=boot_rom)
        assert gameboy.memory[-1, 0x42] == 0x42
        assert gameboy.memory[-1, 0x00:0x100] == list(boot_rom)

    def test_rom_can_be_overridden(self, joypad_rom: bytes) -> None:
        gameboy, other = GameBoy(joypad_rom), GameBoy(joypad_rom)
        gameboy.memory[0, 0x0200] = 0x12
        gameboy.memory[2, 0x4000:0x4003] = [1, 2, 3]
        gameboy.memory[3, 0x4000:0x4004:2] = 7
        assert gameboy.memory[0x0200] == 0x12
        assert gameboy.memory[2, 0x4000:0x4003] == [1, 2, 3]
        assert gameboy.memory[3, 0x4000:0x4004] == [7, 0, 7, 0]
        gameboy.memory[0x2000] = 2
        assert gameboy.memory[0x4000:0x4003] == [1, 2, 3]
        assert other.memory[0x0200] == 0
        assert gameboy.rom.image() == joypad_rom
        # The program itself: two NOPs instead of the loop's jump run into what follows.
        gameboy.memory[0, 0x016D:0x016F] = 0
        gameboy.tick(2)
        other.tick(2)
        assert gameboy.register_file.PC != other.register_file.PC

    def test_is_not_iterable(self, gameboy: GameBoy) -> None:
        with pytest.raises(TypeError):
            iter(gameboy.memory)  # type: ignore[call-overload]
        with pytest.raises(TypeError):
            len(gameboy.memory)  # type: ignore[arg-type]


class TestRegisters:
    def test_read_and_write(self, gameboy: GameBoy) -> None:
        registers = gameboy.register_file
        for value, name in enumerate(("A", "B", "C", "D", "E"), start=0x11):
            setattr(registers, name, value)
            assert getattr(registers, name) == value
        for value, name in enumerate(("HL", "SP", "PC"), start=0xC111):
            setattr(registers, name, value)
            assert getattr(registers, name) == value

    def test_values_are_cut_to_the_width(self, gameboy: GameBoy) -> None:
        registers = gameboy.register_file
        registers.A = 0x1FF
        registers.F = 0xFF
        registers.B = -1
        registers.HL = 0x12345
        assert (registers.A, registers.F, registers.B, registers.HL) == (255, 0xF0, 255, 0x2345)

    def test_repr(self, gameboy: GameBoy) -> None:
        gameboy.register_file.HL = 0xBEEF
        assert "HL=BEEF" in repr(gameboy.register_file)


class TestStates:
    def test_continuing_equals_never_having_stopped(self, gameboy: GameBoy) -> None:
        gameboy.button_press("a")
        gameboy.tick(20)
        state = gameboy.get_state()
        gameboy.tick(20)
        end, log = gameboy.get_state(), gameboy.memory[JOYPAD_LOG]
        gameboy.set_state(state)
        gameboy.tick(20)
        assert gameboy.get_state() == end
        assert gameboy.memory[JOYPAD_LOG] == log

    def test_in_files(self, gameboy: GameBoy, joypad_rom: bytes, tmp_path: Path) -> None:
        gameboy.tick(10)
        with (tmp_path / "a.state").open("wb") as file:
            gameboy.save_state(file)
        other = GameBoy(joypad_rom)
        with (tmp_path / "a.state").open("rb") as file:
            other.load_state(file)
        assert other.get_state() == gameboy.get_state()
        memory = io.BytesIO()
        gameboy.save_state(memory)
        memory.seek(0)
        other.load_state(memory)
        assert other.get_state() == gameboy.get_state()

    def test_leave_frame_count_alone(self, gameboy: GameBoy) -> None:
        state = gameboy.get_state()
        gameboy.tick(7)
        gameboy.set_state(state)
        assert gameboy.frame_count == 7

    def test_hold_the_picture(self) -> None:
        gameboy = GameBoy()
        gameboy.tick(400)
        state, picture = gameboy.get_state(), gameboy.screen.ndarray.copy()
        other = GameBoy()
        other.set_state(state)
        assert np.array_equal(other.screen.ndarray, picture)

    def test_other_bytes_types(self, gameboy: GameBoy) -> None:
        state = gameboy.get_state()
        gameboy.set_state(bytearray(state))
        gameboy.set_state(memoryview(state))


class TestCopies:
    def test_fork_is_independent_and_equal(self, gameboy: GameBoy) -> None:
        gameboy.tick(5)
        gameboy.button("a", 3)
        fork = gameboy.fork()
        assert fork.frame_count == gameboy.frame_count
        gameboy.tick(10)
        assert fork.get_state() != gameboy.get_state()
        fork.tick(10)  # the queued button too
        assert fork.get_state() == gameboy.get_state()
        assert fork.memory[JOYPAD_LOG] == gameboy.memory[JOYPAD_LOG]

    def test_deepcopy_is_a_fork(self, gameboy: GameBoy) -> None:
        gameboy.tick(5)
        assert copy.deepcopy(gameboy).get_state() == gameboy.get_state()

    @pytest.mark.parametrize("sound", [False, True])
    def test_pickle(self, joypad_rom: bytes, sound: bool) -> None:
        gameboy = GameBoy(joypad_rom, sound=sound)
        gameboy.tick(5)
        gameboy.memory[0, 0x0200] = 0x12
        loaded = pickle.loads(pickle.dumps(gameboy))
        assert loaded.get_state() == gameboy.get_state()
        assert loaded.memory[0x0200] == 0x12
        assert loaded.cartridge_title == "TEST"
        gameboy.tick(5)
        loaded.tick(5)
        assert loaded.get_state() == gameboy.get_state()

    def test_pickle_keeps_the_boot_rom(self, joypad_rom: bytes, boot_rom: bytes) -> None:
        gameboy = GameBoy(joypad_rom, bootrom=boot_rom)
        gameboy.tick(3)
        loaded = pickle.loads(pickle.dumps(gameboy))
        gameboy.tick(80)
        loaded.tick(80)
        assert loaded.get_state() == gameboy.get_state()
        assert loaded.memory[-1, 0:256] == list(boot_rom)


class TestEnd:
    def test_context_manager_stops(self, joypad_rom: bytes) -> None:
        with GameBoy(joypad_rom) as gameboy:
            gameboy.tick(3)
        assert gameboy.stopped
        assert gameboy.frame_count == 3
        assert gameboy.cycles > 0
        assert "stopped" in repr(gameboy)

    def test_stop_twice(self, gameboy: GameBoy) -> None:
        gameboy.stop()
        gameboy.stop()
        assert gameboy.stopped


def test_image(gameboy: GameBoy) -> None:
    pytest.importorskip("PIL")
    gameboy.tick(2)
    image = gameboy.screen.image
    assert (image.size, image.mode) == ((160, 144), "RGBA")
    assert np.array_equal(np.asarray(image), gameboy.screen.ndarray)


def test_emulation_speed_slows_down(gameboy: GameBoy) -> None:
    import time

    gameboy.set_emulation_speed(2)
    start = time.perf_counter()
    gameboy.tick(12)
    assert time.perf_counter() - start > 0.09
    gameboy.set_emulation_speed(0)
    start = time.perf_counter()
    gameboy.tick(12)
    assert time.perf_counter() - start < 0.09


def test_repr(gameboy: GameBoy) -> None:
    gameboy.tick(2)
    assert repr(gameboy) == "<emurust.GameBoy 'TEST', frame 2>"
