//! The place of one machine in a pool: runs the command in its control block and writes the
//! results into its rows of the arrays.
//!
//! Who may touch what: the trainer writes a control block and reads rows only while the machine
//! is idle; the worker that took the machine's number from a queue does so from then until it
//! puts the number into a queue of finished ones. The queues order the two.

#![expect(
    unsafe_code,
    reason = "rows are parts of arrays that several threads write side by side"
)]

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::layout::{Layout, CONTROL_LEN};
use crate::machine::{Inspect, Machine, Record, Shape, StartChoice, StepOutcome};
use crate::memory::Memory;
use crate::queue::Job;
use crate::seeds;

/// What a worker is to do with a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Command {
    /// Start the stream's next episode.
    Reset = 1,
    /// Take the action.
    Step,
    /// Put the state into the mailbox.
    Save,
    /// Put the rest of the state, from `argument`, into the mailbox.
    Fetch,
    /// Take a part of a state, `argument` bytes, from the mailbox.
    Store,
    /// Go on from the stored parts.
    Load,
    /// Become a copy of machine `argument`, which the same worker has.
    Fork,
    /// Put what `argument` says into the mailbox.
    Inspect,
    /// Take the stored parts as the start of later episodes; `argument` says what they are.
    SetStart,
    /// Make the machine anew.
    Make,
}

impl Command {
    #[cfg(unix)]
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        use Command::{Fetch, Fork, Inspect, Load, Make, Reset, Save, SetStart, Step, Store};
        [
            Reset, Step, Save, Fetch, Store, Load, Fork, Inspect, SetStart, Make,
        ]
        .into_iter()
        .find(|command| *command as u8 == number)
    }
}

/// How a command went.
pub(crate) const OUTCOME_DONE: u8 = 0;
/// It could not be carried out; the machine is as before.
pub(crate) const OUTCOME_REFUSED: u8 = 1;
/// The machine failed or panicked: it has to be made anew.
pub(crate) const OUTCOME_BROKEN: u8 = 2;

const AT_MESSAGE: usize = 40;
const MESSAGE_LEN: usize = CONTROL_LEN - AT_MESSAGE;

/// A machine's control block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Control<'m> {
    memory: &'m Memory,
    base: usize,
}

impl<'m> Control<'m> {
    pub(crate) fn new(memory: &'m Memory, layout: &Layout, machine: usize) -> Self {
        Self {
            memory,
            base: layout.control(machine),
        }
    }
    fn u32(self, offset: usize) -> &'m AtomicU32 {
        self.memory.u32(self.base + offset)
    }
    fn u64(self, offset: usize) -> &'m AtomicU64 {
        self.memory.u64(self.base + offset)
    }
    /// The machine's stream of random numbers.
    pub(crate) fn stream(self) -> &'m AtomicU64 {
        self.u64(0)
    }
    /// Number of the stream's next episode. Kept here, so that a worker started again after a
    /// loss repeats none.
    pub(crate) fn episode(self) -> &'m AtomicU64 {
        self.u64(8)
    }
    pub(crate) fn argument(self) -> &'m AtomicU64 {
        self.u64(16)
    }
    /// Length of what a command gave.
    pub(crate) fn result(self) -> &'m AtomicU64 {
        self.u64(24)
    }
    fn message_len(self) -> &'m AtomicU32 {
        self.u32(32)
    }

    /// Says why a command could not be carried out.
    pub(crate) fn set_message(self, message: &str) {
        // Cut at the room there is, between characters.
        let mut len = message.len().min(MESSAGE_LEN);
        while !message.is_char_boundary(len) {
            len -= 1;
        }
        let cells = self.memory.u8s(self.base + AT_MESSAGE, MESSAGE_LEN);
        for (cell, byte) in cells.iter().zip(message[..len].bytes()) {
            cell.store(byte, Relaxed);
        }
        self.message_len()
            .store(u32::try_from(len).unwrap_or(0), Relaxed);
    }

    pub(crate) fn message(self) -> String {
        let len = self.message_len().load(Relaxed) as usize;
        let bytes: Vec<u8> = self
            .memory
            .u8s(self.base + AT_MESSAGE, len.min(MESSAGE_LEN))
            .iter()
            .map(|cell| cell.load(Relaxed))
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Where the arrays of all machines begin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrayPointers {
    pub(crate) observations: *mut u8,
    pub(crate) rewards: *mut f32,
    pub(crate) terminations: *mut u8,
    pub(crate) truncations: *mut u8,
    pub(crate) infos: *mut f32,
    pub(crate) watch: *mut u8,
    pub(crate) finals: Option<FinalPointers>,
}

/// The same for ended episodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FinalPointers {
    pub(crate) observations: *mut u8,
    pub(crate) infos: *mut f32,
    pub(crate) watch: *mut u8,
}

impl ArrayPointers {
    /// The arrays inside the block.
    pub(crate) fn inside(memory: &Memory, layout: &Layout) -> Self {
        let machines = layout.parameters.machines;
        let shape = layout.parameters.shape;
        let bytes = |offset, size: usize| memory.pointer(offset, machines * size);
        Self {
            observations: bytes(layout.observations, shape.observation_len),
            rewards: bytes(layout.rewards, 4).cast(),
            terminations: bytes(layout.terminations, 1),
            truncations: bytes(layout.truncations, 1),
            infos: bytes(layout.infos, shape.info_len * 4).cast(),
            watch: bytes(layout.watch, shape.watch_len),
            finals: layout.parameters.same_step.then(|| FinalPointers {
                observations: bytes(layout.final_observations, shape.observation_len),
                infos: bytes(layout.final_infos, shape.info_len * 4).cast(),
                watch: bytes(layout.final_watch, shape.watch_len),
            }),
        }
    }
}

/// One machine's rows.
#[derive(Debug)]
struct Rows {
    arrays: ArrayPointers,
    index: usize,
    shape: Shape,
}

// SAFETY: a `Rows` is the only way to its machine's rows (promised to `Slot::new`), so moving it
// to another thread moves the right to them.
unsafe impl Send for Rows {}

impl Rows {
    fn record(&mut self) -> Record<'_> {
        let Shape {
            observation_len,
            info_len,
            watch_len,
            ..
        } = self.shape;
        // SAFETY: the arrays have a row of this length for every machine, live as long as this
        // value and hold plain numbers (promised to `Slot::new`). The rows of different machines
        // do not overlap, nothing else makes references to this machine's, and `&mut self` lets
        // nobody else do so meanwhile. Readers in Python look only at idle machines.
        unsafe {
            let row = |base: *mut u8, len: usize| {
                std::slice::from_raw_parts_mut(base.add(self.index * len), len)
            };
            Record {
                observation: row(self.arrays.observations, observation_len),
                info: std::slice::from_raw_parts_mut(
                    self.arrays.infos.add(self.index * info_len),
                    info_len,
                ),
                watch: row(self.arrays.watch, watch_len),
            }
        }
    }

    fn set_outcome(&mut self, outcome: StepOutcome) {
        // SAFETY: as in `record`.
        unsafe {
            *self.arrays.rewards.add(self.index) = outcome.reward;
            *self.arrays.terminations.add(self.index) = u8::from(outcome.terminated);
            *self.arrays.truncations.add(self.index) = u8::from(outcome.truncated);
        }
    }

    fn outcome(&self) -> StepOutcome {
        // SAFETY: as in `record`.
        unsafe {
            StepOutcome {
                reward: *self.arrays.rewards.add(self.index),
                terminated: *self.arrays.terminations.add(self.index) != 0,
                truncated: *self.arrays.truncations.add(self.index) != 0,
            }
        }
    }

    /// Keeps the record as the final one of the episode that it ends.
    fn keep_final(&mut self) {
        let Some(finals) = self.arrays.finals else {
            return;
        };
        let (index, shape) = (self.index, self.shape);
        let record = self.record();
        // SAFETY: as in `record`; the final rows are apart from the others.
        unsafe {
            finals
                .observations
                .add(index * shape.observation_len)
                .copy_from_nonoverlapping(record.observation.as_ptr(), shape.observation_len);
            finals
                .infos
                .add(index * shape.info_len)
                .copy_from_nonoverlapping(record.info.as_ptr(), shape.info_len);
            finals
                .watch
                .add(index * shape.watch_len)
                .copy_from_nonoverlapping(record.watch.as_ptr(), shape.watch_len);
        }
    }
}

/// First bytes of a slot's saved state.
const STATE_MAGIC: [u8; 8] = *b"EMURSLT1";

/// One machine and where it writes.
pub(crate) struct Slot {
    machine: Box<dyn Machine>,
    rows: Rows,
    same_step: bool,
    next_step: bool,
    /// The episode is over and the next step begins another.
    over: bool,
}

impl Slot {
    /// # Safety
    /// `arrays` must point to arrays with a row of the shape's length (one number for rewards,
    /// terminations and truncations) for machine `index`, aligned, initialised, and alive as long
    /// as the slot; no other slot has the same index on the same arrays.
    pub(crate) unsafe fn new(
        machine: Box<dyn Machine>,
        arrays: ArrayPointers,
        index: usize,
        layout: &Layout,
    ) -> Self {
        let parameters = &layout.parameters;
        Self {
            machine,
            rows: Rows {
                arrays,
                index,
                shape: parameters.shape,
            },
            same_step: parameters.same_step,
            next_step: parameters.next_step,
            over: false,
        }
    }

    /// Puts another machine here.
    pub(crate) fn replace(&mut self, machine: Box<dyn Machine>) {
        self.machine = machine;
        self.over = false;
    }

    /// Carries out [`Command::Step`] or else [`Command::Reset`]: how it went. Never panics.
    pub(crate) fn run(&mut self, control: Control<'_>, job: Job) -> u8 {
        let ran = catch_unwind(AssertUnwindSafe(|| {
            if job.command() == Command::Step as u8 {
                self.step(control, job.action())
            } else {
                self.reset(control)?;
                Ok(StepOutcome::default())
            }
        }));
        let (outcome, problem) = match ran {
            Ok(Ok(outcome)) => (outcome, None),
            Ok(Err(message)) => (StepOutcome::default(), Some(message)),
            Err(panic) => (StepOutcome::default(), Some(panic_message(&*panic))),
        };
        self.rows.set_outcome(outcome);
        match problem {
            None => OUTCOME_DONE,
            Some(message) => {
                control.set_message(&message);
                OUTCOME_BROKEN
            }
        }
    }

    fn reset(&mut self, control: Control<'_>) -> Result<(), String> {
        let episode = control.episode().fetch_add(1, Relaxed);
        let seed = seeds::episode_seed(control.stream().load(Relaxed), episode);
        self.over = false;
        self.machine.reset(seed, self.rows.record())
    }

    fn step(&mut self, control: Control<'_>, action: u32) -> Result<StepOutcome, String> {
        if self.over && self.next_step {
            self.reset(control)?;
            return Ok(StepOutcome::default());
        }
        let outcome = self.machine.step(action, self.rows.record());
        if outcome.terminated || outcome.truncated {
            if self.same_step {
                self.rows.keep_final();
                self.reset(control)?;
            } else {
                self.over = true;
            }
        }
        Ok(outcome)
    }

    /// Appends the machine's state together with what the agent last saw of it.
    pub(crate) fn save(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&STATE_MAGIC);
        let at_len = out.len();
        out.extend_from_slice(&[0; 8]);
        self.machine.save(out);
        let machine_len = (out.len() - at_len - 8) as u64;
        out[at_len..at_len + 8].copy_from_slice(&machine_len.to_le_bytes());
        out.push(u8::from(self.over));
        let outcome = self.rows.outcome();
        out.extend_from_slice(&outcome.reward.to_le_bytes());
        out.push(u8::from(outcome.terminated));
        out.push(u8::from(outcome.truncated));
        let record = self.rows.record();
        out.extend_from_slice(record.observation);
        for value in record.info {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(record.watch);
    }

    /// Goes on from what [`Slot::save`] gave. On error nothing has changed.
    pub(crate) fn load(&mut self, state: &[u8]) -> Result<(), String> {
        let shape = self.rows.shape;
        let rest = state.strip_prefix(&STATE_MAGIC).ok_or(
            "these are no bytes from get_state (they do not start with the signature of a pool's \
             machine)",
        )?;
        let cut = || "the state is truncated or damaged".to_owned();
        let (machine_len, rest) = rest.split_first_chunk().ok_or_else(cut)?;
        let machine_len = usize::try_from(u64::from_le_bytes(*machine_len)).map_err(|_| cut())?;
        let (machine, rest) = rest.split_at_checked(machine_len).ok_or_else(cut)?;
        let ([over, reward @ .., terminated, truncated], rest) =
            rest.split_first_chunk::<7>().ok_or_else(cut)?;
        let reward: [u8; 4] = *reward;
        let expected = shape.observation_len + shape.info_len * 4 + shape.watch_len;
        if rest.len() != expected {
            return Err(format!(
                "the state has {} bytes of observation, info and watched RAM, this pool's have \
                 {expected}: it is truncated, or from a pool with another task or observation",
                rest.len()
            ));
        }
        self.machine.load(machine)?;
        self.over = *over != 0;
        self.rows.set_outcome(StepOutcome {
            reward: f32::from_le_bytes(reward),
            terminated: *terminated != 0,
            truncated: *truncated != 0,
        });
        let record = self.rows.record();
        let (observation, rest) = rest.split_at(shape.observation_len);
        let (info, watch) = rest.split_at(shape.info_len * 4);
        record.observation.copy_from_slice(observation);
        for (value, bytes) in record.info.iter_mut().zip(info.chunks_exact(4)) {
            *value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        record.watch.copy_from_slice(watch);
        Ok(())
    }

    /// Becomes a copy of another slot, with what the agent last saw of it.
    pub(crate) fn copy_from(&mut self, source: &mut Self) -> Result<(), String> {
        self.machine.copy_from(&*source.machine)?;
        self.over = source.over;
        self.rows.set_outcome(source.rows.outcome());
        let from = source.rows.record();
        let to = self.rows.record();
        to.observation.copy_from_slice(from.observation);
        to.info.copy_from_slice(from.info);
        to.watch.copy_from_slice(from.watch);
        Ok(())
    }

    pub(crate) fn set_start(&mut self, start: StartChoice<'_>) -> Result<(), String> {
        self.machine.set_start(start)
    }

    pub(crate) fn inspect(&self, what: Inspect, out: &mut [u8]) {
        self.machine.inspect(what, out);
    }
}

/// Runs something of a machine's other than a step; a panic becomes a message.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panic_message(&*panic)))
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let cause = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown cause");
    format!("its program panicked ({cause}); call recover() to make it anew")
}
