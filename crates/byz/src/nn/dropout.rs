//! Dropout: each unit is zero with probability p and 1/(1 − p) of itself otherwise.
//!
//! A unit is one number, or all numbers of one channel of one sample. 16 random bits decide a unit, so p is a
//! multiple of 2⁻¹⁶ (the nearest to what was asked), and the scale is that p's: the mean is exact.

use super::Real;
use crate::random::Stream;

/// A dropout layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropout {
    /// p · 2¹⁶.
    threshold: u16,
    /// Numbers that live and die together.
    unit: usize,
}

impl Dropout {
    /// Drops units of `unit` consecutive numbers with probability `rate` < 1.
    pub fn new(rate: f64, unit: usize) -> Dropout {
        let threshold = (rate * 65536.0).round().clamp(0.0, 65535.0) as u16;
        Dropout { threshold, unit }
    }

    /// Writes the factor of every number: 0 or 1/(1 − p). The next chunk of a batch continues the stream.
    ///
    /// # Panics
    /// If the mask does not consist of whole units.
    pub fn draw<T: Real>(self, stream: &mut Stream, mask: &mut [T]) {
        assert!(mask.len().is_multiple_of(self.unit), "the mask must consist of whole units");
        let keep = T::from_f64(1.0 / (1.0 - f64::from(self.threshold) / 65536.0));
        let factor = |bits: u64| if bits as u16 >= self.threshold { keep } else { T::ZERO };
        for four in mask.chunks_mut(4 * self.unit) {
            let bits = stream.next_u64();
            if let [a, b, c, d] = four {
                (*a, *b, *c, *d) = (factor(bits), factor(bits >> 16), factor(bits >> 32), factor(bits >> 48));
            } else {
                for (k, unit) in four.chunks_mut(self.unit).enumerate() {
                    unit.fill(factor(bits >> (16 * k)));
                }
            }
        }
    }

    /// Multiplies by the mask: forward, and backward.
    pub fn apply<T: Real>(self, mask: &[T], x: &mut [T]) {
        x.iter_mut().zip(mask).for_each(|(x, &factor)| *x *= factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_whole_units_with_the_asked_probability_and_keeps_the_mean() {
        for (rate, unit) in [(0.25, 1), (0.5, 1), (0.25, 9), (0.1, 4)] {
            let mut mask = vec![7.0; 36_000];
            Dropout::new(rate, unit).draw(&mut Stream::new(1, "test", 0, 0), &mut mask);
            let keep = 1.0 / (1.0 - rate);
            assert!(mask.chunks(unit).all(|unit| unit.iter().all(|x| *x == unit[0])));
            assert!(mask.iter().all(|x| *x == 0.0 || (x / keep - 1.0).abs() < 1e-5));
            let mean = mask.iter().sum::<f64>() / 36_000.0;
            assert!((mean - 1.0).abs() < 0.05, "{rate} {unit}: {mean}");
        }
    }

    #[test]
    fn chunks_continue_the_stream() {
        let (dropout, mut stream) = (Dropout::new(0.5, 2), Stream::new(1, "test", 0, 0));
        let (mut whole, mut parts) = (vec![0.0f32; 32], vec![0.0f32; 32]);
        dropout.draw(&mut stream.clone(), &mut whole);
        parts.chunks_mut(16).for_each(|part| dropout.draw(&mut stream, part));
        assert_eq!(whole, parts);
    }
}
