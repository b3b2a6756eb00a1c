//! The Euclidean length of an update in f64, of any size that its number type holds.
//!
//! One pass where squares neither overflow nor vanish, which is nearly always; else one more, relative to the largest entry. The
//! length is unit · root, because it may exceed the largest f64 although every entry is finite.

use crate::kernels::Scalar;

/// ‖x‖ = unit · root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Length {
    unit: f64,
    root: f64,
}

/// Independent sums, so that the compiler may use wide registers; the shape of the sum is fixed.
const LANES: usize = 8;

impl Length {
    /// Not finite if an entry is not.
    pub(crate) fn of<T: Scalar>(values: &[T]) -> Length {
        let squares = sum_of_squares(values, |x| x);
        if squares > 1e-200 && squares < 1e200 {
            return Length { unit: 1.0, root: squares.sqrt() };
        }
        if values.iter().any(|x| !x.to_f64().is_finite()) {
            return Length { unit: f64::NAN, root: 1.0 };
        }
        let largest = values.iter().fold(0.0f64, |largest, x| largest.max(x.to_f64().abs()));
        match largest > 0.0 {
            true => Length { unit: largest, root: sum_of_squares(values, |x| x / largest).sqrt() },
            false => Length { unit: 1.0, root: 0.0 },
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        self.unit.is_finite()
    }

    pub(super) fn is_zero(&self) -> bool {
        self.root == 0.0
    }

    /// As one number, infinite if it exceeds the largest f64.
    pub(crate) fn value(&self) -> f64 {
        self.unit * self.root
    }

    /// Gives the values, whose length this is and not zero, the length `to`.
    pub(super) fn rescale<T: Scalar>(&self, values: &mut [T], to: f64) {
        let (unit, factor) = (self.unit, to / self.root);
        if unit == 1.0 {
            values.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() * factor));
        } else {
            values.iter_mut().for_each(|x| *x = T::from_f64(x.to_f64() / unit * factor));
        }
    }
}

#[inline(always)]
fn sum_of_squares<T: Scalar>(values: &[T], scaled: impl Fn(f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest: f64 = chunks.remainder().iter().map(|x| scaled(x.to_f64()).powi(2)).sum();
    for chunk in chunks {
        for k in 0..LANES {
            let x = scaled(chunk[k].to_f64());
            sums[k] += x * x;
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_any_size() {
        for scale in [1.0, 1e-310, 1e-160, 1e160, 1e307] {
            let mut values = vec![0.0; 20];
            (values[3], values[17]) = (3.0 * scale, -4.0 * scale);
            let length = Length::of(&values);
            assert!((length.value() / scale - 5.0).abs() < 1e-12, "{scale}: {length:?}");
            length.rescale(&mut values, 2.0);
            assert!((values[3] - 1.2).abs() < 1e-12 && (values[17] + 1.6).abs() < 1e-12, "{scale}");
        }
        let beyond = Length::of(&[f64::MAX; 9]);
        assert!(beyond.is_finite() && beyond.value() == f64::INFINITY);
        assert!((Length::of(&[1e-45f32, 0.0]).value() / f64::from(1e-45f32) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn zero_and_non_finite_are_told_apart() {
        assert!(Length::of(&[0.0f32; 11]).is_zero() && Length::of::<f32>(&[]).is_zero());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!Length::of(&[1.0, bad]).is_finite() && !Length::of(&[bad, 0.0]).is_finite());
        }
    }
}
