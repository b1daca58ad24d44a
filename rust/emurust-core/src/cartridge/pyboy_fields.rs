//! The cartridge's part of PyBoy's state files.

use super::rtc::Rtc;
use super::Cartridge;
use crate::pyboy_state::format::{CartridgeFields, RtcFields};
use crate::pyboy_state::Unsaved;

/// PyBoy adds the host's time since a file was saved to the clock in it. No time
/// has passed since a moment that never comes.
const SAVED_IN_THE_FUTURE: f64 = 9_007_199_254_740_992.0;

impl Cartridge {
    pub(crate) fn load_pyboy(&mut self, from: &CartridgeFields, unsaved: Unsaved) {
        // A file keeps eight bits of it.
        self.rom_bank = from.rom_bank.into();
        if unsaved == Unsaved::Reset {
            self.rom_bank_low = 0;
        }
        self.ram_bank = from.ram_bank;
        self.ram_enabled = from.ram_enabled;
        self.mode = from.mode != 0;
        self.ram.copy_from_slice(&from.ram);
        self.bank1 = from.bank1;
        self.bank2 = from.bank2 & 0b11;
        self.rumble = from.rumble;
        self.rtc.load_pyboy(&from.rtc, unsaved);
    }

    pub(crate) fn fill_pyboy(&self, to: &mut CartridgeFields) {
        to.rom_bank = self.rom_bank as u8;
        to.ram_bank = self.ram_bank;
        to.ram_enabled = self.ram_enabled;
        to.mode = self.mode.into();
        to.ram.copy_from_slice(&self.ram);
        to.bank1 = self.bank1;
        to.bank2 = self.bank2;
        to.rumble = self.rumble;
        self.rtc.fill_pyboy(&mut to.rtc);
    }
}

impl Rtc {
    fn load_pyboy(&mut self, from: &RtcFields, unsaved: Unsaved) {
        let kept = match unsaved {
            Unsaved::Reset => Self {
                locked: self.locked,
                ..Self::default()
            },
            Unsaved::Keep => self.clone(),
        };
        *self = Self {
            seconds: from.seconds,
            minutes: from.minutes,
            hours: from.hours,
            days: u16::from(from.day_high & 1) << 8 | u16::from(from.day_low),
            halted: from.halted & 1 != 0,
            day_carry: from.day_carry & 1 != 0,
            sub_second_t_cycles: from.sub_second_t_cycles,
            // PyBoy forgets when the clock was touched last: the next touch
            // counts all the time since power-on.
            touched_at: 0,
            ..kept
        };
    }

    fn fill_pyboy(&self, to: &mut RtcFields) {
        let [day_low, day_high] = self.days.to_le_bytes();
        to.seconds = self.seconds;
        to.minutes = self.minutes;
        to.hours = self.hours;
        to.day_low = day_low;
        to.day_high = day_high;
        to.halted = self.halted.into();
        to.day_carry = self.day_carry.into();
        to.sub_second_t_cycles = self.sub_second_t_cycles;
        to.epoch = SAVED_IN_THE_FUTURE;
        to.saved_at = SAVED_IN_THE_FUTURE;
    }
}
