//! Kernels that stream one row: its sum (the unit in which `byz bench` measures), its validity, its distance.

use super::{Kernels, Lanes, Scalar, dispatch};

dispatch! {
    /// Adds up a contiguous slice as fast as memory delivers it.
    sum => sum_lanes(values: &[T]) -> f64
}

#[inline(always)]
fn sum_lanes<L: Lanes>(values: &[L::Scalar]) -> f64 {
    // Eight accumulators hide the latency of the additions.
    let mut sums = [L::splat(L::Scalar::default()); 8];
    let step = 8 * L::WIDTH;
    let mut start = 0;
    while start + step <= values.len() {
        for (k, sum) in sums.iter_mut().enumerate() {
            // SAFETY: start + step ≤ len.
            *sum = sum.add(unsafe { L::load(values.as_ptr().add(start + k * L::WIDTH)) });
        }
        start += step;
    }
    while start + L::WIDTH <= values.len() {
        // SAFETY: start + WIDTH ≤ len.
        sums[0] = sums[0].add(unsafe { L::load(values.as_ptr().add(start)) });
        start += L::WIDTH;
    }
    let tail: f64 = values[start..].iter().map(|value| value.to_f64()).sum();
    sums.iter().map(|sum| sum.total()).sum::<f64>() + tail
}

dispatch! {
    /// Whether every value is admissible.
    is_clean => is_clean_lanes(values: &[T]) -> bool
}

#[inline(always)]
fn is_clean_lanes<L: Lanes>(values: &[L::Scalar]) -> bool {
    let mut flags = L::splat(L::Scalar::default());
    let whole = values.len() / L::WIDTH * L::WIDTH;
    for start in (0..whole).step_by(L::WIDTH) {
        // SAFETY: start + WIDTH ≤ len.
        flags = unsafe { L::load(values.as_ptr().add(start)) }.flag_inadmissible(flags);
    }
    L::is_clean(flags) && values[whole..].iter().all(|value| value.is_admissible())
}

dispatch! {
    /// Whether two rows hold the same numbers; NaN is no number.
    is_equal => is_equal_lanes(a: &[T], b: &[T]) -> bool
}

#[inline(always)]
fn is_equal_lanes<L: Lanes>(a: &[L::Scalar], b: &[L::Scalar]) -> bool {
    let whole = a.len() / L::WIDTH * L::WIDTH;
    let all = (1u32 << L::WIDTH) - 1;
    a.len() == b.len()
        && (0..whole).step_by(L::WIDTH).all(|start| {
            // SAFETY: start + WIDTH ≤ len of both.
            let (x, y) = unsafe { (L::load(a.as_ptr().add(start)), L::load(b.as_ptr().add(start))) };
            x.same_bits(y) == all
        })
        && a[whole..] == b[whole..]
}

dispatch! {
    /// Σ (aₖ − bₖ)² in f64.
    squared_distance => squared_distance_lanes(a: &[T], b: &[T]) -> f64
}

#[inline(always)]
fn squared_distance_lanes<L: Lanes>(a: &[L::Scalar], b: &[L::Scalar]) -> f64 {
    assert_eq!(a.len(), b.len());
    let mut sum = L::splat_sum(0.0);
    let whole = a.len() / L::WIDTH * L::WIDTH;
    for start in (0..whole).step_by(L::WIDTH) {
        // SAFETY: start + WIDTH ≤ len of both.
        let (x, y) = unsafe { (L::load(a.as_ptr().add(start)), L::load(b.as_ptr().add(start))) };
        sum = x.square_into(y, sum);
    }
    let rest = a[whole..].iter().zip(&b[whole..]).map(|(x, y)| (x.to_f64() - y.to_f64()).powi(2));
    L::total_sum(sum) + rest.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_whole_vectors_and_the_rest() {
        let values: Vec<f32> = (0..1003).map(|k| k as f32).collect();
        for kernels in Kernels::available() {
            assert_eq!(sum(kernels, &values), 1002.0 * 1003.0 / 2.0);
        }
    }

    #[test]
    fn finds_one_bad_value_anywhere() {
        for kernels in Kernels::available() {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                for place in [0, 7, 8, 16, 18] {
                    let mut values = [f32::MAX; 19];
                    assert!(is_clean(kernels, &values));
                    values[place] = bad;
                    assert!(!is_clean(kernels, &values));
                }
            }
            assert!(is_clean(kernels, &[1e146; 9]) && !is_clean(kernels, &[1e150; 9]));
        }
    }

    #[test]
    fn notices_one_difference_anywhere() {
        let a = [1.5f32; 19];
        for kernels in Kernels::available() {
            assert!(is_equal(kernels, &a, &a) && !is_equal(kernels, &[f32::NAN; 9], &[f32::NAN; 9]));
            for place in [0, 7, 8, 18] {
                let mut b = a;
                b[place] = -1.5;
                assert!(!is_equal(kernels, &a, &b));
                assert_eq!(squared_distance(kernels, &a, &b), 9.0);
            }
        }
    }
}
