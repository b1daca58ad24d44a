//! The loop of a worker process: no Python, no pickling, only the shared block.

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::time::Duration;

use crate::error::PoolError;
use crate::idle::{self, Reporter};
use crate::layout::{Layout, Shared};
use crate::machine::{Inspect, StartChoice};
use crate::memory::Memory;
use crate::queue::Job;
use crate::recipe::Recipe;
use crate::signal;
use crate::slot::{
    guarded, ArrayPointers, Command, Control, Slot, OUTCOME_BROKEN, OUTCOME_DONE, OUTCOME_REFUSED,
};

/// A worker that makes its machines.
pub(crate) const STATUS_STARTING: u32 = 0;
/// A worker that works.
pub(crate) const STATUS_READY: u32 = 1;
/// A worker that could not start; its mailbox says why.
pub(crate) const STATUS_FAILED: u32 = 2;

/// How soon a worker notices that its trainer is gone.
const TRAINER_LOOK: Duration = Duration::from_millis(200);

/// Kinds of start in the argument of [`Command::SetStart`].
pub(crate) const START_USUAL: u64 = 0;
pub(crate) const START_NAME: u64 = 1;
pub(crate) const START_STATE: u64 = 2;
/// What to look at, in the argument of [`Command::Inspect`].
pub(crate) const INSPECT_RAM: u64 = 0;
pub(crate) const INSPECT_SCREEN: u64 = 1;
/// In the argument of [`Command::Store`]: the first part of a state.
pub(crate) const STORE_FIRST: u64 = 1 << 63;

/// Serves as one worker of the pool whose block is this process's standard input, until the pool
/// is closed or the process `trainer`, which started this one, is gone.
///
/// # Errors
/// The block cannot be read, or the machines cannot be made.
pub fn run_worker(worker: usize, trainer: u32) -> Result<(), PoolError> {
    end_with(trainer);
    let block = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map(File::from)
        .and_then(|file| Memory::open(&file));
    let memory = block.map_err(|error| PoolError::Segment(format!("cannot be mapped: {error}")))?;
    let layout = Layout::read_header(&memory).map_err(PoolError::Segment)?;
    if worker >= layout.parameters.workers {
        return Err(PoolError::Segment(format!("has no worker {worker}")));
    }
    let shared = Shared { memory, layout };
    match Worker::new(&shared, worker) {
        Ok(mut worker) => {
            worker.announce(STATUS_READY);
            worker.serve();
            Ok(())
        }
        Err(error) => {
            let message = error.to_string();
            let room = shared.layout.parameters.mailbox_len;
            let bytes = &message.as_bytes()[..message.len().min(room)];
            shared.memory.store(shared.layout.mailbox(worker), bytes);
            shared
                .failure_len(worker)
                .store(u32::try_from(bytes.len()).unwrap_or(0), Relaxed);
            shared.status(worker).store(STATUS_FAILED, Release);
            signal::wake(shared.status(worker));
            Err(error)
        }
    }
}

/// Ends this process when the trainer is gone, whatever it is doing.
///
/// Linux can send a signal at the parent's death, but does so when the *thread* that started
/// the child ends, and pools are made in threads that end. A pipe would be kept open by
/// processes forked from the trainer. The parent's number changes at its death and only then.
fn end_with(trainer: u32) {
    std::thread::spawn(move || {
        let trainer = i32::try_from(trainer).unwrap_or(0);
        loop {
            let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
            if parent != trainer {
                std::process::exit(1);
            }
            std::thread::sleep(TRAINER_LOOK);
        }
    });
}

struct Worker<'m> {
    shared: &'m Shared,
    index: usize,
    recipe: Recipe,
    first: usize,
    slots: Vec<Slot>,
    /// A state on its way, in parts that fit the mailbox.
    transfer: Vec<u8>,
}

impl<'m> Worker<'m> {
    #[expect(unsafe_code, reason = "slots get the arrays of the shared block")]
    fn new(shared: &'m Shared, index: usize) -> Result<Self, PoolError> {
        let layout = &shared.layout;
        let mut recipe = vec![0; layout.parameters.recipe_len];
        shared.memory.fetch(layout.recipe, &mut recipe);
        let recipe = Recipe::decode(&recipe)?;
        if recipe.machines() != layout.parameters.machines
            || recipe.shape() != layout.parameters.shape
        {
            return Err(PoolError::Segment(
                "has a recipe for other machines than its header says".to_owned(),
            ));
        }
        let arrays = ArrayPointers::inside(&shared.memory, layout);
        let range = layout.range(index);
        let mut slots = Vec::with_capacity(range.len());
        for machine in range.clone() {
            let made = recipe.make(machine)?;
            // SAFETY: the arrays are inside the block, which lives as long as this worker, and
            // were zeroed when it was made. Ranges of workers do not overlap.
            slots.push(unsafe { Slot::new(made, arrays, machine, layout) });
        }
        Ok(Self {
            shared,
            index,
            recipe,
            first: range.start,
            slots,
            transfer: Vec::new(),
        })
    }

    fn announce(&self, status: u32) {
        self.shared.status(self.index).store(status, Release);
        signal::wake(self.shared.status(self.index));
    }

    fn serve(&mut self) {
        let shared = self.shared;
        let jobs = shared.jobs(self.index);
        let done = shared.done(self.index);
        // One more than the workers: the trainer.
        let spin = signal::spin_time(shared.layout.parameters.workers + 1);
        let stopping = || shared.stop().load(SeqCst) != 0;
        let mut reporter = Reporter::new();
        while !stopping() {
            if let Some(job) = jobs.pop() {
                let outcome = self.work(job);
                done.push(job.machine(), outcome);
                reporter.add(shared);
            } else {
                reporter.flush(shared);
                idle::wait_for_call(shared, self.index, spin, || stopping() || !jobs.is_empty());
            }
        }
    }

    fn work(&mut self, job: Job) -> u8 {
        let shared = self.shared;
        let machine = job.machine() as usize;
        let control = Control::new(&shared.memory, &shared.layout, machine);
        let command = Command::from_number(job.command());
        if let Some(Command::Reset | Command::Step) = command {
            return self.slots[machine - self.first].run(control, job);
        }
        let went = guarded(|| match command {
            Some(command) => self.handle(command, machine, control),
            None => Err("there is no such command".to_owned()),
        });
        match went {
            Ok(()) => OUTCOME_DONE,
            Err(message) => {
                control.set_message(&message);
                if command == Some(Command::Make) {
                    OUTCOME_BROKEN
                } else {
                    OUTCOME_REFUSED
                }
            }
        }
    }

    fn handle(
        &mut self,
        command: Command,
        machine: usize,
        control: Control<'_>,
    ) -> Result<(), String> {
        let slot = machine - self.first;
        let argument = control.argument().load(Relaxed);
        match command {
            Command::Reset | Command::Step => {}
            Command::Save => {
                self.transfer.clear();
                self.slots[slot].save(&mut self.transfer);
                control.result().store(self.transfer.len() as u64, Relaxed);
                self.post(0);
            }
            Command::Fetch => self.post(usize::try_from(argument).unwrap_or(usize::MAX)),
            Command::Store => self.collect(argument),
            Command::Load => self.slots[slot].load(&self.transfer)?,
            Command::Fork => {
                let source = usize::try_from(argument).unwrap_or(usize::MAX) - self.first;
                let (low, high) = (slot.min(source), slot.max(source));
                let (below, above) = self.slots.split_at_mut(high);
                let (low, high) = (&mut below[low], &mut above[0]);
                if source < slot {
                    high.copy_from(low)?;
                } else {
                    low.copy_from(high)?;
                }
            }
            Command::Inspect => {
                let shape = self.shared.layout.parameters.shape;
                let (what, len) = if argument == INSPECT_RAM {
                    (Inspect::Ram, shape.ram_len)
                } else {
                    (Inspect::Screen, shape.screen_len)
                };
                self.transfer.resize(len, 0);
                self.slots[slot].inspect(what, &mut self.transfer);
                self.post(0);
            }
            Command::SetStart => {
                let start = match argument {
                    START_NAME => StartChoice::Name(
                        std::str::from_utf8(&self.transfer).map_err(|e| e.to_string())?,
                    ),
                    START_STATE => StartChoice::State(&self.transfer),
                    _ => StartChoice::Usual,
                };
                self.slots[slot].set_start(start)?;
            }
            Command::Make => {
                let made = self.recipe.make(machine).map_err(|e| e.to_string())?;
                self.slots[slot].replace(made);
            }
        }
        Ok(())
    }

    /// Puts what fits of the transfer, from `offset`, into the mailbox.
    fn post(&self, offset: usize) {
        let rest = self.transfer.get(offset..).unwrap_or_default();
        let part = &rest[..rest.len().min(self.shared.layout.parameters.mailbox_len)];
        self.shared
            .memory
            .store(self.shared.layout.mailbox(self.index), part);
    }

    /// Adds what is in the mailbox to the transfer.
    fn collect(&mut self, argument: u64) {
        if argument & STORE_FIRST != 0 {
            self.transfer.clear();
        }
        let len = usize::try_from(argument & !STORE_FIRST).unwrap_or(0);
        let at = self.transfer.len();
        self.transfer.resize(at + len, 0);
        self.shared.memory.fetch(
            self.shared.layout.mailbox(self.index),
            &mut self.transfer[at..],
        );
    }
}
