//! Random numbers by counter: any draw of any stream is reached without the draws before it.
//!
//! Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011). The key is made of
//! the seed and the purpose, the counter of worker, round and position, so streams never overlap and a resumed run
//! continues with the same numbers. Own code, because the stream is part of every published result and must
//! not move with a dependency.

/// A stream of random numbers for one (seed, purpose, worker, round).
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    used: usize,
    spare: Option<f64>,
}

impl Stream {
    /// The stream's start. `worker` and `round` are taken modulo 2³² and 2⁶⁴ − 2³² positions may be drawn.
    pub fn new(seed: u64, purpose: &str, worker: u64, round: u64) -> Stream {
        let key = mix(seed ^ mix(hash(purpose)));
        let (worker, round) = (worker as u32, round as u32);
        Stream {
            key: [key as u32, (key >> 32) as u32],
            counter: [0, 0, worker, round],
            block: [0; 4],
            used: 4,
            spare: None,
        }
    }

    fn next_u32(&mut self) -> u32 {
        if self.used == 4 {
            self.block = philox(self.counter, self.key);
            let position = (u64::from(self.counter[1]) << 32 | u64::from(self.counter[0])) + 1;
            (self.counter[0], self.counter[1]) = (position as u32, (position >> 32) as u32);
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        u64::from(self.next_u32()) << 32 | u64::from(self.next_u32())
    }

    /// The 32 words of one group of a page, wherever the stream stands: pages are streams of their own, by number.
    /// Eight counters run side by side, so that a compiler may keep them in one vector.
    #[inline(always)]
    pub(crate) fn group(&self, page: u32, group: u32) -> [u32; 32] {
        let mut c = [[0; 8], [page; 8], [self.counter[2]; 8], [self.counter[3]; 8]];
        for lane in 0..8 {
            c[0][lane] = group.wrapping_mul(8).wrapping_add(lane as u32);
        }
        let mut key = self.key;
        for _ in 0..10 {
            let mut next = [[0; 8]; 4];
            for lane in 0..8 {
                let left = u64::from(c[0][lane]) * MULTIPLIERS[0];
                let right = u64::from(c[2][lane]) * MULTIPLIERS[1];
                next[0][lane] = (right >> 32) as u32 ^ c[1][lane] ^ key[0];
                next[1][lane] = right as u32;
                next[2][lane] = (left >> 32) as u32 ^ c[3][lane] ^ key[1];
                next[3][lane] = left as u32;
            }
            c = next;
            key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
        }
        let mut words = [0; 32];
        for k in 0..32 {
            words[k] = c[k / 8][k % 8];
        }
        words
    }

    /// Uniform in [0, 1) with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normal with mean 0 and variance 1 (Box and Muller, both halves used).
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        // 1 − u lies in (0, 1], where the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        self.spare = Some(radius * sine);
        radius * cosine
    }

    /// Gamma with this shape and scale 1 (Marsaglia and Tsang).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let boost = (1.0 - self.uniform()).powf(1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && (1.0 - self.uniform()).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    /// Student's t: moments of order p exist for p below `freedom`.
    pub fn student_t(&mut self, freedom: f64) -> f64 {
        self.normal() / (2.0 * self.gamma(freedom / 2.0) / freedom).sqrt()
    }

    /// Uniform in 0..bound, without bias.
    pub fn below(&mut self, bound: u64) -> u64 {
        // Lemire's multiplication with rejection of the short intervals.
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// A random order of 0..count (Fisher–Yates).
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, self.below(last as u64 + 1) as usize);
        }
        order
    }

    /// `count` different numbers of 0..bound, ascending (Floyd's method); all of them if count ≥ bound.
    pub fn sample(&mut self, bound: usize, count: usize) -> Vec<usize> {
        if count >= bound {
            return (0..bound).collect();
        }
        let mut chosen = std::collections::BTreeSet::new();
        for top in bound - count..bound {
            let pick = self.below(top as u64 + 1) as usize;
            if !chosen.insert(pick) {
                chosen.insert(top);
            }
        }
        chosen.into_iter().collect()
    }
}

const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let left = u64::from(counter[0]) * MULTIPLIERS[0];
        let right = u64::from(counter[2]) * MULTIPLIERS[1];
        counter = [
            (right >> 32) as u32 ^ counter[1] ^ key[0],
            right as u32,
            (left >> 32) as u32 ^ counter[3] ^ key[1],
            left as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

/// The finaliser of SplitMix64: every bit of the result depends on every bit of the input.
fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers published with the Random123 library.
    #[test]
    fn philox_gives_the_published_numbers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
        assert_eq!(philox([!0; 4], [!0; 2]), [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]);
        let counter = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344];
        let answer = [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1];
        assert_eq!(philox(counter, [0xa4093822, 0x299f31d0]), answer);
    }

    #[test]
    fn groups_of_pages_are_blocks_of_philox() {
        let stream = Stream::new(5, "test", 6, 7);
        let words = stream.group(11, 3);
        for lane in 0..8 {
            let block = philox([24 + lane as u32, 11, 6, 7], stream.key);
            assert_eq!(block, std::array::from_fn(|word| words[8 * word + lane]));
        }
    }

    #[test]
    fn streams_differ_by_every_part_of_their_name() {
        let first = |mut stream: Stream| stream.next_u64();
        let base = first(Stream::new(1, "a", 2, 3));
        assert_eq!(base, first(Stream::new(1, "a", 2, 3)));
        for other in [
            Stream::new(2, "a", 2, 3),
            Stream::new(1, "b", 2, 3),
            Stream::new(1, "a", 3, 3),
            Stream::new(1, "a", 2, 4),
        ] {
            assert_ne!(base, first(other));
        }
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut stream = Stream::new(3, "test", 0, 0);
        let count = 200_000;
        let mut moments = |draw: &mut dyn FnMut(&mut Stream) -> f64| {
            let values: Vec<f64> = (0..count).map(|_| draw(&mut stream)).collect();
            let mean = values.iter().sum::<f64>() / count as f64;
            (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count as f64)
        };
        for (draw, mean, variance) in [
            (&mut (|s: &mut Stream| s.normal()) as &mut dyn FnMut(&mut Stream) -> f64, 0.0, 1.0),
            (&mut |s: &mut Stream| s.gamma(0.5), 0.5, 0.5),
            (&mut |s: &mut Stream| s.gamma(3.0), 3.0, 3.0),
            (&mut |s: &mut Stream| s.student_t(8.0), 0.0, 8.0 / 6.0),
        ] {
            let (found, spread) = moments(draw);
            assert!((found - mean).abs() < 0.02, "{found} {mean}");
            assert!((spread / variance - 1.0).abs() < 0.04, "{spread} {variance}");
        }
    }

    #[test]
    fn a_permutation_holds_everyone_and_a_sample_is_ascending() {
        let mut stream = Stream::new(9, "test", 0, 0);
        let mut order = stream.permutation(50);
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
        let sample = stream.sample(1000, 40);
        assert_eq!(sample.len(), 40);
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
