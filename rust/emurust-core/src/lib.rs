//! One deterministic Game Boy.
//!
//! The machine of PyBoy 2.8.1, bit for bit: same inputs, same memory, registers,
//! cycle count and frames. No Python, no files; the one thread makes native code.

mod apu;
mod boot;
mod bus;
mod cartridge;
mod cpu;
mod dma;
mod gameboy;
mod input;
mod interrupts;
mod joypad;
mod machine;
mod ppu;
mod pyboy_state;
mod rom;
mod savestate;
mod scheduler;
mod serial;
mod stops;
#[cfg(test)]
mod tests;
mod timer;
mod translator;
mod waiting;

pub use boot::{BootRom, BootRomError};
pub use cpu::registers::Registers;
pub use gameboy::{CoreError, GameBoy, Model, Moment, Options};
pub use joypad::Button;
pub use ppu::{SCREEN_HEIGHT, SCREEN_WIDTH, UNDRAWN_SHADE};
pub use pyboy_state::Unsaved;
pub use rom::{Header, Mapper, Rom, RomError, RAM_BANK_SIZE, ROM_BANK_SIZE};
pub use savestate::StateError;
pub use stops::{StopError, StopPlace, STOP_OPCODE};
pub use translator::{translator_available, Engine, TranslatorError};
