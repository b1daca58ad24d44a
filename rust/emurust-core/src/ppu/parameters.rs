//! Scroll and window position of the drawn lines, as PyBoy's API reports them.

use super::SCREEN_HEIGHT;
use crate::savestate::{Exhausted, Reader, State, Writer};

/// SCX, SCY, WX, WY and the tile data bit of LCDC.
pub(crate) const LINE_PARAMETERS: usize = 5;

type Parameters = [u8; LINE_PARAMETERS];

/// The parameters of all lines.
#[derive(Debug, Clone)]
pub(crate) struct LineParameters {
    /// Those of a line in a number each, the first in the lowest byte: they are written a
    /// hundred times as often as they are read.
    lines: [u64; SCREEN_HEIGHT],
    /// Lines from the top on that are known to be alike: most frames repeat the one before.
    alike: usize,
}

impl LineParameters {
    pub(super) fn new() -> Self {
        Self::from_bytes(&[[0; LINE_PARAMETERS]; SCREEN_HEIGHT])
    }

    pub(crate) fn from_bytes(lines: &[Parameters; SCREEN_HEIGHT]) -> Self {
        Self {
            lines: lines.map(Self::number),
            alike: 0,
        }
    }

    pub(crate) fn to_bytes(&self) -> [Parameters; SCREEN_HEIGHT] {
        self.lines.map(|line| {
            let [scx, scy, wx, wy, tile_data, ..] = line.to_le_bytes();
            [scx, scy, wx, wy, tile_data]
        })
    }

    #[inline]
    fn number([scx, scy, wx, wy, tile_data]: Parameters) -> u64 {
        u64::from_le_bytes([scx, scy, wx, wy, tile_data, 0, 0, 0])
    }

    /// Lines `first..end` have been drawn with these.
    #[inline]
    pub(super) fn record(&mut self, first: usize, end: usize, parameters: Parameters) {
        let number = Self::number(parameters);
        if end <= self.alike && number == self.lines[0] {
            return;
        }
        let top = self.lines[0];
        let Some(lines) = self.lines.get_mut(first..end) else {
            return;
        };
        lines.fill(number);
        if first <= self.alike {
            let goes_on = first == 0 || number == top;
            self.alike = if goes_on { end } else { first };
        }
    }
}

impl State for LineParameters {
    fn save(&self, out: &mut Writer<'_>) {
        self.to_bytes().save(out);
    }

    fn load(&mut self, input: &mut Reader<'_>) -> Result<(), Exhausted> {
        let mut lines = self.to_bytes();
        lines.load(input)?;
        *self = Self::from_bytes(&lines);
        Ok(())
    }
}
