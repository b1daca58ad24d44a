//! What has been running, in the interpreter and in native code, so that it can
//! be translated and translated well.

use std::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use super::plan::{places, Place};

/// Entries in the middle of a block before one is made there: interpreting to
/// the next block has then cost about as much as making it.
const OFTEN: u16 = 200;

/// Counts of one cartridge, shared by all its machines. Counts may be lost where
/// two threads count at once: they choose what is translated and nothing else.
#[derive(Debug)]
pub(super) struct Profile {
    counts: Box<[AtomicU16]>,
    /// How often execution was found to begin at a place.
    entries: Box<[AtomicU16]>,
    /// How often the rest of a slice was too short for a block.
    cuts: Box<[AtomicU16]>,
    /// How often native code was found at a block by a look at a random moment.
    heat: Box<[AtomicU16]>,
    looks: AtomicU32,
    /// Looks that found quick code.
    quick_looks: AtomicU32,
    steps: AtomicU32,
    crossings: AtomicU64,
}

impl Profile {
    pub(super) fn new(image_len: usize) -> Self {
        let places = places(image_len);
        Self {
            counts: (0..places).map(|_| AtomicU16::new(0)).collect(),
            entries: (0..places).map(|_| AtomicU16::new(0)).collect(),
            cuts: (0..places).map(|_| AtomicU16::new(0)).collect(),
            heat: (0..places).map(|_| AtomicU16::new(0)).collect(),
            looks: AtomicU32::new(0),
            quick_looks: AtomicU32::new(0),
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

    /// The rest of the slice was too short for the block here.
    #[inline]
    pub(super) fn note_cut(&self, place: Place) {
        count(self.cuts.get(place.index()));
    }

    /// A look at a random moment found native code at this block.
    pub(super) fn note_heat(&self, place: Place) {
        count(self.heat.get(place.index()));
    }

    pub(super) fn heat(&self, place: Place) -> u32 {
        counted(self.heat.get(place.index())).into()
    }

    /// What was hot long ago counts for less and less.
    pub(super) fn cool(&self) {
        for heat in self.heat.iter().chain(&self.cuts) {
            let seen = heat.load(Ordering::Relaxed);
            if seen > 0 {
                heat.store(seen / 2, Ordering::Relaxed);
            }
        }
    }

    /// Looks at random moments since the last call of [`Self::restart`], and how
    /// many of them found quick code.
    pub(super) fn looks(&self) -> (u32, u32) {
        let count = |looks: &AtomicU32| looks.load(Ordering::Relaxed);
        (count(&self.looks), count(&self.quick_looks))
    }

    /// Instructions interpreted since the last call of [`Self::restart`].
    pub(super) fn steps(&self) -> u32 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Changes from one native function to another since then.
    pub(super) fn crossings(&self) -> u64 {
        self.crossings.load(Ordering::Relaxed)
    }

    pub(super) fn restart_steps(&self) {
        self.steps.store(0, Ordering::Relaxed);
    }

    /// Looks and changes between functions count from here.
    pub(super) fn restart(&self) {
        self.looks.store(0, Ordering::Relaxed);
        self.quick_looks.store(0, Ordering::Relaxed);
        self.crossings.store(0, Ordering::Relaxed);
    }

    /// How often the instruction here ran in the interpreter.
    pub(super) fn count(&self, place: Place) -> u16 {
        counted(self.counts.get(place.index()))
    }

    /// How often a slice ended in the block that begins here.
    pub(super) fn cuts(&self, place: Place) -> u32 {
        counted(self.cuts.get(place.index())).into()
    }

    /// Execution begins here often: a block should, too.
    pub(super) fn is_entry(&self, place: Place) -> bool {
        counted(self.entries.get(place.index())) >= OFTEN
    }
}

fn counted(cell: Option<&AtomicU16>) -> u16 {
    cell.map_or(0, |count| count.load(Ordering::Relaxed))
}

fn count(cell: Option<&AtomicU16>) {
    let Some(count) = cell else {
        return;
    };
    let seen = count.load(Ordering::Relaxed);
    // Writing what is there already would take the cache line from other threads.
    if seen < u16::MAX {
        count.store(seen + 1, Ordering::Relaxed);
    }
}

/// What one machine has done since it last told the profile: telling it of each
/// slice would keep threads waiting for each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// Instructions interpreted.
    pub(super) steps: u32,
    /// Changes from one native function to another.
    pub(super) crossings: u32,
    pub(super) looks: u32,
    pub(super) quick_looks: u32,
    /// T-cycles of native code before the next look at where it is; below zero if
    /// it took longer.
    pub(super) until_look: i64,
    random: u32,
}

/// T-cycles of native code between two looks, on average.
const LOOK_INTERVAL: i64 = 1 << 17;

impl Default for Work {
    fn default() -> Self {
        Self {
            steps: 0,
            crossings: 0,
            looks: 0,
            quick_looks: 0,
            until_look: LOOK_INTERVAL,
            random: 1,
        }
    }
}

impl Work {
    /// A look was taken; the next is due after a time that fits no rhythm.
    pub(super) fn note_look(&mut self, is_quick: bool) {
        self.looks += 1;
        self.quick_looks += u32::from(is_quick);
        self.random = self
            .random
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        self.until_look = LOOK_INTERVAL / 2 + i64::from(self.random) * LOOK_INTERVAL / (1 << 32);
    }

    /// The cycle at which a look is due if native code runs from now on.
    #[inline]
    pub(super) fn look_at(&self, now: u64) -> u64 {
        now + self.until_look.max(0) as u64
    }

    /// Tells the profile if it is worth it.
    #[inline]
    pub(super) fn tell(&mut self, profile: &Profile) {
        if self.steps + self.crossings >= 1024 || self.looks >= 16 {
            let take = std::mem::take::<u32>;
            let crossings = take(&mut self.crossings).into();
            profile.crossings.fetch_add(crossings, Ordering::Relaxed);
            for (total, here) in [
                (&profile.steps, &mut self.steps),
                (&profile.looks, &mut self.looks),
                (&profile.quick_looks, &mut self.quick_looks),
            ] {
                total.fetch_add(take(here), Ordering::Relaxed);
            }
        }
    }
}
