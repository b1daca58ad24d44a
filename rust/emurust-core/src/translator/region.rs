//! One translation of a cartridge, and running machines with it.

use std::sync::Arc;

use super::context::Context;
use super::exit::Exit;
use super::idle::Look;
use super::native::{NativeFunction, Tier, TranslatorError};
use super::plan::{places, Place, Plan, HOT};
use super::profile::Profile;
use crate::cpu::interpreter::Lookahead;
use crate::machine::Machine;
use crate::rom::Code;
use crate::scheduler::Turn;
use crate::waiting::WaitTable;

/// Of so many changes between functions one counts as a look: they are what makes
/// a block slow that is rarely found running.
const CROSSINGS_NOTED: u32 = 16;

/// Native functions that together are the translation of a cartridge.
///
/// A new function holds what the others do not and is made quickly, so that new
/// code is soon translated. Machines look at random moments where they are: when
/// that is often in quick code, all is made anew, first and well where nearly all
/// the time is spent, then and quickly elsewhere. Execution goes from function to
/// function at some cost; when it does so often, all is made anew, too.
#[derive(Debug)]
pub(crate) struct Region {
    functions: Vec<Arc<NativeFunction>>,
    /// For each place the number of the function with a block there, from 1; else 0.
    owners: Box<[u8]>,
    profile: Arc<Profile>,
}

/// How to change a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// A quick function for what has been running and is not translated.
    New,
    /// A good function for what is hot, wherever it was before.
    Hot,
    /// After that, one quick function for the rest, instead of all others.
    Rest,
    /// One function for everything that was ever running, instead of all others; a
    /// good one in steps, too: for tests.
    Everything(Tier),
}

impl Region {
    pub(super) fn empty(profile: Arc<Profile>) -> Self {
        Self {
            functions: Vec::new(),
            owners: Box::default(),
            profile,
        }
    }

    /// This region after a change; none if there is nothing new.
    pub(super) fn grown(
        &self,
        image: &[u8],
        waits: &WaitTable,
        growth: Growth,
    ) -> Result<Option<Self>, TranslatorError> {
        match growth {
            Growth::New => self.with_new(image, waits),
            Growth::Hot => self.with_hot(image, waits).map(Some),
            Growth::Rest => self.with_rest(image, waits).map(Some),
            Growth::Everything(tier) => self.with_everything(image, waits, tier).map(Some),
        }
    }

    fn with_new(&self, image: &[u8], waits: &WaitTable) -> Result<Option<Self>, TranslatorError> {
        let is_translated = |place: Place| self.owner(place.index()).is_some();
        let new = Plan::new(image, &self.profile, HOT, is_translated);
        if new.blocks.is_empty() {
            return Ok(None);
        }
        // Functions that are not much larger become part of the new one: there are
        // few in the end, and each instruction is translated a few times at most.
        let mut quick: Vec<usize> = self
            .functions
            .iter()
            .filter(|function| function.is_quick())
            .map(|function| function.instructions())
            .collect();
        quick.sort_unstable();
        let mut size = new.instructions();
        for instructions in quick {
            if instructions <= 2 * size {
                size += instructions;
            }
        }
        let keeps =
            |function: &NativeFunction| !function.is_quick() || function.instructions() > size;
        let plan = Plan::new(image, &self.profile, HOT, |place| {
            self.owner(place.index()).is_some_and(keeps)
        });
        let mut region = self.with_functions(image, keeps);
        region.translate(&plan, image, waits, Tier::Quick)?;
        Ok(Some(region))
    }

    fn with_hot(&self, image: &[u8], waits: &WaitTable) -> Result<Self, TranslatorError> {
        let hot = Plan::new(image, &self.profile, HOT, |_| false).only_hot(&self.profile, waits);
        let mut region = self.with_functions(image, |_| true);
        region.translate(&hot, image, waits, Tier::Good)?;
        self.profile.cool();
        Ok(region)
    }

    fn with_rest(&self, image: &[u8], waits: &WaitTable) -> Result<Self, TranslatorError> {
        let newest = self.functions.last().map(Arc::as_ptr);
        let keeps = |function: &NativeFunction| newest == Some(std::ptr::from_ref(function));
        let rest = Plan::new(image, &self.profile, HOT, |place| {
            self.owner(place.index()).is_some_and(keeps)
        });
        let mut region = self.with_functions(image, keeps);
        region.translate(&rest, image, waits, Tier::Quick)?;
        Ok(region)
    }

    fn with_everything(
        &self,
        image: &[u8],
        waits: &WaitTable,
        tier: Tier,
    ) -> Result<Self, TranslatorError> {
        let mut plan = Plan::new(image, &self.profile, 1, |_| false);
        if tier == Tier::Good {
            plan.add_paths(&self.profile, waits, 0);
            plan.add_steps(&self.profile, 0);
        }
        let mut region = self.with_functions(image, |_| false);
        region.translate(&plan, image, waits, tier)?;
        Ok(region)
    }

    /// A region with some of the functions.
    fn with_functions(&self, image: &[u8], keeps: impl Fn(&NativeFunction) -> bool) -> Self {
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
        region
    }

    /// Adds a function for the blocks of a plan, if it has any.
    fn translate(
        &mut self,
        plan: &Plan,
        image: &[u8],
        waits: &WaitTable,
        tier: Tier,
    ) -> Result<(), TranslatorError> {
        if plan.blocks.is_empty() {
            return Ok(());
        }
        let function = NativeFunction::compile(plan, image, waits, tier)?;
        let number = self.add(Arc::new(function));
        for block in &plan.blocks {
            self.owners[block.place.index()] = number;
        }
        Ok(())
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

    /// Guest instructions of the function that was made last.
    pub(super) fn newest_instructions(&self) -> usize {
        let newest = self.functions.last();
        newest.map_or(0, |function| function.instructions())
    }

    pub(super) fn functions(&self) -> usize {
        self.functions.len()
    }

    /// The function with a block at a place, by its number.
    #[inline]
    fn owner(&self, index: usize) -> Option<&NativeFunction> {
        let number = usize::from(*self.owners.get(index)?);
        self.functions.get(number.wrapping_sub(1)).map(Arc::as_ref)
    }
}

impl Machine {
    /// The native function for PC. None if code does not come from where the plan
    /// supposed it, or DMA is under way, which accesses advance.
    #[inline]
    fn native_function<'r>(&self, region: &'r Region) -> Option<&'r NativeFunction> {
        let pc = self.cpu.pc;
        // Nothing is fetched from the image while the boot ROM is mapped.
        if pc >= self.rom_fetch_limit || self.rom_low != 0 || self.dma.active {
            return None;
        }
        region.owner(Place::index_of(pc, self.rom_high))
    }

    /// As `run_plain`, with native code where there is any, and for as many slices as
    /// follow each other.
    #[inline(never)]
    pub(crate) fn run_native(&mut self, rom: Code<'_>, region: &Region, ahead: &mut Lookahead) {
        Context::prepare(self, &rom);
        // Execution came here by a jump, or because no function knew the place.
        let mut jumped = false;
        let mut waiting = Turn::none();
        let mut look = Look::none();
        loop {
            while self.cycles < self.slice_end {
                let Some(function) = self.native_function(region) else {
                    self.end_look(&mut look);
                    self.interpret_one(rom, region, ahead, &mut jumped);
                    continue;
                };
                *ahead = Lookahead::default();
                jumped = true;
                let exit = self.call_native(&rom, region, function);
                if let Some(head) = exit.head() {
                    self.look_at_head(head, &mut look);
                    continue;
                }
                if let Some((jump, turn)) = exit.waiting_loop() {
                    self.sit_out(rom, jump, turn, &mut waiting);
                    if !waiting.is_countdown() {
                        self.end_look(&mut look);
                    }
                    continue;
                }
                self.end_look(&mut look);
                if exit == Exit::NO_TIME {
                    self.look_or_finish(rom, region, ahead);
                }
            }
            self.end_look(&mut look);
            if !self.next_slice_follows(rom) {
                break;
            }
            *ahead = Lookahead::default();
            jumped = false;
            waiting = Turn::none();
        }
        self.native.work.tell(&region.profile);
    }

    /// Executes an instruction of which there is no translation, and tells the profile.
    fn interpret_one(
        &mut self,
        rom: Code<'_>,
        region: &Region,
        ahead: &mut Lookahead,
        jumped: &mut bool,
    ) {
        let pc = self.cpu.pc;
        if pc >= self.rom_fetch_limit {
            if pc >= 0xFF80 && self.sit_out_transfer(rom) {
                *ahead = Lookahead::default();
                return;
            }
            return self.step_once(rom, ahead);
        }
        let place = Place::new(pc, self.rom_high);
        if *jumped {
            region.profile.note_entry(place);
        }
        region.profile.note(place);
        self.native.work.steps += 1;
        let after = pc.wrapping_add(3);
        self.step_once(rom, ahead);
        *jumped = !(pc..=after).contains(&self.cpu.pc);
    }

    /// Runs a native function from PC on, and others where it does not know the
    /// place but they do, to the end of the slice or to the next look at most.
    #[inline]
    fn call_native(&mut self, rom: &Code<'_>, region: &Region, first: &NativeFunction) -> Exit {
        let work = &self.native.work;
        Context::enter(self, rom, self.slice_end.min(work.look_at(self.cycles)));
        let before = self.cycles;
        let mut function = first;
        let exit = loop {
            let exit = function.call(self);
            if exit != Exit::UNKNOWN {
                break exit;
            }
            let Some(next) = self.native_function(region) else {
                break exit;
            };
            self.note_crossing(region);
            function = next;
        };
        Context::finish(self);
        self.native.work.until_look -= (self.cycles - before) as i64;
        exit
    }

    /// Execution goes from one native function to another.
    fn note_crossing(&mut self, region: &Region) {
        let work = &mut self.native.work;
        work.crossings += 1;
        if work.crossings.is_multiple_of(CROSSINGS_NOTED) {
            let place = Place::new(self.cpu.pc, self.rom_high);
            region.profile.note_heat(place);
        }
    }

    /// The next block does not fit: because it is time for a look, or into the slice.
    #[inline(never)]
    fn look_or_finish(&mut self, rom: Code<'_>, region: &Region, ahead: &mut Lookahead) {
        if self.cycles >= self.slice_end {
            return;
        }
        let place = Place::new(self.cpu.pc, self.rom_high);
        if self.native.end_is_before(self.slice_end) {
            region.profile.note_heat(place);
            let is_quick = region
                .owner(place.index())
                .is_some_and(NativeFunction::is_quick);
            self.native.work.note_look(is_quick);
        } else {
            region.profile.note_cut(place);
            self.run_plain(rom, ahead);
        }
    }

    /// Native code is at the top of a waiting loop, after some turns. More are skipped
    /// after it has taken one since it last came here, which took `turn` cycles.
    fn sit_out(&mut self, rom: Code<'_>, jump: u16, turn: u16, begun: &mut Turn) {
        let mut begins = false;
        if begun.jump == jump && self.cycles == begun.started.wrapping_add(turn.into()) {
            self.finish_turn(begun);
            begun.started = u64::MAX;
        } else if let Some(wait) = self.wait_at(rom, jump) {
            begun.wait = wait;
            begins = self.begin_turn(wait, jump, begun);
        }
        self.native.await_turn(begins, turn);
    }
}
