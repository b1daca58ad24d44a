//! The machine as its users see it.

use std::sync::Arc;

use thiserror::Error;

use crate::boot::BootRom;
use crate::cpu::registers::Registers;
use crate::input::{Event, InputQueue};
use crate::interrupts::Interrupts;
use crate::joypad::Button;
use crate::machine::Machine;
use crate::ppu::SCREEN_HEIGHT;
use crate::pyboy_state::{self, Unsaved};
use crate::rom::Rom;
use crate::savestate::{
    checksum, Reader, StateError, Writer, CHECKSUM_LEN, HEADER_LEN, MAGIC, VERSION,
};
use crate::scheduler::Observer;
use crate::stops::{StopError, StopPlace, Stops};
use crate::translator::{translator_available, Engine, Handle, TranslatorError};

/// Flag in a state's header: the machine has sound.
const FLAG_SOUND: u32 = 1;

/// Which console to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// The original Game Boy.
    Dmg,
    /// The Game Boy Color (not available yet).
    Cgb,
}

/// What a machine is made with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which console to be.
    pub model: Model,
    /// Emulate the sound unit. Without it its registers read 0, as in PyBoy
    /// with `sound_emulated=False`.
    pub sound: bool,
    /// Run this program from power-on. Without one the machine starts where
    /// PyBoy's own boot program hands over, with VRAM zero.
    pub boot_rom: Option<Arc<BootRom>>,
    /// Run every slice that PyBoy runs. Slower, with the same results: the twin
    /// against which the fast path is tested.
    pub exact_slices: bool,
    /// How code is run.
    pub engine: Engine,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: Model::Dmg,
            sound: false,
            boot_rom: None,
            exact_slices: false,
            engine: Engine::Auto,
        }
    }
}

/// Why a machine cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CoreError {
    /// The model is not implemented.
    #[error("Game Boy Color emulation is not available yet; use the original Game Boy (DMG)")]
    ModelUnavailable,
    /// Native code was asked for and cannot be had.
    #[error("the translator is not available here: {0}; use engine \"auto\" or \"interpreter\"")]
    NoTranslator(#[from] TranslatorError),
}

/// The CPU before an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// T-cycles since power-on.
    pub cycles: u64,
    /// ROM bank selected at 4000.
    pub rom_bank: u16,
    /// The registers.
    pub registers: Registers,
    /// Interrupt master enable.
    pub ime: bool,
    /// IF.
    pub interrupt_flags: u8,
}

struct Tracer<F>(F);

impl<F: FnMut(Moment)> Observer for Tracer<F> {
    const WATCHES: bool = true;

    fn before_instruction(&mut self, machine: &Machine) {
        (self.0)(Moment {
            cycles: machine.cycles,
            rom_bank: machine.cartridge.rom_bank,
            registers: machine.cpu.registers(),
            ime: machine.cpu.ime,
            interrupt_flags: machine.interrupts.requested,
        });
    }
}

/// Room for a copy of the machine while a frame runs; a clone has none.
#[derive(Debug, Default)]
struct Spare(Option<Box<Machine>>);

impl Clone for Spare {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// One Game Boy with a cartridge in it.
#[derive(Debug, Clone)]
pub struct GameBoy {
    rom: Arc<Rom>,
    machine: Box<Machine>,
    input: InputQueue,
    frame_count: u64,
    stops: Stops,
    /// The machine before the frame, where the frame may have to be run again.
    before: Spare,
    engine: Engine,
    native: Handle,
}

impl GameBoy {
    /// Puts a cartridge into a console and switches it on.
    ///
    /// # Errors
    /// [`CoreError`] if the options ask for something that does not exist.
    pub fn new(rom: Arc<Rom>, options: Options) -> Result<Self, CoreError> {
        if options.model == Model::Cgb {
            return Err(CoreError::ModelUnavailable);
        }
        if options.engine == Engine::Translator {
            translator_available()?;
        }
        let mut machine = match &options.boot_rom {
            Some(boot_rom) => Machine::at_power_on(&rom, options.sound, boot_rom.bytes()),
            None => Machine::at_hand_over(&rom, options.sound),
        };
        machine.always_exact = options.exact_slices;
        Ok(Self {
            rom,
            machine,
            input: InputQueue::default(),
            frame_count: 0,
            stops: Stops::default(),
            before: Spare::default(),
            engine: options.engine,
            native: Handle::default(),
        })
    }

    /// The cartridge.
    #[must_use]
    pub fn rom(&self) -> &Arc<Rom> {
        &self.rom
    }

    /// Replaces bytes of the cartridge image of this machine only.
    ///
    /// Nothing happens outside of the image. Saved states do not hold the change.
    pub fn patch_rom(&mut self, offset: usize, bytes: &[u8]) {
        Arc::make_mut(&mut self.rom).patch(offset, bytes);
        self.native = Handle::default();
    }

    /// Whether the sound unit is emulated.
    #[must_use]
    pub fn has_sound(&self) -> bool {
        self.machine.apu.enabled
    }

    // Time.

    /// Runs one frame as PyBoy delimits it: to the end of line 153, or to the LCD
    /// being switched, or 70,224 cycles while it is off. Queued input is not looked at.
    pub fn run_frame(&mut self, render: bool, sample_sound: bool) {
        if self.has_stops() {
            self.machine.begin_frame(render, sample_sound);
            while self.stops.run(&mut self.machine, &mut self.rom).is_some() {}
            return;
        }
        if self.machine.apu.plays_wave() && !self.machine.always_exact {
            self.run_frame_guessing(render, sample_sound);
            return;
        }
        let region = self.native.refresh(&self.rom, self.engine);
        let region = region.filter(|_| !self.machine.always_exact);
        self.machine
            .run_frame(self.rom.code(region), render, sample_sound, &mut ());
    }

    /// Runs a frame on the guess that the program leaves wave RAM alone while
    /// channel 3 plays, and runs it again, exactly, if it did not.
    fn run_frame_guessing(&mut self, render: bool, sample_sound: bool) {
        let code = self.rom.code(self.native.refresh(&self.rom, self.engine));
        let machine = &mut self.machine;
        match &mut self.before.0 {
            Some(before) => before.clone_from_machine(machine),
            None => self.before.0 = Some(machine.clone()),
        }
        machine.apu.guessed = false;
        machine.apu.guessing = true;
        machine.run_frame(code, render, sample_sound, &mut ());
        machine.apu.guessing = false;
        if machine.apu.guessed {
            if let Some(before) = &self.before.0 {
                machine.clone_from_machine(before);
            }
            machine.run_frame(code, render, sample_sound, &mut ());
        }
    }

    /// As [`GameBoy::run_frame`], handing the state before each instruction to
    /// `watch`. Slow: for finding differences.
    ///
    /// A machine with stops is not traced.
    pub fn trace_frame(&mut self, render: bool, watch: impl FnMut(Moment)) {
        if self.has_stops() {
            self.run_frame(render, false);
            return;
        }
        let mut tracer = Tracer(watch);
        self.machine
            .run_frame(self.rom.code(None), render, false, &mut tracer);
    }

    /// As [`GameBoy::tick`] with a count of 1, tracing as [`GameBoy::trace_frame`].
    pub fn trace_tick(&mut self, render: bool, watch: impl FnMut(Moment)) {
        self.with_input(|gb| gb.trace_frame(render, watch));
    }

    /// Runs `count` frames with their queued input; only the last one is
    /// rendered and sampled. As PyBoy's `tick`.
    pub fn tick(&mut self, count: u32, render: bool, sample_sound: bool) {
        for left in (0..count).rev() {
            self.with_input(|gb| gb.run_frame(render && left == 0, sample_sound && left == 0));
        }
    }

    /// Begins a frame that [`GameBoy::run_to_stop`] runs: queued input takes effect.
    pub fn begin_frame(&mut self, render: bool, sample_sound: bool) {
        self.apply_input();
        self.machine.begin_frame(render, sample_sound);
    }

    /// Goes on with a frame that was begun, up to the next stop, whose place is
    /// returned, or to its end, after which it is counted.
    ///
    /// At a stop the instruction has not been run; it is when this is called again.
    pub fn run_to_stop(&mut self) -> Option<StopPlace> {
        let place = self.stops.run(&mut self.machine, &mut self.rom);
        if place.is_none() {
            self.count_frame();
        }
        place
    }

    /// Puts a stop before the instruction at a place. As with PyBoy's hooks, the
    /// place holds [`crate::STOP_OPCODE`] then. Only [`GameBoy::run_to_stop`] heeds stops.
    ///
    /// # Errors
    /// [`StopError`] if there is one already or code cannot be run there.
    pub fn set_stop(&mut self, place: StopPlace) -> Result<(), StopError> {
        self.stops.set(&mut self.machine, &mut self.rom, place)
    }

    /// Takes a stop away.
    ///
    /// # Errors
    /// [`StopError::NotThere`] if there is none, or if the machine stands at it.
    pub fn clear_stop(&mut self, place: StopPlace) -> Result<(), StopError> {
        self.stops.clear(&mut self.machine, &mut self.rom, place)
    }

    /// Whether there is any stop.
    #[must_use]
    pub fn has_stops(&self) -> bool {
        !self.stops.is_empty()
    }

    /// Runs a frame between the input that is queued for it and the count of it.
    fn with_input(&mut self, run_frame: impl FnOnce(&mut Self)) {
        self.apply_input();
        run_frame(self);
        self.count_frame();
    }

    /// Queued input takes effect.
    fn apply_input(&mut self) {
        let machine = &mut self.machine;
        self.input.apply_all(|event| apply_event(machine, event));
    }

    fn count_frame(&mut self) {
        self.frame_count += 1;
        self.input.release_due(self.frame_count);
    }

    /// T-cycles since power-on (4,194,304 per emulated second).
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.machine.cycles
    }

    /// Translates everything that has been seen running at once, `well` or quickly,
    /// instead of what runs often in the background: for tests and measurements.
    ///
    /// # Errors
    /// [`TranslatorError`] if native code cannot be had.
    pub fn translate_now(&mut self, well: bool) -> Result<(), TranslatorError> {
        self.rom.translation().translate_now(&self.rom, well);
        self.rom.translation().failure().map_or(Ok(()), Err)
    }

    /// Frames run by [`GameBoy::tick`] since this object was made.
    #[must_use]
    pub fn frame_count(&self) -> u64 {
        self.frame_count
    }

    // Input.

    /// The key goes down at the start of the next frame.
    pub fn queue_press(&mut self, button: Button) {
        self.input.push(Event {
            button,
            pressed: true,
        });
    }

    /// The key goes up at the start of the next frame.
    pub fn queue_release(&mut self, button: Button) {
        self.input.push(Event {
            button,
            pressed: false,
        });
    }

    /// The key goes down at the start of the frame after `frames` more frames.
    pub fn queue_press_delayed(&mut self, button: Button, frames: u32) {
        self.queue_delayed(button, true, frames);
    }

    /// The key goes up at the start of the frame after `frames` more frames.
    pub fn queue_release_delayed(&mut self, button: Button, frames: u32) {
        self.queue_delayed(button, false, frames);
    }

    fn queue_delayed(&mut self, button: Button, pressed: bool, frames: u32) {
        let event = Event { button, pressed };
        if frames == 0 {
            self.input.push(event);
        } else {
            let due = self.frame_count + u64::from(frames);
            self.input.push_delayed(event, due);
        }
    }

    /// Holds exactly the buttons of `pressed` from now on; bit `i` is button `i`.
    pub fn set_buttons(&mut self, pressed: u8) {
        for button in Button::ALL {
            let wanted = pressed >> button as u8 & 1 != 0;
            if wanted != self.machine.joypad.is_pressed(button) {
                let event = Event {
                    button,
                    pressed: wanted,
                };
                apply_event(&mut self.machine, event);
            }
        }
    }

    // Inspection.

    /// The CPU's registers.
    #[must_use]
    pub fn registers(&self) -> Registers {
        self.machine.cpu.registers()
    }

    /// Sets the CPU's registers. The low nibble of F does not exist.
    pub fn set_registers(&mut self, registers: Registers) {
        self.machine.cpu.set_registers(registers);
    }

    /// Interrupt master enable.
    #[must_use]
    pub fn ime(&self) -> bool {
        self.machine.cpu.ime
    }

    /// The CPU waits in HALT.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.machine.cpu.halted
    }

    /// The CPU executed an illegal opcode and does nothing more.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.machine.cpu.locked
    }

    /// Reads the bus as the CPU would now, side effects included. As `memory[addr]` in PyBoy.
    pub fn read(&mut self, addr: u16) -> u8 {
        self.machine.read_bus(self.rom.code(None), addr, 0, 0)
    }

    /// Writes the bus as the CPU would now. As `memory[addr] = value` in PyBoy.
    pub fn write(&mut self, addr: u16, value: u8) {
        self.machine.touched = true;
        self.machine
            .write_bus(self.rom.code(None), addr, value, 0, 0);
    }

    /// Reads the bus without any effect on the machine.
    #[must_use]
    pub fn peek(&self, addr: u16) -> u8 {
        self.machine.peek(self.rom.code(None), addr)
    }

    /// Work RAM, C000-DFFF.
    #[must_use]
    pub fn wram(&self) -> &[u8] {
        &self.machine.wram
    }

    /// Work RAM, C000-DFFF.
    pub fn wram_mut(&mut self) -> &mut [u8] {
        &mut self.machine.wram
    }

    /// Video RAM, 8000-9FFF.
    #[must_use]
    pub fn vram(&self) -> &[u8] {
        &self.machine.ppu.vram
    }

    /// Video RAM, 8000-9FFF.
    pub fn vram_mut(&mut self) -> &mut [u8] {
        self.machine.ppu.vram_mut()
    }

    /// Sprite attributes, FE00-FE9F.
    #[must_use]
    pub fn oam(&self) -> &[u8] {
        &self.machine.ppu.oam
    }

    /// Sprite attributes, FE00-FE9F.
    pub fn oam_mut(&mut self) -> &mut [u8] {
        self.machine.ppu.oam_mut()
    }

    /// High RAM, FF80-FFFE.
    #[must_use]
    pub fn hram(&self) -> &[u8] {
        &self.machine.hram
    }

    /// High RAM, FF80-FFFE.
    pub fn hram_mut(&mut self) -> &mut [u8] {
        &mut self.machine.hram
    }

    /// All banks of cartridge RAM, one after another.
    #[must_use]
    pub fn cart_ram(&self) -> &[u8] {
        &self.machine.cartridge.ram
    }

    /// All banks of cartridge RAM, one after another.
    pub fn cart_ram_mut(&mut self) -> &mut [u8] {
        &mut self.machine.cartridge.ram
    }

    /// ROM bank selected at 4000.
    #[must_use]
    pub fn rom_bank(&self) -> u16 {
        self.machine.cartridge.rom_bank
    }

    /// Sets DIV, leaving the bits below it; nothing else notices.
    pub fn set_div(&mut self, value: u8) {
        let low = self.machine.timer.counter & 0xFF;
        self.machine.timer.counter = u16::from(value) << 8 | low;
    }

    /// Stops the cartridge's clock, or lets it run again; false if it has none.
    pub fn lock_clock(&mut self, locked: bool) -> bool {
        self.machine.cartridge.lock_clock(locked)
    }

    /// The cartridge's rumble motor is on.
    #[must_use]
    pub fn is_rumbling(&self) -> bool {
        self.machine.cartridge.rumble
    }

    /// The row of the window that was drawn last, -1 before the first of a frame.
    ///
    /// A PyBoy that has never drawn a picture has 0, and shows the window one row
    /// off in its first one.
    pub fn set_window_row(&mut self, row: i8) {
        self.machine.ppu.set_window_row(row.into());
    }

    /// Counts a frame that is not run; its queued input takes effect.
    pub fn idle_frame(&mut self) {
        self.with_input(|_| {});
    }

    /// Handles queued input between frames that are not run.
    pub fn handle_input(&mut self) {
        self.apply_input();
        self.input.release_due(self.frame_count);
    }

    /// The last picture: 144 rows of 160 shades, 0 (lightest) to 3 after the
    /// palettes; [`crate::UNDRAWN_SHADE`] before anything was drawn.
    #[must_use]
    pub fn shades(&self) -> &[u8] {
        &self.machine.ppu.shades
    }

    /// SCX, SCY, WX, WY and the tile data bit of LCDC for each of the 144 lines, as they were drawn.
    #[must_use]
    pub fn line_parameters(&self) -> [[u8; 5]; SCREEN_HEIGHT] {
        self.machine.ppu.line_parameters.to_bytes()
    }

    /// Stereo samples of the last sampled frame, interleaved, 48 kHz, 0 to 127.
    #[must_use]
    pub fn sound_samples(&self) -> &[i8] {
        self.machine.apu.samples()
    }

    /// Internal values by name, for comparison with a reference.
    #[must_use]
    pub fn internals(&self) -> Vec<(&'static str, u64)> {
        self.machine.internals()
    }

    // Saved states.

    /// Length of this machine's saved states in bytes.
    #[must_use]
    pub fn state_len(&self) -> usize {
        let mut counter = Writer::counting();
        self.machine.save(&mut counter);
        HEADER_LEN + counter.len() + CHECKSUM_LEN
    }

    /// The complete state, to be loaded into any machine with the same ROM and
    /// sound setting. Queued input and the frame count are not part of it.
    #[must_use]
    pub fn save_state(&self) -> Vec<u8> {
        let mut state = vec![0; self.state_len()];
        self.write_state(&mut state);
        state
    }

    /// Writes the state to the front of `out`; the number of bytes written.
    ///
    /// # Errors
    /// [`StateError::BadLength`] if `out` is shorter than [`GameBoy::state_len`].
    pub fn save_state_into(&self, out: &mut [u8]) -> Result<usize, StateError> {
        let expected = self.state_len();
        let found = out.len();
        let target = out
            .get_mut(..expected)
            .ok_or(StateError::BadLength { found, expected })?;
        self.write_state(target);
        Ok(expected)
    }

    fn write_state(&self, out: &mut [u8]) {
        let body_end = out.len() - CHECKSUM_LEN;
        let mut writer = Writer::new(out);
        writer.bytes(&MAGIC);
        writer.bytes(&VERSION.to_le_bytes());
        writer.bytes(&self.state_flags().to_le_bytes());
        writer.bytes(&self.rom.fingerprint().to_le_bytes());
        self.machine.save(&mut writer);
        let sum = checksum(&out[..body_end]);
        out[body_end..].copy_from_slice(&sum.to_le_bytes());
    }

    fn state_flags(&self) -> u32 {
        if self.has_sound() {
            FLAG_SOUND
        } else {
            0
        }
    }

    /// Continues from a saved state, or from a state file of PyBoy's, version 7 to
    /// 29, as PyBoy 2.8.1 does that has just been switched on.
    ///
    /// # Errors
    /// [`StateError`] says why the state cannot be used; the machine is then unchanged.
    pub fn load_state(&mut self, state: &[u8]) -> Result<(), StateError> {
        if pyboy_state::is_pyboy_state(state) {
            return self.load_pyboy_state(state, Unsaved::Reset);
        }
        let body = self.check_state(state)?;
        let mut loaded = self.machine.clone();
        let mut reader = Reader::new(body);
        loaded
            .load(&mut reader)
            .map_err(|_| StateError::BadLength {
                found: state.len(),
                expected: self.state_len(),
            })?;
        loaded.validate_loaded()?;
        // In place: views of the memories stay valid.
        self.machine.clone_from_machine(&loaded);
        Ok(())
    }

    /// Continues from a state file of PyBoy's, version 7 to 29.
    ///
    /// A file's own times before version 13 are relative to a machine just
    /// switched on; it is then continued as if by one, whatever ran before.
    ///
    /// # Errors
    /// [`StateError`] says why the file cannot be used; the machine is then unchanged.
    pub fn load_pyboy_state(&mut self, state: &[u8], unsaved: Unsaved) -> Result<(), StateError> {
        if !pyboy_state::is_pyboy_state(state) {
            return Err(StateError::BadMagic);
        }
        let file = pyboy_state::parse(state, self.rom.header())?;
        let mut loaded = self.machine.clone();
        loaded.load_pyboy(&file, unsaved)?;
        loaded.validate_loaded()?;
        self.machine.clone_from_machine(&loaded);
        Ok(())
    }

    /// The state as PyBoy 2.8.1 would save it (version 29).
    ///
    /// A file has no place for a few things, which PyBoy keeps to itself: see
    /// [`Unsaved`]. Of a ROM bank above 255 it has the low eight bits.
    #[must_use]
    pub fn save_pyboy_state(&self) -> Vec<u8> {
        self.machine.to_pyboy(self.rom.header())
    }

    fn check_state<'a>(&self, state: &'a [u8]) -> Result<&'a [u8], StateError> {
        let found = state.len();
        let expected = self.state_len();
        let bad_length = StateError::BadLength { found, expected };
        if !state.starts_with(&MAGIC) {
            return Err(StateError::BadMagic);
        }
        let Some((header, rest)) = state[MAGIC.len()..].split_first_chunk::<16>() else {
            return Err(bad_length);
        };
        let [v0, v1, v2, v3, f0, f1, f2, f3, rom @ ..] = *header;
        let version = u32::from_le_bytes([v0, v1, v2, v3]);
        if version != VERSION {
            return Err(StateError::BadVersion {
                found: version,
                supported: VERSION,
            });
        }
        let fingerprint = u64::from_le_bytes(rom);
        if fingerprint != self.rom.fingerprint() {
            return Err(StateError::OtherRom {
                found: fingerprint,
                expected: self.rom.fingerprint(),
            });
        }
        let Some((body, sum)) = rest.split_last_chunk::<CHECKSUM_LEN>() else {
            return Err(bad_length);
        };
        if found != expected {
            return Err(bad_length);
        }
        if u64::from_le_bytes(*sum) != checksum(&state[..found - CHECKSUM_LEN]) {
            return Err(StateError::BadChecksum);
        }
        let saved = u32::from_le_bytes([f0, f1, f2, f3]) & FLAG_SOUND != 0;
        if saved != self.has_sound() {
            return Err(StateError::OtherSound {
                saved,
                here: self.has_sound(),
            });
        }
        Ok(body)
    }

    /// Becomes a copy of another machine with the same ROM, in microseconds.
    /// Frame count and queued input stay.
    ///
    /// # Errors
    /// [`StateError`] if the other machine has another ROM or sound setting.
    pub fn copy_from(&mut self, other: &GameBoy) -> Result<(), StateError> {
        if self.rom.fingerprint() != other.rom.fingerprint() {
            return Err(StateError::OtherRom {
                found: other.rom.fingerprint(),
                expected: self.rom.fingerprint(),
            });
        }
        if self.has_sound() != other.has_sound() {
            return Err(StateError::OtherSound {
                saved: other.has_sound(),
                here: self.has_sound(),
            });
        }
        self.machine.clone_from_machine(&other.machine);
        Ok(())
    }
}

fn apply_event(machine: &mut Machine, event: Event) {
    if !event.pressed {
        machine.joypad.release(event.button);
    } else if machine.joypad.press(event.button) {
        machine.interrupts.request(Interrupts::JOYPAD);
    }
}
