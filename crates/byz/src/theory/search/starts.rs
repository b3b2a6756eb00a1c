//! Where a search begins.

use super::Counts;
use crate::random::Stream;

/// Rows that differ on one coordinate: zeros and ones, with every number of honest ones and all Byzantine rows at either, and what shows that
/// a rule has no constant, which comes first where there is none. What is known to be bad precedes ever finer steps, because there may be
/// time for only a few; it is tried with the Byzantine rows last and first (true).
pub(super) fn structured(counts: &Counts, unbounded: bool) -> impl Iterator<Item = (Vec<Vec<f64>>, bool)> {
    let (n, f, d, honest) =
        (counts.messages, counts.tolerance, counts.dimension, counts.messages - counts.tolerance);
    let two_valued = move |(ones, byzantine): (usize, bool)| -> Vec<f64> {
        (0..n).map(|i| f64::from(if i < honest { i < ones } else { byzantine })).collect()
    };
    // As many honest ones as there may be Byzantine rows, between which no rule can tell; as many as leave the zeros their majority, or
    // a tie; and agreement.
    let known = [(f.max(1), false), (n - n / 2 - 1, false), ((n - n / 2).min(honest), false), (0, true)];
    let rest = finer(honest).flat_map(|ones| [(ones, false), (ones, true)]);
    let rest =
        rest.filter(move |choice| !known.contains(choice)).map(two_valued).map(|values| (values, false));
    // Agreement beyond any given radius, and copies far from honest rows of which no two are equal.
    let copies = |i: usize| if i < honest { i as f64 } else { FAR * n as f64 };
    let mut first: Vec<Vec<f64>> = known.into_iter().map(two_valued).collect();
    let place = if unbounded { 0 } else { first.len() };
    first.splice(place..place, [vec![FAR; n], (0..n).map(copies).collect()]);
    let both = [false, true]
        .into_iter()
        .flat_map(move |liars| first.clone().into_iter().map(move |values| (values, liars)));
    both.chain(rest).map(move |(values, liars_first)| {
        let row = |value: f64| (0..d).map(|k| if k == 0 { value } else { 0.0 }).collect();
        (values.into_iter().map(row).collect(), liars_first)
    })
}

/// Far from everything of size one, and yet within what rounding can tell.
const FAR: f64 = 1e5;

/// 0 to `last`, each once: the ends of the range, its middle, its quarters and so on.
fn finer(last: usize) -> impl Iterator<Item = usize> {
    let steps = std::iter::successors(Some((last + 1).next_power_of_two()), |step| Some(step / 2));
    let odd = steps.take_while(|&step| step > 1).flat_map(move |step| (step / 2..=last).step_by(step));
    std::iter::once(0).chain(odd)
}

/// Where a climb begins: agreement, clusters, heavy tails and normal rows in turn.
pub(super) fn start(counts: &Counts, number: u64, stream: &mut Stream) -> Vec<Vec<f64>> {
    let (n, d, honest) = (counts.messages, counts.dimension, counts.messages - counts.tolerance);
    let mut rows: Vec<Vec<f64>> = match number % 4 {
        0 => vec![vec![1.0; d]; n],
        1 => clusters(n, d, stream),
        2 => (0..n).map(|_| (0..d).map(|_| stream.student_t(1.5)).collect()).collect(),
        _ => (0..n).map(|_| (0..d).map(|_| stream.normal()).collect()).collect(),
    };
    // Every other time the Byzantine rows are copies of one another, a little apart from the honest.
    if number % 8 < 4 {
        let apart = 10f64.powf(-3.0 * stream.uniform());
        let colluding: Vec<f64> = rows[0].iter().map(|value| value + apart * stream.normal()).collect();
        rows[honest..].fill(colluding);
    }
    // Not all rules are the same at every scale.
    let scale = 10f64.powf(6.0 * stream.uniform() - 3.0);
    rows.iter_mut().flatten().for_each(|value| *value *= scale);
    rows
}

/// Rows at two or three places.
fn clusters(n: usize, d: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let places: Vec<Vec<f64>> =
        (0..2 + stream.below(2)).map(|_| (0..d).map(|_| stream.normal()).collect()).collect();
    (0..n).map(|_| places[stream.below(places.len() as u64) as usize].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_comes_once() {
        for last in 0..70 {
            let mut all: Vec<usize> = finer(last).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..=last), "{last}");
        }
        assert_eq!(finer(8).collect::<Vec<_>>(), [0, 8, 4, 2, 6, 1, 3, 5, 7]);
    }
}
