//! The exponential and the normal distribution, in a form that compilers turn into vectors.
//!
//!   eˣ = 2ⁿ·eʳ,  n = round(x·log₂e),  eʳ = 1 + r + r²·P(r), |r| ≤ ½ln 2
//!   Φ(−a) = e^(−a²/2)·t·Q(t),  t = 1/(1 + 0.35a),  a ≥ 0;   Φ(a) = 1 − Φ(−a)
//!
//! P and Q are minimax fits, relative errors 3e-9 and 3e-8; in f32 eˣ is good to 1.2e-7 relative and Φ to 4e-7 where
//! x > −2, with an absolute error below 2e-7 everywhere. No branches, no table, no integer conversion: a loop over a slice
//! vectorises, and NaN comes out as NaN. f64 serves the gradient checks and is good to 1e-14, not fast.
//!
//! `FUSED` says whether the processor multiplies and adds in one instruction; without it `mul_add` would be a call.

use super::Real;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Numbers with an exponential that vectorises.
pub trait Smooth: Real {
    /// self · factor + addend, rounded once if `FUSED`.
    fn multiply_add<const FUSED: bool>(self, factor: Self, addend: Self) -> Self;
    /// eˣ; f32 arguments are clamped to ±87, so that the result is neither zero nor infinite.
    fn exponential<const FUSED: bool>(self) -> Self;
    /// Distribution function and density of the normal distribution, (Φ(x), φ(x)).
    fn normal<const FUSED: bool>(self) -> (Self, Self);
}

const EXPONENTIAL: [f32; 5] = [0.499_999_94, 0.166_665_21, 0.041_668_39, 0.008_368_716, 0.001_381_460_2];
const TAIL: [f32; 9] = [
    0.139_621_66,
    0.139_857_56,
    0.119_863_09,
    0.105_392_14,
    -0.022_843_422,
    0.158_796_56,
    -0.255_391,
    0.143_818_41,
    -0.029_115_015,
];
const TAIL_SCALE: f32 = 0.35;
const DENSITY_AT_ZERO: f64 = 0.398_942_280_401_432_7;

impl Smooth for f32 {
    #[inline(always)]
    fn multiply_add<const FUSED: bool>(self, factor: f32, addend: f32) -> f32 {
        if FUSED { self.mul_add(factor, addend) } else { self * factor + addend }
    }

    #[inline(always)]
    fn exponential<const FUSED: bool>(self) -> f32 {
        // Adding 1.5·2²³ rounds to a whole number that then sits in the lowest bits.
        const ROUND: f32 = 12_582_912.0;
        // ln 2 in two parts, the first with so few bits that n times it is exact.
        const LN_2_HIGH: f32 = 0.693_359_4;
        const LN_2_LOW: f32 = -2.121_944_4e-4;
        // Comparisons with NaN are false: it passes through.
        let x = if self < -87.0 { -87.0 } else { self };
        let x = if x > 87.0 { 87.0 } else { x };
        let shifted = x.multiply_add::<FUSED>(std::f32::consts::LOG2_E, ROUND);
        let n = shifted - ROUND;
        let r = n.multiply_add::<FUSED>(-LN_2_HIGH, x);
        let r = n.multiply_add::<FUSED>(-LN_2_LOW, r);
        let p = horner::<FUSED, 5>(r, &EXPONENTIAL);
        let mantissa = (r * r).multiply_add::<FUSED>(p, r) + 1.0;
        mantissa * f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3F80_0000))
    }

    #[inline(always)]
    fn normal<const FUSED: bool>(self) -> (f32, f32) {
        let a = self.abs();
        let decay = (-0.5 * a * a).exponential::<FUSED>();
        let t = 1.0 / a.multiply_add::<FUSED>(TAIL_SCALE, 1.0);
        let tail = decay * (t * horner::<FUSED, 9>(t, &TAIL));
        (if self > 0.0 { 1.0 - tail } else { tail }, decay * DENSITY_AT_ZERO as f32)
    }
}

/// c₀ + c₁x + c₂x² + …
#[inline(always)]
fn horner<const FUSED: bool, const N: usize>(x: f32, coefficients: &[f32; N]) -> f32 {
    let mut value = coefficients[N - 1];
    for k in (0..N - 1).rev() {
        value = value.multiply_add::<FUSED>(x, coefficients[k]);
    }
    value
}

impl Smooth for f64 {
    #[inline(always)]
    fn multiply_add<const FUSED: bool>(self, factor: f64, addend: f64) -> f64 {
        if FUSED { self.mul_add(factor, addend) } else { self * factor + addend }
    }

    fn exponential<const FUSED: bool>(self) -> f64 {
        self.exp()
    }

    fn normal<const FUSED: bool>(self) -> (f64, f64) {
        (0.5 * erfc(-self * FRAC_1_SQRT_2), DENSITY_AT_ZERO * (-0.5 * self * self).exp())
    }
}

/// 1 − erf(x) to 1e-14: a series of positive terms near zero, a continued fraction in the tails.
fn erfc(x: f64) -> f64 {
    let z = x.abs();
    let tail = if z < 2.5 {
        let (mut term, mut sum, mut n) = (z, z, 1.0);
        while term > 1e-18 * sum {
            term *= 2.0 * z * z / (2.0 * n + 1.0);
            sum += term;
            n += 1.0;
        }
        1.0 - 2.0 / PI.sqrt() * (-z * z).exp() * sum
    } else {
        let fraction = (1..=120).rev().fold(z, |below, k| z + f64::from(k) / 2.0 / below);
        (-z * z).exp() / PI.sqrt() / fraction
    };
    if x < 0.0 { 2.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(from: f32, to: f32, error: impl Fn(f32) -> f64, bound: f64) {
        let count = 400_000;
        let at = |k: i32| from + (to - from) * k as f32 / count as f32;
        let worst = (0..=count).map(at).map(|x| (error(x), x)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        assert!(worst.0 < bound, "error {} at {}", worst.0, worst.1);
    }

    #[test]
    fn the_exponential_is_good_to_the_last_bit_but_one() {
        let relative = |fast: f32, x: f32| (f64::from(fast) / f64::from(x).exp() - 1.0).abs();
        check(-86.9, 86.9, |x| relative(x.exponential::<true>(), x), 1.2e-7);
        check(-86.9, 86.9, |x| relative(x.exponential::<false>(), x), 1.2e-7);
        check(-1.0, 1.0, |x| relative(x.exponential::<true>(), x), 1.2e-7);
        assert!(f32::NAN.exponential::<true>().is_nan());
        assert!(f32::NEG_INFINITY.exponential::<false>() < 1e-37);
    }

    #[test]
    fn the_normal_distribution_matches_f64() {
        let exact = |x: f32| f64::from(x).normal::<false>();
        let fast = |x: f32| x.normal::<true>();
        check(-2.0, 9.0, |x| (f64::from(fast(x).0) / exact(x).0 - 1.0).abs(), 4e-7);
        check(-13.0, 13.0, |x| (f64::from(fast(x).0) - exact(x).0).abs(), 2e-7);
        check(-13.0, 13.0, |x| (f64::from(fast(x).1) - exact(x).1).abs(), 1e-7);
        check(-9.0, 9.0, |x| (f64::from(x.normal::<false>().0) - exact(x).0).abs(), 2e-7);
    }

    /// Python's `math.erfc`.
    #[test]
    fn the_complementary_error_function_is_good_to_1e_14() {
        for (x, wanted) in [
            (0.0, 1.0),
            (0.1, 0.8875370839817152),
            (0.5, 0.4795001221869535),
            (1.0, 0.15729920705028513),
            (2.0, 0.004677734981047265),
            (2.499, 0.0004091357557446054),
            (2.501, 0.00040477917058370907),
            (4.0, 1.541725790028002e-08),
            (-0.7, 1.6778011938374184),
            (-3.0, 1.9999779095030015),
        ] {
            assert!((erfc(x) - wanted).abs() < 1e-14, "{x}: {} {wanted}", erfc(x));
        }
    }
}
