//! Shorthand for running the library.

use byz::{Aggregate, Defense, Engine, Kernels, Messages, Options, Scalar, plan::Note};

/// One aggregation of rows in memory.
pub(crate) fn run<T: Scalar>(
    expression: &str,
    rows: &[Vec<T>],
    f: usize,
    kernels: Kernels,
) -> byz::Result<Aggregate<T>> {
    run_with(expression, rows, f, kernels, None)
}

/// The same with a centre.
pub(crate) fn run_with<T: Scalar>(
    expression: &str,
    rows: &[Vec<T>],
    f: usize,
    kernels: Kernels,
    center: Option<&[T]>,
) -> byz::Result<Aggregate<T>> {
    let engine = Engine { kernels, ..Engine::default() };
    let options = Options { engine, center, ..Options::default() };
    Defense::new(expression, f)?.aggregate(&Messages::from_rows(rows), &options)
}

/// A note that lists rows.
pub(crate) fn rows_note<T>(result: &Aggregate<T>, name: &str) -> Option<Vec<usize>> {
    result.notes.iter().find_map(|(known, note)| match note {
        Note::Rows(rows) if *known == name => Some(rows.clone()),
        _ => None,
    })
}

/// A note that is one number.
pub(crate) fn number_note<T>(result: &Aggregate<T>, name: &str) -> Option<f64> {
    result.notes.iter().find_map(|(known, note)| match note {
        Note::Number(value) if *known == name => Some(*value),
        _ => None,
    })
}

/// A note that is one number per row.
pub(crate) fn numbers_note<T>(result: &Aggregate<T>, name: &str) -> Option<Vec<f64>> {
    result.notes.iter().find_map(|(known, note)| match note {
        Note::Numbers(values) if *known == name => Some(values.clone()),
        _ => None,
    })
}
