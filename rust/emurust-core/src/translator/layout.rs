//! Where native code finds the parts of the machine: offsets in bytes.

use std::mem::offset_of;

use super::context;
use crate::interrupts::Interrupts;
use crate::joypad::Joypad;
use crate::machine::Machine;
use crate::ppu::Ppu;

const NATIVE: usize = offset_of!(Machine, native);

pub(super) const A: usize = offset_of!(Machine, cpu.a);
/// BC, DE and HL.
pub(super) const PAIRS: [usize; 3] = [
    offset_of!(Machine, cpu.bc),
    offset_of!(Machine, cpu.de),
    offset_of!(Machine, cpu.hl),
];
/// Where in a pair its high and its low byte are.
pub(super) const HALVES: [usize; 2] = if cfg!(target_endian = "big") {
    [0, 1]
} else {
    [1, 0]
};
/// A register of one byte, by its number in opcodes; not (HL).
pub(super) const fn register(number: u8) -> usize {
    match number {
        7 => A,
        _ => PAIRS[number as usize / 2] + HALVES[number as usize % 2],
    }
}
pub(super) const SP: usize = offset_of!(Machine, cpu.sp);
pub(super) const PC: usize = offset_of!(Machine, cpu.pc);
pub(super) const HALTED: usize = offset_of!(Machine, cpu.halted);
pub(super) const HALTED_DURING_EI: usize = offset_of!(Machine, cpu.halted_during_ei);
pub(super) const IME: usize = offset_of!(Machine, cpu.ime);
pub(super) const SLICE_END: usize = offset_of!(Machine, slice_end);
pub(super) const SLICE_IS_EXACT: usize = offset_of!(Machine, slice_is_exact);
pub(super) const WRAM: usize = offset_of!(Machine, wram);
pub(super) const HRAM: usize = offset_of!(Machine, hram);
pub(super) const VRAM: usize = offset_of!(Machine, ppu) + offset_of!(Ppu, vram);
pub(super) const LY: usize = offset_of!(Machine, ppu) + offset_of!(Ppu, ly);
/// FF40 + `number`, if the LCD reads it only at its transitions.
pub(super) const fn lcd_register(number: u16) -> Option<usize> {
    let offset = match number {
        0x0 => offset_of!(Ppu, lcdc),
        0x2 => offset_of!(Ppu, scy),
        0x3 => offset_of!(Ppu, scx),
        0x7 => offset_of!(Ppu, bgp),
        0x8 => offset_of!(Ppu, obp0),
        0x9 => offset_of!(Ppu, obp1),
        0xA => offset_of!(Ppu, wy),
        0xB => offset_of!(Ppu, wx),
        _ => return None,
    };
    Some(offset_of!(Machine, ppu) + offset)
}
pub(super) const LCDC: usize = offset_of!(Machine, ppu) + offset_of!(Ppu, lcdc);
pub(super) const STAT: usize = offset_of!(Machine, ppu) + offset_of!(Ppu, stat);
pub(super) const STAT_READS_MODE0: usize =
    offset_of!(Machine, ppu) + offset_of!(Ppu, stat_reads_mode0);
pub(super) const LCD_CLOCK: usize = offset_of!(Machine, ppu) + offset_of!(Ppu, clock);
pub(super) const LCD_TARGET: usize = offset_of!(Machine, ppu) + offset_of!(Ppu, target);
pub(super) const LCD_SYNCED_TO: usize = offset_of!(Machine, ppu) + offset_of!(Ppu, synced_to);
pub(super) const JOYPAD_LATCH: usize = offset_of!(Machine, joypad) + offset_of!(Joypad, latch);
pub(super) const JOYPAD_DIRECTIONS: usize =
    offset_of!(Machine, joypad) + offset_of!(Joypad, directions);
pub(super) const JOYPAD_BUTTONS: usize = offset_of!(Machine, joypad) + offset_of!(Joypad, buttons);
pub(super) const INTERRUPTS_REQUESTED: usize =
    offset_of!(Machine, interrupts) + offset_of!(Interrupts, requested);
pub(super) const INTERRUPTS_ENABLED: usize =
    offset_of!(Machine, interrupts) + offset_of!(Interrupts, enabled);
pub(super) const ZERO: usize = NATIVE + context::ZERO;
pub(super) const SUBTRACT: usize = NATIVE + context::SUBTRACT;
pub(super) const HALF: usize = NATIVE + context::HALF;
pub(super) const CARRY: usize = NATIVE + context::CARRY;
pub(super) const HIGH_BITS: usize = NATIVE + context::HIGH_BITS;
pub(super) const END: usize = NATIVE + context::END;
pub(super) const TIME_LEFT: usize = NATIVE + context::TIME_LEFT;
pub(super) const LAST_CYCLES: usize = NATIVE + context::LAST_CYCLES;
pub(super) const TURNS_LEFT: usize = NATIVE + context::TURNS_LEFT;
pub(super) const VISITS: usize = NATIVE + context::VISITS;
pub(super) const BUS_USED: usize = NATIVE + context::BUS_USED;
pub(super) const SAVED_REGISTER: usize = NATIVE + context::SAVED_REGISTER;
pub(super) const READ: usize = NATIVE + context::READ;
pub(super) const WRITE: usize = NATIVE + context::WRITE;
pub(super) const READ_PAGES: usize = NATIVE + context::READ_PAGES;
pub(super) const LATE_READ_PAGES: usize = NATIVE + context::LATE_READ_PAGES;
pub(super) const WRITE_PAGES: usize = NATIVE + context::WRITE_PAGES;
pub(super) const LATE_WRITE_PAGES: usize = NATIVE + context::LATE_WRITE_PAGES;
