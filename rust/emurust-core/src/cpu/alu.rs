//! Arithmetic and its flags, as pure functions of the operands.

use super::registers::{FLAG_C, FLAG_H, FLAG_N, FLAG_Z};

#[inline(always)]
fn zero(result: u8) -> u8 {
    u8::from(result == 0) << 7
}

/// `a + value + carry`: result and flags.
#[inline(always)]
pub(crate) fn add(a: u8, value: u8, carry: u8) -> (u8, u8) {
    let sum = u16::from(a) + u16::from(value) + u16::from(carry);
    let result = sum as u8;
    let half = (a ^ value ^ result) << 1 & FLAG_H;
    let full = (sum >> 4) as u8 & FLAG_C;
    (result, zero(result) | half | full)
}

/// `a - value - carry`: result and flags.
#[inline(always)]
pub(crate) fn sub(a: u8, value: u8, carry: u8) -> (u8, u8) {
    let difference = u16::from(a)
        .wrapping_sub(u16::from(value))
        .wrapping_sub(u16::from(carry));
    let result = difference as u8;
    let half = (a ^ value ^ result) << 1 & FLAG_H;
    let full = (difference >> 4) as u8 & FLAG_C;
    (result, zero(result) | FLAG_N | half | full)
}

#[inline(always)]
pub(crate) fn and(a: u8, value: u8) -> (u8, u8) {
    let result = a & value;
    (result, zero(result) | FLAG_H)
}

#[inline(always)]
pub(crate) fn xor(a: u8, value: u8) -> (u8, u8) {
    let result = a ^ value;
    (result, zero(result))
}

#[inline(always)]
pub(crate) fn or(a: u8, value: u8) -> (u8, u8) {
    let result = a | value;
    (result, zero(result))
}

/// INC keeps the carry flag of `f`.
#[inline(always)]
pub(crate) fn inc(value: u8, f: u8) -> (u8, u8) {
    let result = value.wrapping_add(1);
    let half = u8::from(result & 0xF == 0) << 5;
    (result, f & FLAG_C | zero(result) | half)
}

/// DEC keeps the carry flag of `f`.
#[inline(always)]
pub(crate) fn dec(value: u8, f: u8) -> (u8, u8) {
    let result = value.wrapping_sub(1);
    let half = u8::from(result & 0xF == 0xF) << 5;
    (result, f & FLAG_C | zero(result) | FLAG_N | half)
}

/// `hl + value`; the zero flag of `f` is kept.
#[inline(always)]
pub(crate) fn add16(hl: u16, value: u16, f: u8) -> (u16, u8) {
    let (result, carry) = hl.overflowing_add(value);
    let half = ((hl ^ value ^ result) >> 12) as u8 & 1;
    (result, f & FLAG_Z | half << 5 | u8::from(carry) << 4)
}

/// SP plus a signed byte; the flags come from the low byte.
#[inline(always)]
pub(crate) fn add_sp(sp: u16, offset: u8) -> (u16, u8) {
    let (_, flags) = add(sp as u8, offset, 0);
    let result = sp.wrapping_add(offset as i8 as u16);
    (result, flags & (FLAG_H | FLAG_C))
}

#[inline(always)]
pub(crate) fn daa(a: u8, f: u8) -> (u8, u8) {
    let mut correction = 0;
    if f & FLAG_H != 0 || f & FLAG_N == 0 && a & 0xF > 9 {
        correction |= 0x06;
    }
    if f & FLAG_C != 0 || f & FLAG_N == 0 && a > 0x99 {
        correction |= 0x60;
    }
    let result = if f & FLAG_N != 0 {
        a.wrapping_sub(correction)
    } else {
        a.wrapping_add(correction)
    };
    let carry = u8::from(correction & 0x60 != 0) << 4;
    (result, zero(result) | f & FLAG_N | carry)
}

/// The eight CB rotates and shifts, by bits 3-5 of the opcode.
#[inline(always)]
pub(crate) fn shift(kind: u8, value: u8, f: u8) -> (u8, u8) {
    let carry_in = f >> 4 & 1;
    let (result, carry) = match kind {
        0 => (value.rotate_left(1), value >> 7),
        1 => (value.rotate_right(1), value & 1),
        2 => (value << 1 | carry_in, value >> 7),
        3 => (value >> 1 | carry_in << 7, value & 1),
        4 => (value << 1, value >> 7),
        5 => (value >> 1 | value & 0x80, value & 1),
        6 => (value.rotate_left(4), 0),
        _ => (value >> 1, value & 1),
    };
    (result, zero(result) | carry << 4)
}

/// BIT keeps the carry flag of `f`.
#[inline(always)]
pub(crate) fn bit(index: u8, value: u8, f: u8) -> u8 {
    zero(value & 1 << index) | FLAG_H | f & FLAG_C
}
