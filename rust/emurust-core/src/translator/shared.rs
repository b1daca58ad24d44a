//! The translation that all machines of a cartridge share.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::native::TranslatorError;
use super::profile::Profile;
use super::region::{Growth, Region};
use crate::rom::Rom;

/// Instructions interpreted before the first translation.
const FIRST_STEPS: u32 = 20_000;
/// Before another function is made: instructions interpreted for each one
/// translated so far, so that translating stays a small part of running.
const PATIENCE: u64 = 20;
/// Most of it: where translating brings nothing new, the wait doubles up to this.
const MAX_STEPS: u32 = 1 << 24;
/// Functions before they are made one.
const MAX_FUNCTIONS: usize = 8;
/// Changes between functions for each instruction translated, before one good
/// function is made: they then have cost about as much as making it.
const MAX_CROSSINGS: u64 = 500;
/// Frames without a new function before one good one is made of the quick ones.
const SETTLED_FRAMES: u32 = 8_000;
/// Translations of one cartridge, so that a program that never settles does not
/// keep the code generator busy.
const MAX_TRANSLATIONS: u32 = 64;

/// State of the translation of one cartridge in this process.
#[derive(Debug)]
pub(crate) struct Translation {
    current: Mutex<Arc<Region>>,
    /// Another number for each content of `current`, of any cartridge.
    generation: AtomicU64,
    profile: Arc<Profile>,
    compiling: AtomicBool,
    /// The process in which `compiling` was set: a forked child has no such thread.
    compiling_in: AtomicU32,
    wanted_steps: AtomicU32,
    wanted_crossings: AtomicU64,
    wanted_frames: AtomicU32,
    translations: AtomicU32,
    failure: Mutex<Option<TranslatorError>>,
}

fn next_generation() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl Translation {
    pub(crate) fn new(image_len: usize) -> Self {
        let profile = Arc::new(Profile::new(image_len));
        Self {
            current: Mutex::new(Arc::new(Region::empty(Arc::clone(&profile)))),
            generation: AtomicU64::new(next_generation()),
            profile,
            compiling: AtomicBool::new(false),
            compiling_in: AtomicU32::new(0),
            wanted_steps: AtomicU32::new(FIRST_STEPS),
            wanted_crossings: AtomicU64::new(u64::MAX),
            wanted_frames: AtomicU32::new(u32::MAX),
            translations: AtomicU32::new(0),
            failure: Mutex::new(None),
        }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    pub(crate) fn current(&self) -> Arc<Region> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why there is no native code, if making it failed.
    pub(crate) fn failure(&self) -> Option<TranslatorError> {
        self.failure
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Has enough been interpreted for another translation?
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.profile.steps() >= self.wanted_steps.load(Ordering::Relaxed)
            || self.is_scattered()
            || self.is_settled()
    }

    /// Have the quick functions proved to be what runs?
    #[inline]
    fn is_settled(&self) -> bool {
        let wanted = self.wanted_frames.load(Ordering::Relaxed);
        wanted != u32::MAX && self.profile.frames() >= wanted
    }

    /// Is there so much going back and forth that one function is worth making?
    #[inline]
    fn is_scattered(&self) -> bool {
        self.profile.crossings() >= self.wanted_crossings.load(Ordering::Relaxed)
    }

    /// Translates, if none is under way: at once or in the background.
    pub(crate) fn start(rom: &Arc<Rom>, at_once: bool) {
        let this = rom.translation();
        let process = std::process::id();
        if this.compiling.swap(true, Ordering::AcqRel)
            && this.compiling_in.load(Ordering::Relaxed) == process
        {
            return;
        }
        this.compiling_in.store(process, Ordering::Relaxed);
        if this.translations.fetch_add(1, Ordering::Relaxed) >= MAX_TRANSLATIONS {
            this.give_up();
            this.compiling.store(false, Ordering::Release);
            return;
        }
        if at_once {
            return this.translate(rom);
        }
        let rom = Arc::clone(rom);
        let spawned = std::thread::Builder::new()
            .name("emurust-translator".to_owned())
            .spawn(move || rom.translation().translate(&rom));
        if spawned.is_err() {
            // No thread to be had: try again later.
            this.profile.restart();
            this.compiling.store(false, Ordering::Release);
        }
    }

    fn give_up(&self) {
        self.wanted_steps.store(u32::MAX, Ordering::Relaxed);
        self.wanted_crossings.store(u64::MAX, Ordering::Relaxed);
        self.wanted_frames.store(u32::MAX, Ordering::Relaxed);
    }

    /// Translates at once what has been seen running.
    pub(crate) fn translate_now(&self, rom: &Rom) {
        self.translations.fetch_add(1, Ordering::Relaxed);
        self.translate(rom);
    }

    fn translate(&self, rom: &Rom) {
        let current = self.current();
        let growth = if self.is_scattered() || current.functions() >= MAX_FUNCTIONS {
            Growth::Whole
        } else if self.is_settled() {
            Growth::Settled
        } else {
            Growth::New
        };
        // A panic of the code generator must not stop the machines.
        let work = || current.grown(rom.image(), rom.waits(), growth);
        let made = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            let reason = "the code generator failed".to_owned();
            Err(TranslatorError::Codegen { reason })
        });
        match made {
            Ok(region) if growth == Growth::New && region.functions() == current.functions() => {
                // Nothing new.
                let wanted = self.wanted_steps.load(Ordering::Relaxed).saturating_mul(2);
                self.wanted_steps
                    .store(wanted.min(MAX_STEPS), Ordering::Relaxed);
                self.translations.fetch_sub(1, Ordering::Relaxed);
            }
            Ok(region) => self.adopt(region),
            Err(error) => {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.give_up();
            }
        }
        self.profile.restart();
        self.compiling.store(false, Ordering::Release);
    }

    /// Machines use this region from their next frame on.
    fn adopt(&self, region: Region) {
        let instructions = region.instructions() as u64;
        let steps = instructions.saturating_mul(PATIENCE);
        let steps = u32::try_from(steps).unwrap_or(u32::MAX).max(FIRST_STEPS);
        let crossings = if region.functions() > 1 {
            instructions.saturating_mul(MAX_CROSSINGS)
        } else {
            u64::MAX
        };
        let frames = if region.has_quick_functions() {
            SETTLED_FRAMES
        } else {
            u32::MAX
        };
        self.wanted_steps.store(steps, Ordering::Relaxed);
        self.wanted_crossings.store(crossings, Ordering::Relaxed);
        self.wanted_frames.store(frames, Ordering::Relaxed);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(region);
        self.generation.store(next_generation(), Ordering::Release);
    }
}
