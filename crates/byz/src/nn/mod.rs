//! Layers by hand: forward and backward on slices, with buffers that are allocated once.
//!
//! A layer is its sizes; its parameters are one slice, weights then biases, shaped as PyTorch shapes them. Batches are
//! row after row. `backward` adds to a gradient or replaces it, so that a batch may come in chunks.

pub mod attention;
mod convolution;
mod cross_entropy;
#[cfg(test)]
pub(crate) mod differences;
mod dropout;
pub mod embedding;
pub mod gelu;
pub mod layer_norm;
mod linear;
mod masks;
pub mod meter;
mod pooled_convolution;
pub mod product;
mod real;
mod relu;
pub mod residual;
mod smooth;
mod sums;
mod uniform;
mod vectorized;

pub use convolution::Convolution;
pub use cross_entropy::cross_entropy;
pub use dropout::Dropout;
pub use linear::{Linear, Order};
pub use masks::{Masks, Place};
pub use pooled_convolution::PooledConvolution;
pub use real::Real;
pub use relu::{relu, relu_backward};
pub use smooth::Smooth;
pub use uniform::{uniform_as_pytorch, uniform_by_fan_in};
pub(crate) use vectorized::vectorized;
