//! The passes that measure: from n × d numbers to n × n.
//!
//! One pass gives all squared distances. The other functions are the slow and exact second looks that planning
//! asks for when distances alone would cancel; they combine rows in f64 before they measure.

mod combinations;
mod second_look;
mod short_rows;

use crate::{
    engine::Engine,
    inspect::first_inadmissible,
    kernels::{
        Kernels, Scalar, Scratch,
        distances::{self, Columns, Tiling},
        short, stream,
    },
    matrix::Matrix,
    messages::Rows,
};
use std::{
    ops::Range,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// A point beside the messages.
#[derive(Clone, Copy)]
pub enum ReferencePoint<'a, T> {
    /// The zero vector.
    Origin,
    /// A given vector.
    Vector(&'a [T]),
}

/// The points of a round: the rows, then the reference points.
pub struct Points<'a, T> {
    pub(crate) rows: &'a Rows<'a, T>,
    pub(crate) references: Vec<ReferencePoint<'a, T>>,
    pub(crate) engine: Engine<'a>,
    pub(crate) extra_passes: AtomicUsize,
}

impl<'a, T: Scalar> Points<'a, T> {
    /// Rows and reference points, measured by `engine`.
    pub fn new(rows: &'a Rows<'a, T>, references: Vec<ReferencePoint<'a, T>>, engine: Engine<'a>) -> Self {
        Points { rows, references, engine, extra_passes: AtomicUsize::new(0) }
    }

    /// Rows and reference points together.
    pub fn count(&self) -> usize {
        self.rows.count() + self.references.len()
    }

    /// The columns of point `i`, borrowed or read into `buffer`.
    pub(crate) fn columns<'b>(&'b self, i: usize, columns: Range<usize>, buffer: &'b mut [T]) -> &'b [T] {
        match i.checked_sub(self.rows.count()).map(|reference| self.references[reference]) {
            None => self.rows.rows[i].columns(columns, buffer),
            Some(ReferencePoint::Vector(vector)) => &vector[columns],
            Some(ReferencePoint::Origin) => {
                let buffer = &mut buffer[..columns.len()];
                buffer.fill(T::default());
                buffer
            }
        }
    }

    /// Point `i` where `columns` would borrow it and leave the buffer alone; empty otherwise.
    pub(crate) fn in_memory(&self, i: usize) -> &[T] {
        match i.checked_sub(self.rows.count()).map(|reference| self.references[reference]) {
            None => self.rows.rows[i].as_slice().unwrap_or(&[]),
            Some(ReferencePoint::Vector(vector)) => vector,
            Some(ReferencePoint::Origin) => &[],
        }
    }

    /// All squared distances, or none if some row holds an inadmissible value.
    pub fn squared_distances(&self) -> Option<Matrix> {
        if self.rows.dimension <= short::LONGEST {
            return self.short_squared_distances();
        }
        let points = self.count();
        let tiling = Tiling::new(self.engine.kernels, points);
        let order = tiling.pairs();
        let width = distances::block_width::<T>(points).min(self.rows.dimension);
        let spoilt = AtomicBool::new(false);
        let workspace = || Space {
            block: Scratch::new(points, width),
            buffers: [vec![T::default(); width], vec![T::default(); width]],
            sums: vec![0.0; order.len() * distances::SUMS],
        };
        let partial = self.engine.chunks(self.rows.dimension, order.len(), workspace, |chunk, space| {
            // Somebody else has found an inadmissible value: the result no longer matters.
            if spoilt.load(Ordering::Relaxed) {
                return Vec::new();
            }
            let squared = self.squared_in_chunk(chunk.clone(), width, (&tiling, &order), space);
            self.rows.release(chunk);
            if !squared.iter().all(|value| value.is_finite()) {
                spoilt.store(true, Ordering::Relaxed);
            }
            squared
        });
        // A single row has no partner that could betray it.
        let alone = points == 1 && first_inadmissible(self.rows, self.engine).iter().any(Option::is_some);
        if spoilt.into_inner() || alone {
            return None;
        }
        let mut squared = Matrix::zeros(points, points);
        for part in partial {
            for (&(i, j), value) in order.iter().zip(part) {
                squared[(i, j)] += value;
                squared[(j, i)] = squared[(i, j)];
            }
        }
        self.sharpen(&mut squared, width);
        Some(squared)
    }

    /// The squared distances of all pairs within one chunk.
    fn squared_in_chunk(
        &self,
        chunk: Range<usize>,
        width: usize,
        (tiling, order): (&Tiling, &[(usize, usize)]),
        space: &mut Space<T>,
    ) -> Vec<f64> {
        let (kernels, points) = (self.engine.kernels, self.count());
        space.sums.fill(0.0);
        let in_memory: Vec<&[T]> = (0..points).map(|i| self.in_memory(i)).collect();
        let in_place = distances::lie_apart(&in_memory, width);
        for start in chunk.clone().step_by(width) {
            let columns = start..chunk.end.min(start + width);
            let padded = columns.len().next_multiple_of(distances::PADDING);
            let next = Columns { rows: &in_memory, start: columns.end };
            // A square of f32 always fits f64, so a bad f32 shows in the distances; an f64 out of range need not.
            let mut clean =
                |i| stream::is_clean(kernels, self.columns(i, columns.clone(), &mut space.buffers[0]));
            if T::SQUARES_MAY_OVERFLOW && !(0..points).all(&mut clean) {
                return vec![f64::NAN; order.len().max(1)];
            }
            let borrowed = |i: usize| in_place && padded == columns.len() && !in_memory[i].is_empty();
            for i in (0..points).filter(|&i| !borrowed(i)) {
                let from = self.columns(i, columns.clone(), &mut space.buffers[0]);
                distances::pack(from, space.block.row_mut(i));
            }
            let row = |i| if borrowed(i) { &in_memory[i][columns.clone()] } else { space.block.row(i) };
            let rows: Vec<&[T]> = (0..points).map(row).collect();
            let here = Columns { rows: &rows, start: 0 };
            distances::accumulate(kernels, here, tiling, padded, next, &mut space.sums);
        }
        let Space { buffers: [left, right], sums, .. } = space;
        let mut squared: Vec<f64> = sums.chunks_exact(distances::SUMS).map(distances::total).collect();
        let doubtful = |value: f64| !(value >= T::SMALLEST_SQUARES && value < f64::INFINITY);
        let doubts: Vec<usize> = (0..order.len()).filter(|&pair| doubtful(squared[pair])).collect();
        let messages = self.rows.count();
        let vanishing =
            if doubts.is_empty() { Vec::new() } else { vanishing::<T>(&squared, order, messages) };
        for pair in doubts {
            let (i, j) = order[pair];
            // Colluding copies are common: beside distances of any size, a vanishing one is as good as zero.
            if !squared[pair].is_finite() || i >= messages || vanishing[i] {
                squared[pair] = self.exact_pair(i, j, chunk.clone(), width, left, right);
            }
        }
        squared
    }

    /// One pair with f64 differences and squares.
    fn exact_pair(
        &self,
        i: usize,
        j: usize,
        chunk: Range<usize>,
        width: usize,
        left: &mut [T],
        right: &mut [T],
    ) -> f64 {
        let block = |start: usize| {
            let columns = start..chunk.end.min(start + width);
            let (a, b) = (self.columns(i, columns.clone(), left), self.columns(j, columns, right));
            // Colluding copies are common and need no arithmetic.
            if stream::is_equal(self.engine.kernels, a, b) {
                return 0.0;
            }
            stream::squared_distance(self.engine.kernels, a, b)
        };
        chunk.clone().step_by(width).map(block).sum()
    }

    /// Some coordinates of every point, one row per point. Row by row, so that a mapped file is released before the
    /// next is touched.
    pub(crate) fn gather(&self, coordinates: &[usize]) -> Matrix {
        let mut values = Matrix::zeros(self.count(), coordinates.len());
        let mut one = [T::default()];
        for i in 0..self.count() {
            for (to, &column) in values.row_mut(i).iter_mut().zip(coordinates) {
                *to = self.columns(i, column..column + 1, &mut one)[0].to_f64();
            }
            if let Some(row) = self.rows.rows.get(i) {
                row.release(0..self.rows.dimension);
            }
        }
        values
    }
}

/// One thread's memory for measuring.
struct Space<T> {
    block: Scratch<T>,
    buffers: [Vec<T>; 2],
    sums: Vec<f64>,
}

/// Whether the middle one of a row's distances to the other messages, the lower one of two, is next to nothing: that of an honest
/// row is no larger than its distance to some honest row, whatever a minority sent. NaN counts as large.
fn vanishing<T: Scalar>(squared: &[f64], order: &[(usize, usize)], messages: usize) -> Vec<bool> {
    let mut small = vec![0; messages];
    for (&(i, j), value) in order.iter().zip(squared) {
        if i.max(j) < messages && value.abs() < 1e10 * T::SMALLEST_SQUARES {
            small[i] += 1;
            small[j] += 1;
        }
    }
    small.into_iter().map(|count| count >= messages / 2).collect()
}

/// All i < j < count.
pub(crate) fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| (i + 1..count).map(move |j| (i, j)))
}

/// One streaming read of a slice; `byz bench` measures in these.
pub fn streaming_read<T: Scalar>(values: &[T]) -> f64 {
    stream::sum(Kernels::detect(), values)
}
