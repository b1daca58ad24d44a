//! The pool as its users see it: checks, bookkeeping, and nothing about how work is spread.
//!
//! Every machine is idle, sent (a command is under way) or ready (its result has not been
//! received). A call that waits is in three parts, so that its caller can look for signals
//! meanwhile: `begin_…` hands out work, [`Pool::poll`] waits a moment, `finish_…` takes results.

use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::desk::{Desk, State};
use crate::error::PoolError;
use crate::idle;
use crate::layout::{Layout, Parameters, Shared};
use crate::machine::{Inspect, Shape, StartChoice};
use crate::memory::Memory;
#[cfg(unix)]
use crate::processes::{self, Processes, WorkerProgram};
use crate::queue::{Job, MOST_ACTIONS};
use crate::recipe::Recipe;
use crate::seeds;
use crate::slot::{ArrayPointers, Command, Control};
use crate::threads::{private_block, Threads};
use crate::workers::Workers;

/// How machines whose episode is over go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Autoreset {
    /// The step that ends an episode begins the next: its observation is the new episode's first,
    /// the old one's last is kept as the final observation.
    #[default]
    SameStep,
    /// The step after begins the next episode and ignores its action.
    NextStep,
    /// Only a reset begins an episode.
    Disabled,
}

/// Who runs the machines.
#[derive(Debug, Clone)]
pub enum Backend {
    /// Threads of this process.
    Threads(
        /// How many, the calling thread included; `None`: as many as there are cores.
        Option<usize>,
    ),
    /// Other processes.
    #[cfg(unix)]
    Processes(
        /// How many; `None`: as many as there are cores.
        Option<usize>,
        /// What they run.
        WorkerProgram,
    ),
}

/// How to make a pool.
#[derive(Debug, Clone)]
pub struct PoolOptions {
    /// Who runs the machines.
    pub backend: Backend,
    /// Results that one receive gives; `None`: those of all machines.
    pub batch_size: Option<usize>,
    /// What happens at an episode's end.
    pub autoreset: Autoreset,
    /// Number of the first machine among all machines of a run.
    pub first_index: u64,
}

/// Arrays of the caller that results are written to.
#[derive(Debug, Clone, Copy)]
pub struct Buffers {
    observations: *mut u8,
    rewards: *mut f32,
    terminations: *mut u8,
    truncations: *mut u8,
}

#[expect(unsafe_code, reason = "the caller's memory is taken as pointers")]
// SAFETY: whoever makes a `Buffers` promises that the memory may be written by the pool's
// threads; see `Buffers::new`.
unsafe impl Send for Buffers {}

#[expect(unsafe_code, reason = "the caller's memory is taken as pointers")]
// SAFETY: a shared `Buffers` gives nobody access to the memory.
unsafe impl Sync for Buffers {}

impl Buffers {
    /// # Safety
    /// Each must point to one row per machine of the pool (of `observation_len` bytes, or one
    /// number), aligned, initialised and writeable, and stay so until the pool is dropped; nobody
    /// may look at a machine's rows while it is being run.
    #[expect(unsafe_code, reason = "the caller's memory is taken as pointers")]
    #[must_use]
    pub const unsafe fn new(
        observations: *mut u8,
        rewards: *mut f32,
        terminations: *mut u8,
        truncations: *mut u8,
    ) -> Self {
        Self {
            observations,
            rewards,
            terminations,
            truncations,
        }
    }
}

/// What a pool's users read, as pointers to arrays of `rows` rows. They are valid while the
/// [`Memory`] that comes with them is (for buffers of the caller: while those are).
#[derive(Debug, Clone, Copy)]
pub struct Arrays {
    /// Number of rows.
    pub rows: usize,
    /// `observation_len` bytes each.
    pub observations: *mut u8,
    /// One `f32` each.
    pub rewards: *mut f32,
    /// 0 or 1.
    pub terminations: *mut u8,
    /// 0 or 1.
    pub truncations: *mut u8,
    /// `info_len` `f32` each.
    pub infos: *mut f32,
    /// `watch_len` bytes each.
    pub watch: *mut u8,
    /// 1: the machine was lost and made anew.
    pub lost: *mut u8,
    /// Of the episode that this step ended, with same-step reset: observation, infos, watch.
    pub finals: Option<(*mut u8, *mut f32, *mut u8)>,
}

/// Whether to wait on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// What was waited for is there.
    Ready,
    /// It is not yet.
    Waiting,
}

#[derive(Debug, Clone)]
enum OwnedStart {
    Name(String),
    State(Vec<u8>),
}

impl OwnedStart {
    fn choice(&self) -> StartChoice<'_> {
        match self {
            OwnedStart::Name(name) => StartChoice::Name(name),
            OwnedStart::State(state) => StartChoice::State(state),
        }
    }
}

/// Results of a part of the machines, copied together.
struct Batch {
    memory: Arc<Memory>,
    pointers: Arrays,
}

/// Where random streams begin.
#[derive(Debug, Clone, Copy)]
pub enum Seeding<'a> {
    /// Every machine goes on with its stream.
    Continue,
    /// Machines get the streams of their global numbers under one seed.
    One(u64),
    /// Each machine that is reset gets the first stream of its own seed, as if alone in a pool.
    Each(&'a [u64]),
}

/// Many machines.
pub struct Pool {
    // Dropped first: workers write into what follows.
    workers: Box<dyn Workers>,
    shared: Arc<Shared>,
    desk: Desk,
    recipe: Arc<Recipe>,
    inside: ArrayPointers,
    external: Option<Buffers>,
    batch: Option<Batch>,
    options: PoolOptions,
    batch_size: usize,
    submission: Vec<Job>,
    received: Vec<u32>,
    starts: Vec<Option<Arc<OwnedStart>>>,
    /// Machines whose loss their next result is to report.
    loss_to_report: Vec<bool>,
    begun: Vec<bool>,
    caller_helps: bool,
    /// Results that the present wait is for.
    wanted: Wanted,
    owner: u32,
    closed: bool,
    last_look: Instant,
    /// A loss that no call has told of.
    untold_loss: Option<PoolError>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// All that were sent.
    All,
    /// So many.
    Some(usize),
    /// Those that are being recovered.
    Recovered,
}

#[expect(
    unsafe_code,
    reason = "the pool holds pointers into memory that it keeps alive"
)]
// SAFETY: the pointers are to the pool's own block and batch, which it keeps alive, and to
// buffers that may be used from any thread (promised to `Buffers::new`). Whoever has the pool
// is the trainer, one thread at a time.
unsafe impl Send for Pool {}

/// How long a wait sleeps before it looks whether the workers still live.
const LOOK: Duration = Duration::from_millis(50);

impl Pool {
    /// A pool of the recipe's machines, none of which has begun an episode. Worker processes are
    /// started; [`Pool::poll_start`] waits for them.
    ///
    /// # Errors
    /// The options do not fit, memory or workers cannot be had, or machines cannot be made.
    pub fn new(
        recipe: Recipe,
        options: PoolOptions,
        external: Option<Buffers>,
    ) -> Result<Self, PoolError> {
        let machines = recipe.machines();
        if machines == 0 {
            return Err(PoolError::Argument(
                "a pool has at least one machine, not 0".to_owned(),
            ));
        }
        if u32::try_from(machines).is_err() {
            return Err(PoolError::Argument(format!(
                "a pool has at most {} machines, not {machines}",
                u32::MAX
            )));
        }
        if recipe.shape().num_actions > MOST_ACTIONS {
            return Err(PoolError::Argument(format!(
                "a pool's machines have at most {MOST_ACTIONS} actions"
            )));
        }
        let batch_size = options.batch_size.unwrap_or(machines);
        if batch_size == 0 || batch_size > machines {
            return Err(PoolError::Argument(format!(
                "batch_size must be 1 to the number of machines ({machines}), not {batch_size}"
            )));
        }
        let workers = count_workers(&options.backend, machines)?;
        let recipe = Arc::new(recipe);
        let (shared, inside, workers) = start(&recipe, &options, workers, external)?;
        let batch = if batch_size < machines {
            Some(make_batch(&shared.layout, batch_size)?)
        } else {
            None
        };
        let mut pool = Self {
            workers,
            desk: Desk::new(machines),
            recipe,
            inside,
            external,
            batch,
            batch_size,
            submission: Vec::with_capacity(machines),
            received: Vec::with_capacity(machines),
            starts: vec![None; machines],
            loss_to_report: vec![false; machines],
            begun: vec![false; machines],
            caller_helps: false,
            wanted: Wanted::All,
            owner: std::process::id(),
            closed: false,
            last_look: Instant::now(),
            untold_loss: None,
            shared,
            options,
        };
        // Until somebody asks for a seed, a new pool is like no other.
        let entropy = std::hash::RandomState::new().build_hasher().finish();
        pool.set_streams(Seeding::One(entropy), None)?;
        Ok(pool)
    }

    /// Whether all workers are up; waits for them up to `limit`.
    ///
    /// # Errors
    /// One could not be started.
    pub fn poll_start(&mut self, limit: Duration) -> Result<Progress, PoolError> {
        self.check_usable()?;
        Ok(if self.workers.starting(limit)? {
            Progress::Waiting
        } else {
            Progress::Ready
        })
    }

    /// Number of machines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.begun.len()
    }

    /// Whether it has no machines, which no pool has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    /// What the machines share.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shared.layout.parameters.shape
    }

    /// How the machines were made.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Threads or worker processes.
    #[must_use]
    pub fn num_workers(&self) -> usize {
        self.shared.layout.parameters.workers
    }

    /// Process numbers of worker processes.
    #[must_use]
    pub fn worker_ids(&self) -> Vec<u32> {
        self.workers.worker_ids()
    }

    /// Results that one receive gives.
    #[must_use]
    pub fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// Whether the pool was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether results are still under way or not received.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.desk.sent > 0 || !self.desk.ready.is_empty()
    }

    /// Machines that were lost and wait for [`Pool::begin_recover`].
    #[must_use]
    pub fn broken(&self) -> Vec<usize> {
        (0..self.len()).filter(|&m| self.desk.broken[m]).collect()
    }

    /// The arrays of all machines and what keeps them alive.
    #[must_use]
    pub fn arrays(&self) -> (Arrays, Keeper) {
        let finals = self
            .inside
            .finals
            .map(|finals| (finals.observations, finals.infos, finals.watch));
        let mut arrays = Arrays {
            rows: self.len(),
            observations: self.inside.observations,
            rewards: self.inside.rewards,
            terminations: self.inside.terminations,
            truncations: self.inside.truncations,
            infos: self.inside.infos,
            watch: self.inside.watch,
            lost: self
                .shared
                .memory
                .pointer(self.shared.layout.lost, self.len()),
            finals,
        };
        if let Some(buffers) = self.external {
            arrays.observations = buffers.observations;
            arrays.rewards = buffers.rewards;
            arrays.terminations = buffers.terminations;
            arrays.truncations = buffers.truncations;
        }
        (arrays, Keeper::Shared(Arc::clone(&self.shared)))
    }

    /// The arrays that a receive of fewer than all machines fills.
    #[must_use]
    pub fn batch_arrays(&self) -> Option<(Arrays, Keeper)> {
        self.batch
            .as_ref()
            .map(|batch| (batch.pointers, Keeper::Memory(Arc::clone(&batch.memory))))
    }

    fn check_usable(&self) -> Result<(), PoolError> {
        let here = std::process::id();
        if here != self.owner {
            return Err(PoolError::Forked {
                owner: self.owner,
                here,
            });
        }
        if self.closed {
            return Err(PoolError::Closed);
        }
        Ok(())
    }

    fn check_machine(&self, index: usize) -> Result<(), PoolError> {
        if index < self.len() {
            Ok(())
        } else {
            Err(PoolError::NoSuchMachine {
                index,
                last: self.len() - 1,
            })
        }
    }

    /// A machine that can be given something to do.
    fn check_idle(&mut self, index: usize) -> Result<(), PoolError> {
        match self.desk.states[index] {
            State::Idle if self.desk.broken[index] => Err(self.broken_error(index)),
            State::Idle => Ok(()),
            State::Sent if self.desk.broken[index] => Err(self.broken_error(index)),
            State::Ready => Err(PoolError::Order(format!(
                "machine {index} has a result that was not received; call recv() first"
            ))),
            _ => Err(PoolError::Order(format!(
                "machine {index} was sent an action already; call recv() first"
            ))),
        }
    }

    /// Why a broken machine cannot be used.
    fn broken_error(&mut self, index: usize) -> PoolError {
        self.workers.check().unwrap_or_else(|| PoolError::Machine {
            index,
            message: "its program failed; call recover() to make it anew, or close()".to_owned(),
        })
    }

    fn check_all_whole(&mut self) -> Result<(), PoolError> {
        match self.desk.broken.iter().position(|&broken| broken) {
            Some(index) => Err(self.broken_error(index)),
            None => Ok(()),
        }
    }

    fn control(&self, machine: usize) -> Control<'_> {
        Control::new(&self.shared.memory, &self.shared.layout, machine)
    }

    /// The job of taking an action, if there is one of that number.
    fn step_job(&self, machine: usize, action: i64) -> Result<Job, PoolError> {
        let num_actions = self.shape().num_actions;
        let number = u32::try_from(action)
            .ok()
            .filter(|&number| (number as usize) < num_actions)
            .ok_or_else(|| {
                PoolError::Argument(format!(
                    "the action of machine {machine} must be 0 to {}, not {action}",
                    num_actions - 1
                ))
            })?;
        if !self.begun[machine] {
            return Err(PoolError::Order(format!(
                "machine {machine} has not begun an episode; call reset() first"
            )));
        }
        Ok(Job::new(number_of(machine), Command::Step as u8, number))
    }

    /// Hands out what is in `submission`.
    fn submit(&mut self, caller_helps: bool, wanted: Wanted) -> Result<(), PoolError> {
        // Before anything is marked: a thread that cannot be started changes nothing.
        self.caller_helps = caller_helps;
        self.wanted = wanted;
        for &job in &self.submission {
            let machine = job.machine() as usize;
            self.desk.states[machine] = State::Sent;
            let lost = std::mem::take(&mut self.loss_to_report[machine]);
            self.set_lost(machine, lost);
        }
        self.desk.sent += self.submission.len();
        let submission = std::mem::take(&mut self.submission);
        let submitted = self.workers.submit(&submission, caller_helps);
        self.submission = submission;
        if submitted.is_err() {
            for &job in &self.submission {
                self.desk.states[job.machine() as usize] = State::Idle;
            }
            self.desk.sent -= self.submission.len();
        }
        submitted
    }

    fn set_lost(&self, machine: usize, lost: bool) {
        self.shared.memory.u8s(self.shared.layout.lost + machine, 1)[0]
            .store(u8::from(lost), Relaxed);
    }

    /// Gives every machine its action.
    ///
    /// # Errors
    /// An action is out of range, or a machine is not idle; then none was given.
    pub fn begin_step(&mut self, action: impl Fn(usize) -> i64) -> Result<(), PoolError> {
        self.check_usable()?;
        self.check_all_whole()?;
        self.submission.clear();
        for machine in 0..self.len() {
            self.check_idle(machine)?;
            let job = self.step_job(machine, action(machine))?;
            self.submission.push(job);
        }
        self.submit(true, Wanted::All)
    }

    /// Ends [`Pool::begin_step`]: results are in the arrays.
    pub fn finish_step(&mut self) {
        self.take_ready(self.desk.ready.len());
        self.deliver();
    }

    /// Gives some machines their actions: the `n`th of `machines` the `n`th action.
    ///
    /// # Errors
    /// A number or action is out of range or there twice, or a machine is not idle; then none was
    /// given.
    pub fn begin_send(
        &mut self,
        machines: impl Iterator<Item = i64>,
        action: impl Fn(usize) -> i64,
    ) -> Result<(), PoolError> {
        self.check_usable()?;
        self.submission.clear();
        let checked =
            machines
                .enumerate()
                .try_for_each(|(position, number)| -> Result<(), PoolError> {
                    let machine = self.machine_number(number)?;
                    self.check_idle(machine)?;
                    let job = self.step_job(machine, action(position))?;
                    // Marked now, so that the same number again is seen.
                    self.desk.states[machine] = State::Sent;
                    self.submission.push(job);
                    Ok(())
                });
        for &job in &self.submission {
            self.desk.states[job.machine() as usize] = State::Idle;
        }
        checked?;
        self.submit(false, self.wanted)
    }

    fn machine_number(&self, number: i64) -> Result<usize, PoolError> {
        let index = usize::try_from(number)
            .map_err(|_| PoolError::Argument(format!("there is no machine {number}")))?;
        self.check_machine(index)?;
        Ok(index)
    }

    /// Prepares to receive the first `batch_size` results.
    ///
    /// # Errors
    /// So many are not under way.
    pub fn begin_recv(&mut self) -> Result<(), PoolError> {
        self.check_usable()?;
        self.caller_helps = false;
        self.desk.drain(&self.shared);
        let coming = self.desk.sent + self.desk.ready.len();
        if coming < self.batch_size && self.desk.faults.is_empty() {
            if let Some(error) = self.notice_loss() {
                self.untold_loss = None;
                return Err(error);
            }
            return Err(PoolError::Order(if coming == 0 {
                "nothing was sent; call send() before recv()".to_owned()
            } else {
                format!(
                    "recv() gives {} results, but only {coming} machines were sent actions",
                    self.batch_size
                )
            }));
        }
        self.wanted = Wanted::Some(self.batch_size);
        Ok(())
    }

    /// Ends [`Pool::begin_recv`]: the numbers of the machines whose results are in the batch's
    /// arrays, or, when it is as large as the pool, in the pool's.
    pub fn finish_recv(&mut self) -> &[u32] {
        self.take_ready(self.batch_size);
        self.deliver();
        if self.batch_size == self.len() {
            // Their rows are where their numbers say.
            self.received.sort_unstable();
        }
        self.gather();
        &self.received
    }

    fn take_ready(&mut self, count: usize) {
        self.received.clear();
        self.received
            .extend(self.desk.ready.drain(..count.min(self.desk.ready.len())));
        for &number in &self.received {
            self.desk.states[number as usize] = State::Idle;
        }
    }

    /// Prepares to wait for everything that is under way. Results stay to be received.
    ///
    /// # Errors
    /// The pool is closed.
    pub fn begin_settle(&mut self) -> Result<(), PoolError> {
        self.check_usable()?;
        self.wanted = Wanted::All;
        Ok(())
    }

    /// Begins an episode on all machines, or on those for which `chosen` is true. Results that
    /// were not received are dropped; nothing may be under way.
    ///
    /// # Errors
    /// A machine was lost.
    pub fn begin_reset(
        &mut self,
        seeding: Seeding<'_>,
        chosen: Option<&[bool]>,
    ) -> Result<(), PoolError> {
        self.check_usable()?;
        if let Some(chosen) = chosen {
            if chosen.len() != self.len() {
                return Err(PoolError::Argument(format!(
                    "a mask has one entry for each of {} machines, not {}",
                    self.len(),
                    chosen.len()
                )));
            }
        }
        let is_chosen = |machine: usize| chosen.is_none_or(|chosen| chosen[machine]);
        if let Some(machine) = (0..self.len()).find(|&m| is_chosen(m) && self.desk.broken[m]) {
            return Err(self.broken_error(machine));
        }
        if self.desk.sent > 0 {
            return Err(PoolError::Order(
                "actions are under way; wait for them before a reset".to_owned(),
            ));
        }
        self.set_streams(seeding, chosen)?;
        self.submission.clear();
        for machine in (0..self.len()).filter(|&machine| is_chosen(machine)) {
            self.begun[machine] = true;
            self.submission.push(reset_job(machine));
        }
        self.desk
            .ready
            .retain(|&number| !is_chosen(number as usize));
        self.submit(true, Wanted::All)
    }

    /// Ends [`Pool::begin_reset`]: first observations are in the arrays.
    pub fn finish_reset(&mut self) {
        // What else is ready stays so until it is received.
        let submission = std::mem::take(&mut self.submission);
        for &job in &submission {
            self.desk.states[job.machine() as usize] = State::Idle;
        }
        let states = &self.desk.states;
        self.desk
            .ready
            .retain(|&number| states[number as usize] == State::Ready);
        self.submission = submission;
        self.receive_submission();
        self.deliver();
    }

    fn receive_submission(&mut self) {
        self.received.clear();
        self.received
            .extend(self.submission.iter().map(|job| job.machine()));
    }

    fn set_streams(
        &mut self,
        seeding: Seeding<'_>,
        chosen: Option<&[bool]>,
    ) -> Result<(), PoolError> {
        let machines: Vec<usize> = (0..self.len())
            .filter(|&machine| chosen.is_none_or(|chosen| chosen[machine]))
            .collect();
        if let Seeding::Each(own) = seeding {
            if own.len() != machines.len() {
                return Err(PoolError::Argument(format!(
                    "there are {} seeds for {} machines; give one for each, or one number for all",
                    own.len(),
                    machines.len()
                )));
            }
        }
        for (position, &machine) in machines.iter().enumerate() {
            let stream = match seeding {
                Seeding::Continue => continue,
                Seeding::One(seed) => {
                    seeds::stream(seed, self.options.first_index.wrapping_add(machine as u64))
                }
                Seeding::Each(own) => seeds::stream(own[position], 0),
            };
            let control = self.control(machine);
            control.stream().store(stream, Relaxed);
            control.episode().store(0, Relaxed);
        }
        Ok(())
    }

    /// Waits up to `limit` for what the last `begin_…` was for.
    ///
    /// # Errors
    /// A machine or worker was lost. The other machines' results are kept.
    pub fn poll(&mut self, limit: Duration) -> Result<Progress, PoolError> {
        let end = Instant::now() + limit;
        if self.caller_helps {
            self.workers.help(end);
        }
        self.look_at_workers(Instant::now());
        let spin = self.workers.spin();
        loop {
            let seen = self.shared.done_count().load(SeqCst);
            self.desk.drain(&self.shared);
            if let Some(outcome) = self.verdict() {
                return outcome;
            }
            let missing = self.missing().max(1);
            let target = seen.wrapping_add(u32::try_from(missing).unwrap_or(u32::MAX / 4));
            let start = Instant::now();
            let mut now = start;
            // Only this one word is looked at: all else would be taken from those who write it.
            while !idle::reached(self.shared.done_count().load(SeqCst), target)
                && now - start < spin
            {
                for _ in 0..8 {
                    std::hint::spin_loop();
                }
                now = Instant::now();
            }
            if idle::reached(self.shared.done_count().load(SeqCst), target) {
                continue;
            }
            if now >= end {
                return Ok(Progress::Waiting);
            }
            self.look_at_workers(now);
            idle::wait_for_reports(&self.shared, seen, missing, LOOK.min(end - now));
        }
    }

    fn missing(&self) -> usize {
        match self.wanted {
            Wanted::All => self.desk.sent,
            Wanted::Some(count) => count.saturating_sub(self.desk.ready.len()),
            Wanted::Recovered => self.desk.recovering,
        }
    }

    /// What was waited for can no longer come.
    fn is_hopeless(&self) -> bool {
        match self.wanted {
            Wanted::All | Wanted::Recovered => {
                self.missing() == 0 && self.desk.broken.contains(&true)
            }
            Wanted::Some(count) => self.desk.sent + self.desk.ready.len() < count,
        }
    }

    /// The outcome of the wait, once it is decided.
    fn verdict(&mut self) -> Option<Result<Progress, PoolError>> {
        let parts = matches!(self.wanted, Wanted::Some(_));
        if parts {
            // Whoever takes results as they come is told at once; a step ends first.
            if let Some(error) = self.untold_loss.take() {
                return Some(Err(error));
            }
        }
        if self.missing() > 0 && !self.is_hopeless() {
            return None;
        }
        if let Some((index, message)) = self.desk.faults.pop_front() {
            return Some(Err(PoolError::Machine { index, message }));
        }
        if let Some(error) = self.untold_loss.take() {
            return Some(Err(error));
        }
        if self.is_hopeless() {
            let lost = self.desk.broken.iter().position(|&broken| broken);
            return Some(Err(self.broken_error(lost.unwrap_or(0))));
        }
        Some(Ok(Progress::Ready))
    }

    /// Now and then, also while results keep coming, looks whether a worker is gone.
    fn look_at_workers(&mut self, now: Instant) {
        if now - self.last_look >= LOOK {
            self.last_look = now;
            self.notice_loss();
        }
    }

    /// Looks whether a worker is gone, and marks its machines.
    fn notice_loss(&mut self) -> Option<PoolError> {
        let error = self.workers.check()?;
        // What it finished before its end counts.
        self.desk.drain(&self.shared);
        let lost = self.workers.lost();
        if self.desk.lose(&lost) {
            self.untold_loss = Some(error.clone());
        }
        Some(error)
    }

    /// Begins to make lost machines anew: starts workers; [`Pool::poll_start`] waits for them.
    ///
    /// # Errors
    /// A worker cannot be started.
    pub fn begin_recover(&mut self) -> Result<(), PoolError> {
        self.check_usable()?;
        self.notice_loss();
        self.untold_loss = None;
        self.desk.faults.clear();
        self.workers.restart()
    }

    /// Goes on with it: resets them; [`Pool::poll`] waits for it.
    ///
    /// # Errors
    /// A machine cannot be made.
    pub fn begin_recover_reset(&mut self) -> Result<(), PoolError> {
        let broken = self.broken();
        self.submission.clear();
        for &machine in &broken {
            let was_sent = match self.desk.states[machine] {
                State::Sent => true,
                State::Ready => {
                    let number = number_of(machine);
                    self.desk.ready.retain(|&ready| ready != number);
                    true
                }
                _ => false,
            };
            // `make` and `set_start` may need the machine's worker to answer.
            self.desk.states[machine] = State::Idle;
            let prepared = self.prepare_recovery(machine);
            self.desk.states[machine] = if was_sent { State::Sent } else { State::Idle };
            prepared?;
            self.submission.push(reset_job(machine));
        }
        for &machine in &broken {
            let was_sent = self.desk.states[machine] == State::Sent;
            self.desk.states[machine] = State::Recovering { was_sent };
            self.desk.broken[machine] = false;
            self.desk.recovering += 1;
            // Told with the result that is waited for, else with the next.
            self.loss_to_report[machine] = !was_sent;
            self.set_lost(machine, true);
        }
        self.caller_helps = true;
        self.wanted = Wanted::Recovered;
        let submission = std::mem::take(&mut self.submission);
        let submitted = self.workers.submit(&submission, true);
        self.submission = submission;
        submitted
    }

    fn prepare_recovery(&mut self, machine: usize) -> Result<(), PoolError> {
        self.workers.make(&mut self.desk, machine)?;
        if let Some(start) = self.starts[machine].clone() {
            self.workers
                .set_start(&mut self.desk, machine, start.choice())
                .map_err(|message| PoolError::Machine {
                    index: machine,
                    message,
                })?;
        }
        Ok(())
    }

    /// Ends it.
    pub fn finish_recover(&mut self) {
        self.receive_submission();
        self.deliver();
        self.wanted = Wanted::All;
    }

    fn quietly<T>(
        &mut self,
        index: usize,
        work: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, PoolError> {
        let result = work(self);
        result.map_err(|message| match self.notice_loss() {
            Some(error) => {
                self.untold_loss = None;
                error
            }
            None => PoolError::State { index, message },
        })
    }

    /// The state of a machine and its episode.
    ///
    /// # Errors
    /// The machine is not idle or was lost.
    pub fn get_state(&mut self, index: usize) -> Result<Vec<u8>, PoolError> {
        self.check_usable()?;
        self.check_machine(index)?;
        self.check_idle(index)?;
        self.quietly(index, |pool| pool.workers.save(&mut pool.desk, index))
    }

    /// Puts a machine and its episode into a state from [`Pool::get_state`]. Its stream of random
    /// numbers stays its own.
    ///
    /// # Errors
    /// The state does not fit, in which case nothing changed, or the machine is not idle.
    pub fn set_state(&mut self, index: usize, state: &[u8]) -> Result<(), PoolError> {
        self.check_usable()?;
        self.check_machine(index)?;
        self.check_idle(index)?;
        self.quietly(index, |pool| {
            pool.workers.load(&mut pool.desk, index, state)
        })?;
        self.begun[index] = true;
        self.deliver_one(index);
        Ok(())
    }

    /// Each machine's stream of random numbers, and the number of its next episode.
    ///
    /// # Errors
    /// The pool cannot be used any more.
    pub fn streams(&self) -> Result<Vec<(u64, u64)>, PoolError> {
        self.check_usable()?;
        Ok((0..self.len())
            .map(|machine| {
                let control = self.control(machine);
                (
                    control.stream().load(Relaxed),
                    control.episode().load(Relaxed),
                )
            })
            .collect())
    }

    /// The seed of each machine's present episode; none if none has begun since its stream was
    /// set.
    ///
    /// # Errors
    /// The pool cannot be used any more.
    pub fn episode_seeds(&self) -> Result<Vec<Option<u64>>, PoolError> {
        let streams = self.streams()?;
        Ok(streams
            .into_iter()
            .map(|(stream, next)| Some(seeds::episode_seed(stream, next.checked_sub(1)?)))
            .collect())
    }

    /// Goes on with streams from [`Pool::streams`], from the next episode of each machine on.
    ///
    /// # Errors
    /// There is not one for each machine, or a machine is not idle.
    pub fn resume_streams(&mut self, streams: &[(u64, u64)]) -> Result<(), PoolError> {
        self.check_usable()?;
        if streams.len() != self.len() {
            return Err(PoolError::Argument(format!(
                "there are {} streams for {} machines",
                streams.len(),
                self.len()
            )));
        }
        for machine in 0..self.len() {
            self.check_idle(machine)?;
        }
        for (machine, &(stream, episode)) in streams.iter().enumerate() {
            let control = self.control(machine);
            control.stream().store(stream, Relaxed);
            control.episode().store(episode, Relaxed);
        }
        Ok(())
    }

    /// Makes one machine and its episode a copy of another. Its stream of random numbers stays
    /// its own.
    ///
    /// # Errors
    /// They play different games, or one is not idle.
    pub fn fork(&mut self, source: usize, target: usize) -> Result<(), PoolError> {
        self.check_usable()?;
        for index in [source, target] {
            self.check_machine(index)?;
            self.check_idle(index)?;
        }
        if source == target {
            return Ok(());
        }
        self.quietly(target, |pool| {
            pool.workers.fork(&mut pool.desk, source, target)
        })?;
        self.begun[target] = self.begun[source];
        self.deliver_one(target);
        Ok(())
    }

    /// Sets where a machine's later episodes start.
    ///
    /// # Errors
    /// The start does not fit, or the machine is not idle.
    pub fn set_start(&mut self, index: usize, start: StartChoice<'_>) -> Result<(), PoolError> {
        self.check_usable()?;
        self.check_machine(index)?;
        if self.desk.states[index] != State::Ready {
            self.check_idle(index)?;
        }
        let state_before = self.desk.states[index];
        let set = self.quietly(index, |pool| {
            pool.workers.set_start(&mut pool.desk, index, start)
        });
        self.desk.states[index] = state_before;
        set?;
        self.starts[index] = match start {
            StartChoice::Usual => None,
            StartChoice::Name(name) => Some(Arc::new(OwnedStart::Name(name.to_owned()))),
            StartChoice::State(state) => Some(Arc::new(OwnedStart::State(state.to_vec()))),
        };
        Ok(())
    }

    /// Looks at a machine; `out` has the length that the shape says.
    ///
    /// # Errors
    /// The machine is not idle or was lost.
    pub fn inspect(
        &mut self,
        index: usize,
        what: Inspect,
        out: &mut [u8],
    ) -> Result<(), PoolError> {
        self.check_usable()?;
        self.check_machine(index)?;
        self.check_idle(index)?;
        self.quietly(index, |pool| {
            pool.workers.inspect(&mut pool.desk, index, what, out)
        })
    }

    /// Ends all workers. Doing it again changes nothing.
    pub fn close(&mut self) {
        if !self.closed {
            self.closed = true;
            self.workers.close();
        }
    }

    /// Copies what was received to the caller's buffers, where workers cannot write themselves.
    fn deliver(&mut self) {
        if self.external.is_some() && matches!(self.options.backend, Backend::Threads(_)) {
            return;
        }
        for position in 0..self.received.len() {
            self.deliver_one(self.received[position] as usize);
        }
    }

    #[expect(unsafe_code, reason = "copies between arrays of the same shape")]
    fn deliver_one(&self, machine: usize) {
        let Some(buffers) = self.external else {
            return;
        };
        if matches!(self.options.backend, Backend::Threads(_)) {
            return;
        }
        let len = self.shape().observation_len;
        let inside = &self.inside;
        // SAFETY: both have a row of this length for every machine (one is the pool's block, the
        // other promised to `Buffers::new`); the machine is idle, so that no worker writes.
        unsafe {
            buffers
                .observations
                .add(machine * len)
                .copy_from_nonoverlapping(inside.observations.add(machine * len), len);
            *buffers.rewards.add(machine) = *inside.rewards.add(machine);
            *buffers.terminations.add(machine) = *inside.terminations.add(machine);
            *buffers.truncations.add(machine) = *inside.truncations.add(machine);
        }
    }

    /// Copies the received rows together.
    #[expect(unsafe_code, reason = "copies rows between arrays of the same shape")]
    fn gather(&mut self) {
        let Some(batch) = &self.batch else {
            return;
        };
        let (from, _) = self.arrays();
        let to = batch.pointers;
        let shape = self.shape();
        for (row, &number) in self.received.iter().enumerate() {
            let machine = number as usize;
            // SAFETY: `from` has a row for every machine, `to` for every one of the batch, of the
            // same lengths, in different memory; the machines are idle.
            unsafe {
                let copy = |from: *mut u8, to: *mut u8, len: usize| {
                    to.add(row * len)
                        .copy_from_nonoverlapping(from.add(machine * len), len);
                };
                copy(from.observations, to.observations, shape.observation_len);
                copy(from.rewards.cast(), to.rewards.cast(), 4);
                copy(from.terminations, to.terminations, 1);
                copy(from.truncations, to.truncations, 1);
                copy(from.infos.cast(), to.infos.cast(), shape.info_len * 4);
                copy(from.watch, to.watch, shape.watch_len);
                copy(from.lost, to.lost, 1);
                if let (Some(from), Some(to)) = (from.finals, to.finals) {
                    copy(from.0, to.0, shape.observation_len);
                    copy(from.1.cast(), to.1.cast(), shape.info_len * 4);
                    copy(from.2, to.2, shape.watch_len);
                }
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.close();
    }
}

/// Keeps arrays alive.
#[derive(Debug, Clone)]
pub enum Keeper {
    #[doc(hidden)]
    Memory(Arc<Memory>),
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "opaque: only to be held")]
    Shared(Arc<Shared>),
}

/// The number of machines fits (checked by `Pool::new`).
fn number_of(machine: usize) -> u32 {
    u32::try_from(machine).unwrap_or(u32::MAX)
}

fn reset_job(machine: usize) -> Job {
    Job::new(number_of(machine), Command::Reset as u8, 0)
}

fn count_workers(backend: &Backend, machines: usize) -> Result<usize, PoolError> {
    let (asked, what) = match backend {
        Backend::Threads(count) => (*count, "num_threads"),
        #[cfg(unix)]
        Backend::Processes(count, _) => (*count, "num_workers"),
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match asked {
        None => Ok(cores.min(machines)),
        Some(count) if count == 0 || count > machines => Err(PoolError::Argument(format!(
            "{what} must be 1 to the number of machines ({machines}), not {count}"
        ))),
        Some(count) => Ok(count),
    }
}

type Started = (Arc<Shared>, ArrayPointers, Box<dyn Workers>);

#[expect(unsafe_code, reason = "threads get the arrays")]
fn start(
    recipe: &Arc<Recipe>,
    options: &PoolOptions,
    workers: usize,
    external: Option<Buffers>,
) -> Result<Started, PoolError> {
    let mut parameters = Parameters {
        machines: recipe.machines(),
        workers,
        shape: recipe.shape(),
        same_step: options.autoreset == Autoreset::SameStep,
        next_step: options.autoreset == Autoreset::NextStep,
        mailbox_len: 0,
        recipe_len: 0,
    };
    let too_large = || PoolError::Argument("the pool is larger than memory can be".to_owned());
    match &options.backend {
        Backend::Threads(_) => {
            let shared = private_block(Layout::new(parameters).ok_or_else(too_large)?)?;
            let inside = ArrayPointers::inside(&shared.memory, &shared.layout);
            let mut arrays = inside;
            if let Some(buffers) = external {
                arrays.observations = buffers.observations;
                arrays.rewards = buffers.rewards;
                arrays.terminations = buffers.terminations;
                arrays.truncations = buffers.truncations;
            }
            // SAFETY: the arrays are inside the block, which the pool and its threads hold, or
            // the caller's (promised to `Buffers::new`).
            let threads = unsafe { Threads::new(Arc::clone(&shared), arrays, Arc::clone(recipe))? };
            Ok((shared, inside, Box::new(threads)))
        }
        #[cfg(unix)]
        Backend::Processes(_, program) => {
            let bytes = recipe.encode();
            parameters.recipe_len = bytes.len();
            parameters.mailbox_len = processes::mailbox_len(recipe);
            let layout = Layout::new(parameters).ok_or_else(too_large)?;
            let (shared, file) = processes::shared_block(layout, &bytes)?;
            let inside = ArrayPointers::inside(&shared.memory, &shared.layout);
            let processes = Processes::new(Arc::clone(&shared), file, program.clone())?;
            Ok((shared, inside, Box::new(processes)))
        }
    }
}

fn make_batch(layout: &Layout, rows: usize) -> Result<Batch, PoolError> {
    let parameters = Parameters {
        machines: rows,
        workers: 1,
        mailbox_len: 0,
        recipe_len: 0,
        ..layout.parameters
    };
    let shared = Layout::new(parameters)
        .ok_or_else(|| PoolError::Argument("the batch is larger than memory can be".to_owned()))
        .and_then(private_block)?;
    let inside = ArrayPointers::inside(&shared.memory, &shared.layout);
    let lost = shared.memory.pointer(shared.layout.lost, rows);
    let memory = Arc::try_unwrap(shared)
        .map(|shared| Arc::new(shared.memory))
        .map_err(|_| PoolError::Argument("the batch is in use".to_owned()))?;
    Ok(Batch {
        memory,
        pointers: Arrays {
            rows,
            observations: inside.observations,
            rewards: inside.rewards,
            terminations: inside.terminations,
            truncations: inside.truncations,
            infos: inside.infos,
            watch: inside.watch,
            lost,
            finals: inside
                .finals
                .map(|finals| (finals.observations, finals.infos, finals.watch)),
        },
    })
}
