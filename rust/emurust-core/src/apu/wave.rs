//! Channel 3 (Pan Docs: Wave channel).

use super::{count_periods, Length};
use crate::savestate::state_fields;

/// Extra cycles before the first fetch after a trigger.
const TRIGGER_DELAY: i64 = 5;
const MUTE_SHIFT: u8 = 4;

#[derive(Debug, Clone)]
pub(super) struct Wave {
    pub(super) on: bool,
    pub(super) length: Length,
    pub(super) dac_on: bool,
    pub(super) volume_code: u8,
    /// The 11-bit period value.
    pub(super) period: u16,
    /// Cycles between fetches, as of the last write to the period.
    pub(super) reload: i64,
    pub(super) timer: i64,
    /// Nibble position, 0 to 31.
    pub(super) position: u8,
    /// Nothing was fetched since the trigger.
    pub(super) silent: bool,
    /// The last chunk ended in the cycle of a fetch: wave RAM is accessible.
    pub(super) fetching: bool,
    pub(super) ram: [u8; 16],
}

state_fields!(Wave {
    on,
    length,
    dac_on,
    volume_code,
    period,
    reload,
    timer,
    position,
    silent,
    fetching,
    ram
});

impl Default for Wave {
    fn default() -> Self {
        Self {
            on: false,
            length: Length::new(256),
            dac_on: false,
            volume_code: 0,
            period: 0,
            // Until a period is written.
            reload: 4,
            timer: 0,
            position: 0,
            silent: false,
            fetching: false,
            ram: [0xFF; 16],
        }
    }
}

impl Wave {
    fn set_period(&mut self, period: u16) {
        self.period = period;
        self.reload = 2 * i64::from(0x800 - period);
    }

    pub(super) fn begin_chunk(&mut self) {
        self.fetching = false;
    }

    pub(super) fn advance(&mut self, cycles: u64) {
        if !self.on {
            return;
        }
        let fetches = count_periods(&mut self.timer, self.reload, cycles);
        self.fetching = fetches > 0 && self.timer >= self.reload - 1;
        if fetches > 0 {
            self.silent = false;
            self.position = ((i64::from(self.position) + fetches) & 31) as u8;
        }
    }

    pub(super) fn level(&self) -> u8 {
        if !self.on || !self.dac_on || self.silent {
            return 0;
        }
        let byte = self.ram[usize::from(self.position / 2)];
        let nibble = if self.position.is_multiple_of(2) {
            byte >> 4
        } else {
            byte & 0xF
        };
        let shift = match self.volume_code {
            0 => MUTE_SHIFT,
            code => code - 1,
        };
        nibble >> shift
    }

    pub(super) fn read(&self, reg: u8) -> u8 {
        match reg {
            0 => u8::from(self.dac_on) << 7 | 0x7F,
            2 => self.volume_code << 5 | 0x9F,
            4 => u8::from(self.length.enabled) << 6 | 0xBF,
            _ => 0xFF,
        }
    }

    pub(super) fn write(&mut self, reg: u8, value: u8) {
        match reg {
            0 => {
                self.dac_on = value & 0x80 != 0;
                self.on &= self.dac_on;
            }
            1 => self.length.load_counter(value),
            2 => self.volume_code = value >> 5 & 0b11,
            3 => self.set_period(self.period & 0x700 | u16::from(value)),
            _ => {
                self.length.enabled = value & 0x40 != 0;
                self.set_period(u16::from(value & 7) << 8 | self.period & 0xFF);
                if value & 0x80 != 0 {
                    self.trigger();
                }
            }
        }
    }

    fn trigger(&mut self) {
        if self.on && self.timer == 1 {
            self.corrupt_ram();
        }
        self.on = self.dac_on;
        self.length.trigger();
        self.timer = self.reload + TRIGGER_DELAY;
        self.position = 0;
        // A DMG in single speed (the only machine so far) is heard again at once.
        self.silent = false;
        self.fetching = false;
    }

    /// Triggering in the cycle before a fetch overwrites the first bytes
    /// (Pan Docs: Audio details, obscure behavior).
    fn corrupt_ram(&mut self) {
        let next = usize::from(self.position.div_ceil(2)) & 0xF;
        if next < 4 {
            self.ram[0] = self.ram[next];
        } else {
            self.ram.copy_within(next & 0xC..(next & 0xC) + 4, 0);
        }
    }

    pub(super) fn read_ram(&self, index: u8) -> u8 {
        match (self.on, self.fetching) {
            (false, _) => self.ram[usize::from(index)],
            (true, true) => self.ram[usize::from(self.position / 2)],
            (true, false) => 0xFF,
        }
    }

    pub(super) fn write_ram(&mut self, index: u8, value: u8) {
        match (self.on, self.fetching) {
            (false, _) => self.ram[usize::from(index)] = value,
            (true, true) => self.ram[usize::from(self.position / 2)] = value,
            (true, false) => {}
        }
    }

    pub(super) fn mask_loaded(&mut self) {
        self.length.counter = self.length.counter.min(256);
        self.volume_code &= 3;
        self.period &= 0x7FF;
        self.reload = self.reload.clamp(2, 0x1000);
        self.timer = self.timer.clamp(-100_000, 100_000);
        self.position &= 31;
    }
}
