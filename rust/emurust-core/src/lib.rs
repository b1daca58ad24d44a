//! One deterministic Game Boy.
//!
//! The machine of PyBoy 2.8.1, bit for bit: same inputs, same memory, registers,
//! cycle count and frames. No Python, no threads, no files.

mod gameboy;
mod rom;

pub use gameboy::{
    BootRom, BootRomError, Button, CoreError, GameBoy, Model, Options, Registers, StateError,
    SCREEN_HEIGHT, SCREEN_WIDTH, UNDRAWN_SHADE,
};
pub use rom::{Header, Mapper, Rom, RomError, RAM_BANK_SIZE, ROM_BANK_SIZE};
