//! Fetching and dispatching instructions, one at a time.

use super::instructions::{execute, LENGTHS};
use crate::dma::VRAM_SOURCE;
use crate::machine::Machine;
use crate::rom::Code;

/// Code below this address is fetched straight from the ROM image. (The last
/// two bytes are not: an instruction there may continue in VRAM.)
pub(crate) const ROM_FETCH_LIMIT: u16 = 0x7FFE;
/// From here on PyBoy fetches from the switchable bank, two bytes too early.
const HIGH_BANK_FETCH: u16 = 0x3FFE;

/// Finds the instruction of an opcode by testing its bits one after another.
///
/// Not a jump table: where indirect branches are slow (on virtual machines with
/// their prediction restricted, a mispredicted one costs as much as ten
/// instructions here), eight conditional branches are several times faster,
/// and elsewhere they are hardly slower.
macro_rules! by_bits {
    ($op:ident, $run:ident, $known:expr;) => {
        $run!({ $known })
    };
    ($op:ident, $run:ident, $known:expr; $bit:literal $($bits:literal)*) => {
        if $op & $bit != 0 {
            by_bits!($op, $run, $known | $bit; $($bits)*)
        } else {
            by_bits!($op, $run, $known; $($bits)*)
        }
    };
}

/// Bytes of code ahead of PC, so that instructions in a row are fetched at once.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lookahead {
    /// First byte lowest.
    bytes: u64,
    /// How many of them are known to follow.
    len: u32,
}

impl Lookahead {
    /// Passes an instruction after which the next one follows in memory, or
    /// forgets what was ahead.
    #[inline(always)]
    fn pass<const OP: u8>(&mut self) {
        if continues(OP) {
            let length = u32::from(LENGTHS[usize::from(OP)]);
            self.bytes >>= 8 * length;
            self.len = self.len.saturating_sub(length);
        } else {
            self.len = 0;
        }
    }
}

/// The instruction neither jumps nor writes memory (which may switch banks).
const fn continues(op: u8) -> bool {
    let (x, y, z) = (op >> 6, op >> 3 & 7, op & 7);
    match (x, z) {
        (0, 0) => y == 0,
        (0, 2) => y & 1 == 1,
        (0, 4..=6) => y != 6,
        (0, _) => true,
        (1, _) => y != 6,
        (2, _) | (3, 6) => true,
        (3, 1) => y & 1 == 0,
        _ => matches!(op, 0xE8 | 0xF0 | 0xF8 | 0xF2 | 0xFA | 0xF9 | 0xF3),
    }
}

impl Machine {
    /// Executes one instruction.
    #[inline(always)]
    pub(crate) fn step(&mut self, rom: Code<'_>, ahead: &mut Lookahead) {
        let start = self.cycles;
        let word = if ahead.len >= 3 {
            ahead.bytes as u32
        } else {
            self.fetch(rom, ahead)
        };
        let op = word as u8;
        macro_rules! run {
            ($known:block) => {{
                ahead.pass::<$known>();
                execute::<$known>(self, rom, word)
            }};
        }
        let cycles = by_bits!(op, run, 0; 0x80 0x40 0x20 0x10 0x08 0x04 0x02 0x01);
        self.previous_start = start;
        self.cycles = start + cycles;
    }

    /// The bytes of the instruction at PC, first byte lowest; what follows it is undefined.
    #[inline(always)]
    fn fetch(&mut self, rom: Code<'_>, ahead: &mut Lookahead) -> u32 {
        let from_start = self.cpu.pc.wrapping_sub(self.code_start);
        if from_start < self.code_len {
            let offset = self.code_offset + usize::from(from_start);
            if let Some(bytes) = rom.bytes.get(offset..).and_then(<[u8]>::first_chunk) {
                ahead.bytes = u64::from_le_bytes(*bytes);
                // An instruction may begin on the last byte of the stretch.
                ahead.len = u32::from(self.code_len - from_start + 2).min(8);
                return ahead.bytes as u32;
            }
        }
        ahead.len = 0;
        self.fetch_elsewhere(rom)
    }

    /// Fetches from where the last instruction was not.
    #[inline(never)]
    fn fetch_elsewhere(&mut self, rom: Code<'_>) -> u32 {
        let pc = self.cpu.pc;
        let (start, end, offset) = if pc < HIGH_BANK_FETCH {
            (0, HIGH_BANK_FETCH, Some(self.rom_low))
        } else {
            // Two bytes before the bank; with bank 0 selected that is before the image.
            let before = usize::from(0x4000 - HIGH_BANK_FETCH);
            (
                HIGH_BANK_FETCH,
                ROM_FETCH_LIMIT,
                self.rom_high.checked_sub(before),
            )
        };
        match offset {
            Some(offset) if pc < self.rom_fetch_limit => {
                self.code_start = start;
                self.code_len = end - start;
                self.code_offset = offset;
                let at = offset + usize::from(pc - start);
                (0..4).fold(0, |word, index| {
                    word | u32::from(rom.byte(at + index)) << (8 * index)
                })
            }
            _ => self.fetch_from_bus(rom),
        }
    }

    /// High RAM holds the routine that sits out OAM DMA. Each byte fetched advances
    /// the transfer, the last one farthest.
    fn fetch_from_hram(&mut self, rom: Code<'_>, pc: u16) -> Option<u32> {
        let offset = usize::from(pc.checked_sub(0xFF80)?);
        let word = u32::from_le_bytes(*self.hram.get(offset..)?.first_chunk()?);
        if self.dma.active {
            if self.dma.source >> 5 == VRAM_SOURCE {
                return None;
            }
            let late = 4 * u64::from(LENGTHS[usize::from(word as u8)] - 1);
            self.advance_dma(rom, self.cycles, late, late);
        }
        Some(word)
    }

    /// Fetches through the bus, byte by byte: only bytes that belong to the
    /// instruction are read, four and eight cycles late.
    fn fetch_from_bus(&mut self, rom: Code<'_>) -> u32 {
        let pc = self.cpu.pc;
        if let Some(word) = self.fetch_from_hram(rom, pc) {
            return word;
        }
        let mut word = u32::from(self.read_bus(rom, pc, 0, 0));
        let length = LENGTHS[usize::from(word as u8)];
        for index in 1..length {
            let addr = pc.wrapping_add(u16::from(index));
            let byte = self.read_bus(rom, addr, 0, u64::from(index) * 4);
            word |= u32::from(byte) << (8 * index);
        }
        word
    }
}
