//! PyBoy's state files: loading those of versions 7 to 29, writing 29.
//!
//! `format.rs` knows the bytes, `stream.rs` moves them, and each part of the
//! machine converts its own fields (`ppu/pyboy_fields.rs` and so on). What a file
//! does not hold is decided here: see [`Unsaved`].

pub(crate) mod format;
pub(crate) mod stream;

use crate::dma::OamDma;
use crate::machine::Machine;
use crate::rom::Header;
use crate::savestate::StateError;
use format::{PyBoyState, Shape, CURRENT_VERSION, NEVER, OLDEST_VERSION};
use stream::Stream;

/// What becomes of the values that PyBoy keeps but does not save: the row counter
/// of the window, the latched clock, and a few more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsaved {
    /// They become those of a machine that was just switched on and has drawn a
    /// picture before, so that loading a file always gives the same machine.
    Reset,
    /// The machine keeps its own, as a running PyBoy does.
    Keep,
}

/// The first byte is that of a file which is read here.
pub(crate) fn is_pyboy_state(state: &[u8]) -> bool {
    matches!(state.first(), Some(OLDEST_VERSION..=CURRENT_VERSION))
}

/// Reads a whole file of a cartridge with this header.
pub(crate) fn parse(state: &[u8], header: &Header) -> Result<Box<PyBoyState>, StateError> {
    let version = state.first().copied().unwrap_or_default();
    let mut shape = Shape::new(header);
    let mut expected = PyBoyState::file_len(version, &shape);
    if version == 15 && state.len() == expected + 1 {
        shape.has_nr50_at_15 = true;
        expected += 1;
    }
    let mut file = PyBoyState::fresh(version, &shape);
    let mut stream = Stream::Read(state);
    let passed = file.pass(&mut stream, &shape);
    if file.cgb || file.lcd.cgb_rendering || file.lcd.downgraded {
        return Err(StateError::OtherModel);
    }
    if passed.is_err() {
        let per_frame = file.sound.samples_per_frame;
        if state.len() == expected || per_frame <= 8000 && version >= 14 {
            // The only field on which the length depends.
            let usual = PyBoyState::fresh(version, &shape).sound.samples_per_frame;
            if per_frame != usual && per_frame != format::SAMPLES_PER_FRAME {
                return Err(StateError::OtherSampleRate {
                    samples_per_frame: per_frame,
                });
            }
        }
    }
    let is_done = matches!(&stream, Stream::Read(rest) if rest.is_empty());
    if passed.is_err() || !is_done {
        return Err(StateError::BadLength {
            found: state.len(),
            expected,
        });
    }
    Ok(file)
}

impl Machine {
    /// Takes over a file's values. The caller validates the result.
    pub(crate) fn load_pyboy(
        &mut self,
        file: &PyBoyState,
        unsaved: Unsaved,
    ) -> Result<(), StateError> {
        let bad = |field, value| Err(StateError::BadField { field, value });
        if file.boot_rom_mapped && self.boot_rom.is_none() {
            return Err(StateError::NeedsBootRom);
        }
        if file.cpu.interrupt_queued {
            return bad("interrupt_queued", 1);
        }
        let now = file.cpu.cycles;
        // Before version 13 the parts did not know each other's time.
        let synced = [
            (12, "timer_last_cycle", file.timer.synced_to),
            (13, "lcd_last_cycle", file.lcd.synced_to),
            (13, "sound_last_cycle", file.sound.synced_to),
            (15, "serial_last_cycle", file.serial.synced_to),
        ];
        for (since, field, synced_to) in synced {
            if file.version >= since && synced_to != now {
                return bad(field, synced_to);
            }
        }
        self.cycles = now;
        self.previous_start = now;
        self.boot_rom_mapped = file.boot_rom_mapped;
        self.touched = true;
        self.load_pyboy_cpu(file, unsaved);
        self.dma = OamDma {
            active: file.dma.active,
            source: file.dma.source,
            copied: file.dma.copied,
            starts_at: file.dma.starts_at,
        };
        self.wram = file.wram;
        self.hram = file.hram;
        self.unusable = file.unusable;
        self.joypad.latch = file.io[0];
        self.joypad.directions = file.directions & 0xF;
        self.joypad.buttons = file.buttons & 0xF;
        for register in [0x03].into_iter().chain(0x08..=0x0E) {
            self.unmapped_io[register] = file.io[register];
        }
        self.load_pyboy_timer(file);
        self.load_pyboy_serial(file);
        self.ppu.load_pyboy(file, unsaved)?;
        self.apu.load_pyboy(file)?;
        self.cartridge.load_pyboy(&file.cartridge, unsaved);
        Ok(())
    }

    fn load_pyboy_cpu(&mut self, file: &PyBoyState, unsaved: Unsaved) {
        let from = &file.cpu;
        let cpu = &mut self.cpu;
        cpu.a = from.a;
        cpu.f = from.f;
        cpu.bc = u16::from_be_bytes([from.b, from.c]);
        cpu.de = u16::from_be_bytes([from.d, from.e]);
        cpu.hl = from.hl;
        cpu.sp = from.sp;
        cpu.pc = from.pc;
        cpu.ime = from.ime;
        cpu.ei_delay = from.ei_delay;
        cpu.halted = from.halted;
        cpu.halted_during_ei &= unsaved == Unsaved::Keep;
        cpu.locked = false;
        self.interrupts.enabled = from.interrupt_enable;
        self.interrupts.requested = from.interrupt_flags;
    }

    fn load_pyboy_timer(&mut self, file: &PyBoyState) {
        let from = &file.timer;
        let timer = &mut self.timer;
        timer.counter = from.counter;
        timer.tima = from.tima;
        timer.tma = from.tma;
        timer.tac = from.tac & 0b111;
        timer.reload_phase = from.reload_phase;
        timer.reload_t_cycles = from.reload_t_cycles.min(0xFF) as u8;
        timer.synced_to = file.cpu.cycles;
        timer.published = from.published;
    }

    fn load_pyboy_serial(&mut self, file: &PyBoyState) {
        let from = &file.serial;
        let now = file.cpu.cycles;
        let serial = &mut self.serial;
        serial.sc = from.sc;
        serial.transferring = from.transferring != 0;
        serial.done_at = if serial.transferring {
            now.saturating_add(from.done_at.saturating_sub(from.clock))
        } else {
            u64::MAX
        };
        serial.synced_to = now;
        serial.published = from.published;
    }

    /// The current version's file of this machine.
    pub(crate) fn to_pyboy(&self, header: &Header) -> Vec<u8> {
        let shape = Shape::new(header);
        let mut file = PyBoyState::fresh(CURRENT_VERSION, &shape);
        file.boot_rom_mapped = self.boot_rom_mapped;
        self.fill_pyboy_cpu(&mut file);
        file.dma.active = self.dma.active;
        file.dma.source = self.dma.source;
        file.dma.copied = self.dma.copied;
        file.dma.starts_at = self.dma.starts_at;
        file.wram = self.wram;
        file.hram = self.hram;
        file.unusable = self.unusable;
        file.io[..16].copy_from_slice(&self.unmapped_io);
        file.io[0] = self.joypad.latch;
        file.directions = self.joypad.directions;
        file.buttons = self.joypad.buttons;
        self.fill_pyboy_timer(&mut file);
        self.fill_pyboy_serial(&mut file);
        self.ppu.fill_pyboy(&mut file.lcd);
        self.apu.fill_pyboy(&mut file.sound);
        self.cartridge.fill_pyboy(&mut file.cartridge);
        let len = PyBoyState::file_len(CURRENT_VERSION, &shape);
        let mut stream = Stream::Write(Vec::with_capacity(len));
        // Writing cannot end early.
        let _ = file.pass(&mut stream, &shape);
        match stream {
            Stream::Write(out) => out,
            _ => Vec::new(),
        }
    }

    fn fill_pyboy_cpu(&self, file: &mut PyBoyState) {
        let registers = self.cpu.registers();
        let cpu = &mut file.cpu;
        cpu.a = registers.a;
        cpu.f = registers.f;
        cpu.b = registers.b;
        cpu.c = registers.c;
        cpu.d = registers.d;
        cpu.e = registers.e;
        cpu.hl = registers.hl;
        cpu.sp = registers.sp;
        cpu.pc = registers.pc;
        cpu.ime = self.cpu.ime;
        cpu.ei_delay = self.cpu.ei_delay;
        cpu.halted = self.cpu.halted;
        cpu.interrupt_enable = self.interrupts.enabled;
        cpu.interrupt_flags = self.interrupts.requested;
        cpu.cycles = self.cycles;
    }

    fn fill_pyboy_timer(&self, file: &mut PyBoyState) {
        let timer = &mut file.timer;
        timer.div = self.timer.div();
        timer.tima = self.timer.tima;
        timer.counter = self.timer.counter;
        timer.reload_t_cycles = self.timer.reload_t_cycles.into();
        timer.tma = self.timer.tma;
        timer.tac = self.timer.tac;
        timer.reload_phase = self.timer.reload_phase;
        timer.synced_to = self.timer.synced_to;
        timer.published = self.timer.published;
    }

    fn fill_pyboy_serial(&self, file: &mut PyBoyState) {
        let serial = &mut file.serial;
        serial.sc = self.serial.sc;
        serial.internal_clock = self.serial.sc & 1;
        serial.synced_to = self.serial.synced_to;
        serial.clock = self.serial.synced_to;
        serial.published = self.serial.published;
        if self.serial.transferring {
            serial.transferring = 0x80;
            serial.done_at = self.serial.done_at;
        } else {
            serial.done_at = NEVER;
        }
    }
}
