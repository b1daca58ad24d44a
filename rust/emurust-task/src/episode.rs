//! One machine's episode. (Interface first; the body follows.)
#![allow(clippy::todo, unused_variables, clippy::missing_errors_doc)]

use std::sync::Arc;

use emurust_core::{GameBoy, StateError};

use crate::error::TaskError;
use crate::start::StartState;
use crate::task::Task;

/// What a step gives besides the observation.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StepResult {
    /// Reward.
    pub reward: f32,
    /// An end that belongs to the task was reached.
    pub terminated: bool,
    /// The episode was cut off, by the step limit for example.
    pub truncated: bool,
}

/// What an episode remembers between steps: visited places, recent screens, counters.
#[derive(Debug, Clone)]
pub struct Episode {
    task: Arc<Task>,
}

impl Episode {
    /// An episode not yet begun.
    #[must_use]
    pub fn new(task: Arc<Task>) -> Self {
        Self { task }
    }
    /// The task.
    #[must_use]
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }
    /// Starts an episode: puts the machine into the start state and writes the first observation.
    pub fn reset(
        &mut self,
        gb: &mut GameBoy,
        seed: u64,
        start: &StartState,
        obs: &mut [u8],
    ) -> Result<(), StateError> {
        todo!()
    }
    /// Takes one action (below [`Task::num_actions`]; greater ones count as the last).
    pub fn step(
        &mut self,
        gb: &mut GameBoy,
        action: u32,
        obs: &mut [u8],
        info: &mut [f32],
        watch: &mut [u8],
    ) -> StepResult {
        todo!()
    }
    /// Steps taken since the reset.
    #[must_use]
    pub fn steps(&self) -> u64 {
        todo!()
    }
    /// The info values as they are now (after a reset, for instance).
    pub fn write_info(&self, info: &mut [f32]) {
        todo!()
    }
    /// The watched RAM of the machine now.
    pub fn write_watch(&self, gb: &GameBoy, watch: &mut [u8]) {
        todo!()
    }
    /// The last observation again, from the machine and the episode as they are.
    pub fn write_observation(&mut self, gb: &GameBoy, obs: &mut [u8]) {
        todo!()
    }
    /// Everything that [`Episode::load`] needs to go on exactly.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        todo!()
    }
    /// Goes on from saved bytes; unchanged on error.
    pub fn load(&mut self, state: &[u8]) -> Result<(), TaskError> {
        todo!()
    }
    /// Becomes a copy of another episode of the same task (a fork), without allocating.
    pub fn copy_from(&mut self, other: &Episode) -> Result<(), TaskError> {
        todo!()
    }
}
