//! Pictures: from the machine's shades to what an observation shows.

use emurust_core::{SCREEN_HEIGHT, SCREEN_WIDTH};

use crate::options::Resolution;

/// How the recent screens look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScreenFormat {
    pub(crate) resolution: Resolution,
    /// Number of recent screens, newest first, as the last axis.
    pub(crate) stack: usize,
    /// Four pixels a byte instead of one.
    pub(crate) packed: bool,
}

impl ScreenFormat {
    pub(crate) fn shape(self) -> [usize; 3] {
        let (height, width) = match self.resolution {
            Resolution::Full => (SCREEN_HEIGHT, SCREEN_WIDTH),
            Resolution::Half => (SCREEN_HEIGHT / 2, SCREEN_WIDTH / 2),
        };
        let width = if self.packed { width / 4 } else { width };
        [height, width, self.stack]
    }

    pub(crate) fn len(self) -> usize {
        self.shape().iter().product()
    }
}

/// Red of shades 0 to 3 and of cells never drawn, which are transparent black.
const RED: [u8; 5] = [255, 153, 85, 0, 0];

/// Mean red of four shades, rounded down; the index holds them in 2 bits each.
const MEAN_RED: [u8; 256] = {
    let mut means = [0; 256];
    let mut index = 0;
    while index < 256 {
        let sum = RED[index & 3] as u16
            + RED[index >> 2 & 3] as u16
            + RED[index >> 4 & 3] as u16
            + RED[index >> 6] as u16;
        means[index] = (sum / 4) as u8;
        index += 1;
    }
    means
};

/// The recent screens, interleaved as the observation has them.
#[derive(Debug, Clone)]
pub(crate) struct ScreenStack {
    format: ScreenFormat,
    bytes: Vec<u8>,
}

impl ScreenStack {
    pub(crate) fn new(format: ScreenFormat) -> Self {
        Self {
            format,
            bytes: vec![0; format.len()],
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.fill(0);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Takes in a new picture; the oldest goes.
    pub(crate) fn push(&mut self, shades: &[u8]) {
        let stack = self.format.stack;
        // Every screen moves one place on along the last axis. What spills over
        // into the next pixel's first place is overwritten by the new picture.
        let len = self.bytes.len();
        self.bytes.copy_within(..len - 1, 1);
        match stack {
            1 => self.draw::<1>(shades, 1),
            3 => self.draw::<3>(shades, 3),
            4 => self.draw::<4>(shades, 4),
            _ => self.draw::<0>(shades, stack),
        }
    }

    /// Writes the newest picture. A known `STACK` (0: any) lets the compiler fix the distance.
    #[inline]
    fn draw<const STACK: usize>(&mut self, shades: &[u8], stack: usize) {
        let stack = if STACK == 0 { stack } else { STACK };
        match (self.format.resolution, self.format.packed) {
            (Resolution::Full, false) => {
                for (pixel, shade) in self.bytes.iter_mut().step_by(stack).zip(shades) {
                    *pixel = RED[usize::from(*shade).min(4)];
                }
            }
            (Resolution::Full, true) => {
                let bytes = self.bytes.iter_mut().step_by(stack);
                for (byte, four) in bytes.zip(shades.chunks_exact(4)) {
                    *byte = pack([four[0], four[1], four[2], four[3]]);
                }
            }
            (Resolution::Half, false) => {
                let width = SCREEN_WIDTH / 2;
                let lines = self.bytes.chunks_exact_mut(width * stack);
                for (line, pair) in lines.zip(shades.chunks_exact(2 * SCREEN_WIDTH)) {
                    let index = quad_index(pair);
                    for (pixel, index) in line.iter_mut().step_by(stack).zip(index) {
                        *pixel = MEAN_RED[usize::from(index)];
                    }
                }
            }
            (Resolution::Half, true) => {
                let bytes = self.bytes.chunks_exact_mut(SCREEN_WIDTH / 8 * stack);
                for (line, row) in bytes.zip(shades.chunks_exact(2 * SCREEN_WIDTH)) {
                    let eights = row[..SCREEN_WIDTH].chunks_exact(8);
                    for (byte, eight) in line.iter_mut().step_by(stack).zip(eights) {
                        *byte = pack([eight[0], eight[2], eight[4], eight[6]]);
                    }
                }
            }
        }
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.bytes.clone_from(&other.bytes);
    }
}

/// Four pixels in a byte, the first on top; 3 is white, 0 black or never drawn.
fn pack(shades: [u8; 4]) -> u8 {
    shades
        .into_iter()
        .fold(0, |byte, shade| byte << 2 | (3 - shade.min(3)))
}

/// For each 2 x 2 square of two lines: its four shades in 2 bits each.
fn quad_index(pair: &[u8]) -> [u8; SCREEN_WIDTH / 2] {
    let (upper, lower) = pair.split_at(SCREEN_WIDTH);
    let mut columns = [0u8; SCREEN_WIDTH];
    for ((column, upper), lower) in columns.iter_mut().zip(upper).zip(lower) {
        *column = (*upper).min(3) | (*lower).min(3) << 4;
    }
    let mut index = [0u8; SCREEN_WIDTH / 2];
    for (index, two) in index.iter_mut().zip(columns.chunks_exact(2)) {
        *index = two[0] | two[1] << 2;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn picture(seed: u64) -> Vec<u8> {
        let mut random = Random::new(seed);
        (0..SCREEN_WIDTH * SCREEN_HEIGHT)
            .map(|_| u8::try_from(random.below(5)).unwrap_or(0))
            .collect()
    }

    /// The definition, pixel by pixel.
    fn expected(format: ScreenFormat, shades: &[u8], row: usize, column: usize) -> u8 {
        let shade = |row: usize, column: usize| usize::from(shades[row * SCREEN_WIDTH + column]);
        let level = |row, column| [3u8, 2, 1, 0, 0][shade(row, column)];
        match (format.resolution, format.packed) {
            (Resolution::Full, false) => RED[shade(row, column)],
            (Resolution::Full, true) => {
                (0..4).fold(0, |byte, pixel| byte << 2 | level(row, column * 4 + pixel))
            }
            (Resolution::Half, false) => {
                let sum: u16 = [(0, 0), (0, 1), (1, 0), (1, 1)]
                    .map(|(y, x)| u16::from(RED[shade(row * 2 + y, column * 2 + x)]))
                    .iter()
                    .sum();
                u8::try_from(sum / 4).unwrap_or(0)
            }
            (Resolution::Half, true) => (0..4).fold(0, |byte, pixel| {
                byte << 2 | level(row * 2, (column * 4 + pixel) * 2)
            }),
        }
    }

    #[test]
    fn stacks_every_format() {
        for resolution in [Resolution::Full, Resolution::Half] {
            for packed in [false, true] {
                for stack in 1..=5 {
                    let format = ScreenFormat {
                        resolution,
                        stack,
                        packed,
                    };
                    let mut screens = ScreenStack::new(format);
                    let pictures: Vec<_> = (0..4).map(picture).collect();
                    for shades in &pictures {
                        screens.push(shades);
                    }
                    let [height, width, _] = format.shape();
                    for row in 0..height {
                        for column in 0..width {
                            for age in 0..stack {
                                let wanted = pictures
                                    .iter()
                                    .rev()
                                    .nth(age)
                                    .map_or(0, |shades| expected(format, shades, row, column));
                                let found = screens.bytes()[(row * width + column) * stack + age];
                                assert_eq!(found, wanted, "{format:?} {row} {column} {age}");
                            }
                        }
                    }
                }
            }
        }
    }
}
