//! What the lines on the screen were drawn from: a line is drawn only if that
//! has changed.
//!
//! Most pictures repeat most of the one before. VRAM and OAM count as a whole, so
//! that telling costs next to nothing.

use super::{SCREEN_HEIGHT, VRAM_LEN};

/// Everything that the shades of a line depend on. VRAM and OAM are told by the
/// number of their content, which is never used again for another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LineSource {
    /// LCDC, SCY, SCX, WX and the palettes, a byte each.
    pub(super) registers: u64,
    /// Row of the window from 1 on; 0 if the line shows none.
    pub(super) window_row: u16,
    pub(super) vram: u64,
    /// 0 if no sprite is on the line.
    pub(super) oam: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Drawn {
    lines: [LineSource; SCREEN_HEIGHT],
    /// Content of VRAM that has the number `vram_number`.
    vram: [u8; VRAM_LEN],
    /// 0 for no content.
    vram_number: u64,
    /// VRAM may differ from that.
    vram_is_stale: bool,
    /// Of the content of OAM.
    pub(super) oam_number: u64,
}

impl Drawn {
    pub(super) fn nothing() -> Self {
        Self {
            lines: [LineSource::default(); SCREEN_HEIGHT],
            vram: [0; VRAM_LEN],
            vram_number: 1,
            vram_is_stale: true,
            oam_number: 1,
        }
    }

    /// The screen shows something that was not drawn line by line.
    pub(super) fn forget_lines(&mut self) {
        self.lines = [LineSource::default(); SCREEN_HEIGHT];
    }

    pub(super) fn forget_vram(&mut self) {
        self.vram_is_stale = true;
    }

    /// The number of the content of VRAM.
    pub(super) fn number_vram(&mut self, vram: &[u8; VRAM_LEN]) -> u64 {
        if self.vram_is_stale {
            self.vram_is_stale = false;
            if self.vram != *vram {
                self.vram = *vram;
                self.vram_number += 1;
            }
        }
        self.vram_number
    }

    /// A byte of VRAM changes.
    pub(super) fn change_vram(&mut self, index: usize, value: u8) {
        self.vram[index] = value;
        self.vram_number += 1;
    }

    /// The line must be drawn from `source`; false if it is there already.
    pub(super) fn must_draw(&mut self, y: usize, source: LineSource) -> bool {
        let before = &mut self.lines[y];
        let differs = *before != source;
        *before = source;
        differs
    }
}
