//! y = W x + b for every sample of a batch.
//!
//!   ∂W = Σ ∂y xᵀ,   ∂b = Σ ∂y,   ∂x = Wᵀ ∂y;   W is outputs × inputs.
//!
//! A batch lies sample after sample, or feature after feature: the product by W of a wide input is a tenth faster if its
//! result lies by feature, because then the samples are transposed and not the weights.

use super::{
    Real,
    product::{Into, View, multiply},
};

/// How a batch lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All features of a sample together.
    BySample,
    /// All samples of a feature together.
    ByFeature,
}

impl Order {
    /// The batch as a matrix of samples × features.
    fn view<T>(self, batch: &[T], samples: usize, features: usize) -> View<'_, T> {
        match self {
            Order::BySample => View::new(batch, samples, features),
            Order::ByFeature => View::new(batch, features, samples).t(),
        }
    }

    /// a · b, samples × features, into a batch that lies so.
    fn multiply<T: Real>(self, a: View<'_, T>, b: View<'_, T>, batch: &mut [T], stride: usize, into: Into) {
        match self {
            Order::BySample => multiply(T::ONE, a, b, batch, stride, into),
            Order::ByFeature => multiply(T::ONE, b.t(), a.t(), batch, stride, into),
        }
    }

    fn stride(self, samples: usize, features: usize) -> usize {
        if self == Order::BySample { features } else { samples }
    }
}

/// A linear layer; its parameters are W, then b.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linear {
    /// Numbers per sample that go in.
    pub inputs: usize,
    /// Numbers per sample that come out.
    pub outputs: usize,
    /// How x lies.
    pub x: Order,
    /// How y lies.
    pub y: Order,
}

impl Linear {
    /// From sample after sample to sample after sample.
    pub const fn new(inputs: usize, outputs: usize) -> Linear {
        Linear { inputs, outputs, x: Order::BySample, y: Order::BySample }
    }

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
        match self.y {
            Order::BySample => y.chunks_exact_mut(self.outputs).for_each(|row| row.copy_from_slice(bias)),
            Order::ByFeature => y.chunks_exact_mut(samples).zip(bias).for_each(|(row, &bias)| row.fill(bias)),
        }
        let x = self.x.view(x, samples, self.inputs);
        let weight = View::new(weight, self.outputs, self.inputs);
        self.y.multiply(x, weight.t(), y, self.y.stride(samples, self.outputs), Into::Add);
    }

    /// The gradient with respect to the parameters, given ∂y.
    pub fn backward<T: Real>(self, x: &[T], dy: &[T], gradient: &mut [T], into: Into) {
        let samples = dy.len() / self.outputs;
        let (weight, bias) = gradient.split_at_mut(self.inputs * self.outputs);
        let (x, dy_matrix) = (self.x.view(x, samples, self.inputs), self.y.view(dy, samples, self.outputs));
        multiply(T::ONE, dy_matrix.t(), x, weight, self.inputs, into);
        if into == Into::Replace {
            bias.fill(T::ZERO);
        }
        match self.y {
            Order::BySample => add_rows(dy, bias),
            Order::ByFeature => {
                bias.iter_mut().zip(dy.chunks_exact(samples)).for_each(|(bias, row)| *bias += total(row));
            }
        }
    }

    /// Writes ∂x, given ∂y.
    pub fn backward_input<T: Real>(self, parameters: &[T], dy: &[T], dx: &mut [T]) {
        let samples = dy.len() / self.outputs;
        let weight = View::new(parameters, self.outputs, self.inputs);
        let dy = self.y.view(dy, samples, self.outputs);
        self.x.multiply(dy, weight, dx, self.x.stride(samples, self.inputs), Into::Replace);
    }
}

/// Adds all rows to `sum`: the gradient of a bias.
pub(super) fn add_rows<T: Real>(rows: &[T], sum: &mut [T]) {
    for row in rows.chunks_exact(sum.len()) {
        sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += value);
    }
}

/// The sum of all numbers, in eight chains that do not wait for one another.
pub(super) fn total<T: Real>(values: &[T]) -> T {
    let (eights, rest) = values.as_chunks::<8>();
    let mut sums = [T::ZERO; 8];
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(sum, &value)| *sum += value);
    }
    sums.iter().chain(rest).fold(T::ZERO, |sum, &value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::differences::{agrees, wave};

    /// The same batch in the other order.
    fn turned(order: Order, by_sample: &[f64], features: usize) -> Vec<f64> {
        let samples = by_sample.len() / features;
        match order {
            Order::BySample => by_sample.to_vec(),
            Order::ByFeature => {
                (0..by_sample.len()).map(|k| by_sample[k % samples * features + k / samples]).collect()
            }
        }
    }

    #[test]
    fn both_orders_give_the_same_numbers() {
        let (parameters, x) = (wave(18, 1), wave(20, 2));
        let forward = |layer: Linear| {
            let mut y = vec![0.0; 12];
            layer.forward(&parameters, &turned(layer.x, &x, 5), &mut y);
            y
        };
        let plain = forward(Linear::new(5, 3));
        for x in [Order::BySample, Order::ByFeature] {
            let found = forward(Linear { inputs: 5, outputs: 3, x, y: Order::ByFeature });
            let wanted = turned(Order::ByFeature, &plain, 3);
            assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-14), "{found:?} {wanted:?}");
        }
    }

    #[test]
    fn gradients_are_those_of_central_differences() {
        let [a, b] = [Order::BySample, Order::ByFeature];
        for (x, y) in [(a, a), (a, b), (b, a), (b, b)] {
            check(Linear { inputs: 5, outputs: 3, x, y });
        }
    }

    fn check(layer: Linear) {
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
