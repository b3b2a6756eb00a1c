//! The pass that applies a plan: one read of the rows it needs, one write of the aggregate.

use crate::{
    kernels::{
        Scalar, Scratch, combine,
        coordinate::{self, CoordinateRule, Workspace},
        mix,
    },
    matrix::Matrix,
    measure::Points,
    plan::{MixedRows, Plan},
    random::Stream,
};
use std::ops::Range;

/// Columns of a block of rows that are read where they lie.
const BLOCK: usize = 2048;
/// Columns of a block that is mixed; long enough that reading a row streams, short enough for the second-level cache.
const MIXED_BLOCK: usize = 512;

/// Applies the plan, or returns none if a row holds an inadmissible value.
pub fn execute<T: Scalar>(points: &Points<'_, T>, plan: &Plan) -> Option<Vec<T>> {
    let (out, clean) = match plan {
        Plan::Combine { weights, stretched } => combine_rows(points, weights, *stretched),
        Plan::CoordinateWise { rule, rows: MixedRows::Selected(rows) } => {
            coordinate_wise(points, *rule, rows)
        }
        Plan::CoordinateWise { rule, rows: MixedRows::Mixed { mixing, center } } => {
            mixed_coordinate_wise(points, *rule, mixing, *center)
        }
    };
    clean.into_iter().all(|clean| clean).then_some(out)
}

/// A vector, and for each of its chunks whether everything read was admissible.
type Checked<T> = (Vec<T>, Vec<bool>);

fn combine_rows<T: Scalar>(points: &Points<'_, T>, weights: &[f64], stretched: bool) -> Checked<T> {
    let mut used = Vec::with_capacity(weights.len());
    used.extend((0..weights.len()).filter(|&i| weights[i] != 0.0));
    if stretched {
        used.sort_by(|&a, &b| weights[a].total_cmp(&weights[b]));
    }
    let weights: Vec<f64> = used.iter().map(|&i| weights[i]).collect();
    let kernels = points.engine.kernels.for_width(points.rows.dimension);
    let heaviest = (0..used.len()).max_by(|&a, &b| weights[a].total_cmp(&weights[b]).then(b.cmp(&a)));
    points.engine.produce(
        points.rows.dimension,
        Vec::new,
        |chunk, out: &mut [T], buffers: &mut Vec<Vec<T>>| {
            buffers.resize(used.len(), Vec::new());
            let mut clean = true;
            for start in chunk.clone().step_by(BLOCK) {
                let columns = start..chunk.end.min(start + BLOCK);
                let part = &mut out[start - chunk.start..columns.end - chunk.start];
                let rows = borrow(points, &used, columns, buffers);
                clean &= match stretched {
                    true => combine::exactly(kernels, &rows, &weights, part),
                    false => combine::combine(kernels, &rows, &weights, heaviest, part),
                };
            }
            points.rows.release(chunk);
            clean
        },
    )
}

/// The columns of some points, borrowed where they lie in memory.
fn borrow<'b, T: Scalar>(
    points: &'b Points<'_, T>,
    used: &[usize],
    columns: Range<usize>,
    buffers: &'b mut [Vec<T>],
) -> Vec<&'b [T]> {
    let one = |(&i, buffer): (&usize, &'b mut Vec<T>)| {
        if buffer.len() < columns.len() && points.in_memory(i).is_empty() {
            buffer.resize(columns.len().max(BLOCK), T::default());
        }
        points.columns(i, columns.clone(), buffer)
    };
    used.iter().zip(buffers).map(one).collect()
}

fn coordinate_wise<T: Scalar>(points: &Points<'_, T>, rule: CoordinateRule, used: &[usize]) -> Checked<T> {
    let workspace = || (Workspace::new(rule, used.len()), vec![Vec::new(); used.len()]);
    points.engine.produce(points.rows.dimension, workspace, |chunk, out: &mut [T], (space, buffers)| {
        let mut clean = true;
        for start in chunk.clone().step_by(BLOCK) {
            let columns = start..chunk.end.min(start + BLOCK);
            let part = &mut out[start - chunk.start..columns.end - chunk.start];
            let rows = borrow(points, used, columns, buffers);
            clean &= coordinate::apply(points.engine.kernels, rule, &rows, space, part);
        }
        points.rows.release(chunk);
        clean
    })
}

/// Mixing and the rule fused per block, so that no mixed row is ever whole in memory.
fn mixed_coordinate_wise<T: Scalar>(
    points: &Points<'_, T>,
    rule: CoordinateRule,
    mixing: &Matrix,
    center: usize,
) -> Checked<T> {
    let count = points.count();
    let all: Vec<usize> = (0..count).collect();
    // Neighbours of an honest cluster mix the same messages: each distinct row is mixed once.
    let (mixing, copies) = mixing.distinct_rows();
    let mixed = mixing.rows();
    let rounded: Vec<T> = mixing.as_slice().iter().map(|&weight| T::from_f64(weight)).collect();
    // Differences are taken about the point that most mixed rows are near: a central row, or the origin where
    // clipping has moved most of them there. Signs are not translation-equivariant and stay about the origin.
    let clipped = (0..mixed).filter(|&i| mixing.row(i)[points.rows.count()..].iter().sum::<f64>() > 0.5);
    let centered = rule != CoordinateRule::SignMajority && 2 * clipped.count() < mixed;
    // Clipping a message of 1e38 leaves weights that f32 cannot hold.
    let faithful = mixing.as_slice().iter().all(|&weight| T::holds(weight));
    let workspace = || MixSpace {
        buffers: vec![Vec::new(); count],
        rows: Scratch::new(count, MIXED_BLOCK),
        mixed: Scratch::new(mixed, MIXED_BLOCK),
        space: Workspace::new(rule, copies.len()),
        wide: None,
    };
    let kernels = points.engine.kernels;
    points.engine.produce(points.rows.dimension, workspace, |chunk, out: &mut [T], s: &mut MixSpace<T>| {
        let mut clean = true;
        for start in chunk.clone().step_by(MIXED_BLOCK) {
            let columns = start..chunk.end.min(start + MIXED_BLOCK);
            let width = columns.len();
            let part = &mut out[start - chunk.start..columns.end - chunk.start];
            let rows = borrow(points, &all, columns, &mut s.buffers);
            mix::subtract(kernels, &rows, centered.then(|| rows[center]), &mut s.rows);
            mix::mix(kernels, &rounded, &s.rows, count, width, &mut s.mixed);
            let mixed_rows: Vec<&[T]> = copies.iter().map(|&i| &s.mixed.row(i)[..width]).collect();
            let mut block_clean =
                faithful && coordinate::apply(kernels, rule, &mixed_rows, &mut s.space, part);
            if block_clean && centered {
                for (out, reference) in part.iter_mut().zip(rows[center]) {
                    *out = T::from_f64(out.to_f64() + reference.to_f64());
                }
            }
            if !block_clean {
                let wide = s.wide.get_or_insert_with(|| WideSpace::new(rule, count, mixed, copies.len()));
                let center = centered.then_some(center);
                block_clean = wide.redo(kernels, rule, &rows, (&mixing, &copies), center, part);
            }
            clean &= block_clean;
        }
        points.rows.release(chunk);
        clean
    })
}

/// One thread's memory for mixing.
struct MixSpace<T> {
    buffers: Vec<Vec<T>>,
    rows: Scratch<T>,
    mixed: Scratch<T>,
    space: Workspace<T>,
    wide: Option<WideSpace>,
}

/// Numbers below this differ by an admissible one.
const HUGE: f64 = 1e145;

/// The same in f64, for blocks whose differences overflow the message's type.
struct WideSpace {
    rows: Scratch<f64>,
    mixed: Scratch<f64>,
    space: Workspace<f64>,
}

impl WideSpace {
    fn new(rule: CoordinateRule, count: usize, mixed: usize, copies: usize) -> WideSpace {
        WideSpace {
            rows: Scratch::new(count, MIXED_BLOCK),
            mixed: Scratch::new(mixed, MIXED_BLOCK),
            space: Workspace::new(rule, copies),
        }
    }

    fn redo<T: Scalar>(
        &mut self,
        kernels: crate::Kernels,
        rule: CoordinateRule,
        rows: &[&[T]],
        (mixing, copies): (&Matrix, &[usize]),
        center: Option<usize>,
        out: &mut [T],
    ) -> bool {
        let width = out.len();
        if rows.iter().any(|row| row.iter().any(|value| !value.is_admissible())) {
            return false;
        }
        // The difference of two admissible numbers may not be one, but a quarter of it is.
        let huge = rows.iter().any(|row| row.iter().any(|value| value.to_f64().abs() > HUGE));
        let scale = if huge { 0.25 } else { 1.0 };
        let base: Vec<f64> =
            (0..width).map(|k| center.map_or(0.0, |row| scale * rows[row][k].to_f64())).collect();
        for (i, row) in rows.iter().enumerate() {
            let to = self.rows.row_mut(i);
            to.fill(0.0);
            for k in 0..width {
                to[k] = scale * row[k].to_f64() - base[k];
            }
        }
        mix::mix(kernels, mixing.as_slice(), &self.rows, rows.len(), width, &mut self.mixed);
        let mixed: Vec<&[f64]> = copies.iter().map(|&i| &self.mixed.row(i)[..width]).collect();
        let mut result = [0.0; MIXED_BLOCK];
        let clean = coordinate::apply(kernels, rule, &mixed, &mut self.space, &mut result[..width]);
        for k in 0..width {
            out[k] = T::from_f64((result[k] + base[k]) / scale);
        }
        clean
    }
}

/// Coordinates looked at to tell each worker's share of a coordinate-wise rule.
pub const SHARE_SAMPLE: usize = 4096;

/// Effective weight of every measured point: exact for combinations; for coordinate-wise rules the mean weight over
/// all coordinates, or over a seeded sample of [`SHARE_SAMPLE`] when there are more.
pub(crate) fn effective_weights<T: Scalar>(points: &Points<'_, T>, plan: &Plan) -> Vec<f64> {
    let (rule, rows) = match plan {
        Plan::Combine { weights, .. } => return weights.clone(),
        Plan::CoordinateWise { rule, rows } => (*rule, rows),
    };
    let count = points.count();
    let sample = Stream::new(0, "shares", 0, 0).sample(points.rows.dimension, SHARE_SAMPLE);
    let columns = points.gather(&sample);
    let mut total = vec![0.0; count];
    for k in 0..sample.len() {
        let values: Vec<f64> = (0..count).map(|i| columns[(i, k)]).collect();
        match rows {
            MixedRows::Selected(rows) => {
                let selected: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
                let weights = coordinate::weights(rule, &selected);
                rows.iter().zip(weights).for_each(|(&row, weight)| total[row] += weight);
            }
            MixedRows::Mixed { mixing, .. } => {
                let weights = coordinate::weights(rule, &mixing.apply(&values));
                let weights = mixing.transpose_apply(&weights);
                total.iter_mut().zip(weights).for_each(|(total, weight)| *total += weight);
            }
        }
    }
    total.iter().map(|total| total / sample.len().max(1) as f64).collect()
}
