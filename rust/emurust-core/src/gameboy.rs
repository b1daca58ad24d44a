//! The machine as its users see it. (Interface first; the body follows.)
#![allow(missing_docs, clippy::todo, unused_variables, dead_code, clippy::must_use_candidate)]

use std::sync::Arc;

use crate::rom::Rom;

pub const SCREEN_WIDTH: usize = 160;
pub const SCREEN_HEIGHT: usize = 144;
/// Value of a screen cell that nothing has been drawn to since power-on.
pub const UNDRAWN_SHADE: u8 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    Dmg,
    Cgb,
}

#[derive(Debug, Clone)]
pub struct Options {
    pub model: Model,
    pub sound: bool,
    pub boot_rom: Option<Arc<BootRom>>,
    /// Run every slice that PyBoy runs (the reference twin of the fast path).
    pub exact_slices: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            model: Model::Dmg,
            sound: false,
            boot_rom: None,
            exact_slices: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootRom {
    bytes: [u8; 256],
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BootRomError {
    #[error("a DMG boot ROM has exactly 256 bytes, this one has {len}")]
    BadLength { len: usize },
}

impl BootRom {
    pub fn from_bytes(image: &[u8]) -> Result<Arc<Self>, BootRomError> {
        let bytes = image
            .try_into()
            .map_err(|_| BootRomError::BadLength { len: image.len() })?;
        Ok(Arc::new(Self { bytes }))
    }
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// PyBoy's order (its `WindowEvent` numbers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Button {
    Up,
    Down,
    Right,
    Left,
    A,
    B,
    Select,
    Start,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers {
    pub a: u8,
    pub f: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub e: u8,
    pub hl: u16,
    pub sp: u16,
    pub pc: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CoreError {
    #[error("Game Boy Color emulation is not available yet; use the DMG model")]
    ModelUnavailable,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    #[error("not an EmuRust state (it does not start with the state signature)")]
    BadMagic,
    #[error("the state has format version {found}, this build reads version {supported}")]
    BadVersion { found: u32, supported: u32 },
    #[error("the state has {found} bytes, expected {expected}; it is truncated or damaged")]
    BadLength { found: usize, expected: usize },
    #[error("the state's checksum does not match; it is damaged")]
    BadChecksum,
    #[error("the state was saved with another cartridge ({found:016x}, this one is {expected:016x})")]
    OtherRom { found: u64, expected: u64 },
    #[error("the state's field {field} has the impossible value {value}")]
    BadField { field: &'static str, value: u64 },
    #[error("the state was saved with sound {saved}, this machine has sound {here}")]
    OtherSound { saved: &'static str, here: &'static str },
}

#[derive(Debug, Clone)]
pub struct GameBoy {
    rom: Arc<Rom>,
}

impl GameBoy {
    pub fn new(rom: Arc<Rom>, options: Options) -> Result<Self, CoreError> { todo!() }
    pub fn rom(&self) -> &Arc<Rom> { &self.rom }
    pub fn run_frame(&mut self, render: bool, sample_sound: bool) { todo!() }
    pub fn tick(&mut self, count: u32, render: bool, sample_sound: bool) { todo!() }
    pub fn cycles(&self) -> u64 { todo!() }
    pub fn frame_count(&self) -> u64 { todo!() }
    pub fn queue_press(&mut self, button: Button) { todo!() }
    pub fn queue_release(&mut self, button: Button) { todo!() }
    pub fn queue_press_delayed(&mut self, button: Button, frames: u32) { todo!() }
    pub fn queue_release_delayed(&mut self, button: Button, frames: u32) { todo!() }
    pub fn set_buttons(&mut self, pressed_mask: u8) { todo!() }
    pub fn registers(&self) -> Registers { todo!() }
    pub fn set_registers(&mut self, registers: Registers) { todo!() }
    pub fn ime(&self) -> bool { todo!() }
    pub fn is_halted(&self) -> bool { todo!() }
    pub fn is_locked(&self) -> bool { todo!() }
    pub fn read(&mut self, addr: u16) -> u8 { todo!() }
    pub fn write(&mut self, addr: u16, value: u8) { todo!() }
    pub fn peek(&self, addr: u16) -> u8 { todo!() }
    pub fn wram(&self) -> &[u8] { todo!() }
    pub fn wram_mut(&mut self) -> &mut [u8] { todo!() }
    pub fn vram(&self) -> &[u8] { todo!() }
    pub fn vram_mut(&mut self) -> &mut [u8] { todo!() }
    pub fn oam(&self) -> &[u8] { todo!() }
    pub fn oam_mut(&mut self) -> &mut [u8] { todo!() }
    pub fn hram(&self) -> &[u8] { todo!() }
    pub fn hram_mut(&mut self) -> &mut [u8] { todo!() }
    pub fn cart_ram(&self) -> &[u8] { todo!() }
    pub fn cart_ram_mut(&mut self) -> &mut [u8] { todo!() }
    pub fn shades(&self) -> &[u8] { todo!() }
    pub fn state_len(&self) -> usize { todo!() }
    pub fn save_state(&self) -> Vec<u8> { todo!() }
    pub fn save_state_into(&self, out: &mut [u8]) { todo!() }
    pub fn load_state(&mut self, state: &[u8]) -> Result<(), StateError> { todo!() }
    pub fn copy_from(&mut self, other: &GameBoy) -> Result<(), StateError> { todo!() }
}
