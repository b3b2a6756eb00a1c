//! `byz` for Python: what the engine must do in Rust. Everything a user sees is in `python/byz`.

mod attack;
mod catalogue;
mod errors;
mod pipeline;
mod rows;
mod runs;

use pyo3::pymodule;

/// The engine behind the package `byz`; use that instead.
#[pymodule]
mod _byz {
    #[pymodule_export]
    use super::{
        attack::Attack,
        catalogue::{catalogue, check, names},
        errors::RefusedError,
        pipeline::Pipeline,
        runs::{run, sweep},
    };

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("MOST_WORKERS", byz::files::MOST_WORKERS)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
