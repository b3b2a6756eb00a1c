//! Gradients against central differences, for tests: (f(x + h) − f(x − h)) / 2h.
//!
//! A large step h rounds less; a small one meets fewer kinks of ReLU and max-pool.

/// Fixed numbers in ±1 without pattern.
pub(crate) fn wave(count: usize, phase: usize) -> Vec<f64> {
    (0..count).map(|k| ((k * k + 3 * k) as f64 * 0.37 + 1.7 * phase as f64).sin()).collect()
}

/// Asserts that `gradient` is that of `value` at `point`, up to `tolerance` of its largest entry: every coordinate if there
/// are few, else a spread of 12.
pub(crate) fn agrees(
    mut value: impl FnMut(&[f64]) -> f64,
    point: &[f64],
    gradient: &[f64],
    step: f64,
    tolerance: f64,
) {
    assert_eq!(point.len(), gradient.len());
    let scale = gradient.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    assert!(scale > 0.0, "a gradient of zeros shows nothing");
    let mut moved = point.to_vec();
    for k in (0..point.len()).step_by(point.len().div_ceil(12)) {
        let mut at = |x: f64| {
            moved[k] = x;
            value(&moved)
        };
        let difference = (at(point[k] + step) - at(point[k] - step)) / (2.0 * step);
        moved[k] = point[k];
        let error = (difference - gradient[k]).abs();
        assert!(
            error <= tolerance * scale,
            "coordinate {k}: {} but differences say {difference}",
            gradient[k]
        );
    }
}
