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
        for _ in 0..count_periods(&mut self.timer, period, cycles) {
            self.shift();
        }
    }

    fn shift(&mut self) {
        let feedback = (self.lfsr ^ self.lfsr >> 1) & 1;
        self.lfsr >>= 1;
        let taps = if self.short { 0x4040 } else { 0x4000 };
        if feedback != 0 {
            self.lfsr |= taps;
        } else {
            self.lfsr &= !taps;
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
