//! Every error of the Rust crates, mapped once to a Python exception.
//!
//! The exception classes are defined in `python/emurust/errors.py`, where they
//! can derive from `EmuRustError` and a built-in exception at once.

use emurust_core::{BootRomError, CoreError, RomError, StateError, StopError};
use pyo3::PyErr;

/// The classes of `emurust.errors`, imported when first raised.
pub(crate) mod python {
    pyo3::import_exception!(emurust.errors, AddressError);
    pyo3::import_exception!(emurust.errors, ArgumentError);
    pyo3::import_exception!(emurust.errors, ArgumentTypeError);
    pyo3::import_exception!(emurust.errors, BankError);
    pyo3::import_exception!(emurust.errors, BootRomError);
    pyo3::import_exception!(emurust.errors, ClosedError);
    pyo3::import_exception!(emurust.errors, InternalError);
    pyo3::import_exception!(emurust.errors, RomError);
    pyo3::import_exception!(emurust.errors, RomSizeError);
    pyo3::import_exception!(emurust.errors, StateCorruptError);
    pyo3::import_exception!(emurust.errors, StateMismatchError);
    pyo3::import_exception!(emurust.errors, StateVersionError);
    pyo3::import_exception!(emurust.errors, UnsupportedMapperError);
}

/// An error that has a Python exception.
pub(crate) trait ToPyErr {
    fn to_py_err(&self) -> PyErr;
}

impl ToPyErr for RomError {
    fn to_py_err(&self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::UnsupportedMapper { .. } => python::UnsupportedMapperError::new_err(message),
            Self::BadLength { .. } => python::RomSizeError::new_err(message),
            _ => python::RomError::new_err(message),
        }
    }
}

impl ToPyErr for BootRomError {
    fn to_py_err(&self) -> PyErr {
        python::BootRomError::new_err(self.to_string())
    }
}

impl ToPyErr for CoreError {
    fn to_py_err(&self) -> PyErr {
        python::ArgumentError::new_err(self.to_string())
    }
}

impl ToPyErr for StopError {
    fn to_py_err(&self) -> PyErr {
        python::AddressError::new_err(self.to_string())
    }
}

impl ToPyErr for StateError {
    fn to_py_err(&self) -> PyErr {
        let message = self.to_string();
        match self {
            Self::OtherRom { .. }
            | Self::OtherSound { .. }
            | Self::OtherModel
            | Self::OtherSampleRate { .. }
            | Self::NeedsBootRom => python::StateMismatchError::new_err(message),
            Self::BadVersion { .. } => python::StateVersionError::new_err(message),
            _ => python::StateCorruptError::new_err(message),
        }
    }
}
