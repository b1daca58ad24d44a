//! The translation that all machines of a cartridge share.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::native::{Tier, TranslatorError};
use super::profile::Profile;
use super::region::{Growth, Region};
use crate::rom::Rom;

/// Instructions interpreted before the first translation.
const FIRST_STEPS: u32 = 20_000;
/// Before another function is made: instructions interpreted for each one that
/// there is, and for each one that was translated last, so that translating stays
/// a small part of running; more and more of both.
const PATIENCE: usize = 20;
const NEW_PATIENCE: usize = 100;
/// Most of it: where translating brings nothing new, the wait doubles up to this.
const MAX_STEPS: u32 = 1 << 24;
/// Changes between functions for each instruction translated, before all is made
/// anew: they then have cost about as much.
const MAX_CROSSINGS: u64 = 100;
/// Looks at random moments that tell what is hot.
const FIRST_LOOKS: u32 = 1_500;
/// Most of them: four times as many are waited for each time that all is made anew.
const MAX_LOOKS: u32 = 1 << 20;
/// A part of the looks that may find quick code.
const QUICK_SHARE: u32 = 10;
/// Translations of one cartridge, so that a program that never settles does not
/// keep the code generator busy.
const MAX_TRANSLATIONS: u32 = 1024;

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
    wanted_looks: AtomicU32,
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
            wanted_looks: AtomicU32::new(FIRST_LOOKS),
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
            || self.is_hot()
    }

    /// Is quick code what runs?
    #[inline]
    fn is_hot(&self) -> bool {
        let (looks, quick_looks) = self.profile.looks();
        looks >= self.wanted_looks.load(Ordering::Relaxed) && quick_looks > looks / QUICK_SHARE
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
            this.profile.restart_steps();
            this.compiling.store(false, Ordering::Release);
        }
    }

    fn give_up(&self) {
        self.wanted_steps.store(u32::MAX, Ordering::Relaxed);
        self.wanted_crossings.store(u64::MAX, Ordering::Relaxed);
        self.wanted_looks.store(u32::MAX, Ordering::Relaxed);
    }

    /// Translates at once everything that has been seen running.
    pub(crate) fn translate_now(&self, rom: &Rom, well: bool) {
        self.translations.fetch_add(1, Ordering::Relaxed);
        let tier = if well { Tier::Good } else { Tier::Quick };
        self.grow(rom, Growth::Everything(tier));
    }

    fn translate(&self, rom: &Rom) {
        if self.is_scattered() || self.is_hot() {
            if self.grow(rom, Growth::Hot) {
                self.grow(rom, Growth::Rest);
            }
            self.profile.restart();
        } else {
            self.grow(rom, Growth::New);
        }
        self.profile.restart_steps();
        self.compiling.store(false, Ordering::Release);
    }

    /// Changes the region; false if that failed.
    fn grow(&self, rom: &Rom, growth: Growth) -> bool {
        // A panic of the code generator must not stop the machines.
        let work = || self.current().grown(rom.image(), rom.waits(), growth);
        let made = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            let reason = "the code generator failed".to_owned();
            Err(TranslatorError::Codegen { reason })
        });
        match made {
            Ok(None) => {
                let wanted = self.wanted_steps.load(Ordering::Relaxed).saturating_mul(2);
                self.wanted_steps
                    .store(wanted.min(MAX_STEPS), Ordering::Relaxed);
                self.translations.fetch_sub(1, Ordering::Relaxed);
            }
            Ok(Some(region)) => {
                if growth == Growth::Hot {
                    let wanted = self.wanted_looks.load(Ordering::Relaxed).saturating_mul(4);
                    self.wanted_looks
                        .store(wanted.min(MAX_LOOKS), Ordering::Relaxed);
                }
                self.adopt(region, growth);
            }
            Err(error) => {
                *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                self.give_up();
                return false;
            }
        }
        true
    }

    /// Machines use this region from their next frame on.
    fn adopt(&self, region: Region, growth: Growth) {
        let new = match growth {
            Growth::New => region.newest_instructions(),
            Growth::Hot | Growth::Rest | Growth::Everything(_) => 0,
        };
        let times = 1 + self.translations.load(Ordering::Relaxed) as usize / 8;
        let steps = (new * NEW_PATIENCE).max(region.instructions() * PATIENCE) * times;
        let steps = u32::try_from(steps).unwrap_or(MAX_STEPS);
        let steps = steps.clamp(FIRST_STEPS, MAX_STEPS);
        let crossings = if region.functions() > 1 {
            MAX_CROSSINGS.saturating_mul(region.instructions() as u64)
        } else {
            u64::MAX
        };
        self.wanted_steps.store(steps, Ordering::Relaxed);
        self.wanted_crossings.store(crossings, Ordering::Relaxed);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(region);
        self.generation.store(next_generation(), Ordering::Release);
    }
}
