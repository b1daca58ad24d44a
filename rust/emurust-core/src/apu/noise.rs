//! Channel 4 (Pan Docs: Noise channel).

use super::{count_periods, Envelope, Length};
use crate::savestate::state_fields;

const DIVISORS: [i64; 8] = [8, 16, 32, 48, 64, 80, 96, 112];

#[derive(Debug, Clone)]
pub(super) struct Noise {
    pub(super) on: bool,
    pub(super) length: Length,
    pub(super) envelope: Envelope,
    pub(super) clock_shift: u8,
    pub(super) short: bool,
    pub(super) divisor: u8,
    pub(super) timer: i64,
    pub(super) lfsr: u16,
}

state_fields!(Noise {
    on,
    length,
    envelope,
    clock_shift,
    short,
    divisor,
    timer,
    lfsr
});

impl Default for Noise {
    fn default() -> Self {
        Self {
            on: false,
            length: Length::new(64),
            envelope: Envelope::default(),
            clock_shift: 0,
            short: false,
            divisor: 0,
            timer: 0,
            lfsr: 1,
        }
    }
}

impl Noise {
    pub(super) fn at_hand_over() -> Self {
        Self {
            timer: 8,
            lfsr: 0x5F80,
            ..Self::default()
        }
    }

    pub(super) fn period_t_cycles(&self) -> i64 {
        DIVISORS[usize::from(self.divisor)] << self.clock_shift
    }

    pub(super) fn advance(&mut self, cycles: u64) {
        let period = self.period_t_cycles();
        let shifts = count_periods(&mut self.timer, period, cycles);
        if shifts > 0 {
            self.lfsr = if self.short {
                shifted_short(self.lfsr, shifts)
            } else {
                shifted(self.lfsr, shifts)
            };
        }
    }

    pub(super) fn level(&self) -> u8 {
        if self.on && self.lfsr & 1 == 0 {
            self.envelope.volume
        } else {
            0
        }
    }

    pub(super) fn read(&self, reg: u8) -> u8 {
        match reg {
            2 => self.envelope.read(),
            3 => self.clock_shift << 4 | u8::from(self.short) << 3 | self.divisor,
            4 => u8::from(self.length.enabled) << 6 | 0xBF,
            _ => 0xFF,
        }
    }

    pub(super) fn write(&mut self, reg: u8, value: u8) {
        match reg {
            1 => self.length.load_counter(value),
            2 => {
                self.envelope.write(value);
                self.on &= self.envelope.dac_on();
            }
            3 => {
                self.clock_shift = value >> 4;
                self.short = value & 0x08 != 0;
                self.divisor = value & 7;
            }
            4 => {
                self.length.enabled = value & 0x40 != 0;
                if value & 0x80 != 0 {
                    self.trigger();
                }
            }
            _ => {}
        }
    }

    fn trigger(&mut self) {
        self.length.trigger();
        self.envelope.trigger();
        self.timer = self.period_t_cycles();
        self.lfsr = 0x7FFF;
        self.on = self.envelope.dac_on();
    }

    pub(super) fn mask_loaded(&mut self) {
        self.envelope.mask_loaded();
        self.length.counter = self.length.counter.min(64);
        self.clock_shift &= 0xF;
        self.divisor &= 7;
        self.timer = self.timer.clamp(-10_000_000, 10_000_000);
        self.lfsr &= 0x7FFF;
    }
}

/// The 15-bit register after some shifts.
///
/// Seen as a stream of bits of which the register is a window, bit n + 15 is the sum of bits n
/// and n + 1 (without carries). Squared, and squared again, that makes bit n + 60 the sum of
/// bits n and n + 4, so that a window of 64 bits can move by many at once.
fn shifted(lfsr: u16, mut shifts: i64) -> u16 {
    /// The register's bits must still be in the window.
    const FURTHEST: i64 = 64 - 15;
    let register = u64::from(lfsr);
    let grown =
        |window: u64, bits: u32| register | ((window ^ window >> 1) & ((1 << bits) - 1)) << 15;
    let mut window = grown(register, 14);
    if shifts > 14 {
        window = grown(grown(grown(window, 28), 42), 49);
        while shifts > FURTHEST {
            let new = (window >> 4 ^ window >> 8) & ((1 << FURTHEST) - 1);
            window = window >> FURTHEST | new << 15;
            shifts -= FURTHEST;
        }
    }
    (window >> shifts) as u16 & 0x7FFF
}

/// The register after some shifts in short mode, in which the lower seven bits are a register
/// of their own, and what goes into it goes into the upper end too.
fn shifted_short(mut lfsr: u16, mut shifts: i64) -> u16 {
    while shifts > 0 {
        // No more than the lower register holds pairs of bits.
        let count = shifts.min(6) as u32;
        let new = (lfsr ^ lfsr >> 1) & ((1 << count) - 1);
        let low = (lfsr & 0x7F) >> count | new << (7 - count);
        let high = (lfsr >> 7) >> count | new << (8 - count);
        lfsr = high << 7 | low;
        shifts -= i64::from(count);
    }
    lfsr
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pan Docs, one shift after the other.
    fn one_by_one(mut lfsr: u16, short: bool, shifts: i64) -> u16 {
        for _ in 0..shifts {
            let feedback = (lfsr ^ lfsr >> 1) & 1;
            lfsr = lfsr >> 1 | feedback << 14;
            if short {
                lfsr = lfsr & !0x40 | feedback << 6;
            }
        }
        lfsr
    }

    #[test]
    fn many_shifts_are_as_one_by_one() {
        let counts = (1..=160).chain([255, 1024, 8191]);
        for shifts in counts {
            for lfsr in (0..0x8000).step_by(157).chain([1, 0x4000, 0x7FFF]) {
                let expected = one_by_one(lfsr, false, shifts);
                assert_eq!(shifted(lfsr, shifts), expected, "{lfsr:04X} by {shifts}");
                let expected = one_by_one(lfsr, true, shifts);
                assert_eq!(
                    shifted_short(lfsr, shifts),
                    expected,
                    "short, {lfsr:04X} by {shifts}"
                );
            }
        }
    }
}
