//! One worker's vector as it lies in a file: segments of a map, one after the other.

use super::{float::Float, map::Map};
use crate::{kernels::Scalar, messages::Stored};
use std::{ops::Range, sync::Arc};

/// A row in a mapped file. Reads as f32 or as f64; borrowed where the file holds just that.
#[derive(Clone)]
pub struct FileRow {
    map: Arc<Map>,
    segments: Vec<Segment>,
    length: usize,
}

/// Numbers of one type at equal distances.
#[derive(Clone)]
struct Segment {
    /// The columns of the row that it holds.
    columns: Range<usize>,
    /// Where its first number lies.
    offset: usize,
    /// Bytes from one number to the next.
    stride: usize,
    float: Float,
}

impl Segment {
    /// Where some of its columns lie.
    fn bytes(&self, columns: &Range<usize>) -> Range<usize> {
        let first = columns.start.max(self.columns.start) - self.columns.start;
        let last = columns.end.min(self.columns.end) - self.columns.start;
        let start = self.offset + first * self.stride;
        let span = if last > first { (last - first - 1) * self.stride + self.float.size() } else { 0 };
        start..start + span
    }
}

impl FileRow {
    pub(super) fn new(map: &Arc<Map>) -> FileRow {
        FileRow { map: Arc::clone(map), segments: Vec::new(), length: 0 }
    }

    /// Appends `count` numbers. The caller has checked that they lie in the map.
    pub(super) fn push(&mut self, float: Float, offset: usize, stride: usize, count: usize) {
        let columns = self.length..self.length + count;
        self.length = columns.end;
        match self.segments.last_mut() {
            _ if count == 0 => {}
            // Neighbours become one, so that a checkpoint of one type is often a single slice.
            Some(last)
                if (last.float, last.stride, stride) == (float, float.size(), float.size())
                    && last.bytes(&last.columns).end == offset =>
            {
                last.columns.end = columns.end;
            }
            _ => self.segments.push(Segment { columns, offset, stride, float }),
        }
    }

    /// The part of the row that these columns are.
    pub(super) fn slice(&self, columns: &Range<usize>) -> FileRow {
        let mut part = FileRow::new(&self.map);
        for segment in self.overlapping(columns) {
            let kept = columns.start.max(segment.columns.start)..columns.end.min(segment.columns.end);
            part.push(segment.float, segment.bytes(&kept).start, segment.stride, kept.len());
        }
        part
    }

    fn overlapping(&self, columns: &Range<usize>) -> &[Segment] {
        let first = self.segments.partition_point(|segment| segment.columns.end <= columns.start);
        let count = self.segments[first..].partition_point(|segment| segment.columns.start < columns.end);
        &self.segments[first..first + count]
    }
}

impl<T: Scalar> Stored<T> for FileRow {
    fn len(&self) -> usize {
        self.length
    }

    fn read(&self, start: usize, out: &mut [T]) {
        let columns = start..start + out.len();
        let mut rest = out;
        for segment in self.overlapping(&columns) {
            let count = columns.end.min(segment.columns.end) - columns.start.max(segment.columns.start);
            let (part, behind) = rest.split_at_mut(count);
            segment.float.decode(&self.map.bytes()[segment.bytes(&columns)], segment.stride, part);
            rest = behind;
        }
    }

    fn as_slice(&self) -> Option<&[T]> {
        match &self.segments[..] {
            [one] if one.float.name() == T::NAME && one.stride == one.float.size() => {
                self.map.numbers(one.bytes(&one.columns))
            }
            _ => None,
        }
    }

    fn release(&self, columns: Range<usize>) {
        for segment in self.overlapping(&columns) {
            self.map.release(segment.bytes(&columns));
        }
    }
}
