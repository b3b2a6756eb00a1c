//! Where training starts: uniform in ±1/√fan_in, PyTorch's default for linear and convolution layers.

use super::Real;
use crate::{
    layout::{Layout, Tensor},
    pytorch_random::Generator,
    random::Stream,
};

/// Weights and the biases that follow them, uniform within ±1/√(inputs of one output). Each tensor has its own stream, so
/// the numbers of one layer do not move when another changes.
pub fn uniform_by_fan_in<T: Real>(layout: &Layout, seed: u64) -> Vec<T> {
    let mut parameters = Vec::with_capacity(layout.dimension());
    for (tensor, bound) in bounds(layout) {
        let mut stream = Stream::new(seed, &format!("initial {}", tensor.name), 0, 0);
        parameters.extend((0..tensor.len()).map(|_| T::from_f64(bound * (2.0 * stream.uniform() - 1.0))));
    }
    parameters
}

/// The very numbers that PyTorch's layers have, made one after another in this order after `torch.manual_seed(seed)`.
pub fn uniform_as_pytorch<T: Real>(layout: &Layout, seed: u64) -> Vec<T> {
    let mut generator = Generator::new(seed);
    let numbers = bounds(layout).flat_map(|(tensor, bound)| std::iter::repeat_n(bound as f32, tensor.len()));
    numbers.map(|bound| T::from_f64(generator.uniform(bound).into())).collect()
}

/// Every tensor with 1/√fan_in: a bias has that of the weights before it.
fn bounds(layout: &Layout) -> impl Iterator<Item = (&Tensor, f64)> {
    layout.tensors().iter().scan(1.0, |bound, tensor| {
        if let Some((_, fan_in)) = tensor.matrix() {
            *bound = 1.0 / (fan_in as f64).sqrt();
        }
        Some((tensor, *bound))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Role;

    #[test]
    fn stays_within_the_bound_and_fills_it() {
        let layout =
            Layout::new().with("weight", &[50, 4, 2, 2], Role::Matrix).with("bias", &[50], Role::Vector);
        let parameters: Vec<f64> = uniform_by_fan_in(&layout, 3);
        let largest = |values: &[f64]| values.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        for part in [&parameters[..800], &parameters[800..]] {
            assert!((0.2..=0.25).contains(&largest(part)), "{}", largest(part));
        }
        let variance = parameters.iter().map(|x| x * x).sum::<f64>() / 850.0;
        assert!((variance / (0.0625 / 3.0) - 1.0).abs() < 0.1, "{variance}");
        assert_ne!(parameters, uniform_by_fan_in::<f64>(&layout, 4));
    }
}
