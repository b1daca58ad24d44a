//! A machine of flat memory that logs its buttons and frames.

use emurust_core::Button;
use emurust_task::{Area, Machine, Memory};

#[derive(Debug, Clone)]
pub(crate) struct Flat {
    pub(crate) memory: Vec<u8>,
    pub(crate) cart_ram: Vec<u8>,
    pub(crate) shades: Vec<u8>,
    pub(crate) log: Vec<String>,
}

impl Flat {
    pub(crate) fn new() -> Self {
        Self {
            memory: vec![0; 0x1_0000],
            cart_ram: vec![0; 4 * 0x2000],
            shades: vec![0; 144 * 160],
            log: Vec::new(),
        }
    }

    pub(crate) fn set(&mut self, address: usize, bytes: &[u8]) {
        self.memory[address..address + bytes.len()].copy_from_slice(bytes);
    }
}

impl Memory for Flat {
    fn area(&self, area: Area) -> &[u8] {
        match area {
            Area::Vram => &self.memory[0x8000..0xA000],
            Area::CartRam => &self.cart_ram,
            Area::Wram => &self.memory[0xC000..0xE000],
            Area::Oam => &self.memory[0xFE00..0xFEA0],
            Area::Hram => &self.memory[0xFF80..0xFFFF],
        }
    }

    fn peek(&self, address: u16) -> u8 {
        self.memory[usize::from(address)]
    }

    fn shades(&self) -> &[u8] {
        &self.shades
    }
}

impl Machine for Flat {
    fn press(&mut self, button: Button) {
        self.log.push(format!("press {button:?}"));
    }

    fn release(&mut self, button: Button) {
        self.log.push(format!("release {button:?}"));
    }

    fn run(&mut self, frames: u32, render: bool) {
        self.log
            .push(format!("{frames}{}", if render { " drawn" } else { "" }));
    }
}
