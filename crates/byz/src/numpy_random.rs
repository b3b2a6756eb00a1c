//! What NumPy's older interface draws: `numpy.random.seed(seed)`, then `numpy.random.randn()`.

use crate::mersenne_twister::MersenneTwister;

/// Normal numbers after a seed, one behind the other.
#[derive(Clone)]
pub(crate) struct Normals {
    twister: MersenneTwister,
    spare: Option<f64>,
}

impl Normals {
    pub(crate) fn new(seed: u32) -> Normals {
        Normals { twister: MersenneTwister::new(seed), spare: None }
    }

    /// Leaves out the next `count` numbers.
    pub(crate) fn skip(&mut self, count: u64) {
        for _ in 0..count {
            self.next();
        }
    }

    /// 53 bits in [0, 1).
    fn uniform(&mut self) -> f64 {
        let (high, low) = (self.twister.next_u32() >> 5, self.twister.next_u32() >> 6);
        (f64::from(high) * f64::from(1 << 26) + f64::from(low)) / (1u64 << 53) as f64
    }

    /// Marsaglia's polar method: points of the square until one lies in the disc, each good for two numbers, the second first.
    pub(crate) fn next(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let squared = x * x + y * y;
            if squared > 0.0 && squared < 1.0 {
                let factor = (-2.0 * squared.ln() / squared).sqrt();
                self.spare = Some(factor * x);
                return factor * y;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values printed by NumPy 2.
    #[test]
    fn agrees_with_numpy() {
        for (seed, wanted) in [
            (
                0,
                [
                    1.764052345967664,
                    0.4001572083672233,
                    0.9787379841057392,
                    2.240893199201458,
                    -0.35811407547985674,
                ],
            ),
            (
                2,
                [
                    -0.4167578474054706,
                    -0.056266827226329474,
                    -2.136196095668454,
                    1.6402708084049886,
                    0.1967852699696977,
                ],
            ),
            (
                u32::MAX,
                [
                    0.6484086742306527,
                    0.6693235306338161,
                    -1.0805437227474493,
                    0.2845010447986309,
                    0.8396779525796308,
                ],
            ),
        ] {
            let mut normals = Normals::new(seed);
            let found: Vec<f64> = (0..1000).map(|_| normals.next()).collect();
            for (place, wanted) in [0, 1, 2, 3, 999].into_iter().zip(wanted) {
                // The last bit is the logarithm's, which differs between systems.
                assert!(
                    (found[place] - wanted).abs() <= 1e-15 * wanted.abs(),
                    "{seed} {place}: {}",
                    found[place]
                );
            }
        }
    }
}
