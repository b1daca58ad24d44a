//! Loops that only the passing of time can end, found in the cartridge once.
//!
//! Games wait by reading a flag, LY or STAT until it changes, or by counting
//! down. Such a loop reads, calculates and jumps back; nothing else. While what
//! it reads stays the same, every turn is like the last, so the machine can take
//! any number of them in one step. Here the code is recognised; the run loop
//! (`scheduler.rs`) takes the steps.

use crate::rom::ROM_BANK_SIZE;

/// Bytes of the longest loop body that is looked at.
const MAX_BODY: usize = 24;

/// What ends a waiting loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// LY, of which alone it depends whether the loop goes on.
    Line(Lines),
    /// Something that is read: memory, an interrupt's flag, a register.
    Poll(Polled),
    /// An 8-bit register (by its number in opcodes) counted down to zero.
    Count8 {
        /// Number of the register: 0 B to 5 L, 7 A.
        register: u8,
    },
    /// A register pair (by its number in opcodes) counted down to zero, with A
    /// as the OR of its halves.
    Count16 {
        /// Number of the pair: 0 BC, 1 DE, 2 HL.
        pair: u8,
    },
}

/// Some of the lines that LY counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines([u64; 3]);

impl Lines {
    const COUNT: u8 = 154;

    fn where_(mut belongs: impl FnMut(u8) -> bool) -> Self {
        let mut lines = Self([0; 3]);
        for line in (0..Self::COUNT).filter(|&line| belongs(line)) {
            lines.0[usize::from(line / 64)] |= 1 << (line % 64);
        }
        lines
    }

    pub(crate) fn contain(self, line: u8) -> bool {
        self.0[usize::from(line / 64).min(2)] >> (line % 64) & 1 != 0
    }

    /// The first line after this one that is not among them; none if all are.
    pub(crate) fn gap_after(self, line: u8) -> Option<u8> {
        (line + 1..Self::COUNT).find(|&later| !self.contain(later))
    }
}

/// What a polling loop reads, as far as the code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Polled {
    /// LY.
    pub(crate) ly: bool,
    /// STAT or another LCD register.
    pub(crate) lcd: bool,
    /// DIV or TIMA.
    pub(crate) timer: bool,
    /// IF.
    pub(crate) requests: bool,
    /// The address in HL.
    pub(crate) at_hl: bool,
}

/// The waiting loops of a cartridge, by the offset of the jump that closes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WaitTable {
    /// A bit for each byte of the image.
    bits: Vec<u64>,
    /// Loops before each word of `bits`.
    ranks: Vec<u32>,
    loops: Vec<Wait>,
}

impl WaitTable {
    pub(crate) fn scan(image: &[u8]) -> Self {
        let words = image.len().div_ceil(64);
        let mut table = Self {
            bits: vec![0; words],
            ranks: vec![0; words],
            loops: Vec::new(),
        };
        for (bank_index, bank) in image.chunks(ROM_BANK_SIZE).enumerate() {
            for offset in 0..bank.len() {
                if offset.is_multiple_of(64) {
                    let word = (bank_index * ROM_BANK_SIZE + offset) / 64;
                    table.ranks[word] = table.loops.len() as u32;
                }
                if let Some(wait) = recognise(bank, offset) {
                    let position = bank_index * ROM_BANK_SIZE + offset;
                    table.bits[position / 64] |= 1 << (position % 64);
                    table.loops.push(wait);
                }
            }
        }
        table
    }

    /// The loop that the jump at this offset of the image closes.
    #[inline]
    pub(crate) fn find(&self, offset: usize) -> Option<Wait> {
        let word = *self.bits.get(offset / 64)?;
        let bit = 1 << (offset % 64);
        if word & bit == 0 {
            return None;
        }
        let before = (word & (bit - 1)).count_ones();
        let index = self.ranks[offset / 64] + before;
        self.loops.get(index as usize).copied()
    }
}

/// Is there a jump at `offset` that closes a waiting loop?
fn recognise(bank: &[u8], offset: usize) -> Option<Wait> {
    let body_start = jump_target(bank, offset)?;
    if body_start > offset || offset - body_start > MAX_BODY {
        return None;
    }
    let body = &bank[body_start..offset];
    let jumps_if_not_zero = matches!(bank[offset], 0x20 | 0xC2);
    if jumps_if_not_zero {
        if let Some(wait) = recognise_countdown(body) {
            return Some(wait);
        }
    }
    recognise_line(bank, body_start, offset).or_else(|| recognise_poll(body).map(Wait::Poll))
}

/// Reads LY first, compares what it has read, and may jump out of the loop on the way.
fn recognise_line(bank: &[u8], start: usize, jump: usize) -> Option<Wait> {
    let reads_ly = matches!(bank[start..jump], [0xF0, 0x44, ..] | [0xFA, 0x44, 0xFF, ..]);
    if !reads_ly {
        return None;
    }
    let mut understood = true;
    let lines = Lines::where_(|ly| {
        let goes_on = loop_goes_on(bank, start, jump, ly);
        understood &= goes_on.is_some();
        goes_on == Some(true)
    });
    understood.then_some(Wait::Line(lines))
}

/// Whether a loop that begins with a read of LY gets to its end and jumps back when it
/// reads this; none if it does something else.
fn loop_goes_on(bank: &[u8], start: usize, jump: usize, ly: u8) -> Option<bool> {
    let mut a = ly;
    // Zero and carry.
    let mut flags = None;
    let mut pc = start + if bank[start] == 0xF0 { 2 } else { 3 };
    while pc < jump {
        let &[op, n] = bank.get(pc..pc + 2)?.first_chunk()?;
        pc += 2;
        match op {
            // AND A, OR A
            0xA7 | 0xB7 => {
                flags = Some((a == 0, false));
                pc -= 1;
            }
            // CP n, SUB n
            0xFE | 0xD6 => {
                flags = Some((a == n, a < n));
                if op == 0xD6 {
                    a = a.wrapping_sub(n);
                }
            }
            // AND n
            0xE6 => {
                a &= n;
                flags = Some((a == 0, false));
            }
            0x20 | 0x28 | 0x30 | 0x38 => {
                let target = jump_target(bank, pc - 2)?;
                if (start..=jump).contains(&target) {
                    return None;
                }
                if is_met(op, flags?) {
                    return Some(false);
                }
            }
            _ => return None,
        }
    }
    match bank[jump] {
        0x18 | 0xC3 => Some(true),
        op => flags.map(|flags| is_met(op, flags)),
    }
}

/// Whether a conditional jump is taken.
fn is_met(op: u8, (zero, carry): (bool, bool)) -> bool {
    match op >> 3 & 0b11 {
        0 => !zero,
        1 => zero,
        2 => !carry,
        _ => carry,
    }
}

/// Offset in the bank to which the jump at `offset` goes, if it is one.
fn jump_target(bank: &[u8], offset: usize) -> Option<usize> {
    match bank[offset] {
        0x18 | 0x20 | 0x28 | 0x30 | 0x38 => {
            let distance = *bank.get(offset + 1)? as i8;
            (offset + 2).checked_add_signed(isize::from(distance))
        }
        0xC2 | 0xC3 | 0xCA | 0xD2 | 0xDA => {
            let low = *bank.get(offset + 1)?;
            let high = *bank.get(offset + 2)?;
            let target = usize::from(u16::from_le_bytes([low, high]));
            // Whether the bank is the low or the high one, its offsets are the
            // address modulo its size; a jump between banks is no loop, and the
            // run loop checks the address.
            (target < 2 * ROM_BANK_SIZE).then_some(target % ROM_BANK_SIZE)
        }
        _ => None,
    }
}

fn recognise_countdown(body: &[u8]) -> Option<Wait> {
    let (padding, wait) = match *body {
        // DEC rr; LD A,r; OR r'
        [ref rest @ .., 0x0B, 0x78, 0xB1] | [ref rest @ .., 0x0B, 0x79, 0xB0] => {
            (rest, Wait::Count16 { pair: 0 })
        }
        [ref rest @ .., 0x1B, 0x7A, 0xB3] | [ref rest @ .., 0x1B, 0x7B, 0xB2] => {
            (rest, Wait::Count16 { pair: 1 })
        }
        [ref rest @ .., 0x2B, 0x7C, 0xB5] | [ref rest @ .., 0x2B, 0x7D, 0xB4] => {
            (rest, Wait::Count16 { pair: 2 })
        }
        // DEC r
        [ref rest @ .., op @ (0x05 | 0x0D | 0x15 | 0x1D | 0x25 | 0x2D | 0x3D)] => {
            (rest, Wait::Count8 { register: op >> 3 })
        }
        _ => return None,
    };
    is_padding(padding).then_some(wait)
}

/// Instructions that only take time: NOP, a jump to the next one, PUSH and POP
/// of the same pair (other than AF).
fn is_padding(mut code: &[u8]) -> bool {
    loop {
        code = match *code {
            [] => return true,
            [0x00, ref rest @ ..] | [0x18, 0x00, ref rest @ ..] => rest,
            [push @ (0xC5 | 0xD5 | 0xE5), pop, ref rest @ ..] if pop == push - 4 => rest,
            _ => return false,
        };
    }
}

/// Code that reads and calculates only, or nothing.
fn recognise_poll(mut code: &[u8]) -> Option<Polled> {
    let mut polled = Polled::default();
    loop {
        code = match *code {
            [] => return Some(polled),
            [0xF0, low, ref rest @ ..] => {
                polled.read_high(low)?;
                rest
            }
            [0xFA, low, high, ref rest @ ..] => {
                match high {
                    0x00..=0x7F | 0xC0..=0xFD => {}
                    0xFF => polled.read_high(low)?,
                    _ => return None,
                }
                rest
            }
            // LD r,(HL); arithmetic with (HL); BIT n,(HL)
            [0x46 | 0x4E | 0x56 | 0x5E | 0x66 | 0x6E | 0x7E, ref rest @ ..]
            | [0x86 | 0x8E | 0x96 | 0x9E | 0xA6 | 0xAE | 0xB6 | 0xBE, ref rest @ ..] => {
                polled.at_hl = true;
                rest
            }
            [0xCB, op, ref rest @ ..] if op & 0xC7 == 0x46 => {
                polled.at_hl = true;
                rest
            }
            [0xCB, op, ref rest @ ..] if op & 0x07 != 6 => rest,
            // NOP, rotates of A, DAA, CPL, SCF, CCF
            [0x00 | 0x07 | 0x0F | 0x17 | 0x1F | 0x27 | 0x2F | 0x37 | 0x3F, ref rest @ ..] => rest,
            [0x18, 0x00, ref rest @ ..] => rest,
            // LD r,n
            [0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E | 0x3E, _, ref rest @ ..] => rest,
            // LD r,r'; arithmetic with r
            [0x40..=0x6F | 0x78..=0xBF, ref rest @ ..] => rest,
            // Arithmetic with n
            [0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE, _, ref rest @ ..] => rest,
            _ => return None,
        };
    }
}

impl Polled {
    /// Notes a read of FF00 + `low`; none if what it returns is not understood.
    fn read_high(&mut self, low: u8) -> Option<()> {
        match low {
            // P1 is a latch, SC changes at slice ends, HRAM and IE by writes.
            0x00 | 0x02 | 0x80..=0xFF => {}
            0x0F => self.requests = true,
            0x04 | 0x05 => self.timer = true,
            0x44 => self.ly = true,
            0x40..=0x4B => self.lcd = true,
            _ => return None,
        }
        Some(())
    }

    /// Adds what reading `addr` depends on; none if that is not understood.
    pub(crate) fn with_address(mut self, addr: u16) -> Option<Self> {
        match addr {
            0x0000..=0x7FFF | 0xC000..=0xFDFF => {}
            0xFF00..=0xFFFF => self.read_high(addr as u8)?,
            _ => return None,
        }
        Some(self)
    }
}
