//! A task, compiled from its file. (Interface first; the body follows.)
#![allow(clippy::todo, unused_variables, clippy::missing_errors_doc)]

use emurust_core::Header;

use crate::error::TaskError;
use crate::layout::{InfoField, ObsField, WatchField};
use crate::options::{ObservationKind, TaskOptions};
use crate::symbols::Symbols;

/// What to read from a machine and how to score it. Immutable; shared by every machine that plays it.
#[derive(Debug, Clone)]
pub struct Task {}

impl Task {
    /// Reads a task file. Errors name the file, line and field.
    pub fn from_toml(
        text: &str,
        file_name: &str,
        symbols: Option<&Symbols>,
    ) -> Result<Self, TaskError> {
        todo!()
    }
    /// The task with some things changed.
    pub fn with_options(&self, options: &TaskOptions) -> Result<Self, TaskError> {
        todo!()
    }
    /// The name that the file gives.
    #[must_use]
    pub fn name(&self) -> &str {
        todo!()
    }
    /// Whether the task can be played on a cartridge.
    pub fn check_cartridge(&self, header: &Header) -> Result<(), TaskError> {
        todo!()
    }
    /// Number of actions; an action is a number below it.
    #[must_use]
    pub fn num_actions(&self) -> usize {
        todo!()
    }
    /// Names of the actions.
    #[must_use]
    pub fn action_names(&self) -> &[String] {
        todo!()
    }
    /// Which observation the record holds.
    #[must_use]
    pub fn observation_kind(&self) -> ObservationKind {
        todo!()
    }
    /// The fields of one machine's observation record.
    #[must_use]
    pub fn observation_layout(&self) -> &[ObsField] {
        todo!()
    }
    /// Bytes of one machine's observation record, a multiple of 4.
    #[must_use]
    pub fn observation_len(&self) -> usize {
        todo!()
    }
    /// The `f32` info values of each step.
    #[must_use]
    pub fn info_layout(&self) -> &[InfoField] {
        todo!()
    }
    /// The watched RAM.
    #[must_use]
    pub fn watch_layout(&self) -> &[WatchField] {
        todo!()
    }
    /// Bytes of watched RAM per machine.
    #[must_use]
    pub fn watch_len(&self) -> usize {
        todo!()
    }
    /// Frames of one step.
    #[must_use]
    pub fn frame_skip(&self) -> u32 {
        todo!()
    }
    /// Names of the file's start states and where they are.
    #[must_use]
    pub fn start_states(&self) -> &[(String, String)] {
        todo!()
    }
    /// The start state to take when none is asked for.
    #[must_use]
    pub fn default_start(&self) -> Option<&str> {
        todo!()
    }
}
