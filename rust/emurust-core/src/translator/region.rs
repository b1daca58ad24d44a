//! One translation of a cartridge, and running machines with it.

use std::sync::Arc;

use super::context::Context;
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
/// code is soon translated; when nothing new has come for a while, a good one
/// takes the place of the quick ones. Execution goes from function to function
/// at some cost; when it does so often, or they are many, one is made of all.
#[derive(Debug)]
pub(crate) struct Region {
    functions: Vec<Arc<NativeFunction>>,
    /// For each place the number of the function with a block there, from 1; else 0.
    owners: Box<[u8]>,
    profile: Arc<Profile>,
}

/// Which function to add to a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// A quick one, for what has been running and is not translated.
    New,
    /// A good one, for that and all that the quick ones hold, which go.
    Settled,
    /// A good one for everything, instead of all there are.
    Whole,
}

impl Region {
    pub(super) fn empty(profile: Arc<Profile>) -> Self {
        Self {
            functions: Vec::new(),
            owners: Box::default(),
            profile,
        }
    }

    /// This region with one more function, as `growth` says.
    pub(super) fn grown(
        &self,
        image: &[u8],
        waits: &WaitTable,
        growth: Growth,
    ) -> Result<Self, TranslatorError> {
        let (tier, keeps): (_, fn(&NativeFunction) -> bool) = match growth {
            Growth::New => (Tier::Quick, |_| true),
            Growth::Settled => (Tier::Good, |function| !function.is_quick()),
            Growth::Whole => (Tier::Good, |_| false),
        };
        let plan = Plan::new(image, &self.profile, |place| {
            self.owner(place).is_some_and(keeps)
        });
        let mut region = Self {
            functions: Vec::new(),
            owners: vec![0; places(image.len())].into_boxed_slice(),
            profile: Arc::clone(&self.profile),
        };
        for (index, function) in self.functions.iter().enumerate() {
            if keeps(function) {
                let number = region.add(Arc::clone(function));
                let owned = region.owners.iter_mut().zip(&self.owners);
                for (owner, _) in owned.filter(|&(_, &before)| usize::from(before) == index + 1) {
                    *owner = number;
                }
            }
        }
        if !plan.blocks.is_empty() {
            let function = NativeFunction::compile(&plan, image, waits, tier)?;
            let number = region.add(Arc::new(function));
            for block in &plan.blocks {
                region.owners[block.place.index()] = number;
            }
        }
        Ok(region)
    }

    /// Adds a function; its number.
    fn add(&mut self, function: Arc<NativeFunction>) -> u8 {
        self.functions.push(function);
        self.functions.len() as u8
    }

    /// Guest instructions translated.
    pub(super) fn instructions(&self) -> usize {
        self.functions
            .iter()
            .map(|function| function.instructions())
            .sum()
    }

    pub(super) fn has_quick_functions(&self) -> bool {
        self.functions.iter().any(|function| function.is_quick())
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
        // Execution came here by a jump, or because no function knew the place.
        let mut jumped = false;
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
                match self.call_native(rom, region, function, &mut crossings) {
                    Exit::Again | Exit::Unknown => {}
                    Exit::NoTime => {
                        self.run_plain(rom, ahead);
                        break;
                    }
                    Exit::Wait { jump, turn } => self.sit_out(rom, jump, turn, &mut waiting),
                }
                jumped = true;
                continue;
            }
            if jumped {
                region.profile.note_entry(place);
            }
            region.profile.note(place);
            interpreted += 1;
            let after = pc.wrapping_add(3);
            self.step_once(rom, ahead);
            jumped = !(pc..=after).contains(&self.cpu.pc);
        }
        let work = &mut self.native.work;
        work.steps += interpreted;
        work.crossings += crossings;
        work.tell(&region.profile);
    }

    /// Runs a native function from PC on, and others where it does not know the
    /// place but they do.
    #[inline]
    fn call_native(
        &mut self,
        rom: Code<'_>,
        region: &Region,
        first: &NativeFunction,
        crossings: &mut u32,
    ) -> Exit {
        Context::enter(self, &rom);
        let mut function = first;
        let exit = loop {
            let exit = function.call(self);
            let pc = self.cpu.pc;
            if exit != Exit::Unknown || pc >= self.rom_fetch_limit {
                break exit;
            }
            let Some(next) = region.owner(Place::new(pc, self.rom_high)) else {
                break exit;
            };
            *crossings += 1;
            function = next;
        };
        Context::finish(self);
        exit
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
