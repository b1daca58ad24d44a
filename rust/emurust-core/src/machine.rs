//! All parts of one console, and the state that a saved state holds.

use crate::apu::Apu;
use crate::boot;
use crate::cartridge::Cartridge;
use crate::cpu::interpreter::ROM_FETCH_LIMIT;
use crate::cpu::registers::Cpu;
use crate::dma::OamDma;
use crate::interrupts::Interrupts;
use crate::joypad::Joypad;
use crate::ppu::Ppu;
use crate::rom::Rom;
use crate::savestate::{Exhausted, Reader, State, StateError, Writer};
use crate::serial::Serial;
use crate::timer::Timer;
use crate::translator::context::Context as NativeContext;
use crate::waiting::Wait;

pub(crate) const WRAM_LEN: usize = 0x2000;
pub(crate) const HRAM_LEN: usize = 0x7F;
const UNUSABLE_LEN: usize = 0x60;

/// The machine without its ROM, which the run loop passes along: reading it
/// through a shared pointer for every instruction would cost.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct Machine {
    // What every instruction touches comes first: native code reaches it with short offsets.
    pub(crate) cpu: Cpu,
    /// What native code needs to find its way in this machine.
    pub(crate) native: NativeContext,
    /// T-cycles since power-on. While an instruction runs, its start.
    pub(crate) cycles: u64,
    /// Start of the instruction before (or, between instructions, of the last one).
    pub(crate) previous_start: u64,
    /// The slice runs while `cycles` is below this; 0 to end it after this instruction.
    pub(crate) slice_end: u64,
    /// `slice_end` before anything ended the slice early.
    pub(crate) slice_target: u64,
    /// Offsets in the ROM image of what is mapped at 0000 and 4000.
    pub(crate) rom_low: usize,
    pub(crate) rom_high: usize,
    /// Code below this address is fetched from the image; 0 while the boot ROM is mapped.
    pub(crate) rom_fetch_limit: u16,
    /// Window of addresses whose code comes from one stretch of the image: its
    /// first address, length and offset. Empty when that is not known.
    pub(crate) code_start: u16,
    pub(crate) code_len: u16,
    pub(crate) code_offset: usize,
    /// This slice ends where PyBoy's does, even where that changes nothing.
    pub(crate) slice_is_exact: bool,
    /// A waiting loop that the last jump closed, and the jump's address.
    pub(crate) wait: Option<(Wait, u16)>,
    pub(crate) wram: [u8; WRAM_LEN],

    pub(crate) interrupts: Interrupts,
    pub(crate) timer: Timer,
    pub(crate) serial: Serial,
    pub(crate) joypad: Joypad,
    pub(crate) dma: OamDma,
    pub(crate) ppu: Ppu,
    pub(crate) apu: Apu,
    pub(crate) cartridge: Cartridge,
    pub(crate) hram: [u8; HRAM_LEN],
    pub(crate) unusable: [u8; UNUSABLE_LEN],
    /// FF03 and FF08-FF0E keep what is written, though they read FF.
    pub(crate) unmapped_io: [u8; 16],
    pub(crate) boot_rom_mapped: bool,
    /// Memory was written from outside since the last slice: what PyBoy's parts
    /// published may be stale, so one of its slices must be run as it is.
    pub(crate) touched: bool,
    /// There are stops (`stops.rs`): code must be interpreted, all of it.
    pub(crate) stops_armed: bool,
    /// The opcode of a stop was fetched.
    pub(crate) stopped: bool,
    /// Run every slice of PyBoy's: the twin by which the fast path is tested.
    pub(crate) always_exact: bool,
    pub(crate) boot_rom: Option<Box<[u8; boot::BOOT_ROM_LEN]>>,
}

macro_rules! for_each_saved_field {
    ($do:ident) => {
        $do!(
            cpu,
            cycles,
            previous_start,
            wram,
            interrupts,
            timer,
            serial,
            joypad,
            dma,
            ppu,
            apu,
            cartridge,
            hram,
            unusable,
            unmapped_io,
            boot_rom_mapped,
            touched
        )
    };
}

impl Machine {
    /// A console with the power just switched on.
    pub(crate) fn at_power_on(
        rom: &Rom,
        sound: bool,
        boot_rom: &[u8; boot::BOOT_ROM_LEN],
    ) -> Box<Self> {
        let mut machine = Self::new(rom, sound);
        machine.boot_rom = Some(Box::new(*boot_rom));
        machine.boot_rom_mapped = true;
        machine.remap();
        machine
    }

    fn new(rom: &Rom, sound: bool) -> Box<Self> {
        Box::new(Self {
            cpu: Cpu::default(),
            cycles: 0,
            previous_start: 0,
            slice_end: 0,
            slice_target: 0,
            rom_low: 0,
            rom_high: 0,
            rom_fetch_limit: 0,
            code_start: 0,
            code_len: 0,
            code_offset: 0,
            slice_is_exact: true,
            wait: None,
            wram: [0; WRAM_LEN],
            interrupts: Interrupts::default(),
            timer: Timer::default(),
            serial: Serial::default(),
            joypad: Joypad::default(),
            dma: OamDma::default(),
            ppu: Ppu::new(),
            apu: Apu::new(sound),
            cartridge: Cartridge::new(rom.header()),
            hram: [0; HRAM_LEN],
            unusable: [0; UNUSABLE_LEN],
            unmapped_io: [0; 16],
            boot_rom_mapped: false,
            touched: true,
            stops_armed: false,
            stopped: false,
            always_exact: false,
            boot_rom: None,
            native: NativeContext::default(),
        })
    }

    /// A console whose boot program has just handed over to the cartridge.
    pub(crate) fn at_hand_over(rom: &Rom, sound: bool) -> Box<Self> {
        let now = boot::HAND_OVER_AT;
        let mut machine = Self::new(rom, sound);
        machine.cpu = Cpu::at_hand_over();
        machine.cycles = now;
        machine.previous_start = now - 12;
        machine.interrupts.request(Interrupts::VBLANK);
        machine.timer.counter = now as u16;
        machine.timer.synced_to = now;
        machine.timer.published = crate::timer::NEVER;
        machine.serial.synced_to = now;
        machine.serial.published = crate::timer::NEVER;
        machine.ppu = Ppu::at_hand_over(now);
        machine.apu = Apu::at_hand_over(sound, now);
        machine.hram[boot::HRAM_BYTE.0] = boot::HRAM_BYTE.1;
        machine.remap();
        machine
    }

    /// Recomputes what is derived from the bank registers.
    pub(crate) fn remap(&mut self) {
        self.rom_low = self.cartridge.low_offset();
        self.rom_high = self.cartridge.high_offset();
        self.code_len = 0;
        self.rom_fetch_limit = if self.boot_rom_mapped {
            0
        } else {
            ROM_FETCH_LIMIT
        };
    }

    pub(crate) fn save(&self, out: &mut Writer<'_>) {
        macro_rules! save {
            ($($field:ident),*) => {{ $( self.$field.save(out); )* }};
        }
        for_each_saved_field!(save);
    }

    pub(crate) fn load(&mut self, input: &mut Reader<'_>) -> Result<(), Exhausted> {
        macro_rules! load {
            ($($field:ident),*) => {{ $( self.$field.load(input)?; )* }};
        }
        for_each_saved_field!(load);
        Ok(())
    }

    /// Checks the values that a saved state brought and rebuilds what is derived from them.
    pub(crate) fn validate_loaded(&mut self) -> Result<(), StateError> {
        let bad = |field, value| Err(StateError::BadField { field, value });
        self.cartridge.validate()?;
        self.ppu.validate()?;
        self.ppu.note_irregularity();
        self.ppu.forget();
        self.apu.validate()?;
        self.dma.validate()?;
        // Every part is caught up at a frame end; a part from another time
        // would be caught up through all the cycles between.
        let now = self.cycles;
        let parts = [
            ("timer", self.timer.synced_to),
            ("serial", self.serial.synced_to),
            ("ppu", self.ppu.synced_to()),
            ("apu", self.apu.synced_to()),
        ];
        for (part, synced_to) in parts {
            if synced_to != now {
                return bad(part, synced_to);
            }
        }
        if now > i64::MAX as u64 / 2 {
            return bad("cycles", now);
        }
        if self.previous_start > now {
            return bad("previous_start", self.previous_start);
        }
        if self.serial.transferring && self.serial.done_at > now + 0x1_0000 {
            return bad("serial_done_at", self.serial.done_at);
        }
        if self.dma.active && self.dma.starts_at > now + 0x1_0000 {
            return bad("dma_starts_at", self.dma.starts_at);
        }
        if self.boot_rom_mapped && self.boot_rom.is_none() {
            return bad("boot_rom_mapped", 1);
        }
        self.cpu.f &= 0xF0;
        self.cpu.ei_delay = self.cpu.ei_delay.min(2);
        self.interrupts.requested &= Interrupts::ALL;
        self.timer.tac &= 0b111;
        self.timer.validate()?;
        self.remap();
        Ok(())
    }

    /// Becomes a copy of `other`, in place.
    pub(crate) fn clone_from_machine(&mut self, other: &Self) {
        let Self {
            cpu,
            cycles,
            previous_start,
            slice_end: _,
            slice_target: _,
            rom_low: _,
            rom_high: _,
            rom_fetch_limit: _,
            code_start: _,
            code_len: _,
            code_offset: _,
            slice_is_exact: _,
            wait: _,
            wram,
            interrupts,
            timer,
            serial,
            joypad,
            dma,
            ppu,
            apu,
            cartridge,
            hram,
            unusable,
            unmapped_io,
            boot_rom_mapped,
            touched,
            stops_armed: _,
            stopped: _,
            always_exact: _,
            boot_rom: _,
            native: _,
        } = self;
        cpu.clone_from(&other.cpu);
        *cycles = other.cycles;
        *previous_start = other.previous_start;
        wram.copy_from_slice(&other.wram);
        interrupts.clone_from(&other.interrupts);
        timer.clone_from(&other.timer);
        serial.clone_from(&other.serial);
        joypad.clone_from(&other.joypad);
        dma.clone_from(&other.dma);
        ppu.copy_from(&other.ppu);
        apu.clone_from(&other.apu);
        cartridge.copy_from(&other.cartridge);
        hram.copy_from_slice(&other.hram);
        unusable.copy_from_slice(&other.unusable);
        unmapped_io.copy_from_slice(&other.unmapped_io);
        *boot_rom_mapped = other.boot_rom_mapped;
        *touched = other.touched;
        self.remap();
    }

    /// Internal values by name, for comparison with a reference.
    pub(crate) fn internals(&self) -> Vec<(&'static str, u64)> {
        let mut values = vec![
            ("cycles", self.cycles),
            ("ime", self.cpu.ime.into()),
            ("ei_delay", self.cpu.ei_delay.into()),
            ("halted", self.cpu.halted.into()),
            ("locked", self.cpu.locked.into()),
            ("interrupt_flags", self.interrupts.requested.into()),
            ("interrupt_enable", self.interrupts.enabled.into()),
            ("timer_counter", self.timer.counter.into()),
            ("timer_tima", self.timer.tima.into()),
            ("timer_tma", self.timer.tma.into()),
            ("timer_tac", self.timer.tac.into()),
            ("timer_reload_phase", self.timer.reload_phase.into()),
            ("serial_sc", self.serial.sc.into()),
            ("serial_transferring", self.serial.transferring.into()),
            ("joypad_directions", self.joypad.directions.into()),
            ("joypad_buttons", self.joypad.buttons.into()),
            ("joypad_latch", self.joypad.latch.into()),
            ("dma_active", self.dma.active.into()),
            ("dma_source", self.dma.source.into()),
            ("dma_copied", self.dma.copied.into()),
            ("dma_starts_at", self.dma.starts_at),
            ("rom_bank", self.cartridge.rom_bank.into()),
            ("rom_bank_low", self.cartridge.rom_bank_low.into()),
            ("ram_bank", self.cartridge.ram_bank.into()),
            ("ram_enabled", self.cartridge.ram_enabled.into()),
            ("mbc1_mode", self.cartridge.mode.into()),
            ("boot_rom_mapped", self.boot_rom_mapped.into()),
        ];
        self.ppu.internals(&mut values);
        values
    }
}
