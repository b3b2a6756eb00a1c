//! Softmax and cross-entropy in one: −log softmax(z)_y, gradient softmax(z) − onehot(y).

use super::Real;

/// Replaces each row of `classes` logits by `weight` times the gradient of its loss; gives the sum of the losses.
pub fn cross_entropy<T: Real>(
    logits: &mut [T],
    classes: usize,
    label: impl Fn(usize) -> usize,
    weight: T,
) -> f64 {
    let mut loss = 0.0;
    for (sample, row) in logits.chunks_exact_mut(classes).enumerate() {
        let label = label(sample);
        // Nothing overflows once the largest is subtracted.
        let largest = row.iter().copied().fold(row[0], Real::max);
        let chosen = (row[label] - largest).to_f64();
        let mut sum = T::ZERO;
        for z in row.iter_mut() {
            *z = (*z - largest).exp();
            sum += *z;
        }
        loss += sum.to_f64().ln() - chosen;
        let scale = weight / sum;
        row.iter_mut().for_each(|z| *z *= scale);
        row[label] -= weight;
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_are_a_logistic_loss() {
        let mut logits = [0.0, 2.0, 1e4, 0.0];
        let loss = cross_entropy(&mut logits, 2, |_| 0, 0.5);
        let probability = 1.0 / (1.0 + 2f64.exp());
        assert!((loss + probability.ln()).abs() < 1e-12);
        let wanted = [0.5 * (probability - 1.0), 0.5 * (1.0 - probability), 0.0, 0.0];
        assert!(logits.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{logits:?}");
    }
}
