//! `Machine`: one Game Boy, usable from several threads.
//!
//! `emurust.GameBoy` (Python) wraps it with PyBoy's vocabulary, names for
//! buttons, and files.

use std::sync::Mutex;

use emurust_core::{
    BootRom, Button, CoreError, GameBoy, Options, Registers, Unsaved, SCREEN_HEIGHT, SCREEN_WIDTH,
};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::engine::engine as engine_named;
use crate::errors::python::{ArgumentError, ClosedError, StateMismatchError};
use crate::errors::ToPyErr;
use crate::gate;
use crate::rom::Rom;
use crate::views::View;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Machine>()
}

/// Frames between two looks for Ctrl-C during a long `tick`.
const FRAMES_PER_SIGNAL_CHECK: u32 = 2048;

/// The order of [`Button`]'s numbers.
const BUTTONS: [Button; 8] = [
    Button::Up,
    Button::Down,
    Button::Right,
    Button::Left,
    Button::A,
    Button::B,
    Button::Select,
    Button::Start,
];

/// One Game Boy.
///
/// rom: the cartridge. boot_rom: 256 bytes to start from power-on, or None to
/// start where the boot ROM hands over to the cartridge. sound: emulate the
/// sound unit, so that its registers read back.
///
/// Every method may be called from any thread; running frames releases the GIL.
/// After close() all but frame_count, cycles and closed raise ClosedError.
#[pyclass(frozen, module = "emurust._emurust")]
pub(crate) struct Machine {
    power: Mutex<Power>,
}

/// Whether the machine still runs.
enum Power {
    On(Box<Running>),
    Off { frame_count: u64, cycles: u64 },
}

/// A machine and what Python sees of its memory.
pub(crate) struct Running {
    pub(crate) gameboy: GameBoy,
    options: Options,
    views: Views,
}

struct Views {
    shades: View,
    rgba: View,
    wram: View,
    vram: View,
    oam: View,
    hram: View,
    cart_ram: View,
}

impl Running {
    fn new(gameboy: GameBoy, options: Options) -> Self {
        Self {
            gameboy,
            options,
            views: Views {
                shades: View::new(),
                rgba: View::new_rgba(),
                wram: View::new(),
                vram: View::new(),
                oam: View::new(),
                hram: View::new(),
                cart_ram: View::new(),
            },
        }
    }

    pub(crate) fn has_boot_rom(&self) -> bool {
        self.options.boot_rom.is_some()
    }

    /// The boot ROM; empty without one.
    pub(crate) fn boot_rom(&self) -> &[u8] {
        let boot_rom = self.options.boot_rom.as_ref();
        boot_rom.map_or(&[], |boot_rom| boot_rom.bytes())
    }

    /// To be called after anything that may have changed the machine.
    pub(crate) fn refresh_views(&mut self) {
        self.views.shades.refresh(self.gameboy.shades());
        self.views.rgba.refresh(self.gameboy.shades());
        self.refresh_memory_views();
    }

    /// To be called after a change that cannot have drawn anything.
    pub(crate) fn refresh_memory_views(&mut self) {
        self.views.wram.refresh(self.gameboy.wram());
        self.views.vram.refresh(self.gameboy.vram());
        self.views.oam.refresh(self.gameboy.oam());
        self.views.hram.refresh(self.gameboy.hram());
        self.views.cart_ram.refresh(self.gameboy.cart_ram());
    }

    /// Runs `count` frames as one PyBoy `tick` does, looking for Ctrl-C now and
    /// then; on a signal the frames so far have been run.
    fn tick(&mut self, count: u64, render: bool, sample_sound: bool) -> PyResult<()> {
        let mut left = count;
        while left > u64::from(FRAMES_PER_SIGNAL_CHECK) {
            self.gameboy.tick(FRAMES_PER_SIGNAL_CHECK, false, false);
            left -= u64::from(FRAMES_PER_SIGNAL_CHECK);
            if let Err(signal) = Python::attach(|py| py.check_signals()) {
                self.refresh_views();
                return Err(signal);
            }
        }
        // At most FRAMES_PER_SIGNAL_CHECK, so the conversion loses nothing.
        let left = u32::try_from(left).unwrap_or(FRAMES_PER_SIGNAL_CHECK);
        self.gameboy.tick(left, render, sample_sound);
        self.refresh_views();
        Ok(())
    }
}

/// Cycles, PC, ROM bank, A, F, B, C, D, E, HL, SP.
type TracedMoment = (u64, u16, u16, u8, u8, u8, u8, u8, u8, u16, u16);

impl Machine {
    fn from_running(running: Running) -> Self {
        Self {
            power: Mutex::new(Power::On(Box::new(running))),
        }
    }

    /// Short work on the machine; see [`gate::brief`].
    pub(crate) fn brief<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Running) -> PyResult<T>,
    ) -> PyResult<T> {
        gate::brief(py, &self.power, |power| work(power.running()?))
    }

    /// Work on the machine inside a call that already released the GIL.
    pub(crate) fn with_running<T>(
        &self,
        work: impl FnOnce(&mut Running) -> PyResult<T>,
    ) -> PyResult<T> {
        let mut power = gate::usable(self.power.lock())?;
        work(power.running()?)
    }
}

impl Power {
    fn running(&mut self) -> PyResult<&mut Running> {
        match self {
            Self::On(running) => Ok(running),
            Self::Off { .. } => Err(ClosedError::new_err(
                "this GameBoy was stopped; make a new one to go on",
            )),
        }
    }
}

fn button(number: u8) -> PyResult<Button> {
    BUTTONS
        .get(usize::from(number))
        .copied()
        .ok_or_else(|| ArgumentError::new_err(format!("button number {number} is not 0 to 7")))
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (rom, *, boot_rom=None, sound=false, engine="auto"))]
    fn new(
        py: Python<'_>,
        rom: &Bound<'_, Rom>,
        boot_rom: Option<PyBackedBytes>,
        sound: bool,
        engine: &str,
    ) -> PyResult<Self> {
        let rom = rom.get().0.clone();
        let boot_rom = boot_rom
            .map(|image| BootRom::from_bytes(&image))
            .transpose()
            .map_err(|error| error.to_py_err())?;
        let options = Options {
            sound,
            boot_rom,
            engine: engine_named(engine)?,
            ..Options::default()
        };
        let gameboy = py
            .detach(|| gate::guarded(|| Ok(GameBoy::new(rom, options.clone()))))?
            .map_err(|error| error.to_py_err())?;
        Ok(Self::from_running(Running::new(gameboy, options)))
    }

    /// Translates at once everything that has been seen running, well or quickly.
    fn translate_now(&self, py: Python<'_>, well: bool) -> PyResult<()> {
        gate::released(py, &self.power, |power| {
            let gameboy = &mut power.running()?.gameboy;
            gameboy
                .translate_now(well)
                .map_err(|error| CoreError::from(error).to_py_err())
        })
    }

    /// Runs `count` frames; `render` and `sample_sound` are for the last one.
    #[pyo3(signature = (count=1, render=true, sample_sound=false))]
    fn tick(&self, py: Python<'_>, count: u64, render: bool, sample_sound: bool) -> PyResult<()> {
        gate::released(py, &self.power, |power| {
            power.running()?.tick(count, render, sample_sound)
        })
    }

    /// Runs one frame as `tick(1, render)` does, and returns the CPU before every
    /// instruction: (cycles, PC, ROM bank at 4000, A, F, B, C, D, E, HL, SP). Slow.
    fn trace_tick(&self, py: Python<'_>, render: bool) -> PyResult<Vec<TracedMoment>> {
        gate::released(py, &self.power, |power| {
            let running = power.running()?;
            let mut moments = Vec::new();
            running.gameboy.trace_tick(render, |moment| {
                let r = moment.registers;
                moments.push((
                    moment.cycles,
                    r.pc,
                    moment.rom_bank,
                    r.a,
                    r.f,
                    r.b,
                    r.c,
                    r.d,
                    r.e,
                    r.hl,
                    r.sp,
                ));
            });
            running.refresh_views();
            Ok(moments)
        })
    }

    /// Runs up to the next stop, whose (bank, address) is returned, or to the end of
    /// the frame. With `begin` a new frame is begun first. At a stop its instruction
    /// has not been run.
    fn run_to_stop(
        &self,
        py: Python<'_>,
        begin: bool,
        render: bool,
        sample_sound: bool,
    ) -> PyResult<Option<(i32, u16)>> {
        gate::released(py, &self.power, |power| {
            let running = power.running()?;
            if begin {
                running.gameboy.begin_frame(render, sample_sound);
            }
            let place = running.gameboy.run_to_stop();
            running.refresh_views();
            Ok(place)
        })
    }

    /// Puts a stop at an address of a bank (-1: the boot ROM).
    fn set_stop(&self, py: Python<'_>, bank: i32, address: u16) -> PyResult<()> {
        self.brief(py, |running| {
            let set = running.gameboy.set_stop((bank, address));
            running.refresh_memory_views();
            set.map_err(|error| error.to_py_err())
        })
    }

    /// Takes a stop away.
    fn clear_stop(&self, py: Python<'_>, bank: i32, address: u16) -> PyResult<()> {
        self.brief(py, |running| {
            let cleared = running.gameboy.clear_stop((bank, address));
            running.refresh_memory_views();
            cleared.map_err(|error| error.to_py_err())
        })
    }

    /// Handles queued input without running a frame.
    fn handle_input(&self, py: Python<'_>) -> PyResult<()> {
        self.brief(py, |running| {
            running.gameboy.handle_input();
            Ok(())
        })
    }

    /// Counts a frame that is not run; its queued input takes effect.
    fn idle_frame(&self, py: Python<'_>) -> PyResult<()> {
        self.brief(py, |running| {
            running.gameboy.idle_frame();
            Ok(())
        })
    }

    /// Sets DIV.
    fn set_div(&self, py: Python<'_>, value: u8) -> PyResult<()> {
        self.brief(py, |running| {
            running.gameboy.set_div(value);
            Ok(())
        })
    }

    /// Stops the cartridge's clock or lets it run; false if it has none.
    fn lock_clock(&self, py: Python<'_>, locked: bool) -> PyResult<bool> {
        self.brief(py, |running| Ok(running.gameboy.lock_clock(locked)))
    }

    /// The cartridge's rumble motor is on.
    #[getter]
    fn rumbling(&self, py: Python<'_>) -> PyResult<bool> {
        self.brief(py, |running| Ok(running.gameboy.is_rumbling()))
    }

    /// Sets the row counter of the window; see the core.
    fn set_window_row(&self, py: Python<'_>, row: i8) -> PyResult<()> {
        self.brief(py, |running| {
            running.gameboy.set_window_row(row);
            Ok(())
        })
    }

    /// SCX, SCY, WX, WY and bit 4 of LCDC for each of the 144 lines, as drawn.
    fn line_parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.brief(py, |running| {
            let lines = running.gameboy.line_parameters();
            Ok(PyBytes::new(py, lines.as_flattened()))
        })
    }

    /// Sound of the last sampled frame: signed bytes, left and right in turn, 48 kHz.
    fn sound_samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.brief(py, |running| {
            let samples = running.gameboy.sound_samples();
            let bytes: Vec<u8> = samples
                .iter()
                .map(|sample| sample.cast_unsigned())
                .collect();
            Ok(PyBytes::new(py, &bytes))
        })
    }

    /// Queues a press (or release) of button `number` (0 to 7: up down right left
    /// a b select start) for the next frame, or for `delay` frames later.
    #[pyo3(signature = (number, pressed, delay=0))]
    fn queue_button(&self, py: Python<'_>, number: u8, pressed: bool, delay: u32) -> PyResult<()> {
        let button = button(number)?;
        self.brief(py, |running| {
            let gameboy = &mut running.gameboy;
            match (pressed, delay) {
                (true, 0) => gameboy.queue_press(button),
                (false, 0) => gameboy.queue_release(button),
                (true, _) => gameboy.queue_press_delayed(button, delay),
                (false, _) => gameboy.queue_release_delayed(button, delay),
            }
            Ok(())
        })
    }

    /// Frames run so far; not part of a state.
    #[getter]
    fn frame_count(&self, py: Python<'_>) -> PyResult<u64> {
        gate::brief(py, &self.power, |power| {
            Ok(match power {
                Power::On(running) => running.gameboy.frame_count(),
                Power::Off { frame_count, .. } => *frame_count,
            })
        })
    }

    /// T-cycles (1 / 4194304 s) of the CPU since power-on.
    #[getter]
    fn cycles(&self, py: Python<'_>) -> PyResult<u64> {
        gate::brief(py, &self.power, |power| {
            Ok(match power {
                Power::On(running) => running.gameboy.cycles(),
                Power::Off { cycles, .. } => *cycles,
            })
        })
    }

    /// Interrupts are enabled.
    #[getter]
    fn ime(&self, py: Python<'_>) -> PyResult<bool> {
        self.brief(py, |running| Ok(running.gameboy.ime()))
    }

    /// The CPU waits in HALT.
    #[getter]
    fn halted(&self, py: Python<'_>) -> PyResult<bool> {
        self.brief(py, |running| Ok(running.gameboy.is_halted()))
    }

    /// The CPU executed an illegal opcode and runs no more; frames go on.
    #[getter]
    fn locked(&self, py: Python<'_>) -> PyResult<bool> {
        self.brief(py, |running| Ok(running.gameboy.is_locked()))
    }

    /// Emulates the sound unit.
    #[getter]
    fn sound(&self, py: Python<'_>) -> PyResult<bool> {
        self.brief(py, |running| Ok(running.options.sound))
    }

    /// The boot ROM it was made with.
    #[getter]
    fn boot_rom<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.brief(py, |running| {
            let boot_rom = running.has_boot_rom().then(|| running.boot_rom());
            Ok(boot_rom.map(|boot_rom| PyBytes::new(py, boot_rom)))
        })
    }

    /// (A, F, B, C, D, E, HL, SP, PC)
    #[expect(clippy::type_complexity, reason = "it is what Python gets")]
    fn registers(&self, py: Python<'_>) -> PyResult<(u8, u8, u8, u8, u8, u8, u16, u16, u16)> {
        self.brief(py, |running| {
            let r = running.gameboy.registers();
            Ok((r.a, r.f, r.b, r.c, r.d, r.e, r.hl, r.sp, r.pc))
        })
    }

    /// Sets one register by its name (A F B C D E HL SP PC) to the low bits of `value`.
    fn set_register(&self, py: Python<'_>, name: &str, value: u16) -> PyResult<()> {
        let low = value.to_le_bytes()[0];
        self.brief(py, |running| {
            let mut registers: Registers = running.gameboy.registers();
            match name {
                "A" => registers.a = low,
                "F" => registers.f = low & 0xF0,
                "B" => registers.b = low,
                "C" => registers.c = low,
                "D" => registers.d = low,
                "E" => registers.e = low,
                "HL" => registers.hl = value,
                "SP" => registers.sp = value,
                "PC" => registers.pc = value,
                _ => {
                    return Err(ArgumentError::new_err(format!(
                        "there is no register {name}; the registers are A F B C D E HL SP PC"
                    )))
                }
            }
            running.gameboy.set_registers(registers);
            Ok(())
        })
    }

    /// The byte at `address` as the bus would give it, without side effects.
    fn peek(&self, py: Python<'_>, address: u16) -> PyResult<u8> {
        self.brief(py, |running| Ok(running.gameboy.peek(address)))
    }

    /// The bytes from `address` on as [`Machine::peek`] gives them; after 0xFFFF comes 0.
    fn peek_block<'py>(
        &self,
        py: Python<'py>,
        address: u16,
        length: u16,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.brief(py, |running| {
            PyBytes::new_with(py, usize::from(length), |out| {
                for (byte, offset) in out.iter_mut().zip(0..) {
                    *byte = running.gameboy.peek(address.wrapping_add(offset));
                }
                Ok(())
            })
        })
    }

    /// Length of a state in bytes.
    #[getter]
    fn state_len(&self, py: Python<'_>) -> PyResult<usize> {
        self.brief(py, |running| Ok(running.gameboy.state_len()))
    }

    /// The machine's complete state.
    fn save_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.brief(py, |running| {
            PyBytes::new_with(py, running.gameboy.state_len(), |out| {
                let written = running.gameboy.save_state_into(out);
                written.map_err(|error| error.to_py_err())?;
                Ok(())
            })
        })
    }

    /// The state as a file of PyBoy 2.8.1.
    fn save_pyboy_state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.brief(py, |running| {
            Ok(PyBytes::new(py, &running.gameboy.save_pyboy_state()))
        })
    }

    /// Restores a state file of PyBoy's, and leaves what it does not hold as it is:
    /// as a PyBoy that was running does.
    fn load_pyboy_state(&self, py: Python<'_>, state: PyBackedBytes) -> PyResult<()> {
        self.brief(py, |running| {
            running
                .gameboy
                .load_pyboy_state(&state, Unsaved::Keep)
                .map_err(|error| error.to_py_err())?;
            running.refresh_views();
            Ok(())
        })
    }

    /// Restores a state of the same cartridge, also one of PyBoy's files; on an error
    /// nothing changes.
    ///
    /// Raises StateCorruptError, StateVersionError or StateMismatchError.
    fn load_state(&self, py: Python<'_>, state: PyBackedBytes) -> PyResult<()> {
        self.brief(py, |running| {
            running
                .gameboy
                .load_state(&state)
                .map_err(|error| error.to_py_err())?;
            running.refresh_views();
            Ok(())
        })
    }

    /// An independent machine in the same state, with the same queued input.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        self.brief(py, |running| {
            let (gameboy, options) = (running.gameboy.clone(), running.options.clone());
            Ok(Self::from_running(Running::new(gameboy, options)))
        })
    }

    /// The cartridge's image with what was written over it in this machine.
    fn rom_image<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.brief(py, |running| {
            Ok(PyBytes::new(py, running.gameboy.rom().image()))
        })
    }

    /// Overwrites the cartridge's image from `offset` on, in this machine only.
    fn patch_rom(&self, py: Python<'_>, offset: usize, content: PyBackedBytes) -> PyResult<()> {
        self.brief(py, |running| {
            running.gameboy.patch_rom(offset, &content);
            Ok(())
        })
    }

    /// The machine's inner values by name, for comparison with a reference.
    fn internals(&self, py: Python<'_>) -> PyResult<Vec<(&'static str, u64)>> {
        self.brief(py, |running| Ok(running.gameboy.internals()))
    }

    /// All cartridge RAM banks, one after the other.
    fn cart_ram_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.brief(py, |running| {
            Ok(PyBytes::new(py, running.gameboy.cart_ram()))
        })
    }

    /// Replaces all cartridge RAM banks.
    fn set_cart_ram(&self, py: Python<'_>, content: PyBackedBytes) -> PyResult<()> {
        self.brief(py, |running| {
            let ram = running.gameboy.cart_ram_mut();
            if ram.len() != content.len() {
                return Err(StateMismatchError::new_err(format!(
                    "the cartridge has {} bytes of RAM, not {}",
                    ram.len(),
                    content.len()
                )));
            }
            ram.copy_from_slice(&content);
            running.refresh_memory_views();
            Ok(())
        })
    }

    /// Live read-only view of the frame: (144, 160) uint8, 0 (white) to 3 (black)
    /// after the palette, 4 where nothing was drawn since power-on.
    fn shades<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let shape = [SCREEN_HEIGHT, SCREEN_WIDTH];
        self.brief(py, |Running { gameboy, views, .. }| {
            views.shades.array(py, gameboy.shades(), shape)
        })
    }

    /// Live view of the frame in PyBoy's colours: (144, 160, 4) uint8 RGBA.
    /// Writing to it changes nothing in the machine.
    fn rgba<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let shape = [SCREEN_HEIGHT, SCREEN_WIDTH, 4];
        self.brief(py, |Running { gameboy, views, .. }| {
            views.rgba.array(py, gameboy.shades(), shape)
        })
    }

    /// Live read-only view of work RAM from 0xC000: (8192,) uint8.
    fn wram<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.brief(py, |Running { gameboy, views, .. }| {
            let area = gameboy.wram();
            views.wram.array(py, area, [area.len()])
        })
    }

    /// Live read-only view of video RAM from 0x8000: (8192,) uint8.
    fn vram<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.brief(py, |Running { gameboy, views, .. }| {
            let area = gameboy.vram();
            views.vram.array(py, area, [area.len()])
        })
    }

    /// Live read-only view of object memory from 0xFE00: (160,) uint8.
    fn oam<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.brief(py, |Running { gameboy, views, .. }| {
            let area = gameboy.oam();
            views.oam.array(py, area, [area.len()])
        })
    }

    /// Live read-only view of high RAM from 0xFF80: (127,) uint8.
    fn hram<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.brief(py, |Running { gameboy, views, .. }| {
            let area = gameboy.hram();
            views.hram.array(py, area, [area.len()])
        })
    }

    /// Live read-only view of cartridge RAM: (8192 * banks,) uint8, bank after bank.
    fn cart_ram<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.brief(py, |Running { gameboy, views, .. }| {
            let area = gameboy.cart_ram();
            views.cart_ram.array(py, area, [area.len()])
        })
    }

    /// Panics while it holds the machine, so that tests see what becomes of a bug.
    #[pyo3(name = "_panic")]
    fn panic(&self, py: Python<'_>, long_work: bool) -> PyResult<()> {
        let fail = |_: &mut Power| -> PyResult<()> { panic!("asked to panic") };
        if long_work {
            gate::released(py, &self.power, fail)
        } else {
            gate::brief(py, &self.power, fail)
        }
    }

    /// Ends the machine and frees its memory; views keep what they last showed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        gate::brief(py, &self.power, |power| {
            if let Power::On(running) = power {
                *power = Power::Off {
                    frame_count: running.gameboy.frame_count(),
                    cycles: running.gameboy.cycles(),
                };
            }
            Ok(())
        })
    }

    /// close() was called.
    #[getter]
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        gate::brief(py, &self.power, |power| {
            Ok(matches!(power, Power::Off { .. }))
        })
    }
}
