//! The MBC3 real time clock (Pan Docs: MBC3, The Clock Counter Registers).
//!
//! It counts emulated time, 4,194,304 cycles a second, and moves when it is
//! touched. PyBoy does the same, except that a second touch at the same cycle,
//! and the loading of a state, add the host's time; here they add nothing, so
//! that runs are reproducible.

use crate::savestate::state_fields;

const T_CYCLES_PER_SECOND: u64 = 4_194_304;

#[derive(Debug, Clone, Default)]
pub(crate) struct Rtc {
    pub(super) seconds: u8,
    pub(super) minutes: u8,
    pub(super) hours: u8,
    /// Nine bits.
    pub(super) days: u16,
    pub(super) halted: bool,
    pub(super) day_carry: bool,
    pub(super) sub_second_t_cycles: u64,
    pub(super) touched_at: u64,
    pub(super) latched: bool,
    pub(super) latched_seconds: u8,
    pub(super) latched_minutes: u8,
    pub(super) latched_hours: u8,
    pub(super) latched_days: u16,
    /// The user stopped it: it neither counts nor takes writes, and latches zeros.
    pub(super) locked: bool,
}

state_fields!(Rtc {
    seconds,
    minutes,
    hours,
    days,
    halted,
    day_carry,
    sub_second_t_cycles,
    touched_at,
    latched,
    latched_seconds,
    latched_minutes,
    latched_hours,
    latched_days
});

impl Rtc {
    pub(crate) fn sync(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.touched_at);
        self.touched_at = now;
        if self.halted || self.locked {
            return;
        }
        self.sub_second_t_cycles += elapsed;
        let seconds = self.sub_second_t_cycles / T_CYCLES_PER_SECOND;
        self.sub_second_t_cycles %= T_CYCLES_PER_SECOND;
        self.advance(seconds);
    }

    fn advance(&mut self, seconds: u64) {
        let in_range = self.seconds < 60 && self.minutes < 60 && self.hours < 24;
        if seconds > 3600 && in_range {
            let total = u64::from(self.hours) * 3600
                + u64::from(self.minutes) * 60
                + u64::from(self.seconds)
                + seconds;
            self.hours = (total % 86_400 / 3600) as u8;
            self.minutes = (total / 60 % 60) as u8;
            self.seconds = (total % 60) as u8;
            let days = u64::from(self.days) + total / 86_400;
            self.day_carry |= days > 0x1FF;
            self.days = (days & 0x1FF) as u16;
        } else {
            for _ in 0..seconds {
                self.count_second();
            }
        }
    }

    /// Registers that were written out of range count on to the end of their
    /// bits and carry nothing.
    fn count_second(&mut self) {
        if wrapping_count(&mut self.seconds, 59, 0x3F)
            && wrapping_count(&mut self.minutes, 59, 0x3F)
            && wrapping_count(&mut self.hours, 23, 0x1F)
        {
            self.day_carry |= self.days == 0x1FF;
            self.days = (self.days + 1) & 0x1FF;
        }
    }

    /// Write to 6000-7FFF: 00 then 01 copies the counters to the latch.
    pub(crate) fn write_latch(&mut self, value: u8) {
        match value {
            0 => self.latched = false,
            1 => {
                if !self.latched && self.locked {
                    self.latched_seconds = 0;
                    self.latched_minutes = 0;
                    self.latched_hours = 0;
                    self.latched_days = 0;
                } else if !self.latched {
                    self.latched_seconds = self.seconds;
                    self.latched_minutes = self.minutes;
                    self.latched_hours = self.hours;
                    self.latched_days = self.days;
                }
                self.latched = true;
            }
            _ => {}
        }
    }

    pub(crate) fn read(&self, register: u8) -> u8 {
        match register {
            0x08 => self.latched_seconds,
            0x09 => self.latched_minutes,
            0x0A => self.latched_hours,
            0x0B => self.latched_days as u8,
            // The halt and carry bits are live, the day bit is latched.
            _ => {
                (self.latched_days >> 8) as u8
                    | u8::from(self.halted) << 6
                    | u8::from(self.day_carry) << 7
            }
        }
    }

    pub(crate) fn write(&mut self, register: u8, value: u8) {
        if self.locked {
            return;
        }
        match register {
            0x08 => {
                self.seconds = value & 0x3F;
                self.sub_second_t_cycles = 0;
            }
            0x09 => self.minutes = value & 0x3F,
            0x0A => self.hours = value & 0x1F,
            0x0B => self.days = self.days & 0x100 | u16::from(value),
            _ => {
                self.days = self.days & 0xFF | u16::from(value & 1) << 8;
                self.halted = value & 0x40 != 0;
                self.day_carry = value & 0x80 != 0;
            }
        }
    }

    /// Brings loaded values back into their registers' bits.
    pub(crate) fn mask_loaded(&mut self) {
        self.seconds &= 0x3F;
        self.minutes &= 0x3F;
        self.hours &= 0x1F;
        self.days &= 0x1FF;
        self.latched_days &= 0x1FF;
        self.sub_second_t_cycles %= T_CYCLES_PER_SECOND;
    }
}

/// Adds one; true if that was the step from `last` to zero.
fn wrapping_count(value: &mut u8, last: u8, mask: u8) -> bool {
    let carries = *value == last;
    *value = if carries || *value == mask {
        0
    } else {
        *value + 1
    };
    carries
}
