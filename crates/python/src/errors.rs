//! The library's errors as Python's: usage is `ValueError`, files are `OSError`. And locks that outlive a panic.

use byz::{Error, Verdict};
use pyo3::{
    PyErr, Python, create_exception,
    exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError},
    types::PyAnyMethods,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

create_exception!(
    byz,
    RefusedError,
    PyValueError,
    "The messages of a round do not allow an aggregate; `verdicts` says what became of each worker's."
);

/// What Python raises for an error of the library.
pub(crate) fn raise(py: Python<'_>, error: Error) -> PyErr {
    match &error {
        Error::Refused { verdicts, .. } => {
            let refused = RefusedError::new_err(error.to_string());
            let verdicts: Vec<String> = verdicts.iter().map(Verdict::to_string).collect();
            refused.value(py).setattr("verdicts", verdicts).err().unwrap_or(refused)
        }
        Error::File { .. } | Error::MissingData { .. } | Error::CorruptData { .. } => {
            PyOSError::new_err(error.to_string())
        }
        Error::Interrupted { .. } => PyKeyboardInterrupt::new_err(error.to_string()),
        Error::Internal(_) | Error::Diverged { .. } => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// The lock, also after a panic elsewhere: what it guards is whole between calls.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
