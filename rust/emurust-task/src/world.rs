//! The map of the whole world on which visited places are marked.

/// How local coordinates become world coordinates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct World {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Indices of the values for row, column and map number.
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) map: usize,
    /// Added to every row and column, so that the window around a border place stays inside.
    pub(crate) padding: i64,
    /// Where places lie whose map is unknown or that would lie outside.
    pub(crate) unknown: (usize, usize),
    /// Column and row of each map's top left corner.
    pub(crate) offsets: Box<[Option<(i32, i32)>; 256]>,
}

impl World {
    /// Row and column in the world.
    pub(crate) fn locate(&self, values: &[f64]) -> (usize, usize) {
        let map = values[self.map].floor();
        let offset = if (0.0..256.0).contains(&map) {
            self.offsets[map as usize]
        } else {
            None
        };
        let Some((column_offset, row_offset)) = offset else {
            return self.unknown;
        };
        let place = |value: usize, offset: i32| {
            (values[value].floor() as i64)
                .saturating_add(i64::from(offset))
                .saturating_add(self.padding)
        };
        let row = place(self.row, row_offset);
        let column = place(self.column, column_offset);
        if (0..self.rows as i64).contains(&row) && (0..self.columns as i64).contains(&column) {
            (row as usize, column as usize)
        } else {
            self.unknown
        }
    }
}

/// Visited places, one bit each. Rows are padded to whole words, and one word more, so that a
/// window can be read from any column.
#[derive(Debug, Clone)]
pub(crate) struct WorldMap {
    words: Vec<u64>,
    words_per_row: usize,
    rows: usize,
    columns: usize,
}

impl WorldMap {
    pub(crate) fn new(rows: usize, columns: usize) -> Self {
        let words_per_row = columns.div_ceil(64);
        Self {
            words: vec![0; rows * words_per_row],
            words_per_row,
            rows,
            columns,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    pub(crate) fn mark(&mut self, (row, column): (usize, usize)) {
        self.words[row * self.words_per_row + column / 64] |= 1 << (column % 64);
    }

    /// `width` (at most 64) bits of a row from a column on, the first lowest. Outside is unvisited.
    pub(crate) fn bits(&self, row: i64, column: i64, width: u32) -> u64 {
        if row < 0 || row >= self.rows as i64 {
            return 0;
        }
        let line = &self.words[row as usize * self.words_per_row..][..self.words_per_row];
        let word = |index: i64| {
            usize::try_from(index)
                .ok()
                .and_then(|index| line.get(index).copied())
                .unwrap_or(0)
        };
        let (index, shift) = (column.div_euclid(64), column.rem_euclid(64));
        let pair = u128::from(word(index)) | u128::from(word(index + 1)) << 64;
        let bits = (pair >> shift) as u64;
        bits & (u64::MAX >> (64 - width))
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Replaces the content; false for bits beyond the columns.
    pub(crate) fn restore(&mut self, words: impl Iterator<Item = u64>) -> bool {
        for (slot, word) in self.words.iter_mut().zip(words) {
            *slot = word;
        }
        let used = self.columns - (self.words_per_row - 1) * 64;
        let spare = u64::MAX.checked_shl(used as u32).unwrap_or(0);
        let clean = self
            .words
            .chunks_exact(self.words_per_row)
            .all(|line| line[self.words_per_row - 1] & spare == 0);
        if !clean {
            self.clear();
        }
        clean
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cross_words_and_edges() {
        let mut map = WorldMap::new(10, 130);
        for column in [0, 1, 63, 64, 129] {
            map.mark((5, column));
        }
        assert_eq!(map.bits(5, 0, 24), 0b11);
        assert_eq!(map.bits(5, -2, 24), 0b1100);
        assert_eq!(map.bits(5, 62, 24), 0b110);
        assert_eq!(map.bits(5, 128, 24), 0b10);
        assert_eq!(map.bits(5, 500, 24), 0);
        assert_eq!(map.bits(5, -500, 24), 0);
        assert_eq!(map.bits(4, 0, 64), 0);
        assert_eq!(map.bits(-1, 0, 24), 0);
        assert_eq!(map.bits(10, 0, 24), 0);
        assert_eq!(map.bits(5, 64, 64), 1);
    }

    #[test]
    fn restores_only_what_it_can_hold() {
        let mut map = WorldMap::new(2, 65);
        assert!(map.restore([0, 1, 5, 0].into_iter()));
        assert_eq!(map.bits(0, 64, 1), 1);
        assert!(!map.restore([0, 2, 0, 0].into_iter()));
        assert_eq!(map.bits(1, 0, 8), 0);
    }
}
