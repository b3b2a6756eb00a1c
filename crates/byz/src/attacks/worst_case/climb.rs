//! Hill climbing in a few coefficients, within a budget of probes.
//!
//! First the origin, the starts that the caller knows, and every axis, both signs, at four scales; then from the best of these random steps: along the point
//! itself, along one axis, or in any direction. A step that pays is tried again and longer, one that does not is tried
//! backwards, then shorter. Never worse than the origin, and the same for the same stream.

use crate::random::Stream;

/// Scales of the first look, the likeliest first, so that a small budget sees every axis once.
const SCALES: [f64; 4] = [1.0, 3.0, 0.3, 30.0];
const LONGER: f64 = 1.7;
const SHORTER: f64 = 0.75;

/// The best point found with at most `budget` probes of the damage.
pub(super) fn climb(
    axes: usize,
    starts: &[Vec<f64>],
    budget: usize,
    stream: &mut Stream,
    damage: impl FnMut(&[f64]) -> f64,
) -> Vec<f64> {
    let mut search = Search { damage, left: budget, best: vec![0.0; axes], most: f64::NEG_INFINITY };
    search.probe(vec![0.0; axes]);
    for start in starts {
        search.probe(start.clone());
    }
    for scale in SCALES {
        for axis in 0..axes {
            for sign in [1.0, -1.0] {
                let point = (0..axes).map(|k| if k == axis { sign * scale } else { 0.0 }).collect();
                search.probe(point);
            }
        }
    }
    let mut length = 0.5;
    while search.left > 0 && axes > 0 && length > 1e-9 {
        let step = step(&search.best, length, stream);
        let moved = |from: &[f64], sign: f64| from.iter().zip(&step).map(|(x, s)| x + sign * s).collect();
        if search.probe(moved(&search.best, 1.0)) || search.probe(moved(&search.best, -1.0)) {
            length *= LONGER;
        } else {
            length *= SHORTER;
        }
    }
    search.best
}

/// A random step of `length` times the size of the point.
fn step(from: &[f64], length: f64, stream: &mut Stream) -> Vec<f64> {
    let size = from.iter().map(|x| x * x).sum::<f64>().sqrt();
    let axis = stream.below(from.len() as u64) as usize;
    let mut step: Vec<f64> = match stream.below(3) {
        0 if size > 0.0 => from.to_vec(),
        1 => (0..from.len()).map(|k| f64::from(u8::from(k == axis))).collect(),
        _ => from.iter().map(|_| stream.normal()).collect(),
    };
    let norm = step.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let scale = length * if size > 0.0 { size } else { 1.0 } / norm;
    step.iter_mut().for_each(|x| *x *= scale);
    step
}

struct Search<F> {
    damage: F,
    left: usize,
    best: Vec<f64>,
    most: f64,
}

impl<F: FnMut(&[f64]) -> f64> Search<F> {
    /// Whether the point is the best so far; without budget none is.
    fn probe(&mut self, point: Vec<f64>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let damage = (self.damage)(&point);
        let better = damage > self.most;
        if better {
            (self.most, self.best) = (damage, point);
        }
        better
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(budget: usize, damage: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
        climb(3, &[], budget, &mut Stream::new(1, "test", 0, 0), damage)
    }

    #[test]
    fn climbs_to_a_peak_off_the_axes() {
        let peak = [2.0, -1.0, 0.2];
        let best = found(400, |c| -c.iter().zip(peak).map(|(c, p)| (c - p).powi(2)).sum::<f64>());
        assert!(best.iter().zip(peak).all(|(c, p)| (c - p).abs() < 0.05), "{best:?}");
    }

    #[test]
    fn finds_the_edge_where_a_filter_begins() {
        let best = found(200, |c| {
            let size = c.iter().map(|c| c * c).sum::<f64>().sqrt();
            if size < 3.7 { size } else { 0.0 }
        });
        assert!(best.iter().map(|c| c * c).sum::<f64>().sqrt() > 3.6, "{best:?}");
    }

    #[test]
    fn keeps_to_the_budget_and_never_does_worse_than_the_origin() {
        for budget in [1, 2, 7, 40, 100] {
            let mut probes = 0;
            let best = found(budget, |c| {
                probes += 1;
                -c.iter().map(|c| c.abs()).sum::<f64>()
            });
            assert_eq!((best, probes), (vec![0.0; 3], budget));
        }
        assert_eq!(found(50, |c| if c == [0.0; 3] { 0.0 } else { f64::NAN }), [0.0; 3]);
        let known = climb(1, &[vec![-80.0]], 9, &mut Stream::new(1, "test", 0, 0), |c| -c[0]);
        assert!(known[0] <= -80.0);
        assert_eq!(climb(0, &[], 9, &mut Stream::new(1, "test", 0, 0), |_| 1.0), [0.0; 0]);
    }
}
