//! The network: forward and backward for one chunk of sequences.
//!
//!   x = dropout(tokens + positions)
//!   x = x + dropout(projection(attention(norm(x))));   x = x + dropout(projection(gelu(linear(norm(x)))))   per layer
//!   logits = norm(x)·tokensᵀ
//!
//! N tokens, C wide, V characters.

use super::{
    shape::{Layer, Places, Shape},
    workspace::{LayerSpace, Workspace},
};
use crate::nn::{
    Masks, Smooth,
    attention::Scratch,
    embedding,
    gelu::{self, Gelu},
    layer_norm,
    product::{Into, View, multiply},
    residual::{self, Ending},
};
use std::ops::Range;

/// What does not change from pass to pass.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) shape: Shape,
    pub(super) places: Places,
    pub(super) gelu: Gelu,
}

/// What changes: parameters, masks, and which sequences of the batch the workspace holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass<'a, T> {
    pub(super) parameters: &'a [T],
    /// Nothing is dropped without.
    pub(super) masks: Option<&'a Masks>,
    /// The batch's index of the first sequence.
    pub(super) first: usize,
}

impl<T: Smooth> Pass<'_, T> {
    /// Gain and shift of a LayerNorm.
    fn norm(&self, place: &Range<usize>) -> (&[T], &[T]) {
        self.parameters[place.clone()].split_at(place.len() / 2)
    }
}

impl Model {
    fn ending<'a, T>(&self, pass: &Pass<'a, T>, site: usize) -> Ending<'a> {
        let length = self.shape.block * self.shape.width;
        Ending { masks: pass.masks, site, first: pass.first, length }
    }

    /// The logits of the workspace's inputs.
    pub(super) fn forward<T: Smooth>(&self, pass: &Pass<'_, T>, space: &mut Workspace<T>) {
        let (n, c, v) = (space.inputs.len(), self.shape.width, self.shape.vocabulary);
        let tokens = &pass.parameters[self.places.tokens.clone()];
        let positions = &pass.parameters[self.places.positions.clone()];
        let stream = &mut space.stream[..n * c];
        let kept = &mut space.embedding_kept[..n * c];
        embedding::forward(self.ending(pass, 0), &space.inputs, tokens, positions, c, stream, kept);
        let branch = &mut space.branch[..n * c];
        for (index, (layer, memory)) in self.places.layers.iter().zip(&mut space.layers).enumerate() {
            self.layer_forward(pass, index, layer, memory, stream, branch, &mut space.scratch);
        }
        let (gain, shift) = pass.norm(&self.places.norm);
        layer_norm::forward(stream, gain, shift, &mut space.norm);
        let out = View::new(&space.norm.out, n, c);
        multiply(T::ONE, out, View::new(tokens, v, c).t(), &mut space.logits, v, Into::Replace);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a workspace, borrowed one by one")]
    fn layer_forward<T: Smooth>(
        &self,
        pass: &Pass<'_, T>,
        index: usize,
        layer: &Layer,
        memory: &mut LayerSpace<T>,
        stream: &mut [T],
        branch: &mut [T],
        scratch: &mut Scratch<T>,
    ) {
        let (p, shape, numbers) = (pass.parameters, &self.shape, stream.len());
        let site = shape.site(index);
        let (gain, shift) = pass.norm(&layer.attention_norm);
        layer_norm::forward(stream, gain, shift, &mut memory.attention_norm);
        let qkv = &mut memory.qkv[..3 * numbers];
        layer.attention.forward_with_bias(p, &memory.attention_norm.out[..numbers], qkv);
        let dropout = pass.masks.map(|masks| (masks, site, pass.first));
        let heads = &mut memory.heads[..numbers];
        shape.attention().forward(qkv, dropout, &mut memory.signed, heads, scratch);
        layer.attention_projection.forward(p, heads, branch);
        let ending = self.ending(pass, site + shape.heads);
        let bias = &p[layer.attention_projection.bias.clone()];
        residual::forward(ending, branch, bias, stream, &mut memory.attention_kept[..numbers]);

        let (gain, shift) = pass.norm(&layer.feed_forward_norm);
        layer_norm::forward(stream, gain, shift, &mut memory.feed_forward_norm);
        let (slopes, active) = (&mut memory.slopes[..4 * numbers], &mut memory.active[..4 * numbers]);
        layer.feed_forward.forward(p, &memory.feed_forward_norm.out[..numbers], slopes);
        gelu::forward(self.gelu, slopes, &p[layer.feed_forward.bias.clone()], active);
        layer.feed_forward_projection.forward(p, active, branch);
        let ending = self.ending(pass, site + shape.heads + 1);
        let bias = &p[layer.feed_forward_projection.bias.clone()];
        residual::forward(ending, branch, bias, stream, &mut memory.feed_forward_kept[..numbers]);
    }

    /// Adds to `gradient`, given the gradient of the logits in their place.
    pub(super) fn backward<T: Smooth>(
        &self,
        pass: &Pass<'_, T>,
        space: &mut Workspace<T>,
        gradient: &mut [T],
    ) {
        let (n, c, v) = (space.inputs.len(), self.shape.width, self.shape.vocabulary);
        let tokens = &pass.parameters[self.places.tokens.clone()];
        let (stream, branch) = (&mut space.stream_gradient[..n * c], &mut space.branch_gradient[..n * c]);
        let logits = View::new(&space.logits, n, v);
        let out = View::new(&space.norm.out, n, c);
        multiply(T::ONE, logits.t(), out, &mut gradient[self.places.tokens.clone()], c, Into::Add);
        multiply(T::ONE, logits, View::new(tokens, v, c), branch, c, Into::Replace);
        stream.fill(T::ZERO);
        let place = &self.places.norm;
        let gain = pass.norm(place).0;
        layer_norm::backward(branch, gain, &space.norm, stream, &mut gradient[place.clone()]);
        for (index, (layer, memory)) in self.places.layers.iter().zip(&space.layers).enumerate().rev() {
            let wide = &mut space.wide_gradient[..4 * n * c];
            let other = &mut space.branch[..n * c];
            let end = self.ending(pass, self.shape.site(index) + self.shape.heads + 1);
            feed_forward_backward(pass, end, layer, memory, stream, [branch, other, wide], gradient);
            self.attention_backward(
                pass,
                index,
                layer,
                memory,
                stream,
                [branch, other, wide],
                &mut space.scratch,
                gradient,
            );
        }
        let (tokens, rest) = gradient.split_at_mut(self.places.positions.start);
        let positions = &mut rest[..self.places.positions.len()];
        let ending = self.ending(pass, 0);
        let kept = &space.embedding_kept[..n * c];
        embedding::backward(ending, &space.inputs, stream, kept, c, tokens, positions);
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a workspace, borrowed one by one")]
    fn attention_backward<T: Smooth>(
        &self,
        pass: &Pass<'_, T>,
        index: usize,
        layer: &Layer,
        memory: &LayerSpace<T>,
        stream: &mut [T],
        [branch, heads_gradient, wide]: [&mut [T]; 3],
        scratch: &mut Scratch<T>,
        gradient: &mut [T],
    ) {
        let (p, numbers, site) = (pass.parameters, stream.len(), self.shape.site(index));
        let kept = &memory.attention_kept[..numbers];
        let ending = self.ending(pass, site + self.shape.heads);
        let bias = &mut gradient[layer.attention_projection.bias.clone()];
        residual::backward(ending, stream, kept, branch, bias);
        let heads = &memory.heads[..numbers];
        layer.attention_projection.backward(p, heads, branch, heads_gradient, gradient);
        let (qkv, qkv_gradient) = (&memory.qkv[..3 * numbers], &mut wide[..3 * numbers]);
        let dropout = pass.masks.map(|masks| (masks, site, pass.first));
        let attention = self.shape.attention();
        attention.backward(qkv, dropout, &memory.signed, heads, heads_gradient, qkv_gradient, scratch);
        layer.attention.bias_backward(qkv_gradient, gradient);
        let input = &memory.attention_norm.out[..numbers];
        layer.attention.backward(p, input, qkv_gradient, branch, gradient);
        let (place, gain) = (&layer.attention_norm, pass.norm(&layer.attention_norm).0);
        layer_norm::backward(branch, gain, &memory.attention_norm, stream, &mut gradient[place.clone()]);
    }
}

fn feed_forward_backward<T: Smooth>(
    pass: &Pass<'_, T>,
    ending: Ending<'_>,
    layer: &Layer,
    memory: &LayerSpace<T>,
    stream: &mut [T],
    [branch, _, wide]: [&mut [T]; 3],
    gradient: &mut [T],
) {
    let (p, numbers) = (pass.parameters, stream.len());
    let kept = &memory.feed_forward_kept[..numbers];
    let bias = &mut gradient[layer.feed_forward_projection.bias.clone()];
    residual::backward(ending, stream, kept, branch, bias);
    let active = &memory.active[..4 * numbers];
    layer.feed_forward_projection.backward(p, active, branch, wide, gradient);
    let bias = &mut gradient[layer.feed_forward.bias.clone()];
    gelu::backward(wide, &memory.slopes[..4 * numbers], bias);
    let input = &memory.feed_forward_norm.out[..numbers];
    layer.feed_forward.backward(p, input, wide, branch, gradient);
    let (place, gain) = (&layer.feed_forward_norm, pass.norm(&layer.feed_forward_norm).0);
    layer_norm::backward(branch, gain, &memory.feed_forward_norm, stream, &mut gradient[place.clone()]);
}
