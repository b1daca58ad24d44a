//! IF and IE (Pan Docs: Interrupts).

use crate::savestate::state_fields;

#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupts {
    /// IF, five bits.
    pub(crate) requested: u8,
    /// IE, all eight bits are kept.
    pub(crate) enabled: u8,
}

state_fields!(Interrupts { requested, enabled });

impl Interrupts {
    pub(crate) const VBLANK: u8 = 1 << 0;
    pub(crate) const STAT: u8 = 1 << 1;
    pub(crate) const TIMER: u8 = 1 << 2;
    pub(crate) const SERIAL: u8 = 1 << 3;
    pub(crate) const JOYPAD: u8 = 1 << 4;
    pub(crate) const ALL: u8 = 0b1_1111;

    pub(crate) fn request(&mut self, sources: u8) {
        self.requested |= sources;
    }

    /// Requested and enabled.
    pub(crate) fn pending(&self) -> u8 {
        self.requested & self.enabled & Self::ALL
    }
}
