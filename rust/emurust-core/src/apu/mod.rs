//! The sound unit (Pan Docs: Audio), as far as PyBoy has it.
//!
//! Time is accounted in *chunks* that end at every catch-up, sequencer edge and
//! sample, because a DMG program can tell where the last chunk began: wave RAM
//! is readable only in the cycle in which channel 3 fetched. For the same
//! reason every slice that PyBoy runs is run while channel 3 plays, or rather, as
//! hardly any program looks: the frame is run without them first, and again with
//! them if one did (`GameBoy::run_frame`). Of the catch-ups at slice ends only the last one can be told from the
//! others, so that they are only noted, and made up for at the next access.

mod noise;
mod pulse;
mod pyboy_fields;
mod wave;

use crate::savestate::{state_fields, StateError};
use noise::Noise;
use pulse::Pulse;
use wave::Wave;

const SEQUENCER_T_CYCLES: f64 = 8192.0;
const CLOCK_HZ: f64 = 4_194_304.0;
const SAMPLE_HZ: f64 = 48_000.0;
const T_CYCLES_PER_SAMPLE: f64 = CLOCK_HZ / SAMPLE_HZ;
/// Samples a frame can yield, one more than fit evenly.
const MAX_SAMPLES: usize = 805;

/// DIV bit whose falling edge drives the sequencer.
const DIV_EDGE_BIT: u8 = 1 << 4;
/// Cycles between two of those edges.
const DIV_EDGE_PERIOD: u16 = 0x2000;

const POWER: u8 = 1 << 7;

/// Until then PyBoy's distance to the next sound event can end a slice.
const FIRST_CYCLES: u64 = 4 * 70_224;

/// Registers by their offset from FF10.
mod register {
    pub(super) const NR14: u8 = 0x04;
    pub(super) const NR50: u8 = 0x14;
    pub(super) const NR51: u8 = 0x15;
    pub(super) const NR52: u8 = 0x16;
    pub(super) const WAVE_RAM: u8 = 0x20;
}

/// What a sequencer edge after a power-on in an unlucky DIV phase does.
mod skip {
    pub(super) const NONE: u8 = 0;
    /// The step after the skipped edge keeps its number.
    pub(super) const SKIPPED: u8 = 1;
    /// The next edge is skipped.
    pub(super) const ARMED: u8 = 2;
    pub(super) const DONE: u8 = 3;
}

#[derive(Debug, Clone)]
pub(crate) struct Apu {
    pub(crate) enabled: bool,
    powered: bool,
    /// Cycles of sound so far.
    cycles: u64,
    synced_to: u64,
    /// The last slice end, if it is after `synced_to`.
    noted: u64,
    /// Slices may end elsewhere than PyBoy's even while channel 3 plays: whoever runs
    /// the frame looks afterwards whether a program could have noticed.
    pub(crate) guessing: bool,
    /// A program accessed wave RAM while that was so.
    pub(crate) guessed: bool,
    /// Time of the next sequencer edge and of the next sample, in sound cycles.
    next_edge: f64,
    next_sample: f64,
    sequencer_step: u64,
    edge_skip: u8,
    /// DIV was written while its edge bit was set, since the last trigger of channel 1.
    div_reset_on_edge: bool,
    /// NR50, NR51 as written.
    volume: u8,
    panning: u8,
    channel1: Pulse,
    channel2: Pulse,
    channel3: Wave,
    channel4: Noise,
    /// Put samples into the buffer; off while nobody listens.
    pub(crate) sampling: bool,
    samples: [i8; MAX_SAMPLES * 2],
    samples_len: usize,
}

state_fields!(Apu {
    powered,
    cycles,
    synced_to,
    next_edge,
    next_sample,
    sequencer_step,
    edge_skip,
    div_reset_on_edge,
    volume,
    panning,
    channel1,
    channel2,
    channel3,
    channel4
});

impl Apu {
    pub(crate) fn new(enabled: bool) -> Self {
        Self {
            enabled,
            powered: false,
            cycles: 0,
            synced_to: 0,
            noted: 0,
            guessing: false,
            guessed: false,
            next_edge: SEQUENCER_T_CYCLES,
            next_sample: T_CYCLES_PER_SAMPLE,
            sequencer_step: 3,
            edge_skip: skip::NONE,
            div_reset_on_edge: false,
            volume: 0,
            panning: 0,
            channel1: Pulse::default(),
            channel2: Pulse::default(),
            channel3: Wave::default(),
            channel4: Noise::default(),
            sampling: true,
            samples: [0; MAX_SAMPLES * 2],
            samples_len: 0,
        }
    }

    /// The state that the boot program's two notes leave at cycle `now`.
    pub(crate) fn at_hand_over(enabled: bool, now: u64) -> Self {
        Self {
            powered: true,
            cycles: now,
            synced_to: now,
            next_edge: 4_508_632.0,
            next_sample: 4_507_391.317_337_462,
            sequencer_step: 513,
            volume: 0x77,
            panning: 0xF3,
            channel1: Pulse::at_hand_over(),
            channel2: Pulse::idle_at_hand_over(),
            channel4: Noise::at_hand_over(),
            ..Self::new(enabled)
        }
    }

    pub(crate) fn synced_to(&self) -> u64 {
        self.synced_to
    }

    /// Interleaved left and right samples of the last sampled frame, 48 kHz, 0 to 127.
    pub(crate) fn samples(&self) -> &[i8] {
        &self.samples[..self.samples_len]
    }

    pub(crate) fn clear_samples(&mut self) {
        self.samples_len = 0;
    }

    /// The coordinator's view of the next sound event: an absolute count that
    /// PyBoy uses as a distance, so that it matters in the first frame only.
    pub(crate) fn published_distance(&self) -> u64 {
        if self.enabled {
            first_cycle(self.next_sample.min(self.next_edge))
        } else {
            u64::MAX
        }
    }

    /// A slice ends at `now`: what is due is caught up by the next [`Apu::sync`].
    #[inline]
    pub(crate) fn note_slice_end(&mut self, now: u64) {
        if !self.enabled {
            self.synced_to = now;
        } else if self.cycles < FIRST_CYCLES {
            self.sync(now);
        } else {
            self.noted = now;
        }
    }

    /// What a program can read depends on where slices end.
    #[inline]
    pub(crate) fn needs_slice_ends(&self) -> bool {
        self.enabled
            && (self.channel3.on && !self.guessing
                || self.div_reset_on_edge
                || self.edge_skip != skip::NONE
                || self.cycles < FIRST_CYCLES)
    }

    /// Channel 3 plays: what wave RAM reads depends on where slices end.
    pub(crate) fn plays_wave(&self) -> bool {
        self.enabled && self.channel3.on
    }

    /// FF10 + `offset` is about to be read or written.
    pub(crate) fn note_access(&mut self, offset: u8) {
        self.guessed |= self.guessing && self.channel3.on && offset >= register::WAVE_RAM;
    }

    /// Catches up to `now`, and to the slice end before it.
    pub(crate) fn sync(&mut self, now: u64) {
        if self.noted > self.synced_to {
            self.catch_up(self.noted);
        }
        self.catch_up(now);
    }

    /// Catches up to the last slice end.
    pub(crate) fn sync_to_slice_end(&mut self) {
        if self.noted > self.synced_to {
            self.catch_up(self.noted);
        }
    }

    fn catch_up(&mut self, now: u64) {
        let mut left = now.wrapping_sub(self.synced_to);
        self.synced_to = now;
        if !self.enabled {
            return;
        }
        self.channel3.begin_chunk();
        while left > 0 {
            let mut chunk = left;
            if self.sampling {
                chunk = chunk.min(first_cycle(self.next_sample).wrapping_sub(self.cycles));
            }
            chunk = chunk.min(first_cycle(self.next_edge).wrapping_sub(self.cycles));
            if chunk == 0 && self.cycles as f64 >= self.next_edge {
                self.run_due();
                continue;
            }
            if self.powered {
                self.channel1.advance(chunk);
                self.channel1.advance_sweep_check(chunk);
                self.channel2.advance(chunk);
                self.channel3.advance(chunk);
                self.channel4.advance(chunk);
            }
            self.cycles += chunk;
            left -= chunk;
            self.run_due();
        }
    }

    fn run_due(&mut self) {
        while self.cycles as f64 >= self.next_edge {
            self.sequencer_edge();
            self.next_edge += SEQUENCER_T_CYCLES;
        }
        if !self.sampling {
            self.next_sample = later_sample(self.next_sample, self.cycles as f64);
        }
        while self.cycles as f64 >= self.next_sample {
            if self.sampling {
                self.sample();
            }
            self.next_sample += T_CYCLES_PER_SAMPLE;
        }
    }

    fn sequencer_edge(&mut self) {
        match self.edge_skip {
            skip::ARMED => {
                self.edge_skip = skip::SKIPPED;
                return;
            }
            skip::SKIPPED => self.edge_skip = skip::DONE,
            _ => self.sequencer_step += 1,
        }
        if !self.powered {
            return;
        }
        let step = self.sequencer_step;
        if step % 2 == 1 {
            self.channel1.length.clock(&mut self.channel1.on);
            self.channel2.length.clock(&mut self.channel2.on);
            self.channel3.length.clock(&mut self.channel3.on);
            self.channel4.length.clock(&mut self.channel4.on);
        }
        if step % 4 == 3 {
            self.channel1.clock_sweep();
        }
        if step % 8 == 7 {
            self.channel1.envelope.clock();
            self.channel2.envelope.clock();
            self.channel4.envelope.clock();
        }
    }

    fn sample(&mut self) {
        let levels = [
            self.channel1.level(),
            self.channel2.level(),
            self.channel3.level(),
            self.channel4.level(),
        ];
        let mix = |selected: u8| {
            let chosen = |channel: usize| levels[channel] * (selected >> channel & 1);
            // Four times 15 at most.
            (chosen(0) + chosen(1) + chosen(2) + chosen(3)) as i8
        };
        let panning = if self.powered { self.panning } else { 0 };
        let pair = [mix(panning >> 4), mix(panning)];
        if let Some(slot) = self.samples.get_mut(self.samples_len..self.samples_len + 2) {
            slot.copy_from_slice(&pair);
            self.samples_len += 2;
        }
    }

    /// Reads FF10 + `offset`. The caller has synced.
    pub(crate) fn read(&self, offset: u8) -> u8 {
        if !self.enabled {
            return 0;
        }
        match (offset, offset % 5) {
            (0, _) => self.channel1.read_sweep(),
            (0..=4, r) => self.channel1.read(r),
            (5..=9, r) => self.channel2.read(r),
            (10..=14, r) => self.channel3.read(r),
            (15..=19, r) => self.channel4.read(r),
            (register::NR50, _) => self.volume,
            (register::NR51, _) => self.panning,
            (register::NR52, _) => {
                0x70 | if self.powered { POWER } else { 0 }
                    | u8::from(self.channel1.on)
                    | u8::from(self.channel2.on) << 1
                    | u8::from(self.channel3.on) << 2
                    | u8::from(self.channel4.on) << 3
            }
            (register::WAVE_RAM.., _) => self.channel3.read_ram(offset & 0xF),
            _ => 0xFF,
        }
    }

    /// Reads FF10 + `offset` as it would read between slices, when no fetch of
    /// channel 3 is under way.
    pub(crate) fn peek(&self, offset: u8) -> u8 {
        match offset {
            register::WAVE_RAM.. if self.enabled && self.channel3.on => 0xFF,
            _ => self.read(offset),
        }
    }

    /// Writes FF10 + `offset`. The caller has synced; `div_counter` is the
    /// timer's as of its last catch-up.
    pub(crate) fn write(&mut self, offset: u8, value: u8, div_counter: u16) {
        if !self.enabled {
            return;
        }
        match offset {
            0..=19 => self.write_channel(offset / 5, offset % 5, value),
            register::NR50 if self.powered => self.volume = value,
            register::NR51 if self.powered => self.panning = value,
            register::NR52 => self.write_power(value & POWER != 0, div_counter),
            register::WAVE_RAM.. => self.channel3.write_ram(offset & 0xF, value),
            _ => {}
        }
        if offset == register::NR14 {
            self.div_reset_on_edge = false;
        }
    }

    fn write_power(&mut self, on: bool, div_counter: u16) {
        if !on {
            self.power_off();
            return;
        }
        let div = (div_counter >> 8) as u8;
        if !self.powered {
            self.edge_skip = if self.div_reset_on_edge && div & DIV_EDGE_BIT != 0 {
                skip::ARMED
            } else {
                skip::NONE
            };
            self.powered = true;
            self.sequencer_step = 0;
            self.next_edge = self.cycles as f64 + SEQUENCER_T_CYCLES;
        }
        if self.edge_skip != skip::NONE {
            // Even where power was on already.
            self.sequencer_step = 1;
            let to_edge = DIV_EDGE_PERIOD - (div_counter & (DIV_EDGE_PERIOD - 1));
            self.next_edge = (self.cycles + u64::from(to_edge)) as f64;
        }
    }

    /// Zeroes the registers; length counters and wave RAM survive on the DMG.
    fn power_off(&mut self) {
        let lengths = [
            self.channel1.length.counter,
            self.channel2.length.counter,
            self.channel3.length.counter,
            self.channel4.length.counter,
        ];
        for offset in 0..register::NR52 {
            match offset {
                0..=19 => self.write_channel(offset / 5, offset % 5, 0),
                register::NR50 if self.powered => self.volume = 0,
                _ if self.powered => self.panning = 0,
                _ => {}
            }
        }
        self.channel1.length.counter = lengths[0];
        self.channel2.length.counter = lengths[1];
        self.channel3.length.counter = lengths[2];
        self.channel4.length.counter = lengths[3];
        self.channel1.cancel_sweep_check();
        self.powered = false;
        self.edge_skip = skip::NONE;
    }

    fn write_channel(&mut self, channel: u8, reg: u8, value: u8) {
        if !self.powered && reg != 1 {
            return;
        }
        let powered = self.powered;
        let odd_step = self.sequencer_step % 2 == 1;
        let (length, on) = self.length_of(channel);
        let (was_counting, old_counter) = (length.enabled, length.counter);
        let clocked_early =
            reg == 4 && odd_step && value & 0xC0 == 0xC0 && !was_counting && old_counter > 0;
        if clocked_early {
            length.enabled = true;
            length.clock(on);
            length.enabled = was_counting;
        }
        match channel {
            0 if reg == 0 => self.channel1.write_sweep(value),
            0 => self.channel1.write(reg, value, powered),
            1 => self.channel2.write(reg, value, powered),
            2 => self.channel3.write(reg, value),
            _ => self.channel4.write(reg, value),
        }
        if reg == 4 && odd_step {
            let clocks_late = if clocked_early {
                old_counter == 1 && value & 0x80 != 0
            } else {
                value & 0x40 != 0 && (!was_counting || old_counter == 0)
            };
            if clocks_late {
                let (length, on) = self.length_of(channel);
                length.clock(on);
            }
        }
    }

    fn length_of(&mut self, channel: u8) -> (&mut Length, &mut bool) {
        match channel {
            0 => (&mut self.channel1.length, &mut self.channel1.on),
            1 => (&mut self.channel2.length, &mut self.channel2.on),
            2 => (&mut self.channel3.length, &mut self.channel3.on),
            _ => (&mut self.channel4.length, &mut self.channel4.on),
        }
    }

    /// DIV is about to be reset; the caller has synced.
    pub(crate) fn div_reset(&mut self, div: u8) {
        let edge = div & DIV_EDGE_BIT != 0;
        if edge {
            self.div_reset_on_edge = true;
        }
        if self.enabled {
            if edge {
                self.sequencer_edge();
            }
            self.next_edge = self.cycles as f64 + SEQUENCER_T_CYCLES;
        }
    }

    /// Edges and samples long due would be walked one by one.
    fn check_times(&self) -> Result<(), StateError> {
        const FURTHEST_BEHIND: f64 = (1 << 30) as f64;
        let earliest = self.cycles as f64 - FURTHEST_BEHIND;
        for (field, time) in [
            ("next_edge", self.next_edge),
            ("next_sample", self.next_sample),
        ] {
            if !time.is_finite() || time < earliest {
                return Err(StateError::BadField {
                    field,
                    value: time.to_bits(),
                });
            }
        }
        Ok(())
    }

    /// Checks what a saved state brought.
    pub(crate) fn validate(&mut self) -> Result<(), StateError> {
        if self.enabled {
            self.check_times()?;
        }
        self.noted = 0;
        self.channel1.mask_loaded();
        self.channel2.mask_loaded();
        self.channel3.mask_loaded();
        self.channel4.mask_loaded();
        Ok(())
    }
}

/// A length counter (Pan Docs: Length timer).
#[derive(Debug, Clone)]
struct Length {
    counter: u16,
    full: u16,
    enabled: bool,
}

state_fields!(Length { counter, enabled });

impl Length {
    fn new(full: u16) -> Self {
        Self {
            counter: full,
            full,
            enabled: false,
        }
    }

    fn load_counter(&mut self, value: u8) {
        self.counter = self.full - (u16::from(value) & (self.full - 1));
    }

    fn trigger(&mut self) {
        if self.counter == 0 {
            self.counter = self.full;
        }
    }

    fn clock(&mut self, on: &mut bool) {
        if self.enabled && self.counter > 0 {
            self.counter -= 1;
            if self.counter == 0 {
                *on = false;
            }
        }
    }
}

/// A volume envelope (Pan Docs: Envelope).
#[derive(Debug, Clone, Default)]
struct Envelope {
    initial: u8,
    rising: bool,
    pace: u8,
    volume: u8,
    timer: u8,
}

state_fields!(Envelope {
    initial,
    rising,
    pace,
    volume,
    timer
});

impl Envelope {
    fn read(&self) -> u8 {
        self.initial << 4 | u8::from(self.rising) << 3 | self.pace
    }

    fn write(&mut self, value: u8) {
        self.initial = value >> 4;
        self.rising = value & 0x08 != 0;
        self.pace = value & 0x07;
    }

    /// The channel's converter has power.
    fn dac_on(&self) -> bool {
        self.initial != 0 || self.rising
    }

    fn trigger(&mut self) {
        self.volume = self.initial;
        self.timer = self.pace;
    }

    fn clock(&mut self) {
        if self.timer == 0 {
            return;
        }
        self.timer -= 1;
        if self.timer > 0 {
            return;
        }
        let volume = if self.rising {
            self.volume + 1
        } else {
            self.volume.wrapping_sub(1)
        };
        // At either end the envelope stops.
        if volume <= 15 {
            self.volume = volume;
            self.timer = self.pace;
        }
    }

    fn mask_loaded(&mut self) {
        self.initial &= 0xF;
        self.pace &= 7;
        self.volume &= 0xF;
        self.timer &= 7;
    }
}

/// The first cycle at or after `time`: its ceiling, without a call of a library.
#[inline]
fn first_cycle(time: f64) -> u64 {
    let whole = time as u64;
    whole.saturating_add(u64::from((whole as f64) < time))
}

/// A time of a sample not long before `now`, for those in between that nobody hears: `next`, or
/// what adding the time between samples again and again makes of it, to the last bit.
fn later_sample(next: f64, now: f64) -> f64 {
    // Up to the next power of two each sum is rounded alike, unless halfway.
    let step = (next + T_CYCLES_PER_SAMPLE) - next;
    let ulp = f64::from_bits(next.to_bits() + 1) - next;
    let is_halfway = (T_CYCLES_PER_SAMPLE - step).abs() * 2.0 == ulp.abs();
    // One less than fit: the quotient is rounded.
    let count = f64::from(((now - next) / step) as u32) - 1.0;
    let later = next + count * step;
    let exponent = |time: f64| time.to_bits() >> 52;
    if count >= 1.0 && !is_halfway && exponent(next) == exponent(later) {
        later
    } else {
        next
    }
}

/// Advances a countdown that reloads with `period` whenever it reaches zero or
/// less; returns how often it did.
fn count_periods(timer: &mut i64, period: i64, cycles: u64) -> i64 {
    *timer -= cycles as i64;
    if *timer > 0 {
        return 0;
    }
    let (over, short) = (-*timer, period as u32);
    // Narrow divisions take half of the time.
    let periods = match u32::try_from(over) {
        Ok(over) if i64::from(short) == period => i64::from(over / short) + 1,
        _ => over / period + 1,
    };
    *timer += periods * period;
    periods
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_nobody_hears_pass_as_one_by_one() {
        let mut skipped = 0;
        for exponent in 6..50 {
            for before in [3.0, 90.0, 700.5, 8200.25, 70_000.125, 500_000.75] {
                let next = f64::from(exponent).exp2() - before;
                for elapsed in [0.0, 87.0, 90.0, 8192.0, 70_224.0, 1_000_000.0] {
                    let now = (next + elapsed).floor();
                    let mut expected = next;
                    while now >= expected {
                        expected += T_CYCLES_PER_SAMPLE;
                    }
                    let mut time = later_sample(next, now);
                    skipped += usize::from(time != next);
                    while now >= time {
                        time += T_CYCLES_PER_SAMPLE;
                    }
                    assert_eq!(time, expected, "from {next} to {now}");
                }
            }
        }
        assert!(skipped > 100);
    }

    #[test]
    fn the_first_cycle_is_the_ceiling() {
        for time in [-3.5, 0.0, 0.25, 4.0, 4_508_632.5, 1e19, f64::INFINITY] {
            assert_eq!(first_cycle(time), time.ceil() as u64);
        }
    }
}
