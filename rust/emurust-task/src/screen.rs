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
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            #[expect(
                unsafe_code,
                reason = "twice as fast as the instructions all processors have"
            )]
            // SAFETY: the processor has AVX2, as just checked.
            unsafe {
                self.push_with_avx2(shades);
            }
            return;
        }
        self.push_with_any(shades);
    }

    /// The same code, compiled for wider vectors.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[expect(
        unsafe_code,
        reason = "older compilers want it for functions with target features"
    )]
    unsafe fn push_with_avx2(&mut self, shades: &[u8]) {
        self.push_with_any(shades);
    }

    #[inline(always)]
    fn push_with_any(&mut self, shades: &[u8]) {
        // The whole picture first, then all of its bytes to their places: each
        // pass is one loop that the compiler can turn into vector instructions.
        match (self.format.resolution, self.format.packed) {
            (Resolution::Full, false) => {
                let mut picture = [0; PIXELS];
                convert(shades, &mut picture, SCREEN_WIDTH, reds);
                self.interleave(&picture);
            }
            (Resolution::Full, true) => {
                let mut picture = [0; PIXELS / 4];
                convert(shades, &mut picture, SCREEN_WIDTH, packed);
                self.interleave(&picture);
            }
            (Resolution::Half, false) => {
                let mut picture = [0; PIXELS / 4];
                convert(shades, &mut picture, 2 * SCREEN_WIDTH, mean_reds);
                self.interleave(&picture);
            }
            (Resolution::Half, true) => {
                let mut picture = [0; PIXELS / 16];
                convert(shades, &mut picture, 2 * SCREEN_WIDTH, packed_half);
                self.interleave(&picture);
            }
        }
    }

    /// Makes a picture the newest of the stack.
    #[inline(always)]
    fn interleave(&mut self, picture: &[u8]) {
        // Every screen moves one place on along the last axis. What spills over
        // into the next pixel's first place is overwritten by the new picture.
        let len = self.bytes.len();
        self.bytes.copy_within(..len - 1, 1);
        match self.format.stack {
            1 => self.bytes.copy_from_slice(picture),
            3 => interleave_3(picture, &mut self.bytes),
            stack => {
                for (pixel, byte) in self.bytes.chunks_exact_mut(stack).zip(picture) {
                    pixel[0] = *byte;
                }
            }
        }
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.bytes.clone_from(&other.bytes);
    }
}

const PIXELS: usize = SCREEN_WIDTH * SCREEN_HEIGHT;

/// Converts a picture, some lines of shades at a time.
#[inline(always)]
fn convert<const ROW: usize>(
    shades: &[u8],
    picture: &mut [u8],
    lines: usize,
    row: impl Fn(&[u8], &mut [u8; ROW]),
) {
    for (lines, out) in shades
        .chunks_exact(lines)
        .zip(picture.chunks_exact_mut(ROW))
    {
        if let Ok(out) = out.try_into() {
            row(lines, out);
        }
    }
}

/// Red of each pixel in seventeenths; cells never drawn are transparent black.
#[inline(always)]
fn seventeenth(shade: u8) -> u8 {
    (if shade == 0 { 15 } else { 0 })
        | (if shade == 1 { 9 } else { 0 })
        | (if shade == 2 { 5 } else { 0 })
}

/// Red of each pixel of a line.
#[inline(always)]
fn reds(line: &[u8], out: &mut [u8; SCREEN_WIDTH]) {
    for (red, shade) in out.iter_mut().zip(line) {
        *red = seventeenth(*shade) * 17;
    }
}

/// Mean red of each 2 x 2 square of two lines, rounded down.
#[inline(always)]
fn mean_reds(lines: &[u8], out: &mut [u8; SCREEN_WIDTH / 2]) {
    let (upper, lower) = lines.split_at(SCREEN_WIDTH);
    let mut columns = [0; SCREEN_WIDTH];
    for ((column, upper), lower) in columns.iter_mut().zip(upper).zip(lower) {
        *column = seventeenth(*upper) + seventeenth(*lower);
    }
    let mut pairs = [0; SCREEN_WIDTH / 2];
    for (pair, two) in pairs.iter_mut().zip(columns.chunks_exact(2)) {
        *pair = u16::from_le_bytes([two[0], two[1]]);
    }
    for (mean, pair) in out.iter_mut().zip(pairs) {
        *mean = (((pair & 0xFF) + (pair >> 8)) * 17 / 4) as u8;
    }
}

/// Eight shades as brightness: 3 is white, 0 black or never drawn.
#[inline(always)]
fn brightness(shades: u64) -> u64 {
    let undrawn = shades >> 2 & 0x0101_0101_0101_0101;
    !(shades | undrawn | undrawn << 1) & 0x0303_0303_0303_0303
}

/// Four pixels a byte, the first on top.
#[inline(always)]
fn packed(line: &[u8], out: &mut [u8; SCREEN_WIDTH / 4]) {
    // Moves the low bits of bytes 0, 1, 2, 3 to bits 30, 28, 26, 24.
    const GATHER: u64 = 1 | 1 << 10 | 1 << 20 | 1 << 30;
    for (two, eight) in out.chunks_exact_mut(2).zip(line.chunks_exact(8)) {
        let levels = brightness(word(eight));
        two[0] = (((levels & 0xFFFF_FFFF) * GATHER) >> 24) as u8;
        two[1] = (((levels >> 32) * GATHER) >> 24) as u8;
    }
}

/// The same of every second pixel of the first of two lines.
#[inline(always)]
fn packed_half(lines: &[u8], out: &mut [u8; SCREEN_WIDTH / 8]) {
    // Moves the low bits of bytes 0, 2, 4, 6 to bits 54, 52, 50, 48.
    const GATHER: u64 = 1 | 1 << 18 | 1 << 36 | 1 << 54;
    for (byte, eight) in out.iter_mut().zip(lines.chunks_exact(8)) {
        let levels = brightness(word(eight)) & 0x00FF_00FF_00FF_00FF;
        *byte = (levels.wrapping_mul(GATHER) >> 48) as u8;
    }
}

#[inline(always)]
fn word(eight: &[u8]) -> u64 {
    u64::from_le_bytes(eight.try_into().unwrap_or_default())
}

/// Writes a picture to every third byte, eight at once. Every format has a multiple of eight.
#[inline(always)]
fn interleave_3(picture: &[u8], bytes: &mut [u8]) {
    let byte = |number: u32| 0xFF << (8 * number);
    for (out, new) in bytes.chunks_exact_mut(24).zip(picture.chunks_exact(8)) {
        let new = word(new);
        let first = new & byte(0) | (new & byte(1)) << 16 | (new & byte(2)) << 32;
        let second = (new & byte(3)) >> 16 | new & byte(4) | (new & byte(5)) << 16;
        let third = (new & byte(6)) >> 32 | (new & byte(7)) >> 16;
        let first = word(&out[..8]) & !(byte(0) | byte(3) | byte(6)) | first;
        let second = word(&out[8..16]) & !(byte(1) | byte(4) | byte(7)) | second;
        let third = word(&out[16..]) & !(byte(2) | byte(5)) | third;
        out[..8].copy_from_slice(&first.to_le_bytes());
        out[8..16].copy_from_slice(&second.to_le_bytes());
        out[16..].copy_from_slice(&third.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Red of shades 0 to 3 and of cells never drawn.
    const RED: [u8; 5] = [255, 153, 85, 0, 0];

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
    fn wide_vectors_change_nothing() {
        for stack in [1, 3, 4] {
            for (resolution, packed) in [
                (Resolution::Full, false),
                (Resolution::Full, true),
                (Resolution::Half, false),
                (Resolution::Half, true),
            ] {
                let format = ScreenFormat {
                    resolution,
                    stack,
                    packed,
                };
                let (mut one, mut other) = (ScreenStack::new(format), ScreenStack::new(format));
                for seed in 0..4 {
                    one.push(&picture(seed));
                    other.push_with_any(&picture(seed));
                }
                assert_eq!(one.bytes(), other.bytes(), "{format:?}");
            }
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
