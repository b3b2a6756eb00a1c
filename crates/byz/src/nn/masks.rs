//! Dropout: which activations a worker forgets in a round.
//!
//! Each decision takes 16 bits of a counter-based stream, so the mask of a sequence at one site of the network is the same
//! however the batch is cut and whatever ran before. Kept activations are multiplied by 1/(share kept).

use crate::random::Stream;

/// Decisions that one group of random words makes.
const GROUP: usize = 64;
/// Values of 16 bits.
const OUTCOMES: f64 = 65536.0;

/// The dropout masks of one batch.
#[derive(Clone, Debug)]
pub struct Masks {
    stream: Stream,
    threshold: u32,
    sites: usize,
}

impl Masks {
    /// Masks that drop a share `rate` of the activations, below one, at each of `sites` places of the network.
    pub fn new(stream: Stream, rate: f64, sites: usize) -> Masks {
        Masks { stream, threshold: (rate * OUTCOMES).round().min(OUTCOMES - 1.0) as u32, sites }
    }

    /// What kept activations are multiplied by: with it, expectations are exactly those without dropout.
    pub fn scale(&self) -> f64 {
        OUTCOMES / (OUTCOMES - f64::from(self.threshold))
    }

    /// One site of one sequence of the batch.
    pub fn at(&self, sequence: usize, site: usize) -> Place<'_> {
        debug_assert!(site < self.sites);
        Place { masks: self, page: (sequence * self.sites + site) as u32 }
    }
}

/// Where in the network, and for which sequence.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    masks: &'a Masks,
    page: u32,
}

impl Place<'_> {
    /// Ones for what is kept and zeros for what is dropped, from decision `64·group` on.
    #[inline(always)]
    pub(super) fn fill(&self, mut group: usize, kept: &mut [u8]) {
        for kept in kept.chunks_mut(GROUP) {
            let words = self.masks.stream.group(self.page, group as u32);
            let mut flags = [0; GROUP];
            for (k, word) in words.iter().enumerate() {
                flags[k] = u8::from(word & 0xFFFF >= self.masks.threshold);
                flags[k + GROUP / 2] = u8::from(word >> 16 >= self.masks.threshold);
            }
            kept.copy_from_slice(&flags[..kept.len()]);
            group += 1;
        }
    }

    /// Groups of decisions that `count` of them take.
    pub(super) fn groups(count: usize) -> usize {
        count.div_ceil(GROUP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_dropped_is_the_rate_and_the_scale_makes_up_for_it() {
        let masks = Masks::new(Stream::new(1, "dropout", 0, 1), 0.1, 3);
        let mut kept = vec![0; 100_001];
        masks.at(2, 1).fill(0, &mut kept);
        let share = kept.iter().filter(|&&kept| kept == 1).count() as f64 / kept.len() as f64;
        // Three standard deviations.
        assert!((share - 0.9).abs() < 3.0 * (0.09f64 / 1e5).sqrt(), "{share}");
        assert!((masks.scale() * 0.9 - 1.0).abs() < 1e-5);
        let mut other = vec![0; 100_001];
        masks.at(1, 2).fill(0, &mut other);
        assert_ne!(kept, other);
        masks.at(2, 1).fill(10, &mut other[..70]);
        assert_eq!(kept[640..710], other[..70]);
    }
}
