//! LayerNorm over rows of C numbers.
//!
//!   x̂ = (x − mean x)·s,  s = 1/√(var x + 1e-5),  y = x̂·gain + shift
//!   ∂x = s·(∂x̂ − mean ∂x̂ − x̂·mean(∂x̂·x̂)),  ∂x̂ = ∂y·gain
//!
//! The variance is that of the differences to the mean, so a common offset cancels before it is squared.
//! Reference: Ba, Kiros, Hinton: "Layer normalization", 2016.

use super::{
    Smooth,
    sums::{dot, sum},
    vectorized::vectorized,
};

const EPSILON: f64 = 1e-5;

/// What the backward pass needs of the forward pass.
#[derive(Clone, Debug, Default)]
pub struct Memory<T> {
    normalized: Vec<T>,
    scales: Vec<T>,
    /// What came out.
    pub out: Vec<T>,
}

impl<T: Smooth> Memory<T> {
    /// Room for `rows` of `width`.
    pub fn new(rows: usize, width: usize) -> Memory<T> {
        let numbers = vec![T::ZERO; rows * width];
        Memory { normalized: numbers.clone(), scales: vec![T::ZERO; rows], out: numbers }
    }
}

vectorized! {
    /// Normalises the rows of `input` into `memory.out`.
    pub fn forward = forward_body(input: &[T], gain: &[T], shift: &[T], memory: &mut Memory<T>)
}

vectorized! {
    /// Adds the gradient of the input to `input_gradient`, and those of gain and shift to theirs, which lie one behind the
    /// other.
    pub fn backward = backward_body(
        gradient: &[T],
        gain: &[T],
        memory: &Memory<T>,
        input_gradient: &mut [T],
        gain_and_shift_gradient: &mut [T],
    )
}

#[inline(always)]
fn forward_body<T: Smooth, const FUSED: bool>(input: &[T], gain: &[T], shift: &[T], memory: &mut Memory<T>) {
    let width = gain.len();
    let share = T::from_f64(1.0 / width as f64);
    let rows = input.chunks_exact(width).zip(memory.normalized.chunks_exact_mut(width));
    for (((x, normalized), out), scale) in
        rows.zip(memory.out.chunks_exact_mut(width)).zip(&mut memory.scales)
    {
        let mean = sum(x) * share;
        for (normalized, &x) in normalized.iter_mut().zip(x) {
            *normalized = x - mean;
        }
        let variance = dot::<T, FUSED>(normalized, normalized) * share;
        *scale = T::ONE / (variance + T::from_f64(EPSILON)).sqrt();
        for (((out, normalized), &gain), &shift) in out.iter_mut().zip(normalized).zip(gain).zip(shift) {
            *normalized *= *scale;
            *out = normalized.multiply_add::<FUSED>(gain, shift);
        }
    }
}

#[inline(always)]
fn backward_body<T: Smooth, const FUSED: bool>(
    gradient: &[T],
    gain: &[T],
    memory: &Memory<T>,
    input_gradient: &mut [T],
    gain_and_shift_gradient: &mut [T],
) {
    let width = gain.len();
    let share = T::from_f64(1.0 / width as f64);
    let (gain_gradient, shift_gradient) = gain_and_shift_gradient.split_at_mut(width);
    let rows = gradient.chunks_exact(width).zip(memory.normalized.chunks_exact(width));
    for (((dy, normalized), dx), &scale) in
        rows.zip(input_gradient.chunks_exact_mut(width)).zip(&memory.scales)
    {
        for (((&dy, &x), gain), shift) in
            dy.iter().zip(normalized).zip(&mut *gain_gradient).zip(&mut *shift_gradient)
        {
            *gain = dy.multiply_add::<FUSED>(x, *gain);
            *shift += dy;
        }
        let mean = dot::<T, FUSED>(dy, gain) * share;
        // Σ ∂y·gain·x̂ without a buffer for ∂y·gain.
        let along = dot_of_three::<T, FUSED>(dy, gain, normalized) * share;
        for (((dx, &dy), &gain), &x) in dx.iter_mut().zip(dy).zip(gain).zip(normalized) {
            let centred = dy.multiply_add::<FUSED>(gain, -mean);
            *dx = (-x).multiply_add::<FUSED>(along, centred).multiply_add::<FUSED>(scale, *dx);
        }
    }
}

#[inline(always)]
fn dot_of_three<T: Smooth, const FUSED: bool>(a: &[T], b: &[T], c: &[T]) -> T {
    const LANES: usize = 16;
    let mut lanes = [T::ZERO; LANES];
    for ((a, b), c) in a.chunks(LANES).zip(b.chunks(LANES)).zip(c.chunks(LANES)) {
        for (((lane, &a), &b), &c) in lanes.iter_mut().zip(a).zip(b).zip(c) {
            *lane = (a * b).multiply_add::<FUSED>(c, *lane);
        }
    }
    sum(&lanes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scalar function of everything that goes in, and its gradients.
    fn loss(input: &[f64], gain: &[f64], shift: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let mut memory = Memory::new(input.len() / gain.len(), gain.len());
        forward(input, gain, shift, &mut memory);
        let dy: Vec<f64> = (0..input.len()).map(|k| (k as f64 * 0.7).cos()).collect();
        let value = dy.iter().zip(&memory.out).map(|(a, b)| a * b).sum();
        let (mut dx, mut parameters) = (vec![0.0; input.len()], vec![0.0; 2 * gain.len()]);
        backward(&dy, gain, &memory, &mut dx, &mut parameters);
        (value, dx, parameters)
    }

    #[test]
    fn rows_have_mean_zero_and_variance_one() {
        let mut memory = Memory::new(2, 4);
        let input = [1.0, 2.0, 3.0, 4.0, 1e6, 1e6 + 1.0, 1e6 + 2.0, 1e6 + 3.0];
        forward(&input, &[1.0; 4], &[0.0; 4], &mut memory);
        let unit = (1.25 + 1e-5f64).sqrt();
        for (out, wanted) in memory.out.iter().zip([-1.5, -0.5, 0.5, 1.5, -1.5, -0.5, 0.5, 1.5]) {
            assert!((out - wanted / unit).abs() < 1e-12);
        }
    }

    #[test]
    fn gradients_are_central_differences() {
        let (rows, width, step) = (3, 37, 1e-5);
        let mut input: Vec<f64> = (0..rows * width).map(|k| (k as f64).sin() + 0.3).collect();
        let mut gain: Vec<f64> = (0..width).map(|k| 1.0 + 0.1 * (k as f64).cos()).collect();
        let mut shift: Vec<f64> = (0..width).map(|k| 0.1 * k as f64).collect();
        let (_, dx, parameters) = loss(&input, &gain, &shift);
        let mut check = |which: usize, index: usize, gradient: f64| {
            let mut at = |offset: f64| {
                [&mut input, &mut gain, &mut shift][which][index] += offset;
                let value = loss(&input, &gain, &shift).0;
                [&mut input, &mut gain, &mut shift][which][index] -= offset;
                value
            };
            let difference = (at(step) - at(-step)) / (2.0 * step);
            assert!((difference - gradient).abs() < 1e-8, "{which} {index}: {difference} {gradient}");
        };
        dx.iter().enumerate().for_each(|(k, &gradient)| check(0, k, gradient));
        for (k, &gradient) in parameters.iter().enumerate() {
            check(1 + k / width, k % width, gradient);
        }
    }
}
