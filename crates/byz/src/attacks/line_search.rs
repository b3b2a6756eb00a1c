//! The strongest member of a family of forgeries with one parameter z, found by asking the defence.
//!
//!   maximise ‖A(honest, f copies of forge(z)) − mean(honest)‖ over z of either sign, within 20 probes.
//!
//! For either sign a bracket 0 < 1 < 2.6 grows by the golden ratio while its end is best, or shrinks towards zero
//! while its start is; then golden section in the better of the two. Growth by the same ratio keeps every bracket
//! golden, so no probe is wasted. The best point ever probed wins, and z = 0 is among them: never worse than z = 0.
//! Against a rule without bound (the mean) it grows until the budget ends, at |z| ≈ 840. Deviation: ByzFL starts at
//! 0, doubles while better and then shrinks by 0.8, for z ≥ 0 only.

use super::View;
use crate::{kernels::Scalar, rows_mut::RowsMut};

/// Probes of the defence per round.
const PROBES: usize = 20;
/// Of these, to bracket the maximum on either side of zero.
const PROBES_PER_SIGN: usize = 6;
/// φ = 1 + 1/φ.
const GOLDEN: f64 = 1.618_033_988_749_895;

/// Sends the strongest of the rows that `forge` writes; `mean` is the honest one.
pub(super) fn send_strongest<T: Scalar>(
    view: &View<'_, T>,
    mean: &[f64],
    mut out: RowsMut<'_, T>,
    forge: impl Fn(f64, &mut [T]),
) {
    let best = maximize(|z| {
        forge(z, out.row_mut(0));
        view.displacement(&vec![out.row(0); out.count()], mean)
    });
    forge(best, out.row_mut(0));
    out.repeat_first();
}

/// Where the objective is largest of the points that the budget allows.
fn maximize(objective: impl FnMut(f64) -> f64) -> f64 {
    let mut search = Search { objective, left: PROBES, best: Point { at: 0.0, value: f64::NEG_INFINITY } };
    let zero = search.probe(0.0);
    let [plus, minus] = [1.0, -1.0].map(|sign| {
        let mut bracket = [zero, search.probe(sign), search.probe(sign * (1.0 + GOLDEN))];
        for _ in 2..PROBES_PER_SIGN {
            if !holds(&bracket) {
                bracket = search.narrow(bracket);
            }
        }
        bracket
    });
    let mut bracket = if highest(&minus) > highest(&plus) { minus } else { plus };
    while search.left > 0 {
        bracket = search.narrow(bracket);
    }
    search.best.at
}

#[derive(Clone, Copy)]
struct Point {
    at: f64,
    value: f64,
}

/// Three points in order of their distance from zero, the middle one at a golden section.
type Bracket = [Point; 3];

/// Whether a maximum lies inside.
fn holds([start, middle, end]: &Bracket) -> bool {
    middle.value > start.value && middle.value >= end.value
}

fn highest(bracket: &Bracket) -> f64 {
    bracket.iter().fold(f64::NEG_INFINITY, |highest, point| highest.max(point.value))
}

struct Search<F> {
    objective: F,
    left: usize,
    best: Point,
}

impl<F: FnMut(f64) -> f64> Search<F> {
    fn probe(&mut self, at: f64) -> Point {
        self.left -= 1;
        let point = Point { at, value: (self.objective)(at) };
        if point.value > self.best.value {
            self.best = point;
        }
        point
    }

    /// One probe: outwards if the end is best, inwards if the start is, else into the larger section.
    fn narrow(&mut self, [start, middle, end]: Bracket) -> Bracket {
        if end.value > middle.value {
            return [middle, end, self.probe(end.at + GOLDEN * (end.at - middle.at))];
        }
        if start.value >= middle.value {
            return [start, self.probe(start.at + (middle.at - start.at) / (GOLDEN * GOLDEN)), middle];
        }
        let new = self.probe(start.at + end.at - middle.at);
        let outside = (new.at - start.at).abs() > (middle.at - start.at).abs();
        match (outside, new.value > middle.value) {
            (true, true) => [middle, new, end],
            (true, false) => [start, middle, new],
            (false, true) => [start, new, middle],
            (false, false) => [new, middle, end],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_peak_of_either_sign_near_or_far() {
        for peak in [0.03, 0.4, 1.7, 30.0, -0.03, -1.0, -5.0, -60.0] {
            let found = maximize(|z| -(z - peak) * (z - peak));
            assert!((found / peak - 1.0).abs() < 0.1, "{found} {peak}");
        }
    }

    #[test]
    fn never_does_worse_than_zero_and_keeps_to_the_budget() {
        let mut probes = 0;
        let found = maximize(|z| {
            probes += 1;
            -z.abs()
        });
        assert_eq!((found, probes), (0.0, PROBES));
        assert_eq!(maximize(|_| 0.0), 0.0);
        assert_eq!(maximize(|z| if z == 0.0 { 0.0 } else { f64::NAN }), 0.0);
    }

    #[test]
    fn finds_the_edge_where_a_filter_begins() {
        let found = maximize(|z| if (0.0..3.5).contains(&z) { z } else { 0.0 });
        assert!(found > 3.3, "{found}");
    }
}
