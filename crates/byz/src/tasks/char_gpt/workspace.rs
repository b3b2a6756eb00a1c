//! Buffers for one chunk of sequences, allocated once per thread: about 35 MB for the paper's model.

use super::shape::Shape;
use crate::nn::{Smooth, attention::Scratch, layer_norm::Memory};

/// Sequences that go through the network together: the activations stay in cache, and products are still large. Eight
/// measured best, 10 % ahead of a whole batch.
pub(super) const CHUNK: usize = 8;

/// Everything a forward and backward pass writes, for N = 8T tokens.
#[derive(Clone, Debug)]
pub(super) struct Workspace<T> {
    pub(super) inputs: Vec<u32>,
    pub(super) targets: Vec<u32>,
    /// The sum that all branches add to, N × C, and its gradient.
    pub(super) stream: Vec<T>,
    pub(super) stream_gradient: Vec<T>,
    pub(super) layers: Vec<LayerSpace<T>>,
    pub(super) norm: Memory<T>,
    /// N × V; after the loss, its gradient.
    pub(super) logits: Vec<T>,
    /// What a branch gives, N × C, and gradients of that size.
    pub(super) branch: Vec<T>,
    pub(super) branch_gradient: Vec<T>,
    /// Gradients of N × 4C; queries, keys and values take 3C of it.
    pub(super) wide_gradient: Vec<T>,
    pub(super) embedding_kept: Vec<u8>,
    pub(super) scratch: Scratch<T>,
}

/// What the backward pass of one block needs.
#[derive(Clone, Debug)]
pub(super) struct LayerSpace<T> {
    pub(super) attention_norm: Memory<T>,
    /// N × 3C: queries, keys, values.
    pub(super) qkv: Vec<T>,
    /// Attention probabilities, negative where dropped.
    pub(super) signed: Vec<T>,
    /// N × C: what the heads give.
    pub(super) heads: Vec<T>,
    pub(super) attention_kept: Vec<u8>,
    pub(super) feed_forward_norm: Memory<T>,
    /// N × 4C: slopes of the GELU, and its values.
    pub(super) slopes: Vec<T>,
    pub(super) active: Vec<T>,
    pub(super) feed_forward_kept: Vec<u8>,
}

impl<T: Smooth> Workspace<T> {
    pub(super) fn new(shape: &Shape) -> Workspace<T> {
        let tokens = CHUNK * shape.block;
        let numbers = |width: usize| vec![T::ZERO; tokens * width];
        let kept = || vec![0; tokens * shape.width];
        let layer = || LayerSpace {
            attention_norm: Memory::new(tokens, shape.width),
            qkv: numbers(3 * shape.width),
            signed: vec![T::ZERO; CHUNK * shape.attention().kept()],
            heads: numbers(shape.width),
            attention_kept: kept(),
            feed_forward_norm: Memory::new(tokens, shape.width),
            slopes: numbers(shape.inner()),
            active: numbers(shape.inner()),
            feed_forward_kept: kept(),
        };
        Workspace {
            inputs: Vec::with_capacity(tokens),
            targets: Vec::with_capacity(tokens),
            stream: numbers(shape.width),
            stream_gradient: numbers(shape.width),
            layers: (0..shape.layers).map(|_| layer()).collect(),
            norm: Memory::new(tokens, shape.width),
            logits: numbers(shape.vocabulary),
            branch: numbers(shape.width),
            branch_gradient: numbers(shape.width),
            wide_gradient: numbers(shape.inner()),
            embedding_kept: kept(),
            scratch: Scratch::new(shape.block),
        }
    }
}
