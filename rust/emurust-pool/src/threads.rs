//! Worker threads of this process, which steal machines from each other.
//!
//! Every thread owns a range of machines, so that a machine's memory tends to stay in one core's
//! cache; when it has finished its own it takes from the others, since steps differ in cost.
//! During [`Workers::help`] the calling thread sits on the first seat, so that as many threads
//! work as were asked for.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::desk::Desk;
use crate::error::PoolError;
use crate::idle::{self, Reporter};
use crate::layout::{Layout, Shared};
use crate::machine::{Inspect, StartChoice};
use crate::memory::Memory;
use crate::queue::{DoneQueue, Job};
use crate::recipe::Recipe;
use crate::signal;
use crate::slot::{guarded, ArrayPointers, Control, Slot};
use crate::workers::Workers;

/// Jobs between two looks at the clock.
const LOOK_EVERY: usize = 8;

/// What all threads share.
struct Crew {
    shared: Arc<Shared>,
    slots: Vec<Mutex<Slot>>,
    threads: usize,
    spin: Duration,
}

impl Crew {
    /// The next job for a seat: its own first, then the others'.
    fn take(&self, seat: usize) -> Option<Job> {
        (0..self.threads).find_map(|step| {
            let victim = (seat + step) % self.threads;
            let job = self.shared.jobs(victim).pop()?;
            // A number that is none can only come from stray writes to the block.
            ((job.machine() as usize) < self.slots.len()).then_some(job)
        })
    }

    fn has_work(&self) -> bool {
        (0..self.threads).any(|seat| !self.shared.jobs(seat).is_empty())
    }

    /// Does a job and puts the machine into a queue of finished ones.
    fn run(&self, job: Job, done: DoneQueue<'_>) {
        let machine = job.machine() as usize;
        let control = Control::new(&self.shared.memory, &self.shared.layout, machine);
        let outcome = self.slot(machine).run(control, job);
        done.push(job.machine(), outcome);
    }

    fn slot(&self, machine: usize) -> std::sync::MutexGuard<'_, Slot> {
        // `Slot::run` catches panics, so a poisoned lock has nothing half done behind it.
        self.slots[machine]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn stopping(&self) -> bool {
        self.shared.stop().load(SeqCst) != 0
    }

    fn serve(&self, seat: usize) {
        let done = self.shared.done(seat);
        let mut reporter = Reporter::new();
        while !self.stopping() {
            if let Some(job) = self.take(seat) {
                self.run(job, done);
                reporter.add(&self.shared);
            } else {
                reporter.flush(&self.shared);
                idle::wait_for_call(&self.shared, seat, self.spin, || {
                    self.stopping() || self.has_work()
                });
            }
        }
    }
}

/// The threads and their machines.
pub(crate) struct Threads {
    crew: Arc<Crew>,
    recipe: Arc<Recipe>,
    handles: Vec<Option<JoinHandle<()>>>,
    /// Seats that got work in the present submission.
    called: Vec<bool>,
    /// The seat of each machine.
    owners: Vec<usize>,
    /// The process that the threads are in.
    owner: u32,
}

impl Threads {
    /// Makes the machines. `arrays` are alive as long as the pool.
    ///
    /// # Safety
    /// `arrays` must fit [`Slot::new`] for every machine.
    #[expect(unsafe_code, reason = "passes on the promise about the arrays")]
    pub(crate) unsafe fn new(
        shared: Arc<Shared>,
        arrays: ArrayPointers,
        recipe: Arc<Recipe>,
    ) -> Result<Self, PoolError> {
        let layout = &shared.layout;
        let threads = layout.parameters.workers;
        let mut slots = Vec::with_capacity(layout.parameters.machines);
        for index in 0..layout.parameters.machines {
            let machine = recipe.make(index)?;
            // SAFETY: promised by the caller; each index is used once.
            slots.push(Mutex::new(unsafe {
                Slot::new(machine, arrays, index, layout)
            }));
        }
        let crew = Crew {
            slots,
            threads,
            spin: signal::spin_time(threads),
            shared,
        };
        let machines = crew.slots.len();
        Ok(Self {
            owners: (0..machines).map(|m| crew.shared.layout.owner(m)).collect(),
            crew: Arc::new(crew),
            recipe,
            handles: (0..threads).map(|_| None).collect(),
            called: vec![false; threads],
            owner: std::process::id(),
        })
    }

    /// The thread on that seat is running.
    fn start(&mut self, seat: usize) -> Result<(), PoolError> {
        let handle = &mut self.handles[seat];
        if handle.is_none() {
            let crew = Arc::clone(&self.crew);
            let thread = std::thread::Builder::new()
                .name(format!("emurust-pool-{seat}"))
                .spawn(move || crew.serve(seat))
                .map_err(|error| PoolError::ThreadStart {
                    thread: seat,
                    message: error.to_string(),
                })?;
            *handle = Some(thread);
        }
        Ok(())
    }
}

impl Workers for Threads {
    fn submit(&mut self, jobs: &[Job], caller_helps: bool) -> Result<(), PoolError> {
        let threads = self.crew.threads;
        let first = usize::from(caller_helps);
        for seat in first..threads.min(jobs.len()) {
            self.start(seat)?;
        }
        self.called.fill(false);
        for &job in jobs {
            let owner = self.owners[job.machine() as usize];
            self.crew.shared.jobs(owner).push(job);
            self.called[owner] = true;
        }
        // Whoever has work of its own, and others to steal if there is enough for them.
        let mut spare = jobs.len();
        for seat in (first..threads).filter(|&seat| self.called[seat]) {
            idle::call(&self.crew.shared, seat);
            spare -= 1;
        }
        for seat in (first..threads)
            .filter(|&seat| !self.called[seat])
            .take(spare)
        {
            idle::call(&self.crew.shared, seat);
        }
        Ok(())
    }

    fn help(&mut self, deadline: Instant) {
        let done = self.crew.shared.done(self.crew.threads);
        let mut jobs = 0;
        while let Some(job) = self.crew.take(0) {
            self.crew.run(job, done);
            jobs += 1;
            if jobs % LOOK_EVERY == 0 && Instant::now() >= deadline {
                break;
            }
        }
    }

    fn spin(&self) -> Duration {
        self.crew.spin
    }

    fn check(&mut self) -> Option<PoolError> {
        None
    }

    fn lost(&mut self) -> Vec<usize> {
        Vec::new()
    }

    fn restart(&mut self) -> Result<(), PoolError> {
        Ok(())
    }

    fn starting(&mut self, _limit: Duration) -> Result<bool, PoolError> {
        Ok(false)
    }

    fn make(&mut self, _desk: &mut Desk, machine: usize) -> Result<(), PoolError> {
        let made = self.recipe.make(machine)?;
        self.crew.slot(machine).replace(made);
        Ok(())
    }

    fn save(&mut self, _desk: &mut Desk, machine: usize) -> Result<Vec<u8>, String> {
        guarded(|| {
            let mut state = Vec::new();
            self.crew.slot(machine).save(&mut state);
            Ok(state)
        })
    }

    fn load(&mut self, _desk: &mut Desk, machine: usize, state: &[u8]) -> Result<(), String> {
        guarded(|| self.crew.slot(machine).load(state))
    }

    fn fork(&mut self, _desk: &mut Desk, source: usize, target: usize) -> Result<(), String> {
        // In order of their numbers, as everybody who takes two locks does.
        guarded(|| {
            let mut lower = self.crew.slot(source.min(target));
            let mut upper = self.crew.slot(source.max(target));
            if source < target {
                upper.copy_from(&mut lower)
            } else {
                lower.copy_from(&mut upper)
            }
        })
    }

    fn set_start(
        &mut self,
        _desk: &mut Desk,
        machine: usize,
        start: StartChoice<'_>,
    ) -> Result<(), String> {
        guarded(|| self.crew.slot(machine).set_start(start))
    }

    fn inspect(
        &mut self,
        _desk: &mut Desk,
        machine: usize,
        what: Inspect,
        out: &mut [u8],
    ) -> Result<(), String> {
        guarded(|| {
            self.crew.slot(machine).inspect(what, out);
            Ok(())
        })
    }

    fn worker_ids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn close(&mut self) {
        if std::process::id() != self.owner {
            // Forked: there are no such threads here to wait for.
            self.handles
                .iter_mut()
                .for_each(|handle| std::mem::forget(handle.take()));
            return;
        }
        self.crew.shared.stop().store(1, SeqCst);
        for seat in 0..self.crew.threads {
            idle::call(&self.crew.shared, seat);
        }
        for handle in self.handles.iter_mut().filter_map(Option::take) {
            // A worker catches its machines' panics; if it died all the same there is nothing
            // left to wait for.
            let _ = handle.join();
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.close();
    }
}

/// A private block for a layout.
pub(crate) fn private_block(layout: Layout) -> Result<Arc<Shared>, PoolError> {
    let memory = Memory::private(layout.len).map_err(|error| PoolError::Memory {
        bytes: layout.len,
        kind: "private",
        machines: layout.parameters.machines,
        message: error.to_string(),
    })?;
    layout.write_header(&memory);
    Ok(Arc::new(Shared { memory, layout }))
}
