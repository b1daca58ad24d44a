//! What to read from a machine: observations, rewards and episode ends, described by data.
//!
//! A [`Task`] is compiled from a file and shared; an [`Episode`] is what one machine's play
//! remembers. A step runs the machine, then writes the observation, the info values and the
//! watched RAM straight into the caller's buffers.

mod episode;
mod episode_state;
mod error;
mod expression;
mod layout;
mod machine;
mod observation;
mod options;
mod random;
mod reader;
mod screen;
mod spec;
mod start;
mod symbols;
mod task;
mod variable;
mod visits;
mod world;

pub use episode::{Episode, StepResult};
pub use error::TaskError;
pub use layout::{DType, InfoField, InfoKind, ObsField, ObsSpace, WatchField};
pub use machine::{Area, Machine, Memory};
pub use options::{ObservationKind, Resolution, TaskOptions, Watch};
pub use random::{derive_seed, Random};
pub use start::StartState;
pub use symbols::Symbols;
pub use task::Task;
