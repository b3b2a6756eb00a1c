//! MT19937, the generator of PyTorch on the CPU and of NumPy's older interface: what was published with them can be drawn again.
//!
//! Matsumoto, Nishimura: "Mersenne Twister", ACM TOMACS 1998.

/// Words of the generator's state, and how far apart the words are that make a new one.
const WORDS: usize = 624;
const APART: usize = 397;

/// The generator after a seed and the words taken since.
#[derive(Clone)]
pub(crate) struct MersenneTwister {
    state: [u32; WORDS],
    used: usize,
}

impl MersenneTwister {
    pub(crate) fn new(seed: u32) -> MersenneTwister {
        let mut state = [seed; WORDS];
        for i in 1..WORDS {
            let before = state[i - 1];
            state[i] = (before ^ (before >> 30)).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        MersenneTwister { state, used: WORDS }
    }

    /// The next 32 bits.
    pub(crate) fn next_u32(&mut self) -> u32 {
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
