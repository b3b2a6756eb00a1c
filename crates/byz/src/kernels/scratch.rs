//! Working memory of one thread: rows of equal stride that start on cache lines.

/// `rows` × `stride` numbers, the first of them on a cache line.
pub(crate) struct Scratch<T> {
    data: Vec<T>,
    offset: usize,
    stride: usize,
}

/// Bytes of a cache line.
const LINE: usize = 64;

impl<T: Copy + Default> Scratch<T> {
    /// Zeros; `width` is rounded up to pairs of cache lines: two vectors of any lanes.
    pub(crate) fn new(rows: usize, width: usize) -> Scratch<T> {
        let line = LINE / size_of::<T>();
        let stride = width.next_multiple_of(2 * line).max(2 * line);
        let data = vec![T::default(); rows * stride + line];
        let offset = data.as_ptr().align_offset(LINE).min(line);
        Scratch { data, offset, stride }
    }

    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    pub(crate) fn row(&self, index: usize) -> &[T] {
        &self.data[self.offset + index * self.stride..][..self.stride]
    }

    pub(crate) fn row_mut(&mut self, index: usize) -> &mut [T] {
        &mut self.data[self.offset + index * self.stride..][..self.stride]
    }

    /// All rows, one after another.
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.data[self.offset..]
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data[self.offset..]
    }
}
