//! max(x, 0); its derivative at 0 is 0.

use super::Real;

/// Replaces what is below zero by zero; NaN stays, so that a diverged model shows.
pub fn relu<T: Real>(x: &mut [T]) {
    x.iter_mut().for_each(|x| *x = if *x < T::ZERO { T::ZERO } else { *x });
}

/// Keeps the gradient where the layer's result is above zero.
pub fn relu_backward<T: Real>(y: &[T], dy: &mut [T]) {
    dy.iter_mut().zip(y).for_each(|(d, &y)| *d = if y > T::ZERO { *d } else { T::ZERO });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_positive_and_nothing_at_zero() {
        let mut y = [-1.0, 0.0, 2.0, f64::NAN];
        relu(&mut y);
        assert!(y[..3] == [0.0, 0.0, 2.0] && y[3].is_nan());
        let mut dy = [5.0, 6.0, 7.0];
        relu_backward(&y[..3], &mut dy);
        assert_eq!(dy, [0.0, 0.0, 7.0]);
    }
}
