//! What a block overwrites before anybody could see it: what leads to the block need
//! not give that to the machine.

use super::Register;
use crate::translator::plan::Instruction;

/// Some of A and the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Set(u8);

impl Set {
    const A: Self = Self(1);
    const SUBTRACT: Self = Self(1 << 1);
    const HALF: Self = Self(1 << 2);
    const CARRY: Self = Self(1 << 3);
    const ZERO: Self = Self(1 << 4);
    const NONE: Self = Self(0);
    const ALL_BUT_CARRY: Self = Self::ZERO.and(Self::SUBTRACT).and(Self::HALF);
    const ALL_BUT_ZERO: Self = Self::SUBTRACT.and(Self::HALF).and(Self::CARRY);
    const FLAGS: Self = Self::ALL_BUT_CARRY.and(Self::CARRY);

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    const fn when(self, condition: bool) -> Self {
        if condition {
            self
        } else {
            Self::NONE
        }
    }

    pub(super) fn contains(self, register: Register) -> bool {
        let member = match register {
            Register::A => Self::A,
            Register::Subtract => Self::SUBTRACT,
            Register::Half => Self::HALF,
            Register::Carry => Self::CARRY,
            Register::Zero => Self::ZERO,
            _ => Self::NONE,
        };
        self.0 & member.0 != 0
    }
}

/// What these instructions overwrite before they read it, and before one of them may leave.
pub(super) fn overwritten(code: &[Instruction]) -> Set {
    let mut seen = Set::NONE;
    let mut overwritten = Set::NONE;
    for &instruction in code {
        let Some((reads, writes)) = effects(instruction) else {
            break;
        };
        seen = seen.and(reads.without(overwritten));
        overwritten = overwritten.and(writes.without(seen));
    }
    overwritten
}

/// What an instruction reads and what it overwrites; none if execution may leave there or
/// go elsewhere.
fn effects(instruction: Instruction) -> Option<(Set, Set)> {
    let op = instruction.op;
    let (x, y, z) = (op >> 6, op >> 3 & 7, op & 7);
    // Of the register in these bits of the opcode, if that is A.
    let source = Set::A.when(z == 7);
    let target = Set::A.when(y == 7);
    let writes_memory = match x {
        0 => op == 0x08 || z == 2 && y & 1 == 0 || matches!(z, 4..=6) && y == 6,
        1 => y == 6,
        _ => false,
    };
    if writes_memory {
        return None;
    }
    Some(match (x, z) {
        // NOP, and a JR to where the code goes on
        (0, 0) if matches!(op, 0x00 | 0x18) => (Set::NONE, Set::NONE),
        (0, 0) => return None,
        (0, 1) => (Set::NONE, Set::ALL_BUT_ZERO.when(y & 1 == 1)),
        (0, 2) => (Set::NONE, Set::A),
        (0, 3) => (Set::NONE, Set::NONE),
        (0, 4 | 5) => (target, target.and(Set::ALL_BUT_CARRY)),
        (0, 6) => (Set::NONE, target),
        (0, _) => accumulator_effects(y),
        (1, _) => (source, target),
        (2, _) => arithmetic_effects(y, z),
        _ => return block3_effects(instruction),
    })
}

fn block3_effects(instruction: Instruction) -> Option<(Set, Set)> {
    let y = instruction.op >> 3 & 7;
    Some(match instruction.op {
        // POP; LD SP,HL; JP; DI
        0xC1 | 0xD1 | 0xE1 | 0xF9 | 0xC3 | 0xF3 => (Set::NONE, Set::NONE),
        0xF1 => (Set::NONE, Set::A.and(Set::FLAGS)),
        0xCB => return cb_effects(instruction.operand as u8),
        // LDH (n),A to high RAM
        0xE0 if (0x80..=0xFE).contains(&(instruction.operand & 0xFF)) => (Set::A, Set::NONE),
        0xF0 | 0xF2 | 0xFA => (Set::NONE, Set::A),
        0xE8 | 0xF8 => (Set::NONE, Set::FLAGS),
        op if op & 7 == 6 => arithmetic_effects(y, 6),
        _ => return None,
    })
}

/// The operation `kind` on A and another operand.
fn arithmetic_effects(kind: u8, operand: u8) -> (Set, Set) {
    let with_carry = Set::CARRY.when(matches!(kind, 1 | 3));
    let is_xor_a = kind == 5 && operand == 7;
    let reads = Set::A.when(!is_xor_a).and(with_carry);
    (reads, Set::FLAGS.and(Set::A.when(kind != 7)))
}

/// Rotates of A, DAA, CPL, SCF, CCF.
fn accumulator_effects(y: u8) -> (Set, Set) {
    let carry = Set::CARRY;
    match y {
        0 | 1 => (Set::A, Set::A.and(Set::FLAGS)),
        2 | 3 => (Set::A.and(carry), Set::A.and(Set::FLAGS)),
        4 => (Set::A.and(Set::FLAGS), Set::NONE),
        5 => (Set::A, Set::A.and(Set::SUBTRACT).and(Set::HALF)),
        6 => (Set::NONE, Set::ALL_BUT_ZERO),
        _ => (carry, Set::ALL_BUT_ZERO),
    }
}

fn cb_effects(op: u8) -> Option<(Set, Set)> {
    let (x, y, z) = (op >> 6, op >> 3 & 7, op & 7);
    if z == 6 && x != 1 {
        return None;
    }
    let operand = Set::A.when(z == 7);
    Some(match x {
        0 => {
            let carry = Set::CARRY.when(matches!(y, 2 | 3));
            (operand.and(carry), operand.and(Set::FLAGS))
        }
        1 => (operand, Set::ALL_BUT_CARRY),
        _ => (operand, operand),
    })
}

/// Whether an instruction accesses memory, and so may tell the bus when the one before
/// it began.
pub(super) fn accesses_memory(instruction: Instruction) -> bool {
    let op = instruction.op;
    let (x, y, z) = (op >> 6, op >> 3 & 7, op & 7);
    match x {
        0 => op == 0x08 || z == 2 || matches!(z, 4..=6) && y == 6,
        1 => y == 6 || z == 6,
        2 => z == 6,
        _ => match op {
            0xCB => instruction.operand & 7 == 6,
            0xC3 | 0xE9 | 0xF3 | 0xFB | 0xF8 | 0xF9 | 0xE8 => false,
            _ => z != 6 && op & 0xE7 != 0xC2,
        },
    }
}
