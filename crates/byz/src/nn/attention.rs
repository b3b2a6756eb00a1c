//! Causal self-attention with several heads.
//!
//!   S = Q·Kᵀ/√D,   P = softmax(S) over the past,   O = dropout(P)·V,
//!
//! for B sequences of T tokens, H heads of D = C/H numbers; Q, K and V of a token lie one behind the other in a row of 3C.
//! Rows are worked on in bands, each with the columns that its last row sees: what lies beyond is neither computed nor stored.
//! Cost: 2 products forward and 4 backward of T·T·D/2 each per head, plus the band's corners.
//! Reference: Vaswani et al.: "Attention is all you need", 2017.

mod softmax;

use super::{
    Masks, Smooth,
    product::{Into, View, multiply},
};
use softmax::{Outputs, Rows};
use std::ops::Range;

/// Rows of a band: smaller ones skip more, larger ones multiply faster.
const BAND: usize = 64;

/// The sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    /// Tokens per sequence, T.
    pub block: usize,
    /// Numbers per token, C, a multiple of the heads.
    pub width: usize,
    /// Heads, H.
    pub heads: usize,
}

/// Whose dropout: the masks, the site of the first head and the batch's index of the first sequence.
pub type Dropout<'a> = Option<(&'a Masks, usize, usize)>;

/// Room for one head's matrices.
#[derive(Clone, Debug, Default)]
pub struct Scratch<T> {
    left: Vec<T>,
    right: Vec<T>,
}

impl<T: Smooth> Scratch<T> {
    /// Room for sequences of `block` tokens.
    pub fn new(block: usize) -> Scratch<T> {
        let numbers = vec![T::ZERO; BAND.min(block) * block];
        Scratch { left: numbers.clone(), right: numbers }
    }
}

/// Rows of one head, the columns they see, and where their probabilities are kept.
struct Band {
    rows: Range<usize>,
    columns: usize,
    kept: Range<usize>,
}

impl Attention {
    /// Probabilities to keep for one sequence.
    pub fn kept(&self) -> usize {
        self.heads * self.bands().last().map_or(0, |band| band.kept.end)
    }

    fn bands(&self) -> impl DoubleEndedIterator<Item = Band> + use<> {
        let block = self.block;
        (0..block.div_ceil(BAND)).map(move |band| {
            let rows = band * BAND..((band + 1) * BAND).min(block);
            // Bands before this one are whole: 1 + 2 + … + band of them.
            let start = BAND * BAND * band * (band + 1) / 2;
            Band { columns: rows.end, kept: start..start + rows.len() * rows.end, rows }
        })
    }

    fn factor<T: Smooth>(&self) -> T {
        T::from_f64((self.heads as f64 / self.width as f64).sqrt())
    }

    /// The rows of `band` as a softmax sees them.
    fn rows<'a>(&self, band: &Band, dropout: Dropout<'a>, sequence: usize, head: usize) -> Rows<'a> {
        let masks = dropout.map(|(masks, site, first)| (masks, masks.at(first + sequence, site + head)));
        Rows { first: band.rows.start, columns: band.columns, masks }
    }

    /// Writes the outputs of all heads to `out`, and what the backward pass needs to `signed`.
    pub fn forward<T: Smooth>(
        &self,
        qkv: &[T],
        dropout: Dropout<'_>,
        signed: &mut [T],
        out: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let (width, size, per_head) = (self.width, self.width / self.heads, self.kept() / self.heads);
        let sequences =
            qkv.chunks_exact(3 * width * self.block).zip(out.chunks_exact_mut(width * self.block));
        for (sequence, (qkv, out)) in sequences.enumerate() {
            for head in 0..self.heads {
                let signed = &mut signed[(sequence * self.heads + head) * per_head..][..per_head];
                let [q, k, v] = [0, 1, 2].map(|part| &qkv[part * width + head * size..]);
                for band in self.bands() {
                    let part = |data, rows| View::with_stride(data, rows, size, 3 * width);
                    let (count, columns) = (band.rows.len(), band.columns);
                    let scores = &mut scratch.left[..count * columns];
                    let q = part(&q[band.rows.start * 3 * width..], count);
                    multiply(self.factor(), q, part(k, columns).t(), scores, columns, Into::Replace);
                    let rows = self.rows(&band, dropout, sequence, head);
                    softmax::forward(rows, scores, &mut signed[band.kept.clone()]);
                    let out = &mut out[band.rows.start * width + head * size..];
                    let scores = View::new(scores, count, columns);
                    multiply(T::ONE, scores, part(v, columns), out, width, Into::Replace);
                }
            }
        }
    }

    /// Writes the gradient of `qkv` to `qkv_gradient`.
    #[expect(clippy::too_many_arguments, reason = "what went in, what came out, and their gradients")]
    pub fn backward<T: Smooth>(
        &self,
        qkv: &[T],
        dropout: Dropout<'_>,
        signed: &[T],
        out: &[T],
        out_gradient: &[T],
        qkv_gradient: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let (width, per_head) = (self.width, self.kept() / self.heads);
        let outputs = out.chunks_exact(width * self.block).zip(out_gradient.chunks_exact(width * self.block));
        let inputs = qkv
            .chunks_exact(3 * width * self.block)
            .zip(qkv_gradient.chunks_exact_mut(3 * width * self.block));
        for (sequence, ((qkv, qkv_gradient), outputs)) in inputs.zip(outputs).enumerate() {
            for head in 0..self.heads {
                let signed = &signed[(sequence * self.heads + head) * per_head..][..per_head];
                // The last band sees every column, so it may replace what was there; the others add.
                let mut into = Into::Replace;
                for band in self.bands().rev() {
                    let rows = self.rows(&band, dropout, sequence, head);
                    self.band_backward(&band, rows, head, qkv, signed, outputs, qkv_gradient, into, scratch);
                    into = Into::Add;
                }
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "what went in, what came out, and their gradients")]
    fn band_backward<T: Smooth>(
        &self,
        band: &Band,
        rows: Rows<'_>,
        head: usize,
        qkv: &[T],
        signed: &[T],
        (out, out_gradient): (&[T], &[T]),
        qkv_gradient: &mut [T],
        into: Into,
        scratch: &mut Scratch<T>,
    ) {
        let (width, size) = (self.width, self.width / self.heads);
        let (count, columns, stride) = (band.rows.len(), band.columns, 3 * width);
        let part = |data, rows| View::with_stride(data, rows, size, stride);
        let [query, key, value] = [0, 1, 2].map(|part| part * width + head * size);
        let first = band.rows.start * stride;
        let start = band.rows.start * width + head * size;
        let out_rows = View::with_stride(&out_gradient[start..], count, size, width);
        let (gradient, dropped) =
            (&mut scratch.left[..count * columns], &mut scratch.right[..count * columns]);
        multiply(T::ONE, out_rows, part(&qkv[value..], columns).t(), gradient, columns, Into::Replace);
        let outputs =
            Outputs { values: &out[start..], gradient: &out_gradient[start..], size, stride: width };
        softmax::backward(rows, &signed[band.kept.clone()], outputs, gradient, dropped);
        let gradient = View::new(gradient, count, columns);
        let dropped = View::new(dropped, count, columns);
        let factor = self.factor();
        multiply(T::ONE, dropped.t(), out_rows, &mut qkv_gradient[value..], stride, into);
        let q = part(&qkv[first + query..], count);
        multiply(factor, gradient.t(), q, &mut qkv_gradient[key..], stride, into);
        let k = part(&qkv[key..], columns);
        multiply(factor, gradient, k, &mut qkv_gradient[first + query..], stride, Into::Replace);
    }
}

#[cfg(test)]
mod tests;
