//! The end of a branch: bias, dropout and the sum with what went around it.
//!
//!   x ← x + (branch + bias)·m,   m = 0 where dropped, 1/(share kept) elsewhere

use super::{Masks, Smooth, vectorized::vectorized};

/// Which branch, and for which sequences.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    /// Nothing is dropped without masks.
    pub masks: Option<&'a Masks>,
    /// The place in the network.
    pub site: usize,
    /// The batch's index of the first sequence.
    pub first: usize,
    /// Numbers per sequence.
    pub length: usize,
}

vectorized! {
    /// Adds the branch and its bias to `stream`; `kept` remembers the masks.
    pub fn forward = forward_body(
        ending: Ending<'_>,
        branch: &[T],
        bias: &[T],
        stream: &mut [T],
        kept: &mut [u8],
    )
}

vectorized! {
    /// The branch's gradient from that of the stream; its rows are added to `bias_gradient`.
    pub fn backward = backward_body(
        ending: Ending<'_>,
        stream_gradient: &[T],
        kept: &[u8],
        branch_gradient: &mut [T],
        bias_gradient: &mut [T],
    )
}

impl Ending<'_> {
    #[inline(always)]
    pub(super) fn scale<T: Smooth>(&self) -> T {
        self.masks.map_or(T::ONE, |masks| T::from_f64(masks.scale()))
    }

    /// Draws the masks of all sequences; ones without dropout.
    #[inline(always)]
    pub(super) fn draw(&self, kept: &mut [u8]) {
        let Some(masks) = self.masks else { return kept.fill(1) };
        for (sequence, kept) in kept.chunks_mut(self.length).enumerate() {
            masks.at(self.first + sequence, self.site).fill(0, kept);
        }
    }
}

#[inline(always)]
fn forward_body<T: Smooth, const FUSED: bool>(
    ending: Ending<'_>,
    branch: &[T],
    bias: &[T],
    stream: &mut [T],
    kept: &mut [u8],
) {
    ending.draw(kept);
    let (width, scale) = (bias.len(), ending.scale::<T>());
    let rows = stream.chunks_exact_mut(width).zip(branch.chunks_exact(width));
    for ((stream, branch), kept) in rows.zip(kept.chunks_exact(width)) {
        for (((stream, &branch), &bias), &kept) in stream.iter_mut().zip(branch).zip(bias).zip(kept) {
            let factor = if kept != 0 { scale } else { T::ZERO };
            *stream = (branch + bias).multiply_add::<FUSED>(factor, *stream);
        }
    }
}

#[inline(always)]
fn backward_body<T: Smooth, const FUSED: bool>(
    ending: Ending<'_>,
    stream_gradient: &[T],
    kept: &[u8],
    branch_gradient: &mut [T],
    bias_gradient: &mut [T],
) {
    let (width, scale) = (bias_gradient.len(), ending.scale::<T>());
    let rows = stream_gradient.chunks_exact(width).zip(branch_gradient.chunks_exact_mut(width));
    for ((stream, branch), kept) in rows.zip(kept.chunks_exact(width)) {
        for (((&stream, branch), sum), &kept) in stream.iter().zip(branch).zip(&mut *bias_gradient).zip(kept)
        {
            *branch = stream * if kept != 0 { scale } else { T::ZERO };
            *sum += *branch;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn what_is_dropped_adds_nothing_and_has_no_gradient() {
        let masks = Masks::new(Stream::new(1, "dropout", 0, 0), 0.5, 1);
        let ending = Ending { masks: Some(&masks), site: 0, first: 3, length: 6 };
        let (mut stream, mut kept) = ([1.0; 12], [9; 12]);
        forward(ending, &[3.0; 12], &[1.0; 3], &mut stream, &mut kept);
        let (mut branch, mut bias) = ([0.0; 12], [0.0; 3]);
        backward(ending, &[1.0; 12], &kept, &mut branch, &mut bias);
        for k in 0..12 {
            let factor = if kept[k] == 1 { 2.0 } else { 0.0 };
            assert_eq!((stream[k], branch[k]), (1.0 + 4.0 * factor, factor));
        }
        assert_eq!(bias.iter().sum::<f64>(), branch.iter().sum::<f64>());
        assert!(kept.contains(&0) && kept.contains(&1));
    }
}
