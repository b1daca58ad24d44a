//! Writing the fields of an observation record.

use crate::expression::{finite, maximum, minimum};
use crate::machine::Memory;
use crate::screen::ScreenStack;
use crate::task::{Writer, WriterKind};
use crate::variable::Place;
use crate::world::WorldMap;

/// The eight bits of each byte as eight bytes of 0 or 1, highest bit first.
const BITS: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = (byte >> (7 - bit) & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// The eight bits of each byte as eight pairs of 0 or 255, lowest bit first.
const PAIRS: [[u8; 16]; 256] = {
    let mut table = [[0; 16]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 16 {
            table[byte][bit] = if byte >> (bit / 2) & 1 == 1 { 255 } else { 0 };
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// What the sines of a number were when it last changed.
#[derive(Debug, Clone)]
pub(crate) struct WaveCache {
    value: f64,
    bytes: Vec<u8>,
}

impl WaveCache {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            value: f64::NAN,
            bytes: vec![0; count * 4],
        }
    }

    /// `sin(value * 2^k)` for k = 0, 1, ... as little endian floats.
    fn get(&mut self, value: f64) -> &[u8] {
        if value.to_bits() != self.value.to_bits() {
            self.value = value;
            let mut scale = 1.0;
            for wave in self.bytes.chunks_exact_mut(4) {
                wave.copy_from_slice(&single(finite(value * scale).sin()).to_le_bytes());
                scale *= 2.0;
            }
        }
        &self.bytes
    }
}

/// To single precision; what is too large becomes the largest number.
pub(crate) fn single(x: f64) -> f32 {
    x.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
}

/// Everything that a record is written from.
pub(crate) struct Sources<'e, M> {
    pub(crate) memory: &'e M,
    pub(crate) values: &'e [f64],
    pub(crate) screens: Option<&'e ScreenStack>,
    /// The visited places and where the player is.
    pub(crate) world: Option<(&'e WorldMap, (usize, usize))>,
    /// Newest first.
    pub(crate) recent_actions: &'e [u8],
}

impl<M: Memory> Sources<'_, M> {
    pub(crate) fn write(&self, writer: &Writer, caches: &mut [WaveCache], record: &mut [u8]) {
        let out = &mut record[writer.offset..];
        match &writer.kind {
            WriterKind::Screens => {
                if let Some(screens) = self.screens {
                    out[..screens.bytes().len()].copy_from_slice(screens.bytes());
                }
            }
            WriterKind::Values {
                expressions,
                low,
                high,
            } => {
                for (expression, out) in expressions.iter().zip(out.chunks_exact_mut(4)) {
                    let value = expression.evaluate(self.values);
                    let value = single(minimum(maximum(value, *low), *high));
                    out.copy_from_slice(&value.to_le_bytes());
                }
            }
            WriterKind::Waves {
                expression,
                count,
                cache,
            } => {
                let value = expression.evaluate(self.values);
                out[..count * 4].copy_from_slice(caches[*cache].get(value));
            }
            WriterKind::Bits { place, length } => self.write_bits(*place, *length, out),
            WriterKind::Bytes { place, length } => place.copy(self.memory, &mut out[..*length]),
            WriterKind::VisitedMap { window, repeat } => {
                self.write_window(*window, *repeat, out);
            }
            WriterKind::VisitedMapBits { window } => self.write_window_bits(*window, out),
            WriterKind::RecentActions { count } => {
                out[..*count].copy_from_slice(&self.recent_actions[..*count]);
            }
        }
    }

    fn write_bits(&self, place: Place, length: usize, out: &mut [u8]) {
        // In pieces, so that no buffer of the whole length is needed.
        let mut piece = [0u8; 64];
        for start in (0..length).step_by(piece.len()) {
            let piece = &mut piece[..(length - start).min(64)];
            place.plus(start).copy(self.memory, piece);
            let out = out[start * 8..].chunks_exact_mut(8);
            for (byte, out) in piece.iter().zip(out) {
                out.copy_from_slice(&BITS[usize::from(*byte)]);
            }
        }
    }

    /// Rows of the world around the player, `window` bits each, the leftmost lowest.
    fn window_rows(&self, window: usize) -> impl Iterator<Item = u64> + '_ {
        let half = (window / 2) as i64;
        (0..window as i64).map(move |index| {
            let Some((map, (row, column))) = self.world else {
                return 0;
            };
            let (row, column) = (row as i64 - half + index, column as i64 - half);
            map.bits(row, column, window as u32)
        })
    }

    fn write_window(&self, window: usize, repeat: usize, out: &mut [u8]) {
        let width = window * repeat;
        for (bits, rows) in self
            .window_rows(window)
            .zip(out.chunks_exact_mut(width * repeat))
        {
            let (first, others) = rows.split_at_mut(width);
            if repeat == 2 && window.is_multiple_of(8) {
                let bytes = bits.to_le_bytes();
                for (byte, out) in bytes.iter().zip(first.chunks_exact_mut(16)) {
                    out.copy_from_slice(&PAIRS[usize::from(*byte)]);
                }
            } else {
                for (index, cell) in first.chunks_exact_mut(repeat).enumerate() {
                    cell.fill(if bits >> index & 1 == 1 { 255 } else { 0 });
                }
            }
            for other in others.chunks_exact_mut(width) {
                other.copy_from_slice(first);
            }
        }
    }

    fn write_window_bits(&self, window: usize, out: &mut [u8]) {
        let length = window.div_ceil(8);
        for (bits, out) in self.window_rows(window).zip(out.chunks_exact_mut(length)) {
            for (byte, out) in bits.to_le_bytes().iter().zip(out) {
                *out = byte.reverse_bits();
            }
        }
    }
}
