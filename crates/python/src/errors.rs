//! The library's errors as Python's: usage is `ValueError`, files are `OSError`.

use byz::{Error, Verdict};
use pyo3::{
    PyErr, Python, create_exception,
    exceptions::{PyOSError, PyRuntimeError, PyValueError},
    types::PyAnyMethods,
};

create_exception!(
    byz,
    RefusedError,
    PyValueError,
    "The messages of a round do not allow an aggregate; `verdicts` says what became of each worker's."
);
create_exception!(byz, DivergedError, PyRuntimeError, "Training left the finite numbers; `round` says when.");

/// What Python raises for an error of the library.
pub(crate) fn raise(py: Python<'_>, error: Error) -> PyErr {
    match &error {
        Error::Refused { verdicts, .. } => {
            let refused = RefusedError::new_err(error.to_string());
            let verdicts: Vec<String> = verdicts.iter().map(Verdict::to_string).collect();
            refused.value(py).setattr("verdicts", verdicts).err().unwrap_or(refused)
        }
        Error::Diverged { round } => {
            let diverged = DivergedError::new_err(error.to_string());
            diverged.value(py).setattr("round", *round).err().unwrap_or(diverged)
        }
        Error::File { .. } | Error::MissingData { .. } | Error::CorruptData { .. } => {
            PyOSError::new_err(error.to_string())
        }
        Error::Internal(_) => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}
