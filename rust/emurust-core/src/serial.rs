//! The link port with nothing connected (Pan Docs: Serial Data Transfer).
//!
//! A transfer on the internal clock completes 1,024 cycles after SC was written
//! (PyBoy's figure; hardware takes 4,096) and shifts in ones.

use crate::savestate::state_fields;
use crate::timer::NEVER;

const TRANSFER_T_CYCLES: u64 = 1024;
const UNUSED_SC_BITS: u8 = 0b0111_1110;

#[derive(Debug, Clone)]
pub(crate) struct Serial {
    pub(crate) sc: u8,
    /// A transfer on the internal clock is running.
    pub(crate) transferring: bool,
    pub(crate) done_at: u64,
    pub(crate) synced_to: u64,
    /// Distance to the next event as PyBoy's coordinator sees it.
    pub(crate) published: u64,
}

state_fields!(Serial {
    sc,
    transferring,
    done_at,
    synced_to,
    published
});

impl Default for Serial {
    fn default() -> Self {
        Self {
            sc: UNUSED_SC_BITS,
            transferring: false,
            done_at: u64::MAX,
            synced_to: 0,
            published: 0,
        }
    }
}

impl Serial {
    /// Catches up to `now`; true if the serial interrupt was requested on the way.
    pub(crate) fn sync(&mut self, now: u64) -> bool {
        if now == self.synced_to {
            return false;
        }
        self.synced_to = now;
        let completed = self.transferring && now >= self.done_at;
        if completed {
            self.sc &= 0x7F;
            self.transferring = false;
            self.done_at = u64::MAX;
        }
        self.published = if self.transferring {
            self.done_at - now
        } else {
            NEVER
        };
        completed
    }

    /// SC write. The caller has synced to `now`.
    pub(crate) fn write_sc(&mut self, value: u8, now: u64) {
        self.sc = value | UNUSED_SC_BITS;
        let internal_clock = value & 1 != 0;
        if internal_clock {
            self.transferring = value & 0x80 != 0;
            self.done_at = now + TRANSFER_T_CYCLES;
            self.published = TRANSFER_T_CYCLES;
        } else {
            self.transferring = false;
            self.done_at = u64::MAX;
            self.published = NEVER;
        }
    }

    /// Absolute cycle of the completion of a running transfer.
    pub(crate) fn event_at(&self) -> u64 {
        if self.transferring {
            self.done_at
        } else {
            u64::MAX
        }
    }
}
