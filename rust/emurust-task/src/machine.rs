//! What a task needs of a machine. The Game Boy is one; tests use flat memory.

use emurust_core::{Button, GameBoy};

/// A directly readable part of a machine's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Video RAM, 8000-9FFF.
    Vram,
    /// All banks of the cartridge's RAM, 8 KiB each (A000-BFFF).
    CartRam,
    /// Work RAM, C000-DFFF.
    Wram,
    /// Sprite table, FE00-FE9F.
    Oam,
    /// High RAM, FF80-FFFE.
    Hram,
}

/// Memory and picture, without side effects.
pub trait Memory {
    /// The bytes of an area.
    fn area(&self, area: Area) -> &[u8];
    /// One byte as the CPU would read it now.
    fn peek(&self, address: u16) -> u8;
    /// The picture: 144 x 160 shades, 0 (white) to 3 (black), 4 where nothing was drawn.
    fn shades(&self) -> &[u8];
}

/// Memory, buttons and time.
pub trait Machine: Memory {
    /// Queues a press; it takes effect with the next frame.
    fn press(&mut self, button: Button);
    /// Queues a release; it takes effect with the next frame.
    fn release(&mut self, button: Button);
    /// Runs frames; `render` draws the last of them.
    fn run(&mut self, frames: u32, render: bool);
}

impl Memory for GameBoy {
    fn area(&self, area: Area) -> &[u8] {
        match area {
            Area::Vram => self.vram(),
            Area::CartRam => self.cart_ram(),
            Area::Wram => self.wram(),
            Area::Oam => self.oam(),
            Area::Hram => self.hram(),
        }
    }

    fn peek(&self, address: u16) -> u8 {
        GameBoy::peek(self, address)
    }

    fn shades(&self) -> &[u8] {
        GameBoy::shades(self)
    }
}

impl Machine for GameBoy {
    fn press(&mut self, button: Button) {
        self.queue_press(button);
    }

    fn release(&mut self, button: Button) {
        self.queue_release(button);
    }

    fn run(&mut self, frames: u32, render: bool) {
        self.tick(frames, render, false);
    }
}
