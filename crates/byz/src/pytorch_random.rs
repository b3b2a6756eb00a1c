//! What PyTorch draws on the CPU with a seeded generator: orders, and where its layers start.
//!
//! Which of two outcomes the published MNIST runs reach is decided in their first rounds, by where they start and by which images
//! come first; so the released protocol needs both as released.

use crate::mersenne_twister::MersenneTwister;

/// `torch.Generator().manual_seed(seed)`.
pub(crate) struct Generator(MersenneTwister);

impl Generator {
    /// The seed counts modulo 2³².
    pub(crate) fn new(seed: u64) -> Generator {
        Generator(MersenneTwister::new(seed as u32))
    }

    /// `torch.randperm(count)`.
    pub(crate) fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for place in 0..count.saturating_sub(1) {
            let chosen = self.0.next_u32() as usize % (count - place);
            order.swap(place, place + chosen);
        }
        order
    }

    /// The next number of `tensor.uniform_(-bound, bound)` in single precision.
    pub(crate) fn uniform(&mut self, bound: f32) -> f32 {
        let unit = (self.0.next_u32() & 0x00FF_FFFF) as f32 / (1 << 24) as f32;
        unit.mul_add(bound + bound, -bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values printed by PyTorch 2.
    #[test]
    fn agrees_with_pytorch() {
        let permutation = |seed: u64, count: usize| Generator::new(seed).permutation(count);
        assert_eq!(permutation(5, 10), [1, 4, 9, 6, 3, 5, 0, 2, 8, 7]);
        assert_eq!(permutation(0, 12), [8, 0, 5, 9, 7, 4, 2, 10, 3, 1, 11, 6]);
        let ends = |seed: u64, count: usize| {
            let order = permutation(seed, count);
            [order[0], order[1], order[2], order[count - 2], order[count - 1]]
        };
        assert_eq!(ends(4103, 3530), [3124, 2280, 1247, 1475, 1293]);
        assert_eq!(ends(3, 60_000), [38986, 46111, 53123, 49374, 32804]);
        assert!(permutation(1, 0).is_empty());
    }

    /// The first layers of the network that the released code trains, after `torch.manual_seed(42)`.
    #[test]
    fn layers_start_where_pytorch_starts_them() {
        let mut generator = Generator::new(42);
        let mut layer = |count: usize, fan_in: f64| -> Vec<f32> {
            (0..count).map(|_| generator.uniform((1.0 / fan_in.sqrt()) as f32)).collect()
        };
        let (first, second) = (layer(288 + 32, 9.0), layer(64 * 288 + 64, 288.0));
        for (found, bits) in [
            (first[0], 0x3E827B33),
            (first[1], 0x3E8DA79A),
            (first[2], 0xBD9FEE16),
            (first[288], 0x3E8F1340),
            (first[319], 0x3D8DB0C6),
            (second[0], 0xBD27C0C8),
        ] {
            assert_eq!(found.to_bits(), bits, "{found}");
        }
        assert_eq!(second[64 * 288 + 63], 0.046_365_377);
    }
}
