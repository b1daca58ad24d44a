//! What a backend is to the pool.

use std::time::{Duration, Instant};

use crate::desk::Desk;
use crate::error::PoolError;
use crate::machine::{Inspect, StartChoice};
use crate::queue::Job;

/// How work is spread. Machines that it is given are idle.
pub(crate) trait Workers: Send {
    /// Queues jobs and calls workers to them.
    fn submit(&mut self, jobs: &[Job], caller_helps: bool) -> Result<(), PoolError>;
    /// Does some of the work on the calling thread.
    fn help(&mut self, deadline: Instant);
    /// How long the trainer looks for results in a loop before it sleeps.
    fn spin(&self) -> Duration;
    /// A worker that is gone, if there is one.
    fn check(&mut self) -> Option<PoolError>;
    /// Machines of workers that are gone.
    fn lost(&mut self) -> Vec<usize>;
    /// Starts workers that are gone again.
    fn restart(&mut self) -> Result<(), PoolError>;
    /// Whether workers are still starting; waits for them up to `limit`.
    fn starting(&mut self, limit: Duration) -> Result<bool, PoolError>;
    /// Makes a machine anew.
    fn make(&mut self, desk: &mut Desk, machine: usize) -> Result<(), PoolError>;
    fn save(&mut self, desk: &mut Desk, machine: usize) -> Result<Vec<u8>, String>;
    fn load(&mut self, desk: &mut Desk, machine: usize, state: &[u8]) -> Result<(), String>;
    fn fork(&mut self, desk: &mut Desk, source: usize, target: usize) -> Result<(), String>;
    fn set_start(
        &mut self,
        desk: &mut Desk,
        machine: usize,
        start: StartChoice<'_>,
    ) -> Result<(), String>;
    fn inspect(
        &mut self,
        desk: &mut Desk,
        machine: usize,
        what: Inspect,
        out: &mut [u8],
    ) -> Result<(), String>;
    /// Process numbers of worker processes.
    fn worker_ids(&self) -> Vec<u32>;
    /// Ends all workers and waits for them.
    fn close(&mut self);
}
