//! The Python module `emurust._emurust`: types, numpy arrays, the GIL and
//! exceptions. How a Game Boy works is the core's business.
//!
//! Each file adds its classes in its `register` function; a new part of the
//! module is a new file and one line below.

use pyo3::prelude::*;

mod engine;
mod errors;
mod gameboy;
mod gate;
mod memory;
mod pool;
mod rom;
mod task;
mod task_options;
mod views;

#[pymodule]
fn _emurust(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    engine::register(module)?;
    rom::register(module)?;
    task::register(module)?;
    gameboy::register(module)?;
    memory::register(module)?;
    views::register(module)?;
    pool::register(module)?;
    Ok(())
}
