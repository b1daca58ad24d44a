//! The LCD's part of PyBoy's state files.

use super::parameters::LineParameters;
use super::{
    lcdc, mode, step, Ppu, FRAME_DOTS, LAST_LINE, LINE_DOTS, OAM_SCAN_DOTS, UNDRAWN_SHADE,
    VBLANK_LINE,
};
use crate::pyboy_state::format::{LcdFields, PyBoyState};
use crate::pyboy_state::Unsaved;
use crate::savestate::StateError;

/// PyBoy's default colours of the shades 0 to 3: red, green, blue, alpha.
const COLOURS: [[u8; 4]; 4] = [
    [0xFF, 0xFF, 0xFF, 0xFF],
    [0x99, 0x99, 0x99, 0xFF],
    [0x55, 0x55, 0x55, 0xFF],
    [0x00, 0x00, 0x00, 0xFF],
];

/// The shade of a pixel in PyBoy's default colours, or the nearest in brightness
/// where a file was saved with other ones.
fn shade_of(pixel: [u8; 4]) -> u8 {
    match pixel {
        [0xFF, 0xFF, 0xFF, 0xFF] => 0,
        [0x99, 0x99, 0x99, 0xFF] => 1,
        [0x55, 0x55, 0x55, 0xFF] => 2,
        [0, 0, 0, 0xFF] => 3,
        [0, 0, 0, 0] => UNDRAWN_SHADE,
        [red, green, blue, _] => {
            let sum = u16::from(red) + u16::from(green) + u16::from(blue);
            match sum / 3 {
                204.. => 0,
                119..=203 => 1,
                43..=118 => 2,
                _ => 3,
            }
        }
    }
}

impl Ppu {
    pub(crate) fn fill_pyboy(&self, lcd: &mut LcdFields) {
        lcd.vram = self.vram;
        lcd.oam = self.oam;
        lcd.lcdc = self.lcdc;
        lcd.bgp = self.bgp;
        lcd.obp0 = self.obp0;
        lcd.obp1 = self.obp1;
        lcd.stat = self.stat;
        lcd.ly = self.ly;
        lcd.lyc = self.lyc;
        lcd.scy = self.scy;
        lcd.scx = self.scx;
        lcd.wy = self.wy;
        lcd.wx = self.wx;
        lcd.line_parameters = self.line_parameters.to_bytes();
        lcd.frame_done = self.frame_done;
        lcd.first_frame = self.first_frame;
        lcd.restart_pending = self.restart_pending;
        lcd.synced_to = self.synced_to;
        lcd.clock = self.clock as u64;
        lcd.target = self.target as u64;
        lcd.next_mode = self.next_mode;
        lcd.next_step = self.next_step;
        lcd.window_triggered = self.window_triggered;
        for (pixel, &shade) in lcd.pixels.chunks_exact_mut(4).zip(&self.shades) {
            let colour = COLOURS.get(usize::from(shade)).unwrap_or(&[0; 4]);
            pixel.copy_from_slice(colour);
        }
    }

    pub(crate) fn load_pyboy(
        &mut self,
        file: &PyBoyState,
        unsaved: Unsaved,
    ) -> Result<(), StateError> {
        let lcd = &file.lcd;
        let bad = |field, value| Err(StateError::BadField { field, value });
        if lcd.clock > 1 << 40 {
            return bad("lcd_clock", lcd.clock);
        }
        if lcd.target >= 2 * FRAME_DOTS as u64 {
            return bad("lcd_target", lcd.target);
        }
        let is_on = lcd.lcdc & lcdc::LCD_ENABLE != 0;
        if unsaved == Unsaved::Reset || file.version < 13 {
            self.stat_reads_mode0 = false;
            self.lyc_written_while_off = false;
        } else if is_on && !self.is_on() {
            self.stat_reads_mode0 |= std::mem::take(&mut self.lyc_written_while_off);
        }
        if unsaved == Unsaved::Reset {
            self.window_row = -1;
        }
        self.vram = lcd.vram;
        self.oam = lcd.oam;
        self.lcdc = lcd.lcdc;
        self.bgp = lcd.bgp;
        self.obp0 = lcd.obp0;
        self.obp1 = lcd.obp1;
        self.stat = lcd.stat;
        self.ly = lcd.ly;
        self.lyc = lcd.lyc;
        self.scy = lcd.scy;
        self.scx = lcd.scx;
        self.wy = lcd.wy;
        self.wx = lcd.wx;
        self.line_parameters = LineParameters::from_bytes(&lcd.line_parameters);
        self.frame_done = lcd.frame_done;
        self.window_triggered = lcd.window_triggered;
        self.next_mode = lcd.next_mode;
        self.next_step = lcd.next_step;
        self.clock = lcd.clock as i64;
        self.target = lcd.target as i64;
        self.published_event = self.target - self.clock;
        self.published_frame = FRAME_DOTS - self.clock;
        if file.version >= 13 {
            self.first_frame = lcd.first_frame;
            self.restart_pending = lcd.restart_pending;
        } else {
            // Such a file says nothing of a restart: PyBoy 2.8.1 finds its own
            // LCD off and the file's on, and restarts.
            self.first_frame = is_on;
            self.restart_pending = is_on;
            if is_on && file.version < 8 {
                self.target = 0;
            }
        }
        self.synced_to = file.cpu.cycles;
        if file.version == 12 {
            self.catch_up_clock(lcd.synced_to)?;
        }
        self.forget();
        if self.mode() == mode::DRAWING {
            self.mode3_penalty = self.compute_mode3_penalty(self.ly);
        }
        self.stat_line = self.stat_line_level();
        for (shade, pixel) in self.shades.iter_mut().zip(lcd.pixels.chunks_exact(4)) {
            *shade = shade_of([pixel[0], pixel[1], pixel[2], pixel[3]]);
        }
        if self.next_mode == mode::OAM_SCAN && self.next_step == step::MODE && self.steps_by_mode()
        {
            // Only before version 29, in the middle of a frame.
            return bad("next_mode", self.next_mode.into());
        }
        Ok(())
    }

    /// The next transition enters `next_mode`, whatever it is.
    fn steps_by_mode(&self) -> bool {
        self.is_on() && !self.restart_pending && self.ly != LAST_LINE
    }

    /// PyBoy 2.4 saved the time of the LCD's last catch-up in 32 bits. The time
    /// that seems to have passed since then is added by the next catch-up, which
    /// finds the restart due, or, with the LCD off, the end of a frame.
    fn catch_up_clock(&mut self, saved_synced_to: u64) -> Result<(), StateError> {
        let Some(elapsed) = self.synced_to.checked_sub(saved_synced_to) else {
            return Err(StateError::BadField {
                field: "lcd_last_cycle",
                value: saved_synced_to,
            });
        };
        if elapsed > 1 << 48 {
            return Err(StateError::BadField {
                field: "lcd_last_cycle",
                value: saved_synced_to,
            });
        }
        self.clock += elapsed as i64;
        if self.clock >= 2 * FRAME_DOTS {
            self.clock = if self.restart_pending {
                2 * FRAME_DOTS - 1
            } else {
                FRAME_DOTS + self.clock % FRAME_DOTS
            };
        }
        Ok(())
    }

    /// Notes whether the LCD's transitions lie where the model of this file puts
    /// them. Where a loaded state says otherwise, PyBoy's slices are run as they are.
    pub(crate) fn note_irregularity(&mut self) {
        self.irregular = !self.is_regular();
    }

    fn is_regular(&self) -> bool {
        if !self.is_on() {
            return self.clock <= self.target.max(FRAME_DOTS);
        }
        if self.restart_pending {
            return self.clock < FRAME_DOTS;
        }
        let line = i64::from(self.ly);
        let line_start = match (self.first_frame, self.ly) {
            (false, _) => LINE_DOTS * line,
            (true, 0) => -4,
            (true, _) => LINE_DOTS * line - 4,
        };
        let is_visible = self.ly < VBLANK_LINE;
        let target = match (self.next_step, self.mode(), self.next_mode) {
            (step::ADVANCE_LY, mode::HBLANK, mode::OAM_SCAN) if is_visible => line_start + 452,
            (step::BEGIN_LINE, mode::HBLANK, mode::OAM_SCAN) if is_visible => line_start,
            (step::MODE, mode::OAM_SCAN, mode::DRAWING) if is_visible => line_start + OAM_SCAN_DOTS,
            (step::MODE, mode::HBLANK, mode::DRAWING) if self.first_frame && self.ly == 0 => {
                line_start + OAM_SCAN_DOTS
            }
            (step::MODE, mode::DRAWING, mode::HBLANK) if is_visible => {
                line_start + 252 + self.mode3_penalty
            }
            (step::MODE, mode::HBLANK, mode::VBLANK) if self.ly + 1 == VBLANK_LINE => {
                self.vblank_line_ends_at(self.ly)
            }
            (step::MODE, mode::VBLANK, mode::VBLANK) if !is_visible => {
                self.vblank_line_ends_at(self.ly)
            }
            _ => return false,
        };
        let extended = self.first_frame && self.ly == LAST_LINE && self.target == FRAME_DOTS;
        (self.target == target || extended)
            // Not a transition's time away, in either direction.
            && (self.target - 2 * LINE_DOTS..self.target + 80).contains(&self.clock)
    }

    fn vblank_line_ends_at(&self, line: u8) -> i64 {
        let end = LINE_DOTS * (i64::from(line) + 1);
        if self.first_frame {
            end - 8
        } else {
            end
        }
    }
}
