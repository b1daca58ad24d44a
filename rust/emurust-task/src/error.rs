//! What can be wrong with a task file, an option or a saved episode.

use thiserror::Error;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TaskError {
    /// The file is wrong at one place.
    #[error("{file}:{line}: {field}: {message}")]
    File {
        /// The file's name.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The field, as a dotted path such as `values.health.expr`; empty for the file's syntax.
        field: String,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// An option is wrong.
    #[error("option {option}: {message}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// The cartridge is not one of the task's.
    #[error("{message}")]
    Cartridge {
        /// What is wrong, and what would be right.
        message: String,
    },
    /// A saved episode does not fit.
    #[error("episode state: {message}")]
    State {
        /// What is wrong, and what would be right.
        message: String,
    },
}
