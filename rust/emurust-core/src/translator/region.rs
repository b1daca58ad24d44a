//! One translation of a cartridge, and running machines with it.

use std::sync::Arc;

use super::exit::Exit;
use super::native::{NativeFunction, Tier, TranslatorError};
use super::plan::{places, Place, Plan};
use super::profile::Profile;
use crate::cpu::interpreter::Lookahead;
use crate::machine::Machine;
use crate::rom::Code;
use crate::scheduler::Turn;
use crate::waiting::WaitTable;

/// Native functions that together are the translation of a cartridge.
///
/// A new function holds what the others do not and is made quickly, so that new
/// code is soon translated. Between functions execution goes through the run
/// loop; when it does so often, or nothing new has come for a while, or they are
/// many, one good function is made of all.
#[derive(Debug)]
pub(crate) struct Region {
    functions: Vec<Arc<NativeFunction>>,
    /// For each place the number of the function with a block there, from 1; else 0.
    owners: Box<[u8]>,
    profile: Arc<Profile>,
    instructions: usize,
}

impl Region {
    pub(super) fn empty(profile: Arc<Profile>) -> Self {
        Self {
            functions: Vec::new(),
            owners: Box::default(),
            profile,
            instructions: 0,
        }
    }

    /// This region with another function for what has been running since; or, if
    /// `whole`, one with a single function for everything.
    pub(super) fn extended(
        &self,
        image: &[u8],
        waits: &WaitTable,
        whole: bool,
    ) -> Result<Self, TranslatorError> {
        let tier = if whole { Tier::Good } else { Tier::Quick };
        let plan = Plan::new(image, &self.profile, |place| {
            !whole && self.owner(place).is_some()
        });
        let mut region = Self {
            functions: Vec::new(),
            owners: vec![0; places(image.len())].into_boxed_slice(),
            profile: Arc::clone(&self.profile),
            instructions: plan.instructions(),
        };
        if !whole {
            region.functions.clone_from(&self.functions);
            region.instructions += self.instructions;
            if self.owners.len() == region.owners.len() {
                region.owners.copy_from_slice(&self.owners);
            }
        }
        if !plan.blocks.is_empty() {
            let function = NativeFunction::compile(&plan, image, waits, tier)?;
            region.functions.push(Arc::new(function));
            let number = region.functions.len() as u8;
            for block in &plan.blocks {
                region.owners[block.place.index()] = number;
            }
        }
        Ok(region)
    }

    /// Making one good function would be a gain.
    pub(super) fn is_provisional(&self) -> bool {
        self.functions.len() > 1 || self.functions.iter().any(|function| function.is_quick())
    }

    /// Guest instructions translated.
    pub(super) fn instructions(&self) -> usize {
        self.instructions
    }

    pub(super) fn functions(&self) -> usize {
        self.functions.len()
    }

    /// The function with a block at a place.
    #[inline]
    fn owner(&self, place: Place) -> Option<&NativeFunction> {
        let number = usize::from(*self.owners.get(place.index())?);
        self.functions.get(number.wrapping_sub(1)).map(Arc::as_ref)
    }
}

impl Machine {
    /// Native code does the same as the interpreter here: code comes from where
    /// the plan supposed it, and no DMA is under way to be advanced by accesses.
    pub(crate) fn can_run_native(&self) -> bool {
        self.rom_low == 0 && self.rom_fetch_limit != 0 && !self.dma.active
    }

    /// As `run_plain`, with native code where there is any.
    #[inline(never)]
    pub(crate) fn run_native(&mut self, rom: Code<'_>, region: &Region, ahead: &mut Lookahead) {
        let mut interpreted = 0;
        let mut crossings = 0;
        // Execution came here by a jump, or because a function did not know the place.
        let mut jumped = false;
        let mut unknown = false;
        let mut waiting = Turn::none();
        while self.cycles < self.slice_end {
            let pc = self.cpu.pc;
            if pc >= self.rom_fetch_limit {
                self.step_once(rom, ahead);
                continue;
            }
            let place = Place::new(pc, self.rom_high);
            let owner = region.owner(place).filter(|_| self.can_run_native());
            if let Some(function) = owner {
                *ahead = Lookahead::default();
                if unknown {
                    crossings += 1;
                }
                unknown = false;
                match function.call(self, &rom) {
                    Exit::Again => {}
                    Exit::NoTime => {
                        self.run_plain(rom, ahead);
                        break;
                    }
                    Exit::Unknown => unknown = true,
                    Exit::Wait { jump, turn } => self.sit_out(rom, jump, turn, &mut waiting),
                }
                jumped = true;
                continue;
            }
            unknown = false;
            if jumped {
                region.profile.note_entry(place);
            }
            region.profile.note(place);
            interpreted += 1;
            let after = pc.wrapping_add(3);
            self.step_once(rom, ahead);
            jumped = !(pc..=after).contains(&self.cpu.pc);
        }
        if interpreted + crossings > 0 {
            region.profile.note_work(interpreted, crossings);
        }
    }

    /// Native code is at the top of a waiting loop. Turns are skipped after it has
    /// taken one since it last came here, which took `turn` cycles.
    fn sit_out(&mut self, rom: Code<'_>, jump: u16, turn: u16, begun: &mut Turn) {
        if begun.jump == jump && self.cycles == begun.started.wrapping_add(turn.into()) {
            self.finish_turn(begun);
            begun.started = u64::MAX;
        } else if let Some(wait) = self.wait_at(rom, jump) {
            self.begin_turn(wait, jump, begun);
        }
    }
}
