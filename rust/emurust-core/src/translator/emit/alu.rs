//! Arithmetic: the same results and flags as `cpu/alu.rs`, flags kept apart.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I32;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::memory::Next;
use super::{Emitter, Register};
use crate::translator::context::Timing;

const SUBTRACT: u8 = 0x40;
const HALF: u8 = 0x10;

impl Emitter<'_, '_> {
    fn set_flag_constants(&mut self, subtract: u8, half: u8) {
        self.set_constant(Register::Subtract, subtract);
        self.set_constant(Register::Half, half);
    }

    fn set_zero_and_carry(&mut self, zero: Value, carry: Value) {
        self.set(Register::Zero, zero);
        self.set(Register::Carry, carry);
    }

    /// The carry is what is left of a value that is shifted to the right.
    fn set_carry_from(&mut self, value: Value, shift: i64) {
        self.set_later(Register::Carry, [Some(value), None, None], shift);
    }

    /// The half carry of a sum or difference: bit 4 of the operands and the result.
    fn set_half_from(&mut self, left: Value, right: Value, result: Value) {
        let values = [left, right, result].map(Some);
        self.set_later(Register::Half, values, 0);
    }

    /// The operation `kind` (bits 3-5 of the opcode) on the accumulator.
    pub(super) fn accumulate(&mut self, kind: u8, value: Value) {
        let a = self.get(Register::A);
        match kind {
            0 | 1 => {
                let mut sum = self.b.ins().iadd(a, value);
                if kind == 1 {
                    let carry = self.get(Register::Carry);
                    sum = self.b.ins().iadd(sum, carry);
                }
                let result = self.and(sum, 0xFF);
                self.set_constant(Register::Subtract, 0);
                self.set_half_from(a, value, sum);
                self.set(Register::Zero, result);
                self.set_carry_from(sum, 8);
                self.set(Register::A, result);
            }
            2 | 3 | 7 => {
                let mut difference = self.b.ins().isub(a, value);
                if kind == 3 {
                    let carry = self.get(Register::Carry);
                    difference = self.b.ins().isub(difference, carry);
                }
                let result = self.and(difference, 0xFF);
                self.set_constant(Register::Subtract, SUBTRACT);
                self.set_half_from(a, value, difference);
                self.set(Register::Zero, result);
                self.set_carry_from(difference, 31);
                if kind != 7 {
                    self.set(Register::A, result);
                }
            }
            _ => {
                self.set_flag_constants(0, if kind == 4 { HALF } else { 0 });
                self.set_constant(Register::Carry, 0);
                if kind == 5 && a == value {
                    // XOR A
                    self.set_constant(Register::Zero, 0);
                    self.set_constant(Register::A, 0);
                    return;
                }
                let result = match kind {
                    // AND A and OR A
                    _ if a == value => a,
                    4 => self.b.ins().band(a, value),
                    5 => self.b.ins().bxor(a, value),
                    _ => self.b.ins().bor(a, value),
                };
                self.set(Register::Zero, result);
                self.set(Register::A, result);
            }
        }
    }

    /// INC or DEC of a byte.
    pub(super) fn step8(&mut self, value: Value, up: bool) -> Value {
        let stepped = self.add(value, if up { 1 } else { -1 });
        let result = self.and(stepped, 0xFF);
        self.set_constant(Register::Subtract, if up { 0 } else { SUBTRACT });
        self.set_later(Register::Half, [Some(value), Some(stepped), None], 0);
        self.set(Register::Zero, result);
        result
    }

    /// ADD HL,rr.
    pub(super) fn add_to_hl(&mut self, value: Value) {
        let hl = self.get(Register::Hl);
        let sum = self.b.ins().iadd(hl, value);
        let result = self.and(sum, 0xFFFF);
        self.set_constant(Register::Subtract, 0);
        self.set_later(Register::Half, [hl, value, sum].map(Some), 8);
        self.set_carry_from(sum, 16);
        self.set(Register::Hl, result);
    }

    /// SP plus a signed byte.
    pub(super) fn add_to_sp(&mut self, imm8: i64) -> Value {
        let sp = self.get(Register::Sp);
        let low = self.and(sp, 0xFF);
        let low_sum = self.add(low, imm8);
        let half = self.b.ins().bxor_imm_u(sp, imm8);
        let half = self.b.ins().bxor(half, low_sum);
        let carry = self.shift_right(low_sum, 8);
        self.set_constant(Register::Subtract, 0);
        self.set(Register::Half, half);
        self.set_constant(Register::Zero, 1);
        self.set(Register::Carry, carry);
        let sum = self.add(sp, i64::from(imm8 as u8 as i8));
        self.and(sum, 0xFFFF)
    }

    /// Opcodes 07 to 3F in steps of 8: rotates of A, DAA, CPL, SCF, CCF.
    pub(super) fn emit_accumulator_op(&mut self, y: u8) {
        let a = self.get(Register::A);
        match y {
            0..=3 => {
                let result = self.shift(y, a);
                self.set_constant(Register::Zero, 1);
                self.set(Register::A, result);
            }
            4 => self.emit_daa(a),
            5 => {
                let result = self.b.ins().bxor_imm_u(a, 0xFF);
                self.set(Register::A, result);
                self.set_flag_constants(SUBTRACT, HALF);
            }
            6 => {
                self.set_flag_constants(0, 0);
                self.set_constant(Register::Carry, 1);
            }
            _ => {
                let carry = self.get(Register::Carry);
                let flipped = self.b.ins().bxor_imm_u(carry, 1);
                self.set_flag_constants(0, 0);
                self.set(Register::Carry, flipped);
            }
        }
    }

    fn emit_daa(&mut self, a: Value) {
        let subtract = self.get(Register::Subtract);
        let added = self.is_zero(subtract);
        let half = self.get(Register::Half);
        let half = self.and(half, HALF.into());
        let has_half = self.b.ins().icmp_imm_u(IntCC::NotEqual, half, 0);
        let carry = self.get(Register::Carry);
        let has_carry = self.b.ins().icmp_imm_u(IntCC::NotEqual, carry, 0);
        let low = self.and(a, 0xF);
        let low_over = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, low, 9);
        let high_over = self.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, a, 0x99);
        let low_over = self.b.ins().band(low_over, added);
        let high_over = self.b.ins().band(high_over, added);
        let fix_low = self.b.ins().bor(low_over, has_half);
        let fix_high = self.b.ins().bor(high_over, has_carry);
        let none = self.constant(0);
        let six = self.constant(0x06);
        let sixty = self.constant(0x60);
        let low_part = self.b.ins().select(fix_low, six, none);
        let high_part = self.b.ins().select(fix_high, sixty, none);
        let correction = self.b.ins().bor(low_part, high_part);
        let plus = self.b.ins().iadd(a, correction);
        let minus = self.b.ins().isub(a, correction);
        let corrected = self.b.ins().select(added, plus, minus);
        let result = self.and(corrected, 0xFF);
        let carry = self.b.ins().uextend(I32, fix_high);
        self.set_constant(Register::Half, 0);
        self.set_zero_and_carry(result, carry);
        self.set(Register::A, result);
    }

    /// The eight CB rotates and shifts, by bits 3-5 of the opcode.
    fn shift(&mut self, kind: u8, value: Value) -> Value {
        let left = self.shift_left(value, 1);
        let right = self.shift_right(value, 1);
        let bit0 = self.and(value, 1);
        let bit7 = self.shift_right(value, 7);
        let (bits, carry) = match kind {
            0 => (self.b.ins().bor(left, bit7), bit7),
            1 => {
                let top = self.shift_left(bit0, 7);
                (self.b.ins().bor(right, top), bit0)
            }
            2 => {
                let carry_in = self.get(Register::Carry);
                (self.b.ins().bor(left, carry_in), bit7)
            }
            3 => {
                let carry_in = self.get(Register::Carry);
                let top = self.shift_left(carry_in, 7);
                (self.b.ins().bor(right, top), bit0)
            }
            4 => (left, bit7),
            5 => {
                let sign = self.and(value, 0x80);
                (self.b.ins().bor(right, sign), bit0)
            }
            6 => {
                let low = self.shift_left(value, 4);
                let high = self.shift_right(value, 4);
                let carry = self.constant(0);
                (self.b.ins().bor(low, high), carry)
            }
            _ => (right, bit0),
        };
        let result = self.and(bits, 0xFF);
        self.set_flag_constants(0, 0);
        self.set_zero_and_carry(result, carry);
        result
    }

    /// The CB page.
    pub(super) fn emit_cb(&mut self, op: u8, next_pc: u16) {
        let (x, y, z) = (op >> 6, op >> 3 & 7, op & 7);
        let at_hl = z == 6;
        let value = if at_hl {
            let hl = self.get(Register::Hl);
            self.read(hl, 4, false)
        } else {
            self.r8(z)
        };
        let bit = 1i64 << y;
        let result = match x {
            0 => self.shift(y, value),
            1 => {
                let zero = self.and(value, bit);
                self.set(Register::Zero, zero);
                self.set_flag_constants(0, HALF);
                return;
            }
            2 => self.and(value, !bit & 0xFF),
            _ => self.b.ins().bor_imm_u(value, bit),
        };
        if at_hl {
            let hl = self.get(Register::Hl);
            self.write(
                hl,
                result,
                Timing::at(8),
                Next {
                    pc: next_pc,
                    cycles: 16,
                },
            );
        } else {
            self.set_r8(z, result);
        }
    }
}
