//! The sizes of the model and where its tensors lie.
//!
//! Per block 12C² + 13C numbers, C wide; V + T embeddings of C; a last LayerNorm of 2C. With 4 blocks, C = 128, T = 128 and
//! 65 characters, 818,048.

use crate::{
    layout::{Layout, Role},
    nn::attention::Attention,
};
use std::ops::Range;

/// The sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) layers: usize,
    pub(super) width: usize,
    pub(super) heads: usize,
    pub(super) block: usize,
    pub(super) vocabulary: usize,
}

/// Where the tensors lie. A bias follows its weight; `norm` is gain and shift.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) tokens: Range<usize>,
    pub(super) positions: Range<usize>,
    pub(super) layers: Vec<Layer>,
    pub(super) norm: Range<usize>,
}

/// Where the tensors of one block lie.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) attention_norm: Range<usize>,
    pub(super) attention: Linear,
    pub(super) attention_projection: Linear,
    pub(super) feed_forward_norm: Range<usize>,
    pub(super) feed_forward: Linear,
    pub(super) feed_forward_projection: Linear,
}

/// A linear map: `weight` is outputs × inputs.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    pub(super) weight: Range<usize>,
    pub(super) bias: Range<usize>,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
}

impl Shape {
    /// Width of the feed-forward layer.
    pub(super) fn inner(&self) -> usize {
        4 * self.width
    }

    pub(super) fn attention(&self) -> Attention {
        Attention { block: self.block, width: self.width, heads: self.heads }
    }

    /// Places with masks of their own: the embedding; in each layer every head, then both projections.
    pub(super) fn sites(&self) -> usize {
        1 + self.layers * (self.heads + 2)
    }

    /// The mask of the first head of a layer.
    pub(super) fn site(&self, layer: usize) -> usize {
        1 + layer * (self.heads + 2)
    }

    /// Multiplications and additions of forward and backward pass for `tokens` tokens, attention counted as if dense.
    pub(super) fn flops(&self, tokens: usize) -> f64 {
        let matrices = self.layers * 12 * self.width * self.width + self.vocabulary * self.width;
        let attention = 2 * self.layers * self.block * self.width;
        6.0 * (matrices + attention) as f64 * tokens as f64
    }

    pub(super) fn layout(&self) -> (Layout, Places) {
        let mut builder = Builder(Layout::new());
        let c = self.width;
        let tokens = builder.tensor("tokens.weight", &[self.vocabulary, c], Role::Embedding);
        let positions = builder.tensor("positions.weight", &[self.block, c], Role::Embedding);
        let layers = (0..self.layers).map(|layer| {
            let name = |part: &str| format!("layers.{layer}.{part}");
            Layer {
                attention_norm: builder.norm(&name("attention_norm"), c),
                attention: builder.linear(&name("attention"), c, 3 * c),
                attention_projection: builder.linear(&name("attention_projection"), c, c),
                feed_forward_norm: builder.norm(&name("feed_forward_norm"), c),
                feed_forward: builder.linear(&name("feed_forward"), c, self.inner()),
                feed_forward_projection: builder.linear(&name("feed_forward_projection"), self.inner(), c),
            }
        });
        let layers = layers.collect();
        let norm = builder.norm("norm", c);
        (builder.0, Places { tokens, positions, layers, norm })
    }
}

struct Builder(Layout);

impl Builder {
    fn tensor(&mut self, name: &str, shape: &[usize], role: Role) -> Range<usize> {
        let start = self.0.dimension();
        self.0 = std::mem::take(&mut self.0).with(name, shape, role);
        start..self.0.dimension()
    }

    fn norm(&mut self, name: &str, width: usize) -> Range<usize> {
        let gain = self.tensor(&format!("{name}.weight"), &[width], Role::Vector);
        let shift = self.tensor(&format!("{name}.bias"), &[width], Role::Vector);
        gain.start..shift.end
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) -> Linear {
        let weight = self.tensor(&format!("{name}.weight"), &[outputs, inputs], Role::Matrix);
        let bias = self.tensor(&format!("{name}.bias"), &[outputs], Role::Vector);
        Linear { weight, bias, inputs, outputs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_model_has_818_048_parameters() {
        let shape = Shape { layers: 4, width: 128, heads: 4, block: 128, vocabulary: 65 };
        let (layout, places) = shape.layout();
        assert_eq!(layout.dimension(), 818_048);
        assert_eq!(places.norm.end, 818_048);
        assert_eq!(layout.tensors().len(), 2 + 4 * 12 + 2);
        // 45.5 GFLOP for a batch of 64.
        assert!((shape.flops(64 * 128) / 45.5e9 - 1.0).abs() < 0.01, "{}", shape.flops(64 * 128));
    }
}
