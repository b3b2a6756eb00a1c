//! Passes that look at each row alone: where it is inadmissible, how far it is from a vector.

use crate::{
    engine::Engine,
    kernels::{Scalar, stream},
    messages::Rows,
};

/// The first inadmissible coordinate of every row.
pub(crate) fn first_inadmissible<T: Scalar>(
    rows: &Rows<'_, T>,
    engine: Engine<'_>,
) -> Vec<Option<(usize, f64)>> {
    const WIDTH: usize = 2048;
    let found = engine.chunks(
        rows.dimension,
        rows.count(),
        || vec![T::default(); WIDTH],
        |chunk, buffer| {
            let mut first = vec![None; rows.count()];
            for start in chunk.clone().step_by(WIDTH) {
                let columns = start..chunk.end.min(start + WIDTH);
                for (row, first) in rows.rows.iter().zip(&mut first).filter(|(_, first)| first.is_none()) {
                    let values = row.columns(columns.clone(), buffer);
                    if !stream::is_clean(engine.kernels, values) {
                        let bad = values.iter().position(|value| !value.is_admissible());
                        *first = bad.map(|k| (start + k, values[k].to_f64()));
                    }
                }
            }
            rows.release(chunk);
            first
        },
    );
    (0..rows.count()).map(|row| found.iter().find_map(|chunk| chunk[row])).collect()
}

/// Distance of every row to a vector, in f64 throughout.
pub(crate) fn distances_to<T: Scalar>(rows: &Rows<'_, T>, vector: &[T], engine: Engine<'_>) -> Vec<f64> {
    const WIDTH: usize = 2048;
    let count = rows.count();
    let partial = engine.chunks(
        rows.dimension,
        rows.count(),
        || vec![T::default(); WIDTH],
        |chunk, buffer| {
            let mut sums = vec![0.0; count];
            for start in chunk.clone().step_by(WIDTH) {
                let columns = start..chunk.end.min(start + WIDTH);
                for (row, sum) in rows.rows.iter().zip(&mut sums) {
                    let values = row.columns(columns.clone(), buffer);
                    *sum += stream::squared_distance(engine.kernels, values, &vector[columns.clone()]);
                }
            }
            rows.release(chunk);
            sums
        },
    );
    (0..count).map(|row| partial.iter().map(|sums| sums[row]).sum::<f64>().sqrt()).collect()
}
