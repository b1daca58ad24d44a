//! How often each place was visited in an episode.

/// Slots of a new table (8 bytes each).
const INITIAL_SLOTS: usize = 1024;
const COUNT_BITS: u32 = 16;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
/// A place was visited at most this often, as far as the table knows.
pub(crate) const MAX_COUNT: u64 = COUNT_MASK;
/// Bits of the key: the numbers that make up a place.
pub(crate) const KEY_BITS: u32 = 48;

/// A hash table from places to visit counts. A slot is a 48-bit key above a 16-bit count;
/// a count of 0 marks an empty slot. The table starts small, doubles when it is three quarters
/// full and keeps its size over resets, so that it allocates only while an episode visits more
/// places than any before it.
#[derive(Debug, Clone)]
pub(crate) struct Visits {
    slots: Vec<u64>,
    distinct: usize,
}

impl Visits {
    pub(crate) fn new() -> Self {
        Self {
            slots: vec![0; INITIAL_SLOTS],
            distinct: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        if self.distinct > 0 {
            self.slots.fill(0);
            self.distinct = 0;
        }
    }

    /// Number of different places.
    pub(crate) fn distinct(&self) -> usize {
        self.distinct
    }

    /// The slot that holds a key, or the empty one where it would go.
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: the product's upper bits are well mixed.
        let mut slot = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask;
        loop {
            let entry = self.slots[slot];
            if entry & COUNT_MASK == 0 || entry >> COUNT_BITS == key {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// How often a place was visited.
    pub(crate) fn count(&self, key: u64) -> u64 {
        self.slots[self.slot(key)] & COUNT_MASK
    }

    /// Counts one more visit; the new count.
    pub(crate) fn visit(&mut self, key: u64) -> u64 {
        let slot = self.slot(key);
        let count = self.slots[slot] & COUNT_MASK;
        if count == MAX_COUNT {
            return count;
        }
        self.slots[slot] = key << COUNT_BITS | (count + 1);
        if count == 0 {
            self.distinct += 1;
            if self.distinct * 4 > self.slots.len() * 3 {
                self.grow(self.slots.len() * 2);
            }
        }
        count + 1
    }

    fn grow(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.slots, vec![0; slots]);
        for entry in old.into_iter().filter(|entry| entry & COUNT_MASK != 0) {
            let slot = self.slot(entry >> COUNT_BITS);
            self.slots[slot] = entry;
        }
    }

    /// The occupied slots: key and count.
    pub(crate) fn entries(&self) -> impl Iterator<Item = u64> + '_ {
        self.slots
            .iter()
            .copied()
            .filter(|entry| entry & COUNT_MASK != 0)
    }

    /// Replaces the content; false (and an empty table) for entries that no table can have.
    pub(crate) fn restore(&mut self, entries: impl Iterator<Item = u64>) -> bool {
        self.slots.fill(0);
        self.distinct = 0;
        for entry in entries {
            let key = entry >> COUNT_BITS;
            let slot = self.slot(key);
            if entry & COUNT_MASK == 0 || self.slots[slot] != 0 {
                self.slots.fill(0);
                self.distinct = 0;
                return false;
            }
            self.slots[slot] = entry;
            self.distinct += 1;
            if self.distinct * 4 > self.slots.len() * 3 {
                self.grow(self.slots.len() * 2);
            }
        }
        true
    }

    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.slots.clone_from(&other.slots);
        self.distinct = other.distinct;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::random::Random;

    #[test]
    fn counts_like_a_map() {
        let mut visits = Visits::new();
        let mut expected: HashMap<u64, u64> = HashMap::new();
        let mut random = Random::new(1);
        for _ in 0..40_000 {
            let key = random.below(20_000) << random.below(33);
            let key = key & ((1 << KEY_BITS) - 1);
            let count = expected.entry(key).or_default();
            *count += 1;
            assert_eq!(visits.visit(key), *count);
        }
        assert_eq!(visits.distinct(), expected.len());
        assert!(expected
            .iter()
            .all(|(&key, &count)| visits.count(key) == count));
        let mut restored = Visits::new();
        assert!(restored.restore(visits.entries()));
        assert!(expected
            .iter()
            .all(|(&key, &count)| restored.count(key) == count));
        visits.clear();
        assert_eq!((visits.distinct(), visits.count(5)), (0, 0));
    }

    #[test]
    fn counts_saturate() {
        let mut visits = Visits::new();
        for _ in 0..70_000 {
            visits.visit(0);
        }
        assert_eq!(visits.count(0), MAX_COUNT);
        assert_eq!(visits.distinct(), 1);
    }

    #[test]
    fn refuses_impossible_entries() {
        let mut visits = Visits::new();
        assert!(!visits.restore([1 << 16].into_iter()), "count 0");
        assert!(
            !visits.restore([1 << 16 | 1, 1 << 16 | 2].into_iter()),
            "twice"
        );
        assert_eq!(visits.distinct(), 0);
    }
}
