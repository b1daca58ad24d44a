//! The SM83's registers (Pan Docs: CPU registers and flags).

use crate::savestate::state_fields;

pub(crate) const FLAG_Z: u8 = 1 << 7;
pub(crate) const FLAG_N: u8 = 1 << 6;
pub(crate) const FLAG_H: u8 = 1 << 5;
pub(crate) const FLAG_C: u8 = 1 << 4;

/// The registers as a user reads and writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    /// Accumulator.
    pub a: u8,
    /// Flags; the low nibble is always 0.
    pub f: u8,
    /// B.
    pub b: u8,
    /// C.
    pub c: u8,
    /// D.
    pub d: u8,
    /// E.
    pub e: u8,
    /// H and L.
    pub hl: u16,
    /// Stack pointer.
    pub sp: u16,
    /// Program counter.
    pub pc: u16,
}

/// Registers and interrupt state. The pairs are kept whole: an address is one load.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cpu {
    pub(crate) a: u8,
    pub(crate) f: u8,
    pub(crate) bc: u16,
    pub(crate) de: u16,
    pub(crate) hl: u16,
    pub(crate) sp: u16,
    pub(crate) pc: u16,
    pub(crate) ime: bool,
    /// Instructions until EI takes effect, counting the one running.
    pub(crate) ei_delay: u8,
    pub(crate) halted: bool,
    /// HALT was executed in the shadow of EI: waking up returns to the HALT itself.
    pub(crate) halted_during_ei: bool,
    /// An illegal opcode was executed: the CPU does nothing until reset.
    pub(crate) locked: bool,
}

state_fields!(Cpu {
    a,
    f,
    bc,
    de,
    hl,
    sp,
    pc,
    ime,
    ei_delay,
    halted,
    halted_during_ei,
    locked
});

impl Cpu {
    /// The registers but SP and PC as one number, to be compared.
    pub(crate) fn packed(&self) -> u64 {
        u64::from(self.a)
            | u64::from(self.f) << 8
            | u64::from(self.bc) << 16
            | u64::from(self.de) << 32
            | u64::from(self.hl) << 48
    }

    pub(crate) fn at_hand_over() -> Self {
        Self {
            a: 0x01,
            f: 0xD0,
            bc: 0x0013,
            de: 0x008F,
            hl: 0x0087,
            sp: 0xFFFE,
            pc: 0x0100,
            ..Self::default()
        }
    }

    pub(crate) fn registers(&self) -> Registers {
        let [b, c] = self.bc.to_be_bytes();
        let [d, e] = self.de.to_be_bytes();
        Registers {
            a: self.a,
            f: self.f,
            b,
            c,
            d,
            e,
            hl: self.hl,
            sp: self.sp,
            pc: self.pc,
        }
    }

    pub(crate) fn set_registers(&mut self, registers: Registers) {
        self.a = registers.a;
        self.f = registers.f & 0xF0;
        self.bc = u16::from_be_bytes([registers.b, registers.c]);
        self.de = u16::from_be_bytes([registers.d, registers.e]);
        self.hl = registers.hl;
        self.sp = registers.sp;
        self.pc = registers.pc;
    }
}
