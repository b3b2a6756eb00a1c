//! Batcher's odd-even merge sort for any n (Knuth, TAOCP 3, section 5.3.4); shared with `build.rs`.

/// The exchanges (i, j), i < j, that sort n values in this order. One half is sorted to the end before the other
/// begins, so that the values at work are few enough for registers.
pub(crate) fn merge_exchange(n: usize) -> Vec<(usize, usize)> {
    let mut exchanges = Vec::new();
    sort(&(0..n).collect::<Vec<_>>(), &mut exchanges);
    exchanges
}

/// Sorts the values in `rows`: every second one, the others, then the two sorted lists together.
fn sort(rows: &[usize], exchanges: &mut Vec<(usize, usize)>) {
    if rows.len() < 2 {
        return;
    }
    for parity in 0..2 {
        let half: Vec<usize> = rows.iter().copied().skip(parity).step_by(2).collect();
        sort(&half, exchanges);
    }
    let mut exchange = |first: usize, distance: usize| {
        let lower = (first..rows.len() - distance).step_by(2);
        exchanges.extend(lower.map(|k| (rows[k], rows[k + distance])));
    };
    exchange(0, 1);
    let mut span = rows.len().next_power_of_two() / 2;
    while span > 1 {
        exchange(1, span - 1);
        span /= 2;
    }
}
