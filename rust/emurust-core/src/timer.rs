//! DIV and TIMA (Pan Docs: Timer and Divider Registers), with PyBoy's reload phases.
//!
//! A 16-bit counter advances once per T-cycle; DIV is its high byte and TIMA
//! counts the falling edges of one of its bits. All of it is a function of the
//! cycle counter between writes, so the timer is caught up only when somebody
//! looks.

use crate::savestate::{state_fields, StateError};

/// Distance published while nothing is scheduled.
pub(crate) const NEVER: u64 = 1 << 31;

const ENABLE: u8 = 0b100;

/// Progress of the two four-cycle phases that follow a TIMA overflow.
pub(crate) mod reload {
    /// No overflow in the last eight cycles.
    pub(crate) const IDLE: u8 = 0;
    /// TIMA reads zero; the interrupt is requested when this phase ends.
    pub(crate) const PENDING: u8 = 1;
    /// TMA is being copied: writes to TIMA are lost.
    pub(crate) const COPYING: u8 = 2;
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Timer {
    /// The 16-bit counter behind DIV, at `synced_to`.
    pub(crate) counter: u16,
    pub(crate) tima: u8,
    pub(crate) tma: u8,
    pub(crate) tac: u8,
    pub(crate) reload_phase: u8,
    pub(crate) reload_t_cycles: u8,
    /// Cycle up to which the fields hold.
    pub(crate) synced_to: u64,
    /// What PyBoy's coordinator sees: cycles from the last catch-up to the next
    /// event, as computed by that catch-up.
    pub(crate) published: u64,
}

state_fields!(Timer {
    counter,
    tima,
    tma,
    tac,
    reload_phase,
    reload_t_cycles,
    synced_to,
    published
});

impl Timer {
    pub(crate) fn div(&self) -> u8 {
        (self.counter >> 8) as u8
    }

    pub(crate) fn read_tima(&self) -> u8 {
        if self.reload_phase == reload::PENDING {
            0
        } else {
            self.tima
        }
    }

    /// Binary logarithm of the period of TIMA in T-cycles.
    fn period_shift(tac: u8) -> u32 {
        // 1024, 16, 64 and 256 cycles, for TAC 0 to 3.
        0x0806_040A >> (8 * u32::from(tac & 0b11)) & 0xFF
    }

    /// The counter bit whose falling edge TIMA counts.
    fn edge_bit(tac: u8) -> u16 {
        1 << (Self::period_shift(tac) - 1)
    }

    /// Cycles since the last edge that TIMA counted or would have counted.
    fn edge_phase(&self) -> u64 {
        u64::from(self.counter) & ((1 << Self::period_shift(self.tac)) - 1)
    }

    fn enabled(&self) -> bool {
        self.tac & ENABLE != 0
    }

    /// Catches up to `now`; true if the timer interrupt was requested on the way.
    pub(crate) fn sync(&mut self, now: u64) -> bool {
        let elapsed = now.wrapping_sub(self.synced_to);
        if elapsed == 0 {
            return false;
        }
        self.synced_to = now;
        let requested = self.advance(elapsed);
        self.published = self.distance();
        requested
    }

    fn advance(&mut self, mut cycles: u64) -> bool {
        let mut requested = false;
        while cycles > 0 {
            if self.reload_phase != reload::IDLE {
                requested |= self.step();
                cycles -= 1;
                continue;
            }
            let step = if self.enabled() {
                cycles.min(self.cycles_to_overflow())
            } else {
                cycles
            };
            self.skip(step);
            cycles -= step;
        }
        requested
    }

    /// Advances `cycles` without a reload phase in progress, up to the overflow edge at most.
    fn skip(&mut self, cycles: u64) {
        if self.enabled() {
            let edges = (self.edge_phase() + cycles) >> Self::period_shift(self.tac);
            let tima = u64::from(self.tima) + edges;
            if tima > 0xFF {
                self.overflow();
            } else {
                self.tima = tima as u8;
            }
        }
        self.counter = self.counter.wrapping_add(cycles as u16);
    }

    /// One cycle of the general case.
    fn step(&mut self) -> bool {
        let mut requested = false;
        self.reload_t_cycles -= 1;
        if self.reload_t_cycles == 0 {
            if self.reload_phase == reload::PENDING {
                self.reload_phase = reload::COPYING;
                self.reload_t_cycles = 4;
                requested = true;
            } else {
                self.reload_phase = reload::IDLE;
            }
        }
        let next = self.counter.wrapping_add(1);
        let bit = Self::edge_bit(self.tac);
        if self.enabled() && self.counter & bit != 0 && next & bit == 0 {
            self.count();
        }
        self.counter = next;
        requested
    }

    fn count(&mut self) {
        if self.tima == 0xFF {
            self.overflow();
        } else {
            self.tima += 1;
        }
    }

    fn overflow(&mut self) {
        self.tima = self.tma;
        self.reload_phase = reload::PENDING;
        self.reload_t_cycles = 4;
    }

    fn cycles_to_overflow(&self) -> u64 {
        (u64::from(0x100 - u16::from(self.tima)) << Self::period_shift(self.tac))
            - self.edge_phase()
    }

    fn distance(&self) -> u64 {
        if !self.enabled() {
            return NEVER;
        }
        let edge = self.cycles_to_overflow();
        if self.reload_phase == reload::PENDING {
            edge.min(u64::from(self.reload_t_cycles))
        } else {
            edge
        }
    }

    /// Absolute cycle at which the interrupt will be requested, if nothing is written before.
    pub(crate) fn interrupt_at(&self) -> u64 {
        if self.reload_phase == reload::PENDING {
            self.synced_to + u64::from(self.reload_t_cycles)
        } else if self.enabled() {
            self.synced_to + self.cycles_to_overflow() + 4
        } else {
            u64::MAX
        }
    }

    /// Absolute cycle of the next time PyBoy's timer ends a slice: the overflow
    /// edge, or the interrupt once the edge has passed.
    pub(crate) fn event_at(&self) -> u64 {
        match self.distance() {
            NEVER => u64::MAX,
            distance => self.synced_to + distance,
        }
    }

    /// TIMA has overflowed by `now`, or is being reloaded. While neither is so, nothing
    /// depends on how far the timer was caught up.
    pub(crate) fn has_event_by(&self, now: u64) -> bool {
        self.reload_phase != reload::IDLE || self.event_at() <= now
    }

    /// Absolute cycle at which a read of DIV or TIMA can next differ; the fields
    /// may be behind by any time before `interrupt_at`.
    pub(crate) fn next_count_at(&self, now: u64) -> u64 {
        if self.reload_phase != reload::IDLE {
            return now;
        }
        let counter = u64::from(self.counter) + (now - self.synced_to);
        // DIV counts every 256 cycles, TIMA perhaps more often.
        let shift = if self.enabled() {
            Self::period_shift(self.tac).min(8)
        } else {
            8
        };
        let period = 1 << shift;
        let overflow = self.interrupt_at().saturating_sub(4);
        (now + period - (counter & (period - 1))).min(overflow)
    }

    /// DIV write. The caller has synced.
    pub(crate) fn reset_counter(&mut self) {
        if self.enabled() && self.counter & Self::edge_bit(self.tac) != 0 {
            self.count();
        }
        self.counter = 0;
    }

    pub(crate) fn write_tima(&mut self, value: u8) {
        if self.reload_phase != reload::COPYING {
            self.tima = value;
        }
    }

    pub(crate) fn write_tma(&mut self, value: u8) {
        self.tma = value;
        if self.reload_phase != reload::IDLE {
            self.tima = value;
        }
    }

    pub(crate) fn write_tac(&mut self, value: u8) {
        let was_high = self.enabled() && self.counter & Self::edge_bit(self.tac) != 0;
        let stays_high = value & ENABLE != 0 && self.counter & Self::edge_bit(value) != 0;
        if was_high && !stays_high {
            self.count();
        }
        self.tac = value & 0b111;
    }

    /// Checks what a saved state brought.
    pub(crate) fn validate(&self) -> Result<(), StateError> {
        let phase_is_real = match self.reload_phase {
            reload::IDLE => true,
            reload::PENDING | reload::COPYING => (1..=4).contains(&self.reload_t_cycles),
            _ => false,
        };
        if phase_is_real {
            return Ok(());
        }
        Err(StateError::BadField {
            field: "timer_reload_phase",
            value: self.reload_phase.into(),
        })
    }
}
