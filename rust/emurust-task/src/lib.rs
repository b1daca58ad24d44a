//! What to read from a machine: observations, rewards and episode ends, described by data.
//!
//! A [`Task`] is compiled from a file and shared; an [`Episode`] is what one machine's play
//! remembers. A step runs the machine, then writes the observation, the info values and the
//! watched RAM straight into the caller's buffers.

mod episode;
mod error;
mod layout;
mod options;
mod start;
mod symbols;
mod task;

pub use episode::{Episode, StepResult};
pub use error::TaskError;
pub use layout::{DType, InfoField, InfoKind, ObsField, ObsSpace, WatchField};
pub use options::{ObservationKind, Resolution, TaskOptions, Watch};
pub use start::StartState;
pub use symbols::Symbols;
pub use task::Task;
