//! The least line above all points: (L₀, L₁) such that L₀ + L₁·x ≥ y for every point (x, y) = (‖∇f‖, ℓ) seen so far.
//!
//! Of all such lines with L₀, L₁ ≥ 0 the one that is lowest over the mean of the x. Only the upper hull of the points can
//! matter, so only that is kept: a handful of points, however long the run.

use serde::{Deserialize, Serialize};

/// The upper hull of the points so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// From left to right.
    hull: Vec<[f64; 2]>,
    /// Sum and number of the x.
    total: (f64, u64),
}

impl Envelope {
    /// One more point.
    pub fn add(&mut self, x: f64, y: f64) {
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        self.total.0 += x;
        self.total.1 += 1;
        let place = self.hull.partition_point(|point| point[0] < x || (point[0] == x && point[1] > y));
        self.hull.insert(place, [x, y]);
        let mut hull: Vec<[f64; 2]> = Vec::with_capacity(self.hull.len());
        for &point in &self.hull {
            while let [.., a, b] = hull.as_slice()
                && cross(*a, *b, point) >= 0.0
            {
                hull.pop();
            }
            // Of points above one another the highest comes first.
            if hull.last().is_none_or(|last| last[0] < point[0]) {
                hull.push(point);
            }
        }
        self.hull = hull;
    }

    /// L₀ and L₁; none before the first point.
    pub fn line(&self) -> Option<[f64; 2]> {
        let mean = self.total.0 / self.total.1 as f64;
        let highest = self.hull.iter().fold(f64::NEG_INFINITY, |highest, point| highest.max(point[1]));
        // Where all x are equal, rounding may put their mean beyond them.
        let last = self.hull.len().checked_sub(1)?;
        let right = self.hull.iter().position(|point| point[0] >= mean).unwrap_or(last);
        let [a, b] = [self.hull[right.saturating_sub(1)], self.hull[right]];
        let slope = if b[0] > a[0] { (b[1] - a[1]) / (b[0] - a[0]) } else { 0.0 };
        let start = a[1] - slope * a[0];
        if slope <= 0.0 {
            return Some([highest.max(0.0), 0.0]);
        }
        if start >= 0.0 {
            return Some([start, slope]);
        }
        // Through the origin.
        let steepest = self.hull.iter().filter(|p| p[0] > 0.0).map(|p| p[1] / p[0]).fold(0.0, f64::max);
        Some([0.0, steepest])
    }
}

/// Positive where the way a → b → c turns left.
fn cross(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn envelope(points: &[[f64; 2]]) -> Envelope {
        let mut envelope = Envelope::default();
        points.iter().for_each(|&[x, y]| envelope.add(x, y));
        envelope
    }

    #[test]
    fn lies_above_every_point_and_no_other_line_is_lower_over_the_mean() {
        for seed in 0..50 {
            let mut stream = Stream::new(seed, "test", 0, 0);
            let points: Vec<[f64; 2]> = (0..40)
                .map(|_| {
                    let x = 3.0 * stream.uniform();
                    [x, (2.0 + 1.5 * x) * stream.uniform() - 0.3 * (seed % 3) as f64]
                })
                .collect();
            let [l0, l1] = envelope(&points).line().unwrap();
            assert!(l0 >= 0.0 && l1 >= 0.0);
            assert!(points.iter().all(|p| l0 + l1 * p[0] >= p[1] - 1e-12), "{seed}");
            let mean = points.iter().map(|p| p[0]).sum::<f64>() / 40.0;
            // Every line through two points, every level one and every one through the origin.
            let lines = points.iter().flat_map(|a| {
                points.iter().map(move |b| {
                    let slope = (b[1] - a[1]) / (b[0] - a[0]);
                    [a[1] - slope * a[0], slope]
                })
            });
            let level = points.iter().map(|p| [p[1], 0.0]);
            let steep = points.iter().map(|p| [0.0, p[1] / p[0]]);
            for [a, b] in lines.chain(level).chain(steep).filter(|line| line[0] >= 0.0 && line[1] >= 0.0) {
                let above = points.iter().all(|p| a + b * p[0] >= p[1] - 1e-12);
                assert!(!above || a + b * mean >= l0 + l1 * mean - 1e-9, "{seed}: {a} {b} {l0} {l1}");
            }
        }
    }

    #[test]
    fn exact_lines_are_found_and_one_point_gives_a_level_one() {
        assert_eq!(envelope(&[]).line(), None);
        assert_eq!(envelope(&[[2.0, 3.0]]).line(), Some([3.0, 0.0]));
        // Three times 0.1, by three, is above 0.1.
        assert_eq!(envelope(&[[0.1, 3.0]; 3]).line(), Some([3.0, 0.0]));
        assert_eq!(envelope(&[[1.0, 3.0], [2.0, 5.0], [3.0, 7.0], [2.0, 1.0]]).line(), Some([1.0, 2.0]));
        assert_eq!(envelope(&[[1.0, 1.0], [2.0, 5.0], [f64::NAN, 9.0]]).line(), Some([0.0, 2.5]));
    }
}
