//! Sums over rows in 32 interleaved partial sums: four vectors of f32, enough to hide the latency of an addition, in an
//! order that depends on the length alone.

use super::Smooth;

const LANES: usize = 32;

/// Σ aᵢ.
#[inline(always)]
pub(super) fn sum<T: Smooth>(a: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let chunks = a.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    for (lane, &a) in lanes.iter_mut().zip(rest) {
        *lane += a;
    }
    fold(lanes, |a, b| a + b)
}

/// Σ aᵢ·bᵢ.
#[inline(always)]
pub(super) fn dot<T: Smooth, const FUSED: bool>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest = left.remainder().iter().zip(right.remainder());
    for (a, b) in left.zip(right) {
        for lane in 0..LANES {
            lanes[lane] = a[lane].multiply_add::<FUSED>(b[lane], lanes[lane]);
        }
    }
    for (lane, (&a, &b)) in lanes.iter_mut().zip(rest) {
        *lane = a.multiply_add::<FUSED>(b, *lane);
    }
    fold(lanes, |a, b| a + b)
}

/// The largest of `a`, which must not be empty.
#[inline(always)]
pub(super) fn largest<T: Smooth>(a: &[T]) -> T {
    let mut lanes = [a[0]; LANES];
    let chunks = a.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] = chunk[lane].max(lanes[lane]);
        }
    }
    for (lane, &a) in lanes.iter_mut().zip(rest) {
        *lane = a.max(*lane);
    }
    fold(lanes, T::max)
}

#[inline(always)]
fn fold<T: Copy>(mut lanes: [T; LANES], join: impl Fn(T, T) -> T) -> T {
    let mut width = LANES;
    while width > 1 {
        width /= 2;
        for lane in 0..width {
            lanes[lane] = join(lanes[lane], lanes[lane + width]);
        }
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_counts_once_whatever_the_length() {
        for count in [1, 31, 32, 33, 100] {
            let a: Vec<f64> = (0..count).map(|k| f64::from(k * 7 % 11)).collect();
            assert_eq!(sum(&a), a.iter().sum::<f64>());
            assert_eq!(dot::<_, true>(&a, &a), a.iter().map(|a| a * a).sum::<f64>());
            assert_eq!(largest(&a), a.iter().copied().fold(0.0, f64::max));
        }
    }
}
