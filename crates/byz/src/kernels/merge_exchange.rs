//! Batcher's merge exchange for any n (Knuth, TAOCP 3, algorithm 5.2.2M); shared with `build.rs`.

/// The exchanges (i, j), i < j, that sort n values in this order.
pub(crate) fn merge_exchange(n: usize) -> Vec<(usize, usize)> {
    let mut exchanges = Vec::new();
    let top = n.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            exchanges.extend((0..n - d).filter(|i| i & p == r).map(|i| (i, i + d)));
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    exchanges
}
