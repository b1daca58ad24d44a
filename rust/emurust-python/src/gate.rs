//! The one gate from Python into Rust.
//!
//! Every call that touches a machine goes through one of two functions:
//!
//! * [`released`] for work that may take long (running frames, waiting for
//!   others): the GIL is released while it runs.
//! * [`brief`] for work of less than a few microseconds (a byte, a register, a
//!   state): the GIL is kept, because handing it over costs more than the work
//!   and may cost a whole switch interval. Only while another thread has the
//!   machine is it released, to wait.
//!
//! Both lock the machine, so that any number of threads may use it, and turn a
//! panic into `InternalError`: no panic crosses into Python. A machine whose
//! work panicked may be half changed; its mutex stays poisoned and every later
//! call says so.

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::errors::python::InternalError;

/// Runs `work` on what `mutex` guards, with the GIL released.
///
/// `work` may attach to Python again while it holds the lock (to look for
/// signals): whoever holds the GIL never waits for a machine without letting go
/// of the GIL first.
pub(crate) fn released<S, T>(
    py: Python<'_>,
    mutex: &Mutex<S>,
    work: impl FnOnce(&mut S) -> PyResult<T> + Send,
) -> PyResult<T>
where
    S: Send,
    T: Send,
{
    py.detach(|| guarded(|| work(&mut *usable(mutex.lock())?)))
}

/// Runs `work` on what `mutex` guards, keeping the GIL.
pub(crate) fn brief<S, T>(
    py: Python<'_>,
    mutex: &Mutex<S>,
    work: impl FnOnce(&mut S) -> PyResult<T>,
) -> PyResult<T> {
    guarded(|| work(&mut *usable(mutex.lock_py_attached(py))?))
}

/// Runs `work` that needs no machine; a panic becomes `InternalError`.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // Unwinding poisons the mutex that `work` holds, so what it left half done
    // cannot be used afterwards.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(internal_error(&*panic)))
}

/// The guard of a lock, unless work on what it guards panicked.
pub(crate) fn usable<'a, S>(
    lock: Result<MutexGuard<'a, S>, PoisonError<MutexGuard<'a, S>>>,
) -> PyResult<MutexGuard<'a, S>> {
    lock.map_err(|_| {
        InternalError::new_err(
            "an earlier internal error left this machine unusable; make a new one",
        )
    })
}

fn internal_error(panic: &(dyn Any + Send)) -> PyErr {
    let cause = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown cause");
    InternalError::new_err(format!(
        "a bug in EmuRust, please report it with what led here: {cause}"
    ))
}
