//! How a vector is cut into chunks: all of the same length but the last, none empty.

use std::ops::Range;

/// A vector of `dimension` numbers in `chunks` pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    dimension: usize,
    chunks: usize,
}

impl Cut {
    /// Pieces of at most `bytes` bytes, of numbers of `size` bytes.
    pub fn fitting(dimension: usize, size: usize, bytes: usize) -> Cut {
        let numbers = (bytes / size).max(1);
        let chunks = dimension.div_ceil(numbers).max(1);
        // Equal lengths may need fewer pieces than were reckoned.
        let chunks = dimension.div_ceil(dimension.div_ceil(chunks).max(1)).max(1);
        Cut { dimension, chunks }
    }

    /// What a header says; none if a piece would be empty.
    pub fn told(dimension: usize, chunks: u32) -> Option<Cut> {
        let cut = Cut { dimension, chunks: chunks as usize };
        let fits = chunks > 0 && (dimension.div_ceil(cut.length().max(1)).max(1) == cut.chunks);
        fits.then_some(cut)
    }

    fn length(&self) -> usize {
        self.dimension.div_ceil(self.chunks)
    }

    /// How many pieces.
    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// How many numbers.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The numbers of one piece; none if there is no such piece.
    pub fn range(&self, chunk: usize) -> Option<Range<usize>> {
        let start = chunk.checked_mul(self.length())?;
        (chunk < self.chunks).then(|| start..self.dimension.min(start.saturating_add(self.length())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_cover_the_vector_once_and_fit(dimension in 1usize..5000, bytes in 1usize..3000) {
            let cut = Cut::fitting(dimension, 4, bytes);
            let mut next = 0;
            for chunk in 0..cut.chunks() {
                let range = cut.range(chunk).expect("a piece");
                prop_assert!(range.start == next && !range.is_empty());
                prop_assert!(range.len() * 4 <= bytes.max(4));
                next = range.end;
            }
            prop_assert_eq!(next, dimension);
            prop_assert_eq!(cut.range(cut.chunks()), None);
            prop_assert_eq!(Cut::told(dimension, cut.chunks() as u32), Some(cut));
        }

        #[test]
        fn whatever_a_header_tells_no_piece_is_empty_or_outside(dimension in any::<usize>(), chunks in any::<u32>()) {
            if let Some(cut) = Cut::told(dimension, chunks) {
                for chunk in [0, cut.chunks() / 2, cut.chunks() - 1] {
                    let range = cut.range(chunk).expect("a piece");
                    prop_assert!(range.end <= dimension && (dimension == 0 || !range.is_empty()));
                }
            }
        }
    }
}
