//! The sound unit's part of PyBoy's state files.

use super::noise::Noise;
use super::pulse::Pulse;
use super::wave::Wave;
use super::{skip, Apu, Envelope, Length, CLOCK_HZ, SAMPLE_HZ, T_CYCLES_PER_SAMPLE};
use crate::pyboy_state::format::{
    NoiseFields, PulseFields, PyBoyState, SoundFields, NEVER, SAMPLES_PER_FRAME,
};
use crate::savestate::StateError;

/// Cycles that are counted through in a few seconds.
const LONGEST_CATCH_UP: u64 = 1 << 38;
const MUTE_SHIFT: i64 = 4;
const LONG_FEEDBACK: i64 = 0x4000;
const SHORT_FEEDBACK: i64 = 0x4040;

/// A number of PyBoy's that fits into a byte here.
fn small(value: i64) -> u8 {
    value.clamp(0, 0xFF) as u8
}

impl Apu {
    /// Takes over a file's values. Without sound there is nothing to take over.
    pub(crate) fn load_pyboy(&mut self, file: &PyBoyState) -> Result<(), StateError> {
        let now = file.cpu.cycles;
        let mut apu = Self::new(self.enabled);
        apu.sampling = false;
        if !self.enabled || file.version < 13 {
            // Before version 13 sound was not saved: it starts like new, and
            // counts through all the time until now.
            if self.enabled && now > LONGEST_CATCH_UP {
                return Err(StateError::BadField {
                    field: "cycles",
                    value: now,
                });
            }
            apu.sync(now);
        } else {
            apu.load_fields(&file.sound, file.version)?;
        }
        *self = apu;
        Ok(())
    }

    fn load_fields(&mut self, from: &SoundFields, version: u8) -> Result<(), StateError> {
        self.cycles = from.cycles;
        self.synced_to = from.synced_to;
        self.channel1.load_pyboy(&from.channel1);
        self.channel1.load_pyboy_sweep(&from.sweep);
        self.channel2.load_pyboy(&from.channel2);
        self.channel3.load_pyboy(&from.channel3);
        self.channel4.load_pyboy(&from.channel4);
        if version == 13 {
            self.check_times()?;
            self.run_due();
            return Ok(());
        }
        self.next_edge = from.next_edge;
        self.next_sample = from.next_sample;
        if from.samples_per_frame != SAMPLES_PER_FRAME && from.next_sample < NEVER as f64 {
            // The distance to the next sample is scaled to the exact rate.
            let distance = (from.next_sample - from.cycles as f64).max(0.0);
            let scaled = distance * (CLOCK_HZ / SAMPLE_HZ) / from.cycles_per_sample;
            self.next_sample = from.cycles as f64 + scaled;
        }
        self.check_times()?;
        self.sequencer_step = from.step;
        self.edge_skip = match from.edge_skip {
            0 => skip::NONE,
            1 => skip::SKIPPED,
            2 | 5 => skip::ARMED,
            3 => skip::DONE,
            value => {
                return Err(StateError::BadField {
                    field: "sound_skip",
                    value,
                })
            }
        };
        self.div_reset_on_edge = from.div_reset_on_edge;
        self.powered = from.power != 0;
        self.volume = from.volume;
        self.panning = (0..8)
            .filter(|&bit| from.panning[7 - bit] != 0)
            // The file lists noise, wave, tone, sweep: NR51's bits from the top.
            .fold(0, |panning, bit| panning | 1 << bit);
        let fill = from.fill.min(from.samples.len() as u64) as usize;
        let fill = fill.min(self.samples.len());
        for (sample, &byte) in self.samples.iter_mut().zip(&from.samples[..fill]) {
            *sample = byte.cast_signed();
        }
        self.samples_len = fill;
        Ok(())
    }

    pub(crate) fn fill_pyboy(&self, to: &mut SoundFields) {
        to.synced_to = self.synced_to;
        to.cycles_per_sample = T_CYCLES_PER_SAMPLE;
        if !self.enabled {
            // As PyBoy with `sound_emulated=False`: like new, and nothing due.
            return;
        }
        to.fill = self.samples_len as u64;
        to.samples = self.samples.iter().map(|s| s.cast_unsigned()).collect();
        to.next_sample = self.next_sample;
        to.next_edge = self.next_edge;
        to.published = self.published_distance();
        to.cycles = self.cycles;
        to.edge_skip = self.edge_skip.into();
        to.step = self.sequencer_step;
        to.div_reset_on_edge = self.div_reset_on_edge;
        to.power = u8::from(self.powered) << 7;
        to.sampling_off = !self.sampling;
        for (index, side) in to.panning.iter_mut().enumerate() {
            *side = self.panning & 0x80 >> index;
        }
        to.volume = self.volume;
        self.channel1.fill_pyboy(&mut to.channel1, 1 << 0);
        self.channel1.fill_pyboy_sweep(&mut to.sweep);
        self.channel2.fill_pyboy(&mut to.channel2, 1 << 1);
        self.channel3.fill_pyboy(&mut to.channel3);
        self.channel4.fill_pyboy(&mut to.channel4);
    }
}

impl Length {
    fn load_pyboy(&mut self, counter: i64, enabled: u8) {
        self.counter = counter.clamp(0, self.full.into()) as u16;
        self.enabled = enabled != 0;
    }
}

impl Envelope {
    fn load_pyboy(&mut self, [initial, rising, pace]: [u8; 3], volume: i64, timer: i64) {
        self.initial = initial;
        self.rising = rising != 0;
        self.pace = pace;
        self.volume = small(volume);
        self.timer = small(timer);
    }
}

impl Pulse {
    fn load_pyboy(&mut self, from: &PulseFields) {
        self.on = from.on != 0;
        self.length.load_pyboy(from.length, from.length_enabled);
        let envelope = [
            from.envelope_initial,
            from.envelope_rising,
            from.envelope_pace,
        ];
        self.envelope
            .load_pyboy(envelope, from.volume, from.envelope_timer);
        self.duty = from.duty;
        self.duty_step = small(from.step & 7);
        self.period = from.period;
        self.reload = from.reload;
        self.timer = from.timer;
    }

    fn fill_pyboy(&self, to: &mut PulseFields, on: u8) {
        to.duty = self.duty;
        to.pending_duty = self.duty;
        to.envelope_initial = self.envelope.initial;
        to.envelope_rising = self.envelope.rising.into();
        to.envelope_pace = self.envelope.pace;
        to.period = self.period;
        to.length_enabled = self.length.enabled.into();
        to.on = if self.on { on } else { 0 };
        to.length = self.length.counter.into();
        to.envelope_timer = self.envelope.timer.into();
        to.timer = self.timer;
        to.reload = self.reload;
        to.step = self.duty_step.into();
        to.volume = self.envelope.volume.into();
    }

    fn load_pyboy_sweep(&mut self, from: &crate::pyboy_state::format::SweepFields) {
        self.sweep_pace = from.pace;
        self.sweep_down = from.down != 0;
        self.sweep_shift = from.shift;
        self.sweep_enabled = from.enabled;
        self.sweep_timer = small(from.timer);
        self.sweep_shadow = from.shadow.clamp(0, 0x7FF) as u16;
        self.sweep_negated = from.negated;
        self.sweep_check = from.check;
    }

    fn fill_pyboy_sweep(&self, to: &mut crate::pyboy_state::format::SweepFields) {
        to.pace = self.sweep_pace;
        to.down = self.sweep_down.into();
        to.shift = self.sweep_shift;
        to.enabled = self.sweep_enabled;
        to.timer = self.sweep_timer.into();
        to.shadow = self.sweep_shadow.into();
        to.negated = self.sweep_negated;
        to.check = self.sweep_check;
    }
}

impl Wave {
    fn load_pyboy(&mut self, from: &crate::pyboy_state::format::WaveFields) {
        self.on = from.on != 0;
        self.length.load_pyboy(from.length, from.length_enabled);
        self.dac_on = from.dac_on != 0;
        self.volume_code = from.volume_code;
        self.period = from.period;
        self.reload = from.reload;
        self.timer = from.timer;
        self.position = small(from.position & 31);
        self.silent = from.suppressed;
        self.fetching = from.accessible;
        self.ram = from.ram;
    }

    fn fill_pyboy(&self, to: &mut crate::pyboy_state::format::WaveFields) {
        to.on = u8::from(self.on) << 2;
        to.length = self.length.counter.into();
        to.length_enabled = self.length.enabled.into();
        to.dac_on = self.dac_on.into();
        to.volume_code = self.volume_code;
        to.volume_shift = match self.volume_code {
            0 => MUTE_SHIFT,
            code => i64::from(code) - 1,
        };
        to.period = self.period;
        to.reload = self.reload;
        to.timer = self.timer;
        to.position = self.position.into();
        to.sample_position = self.position.into();
        to.suppressed = self.silent;
        to.accessible = self.fetching;
        to.ram = self.ram;
    }
}

impl Noise {
    fn load_pyboy(&mut self, from: &NoiseFields) {
        self.on = from.on != 0;
        self.length.load_pyboy(from.length, from.length_enabled);
        let envelope = [
            from.envelope_initial,
            from.envelope_rising,
            from.envelope_pace,
        ];
        self.envelope
            .load_pyboy(envelope, from.volume, from.envelope_timer);
        self.clock_shift = from.clock_shift;
        self.short = from.short != 0;
        self.divisor = from.divisor;
        self.timer = from.timer;
        self.lfsr = (from.lfsr & 0x7FFF) as u16;
    }

    fn fill_pyboy(&self, to: &mut NoiseFields) {
        to.on = u8::from(self.on) << 3;
        to.length = self.length.counter.into();
        to.length_enabled = self.length.enabled.into();
        to.envelope_initial = self.envelope.initial;
        to.envelope_rising = self.envelope.rising.into();
        to.envelope_pace = self.envelope.pace;
        to.volume = self.envelope.volume.into();
        to.envelope_timer = self.envelope.timer.into();
        to.clock_shift = self.clock_shift;
        to.short = self.short.into();
        to.divisor = self.divisor;
        to.timer = self.timer;
        to.reload = self.period_t_cycles();
        to.lfsr = self.lfsr.into();
        to.feedback = if self.short {
            SHORT_FEEDBACK
        } else {
            LONG_FEEDBACK
        };
    }
}
