//! Where ⟨v, u⟩ is largest on the unit balls of vectors.
//!
//!   ℓ2: v/‖v‖        ℓ∞: sign(v), 0 where v is 0        ℓ1: ± one at the largest |v|, the lowest index of several

use crate::{kernels::Scalar, transforms::length::Length};

#[derive(Clone, Copy)]
pub(super) enum Ball {
    L2,
    Linf,
    L1,
}

impl Ball {
    pub(super) fn named(name: &str) -> Option<Ball> {
        match name {
            "l2" => Some(Ball::L2),
            "linf" => Some(Ball::Linf),
            "l1" => Some(Ball::L1),
            _ => None,
        }
    }

    /// Replaces finite values by the point of the ball of this radius; zero stays zero.
    pub(super) fn point<T: Scalar>(self, values: &mut [T], radius: f64) {
        let signed = |value: T| match value.to_f64() {
            value if value > 0.0 => T::from_f64(radius),
            value if value < 0.0 => T::from_f64(-radius),
            _ => T::default(),
        };
        match self {
            Ball::L2 => {
                let length = Length::of(values);
                if !length.is_zero() {
                    length.rescale(values, radius);
                }
            }
            Ball::Linf => values.iter_mut().for_each(|value| *value = signed(*value)),
            Ball::L1 => {
                let larger = |best: usize, index: usize| {
                    let size = |index: usize| values[index].to_f64().abs();
                    if size(index) > size(best) { index } else { best }
                };
                let Some(best) = (0..values.len()).reduce(larger) else { return };
                let corner = signed(values[best]);
                values.fill(T::default());
                values[best] = corner;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_by_hand() {
        let point = |ball: Ball, mut values: [f32; 3]| {
            ball.point(&mut values, 2.0);
            values
        };
        assert_eq!(point(Ball::L2, [3.0, 0.0, -4.0]), [1.2, 0.0, -1.6]);
        assert_eq!(point(Ball::Linf, [3.0, 0.0, -4.0]), [2.0, 0.0, -2.0]);
        assert_eq!(point(Ball::L1, [3.0, 0.0, -4.0]), [0.0, 0.0, -2.0]);
        assert_eq!(point(Ball::L1, [1.0, -4.0, 4.0]), [0.0, -2.0, 0.0]);
        for ball in [Ball::L2, Ball::Linf, Ball::L1] {
            assert_eq!(point(ball, [0.0, -0.0, 0.0]), [0.0; 3]);
            ball.point::<f32>(&mut [], 1.0);
        }
    }
}
