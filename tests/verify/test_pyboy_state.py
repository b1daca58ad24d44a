"""Reading PyBoy's save states and memory, checked against each other and its API."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from emurust.verify.backends import PyBoyMachine
from emurust.verify.cartridge import assemble_cartridge
from emurust.verify.errors import StateFormatError, StructLayoutError, VerifyError
from emurust.verify.pyboy_state import parse
from emurust.verify.pyboy_structs import attach

#: Cartridge types of every mapper, with RAM size codes that go with them.
CARTRIDGES = [
    (0x00, 0),
    (0x08, 2),
    (0x01, 0),
    (0x03, 3),
    (0x05, 0),
    (0x06, 0),
    (0x0F, 0),
    (0x10, 3),
    (0x11, 0),
    (0x13, 3),
    (0x19, 0),
    (0x1B, 4),
    (0x1C, 0),
    (0x1E, 5),
]

BUSY = """
    ORG $0150
    LD SP,$DFF0
    LD A,$0A
    LD ($0000),A
    LD A,2
    LD ($2100),A
    LD ($4000),A
    LD A,$5A
    LD ($A123),A
    LD A,$05
    LDH ($07),A
    LD A,$30
    LDH ($43),A
    LD A,$80
    LDH ($26),A
    LD A,$F3
    LDH ($12),A
    LD A,$87
    LDH ($14),A
    LD A,$C0
    LDH ($46),A
    LD HL,$C000
forever:
    INC (HL)
    INC L
    LD A,(HL)
    LD ($FF90),A
    JR forever
"""


def busy_rom(cartridge_type: int = 0x00, ram_size_code: int = 0) -> bytes:
    return assemble_cartridge(
        BUSY, cartridge_type=cartridge_type, ram_size_code=ram_size_code, banks=4
    )


@pytest.mark.parametrize("sound", [False, True], ids=["silent", "sound"])
@pytest.mark.parametrize(("cartridge_type", "ram"), CARTRIDGES)
def test_states_parse_to_the_last_byte_and_agree_with_memory(
    cartridge_type: int, ram: int, sound: bool
) -> None:
    machine = PyBoyMachine(busy_rom(cartridge_type, ram), sound=sound)
    try:
        for frame in range(75):
            machine.step((), observe=frame > 70)
        data = machine.save_state()
        state = parse(data, busy_rom(cartridge_type, ram))
        assert state.length == len(data)
        assert machine.structs is not None
        machine.structs.check_against(state)
        registers = machine.pyboy.register_file
        assert state.ints["pc"] == registers.PC
        assert state.ints["sp"] == registers.SP == 0xDFF0
        assert state.ints["cycles"] == machine.pyboy._cycles()
        assert np.array_equal(state.arrays["screen"], machine.observation())
        assert state.arrays["wram"].tolist() == list(machine.pyboy.memory[0xC000:0xE000])
        assert state.arrays["vram"].any()
        assert state.ints["sound_power"] == int(sound or state.ints["sound_power"])
    finally:
        machine.close()


def test_field_offsets_are_those_of_the_format() -> None:
    machine = PyBoyMachine(busy_rom())
    try:
        state = machine.saved_state()
    finally:
        machine.close()
    documented = {
        "version": 0,
        "a": 6,
        "ime": 18,
        "cycles": 25,
        "dma_active": 33,
        "vram": 45,
        "lcdc": 8397,
        "line_parameters": 8409,
        "cgb_rendering": 9129,
        "lcd_last_cycle": 9135,
        "audio_fill": 9161,
        "sound_speed_shift": 10795,
        "panning_noise_left": 10855,
        "ch1_duty": 10864,
        "ch2_duty": 10969,
        "wave_ram": 11029,
        "ch4_length_load": 11103,
        "screen": 11193,
        "wy_latch": 126393,
        "wram": 126394,
        "wram_bank": 134885,
        "div": 134886,
        "rom_bank": 134911,
    }
    assert {name: state.offsets[name] for name in documented} == documented


def saved() -> bytes:
    machine = PyBoyMachine(busy_rom())
    try:
        return machine.save_state()
    finally:
        machine.close()


@pytest.fixture(scope="module")
def state_bytes() -> bytes:
    return saved()


@pytest.mark.parametrize("length", [0, 1, 40, 9000, 100_000])
def test_a_truncated_state_is_refused(state_bytes: bytes, length: int) -> None:
    with pytest.raises(StateFormatError, match="the state ends inside"):
        parse(state_bytes[:length], busy_rom())


def test_the_last_byte_counts(state_bytes: bytes) -> None:
    with pytest.raises(StateFormatError, match="ends inside sgb"):
        parse(state_bytes[:-1], busy_rom())
    with pytest.raises(StateFormatError, match="1 bytes follow the end"):
        parse(state_bytes + b"\0", busy_rom())


def test_a_state_of_another_cartridge_is_refused(state_bytes: bytes) -> None:
    with pytest.raises(StateFormatError):
        parse(state_bytes, busy_rom(0x03, 3))


def test_other_versions_and_consoles_are_refused(state_bytes: bytes) -> None:
    with pytest.raises(StateFormatError, match="version 12, this reader knows version 29"):
        parse(b"\x0c" + state_bytes[1:], busy_rom())
    with pytest.raises(StateFormatError, match="Game Boy Color"):
        parse(state_bytes[:5] + b"\1" + state_bytes[6:], busy_rom())


def test_another_pyboy_is_not_read_in_place() -> None:
    machine = PyBoyMachine(busy_rom())
    try:
        with pytest.raises(StructLayoutError, match=r"PyBoy 2\.8\.1, this one is 9\.9"):
            attach(machine.pyboy, "9.9")
        with pytest.raises(StructLayoutError, match="expected one Motherboard"):
            attach(object(), "2.8.1")
    finally:
        machine.close()


def test_a_state_from_another_moment_does_not_pass_for_memory() -> None:
    machine = PyBoyMachine(busy_rom())
    try:
        for _ in range(70):
            machine.step((), observe=False)
        state = machine.saved_state()
        machine.step((), observe=False)
        assert machine.structs is not None
        with pytest.raises(StructLayoutError):
            machine.structs.check_against(state)
    finally:
        machine.close()


def test_live_views_are_read_only() -> None:
    machine = PyBoyMachine(busy_rom())
    try:
        arrays = machine.snapshot().arrays
        assert set(arrays) >= {"vram", "wram", "oam", "hram", "cart_ram"}
        for view in arrays.values():
            with pytest.raises(ValueError, match="read-only"):
                view[0] = 1
    finally:
        machine.close()


def test_a_snapshot_costs_microseconds() -> None:
    """The comparison's cost per frame must stay below PyBoy's own."""
    machine = PyBoyMachine(busy_rom())
    try:
        durations = []
        for _ in range(200):
            start = time.perf_counter()
            machine.snapshot()
            durations.append(time.perf_counter() - start)
        assert min(durations) < 200e-6
    finally:
        machine.close()


def test_a_cartridge_that_pyboy_refuses() -> None:
    rom = bytearray(busy_rom())
    rom[0x14D] ^= 1
    with pytest.raises(VerifyError, match="PyBoy does not run this cartridge: .*checksum"):
        PyBoyMachine(bytes(rom))


def test_every_field_has_one_place() -> None:
    machine = PyBoyMachine(busy_rom(0x10, 3))
    try:
        state = machine.saved_state()
    finally:
        machine.close()
    offsets = sorted(state.offsets.values())
    assert all(a < b for a, b in itertools.pairwise(offsets))
    assert state.host_time_fields == ("rtc_epoch", "rtc_saved_at")
