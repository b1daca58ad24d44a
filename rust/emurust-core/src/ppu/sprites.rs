//! What OAM means for the lines: on which there are sprites, and by how much those
//! lengthen mode 3.

use super::{OAM_LEN, SCREEN_HEIGHT};

const COUNT: usize = OAM_LEN / 4;
/// Sprites that one line shows.
const MOST_ON_LINE: usize = 10;
/// Y of a sprite that is on no line.
const NOWHERE: u8 = 0xFF;

/// What is known of the sprites that are in OAM.
#[derive(Debug, Clone)]
pub(super) struct Sprites {
    /// Their height when this was found out; 0 for nothing known.
    height: u8,
    /// Lines that have sprites on them, a bit each, from bit 16 on.
    lines: [u64; 3],
    /// Y and X of all, in order.
    y: [u8; COUNT],
    x: [u8; COUNT],
    penalties: [Penalty; SCREEN_HEIGHT],
}

/// Dots by which the sprites of a line lengthen mode 3.
#[derive(Debug, Clone, Copy)]
struct Penalty {
    /// The low bits of SCX, on which it depends; more if it is not known.
    scroll: u8,
    dots: i8,
}

impl Penalty {
    const UNKNOWN: Self = Self {
        scroll: 0xFF,
        dots: 0,
    };
}

impl Sprites {
    pub(super) fn unknown() -> Self {
        Self {
            height: 0,
            lines: [0; 3],
            y: [NOWHERE; COUNT],
            x: [0; COUNT],
            penalties: [Penalty::UNKNOWN; SCREEN_HEIGHT],
        }
    }

    /// OAM has changed, or is another.
    pub(super) fn forget(&mut self) {
        self.height = 0;
    }

    /// Finds out what there is to know of OAM, if it is not known.
    #[inline]
    pub(super) fn know(&mut self, oam: &[u8; OAM_LEN], height: u8) {
        if self.height != height {
            self.find(oam, height);
        }
    }

    #[inline(never)]
    fn find(&mut self, oam: &[u8; OAM_LEN], height: u8) {
        self.height = height;
        self.penalties = [Penalty::UNKNOWN; SCREEN_HEIGHT];
        // Bit `i` is line `i - 16`, so that a sprite's Y is its first bit.
        self.lines = [0; 3];
        let run = (1u64 << height) - 1;
        for (index, sprite) in oam.chunks_exact(4).enumerate() {
            let [y, x] = [sprite[0], sprite[1]];
            let (word, shift) = (usize::from(y >> 6), y & 63);
            // Sprites that begin below the screen are on no line.
            let is_on_any = y != 0 && (word < 2 || word == 2 && shift < 32);
            if is_on_any {
                self.lines[word] |= run << shift;
                if shift > 48 {
                    self.lines[word + 1] |= run >> (64 - shift);
                }
            }
            self.y[index] = if is_on_any { y } else { NOWHERE };
            self.x[index] = x;
        }
    }

    pub(super) fn are_on_line(&self, y: usize) -> bool {
        let bit = y + 16;
        self.lines
            .get(bit / 64)
            .is_some_and(|word| word >> (bit % 64) & 1 != 0)
    }

    /// Dots by which the sprites of a line lengthen mode 3.
    pub(super) fn penalty(&mut self, line: u8, scx: u8) -> i64 {
        let line = usize::from(line);
        if !self.are_on_line(line) {
            return 0;
        }
        let scroll = scx & 7;
        let known = self.penalties.get(line).copied();
        if let Some(penalty) = known.filter(|penalty| penalty.scroll == scroll) {
            return penalty.dots.into();
        }
        let dots = self.find_penalty(line, scroll);
        if let Some(penalty) = self.penalties.get_mut(line) {
            *penalty = Penalty { scroll, dots };
        }
        dots.into()
    }

    #[inline(never)]
    fn find_penalty(&self, line: usize, scroll: u8) -> i8 {
        // A byte for each sprite that is on the line, all compared at once.
        let mut on_line = [0; COUNT];
        for (is_on_line, y) in on_line.iter_mut().zip(self.y) {
            *is_on_line = u8::from((line as u8 + 16).wrapping_sub(y) < self.height);
        }
        let mut left = MOST_ON_LINE;
        let mut on_screen = false;
        let mut dots = 0;
        let mut seen_x = [0u64; 3];
        for (x, on_line) in self.x.as_chunks().0.iter().zip(on_line.as_chunks().0) {
            let x: &[u8; 8] = x;
            let mut bits = u64::from_le_bytes(*on_line);
            while bits != 0 && left > 0 {
                let x = x[(bits.trailing_zeros() / 8) as usize & 7];
                bits &= bits - 1;
                left -= 1;
                if x >= 168 {
                    continue;
                }
                on_screen = true;
                dots += 6;
                let bit = 1 << (x & 63);
                let seen = &mut seen_x[usize::from(x >> 6)];
                if *seen & bit == 0 {
                    *seen |= bit;
                    let offset = x.wrapping_add(scroll) & 7;
                    dots += (5 - offset as i8).max(0);
                }
            }
        }
        if on_screen {
            (dots - 7).max(0)
        } else {
            -4
        }
    }
}
