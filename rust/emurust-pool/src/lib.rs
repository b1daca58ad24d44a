//! Many machines: threads, worker processes and the shared memory layout.
//!
//! What happens in a step, file by file:
//!
//! 1. [`Pool`] (`pool.rs`) checks the actions, writes one command per machine into its control
//!    block and hands the machines to a backend.
//! 2. A backend puts their numbers into job queues (`queue.rs`) and rings workers awake
//!    (`signal.rs`): threads of this process (`threads.rs`) or other processes (`processes.rs`,
//!    whose other side is `worker.rs`). Queues, control blocks and results lie in one block of
//!    memory (`memory.rs`) whose layout (`layout.rs`) is the same for both.
//! 3. Whoever takes a number runs that machine's [`slot`](slot::Slot) (`slot.rs`): the command,
//!    automatic reset and faults. Results go straight into the arrays that the caller reads.
//! 4. What a machine is inside is behind the trait [`Machine`] (`machine.rs`): a game with its
//!    task (`game.rs`), or a dummy that only counts (`dummy.rs`). A [`Recipe`] (`recipe.rs`) says
//!    how to make all machines of a pool, here or in another process.

#![cfg_attr(
    not(unix),
    allow(
        dead_code,
        unused_imports,
        unused_mut,
        reason = "what worker processes need, which are only there on Unix"
    )
)]

mod desk;
mod dummy;
mod error;
mod game;
mod idle;
mod layout;
mod machine;
mod memory;
mod pool;
#[cfg(target_os = "linux")]
mod portable;
#[cfg(unix)]
mod processes;
mod queue;
mod recipe;
pub mod seeds;
mod signal;
mod slot;
mod threads;
mod wire;
#[cfg(unix)]
mod worker;
mod workers;

pub use dummy::{Dummy, DummySpec};
pub use error::PoolError;
pub use game::{GameConfig, GameRecipe, Start, TaskSource};
pub use machine::{Inspect, Machine, Record, Shape, StartChoice, StepOutcome};
pub use memory::Memory;
pub use pool::{Arrays, Autoreset, Backend, Buffers, Keeper, Pool, PoolOptions, Progress, Seeding};
#[cfg(unix)]
pub use processes::WorkerProgram;
pub use recipe::Recipe;
#[cfg(unix)]
pub use worker::run_worker;
