//! Fetching and dispatching instructions, one at a time.

use super::instructions::{execute, LENGTHS};
use crate::machine::Machine;

/// Code below this address is fetched straight from the ROM image. (The last
/// two bytes are not: an instruction there may continue in VRAM.)
pub(crate) const ROM_FETCH_LIMIT: u16 = 0x7FFE;
/// From here on PyBoy fetches from the switchable bank, two bytes too early.
const HIGH_BANK_FETCH: u16 = 0x3FFE;

/// Calls `execute` with the opcode as a constant.
macro_rules! dispatch {
    ($op:expr, $machine:expr, $rom:expr, $word:expr, $($high:literal)*) => {
        dispatch!(@rows $op, $machine, $rom, $word,
            [$($high)*] [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15])
    };
    (@rows $op:expr, $machine:expr, $rom:expr, $word:expr, [$($high:literal)*] $lows:tt) => {
        match $op >> 4 {
            $( $high => dispatch!(@row $op, $machine, $rom, $word, $high, $lows), )*
            _ => unreachable!(),
        }
    };
    (@row $op:expr, $machine:expr, $rom:expr, $word:expr, $high:literal, [$($low:literal)*]) => {
        match $op & 0xF {
            $( $low => execute::<{ $high << 4 | $low }>($machine, $rom, $word), )*
            _ => unreachable!(),
        }
    };
}

impl Machine {
    /// Executes one instruction.
    #[inline(always)]
    pub(crate) fn step(&mut self, rom: &[u8]) {
        let start = self.cycles;
        let word = self.fetch(rom);
        let op = word as u8;
        let cycles = dispatch!(op, self, rom, word, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        self.previous_start = start;
        self.cycles = start + cycles;
    }

    /// The bytes of the instruction at PC, first byte lowest; what follows it is undefined.
    #[inline(always)]
    fn fetch(&mut self, rom: &[u8]) -> u32 {
        let pc = self.cpu.pc;
        if pc < self.rom_fetch_limit {
            let base = if pc < HIGH_BANK_FETCH {
                self.rom_low
            } else {
                self.rom_high.wrapping_sub(0x4000)
            };
            let offset = base.wrapping_add(usize::from(pc));
            if let Some(bytes) = rom.get(offset..offset.wrapping_add(4)) {
                let mut word = [0; 4];
                word.copy_from_slice(bytes);
                return u32::from_le_bytes(word);
            }
        }
        self.fetch_from_bus(rom)
    }

    /// Fetches through the bus, byte by byte: only bytes that belong to the
    /// instruction are read, four and eight cycles late.
    #[inline(never)]
    fn fetch_from_bus(&mut self, rom: &[u8]) -> u32 {
        let pc = self.cpu.pc;
        let mut word = u32::from(self.read_bus(rom, pc, 0, 0));
        let length = match word as u8 {
            0xCB => 2,
            op => LENGTHS[usize::from(op)],
        };
        for index in 1..length {
            let addr = pc.wrapping_add(u16::from(index));
            let byte = self.read_bus(rom, addr, 0, u64::from(index) * 4);
            word |= u32::from(byte) << (8 * index);
        }
        word
    }
}
