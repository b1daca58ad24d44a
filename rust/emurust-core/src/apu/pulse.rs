//! Channels 1 and 2 (Pan Docs: Pulse channels); channel 1 sweeps its period.

use super::{count_periods, Envelope, Length};
use crate::savestate::state_fields;

const DUTY: [u8; 4] = [0b1000_0000, 0b1000_0001, 0b1110_0001, 0b0111_1110];
const PERIOD_OVERFLOW: u16 = 0x800;
/// Delay of the second overflow check after the period has become 7FF.
const SWEEP_CHECK_T_CYCLES: i64 = 32;

#[derive(Debug, Clone)]
pub(super) struct Pulse {
    pub(super) on: bool,
    pub(super) length: Length,
    pub(super) envelope: Envelope,
    pub(super) duty: u8,
    pub(super) duty_step: u8,
    /// The 11-bit period value.
    pub(super) period: u16,
    /// Cycles between duty steps, as of the last write to the period.
    pub(super) reload: i64,
    pub(super) timer: i64,
    pub(super) sweep_pace: u8,
    pub(super) sweep_down: bool,
    pub(super) sweep_shift: u8,
    pub(super) sweep_enabled: bool,
    pub(super) sweep_timer: u8,
    pub(super) sweep_shadow: u16,
    /// A downward calculation was made since the trigger.
    pub(super) sweep_negated: bool,
    /// Cycles to the delayed overflow check; 0 when none is due.
    pub(super) sweep_check: i64,
}

state_fields!(Pulse {
    on,
    length,
    envelope,
    duty,
    duty_step,
    period,
    reload,
    timer,
    sweep_pace,
    sweep_down,
    sweep_shift,
    sweep_enabled,
    sweep_timer,
    sweep_shadow,
    sweep_negated,
    sweep_check
});

impl Default for Pulse {
    fn default() -> Self {
        Self {
            on: false,
            length: Length::new(64),
            envelope: Envelope::default(),
            duty: 0,
            duty_step: 0,
            period: 0,
            // Until a period is written the divider runs at its fastest.
            reload: 4,
            timer: 0,
            sweep_pace: 0,
            sweep_down: false,
            sweep_shift: 0,
            sweep_enabled: false,
            sweep_timer: 0,
            sweep_shadow: 0,
            sweep_negated: false,
            sweep_check: 0,
        }
    }
}

impl Pulse {
    /// Channel 1 after the boot program's second note overflowed its sweep.
    pub(super) fn at_hand_over() -> Self {
        Self {
            envelope: Envelope {
                initial: 0xF,
                rising: false,
                pace: 3,
                volume: 6,
                timer: 2,
            },
            duty: 2,
            duty_step: 7,
            period: 0x770,
            reload: 576,
            timer: 84,
            sweep_pace: 1,
            sweep_shift: 3,
            sweep_enabled: true,
            sweep_timer: 1,
            sweep_shadow: 0x770,
            ..Self::default()
        }
    }

    /// Channel 2 after the boot program, which never used it.
    pub(super) fn idle_at_hand_over() -> Self {
        Self {
            timer: 4,
            duty_step: 3,
            ..Self::default()
        }
    }

    fn set_period(&mut self, period: u16) {
        self.period = period;
        self.reload = 4 * i64::from(PERIOD_OVERFLOW - period);
    }

    pub(super) fn advance(&mut self, cycles: u64) {
        let periods = count_periods(&mut self.timer, self.reload, cycles);
        self.duty_step = ((i64::from(self.duty_step) + periods) & 7) as u8;
    }

    pub(super) fn level(&self) -> u8 {
        if self.on && DUTY[usize::from(self.duty)] >> self.duty_step & 1 != 0 {
            self.envelope.volume
        } else {
            0
        }
    }

    pub(super) fn read(&self, reg: u8) -> u8 {
        match reg {
            1 => self.duty << 6 | 0x3F,
            2 => self.envelope.read(),
            4 => u8::from(self.length.enabled) << 6 | 0xBF,
            _ => 0xFF,
        }
    }

    pub(super) fn read_sweep(&self) -> u8 {
        0x80 | self.sweep_pace << 4 | u8::from(self.sweep_down) << 3 | self.sweep_shift
    }

    /// Without power only the length can be written.
    pub(super) fn write(&mut self, reg: u8, value: u8, powered: bool) {
        match reg {
            1 => {
                if powered {
                    self.duty = value >> 6;
                }
                self.length.load_counter(value);
            }
            2 => {
                self.envelope.write(value);
                self.on &= self.envelope.dac_on();
            }
            3 => self.set_period(self.period & 0x700 | u16::from(value)),
            4 => {
                self.length.enabled = value & 0x40 != 0;
                self.set_period(u16::from(value & 7) << 8 | self.period & 0xFF);
                if value & 0x80 != 0 {
                    self.trigger();
                }
            }
            _ => {}
        }
    }

    pub(super) fn write_sweep(&mut self, value: u8) {
        let was_down = self.sweep_down;
        self.sweep_pace = value >> 4 & 7;
        self.sweep_down = value & 0x08 != 0;
        self.sweep_shift = value & 7;
        if was_down && !self.sweep_down && self.sweep_negated {
            self.on = false;
        }
    }

    fn trigger(&mut self) {
        self.length.trigger();
        self.envelope.trigger();
        self.timer = self.reload;
        self.on = self.envelope.dac_on();
        self.trigger_sweep();
    }

    fn trigger_sweep(&mut self) {
        let check_was_due = self.sweep_check != 0;
        self.sweep_shadow = self.period;
        self.sweep_timer = self.sweep_reload();
        if check_was_due {
            self.sweep_check += 8;
        }
        self.sweep_negated = false;
        self.sweep_enabled = self.sweep_pace != 0 || self.sweep_shift != 0;
        if self.sweep_shift != 0 && !check_was_due {
            self.calculate_sweep();
        }
    }

    fn sweep_reload(&self) -> u8 {
        match self.sweep_pace {
            0 => 8,
            pace => pace,
        }
    }

    pub(super) fn clock_sweep(&mut self) {
        if !self.sweep_enabled || !self.on {
            return;
        }
        self.sweep_timer = self.sweep_timer.saturating_sub(1);
        if self.sweep_timer > 0 {
            return;
        }
        self.sweep_timer = self.sweep_reload();
        if self.sweep_pace == 0 {
            return;
        }
        let Some(period) = self.calculate_sweep() else {
            return;
        };
        if self.sweep_shift == 0 {
            return;
        }
        self.sweep_shadow = period;
        self.set_period(period);
        if period == 0x7FF {
            self.sweep_check = SWEEP_CHECK_T_CYCLES;
        }
        if self.sweep_check == 0 {
            self.calculate_sweep();
        }
    }

    /// The next period; none, and the channel off, if it overflows.
    fn calculate_sweep(&mut self) -> Option<u16> {
        let change = self.sweep_shadow >> self.sweep_shift;
        let period = if self.sweep_down {
            self.sweep_negated = true;
            self.sweep_shadow - change
        } else {
            self.sweep_shadow + change
        };
        if period >= PERIOD_OVERFLOW {
            self.on = false;
            return None;
        }
        Some(period)
    }

    pub(super) fn advance_sweep_check(&mut self, cycles: u64) {
        if self.sweep_check == 0 {
            return;
        }
        self.sweep_check -= cycles as i64;
        if self.sweep_check <= 0 {
            self.sweep_check = 0;
            if self.sweep_shift != 0 {
                self.calculate_sweep();
            }
        }
    }

    pub(super) fn cancel_sweep_check(&mut self) {
        self.sweep_check = 0;
    }

    pub(super) fn mask_loaded(&mut self) {
        self.envelope.mask_loaded();
        self.length.counter = self.length.counter.min(64);
        self.duty &= 3;
        self.duty_step &= 7;
        self.period &= 0x7FF;
        self.reload = self.reload.clamp(4, 0x2000);
        self.timer = self.timer.clamp(-100_000, 100_000);
        self.sweep_pace &= 7;
        self.sweep_shift &= 7;
        self.sweep_shadow &= 0x7FF;
        self.sweep_check = self.sweep_check.clamp(0, 1 << 32);
    }
}
