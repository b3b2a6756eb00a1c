//! Layers by hand: forward and backward on slices, with buffers that are allocated once.

pub mod product;
