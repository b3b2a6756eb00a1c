//! y = W x + b, a row per sample.
//!
//!   ∂W = Σ ∂y xᵀ,   ∂b = Σ ∂y,   ∂x = Wᵀ ∂y;   W is outputs × inputs.

use super::{
    Real,
    product::{Into, View, multiply},
};

/// A linear layer; its parameters are W, then b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// Numbers per sample that go in.
    pub inputs: usize,
    /// Numbers per sample that come out.
    pub outputs: usize,
}

impl Linear {
    /// Number of parameters.
    pub fn size(self) -> usize {
        self.outputs * (self.inputs + 1)
    }

    /// Multiplications and additions of one product with W per sample.
    pub fn flops(self) -> f64 {
        2.0 * self.inputs as f64 * self.outputs as f64
    }

    /// Writes y.
    pub fn forward<T: Real>(self, parameters: &[T], x: &[T], y: &mut [T]) {
        let (weight, bias) = parameters.split_at(self.inputs * self.outputs);
        let samples = y.len() / self.outputs;
        y.chunks_exact_mut(self.outputs).for_each(|row| row.copy_from_slice(bias));
        let weight = View::new(weight, self.outputs, self.inputs);
        multiply(T::ONE, View::new(x, samples, self.inputs), weight.t(), y, self.outputs, Into::Add);
    }

    /// The gradient with respect to the parameters, given ∂y.
    pub fn backward<T: Real>(self, x: &[T], dy: &[T], gradient: &mut [T], into: Into) {
        let samples = dy.len() / self.outputs;
        let (weight, bias) = gradient.split_at_mut(self.inputs * self.outputs);
        let dy_matrix = View::new(dy, samples, self.outputs);
        multiply(T::ONE, dy_matrix.t(), View::new(x, samples, self.inputs), weight, self.inputs, into);
        add_rows(dy, bias, into);
    }

    /// Writes ∂x, given ∂y.
    pub fn backward_input<T: Real>(self, parameters: &[T], dy: &[T], dx: &mut [T]) {
        let samples = dy.len() / self.outputs;
        let weight = View::new(parameters, self.outputs, self.inputs);
        multiply(T::ONE, View::new(dy, samples, self.outputs), weight, dx, self.inputs, Into::Replace);
    }
}

/// The sum of all rows: the gradient of a bias.
pub(super) fn add_rows<T: Real>(rows: &[T], sum: &mut [T], into: Into) {
    if into == Into::Replace {
        sum.fill(T::ZERO);
    }
    for row in rows.chunks_exact(sum.len()) {
        sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::differences::{agrees, wave};

    #[test]
    fn gradients_are_those_of_central_differences() {
        let layer = Linear { inputs: 5, outputs: 3 };
        let (parameters, x, weights) = (wave(layer.size(), 1), wave(20, 2), wave(12, 3));
        let value = |parameters: &[f64], x: &[f64]| {
            let mut y = vec![0.0; 12];
            layer.forward(parameters, x, &mut y);
            y.iter().zip(&weights).map(|(y, w)| y * w).sum()
        };
        let mut gradient = vec![7.0; layer.size()];
        layer.backward(&x, &weights, &mut gradient, Into::Replace);
        agrees(|parameters| value(parameters, &x), &parameters, &gradient, 1e-5, 1e-8);
        let mut twice = gradient.clone();
        layer.backward(&x, &weights, &mut twice, Into::Add);
        assert!(twice.iter().zip(&gradient).all(|(twice, once)| (twice - 2.0 * once).abs() < 1e-12));
        let mut dx = vec![7.0; 20];
        layer.backward_input(&parameters, &weights, &mut dx);
        agrees(|x| value(&parameters, x), &x, &dx, 1e-5, 1e-8);
    }
}
