//! Rows to write: the buffer that gradients and forged messages go to.

/// Rows of equal length, one after another.
#[derive(Debug)]
pub struct RowsMut<'a, T> {
    data: &'a mut [T],
    dimension: usize,
}

impl<'a, T> RowsMut<'a, T> {
    /// `data` as rows of `dimension` numbers.
    ///
    /// # Panics
    /// If `data` does not consist of whole rows.
    pub fn new(data: &'a mut [T], dimension: usize) -> RowsMut<'a, T> {
        let whole = if dimension == 0 { data.is_empty() } else { data.len().is_multiple_of(dimension) };
        assert!(whole, "{} numbers are not whole rows of {dimension}", data.len());
        RowsMut { data, dimension }
    }

    /// Number of rows.
    pub fn count(&self) -> usize {
        self.data.len().checked_div(self.dimension).unwrap_or(0)
    }

    /// Numbers per row.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// One row.
    pub fn row(&self, index: usize) -> &[T] {
        &self.data[index * self.dimension..(index + 1) * self.dimension]
    }

    /// One row, to write.
    pub fn row_mut(&mut self, index: usize) -> &mut [T] {
        &mut self.data[index * self.dimension..(index + 1) * self.dimension]
    }

    /// All rows, to write.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        self.data.chunks_exact_mut(self.dimension.max(1))
    }

    /// Copies the first row over all others: what colluders send.
    pub fn repeat_first(&mut self)
    where
        T: Copy,
    {
        let mut rows = self.iter_mut();
        let Some(first) = rows.next() else { return };
        rows.for_each(|row| row.copy_from_slice(first));
    }

    /// The same rows for a shorter time.
    pub fn reborrow(&mut self) -> RowsMut<'_, T> {
        RowsMut { data: self.data, dimension: self.dimension }
    }

    /// All rows, given away: what threads share out among themselves.
    pub fn into_rows(self) -> Vec<&'a mut [T]> {
        self.data.chunks_exact_mut(self.dimension.max(1)).collect()
    }
}
