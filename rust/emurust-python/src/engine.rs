//! Names of the engines, and whether native code can be had here.

use emurust_core::{translator_available, Engine};
use pyo3::prelude::*;

use crate::errors::python::ArgumentError;

/// The engine of a name.
pub(crate) fn engine(name: &str) -> PyResult<Engine> {
    match name {
        "auto" => Ok(Engine::Auto),
        "interpreter" => Ok(Engine::Interpreter),
        "translator" => Ok(Engine::Translator),
        _ => Err(ArgumentError::new_err(format!(
            "engine must be 'auto', 'interpreter' or 'translator', not {name:?}"
        ))),
    }
}

/// Why native code cannot be had here; None if it can.
#[pyfunction]
fn translator_unavailable() -> Option<String> {
    translator_available().err().map(|error| error.to_string())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(translator_unavailable, module)?)
}
