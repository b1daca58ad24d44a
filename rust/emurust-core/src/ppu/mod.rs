//! The LCD controller as a state machine (Pan Docs: Rendering overview).
//!
//! PyBoy's LCD moves by *transitions* (mode changes, LY steps, frame end), each
//! at a known dot of the frame. A catch-up performs at most one of them, and
//! normally happens at the first instruction boundary at or after its time.
//! [`Ppu::tick`] is that catch-up. [`Ppu::replay`] gives the result of all the
//! catch-ups that PyBoy would have made since the last one, which is what lets
//! the CPU run on without stopping at every mode change: see
//! `docs/scheduling.md`.
//!
//! Lines are drawn whole, when mode 0 begins, from the registers and memory of
//! that moment.

mod drawn;
mod parameters;
mod pyboy_fields;
mod render;
mod sprites;

use crate::interrupts::Interrupts;
use crate::savestate::{state_fields, StateError};
use drawn::Drawn;
use parameters::LineParameters;
use render::Lines;
use sprites::Sprites;

pub(crate) use parameters::LINE_PARAMETERS;

/// Visible columns.
pub const SCREEN_WIDTH: usize = 160;
/// Visible rows.
pub const SCREEN_HEIGHT: usize = 144;
/// Value of a screen cell that nothing has been drawn to since power-on.
pub const UNDRAWN_SHADE: u8 = 4;

/// Dots in a frame, at any speed.
pub(crate) const FRAME_DOTS: i64 = 70_224;
const LINE_DOTS: i64 = 456;
const OAM_SCAN_DOTS: i64 = 80;
/// Length of mode 3 without any penalty.
const DRAWING_DOTS: i64 = 172;
/// Drawing and HBlank together, up to the step of LY four dots before the next line.
const DRAW_TO_LY_DOTS: i64 = 372;
const LY_STEP_DOTS: i64 = 4;
const VBLANK_LINE: u8 = 144;
const LAST_LINE: u8 = 153;
const LAST_VISIBLE_LINE: u8 = 143;

/// No dot of any frame.
const UNKNOWN: i64 = i64::MIN;

const VRAM_LEN: usize = 0x2000;
const OAM_LEN: usize = 0xA0;

/// Pan Docs: LCD Control.
pub(crate) mod lcdc {
    pub(crate) const BG_ENABLE: u8 = 1 << 0;
    pub(crate) const OBJ_ENABLE: u8 = 1 << 1;
    pub(crate) const OBJ_TALL: u8 = 1 << 2;
    pub(crate) const BG_MAP: u8 = 1 << 3;
    pub(crate) const TILE_DATA: u8 = 1 << 4;
    pub(crate) const WINDOW_ENABLE: u8 = 1 << 5;
    pub(crate) const WINDOW_MAP: u8 = 1 << 6;
    pub(crate) const LCD_ENABLE: u8 = 1 << 7;
    /// What mode 3 depends on.
    pub(crate) const OBJECTS: u8 = OBJ_ENABLE | OBJ_TALL;
}

/// Pan Docs: LCD Status.
mod stat {
    pub(super) const COINCIDENCE: u8 = 1 << 2;
    pub(super) const HBLANK_SOURCE: u8 = 1 << 3;
    pub(super) const OAM_SOURCE: u8 = 1 << 5;
    pub(super) const LYC_SOURCE: u8 = 1 << 6;
    pub(super) const SOURCES: u8 = 0b0111_1000;
    pub(super) const ALWAYS_ONE: u8 = 1 << 7;
}

/// The bits of STAT that enable interrupts.
pub(crate) const STAT_SOURCES: u8 = stat::SOURCES;
/// Of these, the one for mode 0.
pub(crate) const STAT_HBLANK_SOURCE: u8 = stat::HBLANK_SOURCE;

/// PPU modes, as STAT shows them.
pub(crate) mod mode {
    pub(crate) const HBLANK: u8 = 0;
    pub(crate) const VBLANK: u8 = 1;
    pub(crate) const OAM_SCAN: u8 = 2;
    pub(crate) const DRAWING: u8 = 3;
}

/// What the next transition does besides entering `next_mode`.
mod step {
    pub(super) const MODE: u8 = 0;
    /// LY advances, four dots before the line begins.
    pub(super) const ADVANCE_LY: u8 = 1;
    /// The line begins with mode 2.
    pub(super) const BEGIN_LINE: u8 = 2;
}

#[derive(Debug, Clone)]
pub(crate) struct Ppu {
    pub(crate) vram: [u8; VRAM_LEN],
    pub(crate) oam: [u8; OAM_LEN],
    sprites: Sprites,
    pub(crate) lcdc: u8,
    pub(crate) stat: u8,
    pub(crate) scy: u8,
    pub(crate) scx: u8,
    pub(crate) ly: u8,
    pub(crate) lyc: u8,
    pub(crate) bgp: u8,
    pub(crate) obp0: u8,
    pub(crate) obp1: u8,
    pub(crate) wy: u8,
    pub(crate) wx: u8,

    /// Dots since the frame began, at `synced_to`.
    pub(crate) clock: i64,
    /// Dot of the next transition.
    pub(crate) target: i64,
    pub(crate) synced_to: u64,
    next_mode: u8,
    next_step: u8,
    /// Dots by which sprites and scrolling lengthen mode 3 of this line.
    mode3_penalty: i64,
    /// The frame after switching the LCD on: shorter lines, blank picture.
    first_frame: bool,
    restart_pending: bool,
    pub(crate) frame_done: bool,
    /// Level of the STAT interrupt line.
    stat_line: bool,
    /// Where [`Self::stat_event_dot`] found the next event, until a transition is
    /// performed at it or what it depends on changes; or [`UNKNOWN`].
    stat_event: i64,
    /// The next read of STAT shows mode 0 (LYC was written while the LCD was off).
    pub(crate) stat_reads_mode0: bool,
    lyc_written_while_off: bool,
    /// WY has matched LY in this frame.
    window_triggered: bool,
    /// Row of the window drawn last; -1 before the first.
    window_row: i32,

    /// A loaded state puts transitions elsewhere than this file does: PyBoy's slices
    /// are run as they are until the LCD restarts.
    pub(crate) irregular: bool,

    /// Distances that PyBoy's coordinator sees, as of the last catch-up.
    published_event: i64,
    published_frame: i64,

    pub(crate) line_parameters: LineParameters,
    pub(crate) shades: [u8; SCREEN_WIDTH * SCREEN_HEIGHT],
    /// Draw lines; off while nobody will look at the frame.
    pub(crate) rendering: bool,
    drawn: Drawn,
}

state_fields!(Ppu {
    vram,
    oam,
    lcdc,
    stat,
    scy,
    scx,
    ly,
    lyc,
    bgp,
    obp0,
    obp1,
    wy,
    wx,
    clock,
    target,
    synced_to,
    next_mode,
    next_step,
    mode3_penalty,
    first_frame,
    restart_pending,
    frame_done,
    stat_line,
    stat_reads_mode0,
    lyc_written_while_off,
    window_triggered,
    window_row,
    published_event,
    published_frame,
    line_parameters,
    shades
});

impl Ppu {
    /// The state at power-on.
    pub(crate) fn new() -> Self {
        Self {
            vram: [0; VRAM_LEN],
            oam: [0; OAM_LEN],
            sprites: Sprites::unknown(),
            lcdc: 0,
            stat: stat::ALWAYS_ONE,
            scy: 0,
            scx: 0,
            ly: 0,
            lyc: 0,
            bgp: 0xFC,
            obp0: 0xFF,
            obp1: 0xFF,
            wy: 0,
            wx: 0,
            clock: 0,
            target: FRAME_DOTS,
            synced_to: 0,
            next_mode: mode::OAM_SCAN,
            next_step: step::MODE,
            mode3_penalty: 0,
            first_frame: false,
            restart_pending: false,
            frame_done: false,
            stat_line: false,
            stat_event: UNKNOWN,
            stat_reads_mode0: false,
            lyc_written_while_off: false,
            window_triggered: false,
            // PyBoy starts at 0 and shows its first window one row off; from
            // its second rendered frame on it starts at -1, as here.
            window_row: -1,
            irregular: false,
            published_event: 0,
            published_frame: FRAME_DOTS,
            line_parameters: LineParameters::new(),
            shades: [UNDRAWN_SHADE; SCREEN_WIDTH * SCREEN_HEIGHT],
            rendering: true,
            drawn: Drawn::nothing(),
        }
    }

    /// The state when the boot program hands over at cycle `now`: line 145 of a white frame.
    pub(crate) fn at_hand_over(now: u64) -> Self {
        Self {
            lcdc: 0x91,
            stat: stat::ALWAYS_ONE | mode::VBLANK,
            ly: 145,
            clock: 66_232,
            target: 66_576,
            synced_to: now,
            next_mode: mode::VBLANK,
            published_event: 344,
            published_frame: FRAME_DOTS - 66_232,
            shades: [0; SCREEN_WIDTH * SCREEN_HEIGHT],
            ..Self::new()
        }
    }

    pub(crate) fn set_window_row(&mut self, row: i32) {
        self.window_row = row.max(-1);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.lcdc & lcdc::LCD_ENABLE != 0
    }

    pub(crate) fn mode(&self) -> u8 {
        self.stat & 0b11
    }

    /// In VBlank, where a transition follows every 456 dots until the frame ends.
    pub(crate) fn is_in_vblank(&self) -> bool {
        self.is_on()
            && self.mode() == mode::VBLANK
            && !self.restart_pending
            && !self.first_frame
            && !self.irregular
    }

    /// Absolute cycle of the last transition before `now`, in VBlank.
    pub(crate) fn vblank_line_began_at(&self, now: u64) -> u64 {
        let dots = now as i64 - self.frame_start();
        now - (dots % LINE_DOTS) as u64
    }

    pub(crate) fn synced_to(&self) -> u64 {
        self.synced_to
    }

    /// Absolute cycle of dot 0 of this frame.
    fn frame_start(&self) -> i64 {
        self.synced_to as i64 - self.clock
    }

    /// Absolute cycle of the next transition.
    pub(crate) fn next_transition_at(&self) -> u64 {
        (self.frame_start() + self.target).max(0) as u64
    }

    /// Cycles to PyBoy's next LCD event and frame end, whichever is nearer.
    pub(crate) fn published_distance(&self) -> i64 {
        self.published_event.min(self.published_frame)
    }

    /// One catch-up of PyBoy's: accounts for the time and performs at most one transition.
    pub(crate) fn tick(&mut self, now: u64, interrupts: &mut Interrupts) {
        if now == self.synced_to {
            return;
        }
        self.account(now);
        if self.clock >= self.target {
            self.transition(interrupts);
        }
        self.publish();
    }

    fn account(&mut self, now: u64) {
        self.clock += now.wrapping_sub(self.synced_to) as i64;
        self.synced_to = now;
    }

    fn publish(&mut self) {
        self.published_event = self.target - self.clock;
        self.published_frame = FRAME_DOTS - self.clock;
    }

    /// Performs the transitions that PyBoy would have performed at its slice
    /// ends up to the instruction boundary `boundary`.
    ///
    /// Each boundary performs one transition. If a single instruction passes the
    /// times of two, the second waits for the boundary after it:
    /// `previous_boundary` tells whether that is the case here.
    pub(crate) fn replay(
        &mut self,
        boundary: u64,
        previous_boundary: u64,
        interrupts: &mut Interrupts,
    ) {
        if boundary <= self.synced_to {
            return;
        }
        self.account(boundary);
        let previous = previous_boundary as i64 - self.frame_start();
        if self.pass_line(previous, interrupts) {
            return self.publish();
        }
        let mut performed_at = i64::MIN;
        // A transition later than the previous boundary was performed at this one, which
        // then can perform no other.
        while self.clock >= self.target && performed_at <= previous {
            let jumped = self.jump(self.clock.min(previous), interrupts).is_some();
            if jumped || self.skip_lines(previous, interrupts) {
                continue;
            }
            performed_at = self.target;
            let before = self.clock;
            self.transition(interrupts);
            if self.clock < before {
                // A new frame: its transitions lie ahead.
                break;
            }
        }
        self.publish();
    }

    /// From mode 0 of one line to mode 0 of the next, where the STAT interrupt is requested
    /// that was foreseen: at once, if that is where the LCD is. False if it is not.
    fn pass_line(&mut self, previous: i64, interrupts: &mut Interrupts) -> bool {
        let hblank_begins = self.stat_event;
        let line_begins = i64::from(self.ly + 1) * LINE_DOTS;
        let ends = line_begins + OAM_SCAN_DOTS + DRAW_TO_LY_DOTS;
        let only_hblank = self.stat & stat::SOURCES == stat::HBLANK_SOURCE;
        // The last instruction passes no other transition.
        let one_by_one = line_begins + OAM_SCAN_DOTS <= previous
            && previous < hblank_begins
            && hblank_begins <= self.clock
            && self.clock < ends;
        let is_here = only_hblank && one_by_one && self.next_step == step::ADVANCE_LY;
        if !is_here || !self.is_on_lines() {
            return false;
        }
        self.ly += 1;
        self.stat &= !0b11;
        self.set_coincidence();
        self.window_triggered |= self.wy == self.ly;
        self.mode3_penalty = hblank_begins - line_begins - OAM_SCAN_DOTS - DRAWING_DOTS;
        self.target = hblank_begins;
        self.next_step = step::MODE;
        self.begin_hblank();
        self.stat_line = true;
        self.stat_event = UNKNOWN;
        interrupts.request(Interrupts::STAT);
        true
    }

    /// As [`Self::replay`] and [`Self::tick`] to a time before the next transition. False
    /// if there is one until then.
    #[inline]
    pub(crate) fn let_pass(&mut self, now: u64) -> bool {
        let passes = now < self.next_transition_at();
        if passes {
            self.account(now);
            self.publish();
        }
        passes
    }

    /// As [`Self::replay`] to the present instruction's start, `boundary`, and then
    /// [`Self::tick`] within it, at `now`: at once, in a regular frame where the STAT line
    /// does not rise. False if that is not where it is.
    #[inline]
    pub(crate) fn catch_up_quietly(
        &mut self,
        now: u64,
        boundary: u64,
        previous_boundary: u64,
        interrupts: &Interrupts,
    ) -> bool {
        let dot = now as i64 - self.frame_start();
        let in_vblank = dot >= i64::from(VBLANK_LINE) * LINE_DOTS;
        let is_regular = if in_vblank {
            self.is_in_vblank() && self.ly >= VBLANK_LINE && dot < FRAME_DOTS
        } else {
            self.is_on_lines()
        };
        if !is_regular || self.may_rise_by(dot, interrupts) {
            return false;
        }
        self.account(now);
        if in_vblank {
            let line = (dot / LINE_DOTS) as u8;
            self.ly = line;
            self.target = i64::from(line + 1) * LINE_DOTS;
            self.set_coincidence();
            self.stat_line = self.stat_line_level();
        } else {
            // Transitions are farther apart than an instruction is long, but for LY's step
            // and the beginning of its line. If both fall between the catch-up before and
            // this one, the second waits.
            let before = if now > boundary {
                boundary
            } else {
                previous_boundary
            };
            let line_began = dot - dot % LINE_DOTS;
            let step_is_late = self.target < line_began
                && line_began - LY_STEP_DOTS > before as i64 - self.frame_start();
            let limit = if step_is_late { line_began - 1 } else { dot };
            if limit < self.target + LINE_DOTS {
                self.walk(limit);
            } else {
                self.jump(limit, interrupts);
            }
        }
        self.publish();
        true
    }

    /// As [`Self::jump`], one by one.
    #[inline]
    fn walk(&mut self, dot: i64) -> Option<i64> {
        let dot = dot.min(i64::from(VBLANK_LINE) * LINE_DOTS - 1);
        let mut last = None;
        while dot >= self.target {
            last = Some(self.target);
            self.step_on_line();
        }
        self.stat_line = self.stat_line_level();
        last
    }

    /// The next transition, on a visible line, but for the STAT line.
    #[inline]
    fn step_on_line(&mut self) {
        match (self.next_step, self.next_mode) {
            (step::MODE, mode::DRAWING) => {
                self.stat |= mode::DRAWING;
                self.begin_drawing();
            }
            (step::MODE, _) => {
                self.stat &= !0b11;
                self.begin_hblank();
            }
            (step::ADVANCE_LY, _) => {
                self.ly += 1;
                self.set_coincidence();
                self.target += LY_STEP_DOTS;
                self.next_step = step::BEGIN_LINE;
            }
            _ => {
                self.stat = self.stat & !0b11 | mode::OAM_SCAN;
                self.begin_oam_scan();
            }
        }
    }

    /// Performs the transitions before cycle `end`, each at its own time, as
    /// they happen while the CPU is halted. Returns the time of the last one.
    pub(crate) fn run_before(&mut self, end: u64, interrupts: &mut Interrupts) -> Option<u64> {
        self.account(end - 1);
        let frame_start = self.frame_start();
        let at = |dot: i64| (frame_start + dot).max(0) as u64;
        let mut last = None;
        loop {
            last = self.jump(self.clock, interrupts).or(last);
            if self.clock < self.target {
                break;
            }
            if !self.skip_lines(i64::MAX, interrupts) {
                last = Some(self.target);
                self.transition(interrupts);
            }
        }
        self.publish();
        last.map(at)
    }

    /// On a visible line of a frame in which each line begins where it usually does.
    fn is_on_lines(&self) -> bool {
        !self.first_frame
            && !self.restart_pending
            && self.is_on()
            && self.mode() != mode::VBLANK
            && self.ly <= LAST_VISIBLE_LINE
    }

    /// A rise of the STAT line would change nothing: none of its sources is enabled, or
    /// the interrupt has been requested already.
    fn rises_change_nothing(&self, interrupts: &Interrupts) -> bool {
        self.stat & stat::SOURCES == 0 || interrupts.requested & Interrupts::STAT != 0
    }

    /// The STAT interrupt may be requested at a transition up to a dot.
    fn may_rise_by(&mut self, dot: i64, interrupts: &Interrupts) -> bool {
        !self.rises_change_nothing(interrupts) && dot >= self.stat_event_dot()
    }

    /// Performs all transitions on visible lines up to a dot at once, but none at
    /// which the STAT interrupt may be requested. Returns the dot of the last.
    fn jump(&mut self, mut dot: i64, interrupts: &Interrupts) -> Option<i64> {
        if dot < self.target || !self.is_on_lines() {
            return None;
        }
        if !self.rises_change_nothing(interrupts) {
            dot = dot.min(self.stat_event_dot() - 1);
            if dot < self.target {
                return None;
            }
        }
        if dot < self.target + LINE_DOTS {
            return self.walk(dot);
        }
        let line = (dot / LINE_DOTS).min(i64::from(LAST_VISIBLE_LINE)) as u8;
        let line_began = i64::from(line) * LINE_DOTS;
        let dot = dot - line_began;
        // Lines whose mode 2, 3 and 0 have not begun yet.
        let (in_hblank, stepped) = (
            self.mode() == mode::HBLANK,
            self.next_step == step::BEGIN_LINE,
        );
        let to_begin = self.ly + u8::from(!stepped);
        let to_scan = self.ly + u8::from(!stepped && self.mode() != mode::OAM_SCAN);
        let to_finish = self.ly + u8::from(!stepped && in_hblank);
        // The last line of which mode 3 begins.
        let drawn = if dot >= OAM_SCAN_DOTS { line + 1 } else { line };
        if drawn > to_scan {
            self.mode3_penalty = self.compute_mode3_penalty(drawn - 1);
        }
        let hblank_dot = OAM_SCAN_DOTS + DRAWING_DOTS + self.mode3_penalty;
        let ly_step_dot = OAM_SCAN_DOTS + DRAW_TO_LY_DOTS;
        self.ly = line;
        self.next_step = step::MODE;
        let (mode, next_mode, last, next) = if dot < OAM_SCAN_DOTS {
            (mode::OAM_SCAN, mode::DRAWING, 0, OAM_SCAN_DOTS)
        } else if dot < hblank_dot {
            (mode::DRAWING, mode::HBLANK, OAM_SCAN_DOTS, hblank_dot)
        } else if line == LAST_VISIBLE_LINE {
            (mode::HBLANK, mode::VBLANK, hblank_dot, LINE_DOTS)
        } else if dot < ly_step_dot {
            self.next_step = step::ADVANCE_LY;
            (mode::HBLANK, mode::OAM_SCAN, hblank_dot, ly_step_dot)
        } else {
            self.ly = line + 1;
            self.next_step = step::BEGIN_LINE;
            (mode::HBLANK, mode::OAM_SCAN, ly_step_dot, LINE_DOTS)
        };
        let finished = line + u8::from(mode == mode::HBLANK);
        if finished > to_finish {
            self.window_triggered |= to_begin <= to_finish && self.wy == to_finish;
            self.finish_lines(to_finish, finished);
        }
        self.window_triggered |= (to_begin..=line).contains(&self.wy);
        self.stat = self.stat & !0b11 | mode;
        self.next_mode = next_mode;
        self.target = line_began + next;
        self.set_coincidence();
        self.stat_line = self.stat_line_level();
        Some(line_began + last)
    }

    /// At the beginning of a line, jumps over all whole lines that have passed
    /// but the last. True if it did.
    fn skip_lines(&mut self, previous: i64, interrupts: &Interrupts) -> bool {
        if self.clock - self.target < LINE_DOTS {
            return false;
        }
        if self.first_frame
            || self.restart_pending
            || !self.is_on()
            || self.mode() != mode::OAM_SCAN
            || self.next_step != step::MODE
        {
            return self.skip_vblank_lines(interrupts);
        }
        let passed = self.clock.min(previous) / LINE_DOTS;
        let line = (passed - 1).clamp(0, i64::from(LAST_VISIBLE_LINE)) as u8;
        if line <= self.ly || self.may_rise_by(self.clock, interrupts) {
            return false;
        }
        self.finish_lines(self.ly, line);
        // WY is compared as each line begins.
        self.window_triggered |= self.ly < self.wy && self.wy <= line;
        self.ly = line;
        self.target = i64::from(line) * LINE_DOTS + OAM_SCAN_DOTS;
        self.set_coincidence();
        self.stat_line = self.stat_line_level();
        true
    }

    fn skip_vblank_lines(&mut self, interrupts: &Interrupts) -> bool {
        if self.mode() != mode::VBLANK || self.next_mode != mode::VBLANK || self.first_frame {
            return false;
        }
        let line = (self.clock / LINE_DOTS - 1).min(i64::from(LAST_LINE)) as u8;
        if self.ly < VBLANK_LINE || line <= self.ly || self.may_rise_by(self.clock, interrupts) {
            return false;
        }
        self.ly = line;
        self.target = i64::from(line + 1) * LINE_DOTS;
        self.set_coincidence();
        self.stat_line = self.stat_line_level();
        true
    }

    /// Absolute cycle of the next transition that must not be run past: the frame ends,
    /// VBlank begins, or a STAT interrupt that is enabled may be requested.
    pub(crate) fn hard_event_at(&mut self, interrupts: &Interrupts) -> u64 {
        if !self.is_on() || self.restart_pending {
            return self.next_transition_at();
        }
        let vblank_dot = i64::from(VBLANK_LINE) * LINE_DOTS;
        let mut dot = if self.mode() == mode::VBLANK {
            FRAME_DOTS
        } else if self.first_frame {
            vblank_dot - 8
        } else {
            vblank_dot
        };
        if interrupts.enabled & Interrupts::STAT != 0 && !self.rises_change_nothing(interrupts) {
            dot = dot.min(self.stat_event_dot());
        }
        (self.frame_start() + dot).max(0) as u64
    }

    /// A cycle before which no STAT interrupt is requested that is not yet.
    pub(crate) fn stat_request_at(&mut self, interrupts: &Interrupts) -> u64 {
        if self.rises_change_nothing(interrupts) {
            return u64::MAX;
        }
        (self.frame_start() + self.stat_event_dot()).max(0) as u64
    }

    /// Dot of the next transition at which an enabled STAT source may raise the line.
    fn stat_event_dot(&mut self) -> i64 {
        if self.stat_event < self.target {
            self.stat_event = self.find_stat_event();
        }
        self.stat_event
    }

    #[inline(never)]
    fn find_stat_event(&mut self) -> i64 {
        if self.first_frame {
            return self.target;
        }
        let mut dot = FRAME_DOTS;
        if self.stat & stat::HBLANK_SOURCE != 0 && self.ly <= LAST_VISIBLE_LINE {
            // Where mode 3 has not begun yet, its length is as long as it would be now.
            let scan_begins = |line: u8| i64::from(line) * LINE_DOTS;
            dot = match (self.next_step, self.next_mode) {
                (step::ADVANCE_LY, _) => {
                    scan_begins(self.ly + 1) + self.scan_to_hblank_dots(self.ly + 1)
                }
                (step::BEGIN_LINE, _) => self.target + self.scan_to_hblank_dots(self.ly),
                (_, mode::DRAWING) => {
                    self.target - OAM_SCAN_DOTS + self.scan_to_hblank_dots(self.ly)
                }
                _ => self.target,
            };
        }
        if self.stat & stat::OAM_SOURCE != 0 && self.ly <= LAST_VISIBLE_LINE {
            let line_begins = if self.next_step == step::BEGIN_LINE {
                self.target
            } else {
                i64::from(self.ly + 1) * LINE_DOTS
            };
            dot = dot.min(line_begins);
        }
        if self.stat & stat::LYC_SOURCE != 0 && self.lyc > self.ly && self.lyc <= LAST_LINE {
            let early = if self.lyc < VBLANK_LINE { 4 } else { 0 };
            dot = dot.min(i64::from(self.lyc) * LINE_DOTS - early);
        }
        dot
    }

    /// Absolute cycle at which LY becomes `line` (beyond the present one) in this
    /// frame; none if that cannot be told.
    pub(crate) fn line_begins_at(&self, line: u8) -> Option<u64> {
        let regular = self.is_on() && !self.first_frame && !self.restart_pending && !self.irregular;
        if !regular || self.next_step == step::BEGIN_LINE || line <= self.ly || line > LAST_LINE {
            return None;
        }
        let early = if line < VBLANK_LINE { 4 } else { 0 };
        let dot = i64::from(line) * LINE_DOTS - early;
        Some((self.frame_start() + dot).max(0) as u64)
    }

    /// A cycle before which LY does not change, unless a register is written.
    pub(crate) fn ly_constant_until(&self) -> u64 {
        self.line_begins_at(self.ly + 1)
            .unwrap_or_else(|| self.next_transition_at())
    }

    fn transition(&mut self, interrupts: &mut Interrupts) {
        self.stat_event = UNKNOWN;
        if !self.is_on() {
            self.frame_done = true;
            self.clock %= FRAME_DOTS;
            self.target = FRAME_DOTS;
            self.blank();
        } else if self.restart_pending {
            self.restart(interrupts);
        } else if self.ly == LAST_LINE {
            self.end_frame(interrupts);
        } else if self.next_step == step::ADVANCE_LY {
            self.advance_ly(interrupts);
        } else if self.next_step == step::BEGIN_LINE {
            self.begin_line(interrupts);
        } else {
            self.enter_next_mode(interrupts);
        }
    }

    fn restart(&mut self, interrupts: &mut Interrupts) {
        self.restart_pending = false;
        self.irregular = false;
        self.frame_done = true;
        self.ly = 0;
        self.clock = 0;
        self.target = OAM_SCAN_DOTS - 4;
        self.next_mode = mode::DRAWING;
        self.next_step = step::MODE;
        self.set_mode(mode::HBLANK, interrupts);
        self.window_triggered = self.wy == 0;
        self.compare_lyc(interrupts);
    }

    fn end_frame(&mut self, interrupts: &mut Interrupts) {
        if self.first_frame && self.target < FRAME_DOTS {
            // The first line was eight dots short; the frame is not.
            self.target = FRAME_DOTS;
            return;
        }
        self.frame_done = true;
        self.first_frame = false;
        self.ly = 0;
        self.clock %= FRAME_DOTS;
        self.target = self.target % FRAME_DOTS + OAM_SCAN_DOTS;
        self.next_mode = mode::DRAWING;
        self.next_step = step::MODE;
        self.set_mode(mode::OAM_SCAN, interrupts);
        self.window_triggered = self.wy == 0;
        self.compare_lyc(interrupts);
    }

    fn advance_ly(&mut self, interrupts: &mut Interrupts) {
        self.ly += 1;
        if self.first_frame {
            self.stat &= !stat::COINCIDENCE;
            self.update_stat_line(interrupts);
        } else {
            self.compare_lyc(interrupts);
        }
        self.target += LY_STEP_DOTS;
        self.next_step = step::BEGIN_LINE;
    }

    fn begin_line(&mut self, interrupts: &mut Interrupts) {
        self.set_mode(mode::OAM_SCAN, interrupts);
        if self.first_frame {
            self.compare_lyc(interrupts);
        }
        self.begin_oam_scan();
    }

    fn begin_oam_scan(&mut self) {
        self.target += OAM_SCAN_DOTS;
        self.next_mode = mode::DRAWING;
        self.next_step = step::MODE;
        self.window_triggered |= self.wy == self.ly;
    }

    fn enter_next_mode(&mut self, interrupts: &mut Interrupts) {
        self.next_step = step::MODE;
        self.set_mode(self.next_mode, interrupts);
        match self.mode() {
            mode::DRAWING => self.begin_drawing(),
            mode::HBLANK => self.begin_hblank(),
            _ => self.next_vblank_line(interrupts),
        }
    }

    /// Modes 2 and 3 of a line together.
    fn scan_to_hblank_dots(&mut self, line: u8) -> i64 {
        OAM_SCAN_DOTS + DRAWING_DOTS + self.compute_mode3_penalty(line)
    }

    /// Writes to SCX and OAM, and to LCDC if sprites come or go, move the next STAT interrupt.
    pub(crate) fn awaits_hblank(&self) -> bool {
        self.stat & stat::HBLANK_SOURCE != 0
    }

    fn begin_drawing(&mut self) {
        self.mode3_penalty = self.compute_mode3_penalty(self.ly);
        self.target += DRAWING_DOTS + self.mode3_penalty;
        self.next_mode = mode::HBLANK;
    }

    fn begin_hblank(&mut self) {
        self.target += DRAW_TO_LY_DOTS - DRAWING_DOTS - self.mode3_penalty;
        if self.ly < LAST_VISIBLE_LINE {
            self.next_mode = mode::OAM_SCAN;
            self.next_step = step::ADVANCE_LY;
        } else {
            self.next_mode = mode::VBLANK;
            if !self.first_frame {
                self.target += LY_STEP_DOTS;
            }
        }
        self.finish_lines(self.ly, self.ly.saturating_add(1));
    }

    fn next_vblank_line(&mut self, interrupts: &mut Interrupts) {
        self.target += LINE_DOTS;
        self.next_mode = mode::VBLANK;
        self.ly = self.ly.wrapping_add(1);
        self.compare_lyc(interrupts);
        if self.ly == VBLANK_LINE {
            // The OAM source fires for line 144 too.
            if self.stat & stat::OAM_SOURCE != 0 && !self.stat_line {
                interrupts.request(Interrupts::STAT);
            }
            interrupts.request(Interrupts::VBLANK);
            self.window_triggered = false;
            if self.first_frame {
                self.blank();
            }
        }
    }

    /// Mode 0 of lines `first..end` begins: records their parameters and draws them.
    fn finish_lines(&mut self, first: u8, end: u8) {
        let (first, end) = (usize::from(first), usize::from(end));
        let tile_data = self.lcdc & lcdc::TILE_DATA;
        let parameters = [self.scx, self.scy, self.wx, self.wy, tile_data];
        self.line_parameters.record(first, end, parameters);
        if self.rendering {
            self.draw(Lines {
                range: first.min(SCREEN_HEIGHT)..end.min(SCREEN_HEIGHT),
                triggered_before: self.window_triggered,
            });
        }
    }

    fn blank(&mut self) {
        self.drawn.forget_lines();
        self.shades.fill(self.bgp & 0b11);
    }

    // The STAT interrupt line.

    fn set_mode(&mut self, mode: u8, interrupts: &mut Interrupts) {
        if self.mode() != mode {
            self.stat = self.stat & !0b11 | mode;
            self.update_stat_line(interrupts);
        }
    }

    fn set_coincidence(&mut self) {
        if self.lyc == self.ly {
            self.stat |= stat::COINCIDENCE;
        } else {
            self.stat &= !stat::COINCIDENCE;
        }
    }

    fn compare_lyc(&mut self, interrupts: &mut Interrupts) {
        self.set_coincidence();
        self.update_stat_line(interrupts);
    }

    fn stat_line_level(&self) -> bool {
        const LYC_MATCH: u8 = stat::LYC_SOURCE | stat::COINCIDENCE;
        let mode_source = match self.mode() {
            mode::DRAWING => 0,
            mode => stat::HBLANK_SOURCE << mode,
        };
        self.stat & mode_source != 0 || self.stat & LYC_MATCH == LYC_MATCH
    }

    fn update_stat_line(&mut self, interrupts: &mut Interrupts) {
        let level = self.stat_line_level();
        if level && !self.stat_line {
            interrupts.request(Interrupts::STAT);
        }
        self.stat_line = level;
    }

    /// Dots that the sprites of a line and SCX add to mode 3.
    fn compute_mode3_penalty(&mut self, line: u8) -> i64 {
        let scroll = if self.first_frame {
            0
        } else {
            i64::from(((self.scx & 7) + 3) & !3)
        };
        self.sprite_penalty(line) + scroll
    }

    /// What was remembered is of another machine, or of another time.
    pub(crate) fn forget(&mut self) {
        self.stat_event = UNKNOWN;
        self.sprites.forget();
        self.drawn = Drawn::nothing();
    }

    /// From now on lines are drawn, or not.
    pub(crate) fn set_rendering(&mut self, rendering: bool) {
        if rendering != self.rendering {
            // Native code writes to VRAM directly while nothing is drawn.
            self.drawn.forget_vram();
        }
        self.rendering = rendering;
    }

    /// VRAM, to be written to.
    pub(crate) fn vram_mut(&mut self) -> &mut [u8; VRAM_LEN] {
        self.drawn.forget_vram();
        &mut self.vram
    }

    /// Writes to VRAM while lines are drawn.
    pub(crate) fn change_vram(&mut self, index: usize, value: u8) {
        if self.vram[index] != value {
            self.vram[index] = value;
            self.drawn.change_vram(index, value);
        }
    }

    /// OAM, to be written to.
    pub(crate) fn oam_mut(&mut self) -> &mut [u8; OAM_LEN] {
        self.stat_event = UNKNOWN;
        self.sprites.forget();
        self.drawn.oam_number += 1;
        &mut self.oam
    }

    fn line_has_sprites(&mut self, y: usize) -> bool {
        self.sprites.know(&self.oam, self.sprite_height());
        self.sprites.are_on_line(y)
    }

    fn sprite_penalty(&mut self, line: u8) -> i64 {
        if self.lcdc & lcdc::OBJ_ENABLE == 0 {
            return 0;
        }
        self.sprites.know(&self.oam, self.sprite_height());
        self.sprites.penalty(line, self.scx)
    }

    fn sprite_height(&self) -> u8 {
        if self.lcdc & lcdc::OBJ_TALL != 0 {
            16
        } else {
            8
        }
    }

    // Registers. The caller has caught the LCD up.

    pub(crate) fn read_stat(&mut self) -> u8 {
        let hide_mode = std::mem::take(&mut self.stat_reads_mode0);
        self.stat & if hide_mode { !0b11 } else { !0 }
    }

    pub(crate) fn peek_stat(&self) -> u8 {
        self.stat & if self.stat_reads_mode0 { !0b11 } else { !0 }
    }

    pub(crate) fn write_stat(&mut self, value: u8, interrupts: &mut Interrupts) {
        self.stat_event = UNKNOWN;
        self.stat = self.stat & !stat::SOURCES | value & stat::SOURCES;
        self.update_stat_line(interrupts);
    }

    /// Returns whether the next STAT interrupt may have moved.
    pub(crate) fn write_scx(&mut self, value: u8) -> bool {
        let changes = self.scx != value;
        self.scx = value;
        if changes {
            self.stat_event = UNKNOWN;
        }
        changes && self.awaits_hblank()
    }

    pub(crate) fn write_lyc(&mut self, value: u8, interrupts: &mut Interrupts) {
        self.stat_event = UNKNOWN;
        self.lyc = value;
        if self.is_on() {
            self.compare_lyc(interrupts);
        } else {
            self.lyc_written_while_off = true;
        }
    }

    pub(crate) fn write_lcdc(&mut self, value: u8, interrupts: &mut Interrupts) {
        self.stat_event = UNKNOWN;
        let was_on = self.is_on();
        self.lcdc = value;
        match (was_on, self.is_on()) {
            (true, false) => {
                self.clock = 0;
                self.target = 0;
                self.published_frame = 0;
                // PyBoy drops a request that this mode change raises.
                self.set_mode(mode::HBLANK, &mut Interrupts::default());
                self.ly = 0;
            }
            (false, true) => {
                self.target = 0;
                self.first_frame = true;
                self.restart_pending = true;
                self.stat_reads_mode0 |= std::mem::take(&mut self.lyc_written_while_off);
                if self.stat & stat::LYC_SOURCE != 0 {
                    self.compare_lyc(interrupts);
                }
            }
            _ => {}
        }
    }

    // Blocking, which PyBoy evaluates for three opcodes and for operand fetches only.

    fn next_transition_within_4_dots(&self) -> bool {
        self.clock <= self.target && self.target - self.clock <= 4
    }

    pub(crate) fn vram_read_blocked(&self) -> bool {
        self.is_on()
            && (self.mode() == mode::DRAWING
                || self.mode() == mode::OAM_SCAN && self.next_transition_within_4_dots())
    }

    pub(crate) fn vram_write_blocked(&self) -> bool {
        self.is_on() && self.mode() == mode::DRAWING
    }

    pub(crate) fn oam_read_blocked(&self) -> bool {
        let line_starting = self.first_frame && self.next_step == step::BEGIN_LINE;
        self.is_on() && (self.mode() >= mode::OAM_SCAN || line_starting)
    }

    pub(crate) fn oam_write_blocked(&self) -> bool {
        let opens_early = self.first_frame && self.next_transition_within_4_dots();
        self.is_on()
            && (self.mode() == mode::DRAWING || self.mode() == mode::OAM_SCAN && !opens_early)
    }

    /// Becomes a copy of `other`, in place.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        // Plain bytes without a pointer: a copy of the whole is the fastest.
        let rendering = self.rendering;
        self.clone_from(other);
        self.set_rendering(rendering);
    }

    pub(crate) fn internals(&self, values: &mut Vec<(&'static str, u64)>) {
        values.extend([
            ("lcd_clock", self.clock as u64),
            ("lcd_target", self.target as u64),
            ("lcd_mode", self.mode().into()),
            ("lcd_next_mode", self.next_mode.into()),
            ("lcd_next_step", self.next_step.into()),
            ("lcd_first_frame", self.first_frame.into()),
            ("lcd_restart_pending", self.restart_pending.into()),
            ("lcd_window_triggered", self.window_triggered.into()),
            ("lcd_irregular", self.irregular.into()),
            ("lcdc", self.lcdc.into()),
            ("stat", self.stat.into()),
            ("ly", self.ly.into()),
        ]);
    }

    /// Checks what a saved state brought.
    pub(crate) fn validate(&self) -> Result<(), StateError> {
        let bad = |field, value: i64| {
            let value = value as u64;
            Err(StateError::BadField { field, value })
        };
        if self.next_mode > 3 {
            return bad("next_mode", self.next_mode.into());
        }
        if self.next_step > step::BEGIN_LINE {
            return bad("next_step", self.next_step.into());
        }
        if self.ly > LAST_LINE {
            return bad("ly", self.ly.into());
        }
        if !(-FRAME_DOTS..2 * FRAME_DOTS).contains(&self.clock) {
            return bad("clock", self.clock);
        }
        if !(0..2 * FRAME_DOTS).contains(&self.target) {
            return bad("target", self.target);
        }
        if !(-256..=256).contains(&self.mode3_penalty) {
            return bad("mode3_penalty", self.mode3_penalty);
        }
        if !(-1..=255).contains(&self.window_row) {
            return bad("window_row", self.window_row.into());
        }
        if let Some(shade) = self.shades.iter().find(|&&shade| shade > UNDRAWN_SHADE) {
            return bad("shades", (*shade).into());
        }
        Ok(())
    }
}
