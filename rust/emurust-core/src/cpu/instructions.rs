//! Every instruction, as one function of its opcode.
//!
//! The opcode is a constant parameter, so that decoding happens at compile time:
//! `x = OP >> 6`, `y = OP >> 3 & 7`, `z = OP & 7` (Pan Docs: CPU instruction
//! set). Numbers after an access are its offset in T-cycles from the start of
//! the instruction, at which timer, LCD and DMA see it; they are PyBoy's and not
//! always those of the hardware.

use super::alu;
use super::registers::{FLAG_C, FLAG_H, FLAG_N, FLAG_Z};
use crate::machine::Machine;
use crate::rom::Code;
use crate::stops::STOP_OPCODE;

/// Bytes of each instruction.
pub(crate) const LENGTHS: [u8; 256] = {
    let mut lengths = [1; 256];
    let mut op = 0;
    while op < 256 {
        let (x, y, z) = (op >> 6, op >> 3 & 7, op & 7);
        lengths[op] = match (x, z) {
            (0, 0) => match y {
                0 => 1,
                1 => 3,
                _ => 2,
            },
            (0, 1) if y & 1 == 0 => 3,
            (0, 6) => 2,
            (3, 0) if y >= 4 => 2,
            (3, 2) if y < 4 || y == 5 || y == 7 => 3,
            (3, 3) if y <= 1 => 3 - y as u8,
            (3, 4) if y < 4 => 3,
            (3, 5) if y == 1 => 3,
            (3, 6) => 2,
            _ => 1,
        };
        op += 1;
    }
    lengths
};

impl Machine {
    #[inline(always)]
    fn r8<const R: u8>(&self) -> u8 {
        match R {
            0 => (self.cpu.bc >> 8) as u8,
            1 => self.cpu.bc as u8,
            2 => (self.cpu.de >> 8) as u8,
            3 => self.cpu.de as u8,
            4 => (self.cpu.hl >> 8) as u8,
            5 => self.cpu.hl as u8,
            _ => self.cpu.a,
        }
    }

    #[inline(always)]
    fn set_r8<const R: u8>(&mut self, value: u8) {
        let value16 = u16::from(value);
        match R {
            0 => self.cpu.bc = self.cpu.bc & 0x00FF | value16 << 8,
            1 => self.cpu.bc = self.cpu.bc & 0xFF00 | value16,
            2 => self.cpu.de = self.cpu.de & 0x00FF | value16 << 8,
            3 => self.cpu.de = self.cpu.de & 0xFF00 | value16,
            4 => self.cpu.hl = self.cpu.hl & 0x00FF | value16 << 8,
            5 => self.cpu.hl = self.cpu.hl & 0xFF00 | value16,
            _ => self.cpu.a = value,
        }
    }

    /// Register by its number in opcodes: 0 B to 5 L, 7 A.
    pub(crate) fn register(&self, r: u8) -> u8 {
        r8(self, r)
    }

    pub(crate) fn set_register(&mut self, r: u8, value: u8) {
        set_r8(self, r, value);
    }

    /// Register pair by its number in opcodes: 0 BC, 1 DE, 2 HL, 3 SP.
    #[inline(always)]
    pub(crate) fn pair(&self, pair: u8) -> u16 {
        match pair {
            0 => self.cpu.bc,
            1 => self.cpu.de,
            2 => self.cpu.hl,
            _ => self.cpu.sp,
        }
    }

    #[inline(always)]
    pub(crate) fn set_pair(&mut self, pair: u8, value: u16) {
        match pair {
            0 => self.cpu.bc = value,
            1 => self.cpu.de = value,
            2 => self.cpu.hl = value,
            _ => self.cpu.sp = value,
        }
    }

    #[inline(always)]
    fn condition(&self, y: u8) -> bool {
        let flag = if y & 2 == 0 { FLAG_Z } else { FLAG_C };
        (self.cpu.f & flag != 0) == (y & 1 != 0)
    }

    #[inline(always)]
    fn push(&mut self, rom: Code<'_>, value: u16, high_at: u64) {
        let sp = self.cpu.sp;
        self.cpu.sp = sp.wrapping_sub(2);
        if let Some(pair) = self.plain_pair(sp.wrapping_sub(2)) {
            *pair = value.to_le_bytes();
            return;
        }
        let [high, low] = value.to_be_bytes();
        self.write(rom, sp.wrapping_sub(1), high, high_at);
        self.write(rom, sp.wrapping_sub(2), low, high_at + 4);
    }

    #[inline(always)]
    fn pop(&mut self, rom: Code<'_>, low_at: u64) -> u16 {
        let sp = self.cpu.sp;
        self.cpu.sp = sp.wrapping_add(2);
        if let Some(pair) = self.plain_pair(sp) {
            return u16::from_le_bytes(*pair);
        }
        let low = self.read(rom, sp, low_at);
        let high = self.read(rom, sp.wrapping_add(1), low_at + 4);
        u16::from_be_bytes([high, low])
    }

    /// The operation `kind` (bits 3-5 of the opcode) on the accumulator.
    #[inline(always)]
    fn accumulate(&mut self, kind: u8, value: u8) {
        let a = self.cpu.a;
        let carry = self.cpu.f >> 4 & 1;
        let (result, flags) = match kind {
            0 => alu::add(a, value, 0),
            1 => alu::add(a, value, carry),
            2 => alu::sub(a, value, 0),
            3 => alu::sub(a, value, carry),
            4 => alu::and(a, value),
            5 => alu::xor(a, value),
            6 => alu::or(a, value),
            _ => (a, alu::sub(a, value, 0).1),
        };
        self.cpu.a = result;
        self.cpu.f = flags;
    }

    #[inline(always)]
    fn jump_relative(&mut self, rom: Code<'_>, offset: u8) {
        let after = self.cpu.pc;
        self.cpu.pc = after.wrapping_add(offset as i8 as u16);
        if offset >= 0x80 {
            self.look_for_wait(rom, after.wrapping_sub(2));
        }
    }

    #[inline(always)]
    fn jump_absolute(&mut self, rom: Code<'_>, target: u16) {
        let after = self.cpu.pc;
        self.cpu.pc = target;
        if target < after {
            self.look_for_wait(rom, after.wrapping_sub(3));
        }
    }
}

/// Executes the instruction `OP` whose bytes are `word` (first byte lowest);
/// returns the T-cycles it takes.
#[inline(always)]
pub(super) fn execute<const OP: u8>(m: &mut Machine, rom: Code<'_>, word: u32) -> u64 {
    let x = OP >> 6;
    let y = OP >> 3 & 7;
    let z = OP & 7;
    let imm8 = (word >> 8) as u8;
    let imm16 = (word >> 8) as u16;
    m.cpu.pc = m.cpu.pc.wrapping_add(u16::from(LENGTHS[OP as usize]));
    match x {
        0 => execute_block0::<OP>(m, rom, imm8, imm16),
        1 if OP == 0x76 => {
            m.cpu.pc = m.cpu.pc.wrapping_sub(1);
            m.halt();
            4
        }
        1 if z == 6 => {
            let hl = m.cpu.hl;
            let value = if y == 7 {
                m.read_late(rom, hl)
            } else {
                m.read(rom, hl, 0)
            };
            set_r8(m, y, value);
            8
        }
        1 if y == 6 => {
            let value = r8(m, z);
            m.write(rom, m.cpu.hl, value, 0);
            8
        }
        1 => {
            let value = r8(m, z);
            set_r8(m, y, value);
            4
        }
        2 => {
            let (value, cycles) = if z == 6 {
                (m.read(rom, m.cpu.hl, 0), 8)
            } else {
                (r8(m, z), 4)
            };
            m.accumulate(y, value);
            cycles
        }
        _ => execute_block3::<OP>(m, rom, word),
    }
}

/// Register by number; the number is a constant wherever this is inlined.
#[inline(always)]
fn r8(m: &Machine, r: u8) -> u8 {
    match r {
        0 => m.r8::<0>(),
        1 => m.r8::<1>(),
        2 => m.r8::<2>(),
        3 => m.r8::<3>(),
        4 => m.r8::<4>(),
        5 => m.r8::<5>(),
        _ => m.r8::<7>(),
    }
}

#[inline(always)]
fn set_r8(m: &mut Machine, r: u8, value: u8) {
    match r {
        0 => m.set_r8::<0>(value),
        1 => m.set_r8::<1>(value),
        2 => m.set_r8::<2>(value),
        3 => m.set_r8::<3>(value),
        4 => m.set_r8::<4>(value),
        5 => m.set_r8::<5>(value),
        _ => m.set_r8::<7>(value),
    }
}

#[inline(always)]
fn execute_block0<const OP: u8>(m: &mut Machine, rom: Code<'_>, imm8: u8, imm16: u16) -> u64 {
    let y = OP >> 3 & 7;
    let z = OP & 7;
    let pair = y >> 1;
    match (z, y & 1) {
        (0, _) => match y {
            0 => 4,
            1 => {
                let [high, low] = m.cpu.sp.to_be_bytes();
                m.write(rom, imm16, low, 0);
                m.write(rom, imm16.wrapping_add(1), high, 0);
                20
            }
            // STOP: a two-byte instruction that does nothing on PyBoy's DMG.
            2 => 4,
            3 => {
                m.jump_relative(rom, imm8);
                12
            }
            _ => {
                if m.condition(y & 3) {
                    m.jump_relative(rom, imm8);
                    12
                } else {
                    8
                }
            }
        },
        (1, 0) => {
            m.set_pair(pair, imm16);
            12
        }
        (1, _) => {
            (m.cpu.hl, m.cpu.f) = alu::add16(m.cpu.hl, m.pair(pair), m.cpu.f);
            8
        }
        (2, is_load) => {
            let addr = match pair {
                0 => m.cpu.bc,
                1 => m.cpu.de,
                _ => m.cpu.hl,
            };
            match (pair, is_load) {
                (1, 0) => m.write_late(rom, addr, m.cpu.a),
                (1, _) => m.cpu.a = m.read_late(rom, addr),
                (_, 0) => m.write(rom, addr, m.cpu.a, 0),
                _ => m.cpu.a = m.read(rom, addr, 0),
            }
            // HL steps after the access: OAM reads during DMA look at it.
            match pair {
                2 => m.cpu.hl = addr.wrapping_add(1),
                3 => m.cpu.hl = addr.wrapping_sub(1),
                _ => {}
            }
            8
        }
        (3, 0) => {
            m.set_pair(pair, m.pair(pair).wrapping_add(1));
            8
        }
        (3, _) => {
            m.set_pair(pair, m.pair(pair).wrapping_sub(1));
            8
        }
        (4 | 5, _) => {
            let step = if z == 4 { alu::inc } else { alu::dec };
            if y == 6 {
                let hl = m.cpu.hl;
                let (value, f) = step(m.read(rom, hl, 0), m.cpu.f);
                m.cpu.f = f;
                m.write(rom, hl, value, 4);
                12
            } else {
                let (value, f) = step(r8(m, y), m.cpu.f);
                set_r8(m, y, value);
                m.cpu.f = f;
                4
            }
        }
        (6, _) => {
            if y == 6 {
                m.write(rom, m.cpu.hl, imm8, 4);
                12
            } else {
                set_r8(m, y, imm8);
                8
            }
        }
        _ => {
            let (a, f) = (m.cpu.a, m.cpu.f);
            (m.cpu.a, m.cpu.f) = match y {
                0..=3 => {
                    let (result, flags) = alu::shift(y, a, f);
                    (result, flags & !FLAG_Z)
                }
                4 => alu::daa(a, f),
                5 => (!a, f | FLAG_N | FLAG_H),
                6 => (a, f & FLAG_Z | FLAG_C),
                _ => (a, f & (FLAG_Z | FLAG_C) ^ FLAG_C),
            };
            4
        }
    }
}

#[inline(always)]
fn execute_block3<const OP: u8>(m: &mut Machine, rom: Code<'_>, word: u32) -> u64 {
    let y = OP >> 3 & 7;
    let imm8 = (word >> 8) as u8;
    let imm16 = (word >> 8) as u16;
    match OP {
        // RET cc
        0xC0 | 0xC8 | 0xD0 | 0xD8 => {
            if m.condition(y) {
                m.cpu.pc = m.pop(rom, 8);
                20
            } else {
                8
            }
        }
        // POP
        0xC1 | 0xD1 | 0xE1 => {
            let value = m.pop(rom, 0);
            m.set_pair(y >> 1, value);
            12
        }
        0xF1 => {
            let [a, f] = m.pop(rom, 0).to_be_bytes();
            m.cpu.a = a;
            m.cpu.f = f & 0xF0;
            12
        }
        // JP cc
        0xC2 | 0xCA | 0xD2 | 0xDA => {
            if m.condition(y) {
                m.jump_absolute(rom, imm16);
                16
            } else {
                12
            }
        }
        0xC3 => {
            m.jump_absolute(rom, imm16);
            16
        }
        // CALL cc
        0xC4 | 0xCC | 0xD4 | 0xDC => {
            if m.condition(y) {
                m.push(rom, m.cpu.pc, 16);
                m.cpu.pc = imm16;
                24
            } else {
                12
            }
        }
        0xCD => {
            m.push(rom, m.cpu.pc, 16);
            m.cpu.pc = imm16;
            24
        }
        // PUSH
        0xC5 | 0xD5 | 0xE5 => {
            m.push(rom, m.pair(y >> 1), 8);
            16
        }
        0xF5 => {
            m.push(rom, u16::from_be_bytes([m.cpu.a, m.cpu.f]), 8);
            16
        }
        // Arithmetic with an immediate byte
        0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE => {
            m.accumulate(y, imm8);
            8
        }
        // RST
        0xC7 | 0xCF | 0xD7 | 0xDF | 0xE7 | 0xEF | 0xF7 | 0xFF => {
            m.push(rom, m.cpu.pc, 8);
            m.cpu.pc = u16::from(y) * 8;
            16
        }
        0xC9 => {
            m.cpu.pc = m.pop(rom, 4);
            16
        }
        // RETI
        0xD9 => {
            m.enable_interrupts_now();
            m.cpu.pc = m.pop(rom, 4);
            16
        }
        0xCB => execute_cb(m, rom, imm8),
        // LDH
        0xE0 => {
            m.write_high(rom, imm8, m.cpu.a, 4);
            12
        }
        0xF0 => {
            m.cpu.a = m.read_high(rom, imm8, 4);
            12
        }
        0xE2 => {
            m.write_high(rom, m.cpu.bc as u8, m.cpu.a, 0);
            8
        }
        0xF2 => {
            m.cpu.a = m.read_high(rom, m.cpu.bc as u8, 0);
            8
        }
        0xE8 => {
            (m.cpu.sp, m.cpu.f) = alu::add_sp(m.cpu.sp, imm8);
            16
        }
        0xF8 => {
            (m.cpu.hl, m.cpu.f) = alu::add_sp(m.cpu.sp, imm8);
            12
        }
        0xE9 => {
            m.cpu.pc = m.cpu.hl;
            4
        }
        0xF9 => {
            m.cpu.sp = m.cpu.hl;
            8
        }
        0xEA => {
            m.write(rom, imm16, m.cpu.a, 8);
            16
        }
        0xFA => {
            m.cpu.a = m.read(rom, imm16, 8);
            16
        }
        0xF3 => {
            m.cpu.ime = false;
            m.cpu.ei_delay = 0;
            4
        }
        0xFB => {
            m.enable_interrupts_delayed();
            4
        }
        // D3 DB DD E3 E4 EB EC ED F4 FC FD
        _ => {
            m.cpu.pc = m.cpu.pc.wrapping_sub(1);
            if OP == STOP_OPCODE && m.stops_armed {
                m.stop_here();
                return 0;
            }
            m.lock_up();
            4
        }
    }
}

/// The CB page: `y` is the shift kind or bit number, `z` the register.
fn execute_cb(m: &mut Machine, rom: Code<'_>, op: u8) -> u64 {
    let (x, y, z) = (op >> 6, op >> 3 & 7, op & 7);
    if z == 6 {
        let hl = m.cpu.hl;
        let value = m.read(rom, hl, 4);
        if x == 1 {
            m.cpu.f = alu::bit(y, value, m.cpu.f);
            return 12;
        }
        let value = change_bits(m, x, y, value);
        m.write(rom, hl, value, 8);
        return 16;
    }
    let value = r8(m, z);
    if x == 1 {
        m.cpu.f = alu::bit(y, value, m.cpu.f);
    } else {
        let value = change_bits(m, x, y, value);
        set_r8(m, z, value);
    }
    8
}

#[inline(always)]
fn change_bits(m: &mut Machine, x: u8, y: u8, value: u8) -> u8 {
    match x {
        0 => {
            let (result, flags) = alu::shift(y, value, m.cpu.f);
            m.cpu.f = flags;
            result
        }
        2 => value & !(1 << y),
        _ => value | 1 << y,
    }
}
