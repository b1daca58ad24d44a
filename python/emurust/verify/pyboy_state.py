"""Reader for PyBoy's save-state bytes, version 29 (PyBoy 2.8.0 and 2.8.1).

The format has no header, lengths or checksum: it is the concatenation of every
part's fields, little endian. This reader gives each field a name and accounts for
every byte: :func:`parse` fails unless it ends exactly at the end of the data.

Field names are those of :mod:`emurust.verify.fields`.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from emurust.verify.errors import StateFormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

STATE_VERSION = 29

_SGB_BLOCK = 10379
_SCREEN_PIXELS = 144 * 160


@dataclass
class PyBoyState:
    """One parsed save state of a DMG machine.

    Attributes:
        ints: every scalar by name. Flags are 0 or 1 whatever byte PyBoy stored.
        arrays: every memory by name, ``uint8``, 1-D; ``screen`` is (144, 160, 4)
            and ``screen_attributes`` (144, 160).
        floats: sound schedule and the real-time clock's host times.
        host_time_fields: names in ``floats`` that depend on the host's clock and
            must never be compared.
        offsets: first byte of every field, to place a difference in a file.
        length: bytes read, always the whole input.
    """

    ints: dict[str, int] = field(default_factory=dict)
    arrays: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    floats: dict[str, float] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)
    host_time_fields: tuple[str, ...] = ()
    length: int = 0


class _Reader:
    """Takes named fields off the front of a byte string."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0
        self.state = PyBoyState()

    def _take(self, name: str, count: int) -> bytes:
        end = self._position + count
        if end > len(self._data):
            raise StateFormatError(
                f"the state ends inside {name} (needs {end} bytes, has {len(self._data)})"
            )
        chunk = self._data[self._position : end]
        self.state.offsets[name] = self._position
        self._position = end
        return chunk

    def unsigned(self, name: str, count: int = 1) -> int:
        value = int.from_bytes(self._take(name, count), "little")
        self.state.ints[name] = value
        return value

    def signed(self, name: str, count: int = 8) -> None:
        self.state.ints[name] = int.from_bytes(self._take(name, count), "little", signed=True)

    def flag(self, name: str) -> int:
        value = int(self._take(name, 1) != b"\0")
        self.state.ints[name] = value
        return value

    def double(self, name: str) -> None:
        (self.state.floats[name],) = struct.unpack("<d", self._take(name, 8))

    def array(self, name: str, count: int) -> None:
        self.state.arrays[name] = np.frombuffer(self._take(name, count), dtype=np.uint8)

    def screen(self) -> None:
        cells = np.frombuffer(self._take("screen", _SCREEN_PIXELS * 5), dtype=np.uint8)
        cells = cells.reshape(144, 160, 5)
        self.state.arrays["screen"] = cells[:, :, :4]
        self.state.arrays["screen_attributes"] = cells[:, :, 4]

    def finish(self) -> PyBoyState:
        self.state.length = self._position
        if self._position != len(self._data):
            raise StateFormatError(
                f"{len(self._data) - self._position} bytes follow the end of the state "
                f"({self._position} bytes expected); is it of another cartridge?"
            )
        return self.state


def parse(data: bytes, rom: bytes) -> PyBoyState:
    """Read a DMG save state of the cartridge image ``rom``.

    The cartridge decides the length of the state (RAM banks, clock, mapper fields).

    Raises:
        StateFormatError: another version, a Game Boy Color state, or bytes missing
            or left over.
    """
    reader = _Reader(data)
    version = reader.unsigned("version")
    if version != STATE_VERSION:
        raise StateFormatError(
            f"the state has version {version}, this reader knows version {STATE_VERSION}"
        )
    reader.flag("boot_rom_mapped")
    reader.unsigned("key0")
    reader.unsigned("key1")
    reader.flag("double_speed")
    if reader.flag("cgb_hardware"):
        raise StateFormatError("the state is of a Game Boy Color, this reader knows the DMG only")
    _read_cpu(reader)
    _read_dma(reader)
    _read_lcd(reader)
    _read_sound(reader)
    reader.screen()
    reader.flag("wy_latch")
    _read_memories(reader)
    _read_timer(reader)
    _read_cartridge(reader, rom)
    _read_rest(reader)
    return reader.finish()


def _read_cpu(reader: _Reader) -> None:
    for name in ("a", "f", "b", "c", "d", "e"):
        reader.unsigned(name)
    for name in ("hl", "sp", "pc"):
        reader.unsigned(name, 2)
    reader.flag("ime")
    reader.unsigned("ei_delay")
    reader.flag("halted")
    reader.flag("stopped")
    reader.unsigned("ie")
    reader.flag("interrupt_queued")
    reader.unsigned("if")
    reader.unsigned("cycles", 8)


def _read_dma(reader: _Reader) -> None:
    reader.flag("dma_active")
    reader.flag("dma_reading")
    reader.unsigned("dma_source")
    reader.unsigned("dma_index")
    reader.unsigned("dma_start_cycle", 8)


def _read_lcd(reader: _Reader) -> None:
    reader.array("vram", 8192)
    reader.array("oam", 160)
    for name in ("lcdc", "bgp", "obp0", "obp1", "stat", "ly", "lyc", "scy", "scx", "wy", "wx"):
        reader.unsigned(name)
    reader.unsigned("object_priority_mode")
    reader.array("line_parameters", 144 * 5)
    reader.flag("cgb_rendering")
    reader.flag("downgraded")
    reader.unsigned("lcd_speed_shift")
    reader.flag("frame_done")
    reader.flag("lcd_first_frame")
    reader.flag("lcd_restart_pending")
    reader.unsigned("lcd_last_cycle", 8)
    reader.unsigned("lcd_clock", 8)
    reader.unsigned("lcd_target", 8)
    reader.unsigned("lcd_next_mode")
    reader.unsigned("lcd_transition")


def _read_tone(reader: _Reader, prefix: str) -> None:
    for name in ("duty", "length_load", "envelope_start", "envelope_up", "envelope_pace"):
        reader.unsigned(f"{prefix}_{name}")
    reader.unsigned(f"{prefix}_period_value", 2)
    reader.unsigned(f"{prefix}_length_enable")
    reader.flag(f"{prefix}_on")
    for name in ("length", "envelope_timer", "timer", "reload", "position", "volume"):
        reader.signed(f"{prefix}_{name}")
    for name in ("suppressed", "pending_duty", "duty_pending"):
        reader.unsigned(f"{prefix}_{name}")


def _read_sound(reader: _Reader) -> None:
    reader.unsigned("audio_fill", 8)
    samples = reader.unsigned("samples_per_frame", 8)
    if samples > 1 << 20:
        raise StateFormatError(f"{samples} samples per frame is not a state of PyBoy's")
    reader.double("cycles_per_sample")
    reader.array("audio", 2 * (samples + 1))
    reader.unsigned("sound_speed_shift")
    reader.double("next_sample_time")
    reader.double("next_step_time")
    reader.signed("sound_distance")
    reader.unsigned("sound_cycles", 8)
    reader.unsigned("sound_last_cycle", 8)
    reader.unsigned("sound_skip", 8)
    reader.unsigned("sound_step", 8)
    reader.flag("sound_div_write_flag")
    reader.flag("sound_power")
    reader.flag("sampling_off")
    panning = 0
    for side in ("left", "right"):
        for channel in ("noise", "wave", "tone", "sweep"):
            panning |= reader.unsigned(f"panning_{channel}_{side}")
    reader.state.ints["nr51"] = panning
    reader.unsigned("nr50")

    _read_tone(reader, "ch1")
    for name in ("sweep_pace", "sweep_direction", "sweep_shift"):
        reader.unsigned(f"ch1_{name}")
    for name in ("sweep_timer", "sweep_check", "sweep_calculation", "sweep_restart_hold"):
        reader.signed(f"ch1_{name}")
    reader.flag("ch1_sweep_negated")
    reader.flag("ch1_sweep_enabled")
    reader.signed("ch1_sweep_shadow")

    _read_tone(reader, "ch2")

    reader.array("wave_ram", 16)
    reader.unsigned("ch3_dac")
    reader.unsigned("ch3_length_load")
    reader.unsigned("ch3_volume_code")
    reader.unsigned("ch3_period_value", 2)
    reader.unsigned("ch3_length_enable")
    reader.flag("ch3_on")
    for name in ("length", "timer", "reload", "position"):
        reader.signed(f"ch3_{name}")
    reader.flag("ch3_suppressed")
    reader.signed("ch3_volume_shift")
    reader.flag("ch3_accessible")
    reader.flag("ch3_restart_pending")
    reader.signed("ch3_sample_position")

    for name in (
        "length_load",
        "envelope_start",
        "envelope_up",
        "envelope_pace",
        "clock_shift",
        "short_lfsr",
        "divisor",
        "length_enable",
    ):
        reader.unsigned(f"ch4_{name}")
    reader.flag("ch4_on")
    for name in (
        "length",
        "timer",
        "envelope_timer",
        "reload",
        "lfsr",
        "feedback",
        "volume",
        "counter",
        "countdown",
        "alignment",
    ):
        reader.signed(f"ch4_{name}")
    reader.flag("ch4_running")


def _read_memories(reader: _Reader) -> None:
    reader.array("wram", 8192)
    reader.array("unusable", 96)
    reader.array("io", 76)
    reader.state.ints["joyp"] = int(reader.state.arrays["io"][0])
    reader.array("hram", 127)
    reader.unsigned("wram_bank")


def _read_timer(reader: _Reader) -> None:
    reader.unsigned("div")
    reader.unsigned("tima")
    reader.unsigned("div_counter", 2)
    reader.unsigned("tima_counter", 2)
    reader.unsigned("tma")
    reader.unsigned("tac")
    reader.unsigned("tima_reload")
    reader.unsigned("timer_last_cycle", 8)
    reader.signed("timer_distance")


_RAM_BANKS = {0: 1, 1: 1, 2: 1, 3: 4, 4: 16, 5: 8}
_MBC1_TYPES = frozenset({0x01, 0x02, 0x03})
_RTC_TYPES = frozenset({0x0F, 0x10})
_MBC5_TYPES = frozenset(range(0x19, 0x1F))


def _read_cartridge(reader: _Reader, rom: bytes) -> None:
    cartridge_type, ram_size = rom[0x147], rom[0x149]
    if ram_size not in _RAM_BANKS:
        raise StateFormatError(f"the cartridge's RAM size code {ram_size:02X} is unknown to PyBoy")
    reader.unsigned("rom_bank")  # PyBoy keeps the low eight bits only
    reader.unsigned("ram_bank")
    reader.flag("ram_enabled")
    reader.unsigned("banking_mode")
    reader.array("cart_ram", 8192 * _RAM_BANKS[ram_size])
    if cartridge_type in _RTC_TYPES:
        reader.double("rtc_epoch")
        reader.unsigned("rtc_halt_copy")
        reader.unsigned("rtc_carry_copy")
        for name in ("seconds", "minutes", "hours", "day_low", "day_high", "halt", "carry"):
            reader.unsigned(f"rtc_{name}")
        reader.unsigned("rtc_cycles", 8)
        reader.double("rtc_saved_at")
        reader.state.host_time_fields = ("rtc_epoch", "rtc_saved_at")
    if cartridge_type in _MBC1_TYPES:
        reader.unsigned("mbc1_bank1")
        reader.unsigned("mbc1_bank2")
    if cartridge_type in _MBC5_TYPES and reader.flag("rumble_present"):
        reader.flag("rumble_on")


def _read_rest(reader: _Reader) -> None:
    for name in ("joypad_directions", "joypad_buttons"):
        reader.unsigned(name)
        reader.state.ints[name] &= 0x0F
    reader.unsigned("sb")
    reader.unsigned("sc")
    reader.flag("serial_enabled")
    reader.flag("serial_internal")
    reader.unsigned("serial_last_cycle", 8)
    reader.signed("serial_distance")
    reader.unsigned("serial_clock", 8)
    reader.unsigned("serial_target", 8)
    reader.array("sgb", _SGB_BLOCK)
