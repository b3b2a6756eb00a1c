//! What the workers sent: borrowed rows in memory, strided or stored elsewhere, good or bad.

use crate::kernels::Scalar;
use std::ops::Range;

/// A row that is not a slice of its own number type: strided, in another type, or in a file.
pub trait Stored<T>: Sync {
    /// Its number of coordinates.
    fn len(&self) -> usize;
    /// Whether it has no coordinates.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Writes coordinates `start..start + out.len()` to `out`.
    fn read(&self, start: usize, out: &mut [T]);
    /// The row as a slice, where it happens to be one.
    fn as_slice(&self) -> Option<&[T]> {
        None
    }
    /// Called when a pass is done with these columns: a mapped file may drop its pages.
    fn release(&self, _columns: Range<usize>) {}
}

/// A readable row.
#[derive(Clone, Copy)]
pub enum Row<'a, T> {
    /// Contiguous numbers in memory.
    Slice(&'a [T]),
    /// Anything else.
    Stored(&'a dyn Stored<T>),
}

impl<'a, T: Scalar> Row<'a, T> {
    /// Its number of coordinates.
    pub fn len(&self) -> usize {
        match self {
            Row::Slice(slice) => slice.len(),
            Row::Stored(stored) => stored.len(),
        }
    }

    /// Whether it has no coordinates.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row as a slice, where it lies in memory.
    #[inline]
    pub(crate) fn as_slice(&self) -> Option<&'a [T]> {
        match self {
            Row::Slice(slice) => Some(slice),
            Row::Stored(stored) => stored.as_slice(),
        }
    }

    /// The columns, borrowed where they lie in memory, else read into `buffer`.
    #[inline]
    pub(crate) fn columns<'b>(&self, columns: Range<usize>, buffer: &'b mut [T]) -> &'b [T]
    where
        'a: 'b,
    {
        match self {
            Row::Slice(slice) => &slice[columns],
            Row::Stored(stored) => match stored.as_slice() {
                Some(slice) => &slice[columns],
                None => {
                    let buffer = &mut buffer[..columns.len()];
                    stored.read(columns.start, buffer);
                    buffer
                }
            },
        }
    }

    pub(crate) fn release(&self, columns: Range<usize>) {
        if let Row::Stored(stored) = self {
            stored.release(columns);
        }
    }
}

/// Every `stride`-th number of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a, T> {
    data: &'a [T],
    stride: usize,
    length: usize,
}

impl<'a, T: Scalar> Strided<'a, T> {
    /// `length` numbers of `data`, `stride` apart, from its first on; none if `data` is too short.
    pub fn new(data: &'a [T], stride: usize, length: usize) -> Option<Strided<'a, T>> {
        let last =
            length.checked_sub(1).map_or(Some(0), |steps| steps.checked_mul(stride)?.checked_add(1))?;
        (last <= data.len()).then_some(Strided { data, stride, length })
    }
}

impl<T: Scalar> Stored<T> for Strided<'_, T> {
    fn len(&self) -> usize {
        self.length
    }
    fn read(&self, start: usize, out: &mut [T]) {
        for (k, out) in out.iter_mut().enumerate() {
            *out = self.data[(start + k) * self.stride];
        }
    }
    fn as_slice(&self) -> Option<&[T]> {
        (self.stride == 1).then(|| &self.data[..self.length])
    }
}

/// One worker's contribution to a round.
#[derive(Clone)]
pub enum Message<'a, T> {
    /// A vector; its length and its numbers are checked by the defence.
    Row(Row<'a, T>),
    /// Something arrived that is no vector; says why.
    Malformed(String),
    /// Nothing arrived.
    Missing,
}

/// The messages of a round, one per worker, in worker order. Nothing is copied.
#[derive(Clone)]
pub struct Messages<'a, T> {
    /// One entry per worker.
    pub workers: Vec<Message<'a, T>>,
    /// The expected dimension; without it, the length that more than half of the messages have.
    pub dimension: Option<usize>,
}

impl<'a, T: Scalar> Messages<'a, T> {
    /// One slice per worker.
    pub fn from_rows<R: AsRef<[T]>>(rows: &'a [R]) -> Messages<'a, T> {
        let workers = rows.iter().map(|row| Message::Row(Row::Slice(row.as_ref()))).collect();
        Messages { workers, dimension: None }
    }

    /// A contiguous matrix of `workers` rows.
    pub fn from_matrix(data: &'a [T], workers: usize) -> Messages<'a, T> {
        let dimension = data.len() / workers.max(1);
        let row = |i: usize| Message::Row(Row::Slice(&data[i * dimension..(i + 1) * dimension]));
        Messages { workers: (0..workers).map(row).collect(), dimension: Some(dimension) }
    }

    /// States the dimension instead of asking the majority.
    pub fn with_dimension(mut self, dimension: usize) -> Messages<'a, T> {
        self.dimension = Some(dimension);
        self
    }
}

/// Valid rows of one length: what the three stages work on.
#[derive(Clone)]
pub struct Rows<'a, T> {
    pub(crate) rows: Vec<Row<'a, T>>,
    pub(crate) dimension: usize,
}

impl<T: Scalar> Rows<'_, T> {
    /// Number of rows.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn release(&self, columns: Range<usize>) {
        for row in &self.rows {
            row.release(columns.clone());
        }
    }
}
