//! The order that `torch.randperm` gives with a seeded generator on the CPU.
//!
//! Which of two outcomes the published MNIST runs reach is decided in their first rounds, by which images come first; so
//! the released protocol needs the released order. MT19937 (Matsumoto, Nishimura: "Mersenne Twister", ACM TOMACS 1998).

/// Words of the generator's state, and how far apart the words are that make a new one.
const WORDS: usize = 624;
const APART: usize = 397;

struct MersenneTwister {
    state: [u32; WORDS],
    used: usize,
}

impl MersenneTwister {
    fn new(seed: u32) -> MersenneTwister {
        let mut state = [seed; WORDS];
        for i in 1..WORDS {
            let before = state[i - 1];
            state[i] = (before ^ (before >> 30)).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        MersenneTwister { state, used: WORDS }
    }

    fn next_u32(&mut self) -> u32 {
        if self.used == WORDS {
            for i in 0..WORDS {
                let joined = self.state[i] & 0x8000_0000 | self.state[(i + 1) % WORDS] & 0x7FFF_FFFF;
                let twist = if joined & 1 == 1 { 0x9908_B0DF } else { 0 };
                self.state[i] = self.state[(i + APART) % WORDS] ^ (joined >> 1) ^ twist;
            }
            self.used = 0;
        }
        let mut word = self.state[self.used];
        self.used += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9D2C_5680;
        word ^= (word << 15) & 0xEFC6_0000;
        word ^ (word >> 18)
    }
}

/// `torch.randperm(count, generator=torch.Generator().manual_seed(seed))`; the seed counts modulo 2³².
pub(super) fn pytorch_permutation(seed: u64, count: usize) -> Vec<usize> {
    let mut generator = MersenneTwister::new(seed as u32);
    let mut order: Vec<usize> = (0..count).collect();
    for place in 0..count.saturating_sub(1) {
        let chosen = generator.next_u32() as usize % (count - place);
        order.swap(place, place + chosen);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values printed by PyTorch 2.
    #[test]
    fn agrees_with_pytorch() {
        assert_eq!(pytorch_permutation(5, 10), [1, 4, 9, 6, 3, 5, 0, 2, 8, 7]);
        assert_eq!(pytorch_permutation(0, 12), [8, 0, 5, 9, 7, 4, 2, 10, 3, 1, 11, 6]);
        let ends = |seed: u64, count: usize| {
            let order = pytorch_permutation(seed, count);
            [order[0], order[1], order[2], order[count - 2], order[count - 1]]
        };
        assert_eq!(ends(4103, 3530), [3124, 2280, 1247, 1475, 1293]);
        assert_eq!(ends(3, 60_000), [38986, 46111, 53123, 49374, 32804]);
        assert!(pytorch_permutation(1, 0).is_empty());
    }
}
