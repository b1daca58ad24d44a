//! Worker processes, each with a range of the machines, around one shared block.
//!
//! A worker is any program that calls [`crate::run_worker`] with the two numbers that are its
//! last arguments. It gets the block as its standard input: a file without a name, so that
//! nothing of it remains in the system when the last process that knows it ends.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command as Program, ExitStatus, Stdio};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::desk::Desk;
use crate::error::PoolError;
use crate::idle;
use crate::layout::{Layout, Shared};
use crate::machine::{Inspect, StartChoice};
use crate::memory::Memory;
use crate::queue::Job;
use crate::recipe::Recipe;
use crate::signal;
use crate::slot::{Command, Control, OUTCOME_DONE};
use crate::worker::{
    INSPECT_RAM, INSPECT_SCREEN, START_NAME, START_STATE, START_USUAL, STATUS_FAILED, STATUS_READY,
    STATUS_STARTING, STORE_FIRST,
};
use crate::workers::Workers;

/// A worker that has not come up after this long never will.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long a call to one machine waits before it looks whether the worker still lives.
const LOOK: Duration = Duration::from_millis(50);

/// The program that a worker process runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The executable.
    pub program: PathBuf,
    /// Its arguments; the worker's number and this process's follow.
    pub arguments: Vec<OsString>,
}

struct Process {
    child: Option<Child>,
    pid: u32,
    /// How it ended, when it did without being asked to.
    ended: Option<String>,
}

/// The processes.
pub(crate) struct Processes {
    shared: Arc<Shared>,
    file: std::fs::File,
    program: WorkerProgram,
    workers: Vec<Process>,
    starting_since: Instant,
    called: Vec<bool>,
    /// The worker of each machine.
    owners: Vec<usize>,
    spin: Duration,
    /// The process that started the workers.
    owner: u32,
}

/// A shared block for a layout, with the recipe in it, and its file.
pub(crate) fn shared_block(
    layout: Layout,
    recipe: &[u8],
) -> Result<(Arc<Shared>, std::fs::File), PoolError> {
    let (memory, file) = Memory::shared(layout.len).map_err(|error| PoolError::Memory {
        bytes: layout.len,
        kind: "shared",
        machines: layout.parameters.machines,
        message: error.to_string(),
    })?;
    layout.write_header(&memory);
    memory.store(layout.recipe, recipe);
    Ok((Arc::new(Shared { memory, layout }), file))
}

/// Room for a state in one piece, usually.
pub(crate) fn mailbox_len(recipe: &Recipe) -> usize {
    const LEAST: usize = 256 * 1024;
    let shape = recipe.shape();
    LEAST
        .max(shape.observation_len * 2 + LEAST / 2)
        .max(shape.ram_len)
        .max(shape.screen_len)
}

impl Processes {
    /// Starts all workers; [`Workers::starting`] waits for them.
    pub(crate) fn new(
        shared: Arc<Shared>,
        file: std::fs::File,
        program: WorkerProgram,
    ) -> Result<Self, PoolError> {
        let count = shared.layout.parameters.workers;
        let machines = shared.layout.parameters.machines;
        let mut processes = Self {
            owners: (0..machines).map(|m| shared.layout.owner(m)).collect(),
            spin: signal::spin_time(count + 1),
            shared,
            file,
            program,
            workers: Vec::with_capacity(count),
            starting_since: Instant::now(),
            called: vec![false; count],
            owner: std::process::id(),
        };
        for worker in 0..count {
            let process = processes.spawn(worker)?;
            processes.workers.push(process);
        }
        Ok(processes)
    }

    fn spawn(&self, worker: usize) -> Result<Process, PoolError> {
        let failed = |error: std::io::Error| PoolError::WorkerStart {
            worker,
            message: error.to_string(),
        };
        self.shared.status(worker).store(STATUS_STARTING, Release);
        let block = self.file.try_clone().map_err(failed)?;
        let child = Program::new(&self.program.program)
            .args(&self.program.arguments)
            .arg(worker.to_string())
            .arg(std::process::id().to_string())
            .stdin(Stdio::from(block))
            .stdout(Stdio::null())
            .spawn()
            .map_err(failed)?;
        Ok(Process {
            pid: child.id(),
            child: Some(child),
            ended: None,
        })
    }

    /// How a worker ended, if it did.
    fn look(&mut self, worker: usize) -> Option<String> {
        let process = &mut self.workers[worker];
        if process.ended.is_some() {
            return process.ended.clone();
        }
        let how = match process.child.as_mut()?.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => how_it_ended(status),
            // Somebody else has waited for it.
            Err(error) => format!("is gone ({error})"),
        };
        process.child = None;
        process.ended = Some(how.clone());
        Some(how)
    }

    fn loss(&self, worker: usize, how: String) -> PoolError {
        let range = self.shared.layout.range(worker);
        PoolError::WorkerLost {
            worker,
            pid: self.workers[worker].pid,
            first: range.start,
            last: range.end - 1,
            how,
        }
    }

    fn control(&self, machine: usize) -> Control<'_> {
        Control::new(&self.shared.memory, &self.shared.layout, machine)
    }

    fn mailbox(&self, machine: usize) -> usize {
        self.shared
            .layout
            .mailbox(self.shared.layout.owner(machine))
    }

    /// Has the worker carry out one command on an idle machine, and waits for it.
    fn call(
        &mut self,
        desk: &mut Desk,
        machine: usize,
        command: Command,
        argument: u64,
    ) -> Result<(), String> {
        let worker = self.shared.layout.owner(machine);
        if let Some(how) = self.look(worker) {
            return Err(self.loss(worker, how).to_string());
        }
        self.control(machine).argument().store(argument, Relaxed);
        desk.expect_call(machine);
        let number = u32::try_from(machine).unwrap_or(u32::MAX);
        self.shared
            .jobs(worker)
            .push(Job::new(number, command as u8, 0));
        idle::call(&self.shared, worker);
        let outcome = loop {
            let seen = self.shared.done_count().load(SeqCst);
            desk.drain(&self.shared);
            if let Some(outcome) = desk.answer() {
                break outcome;
            }
            let start = Instant::now();
            while start.elapsed() < self.spin && self.shared.done_count().load(SeqCst) == seen {
                std::hint::spin_loop();
            }
            idle::wait_for_reports(&self.shared, seen, 1, LOOK);
            if start.elapsed() >= LOOK {
                if let Some(how) = self.look(worker) {
                    desk.forget_call(machine);
                    return Err(self.loss(worker, how).to_string());
                }
            }
        };
        if outcome == OUTCOME_DONE {
            Ok(())
        } else {
            Err(self.control(machine).message())
        }
    }

    /// Hands bytes to a machine's worker, in parts that fit the mailbox.
    fn send_bytes(&mut self, desk: &mut Desk, machine: usize, bytes: &[u8]) -> Result<(), String> {
        let room = self.shared.layout.parameters.mailbox_len;
        let mut first = STORE_FIRST;
        let mut rest = bytes;
        loop {
            let (part, next) = rest.split_at(rest.len().min(room));
            self.shared.memory.store(self.mailbox(machine), part);
            self.call(desk, machine, Command::Store, first | part.len() as u64)?;
            first = 0;
            rest = next;
            if rest.is_empty() {
                return Ok(());
            }
        }
    }
}

fn how_it_ended(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was killed by signal {signal}"),
        (None, Some(code)) => format!("ended with exit status {code}"),
        (None, None) => "ended".to_owned(),
    }
}

impl Workers for Processes {
    fn submit(&mut self, jobs: &[Job], _caller_helps: bool) -> Result<(), PoolError> {
        self.called.fill(false);
        for &job in jobs {
            let owner = self.owners[job.machine() as usize];
            self.shared.jobs(owner).push(job);
            self.called[owner] = true;
        }
        for worker in (0..self.called.len()).filter(|&worker| self.called[worker]) {
            idle::call(&self.shared, worker);
        }
        Ok(())
    }

    fn help(&mut self, _deadline: Instant) {}

    fn spin(&self) -> Duration {
        self.spin
    }

    fn check(&mut self) -> Option<PoolError> {
        (0..self.workers.len())
            .find_map(|worker| self.look(worker).map(|how| self.loss(worker, how)))
    }

    fn lost(&mut self) -> Vec<usize> {
        (0..self.workers.len())
            .filter(|&worker| self.workers[worker].ended.is_some())
            .flat_map(|worker| self.shared.layout.range(worker))
            .collect()
    }

    fn restart(&mut self) -> Result<(), PoolError> {
        self.starting_since = Instant::now();
        for worker in 0..self.workers.len() {
            if self.workers[worker].ended.is_some() {
                self.shared.jobs(worker).clear();
                self.shared.done(worker).clear();
                self.shared.asleep(worker).store(0, SeqCst);
                self.workers[worker] = self.spawn(worker)?;
            }
        }
        Ok(())
    }

    fn starting(&mut self, limit: Duration) -> Result<bool, PoolError> {
        let end = Instant::now() + limit;
        for worker in 0..self.workers.len() {
            loop {
                let failed = |message| PoolError::WorkerStart { worker, message };
                match self.shared.status(worker).load(Acquire) {
                    STATUS_READY => break,
                    STATUS_FAILED => {
                        let len = self.shared.failure_len(worker).load(Relaxed) as usize;
                        let room = self.shared.layout.parameters.mailbox_len;
                        let mut message = vec![0; len.min(room)];
                        let mailbox = self.shared.layout.mailbox(worker);
                        self.shared.memory.fetch(mailbox, &mut message);
                        return Err(failed(String::from_utf8_lossy(&message).into_owned()));
                    }
                    _ => {}
                }
                if let Some(how) = self.look(worker) {
                    let program = self.program.program.display();
                    return Err(failed(format!("{program} {how} before it was ready")));
                }
                if self.starting_since.elapsed() > START_LIMIT {
                    return Err(failed(format!(
                        "it is not ready after {} seconds",
                        START_LIMIT.as_secs()
                    )));
                }
                if Instant::now() >= end {
                    return Ok(true);
                }
                let status = self.shared.status(worker);
                signal::sleep_while(status, STATUS_STARTING, Duration::from_millis(20));
            }
        }
        Ok(false)
    }

    fn make(&mut self, desk: &mut Desk, machine: usize) -> Result<(), PoolError> {
        self.call(desk, machine, Command::Make, 0)
            .map_err(|message| PoolError::Machine {
                index: machine,
                message,
            })
    }

    fn save(&mut self, desk: &mut Desk, machine: usize) -> Result<Vec<u8>, String> {
        self.call(desk, machine, Command::Save, 0)?;
        let len = self.control(machine).result().load(Relaxed);
        let len = usize::try_from(len).map_err(|error| error.to_string())?;
        let room = self.shared.layout.parameters.mailbox_len;
        let mut state = vec![0; len];
        let mut at = 0;
        loop {
            let part = (len - at).min(room);
            let mailbox = self.mailbox(machine);
            self.shared.memory.fetch(mailbox, &mut state[at..at + part]);
            at += part;
            if at == len {
                return Ok(state);
            }
            self.call(desk, machine, Command::Fetch, at as u64)?;
        }
    }

    fn load(&mut self, desk: &mut Desk, machine: usize, state: &[u8]) -> Result<(), String> {
        self.send_bytes(desk, machine, state)?;
        self.call(desk, machine, Command::Load, 0)
    }

    fn fork(&mut self, desk: &mut Desk, source: usize, target: usize) -> Result<(), String> {
        let layout = &self.shared.layout;
        if layout.owner(source) == layout.owner(target) {
            return self.call(desk, target, Command::Fork, source as u64);
        }
        self.call(desk, source, Command::Save, 0)?;
        let len = self.control(source).result().load(Relaxed);
        let room = self.shared.layout.parameters.mailbox_len;
        match usize::try_from(len) {
            Ok(len) if len <= room => {
                // Straight from one worker's mailbox to the other's.
                let (from, to) = (self.mailbox(source), self.mailbox(target));
                self.shared.memory.copy(from, to, len);
                self.call(desk, target, Command::Store, STORE_FIRST | len as u64)?;
                self.call(desk, target, Command::Load, 0)
            }
            _ => {
                let state = self.save(desk, source)?;
                self.load(desk, target, &state)
            }
        }
    }

    fn set_start(
        &mut self,
        desk: &mut Desk,
        machine: usize,
        start: StartChoice<'_>,
    ) -> Result<(), String> {
        let (kind, bytes) = match start {
            StartChoice::Usual => (START_USUAL, &[][..]),
            StartChoice::Name(name) => (START_NAME, name.as_bytes()),
            StartChoice::State(state) => (START_STATE, state),
        };
        self.send_bytes(desk, machine, bytes)?;
        self.call(desk, machine, Command::SetStart, kind)
    }

    fn inspect(
        &mut self,
        desk: &mut Desk,
        machine: usize,
        what: Inspect,
        out: &mut [u8],
    ) -> Result<(), String> {
        let what = match what {
            Inspect::Ram => INSPECT_RAM,
            Inspect::Screen => INSPECT_SCREEN,
        };
        self.call(desk, machine, Command::Inspect, what)?;
        self.shared.memory.fetch(self.mailbox(machine), out);
        Ok(())
    }

    fn worker_ids(&self) -> Vec<u32> {
        self.workers.iter().map(|process| process.pid).collect()
    }

    fn close(&mut self) {
        if std::process::id() != self.owner {
            // Forked: block and workers are the other process's.
            return;
        }
        self.shared.stop().store(1, SeqCst);
        for worker in &mut self.workers {
            if let Some(mut child) = worker.child.take() {
                // Nothing that a worker does needs an orderly end. Fails only if it ended.
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // Also when the constructor gave up half way.
        self.close();
    }
}
