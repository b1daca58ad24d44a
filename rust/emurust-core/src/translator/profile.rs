//! What has been running in the interpreter, so that it can be translated.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicU8, Ordering};

use super::plan::{places, Place};

/// Entries in the middle of a block before one is made there: interpreting to
/// the next block has then cost about as much as making it.
const OFTEN: u8 = 200;

/// Counts of one cartridge, shared by all its machines. Counts may be lost where
/// two threads count at once: they choose what is translated and nothing else.
#[derive(Debug)]
pub(super) struct Profile {
    counts: Box<[AtomicU8]>,
    /// How often execution was found to begin at a place.
    entries: Box<[AtomicU8]>,
    frames: AtomicU32,
    steps: AtomicU32,
    crossings: AtomicU64,
}

impl Profile {
    pub(super) fn new(image_len: usize) -> Self {
        let places = places(image_len);
        Self {
            counts: (0..places).map(|_| AtomicU8::new(0)).collect(),
            entries: (0..places).map(|_| AtomicU8::new(0)).collect(),
            frames: AtomicU32::new(0),
            steps: AtomicU32::new(0),
            crossings: AtomicU64::new(0),
        }
    }

    /// An instruction ran in the interpreter.
    #[inline]
    pub(super) fn note(&self, place: Place) {
        count(self.counts.get(place.index()));
    }

    /// Execution came here and found no translation.
    #[inline]
    pub(super) fn note_entry(&self, place: Place) {
        count(self.entries.get(place.index()));
    }

    /// Frames since the last call of [`Self::restart`].
    pub(super) fn frames(&self) -> u32 {
        self.frames.load(Ordering::Relaxed)
    }

    /// Instructions interpreted since the last call of [`Self::restart`].
    pub(super) fn steps(&self) -> u32 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Changes from one native function to another since then.
    pub(super) fn crossings(&self) -> u64 {
        self.crossings.load(Ordering::Relaxed)
    }

    pub(super) fn restart(&self) {
        self.frames.store(0, Ordering::Relaxed);
        self.steps.store(0, Ordering::Relaxed);
        self.crossings.store(0, Ordering::Relaxed);
    }

    pub(super) fn count(&self, place: Place) -> u8 {
        self.counts
            .get(place.index())
            .map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Execution begins here often: a block should, too.
    pub(super) fn is_entry(&self, place: Place) -> bool {
        self.entries
            .get(place.index())
            .is_some_and(|count| count.load(Ordering::Relaxed) >= OFTEN)
    }
}

fn count(cell: Option<&AtomicU8>) {
    let Some(count) = cell else {
        return;
    };
    let seen = count.load(Ordering::Relaxed);
    // Writing what is there already would take the cache line from other threads.
    if seen < u8::MAX {
        count.store(seen + 1, Ordering::Relaxed);
    }
}

/// What one machine has done since it last told the profile: telling it of each
/// slice would keep threads waiting for each other.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Work {
    /// Instructions interpreted.
    pub(super) steps: u32,
    /// Changes from one native function to another.
    pub(super) crossings: u32,
    pub(super) frames: u32,
}

impl Work {
    /// Tells the profile if it is worth it.
    #[inline]
    pub(super) fn tell(&mut self, profile: &Profile) {
        if self.steps + self.crossings >= 1024 || self.frames >= 32 {
            let Self {
                steps,
                crossings,
                frames,
            } = std::mem::take(self);
            profile.steps.fetch_add(steps, Ordering::Relaxed);
            profile
                .crossings
                .fetch_add(crossings.into(), Ordering::Relaxed);
            profile.frames.fetch_add(frames, Ordering::Relaxed);
        }
    }
}
