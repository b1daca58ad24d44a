//! Which of the two engines runs a machine, and its hold on the native code.

use std::sync::Arc;

use super::region::Region;
use super::shared::Translation;
use crate::rom::Rom;

/// How code is run. The result is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// Native code, made in the background, where the processor and the operating
    /// system allow it; else the interpreter.
    #[default]
    Auto,
    /// One instruction after the other.
    Interpreter,
    /// Native code, made at once when it is due, so that a run can be repeated
    /// exactly; an error if it cannot be had.
    Translator,
}

/// A machine's hold on the native code of its cartridge.
#[derive(Debug, Clone, Default)]
pub(crate) struct Handle {
    region: Option<Arc<Region>>,
    generation: u64,
}

impl Handle {
    /// The newest native code. Starts making it when enough has been interpreted.
    #[inline]
    pub(crate) fn refresh(&mut self, rom: &Arc<Rom>, engine: Engine) -> Option<&Region> {
        if engine == Engine::Interpreter {
            return None;
        }
        let translation = rom.translation();
        if translation.is_due() {
            Translation::start(rom, engine == Engine::Translator);
        }
        let generation = translation.generation();
        if self.generation != generation {
            self.generation = generation;
            self.region = Some(translation.current());
        }
        self.region.as_deref()
    }
}
