//! Layers by hand: forward and backward on slices, with buffers that are allocated once.

pub mod attention;
mod cross_entropy;
pub mod embedding;
pub mod gelu;
pub mod layer_norm;
mod masks;
pub mod product;
mod real;
pub mod residual;
mod smooth;
mod sums;
mod vectorized;

pub use cross_entropy::cross_entropy;
pub use masks::{Masks, Place};
pub use real::Real;
pub use smooth::Smooth;
