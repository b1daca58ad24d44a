"""How PyBoy 2.8.1 lays out its parts in memory: facts only, no access.

The structures follow the C structures that Cython makes of the attributes declared
in PyBoy's ``.pxd`` files, in their order; the tables below say which attribute is
which field of :mod:`emurust.verify.fields`.
"""

from __future__ import annotations

import ctypes

#: The only version these structures are right for.
SUPPORTED_PYBOY = "2.8.1"

_u8 = ctypes.c_uint8
_u16 = ctypes.c_uint16
_u64 = ctypes.c_uint64
_i16 = ctypes.c_int16
_i64 = ctypes.c_int64
_bint = ctypes.c_int
_ptr = ctypes.c_void_p


class Object(ctypes.Structure):
    """The head of every Cython extension object with C methods."""

    _fields_ = [("refcount", ctypes.c_ssize_t), ("type", _ptr), ("vtable", _ptr)]


class MemoryviewSlice(ctypes.Structure):
    _fields_ = [
        ("memview", _ptr),
        ("data", _ptr),
        ("shape", ctypes.c_ssize_t * 8),
        ("strides", ctypes.c_ssize_t * 8),
        ("suboffsets", ctypes.c_ssize_t * 8),
    ]


class Motherboard(Object):
    _fields_ = [
        ("interaction", _ptr),
        ("bootrom", _ptr),
        ("ram", _ptr),
        ("lcd", _ptr),
        ("cpu", _ptr),
        ("timer", _ptr),
        ("serial", _ptr),
        ("sound", _ptr),
        ("cartridge", _ptr),
        ("sgb", _ptr),
        ("sgb_border", _ptr),
        ("sgb_capable", _bint),
        ("sgb_active_transfer", _bint),
        ("sgb_multiplayer", _bint),
        ("bootrom_enabled", _bint),
        ("serialbuffer", ctypes.c_char * 1024),
        ("serialbuffer_count", _u16),
        ("oam_dma_active", _bint),
        ("oam_dma_reading", _bint),
        ("oam_dma_source", _u8),
        ("oam_dma_index", _u8),
        ("oam_dma_start_cycle", _i64),
        ("hdma", _ptr),
        ("key0", _u8),
        ("key1", _u8),
        ("wram_select", _u8),
        ("cgb_undocumented", _u8 * 4),
        ("double_speed", _bint),
        ("cgb", _bint),
        ("cgb_mode", _bint),
        ("breakpoints", _ptr),
        ("breakpoint_singlestep", _bint),
        ("breakpoint_singlestep_latch", _bint),
        ("breakpoint_waiting", _i64),
    ]


class Cpu(Object):
    _fields_ = [
        ("interrupt_master_enable", _bint),
        ("interrupt_queued", _bint),
        ("halted", _bint),
        ("halted_during_ei", _bint),
        ("stopped", _bint),
        ("bail", _bint),
        ("interrupt_enable_delay", _u8),
        ("memory_access_offset", _u8),
        ("interrupts_flag", _u8),
        ("interrupts_enabled", _u8),
        ("interrupts_flag_register", _u8),
        ("interrupts_enabled_register", _u8),
        ("cycles", _i64),
        ("A", _i16),
        ("F", _i16),
        ("B", _i16),
        ("C", _i16),
        ("D", _i16),
        ("E", _i16),
        ("HL", ctypes.c_int),
        ("SP", ctypes.c_int),
        ("PC", ctypes.c_int),
        ("mb", _ptr),
    ]


class Ram(Object):
    _fields_ = [
        ("internal_ram0", MemoryviewSlice),
        ("non_io_internal_ram0", _u8 * 96),
        ("io_ports", _u8 * 76),
        ("internal_ram1", _u8 * 127),
        ("cgb", _bint),
    ]


class Timer(Object):
    _fields_ = [
        ("DIV", _u64),
        ("TIMA", _u64),
        ("TMA", _u64),
        ("TAC", _u64),
        ("DIV_counter", _u64),
        ("TIMA_counter", _u64),
        ("dividers", _u64 * 4),
        ("tima_reload_state", _u8),
        ("_cycles_to_interrupt", _i64),
        ("last_cycles", _u64),
    ]


class Serial(Object):
    _fields_ = [
        ("SB", _u64),
        ("SC", _u64),
        ("cgb_mode", _bint),
        ("_cycles_to_interrupt", _i64),
        ("last_cycles", _u64),
        ("clock", _u64),
        ("clock_target", _u64),
        ("transfer_enabled", _bint),
        ("double_speed", _bint),
        ("internal_clock", _bint),
    ]


class Interaction(Object):
    _fields_ = [("directional", _u8), ("standard", _u8)]


class StatRegister(Object):
    _fields_ = [("value", _u8), ("_mode", _u8), ("_irq_line", _bint)]


class LcdcRegister(Object):
    _fields_ = [
        ("value", _u8),
        ("bits", _bint * 9),
        ("backgroundmap_offset", _u16),
        ("windowmap_offset", _u16),
    ]


class PaletteRegister(Object):
    _fields_ = [
        ("value", _u8),
        ("lookup", ctypes.c_uint32 * 4),
        ("palette_mem_rgb", ctypes.c_uint32 * 4),
    ]


class Lcd(Object):
    _fields_ = [
        ("disable_renderer", _bint),
        ("VRAM0", _u8 * 8192),
        ("OAM", _u8 * 160),
        ("SCY", _u8),
        ("SCX", _u8),
        ("WY", _u8),
        ("WX", _u8),
        ("object_priority_mode", _u8),
        ("next_stat_mode", _u8),
        ("stat_transition", _u8),
        ("frame_done", _bint),
        ("first_frame", _bint),
        ("reset", _bint),
        ("stat_mode_override", _bint),
        ("lyc_changed_while_disabled", _bint),
        ("LY", _u8),
        ("LYC", _u8),
        ("mode3_adjustment", _i16),
        ("clock", _u64),
        ("clock_target", _u64),
        ("_LCDC", _ptr),
        ("_STAT", _ptr),
        ("BGP", _ptr),
        ("OBP0", _ptr),
        ("OBP1", _ptr),
        ("renderer", _ptr),
        ("_scanlineparameters", _u8 * (144 * 5)),
        ("last_cycles", _u64),
        ("_cycles_to_interrupt", _i64),
        ("_cycles_to_frame", _i64),
        ("cgb", _bint),
        ("_downgraded_to_dmg", _bint),
        ("speed_shift", _u8),
        ("VRAM1", _u8 * 8192),
        ("vbk", _ptr),
        ("bcps", _ptr),
        ("bcpd", _ptr),
        ("ocps", _ptr),
        ("ocpd", _ptr),
    ]


class Renderer(Object):
    _fields_ = [
        ("lcd", _ptr),
        ("_tilecache_state", MemoryviewSlice),
        ("_spritecache_state", MemoryviewSlice),
        ("color_format", _ptr),
        ("buffer_dims", _ptr),
        ("cgb", _bint),
        ("_screenbuffer_raw", _ptr),
        ("_screenbuffer_attributes_raw", _ptr),
        ("_screenbuffer_ptr", _ptr),
        ("_tilecache_raw", _ptr),
        ("_spritecache_raw", _ptr),
        ("_screenbuffer", MemoryviewSlice),
        ("_screenbuffer_attributes", MemoryviewSlice),
        ("_tilecache", MemoryviewSlice),
        ("_spritecache", MemoryviewSlice),
        ("_tilecache_64", MemoryviewSlice),
        ("_spritecache_64", MemoryviewSlice),
        ("colorcode_table", MemoryviewSlice),
        ("sprites_to_render", ctypes.c_int * 10),
        ("ly_window", ctypes.c_int),
        ("wy_activated_frame", _bint),
    ]


class Sound(Object):
    _fields_ = [
        ("volume", _i64),
        ("emulate", _bint),
        ("cgb", _bint),
        ("disable_sampling", _bint),
        ("sample_rate", _u64),
        ("cycles", _u64),
        ("cycles_target", ctypes.c_double),
        ("cycles_target_512Hz", ctypes.c_double),
        ("last_cycles", _u64),
        ("_cycles_to_interrupt", _i64),
        ("speed_shift", _u8),
        ("div_apu_counter", _u64),
        ("div_apu", _u64),
        ("apu_poweron_after_div_write", _bint),
        ("last_div_write_cycles", _u64),
        ("last_power_off_cycles", _u64),
        ("poweron", _u8),
        ("NR50", _u8),
        ("audiobuffer_head", _u64),
        ("audiobuffer_length", _u64),
        ("samples_per_frame", _u64),
        ("cycles_per_sample", ctypes.c_double),
        ("audiobuffer", MemoryviewSlice),
        ("buffer_format", _ptr),
        ("noise_left", _u8),
        ("wave_left", _u8),
        ("tone_left", _u8),
        ("sweep_left", _u8),
        ("noise_right", _u8),
        ("wave_right", _u8),
        ("tone_right", _u8),
        ("sweep_right", _u8),
        ("sweepchannel", _ptr),
        ("tonechannel", _ptr),
        ("wavechannel", _ptr),
        ("noisechannel", _ptr),
    ]


class ToneChannel(Object):
    _fields_ = [
        ("wavetables", _u8 * 32),
        ("wave_duty", _u8),
        ("init_length_timer", _u8),
        ("envelope_volume", _u8),
        ("envelope_direction", _u8),
        ("envelope_pace", _u8),
        ("sound_period", _u16),
        ("length_enable", _u8),
        ("enable", _i64),
        ("lengthtimer", _i64),
        ("periodtimer", _i64),
        ("envelopetimer", _i64),
        ("period", _i64),
        ("waveframe", _i64),
        ("volume", _i64),
        ("sample_suppressed", _u8),
        ("pending_wave_duty", _u8),
        ("duty_update_pending", _u8),
    ]


class SweepChannel(ctypes.Structure):
    # Composition rather than ctypes inheritance: C places the base's tail padding
    # before the next field, and so does a member structure.
    _anonymous_ = ("tone",)
    _fields_ = [
        ("tone", ToneChannel),
        ("cgb", _bint),
        ("sweep_pace", _u8),
        ("sweep_direction", _u8),
        ("sweep_magnitude", _u8),
        ("sweeptimer", _i64),
        ("sweepchecktimer", _i64),
        ("sweepcalctimer", _i64),
        ("sweep_restart_hold", _i64),
        ("sweep_negate_used", _bint),
        ("sweepenable", _bint),
        ("shadow", _i64),
    ]


class WaveChannel(Object):
    _fields_ = [
        ("wavetable", _u8 * 16),
        ("cgb", _bint),
        ("dacpow", _u8),
        ("init_length_timer", _u8),
        ("volreg", _u8),
        ("sound_period", _u16),
        ("length_enable", _u8),
        ("enable", _bint),
        ("lengthtimer", _i64),
        ("periodtimer", _i64),
        ("period", _i64),
        ("waveframe", _i64),
        ("sampleframe", _i64),
        ("wave_access", _bint),
        ("sample_suppressed", _bint),
        ("restart_pending", _bint),
        ("volumeshift", _i64),
    ]


class NoiseChannel(Object):
    _fields_ = [
        ("DIVTABLE", _u8 * 8),
        ("cgb", _bint),
        ("init_length_timer", _u8),
        ("envelope_volume", _u8),
        ("envelope_direction", _u8),
        ("envelope_pace", _u8),
        ("clkpow", _u8),
        ("regwid", _u8),
        ("clkdiv", _u8),
        ("length_enable", _u8),
        ("enable", _bint),
        ("lengthtimer", _i64),
        ("periodtimer", _i64),
        ("envelopetimer", _i64),
        ("period", _i64),
        ("shiftregister", _i64),
        ("lfsrfeed", _i64),
        ("volume", _i64),
        ("counter", _i64),
        ("counter_countdown", _i64),
        ("alignment", _i64),
        ("counter_running", _bint),
    ]


class Cartridge(Object):
    _fields_ = [
        ("gamename", _ptr),
        ("rombanks", MemoryviewSlice),
        ("rambanks", MemoryviewSlice),
        ("carttype", _u8),
        ("battery", _bint),
        ("rtc_enabled", _bint),
        ("rtc", _ptr),
        ("memorymodel", _u8),
        ("rambank_enabled", _bint),
        ("external_ram_count", ctypes.c_int),
        ("external_rom_count", ctypes.c_int),
        ("rambank_initialized", _bint),
        ("rambank_selected", _u16),
        ("rombank_selected", _u16),
        ("rombank_selected_low", _u16),
        ("cgb", _bint),
        ("rumble_supported", _bint),
        ("rumble_enabled", _bint),
    ]


class Mbc1(ctypes.Structure):
    _anonymous_ = ("base",)
    _fields_ = [
        ("base", Cartridge),
        ("bank_select_register1", _u8),
        ("bank_select_register2", _u8),
        ("multicart", _bint),
    ]


class Rtc(Object):
    _fields_ = [
        ("latch_enabled", _bint),
        ("timezero", ctypes.c_double),
        ("timelock", _bint),
        ("seconds", _u8),
        ("minutes", _u8),
        ("hours", _u8),
        ("day_low", _u8),
        ("day_high", _u8),
        ("day_carry", _u8),
        ("halt", _u8),
        ("sec_latch", _u8),
        ("min_latch", _u8),
        ("hour_latch", _u8),
        ("day_latch_low", _u8),
        ("day_latch_high", _u8),
        ("rtc_cycles", _u64),
        ("last_cycles", _u64),
    ]


_TONE_PLAIN = {
    "duty": "wave_duty",
    "length": "lengthtimer",
    "length_enable": "length_enable",
    "period_value": "sound_period",
    "timer": "periodtimer",
    "position": "waveframe",
    "volume": "volume",
    "envelope_timer": "envelopetimer",
}

#: Numbers by part: field name and PyBoy's attribute.
PLAIN: dict[str, dict[str, str]] = {
    "cpu": {
        **{name.lower(): name for name in ("A", "F", "B", "C", "D", "E", "HL", "SP", "PC")},
        "cycles": "cycles",
        "ei_delay": "interrupt_enable_delay",
        "ie": "interrupts_enabled_register",
        "if": "interrupts_flag_register",
    },
    "interaction": {"joypad_directions": "directional", "joypad_buttons": "standard"},
    "mb": {
        "dma_source": "oam_dma_source",
        "dma_index": "oam_dma_index",
        "dma_start_cycle": "oam_dma_start_cycle",
    },
    "lcd": {
        **{name.lower(): name for name in ("LY", "LYC", "SCY", "SCX", "WY", "WX")},
        "lcd_clock": "clock",
        "lcd_target": "clock_target",
        "lcd_last_cycle": "last_cycles",
        "lcd_next_mode": "next_stat_mode",
        "lcd_transition": "stat_transition",
    },
    "lcdc": {"lcdc": "value"},
    "stat": {"stat": "value"},
    "bgp": {"bgp": "value"},
    "obp0": {"obp0": "value"},
    "obp1": {"obp1": "value"},
    "renderer": {"window_line": "ly_window"},
    "timer": {
        "div_counter": "DIV_counter",
        "div": "DIV",
        "tima": "TIMA",
        "tma": "TMA",
        "tac": "TAC",
        "tima_counter": "TIMA_counter",
        "tima_reload": "tima_reload_state",
        "timer_last_cycle": "last_cycles",
    },
    "serial": {
        "sc": "SC",
        "serial_clock": "clock",
        "serial_target": "clock_target",
        "serial_last_cycle": "last_cycles",
    },
    "cartridge": {
        "rom_bank": "rombank_selected",
        "rom_bank_low": "rombank_selected_low",
        "ram_bank": "rambank_selected",
        "banking_mode": "memorymodel",
    },
    "mbc1": {"mbc1_bank1": "bank_select_register1", "mbc1_bank2": "bank_select_register2"},
    "rtc": {
        "rtc_seconds": "seconds",
        "rtc_minutes": "minutes",
        "rtc_hours": "hours",
        "rtc_day_low": "day_low",
        "rtc_day_high": "day_high",
        "rtc_halt": "halt",
        "rtc_carry": "day_carry",
        "rtc_cycles": "rtc_cycles",
        "rtc_last_cycle": "last_cycles",
        "rtc_latched_seconds": "sec_latch",
        "rtc_latched_minutes": "min_latch",
        "rtc_latched_hours": "hour_latch",
        "rtc_latched_day_low": "day_latch_low",
        "rtc_latched_day_high": "day_latch_high",
    },
}

SOUND_PLAIN: dict[str, dict[str, str]] = {
    "sound": {
        "sound_cycles": "cycles",
        "sound_skip": "div_apu_counter",
        "sound_step": "div_apu",
        "nr50": "NR50",
    },
    "sweep": {
        **{f"ch1_{name}": attribute for name, attribute in _TONE_PLAIN.items()},
        "ch1_sweep_pace": "sweep_pace",
        "ch1_sweep_direction": "sweep_direction",
        "ch1_sweep_shift": "sweep_magnitude",
        "ch1_sweep_timer": "sweeptimer",
        "ch1_sweep_check": "sweepchecktimer",
        "ch1_sweep_shadow": "shadow",
    },
    "tone": {f"ch2_{name}": attribute for name, attribute in _TONE_PLAIN.items()},
    "wave": {
        "ch3_dac": "dacpow",
        "ch3_length": "lengthtimer",
        "ch3_length_enable": "length_enable",
        "ch3_period_value": "sound_period",
        "ch3_timer": "periodtimer",
        "ch3_position": "waveframe",
    },
    "noise": {
        "ch4_length": "lengthtimer",
        "ch4_length_enable": "length_enable",
        "ch4_volume": "volume",
        "ch4_envelope_timer": "envelopetimer",
        "ch4_lfsr": "shiftregister",
    },
}

#: Flags by part; any non-zero value counts as set.
FLAGS: dict[str, dict[str, str]] = {
    "cpu": {
        "ime": "interrupt_master_enable",
        "halted": "halted",
        "halted_during_ei": "halted_during_ei",
    },
    "mb": {"boot_rom_mapped": "bootrom_enabled", "dma_active": "oam_dma_active"},
    "lcd": {
        "lcd_first_frame": "first_frame",
        "lcd_restart_pending": "reset",
        "lcd_stat_mode_hidden": "stat_mode_override",
        "lcd_lyc_written_while_off": "lyc_changed_while_disabled",
    },
    "renderer": {"wy_latch": "wy_activated_frame"},
    "stat": {"stat_line": "_irq_line"},
    "serial": {"serial_enabled": "transfer_enabled", "serial_internal": "internal_clock"},
    "cartridge": {"ram_enabled": "rambank_enabled"},
    "rtc": {"rtc_latch_armed": "latch_enabled"},
}

SOUND_FLAGS: dict[str, dict[str, str]] = {
    "sound": {"sound_power": "poweron", "sound_div_write_flag": "apu_poweron_after_div_write"},
    "sweep": {
        "ch1_on": "enable",
        "ch1_sweep_negated": "sweep_negate_used",
        "ch1_sweep_enabled": "sweepenable",
    },
    "tone": {"ch2_on": "enable"},
    "wave": {"ch3_on": "enable", "ch3_accessible": "wave_access"},
    "noise": {"ch4_on": "enable"},
}
