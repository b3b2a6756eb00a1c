//! Rows of scores to probabilities and back.
//!
//!   P = softmax(S) over the columns up to the row's own,   P̃ = P·m,   m = 0 where dropped, 1/(share kept) elsewhere
//!   ∂S = P·(m·∂P̃ − δ),   δ = Σ P·m·∂P̃ = ⟨∂O, O⟩ of the row, because O = P̃·V
//!
//! Probabilities are kept for the backward pass with a minus sign where they were dropped, so masks take no memory.

use crate::nn::{
    Masks, Place, Smooth,
    sums::{dot, largest, sum},
    vectorized::vectorized,
};

/// Some rows of one head's scores, all columns that the last of them sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a> {
    /// The sequence position of the first.
    pub(super) first: usize,
    /// Columns; no row sees more.
    pub(super) columns: usize,
    /// Where their masks come from, if any are dropped.
    pub(super) masks: Option<(&'a Masks, Place<'a>)>,
}

/// What a head gave for these rows, and its gradient: `size` numbers a row, `stride` apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outputs<'a, T> {
    pub(super) values: &'a [T],
    pub(super) gradient: &'a [T],
    pub(super) size: usize,
    pub(super) stride: usize,
}

vectorized! {
    /// `scores` become the probabilities after dropout; `signed` remembers them before it.
    pub(super) fn forward = forward_body(rows: Rows<'_>, scores: &mut [T], signed: &mut [T])
}

vectorized! {
    /// `gradient` of the probabilities after dropout becomes that of the scores; `dropped` becomes those probabilities again.
    pub(super) fn backward = backward_body(
        rows: Rows<'_>,
        signed: &[T],
        outputs: Outputs<'_, T>,
        gradient: &mut [T],
        dropped: &mut [T],
    )
}

#[inline(always)]
fn forward_body<T: Smooth, const FUSED: bool>(rows: Rows<'_>, scores: &mut [T], signed: &mut [T]) {
    /// Columns whose masks are drawn at once.
    const STRIP: usize = 64;
    let columns = rows.columns;
    let strips = Place::groups(columns);
    let scores = scores.chunks_exact_mut(columns).zip(signed.chunks_exact_mut(columns));
    for (row, (scores, signed)) in (rows.first..).zip(scores) {
        scores[row + 1..].fill(T::from_f64(f64::NEG_INFINITY));
        let top = largest(scores);
        scores.iter_mut().for_each(|score| *score = (*score - top).exponential::<FUSED>());
        scores[row + 1..].fill(T::ZERO);
        let share = T::ONE / sum(scores);
        let Some((masks, place)) = rows.masks else {
            for (score, signed) in scores.iter_mut().zip(signed) {
                *score *= share;
                *signed = *score;
            }
            continue;
        };
        let scale = T::from_f64(masks.scale());
        let mut kept = [0; STRIP];
        for (strip, (scores, signed)) in scores.chunks_mut(STRIP).zip(signed.chunks_mut(STRIP)).enumerate() {
            if strip * STRIP <= row {
                place.fill(row * strips + strip, &mut kept);
            }
            for ((score, signed), &kept) in scores.iter_mut().zip(signed).zip(&kept) {
                let probability = *score * share;
                *signed = if kept != 0 { probability } else { -probability };
                *score = if kept != 0 { probability * scale } else { T::ZERO };
            }
        }
    }
}

#[inline(always)]
fn backward_body<T: Smooth, const FUSED: bool>(
    rows: Rows<'_>,
    signed: &[T],
    outputs: Outputs<'_, T>,
    gradient: &mut [T],
    dropped: &mut [T],
) {
    let columns = rows.columns;
    let scale = rows.masks.map_or(T::ONE, |(masks, _)| T::from_f64(masks.scale()));
    let Outputs { values, gradient: out_gradient, size, stride } = outputs;
    let matrices = gradient.chunks_exact_mut(columns).zip(dropped.chunks_exact_mut(columns));
    let outputs = values.chunks(stride).zip(out_gradient.chunks(stride));
    for (((gradient, dropped), signed), (values, out_gradient)) in
        matrices.zip(signed.chunks_exact(columns)).zip(outputs)
    {
        let delta = dot::<T, FUSED>(&values[..size], &out_gradient[..size]);
        for ((gradient, dropped), &signed) in gradient.iter_mut().zip(dropped).zip(signed) {
            let kept = if signed > T::ZERO { signed } else { T::ZERO };
            // |p|·(m·∂ − δ), where m·|p| is what was kept.
            *dropped = kept * scale;
            let probability = signed.max(-signed);
            *gradient = dropped.multiply_add::<FUSED>(*gradient, -(probability * delta));
        }
    }
}
