//! The layout of PyBoy's state files, versions 7 to 29 (original Game Boy).
//!
//! Bytes in a fixed order, little endian, without signature, lengths or
//! checksum; the first one is the version. What an older version does not hold
//! keeps the value that a PyBoy 2.8.1 just switched on has. A version's file is
//! read as PyBoy 2.8.1 reads it, except where 2.8.1 expects bytes that PyBoy's
//! own older versions never wrote (it then fails): here they are not expected.

use super::stream::{pass, Ended, Stream};
use crate::ppu::{LINE_PARAMETERS, SCREEN_HEIGHT, SCREEN_WIDTH};
use crate::rom::{Header, Mapper, RAM_BANK_SIZE};

/// The oldest version that is read.
pub(crate) const OLDEST_VERSION: u8 = 7;
/// The version that PyBoy 2.8.1 writes.
pub(crate) const CURRENT_VERSION: u8 = 29;

/// PyBoy's "no event" in cycles.
pub(crate) const NEVER: u64 = 1 << 31;
/// Samples in a frame at 48 kHz, and as counted by versions 14 and 15.
pub(crate) const SAMPLES_PER_FRAME: u64 = 804;
pub(crate) const OLD_SAMPLES_PER_FRAME: u64 = 800;

const PIXELS: usize = SCREEN_WIDTH * SCREEN_HEIGHT;
/// Borders and palettes of a Super Game Boy, which is never emulated here.
const SGB_PICTURES: usize = 10_368;

/// What the cartridge adds to a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) ram_len: usize,
    pub(crate) has_rtc: bool,
    pub(crate) is_mbc1: bool,
    pub(crate) is_mbc5: bool,
    pub(crate) has_rumble: bool,
    /// Version 15 has NR50 if PyBoy 2.7.0 wrote it; earlier ones wrote none.
    pub(crate) has_nr50_at_15: bool,
}

impl Shape {
    pub(crate) fn new(header: &Header) -> Self {
        Self {
            ram_len: header.ram_banks * RAM_BANK_SIZE,
            has_rtc: header.has_rtc,
            is_mbc1: matches!(header.mapper, Mapper::Mbc1 { .. }),
            is_mbc5: header.mapper == Mapper::Mbc5,
            has_rumble: header.has_rumble,
            has_nr50_at_15: false,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct CpuFields {
    pub(crate) a: u8,
    pub(crate) f: u8,
    pub(crate) b: u8,
    pub(crate) c: u8,
    pub(crate) d: u8,
    pub(crate) e: u8,
    pub(crate) hl: u16,
    pub(crate) sp: u16,
    pub(crate) pc: u16,
    pub(crate) ime: bool,
    pub(crate) ei_delay: u8,
    pub(crate) halted: bool,
    pub(crate) stopped: bool,
    pub(crate) interrupt_enable: u8,
    /// The next slice does not look at interrupts; never set between frames.
    pub(crate) interrupt_queued: bool,
    pub(crate) interrupt_flags: u8,
    pub(crate) cycles: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct DmaFields {
    pub(crate) active: bool,
    pub(crate) reading: bool,
    pub(crate) source: u8,
    pub(crate) copied: u8,
    pub(crate) starts_at: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct LcdFields {
    pub(crate) vram: [u8; 0x2000],
    pub(crate) oam: [u8; 0xA0],
    pub(crate) lcdc: u8,
    pub(crate) bgp: u8,
    pub(crate) obp0: u8,
    pub(crate) obp1: u8,
    pub(crate) stat: u8,
    pub(crate) ly: u8,
    pub(crate) lyc: u8,
    pub(crate) scy: u8,
    pub(crate) scx: u8,
    pub(crate) wy: u8,
    pub(crate) wx: u8,
    pub(crate) object_priority: u8,
    pub(crate) line_parameters: [[u8; LINE_PARAMETERS]; SCREEN_HEIGHT],
    pub(crate) cgb_rendering: bool,
    pub(crate) downgraded: bool,
    pub(crate) speed_shift: u8,
    pub(crate) frame_done: bool,
    pub(crate) first_frame: bool,
    pub(crate) restart_pending: bool,
    pub(crate) synced_to: u64,
    pub(crate) clock: u64,
    pub(crate) target: u64,
    pub(crate) next_mode: u8,
    pub(crate) next_step: u8,
    /// Four bytes a pixel: red, green, blue, alpha.
    pub(crate) pixels: Vec<u8>,
    pub(crate) pixel_attributes: Vec<u8>,
    pub(crate) window_triggered: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct PulseFields {
    pub(crate) duty: u8,
    pub(crate) length_load: u8,
    pub(crate) envelope_initial: u8,
    pub(crate) envelope_rising: u8,
    pub(crate) envelope_pace: u8,
    pub(crate) period: u16,
    pub(crate) length_enabled: u8,
    pub(crate) on: u8,
    pub(crate) length: i64,
    pub(crate) envelope_timer: i64,
    pub(crate) timer: i64,
    pub(crate) reload: i64,
    pub(crate) step: i64,
    pub(crate) volume: i64,
    /// The next three are used by a Game Boy Color only.
    pub(crate) suppressed: bool,
    pub(crate) pending_duty: u8,
    pub(crate) duty_pending: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SweepFields {
    pub(crate) pace: u8,
    pub(crate) down: u8,
    pub(crate) shift: u8,
    pub(crate) timer: i64,
    pub(crate) check: i64,
    /// The next two are used by a Game Boy Color only.
    pub(crate) calculation: i64,
    pub(crate) restart_hold: i64,
    pub(crate) negated: bool,
    pub(crate) enabled: bool,
    pub(crate) shadow: i64,
}

#[derive(Debug, Clone)]
pub(crate) struct WaveFields {
    pub(crate) ram: [u8; 16],
    pub(crate) dac_on: u8,
    pub(crate) length_load: u8,
    pub(crate) volume_code: u8,
    pub(crate) period: u16,
    pub(crate) length_enabled: u8,
    pub(crate) on: u8,
    pub(crate) length: i64,
    pub(crate) timer: i64,
    pub(crate) reload: i64,
    pub(crate) position: i64,
    pub(crate) suppressed: bool,
    pub(crate) volume_shift: i64,
    pub(crate) accessible: bool,
    pub(crate) restart_pending: bool,
    pub(crate) sample_position: i64,
}

#[derive(Debug, Clone)]
pub(crate) struct NoiseFields {
    pub(crate) length_load: u8,
    pub(crate) envelope_initial: u8,
    pub(crate) envelope_rising: u8,
    pub(crate) envelope_pace: u8,
    pub(crate) clock_shift: u8,
    pub(crate) short: u8,
    pub(crate) divisor: u8,
    pub(crate) length_enabled: u8,
    pub(crate) on: u8,
    pub(crate) length: i64,
    pub(crate) timer: i64,
    pub(crate) envelope_timer: i64,
    pub(crate) reload: i64,
    pub(crate) lfsr: i64,
    pub(crate) feedback: i64,
    pub(crate) volume: i64,
}

#[derive(Debug, Clone)]
pub(crate) struct SoundFields {
    /// Bytes of the sample buffer in use.
    pub(crate) fill: u64,
    pub(crate) samples_per_frame: u64,
    pub(crate) cycles_per_sample: f64,
    pub(crate) samples: Vec<u8>,
    pub(crate) speed_shift: u8,
    pub(crate) next_sample: f64,
    pub(crate) next_edge: f64,
    pub(crate) published: u64,
    pub(crate) cycles: u64,
    pub(crate) synced_to: u64,
    pub(crate) edge_skip: u64,
    pub(crate) step: u64,
    pub(crate) div_reset_on_edge: bool,
    pub(crate) power: u8,
    pub(crate) sampling_off: bool,
    /// Left and right bits of NR51, each a byte of its own.
    pub(crate) panning: [u8; 8],
    pub(crate) volume: u8,
    pub(crate) channel1: PulseFields,
    pub(crate) sweep: SweepFields,
    pub(crate) channel2: PulseFields,
    pub(crate) channel3: WaveFields,
    pub(crate) channel4: NoiseFields,
}

#[derive(Debug, Clone)]
pub(crate) struct TimerFields {
    pub(crate) div: u8,
    pub(crate) tima: u8,
    pub(crate) counter: u16,
    pub(crate) reload_t_cycles: u16,
    pub(crate) tma: u8,
    pub(crate) tac: u8,
    pub(crate) reload_phase: u8,
    pub(crate) synced_to: u64,
    pub(crate) published: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct RtcFields {
    pub(crate) seconds: u8,
    pub(crate) minutes: u8,
    pub(crate) hours: u8,
    pub(crate) day_low: u8,
    pub(crate) day_high: u8,
    pub(crate) halted: u8,
    pub(crate) day_carry: u8,
    pub(crate) sub_second_t_cycles: u64,
    /// Host times, which mean nothing to a machine that counts emulated time.
    pub(crate) epoch: f64,
    pub(crate) saved_at: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct CartridgeFields {
    pub(crate) rom_bank: u8,
    pub(crate) ram_bank: u8,
    pub(crate) ram_enabled: bool,
    pub(crate) mode: u8,
    pub(crate) ram: Vec<u8>,
    pub(crate) rtc: RtcFields,
    pub(crate) bank1: u8,
    pub(crate) bank2: u8,
    pub(crate) rumble_present: bool,
    pub(crate) rumble: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct SerialFields {
    pub(crate) sb: u8,
    pub(crate) sc: u8,
    pub(crate) transferring: u8,
    pub(crate) internal_clock: u8,
    pub(crate) synced_to: u64,
    pub(crate) published: u64,
    pub(crate) clock: u64,
    pub(crate) done_at: u64,
}

/// Everything in a state file.
#[derive(Debug, Clone)]
pub(crate) struct PyBoyState {
    pub(crate) version: u8,
    pub(crate) boot_rom_mapped: bool,
    pub(crate) key0: u8,
    pub(crate) key1: u8,
    pub(crate) double_speed: bool,
    pub(crate) cgb: bool,
    pub(crate) cpu: CpuFields,
    pub(crate) dma: DmaFields,
    pub(crate) lcd: LcdFields,
    pub(crate) sound: SoundFields,
    pub(crate) wram: [u8; 0x2000],
    pub(crate) unusable: [u8; 0x60],
    pub(crate) io: [u8; 76],
    pub(crate) hram: [u8; 0x7F],
    pub(crate) wram_bank: u8,
    pub(crate) timer: TimerFields,
    pub(crate) cartridge: CartridgeFields,
    pub(crate) directions: u8,
    pub(crate) buttons: u8,
    pub(crate) serial: SerialFields,
}

impl PyBoyState {
    /// A PyBoy 2.8.1 that was just switched on.
    pub(crate) fn fresh(version: u8, shape: &Shape) -> Box<Self> {
        Box::new(Self {
            version,
            boot_rom_mapped: true,
            key0: 0,
            key1: 0,
            double_speed: false,
            cgb: false,
            cpu: CpuFields::default(),
            dma: DmaFields::default(),
            lcd: LcdFields::fresh(),
            sound: SoundFields::fresh(version),
            wram: [0; 0x2000],
            unusable: [0; 0x60],
            io: [0; 76],
            hram: [0; 0x7F],
            wram_bank: 0,
            timer: TimerFields {
                div: 0,
                tima: 0,
                counter: 0,
                reload_t_cycles: 0,
                tma: 0,
                tac: 0,
                reload_phase: 0,
                synced_to: 0,
                published: 0,
            },
            cartridge: CartridgeFields {
                rom_bank: 1,
                ram_bank: 0,
                ram_enabled: false,
                mode: 0,
                ram: vec![0; shape.ram_len],
                rtc: RtcFields::default(),
                bank1: 1,
                bank2: 0,
                rumble_present: shape.has_rumble,
                rumble: false,
            },
            directions: 0xF,
            buttons: 0xF,
            serial: SerialFields {
                sb: 0xFF,
                sc: 0b0111_1110,
                transferring: 0,
                internal_clock: 0,
                synced_to: 0,
                published: 0,
                clock: 0,
                done_at: NEVER,
            },
        })
    }

    /// Length in bytes of a file of this version and shape.
    pub(crate) fn file_len(version: u8, shape: &Shape) -> usize {
        let mut stream = Stream::Count(0);
        // Counting cannot end early.
        let _ = Self::fresh(version, shape).pass(&mut stream, shape);
        match stream {
            Stream::Count(len) => len,
            _ => 0,
        }
    }

    /// Passes all that follows the version byte.
    pub(crate) fn pass(&mut self, stream: &mut Stream<'_>, shape: &Shape) -> Result<(), Ended> {
        let version = self.version;
        pass!(stream; self.version, self.boot_rom_mapped);
        if version >= 16 {
            pass!(stream; self.key0);
        }
        if version >= 8 {
            pass!(stream; self.key1, self.double_speed, self.cgb);
        }
        self.cpu.pass(stream, version)?;
        if version >= 19 {
            let dma = &mut self.dma;
            pass!(stream; dma.active, dma.reading, dma.source, dma.copied, dma.starts_at);
        }
        self.lcd.pass(stream, version)?;
        self.sound.pass(stream, version, shape)?;
        self.lcd.pass_picture(stream, version)?;
        pass!(stream; self.wram, self.unusable, self.io, self.hram);
        if version >= 16 {
            pass!(stream; self.wram_bank);
        } else {
            // FF4C to FF7F, of which only two registers were in use.
            stream.skip(0x20)?;
            pass!(stream; self.lcd.object_priority);
            stream.skip(0x03)?;
            pass!(stream; self.wram_bank);
            stream.skip(0x0F)?;
        }
        self.timer.pass(stream, version)?;
        self.cartridge.pass(stream, version, shape)?;
        pass!(stream; self.directions, self.buttons);
        if version >= 15 {
            let serial = &mut self.serial;
            pass!(stream;
                serial.sb, serial.sc, serial.transferring, serial.internal_clock,
                serial.synced_to, serial.published, serial.clock, serial.done_at,
            );
        }
        if version >= 23 {
            // Super Game Boy: one player, nothing received.
            let mut head = [0, 0, 1, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF];
            pass!(stream; head);
            stream.skip(SGB_PICTURES)?;
        }
        Ok(())
    }
}

impl CpuFields {
    fn pass(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        pass!(stream;
            self.a, self.f, self.b, self.c, self.d, self.e, self.hl, self.sp, self.pc, self.ime,
        );
        if version >= 19 {
            pass!(stream; self.ei_delay);
        }
        pass!(stream; self.halted, self.stopped, self.interrupt_enable);
        if version >= 8 {
            pass!(stream; self.interrupt_queued, self.interrupt_flags);
        }
        if version >= 12 {
            pass!(stream; self.cycles);
        }
        Ok(())
    }
}

impl LcdFields {
    fn fresh() -> Self {
        Self {
            vram: [0; 0x2000],
            oam: [0; 0xA0],
            lcdc: 0,
            bgp: 0xFC,
            obp0: 0xFF,
            obp1: 0xFF,
            stat: 0x80,
            ly: 0,
            lyc: 0,
            scy: 0,
            scx: 0,
            wy: 0,
            wx: 0,
            object_priority: 0xFF,
            line_parameters: [[0; LINE_PARAMETERS]; SCREEN_HEIGHT],
            cgb_rendering: false,
            downgraded: false,
            speed_shift: 0,
            frame_done: false,
            first_frame: false,
            restart_pending: false,
            synced_to: 0,
            clock: 0,
            target: 70_224,
            next_mode: 2,
            next_step: 0,
            pixels: vec![0; 4 * PIXELS],
            pixel_attributes: vec![0; PIXELS],
            window_triggered: false,
        }
    }

    fn pass(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        pass!(stream;
            self.vram, self.oam, self.lcdc, self.bgp, self.obp0, self.obp1, self.stat, self.ly,
            self.lyc, self.scy, self.scx, self.wy, self.wx,
        );
        if version >= 16 {
            pass!(stream; self.object_priority);
        }
        if version >= 11 {
            stream.bytes(self.line_parameters.as_flattened_mut())?;
        }
        if version >= 8 {
            pass!(stream; self.cgb_rendering);
            if version >= 17 {
                pass!(stream; self.downgraded);
            }
            pass!(stream; self.speed_shift);
            if version >= 13 {
                pass!(stream; self.frame_done, self.first_frame, self.restart_pending);
            }
            if version >= 12 {
                pass!(stream; self.synced_to);
            }
            pass!(stream; self.clock, self.target, self.next_mode);
        }
        if version >= 29 {
            pass!(stream; self.next_step);
        }
        Ok(())
    }

    fn pass_picture(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        if version < 11 {
            // Line parameters, which 2.8.1 drops.
            stream.skip(LINE_PARAMETERS * SCREEN_HEIGHT)?;
        }
        if version < 10 {
            stream.bytes(&mut self.pixels)?;
        } else {
            let cells = self.pixels.chunks_exact_mut(4);
            for (pixel, attribute) in cells.zip(&mut self.pixel_attributes) {
                stream.bytes(pixel)?;
                stream.bytes(std::slice::from_mut(attribute))?;
            }
        }
        if version >= 18 {
            pass!(stream; self.window_triggered);
        }
        Ok(())
    }
}

impl PulseFields {
    fn fresh() -> Self {
        Self {
            duty: 0,
            length_load: 0,
            envelope_initial: 0,
            envelope_rising: 0,
            envelope_pace: 0,
            period: 0,
            length_enabled: 0,
            on: 0,
            length: 64,
            envelope_timer: 0,
            timer: 0,
            reload: 4,
            step: 0,
            volume: 0,
            suppressed: false,
            pending_duty: 0,
            duty_pending: false,
        }
    }

    fn pass(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        pass!(stream;
            self.duty, self.length_load, self.envelope_initial, self.envelope_rising,
            self.envelope_pace, self.period, self.length_enabled, self.on, self.length,
            self.envelope_timer, self.timer, self.reload, self.step, self.volume,
        );
        if version >= 23 {
            pass!(stream; self.suppressed, self.pending_duty, self.duty_pending);
        }
        Ok(())
    }
}

impl SweepFields {
    fn pass(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        pass!(stream; self.pace, self.down, self.shift, self.timer);
        if version >= 16 {
            pass!(stream; self.check);
        }
        if version >= 27 {
            pass!(stream; self.calculation);
        }
        if version >= 28 {
            pass!(stream; self.restart_hold);
        }
        if version >= 16 {
            pass!(stream; self.negated);
        }
        pass!(stream; self.enabled, self.shadow);
        Ok(())
    }
}

impl WaveFields {
    fn fresh() -> Self {
        Self {
            ram: [0xFF; 16],
            dac_on: 0,
            length_load: 0,
            volume_code: 0,
            period: 0,
            length_enabled: 0,
            on: 0,
            length: 256,
            timer: 0,
            reload: 4,
            position: 0,
            suppressed: false,
            volume_shift: 0,
            accessible: false,
            restart_pending: false,
            sample_position: 0,
        }
    }

    fn pass(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        pass!(stream;
            self.ram, self.dac_on, self.length_load, self.volume_code, self.period,
            self.length_enabled, self.on, self.length, self.timer, self.reload, self.position,
        );
        if version >= 16 {
            pass!(stream; self.suppressed);
        }
        pass!(stream; self.volume_shift);
        if version >= 16 {
            pass!(stream; self.accessible);
        }
        if version >= 24 {
            pass!(stream; self.restart_pending);
        }
        if version >= 25 {
            pass!(stream; self.sample_position);
        }
        Ok(())
    }
}

impl NoiseFields {
    fn fresh() -> Self {
        Self {
            length_load: 0,
            envelope_initial: 0,
            envelope_rising: 0,
            envelope_pace: 0,
            clock_shift: 0,
            short: 0,
            divisor: 0,
            length_enabled: 0,
            on: 0,
            length: 64,
            timer: 0,
            envelope_timer: 0,
            reload: 8,
            lfsr: 1,
            feedback: 0x4000,
            volume: 0,
        }
    }

    fn pass(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        pass!(stream;
            self.length_load, self.envelope_initial, self.envelope_rising, self.envelope_pace,
            self.clock_shift, self.short, self.divisor, self.length_enabled, self.on, self.length,
            self.timer, self.envelope_timer, self.reload, self.lfsr, self.feedback, self.volume,
        );
        if version >= 26 {
            // The counter of a Game Boy Color: three numbers and a flag.
            stream.skip(25)?;
        }
        Ok(())
    }
}

impl SoundFields {
    fn fresh(version: u8) -> Self {
        let samples_per_frame = if matches!(version, 14 | 15) {
            OLD_SAMPLES_PER_FRAME
        } else {
            SAMPLES_PER_FRAME
        };
        Self {
            fill: 0,
            samples_per_frame,
            cycles_per_sample: 4_194_304.0 / 48_000.0,
            samples: Vec::new(),
            speed_shift: 0,
            next_sample: NEVER as f64,
            next_edge: NEVER as f64,
            published: NEVER,
            cycles: 0,
            synced_to: 0,
            edge_skip: 0,
            step: 3,
            div_reset_on_edge: false,
            power: 0,
            sampling_off: false,
            panning: [0; 8],
            volume: 0,
            channel1: PulseFields::fresh(),
            sweep: SweepFields::default(),
            channel2: PulseFields::fresh(),
            channel3: WaveFields::fresh(),
            channel4: NoiseFields::fresh(),
        }
    }

    fn pass(&mut self, stream: &mut Stream<'_>, version: u8, shape: &Shape) -> Result<(), Ended> {
        if version < 13 {
            return Ok(());
        }
        if version == 13 {
            pass!(stream; self.synced_to, self.cycles);
            return self.pass_channels(stream, version);
        }
        pass!(stream; self.fill, self.samples_per_frame, self.cycles_per_sample);
        if !matches!(
            self.samples_per_frame,
            SAMPLES_PER_FRAME | OLD_SAMPLES_PER_FRAME
        ) {
            // Of another sample rate; the caller says so.
            return Err(Ended);
        }
        self.samples
            .resize(2 * (self.samples_per_frame as usize + 1), 0);
        pass!(stream;
            self.samples, self.speed_shift, self.next_sample, self.next_edge, self.published,
            self.cycles, self.synced_to, self.edge_skip, self.step,
        );
        if version >= 22 {
            pass!(stream; self.div_reset_on_edge);
        }
        pass!(stream; self.power, self.sampling_off, self.panning);
        if version >= 16 || version == 15 && shape.has_nr50_at_15 {
            pass!(stream; self.volume);
        }
        self.pass_channels(stream, version)
    }

    fn pass_channels(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        self.channel1.pass(stream, version)?;
        self.sweep.pass(stream, version)?;
        self.channel2.pass(stream, version)?;
        self.channel3.pass(stream, version)?;
        self.channel4.pass(stream, version)
    }
}

impl TimerFields {
    fn pass(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        pass!(stream;
            self.div, self.tima, self.counter, self.reload_t_cycles, self.tma, self.tac,
        );
        if version >= 20 {
            pass!(stream; self.reload_phase);
        }
        if version >= 12 {
            pass!(stream; self.synced_to);
        }
        if version >= 13 {
            pass!(stream; self.published);
        }
        Ok(())
    }
}

impl CartridgeFields {
    fn pass(&mut self, stream: &mut Stream<'_>, version: u8, shape: &Shape) -> Result<(), Ended> {
        pass!(stream; self.rom_bank, self.ram_bank, self.ram_enabled, self.mode, self.ram);
        if shape.has_rtc {
            self.rtc.pass(stream, version)?;
        }
        if shape.is_mbc1 {
            pass!(stream; self.bank1, self.bank2);
        }
        if shape.is_mbc5 && version >= 29 {
            pass!(stream; self.rumble_present);
            if self.rumble_present {
                pass!(stream; self.rumble);
            }
        }
        Ok(())
    }
}

impl RtcFields {
    fn pass(&mut self, stream: &mut Stream<'_>, version: u8) -> Result<(), Ended> {
        if version <= 12 {
            stream.skip(4)?;
        } else {
            pass!(stream; self.epoch);
        }
        pass!(stream; self.halted, self.day_carry);
        if version >= 21 {
            pass!(stream;
                self.seconds, self.minutes, self.hours, self.day_low, self.day_high, self.halted,
                self.day_carry, self.sub_second_t_cycles, self.saved_at,
            );
        }
        Ok(())
    }
}
