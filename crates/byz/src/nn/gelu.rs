//! GELU, the smooth gate of transformers.
//!
//!   erf:   x·Φ(x),            slope Φ(x) + x·φ(x)
//!   tanh:  x·σ(2u),           slope σ + 2x·u'·σ(1 − σ),   u = √(2/π)·(x + 0.044715x³),
//!
//! the second because ½(1 + tanh u) = σ(2u). The slope comes with the value, from the same exponential, so the backward pass
//! is one multiplication.
//! Reference: Hendrycks, Gimpel: "Gaussian error linear units", 2016.

use super::{Smooth, vectorized::vectorized};

/// Which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gelu {
    /// With the normal distribution.
    Erf,
    /// Its approximation by tanh, as in GPT-2.
    Tanh,
}

vectorized! {
    /// Rows `x` before their bias: `out` becomes gelu(x + bias), `x` the slope there.
    pub fn forward = forward_body(gelu: Gelu, x: &mut [T], bias: &[T], out: &mut [T])
}

vectorized! {
    /// `gradient` of what came out becomes that of what went in; rows are added to `bias_gradient`.
    pub fn backward = backward_body(gradient: &mut [T], slope: &[T], bias_gradient: &mut [T])
}

#[inline(always)]
fn forward_body<T: Smooth, const FUSED: bool>(gelu: Gelu, x: &mut [T], bias: &[T], out: &mut [T]) {
    match gelu {
        Gelu::Erf => each::<T>(x, bias, out, erf::<T, FUSED>),
        Gelu::Tanh => each::<T>(x, bias, out, tanh::<T, FUSED>),
    }
}

#[inline(always)]
fn each<T: Smooth>(x: &mut [T], bias: &[T], out: &mut [T], value_and_slope: impl Fn(T) -> (T, T)) {
    let width = bias.len();
    for (x, out) in x.chunks_exact_mut(width).zip(out.chunks_exact_mut(width)) {
        for ((x, out), &bias) in x.iter_mut().zip(out).zip(bias) {
            (*out, *x) = value_and_slope(*x + bias);
        }
    }
}

#[inline(always)]
fn erf<T: Smooth, const FUSED: bool>(x: T) -> (T, T) {
    let (below, density) = x.normal::<FUSED>();
    (x * below, x.multiply_add::<FUSED>(density, below))
}

#[inline(always)]
fn tanh<T: Smooth, const FUSED: bool>(x: T) -> (T, T) {
    let [cubic, root] = [0.044715, (2.0 / std::f64::consts::PI).sqrt()].map(T::from_f64);
    let (square, twice) = (x * x, root + root);
    let double = twice * x * square.multiply_add::<FUSED>(cubic, T::ONE);
    let gate = T::ONE / (T::ONE + (-double).exponential::<FUSED>());
    let steepness = twice * square.multiply_add::<FUSED>(T::from_f64(3.0) * cubic, T::ONE);
    (x * gate, (x * steepness * gate).multiply_add::<FUSED>(T::ONE - gate, gate))
}

#[inline(always)]
fn backward_body<T: Smooth, const FUSED: bool>(gradient: &mut [T], slope: &[T], bias_gradient: &mut [T]) {
    let width = bias_gradient.len();
    for (gradient, slope) in gradient.chunks_exact_mut(width).zip(slope.chunks_exact(width)) {
        for ((gradient, &slope), sum) in gradient.iter_mut().zip(slope).zip(&mut *bias_gradient) {
            *gradient *= slope;
            *sum += *gradient;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T: Smooth>(gelu: Gelu, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut slope: Vec<T> = x.iter().map(|&x| T::from_f64(x)).collect();
        let mut out = slope.clone();
        forward(gelu, &mut slope, &[T::ZERO], &mut out);
        let wide = |values: Vec<T>| values.into_iter().map(T::to_f64).collect();
        (wide(out), wide(slope))
    }

    fn points() -> Vec<f64> {
        (-9000..9000).map(|k| f64::from(k as f32 / 1000.0)).collect()
    }

    /// torch.nn.functional.gelu(x, approximate="none") and "tanh", in f64.
    #[test]
    fn values_are_those_of_pytorch() {
        let (erf, _) = run::<f64>(Gelu::Erf, &[1.0, -2.0]);
        assert!((erf[0] - 0.8413447460685429).abs() < 1e-14 && (erf[1] + 0.04550026389635842).abs() < 1e-14);
        let (tanh, _) = run::<f64>(Gelu::Tanh, &[1.0, -2.0]);
        assert!((tanh[0] - 0.8411919906082768).abs() < 1e-14 && (tanh[1] + 0.04540230591222).abs() < 1e-12);
    }

    #[test]
    fn slopes_are_central_differences() {
        let step = 1e-5;
        for gelu in [Gelu::Erf, Gelu::Tanh] {
            let at = |offset: f64| run::<f64>(gelu, &points().iter().map(|x| x + offset).collect::<Vec<_>>());
            let ((up, _), (down, _), (_, slope)) = (at(step), at(-step), at(0.0));
            for k in 0..slope.len() {
                assert!(((up[k] - down[k]) / (2.0 * step) - slope[k]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn single_precision_is_good_to_one_part_in_two_million() {
        for gelu in [Gelu::Erf, Gelu::Tanh] {
            let (exact, fast) = (run::<f64>(gelu, &points()), run::<f32>(gelu, &points()));
            for (k, x) in points().iter().enumerate() {
                let tolerance = 5e-7 * x.abs().max(1.0);
                assert!((exact.0[k] - fast.0[k]).abs() < tolerance, "{x}: {} {}", exact.0[k], fast.0[k]);
                assert!((exact.1[k] - fast.1[k]).abs() < tolerance, "{x}: {} {}", exact.1[k], fast.1[k]);
            }
        }
    }

    #[test]
    fn the_bias_gradient_adds_rows_up() {
        let (mut gradient, mut bias) = ([1.0, 2.0, 3.0, 4.0], [10.0, 0.0]);
        backward(&mut gradient, &[1.0, 0.5, 1.0, 2.0], &mut bias);
        assert_eq!((gradient, bias), ([1.0, 1.0, 3.0, 8.0], [14.0, 9.0]));
    }
}
