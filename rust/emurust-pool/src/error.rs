//! What can go wrong with a pool.

use emurust_core::{CoreError, RomError, StateError};
use emurust_task::TaskError;
use thiserror::Error;

/// What is wrong, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PoolError {
    /// An argument makes no sense.
    #[error("{0}")]
    Argument(String),
    /// A machine's number is out of range.
    #[error("machine {index} does not exist; this pool has machines 0 to {last}")]
    NoSuchMachine {
        /// The number asked for.
        index: usize,
        /// The greatest there is.
        last: usize,
    },
    /// The call does not fit what the pool is doing.
    #[error("{0}")]
    Order(String),
    /// The pool was closed.
    #[error("this pool is closed; make a new one")]
    Closed,
    /// The pool belongs to another process.
    #[error(
        "this pool was made in process {owner} and cannot be used in process {here}, which was \
         forked from it; make a pool after the fork"
    )]
    Forked {
        /// The process that made the pool.
        owner: u32,
        /// This process.
        here: u32,
    },
    /// A machine could not be made, or its program failed or panicked.
    #[error("machine {index}: {message}")]
    Machine {
        /// The machine.
        index: usize,
        /// What happened.
        message: String,
    },
    /// A state does not fit a machine; the machine is unchanged.
    #[error("machine {index}: {message}")]
    State {
        /// The machine.
        index: usize,
        /// What is wrong with the state.
        message: String,
    },
    /// A worker process is gone.
    #[error(
        "worker {worker} (process {pid}) with machines {first} to {last} {how}; call recover() to \
         start it again with its machines reset, or close()"
    )]
    WorkerLost {
        /// Number of the worker.
        worker: usize,
        /// Its process.
        pid: u32,
        /// First machine that it had.
        first: usize,
        /// Last machine that it had.
        last: usize,
        /// How it ended.
        how: String,
    },
    /// A worker process could not be started.
    #[error("worker {worker} could not be started: {message}")]
    WorkerStart {
        /// Number of the worker.
        worker: usize,
        /// What happened.
        message: String,
    },
    /// A thread could not be started.
    #[error("thread {thread} of the pool could not be started: {message}")]
    ThreadStart {
        /// Number of the thread.
        thread: usize,
        /// What the system says.
        message: String,
    },
    /// Memory for the machines' results could not be had.
    #[error(
        "{bytes} bytes of {kind} memory for {machines} machines could not be had: {message}; use \
         fewer machines or a smaller observation"
    )]
    Memory {
        /// Bytes asked for.
        bytes: usize,
        /// `shared` or `private`.
        kind: &'static str,
        /// Number of machines.
        machines: usize,
        /// What the system says.
        message: String,
    },
    /// A worker process found a segment that it does not understand.
    #[error("the shared segment {0}")]
    Segment(String),
    /// A cartridge image is none.
    #[error(transparent)]
    Rom(#[from] RomError),
    /// A machine of that kind does not exist.
    #[error(transparent)]
    Core(#[from] CoreError),
    /// The task's file or an option is wrong, or it does not fit a cartridge.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// A start state does not fit its cartridge.
    #[error("start state {name:?}: {error}")]
    StartState {
        /// The state's name.
        name: String,
        /// What is wrong with it.
        error: StateError,
    },
    /// The platform lacks something.
    #[error("{0}")]
    Unsupported(&'static str),
}
