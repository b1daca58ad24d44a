"""The names under which both machines' fields are compared, in one table.

PyBoy's save states (:mod:`.pyboy_state`), the live views into it
(:mod:`.pyboy_structs`) and EmuRust's debug view all use these names. A field is
compared when both sides offer it and :func:`compared` says that it means something
in the given setting.
"""

from __future__ import annotations

from dataclasses import dataclass

REGISTERS = ("a", "f", "b", "c", "d", "e", "hl", "sp", "pc")

#: Memories by name: first bus address, and what it is.
REGIONS: dict[str, tuple[int | None, str]] = {
    "vram": (0x8000, "video RAM"),
    "cart_ram": (0xA000, "cartridge RAM, all banks in a row"),
    "wram": (0xC000, "work RAM"),
    "oam": (0xFE00, "object attribute memory"),
    "unusable": (0xFEA0, "the unusable area, plain RAM in PyBoy"),
    "hram": (0xFF80, "high RAM"),
    "io": (0xFF00, "I/O registers as the bus reads them"),
    "wave_ram": (0xFF30, "channel 3's samples"),
    "line_parameters": (None, "SCX SCY WX WY and LCDC bit 4 of each line drawn"),
    "screen": (None, "the picture, RGBA"),
}

#: Scalars that are compared, with their meaning. ``sound`` marks those that mean
#: something only while sound is emulated (PyBoy leaves them half-updated otherwise).
MEANINGS: dict[str, str] = {
    **{name: f"register {name.upper()}" for name in REGISTERS},
    "cycles": "T-cycles since power-on",
    "ime": "interrupt master enable",
    "ei_delay": "instructions until EI takes effect",
    "halted": "CPU in HALT",
    "halted_during_ei": "HALT came right after EI",
    "ie": "interrupt enable, FFFF",
    "if": "interrupt flags, FF0F",
    "boot_rom_mapped": "boot ROM readable at 0000",
    "joyp": "FF00 as last latched",
    "joypad_directions": "direction keys, 1 = released",
    "joypad_buttons": "button keys, 1 = released",
    "dma_active": "OAM DMA running",
    "dma_source": "OAM DMA source page, FF46",
    "dma_index": "OAM DMA bytes copied",
    "dma_start_cycle": "cycle at which OAM DMA starts copying",
    "lcdc": "FF40",
    "stat": "FF41",
    "stat_line": "level of the STAT interrupt line",
    "ly": "FF44",
    "lyc": "FF45",
    "scy": "FF42",
    "scx": "FF43",
    "wy": "FF4A",
    "wx": "FF4B",
    "bgp": "FF47",
    "obp0": "FF48",
    "obp1": "FF49",
    "lcd_clock": "dots since the frame started",
    "lcd_target": "dot of the next LCD transition",
    "lcd_next_mode": "LCD mode entered at the next transition",
    "lcd_transition": "kind of the next LCD transition",
    "lcd_first_frame": "first frame after LCD on",
    "lcd_restart_pending": "LCD switched on, not started yet",
    "lcd_stat_mode_hidden": "next FF41 read shows mode 0",
    "lcd_lyc_written_while_off": "LYC was written with the LCD off",
    "wy_latch": "window's Y condition met in this frame",
    "window_line": "window line counter",
    "div_counter": "16-bit divider, DIV is its high byte",
    "tima": "FF05",
    "tma": "FF06",
    "tac": "FF07, stored bits",
    "tima_reload": "phase of the TIMA reload",
    "sc": "FF02",
    "serial_enabled": "serial transfer running",
    "serial_internal": "serial transfer uses the internal clock",
    "rom_bank": "ROM bank at 4000",
    "rom_bank_low": "ROM bank at 0000",
    "ram_bank": "cartridge RAM bank or clock register",
    "ram_enabled": "cartridge RAM enabled",
    "banking_mode": "MBC1 banking mode",
    "mbc1_bank1": "MBC1 bank register 1",
    "mbc1_bank2": "MBC1 bank register 2",
    "rtc_seconds": "clock, seconds",
    "rtc_minutes": "clock, minutes",
    "rtc_hours": "clock, hours",
    "rtc_day_low": "clock, day bits 0-7",
    "rtc_day_high": "clock, day bit 8",
    "rtc_halt": "clock stopped",
    "rtc_carry": "clock, day counter overflowed",
    "rtc_latched_seconds": "latched seconds",
    "rtc_latched_minutes": "latched minutes",
    "rtc_latched_hours": "latched hours",
    "rtc_latched_day_low": "latched day bits 0-7",
    "rtc_latched_day_high": "latched day bit 8",
}

_SOUND_MEANINGS: dict[str, str] = {
    "sound_power": "FF26 bit 7",
    "sound_next_step": "sound cycle of the next 512 Hz step",
    "sound_skip": "frame sequencer's skip state",
    "sound_step": "frame sequencer's step counter",
    "sound_div_write_flag": "DIV was written with its sound bit set",
    "nr50": "FF24",
    "nr51": "FF25",
    **{
        f"ch{n}_{part}": f"channel {n}, {meaning}"
        for n in (1, 2, 3, 4)
        for part, meaning in (
            ("on", "running"),
            ("length", "length counter"),
            ("length_enable", "length counter enabled"),
            ("period_value", "period registers"),
        )
        if not (n == 4 and part == "period_value")
    },
    "ch1_duty": "channel 1, duty",
    "ch2_duty": "channel 2, duty",
    "ch1_sweep_pace": "channel 1, sweep pace",
    "ch1_sweep_direction": "channel 1, sweep direction",
    "ch1_sweep_shift": "channel 1, sweep shift",
    "ch1_sweep_timer": "channel 1, sweep timer",
    "ch1_sweep_check": "channel 1, delayed overflow check",
    "ch1_sweep_negated": "channel 1, a falling sweep was calculated",
    "ch1_sweep_enabled": "channel 1, sweep running",
    "ch1_sweep_shadow": "channel 1, sweep shadow period",
    "ch3_dac": "channel 3, DAC on",
    "ch3_timer": "channel 3, cycles to the next sample",
    "ch3_position": "channel 3, sample position",
    "ch3_accessible": "channel 3, wave RAM readable right now",
}

MEANINGS.update(_SOUND_MEANINGS)

#: EmuRust's names for internal values where they differ from those here.
EMURUST_NAMES: dict[str, str] = {
    "interrupt_flags": "if",
    "interrupt_enable": "ie",
    "timer_counter": "div_counter",
    "timer_tima": "tima",
    "timer_tma": "tma",
    "timer_tac": "tac",
    "timer_reload_phase": "tima_reload",
    "serial_sc": "sc",
    "serial_transferring": "serial_enabled",
    "joypad_latch": "joyp",
    "dma_copied": "dma_index",
    "dma_starts_at": "dma_start_cycle",
    "mbc1_mode": "banking_mode",
    "lcd_next_step": "lcd_transition",
    "lcd_window_triggered": "wy_latch",
}

#: LCD registers whose bus reads have no side effect at a frame boundary.
LCD_REGISTERS: dict[int, str] = {
    0xFF42: "scy",
    0xFF43: "scx",
    0xFF45: "lyc",
    0xFF47: "bgp",
    0xFF48: "obp0",
    0xFF49: "obp1",
    0xFF4A: "wy",
    0xFF4B: "wx",
}

#: Names that PyBoy offers and that are left out of every comparison, and why.
NOT_COMPARED: dict[str, str] = {
    "lcd_last_cycle": "cycle of the last catch-up, which no program can see",
    "timer_last_cycle": "cycle of the last catch-up, which no program can see",
    "serial_last_cycle": "cycle of the last catch-up, which no program can see",
    "serial_clock": "counts catch-ups; only completion is visible",
    "serial_target": "relative to serial_clock",
    "rtc_cycles": "advanced when the clock is touched; compared through its registers",
    "rtc_last_cycle": "cycle of the clock's last catch-up",
    "rtc_latch_armed": "write-only latch state; compared through latched registers",
    "tima_counter": "PyBoy's own prescaler copy, not readable",
    "div": "high byte of div_counter",
    "sound_cycles": "equals cycles at a frame boundary",
}


@dataclass(frozen=True)
class Setting:
    """What decides which fields mean something."""

    sound: bool = False
    mapper: str = ""


def compared(name: str, setting: Setting) -> bool:
    """Whether the scalar ``name`` is part of the comparison under ``setting``."""
    if name not in MEANINGS:
        return False
    if name in _SOUND_MEANINGS:
        return setting.sound
    # MBC1 recomputes its RAM bank on every access from the two bank registers, which
    # are compared; MBC2 and plain ROM have no RAM bank.
    return not (name == "ram_bank" and setting.mapper in ("MBC1", "MBC2", "ROMOnly"))
