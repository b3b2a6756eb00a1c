//! Embeddings of tokens and of positions, summed, with dropout.
//!
//!   xₙ = (tokens(t(n)) + positions(n mod T))·m

use super::{Smooth, residual::Ending, vectorized::vectorized};

vectorized! {
    /// Writes the sum of both embeddings of each of `inputs` to `stream`; `kept` remembers the masks.
    pub fn forward = forward_body(
        ending: Ending<'_>,
        inputs: &[u32],
        tokens: &[T],
        positions: &[T],
        width: usize,
        stream: &mut [T],
        kept: &mut [u8],
    )
}

vectorized! {
    /// Adds the stream's gradient to those of both tables.
    pub fn backward = backward_body(
        ending: Ending<'_>,
        inputs: &[u32],
        stream_gradient: &[T],
        kept: &[u8],
        width: usize,
        tokens_gradient: &mut [T],
        positions_gradient: &mut [T],
    )
}

#[inline(always)]
fn forward_body<T: Smooth, const FUSED: bool>(
    ending: Ending<'_>,
    inputs: &[u32],
    tokens: &[T],
    positions: &[T],
    width: usize,
    stream: &mut [T],
    kept: &mut [u8],
) {
    ending.draw(kept);
    let scale = ending.scale::<T>();
    let rows = stream.chunks_exact_mut(width).zip(kept.chunks_exact(width));
    for (((stream, kept), &input), position) in rows.zip(inputs).zip(positions.chunks_exact(width).cycle()) {
        let token = &tokens[input as usize * width..][..width];
        for (((stream, &kept), &token), &position) in stream.iter_mut().zip(kept).zip(token).zip(position) {
            *stream = (token + position) * if kept != 0 { scale } else { T::ZERO };
        }
    }
}

#[inline(always)]
fn backward_body<T: Smooth, const FUSED: bool>(
    ending: Ending<'_>,
    inputs: &[u32],
    stream_gradient: &[T],
    kept: &[u8],
    width: usize,
    tokens_gradient: &mut [T],
    positions_gradient: &mut [T],
) {
    let scale = ending.scale::<T>();
    let block = positions_gradient.len() / width;
    let rows = stream_gradient.chunks_exact(width).zip(kept.chunks_exact(width));
    for (n, ((stream, kept), &input)) in rows.zip(inputs).enumerate() {
        let token = &mut tokens_gradient[input as usize * width..][..width];
        let position = &mut positions_gradient[n % block * width..][..width];
        for (((&stream, &kept), token), position) in stream.iter().zip(kept).zip(token).zip(position) {
            let gradient = stream * if kept != 0 { scale } else { T::ZERO };
            *token += gradient;
            *position += gradient;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_looked_up_and_gradients_added_where_they_came_from() {
        let ending = Ending { masks: None, site: 0, first: 0, length: 4 };
        let (tokens, positions) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0.1, 0.2, 0.3, 0.4]);
        let inputs = [2, 0, 2, 2];
        let (mut stream, mut kept) = ([0.0; 8], [0; 8]);
        forward(ending, &inputs, &tokens, &positions, 2, &mut stream, &mut kept);
        assert_eq!(stream, [5.1, 6.2, 1.3, 2.4, 5.1, 6.2, 5.3, 6.4]);
        let (mut tokens, mut positions) = ([0.0; 6], [0.0; 4]);
        let gradient = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        backward(ending, &inputs, &gradient, &kept, 2, &mut tokens, &mut positions);
        assert_eq!(tokens, [3.0, 4.0, 0.0, 0.0, 13.0, 16.0]);
        assert_eq!(positions, [6.0, 8.0, 10.0, 12.0]);
    }
}
