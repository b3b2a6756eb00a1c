//! What more than half agree on, and what no coalition of liars could have forged alone.

/// What more than half of the votes, and more than the tolerance, are for: at least one of them is honest. Where all
/// agree there is nothing to decide, and too few messages are refused for being few.
pub(crate) fn majority<'a, V: PartialEq>(votes: &[&'a V], tolerance: usize) -> Option<&'a V> {
    // Whoever has more than half survives the pairwise cancelling of unequal votes (Boyer and Moore).
    let (mut leader, mut lead) = (None, 0usize);
    for &vote in votes {
        match leader {
            Some(current) if current == vote => lead += 1,
            _ if lead == 0 => (leader, lead) = (Some(vote), 1),
            _ => lead -= 1,
        }
    }
    leader.filter(|leader| {
        let count = votes.iter().filter(|vote| vote == &leader).count();
        2 * count > votes.len() && (count > tolerance || count == votes.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_half_of_all_is_a_majority_and_half_is_none() {
        assert_eq!(majority(&[&1, &2, &1, &3, &1], 0), Some(&1));
        assert_eq!(majority(&[&2, &1, &1], 0), Some(&1));
        assert_eq!(majority(&[&1, &2, &1, &2], 0), None);
        assert_eq!(majority(&[&3, &1, &2], 0), None);
        assert_eq!(majority(&[&1, &1, &1, &2], 3), None);
        assert_eq!(majority(&[&1, &1], 3), Some(&1));
        assert_eq!(majority::<u8>(&[], 0), None);
    }
}
