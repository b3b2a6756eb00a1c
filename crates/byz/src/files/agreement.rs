//! What more than half of the files agree on.

use super::{candidate::Candidate, layout::Layout};
use std::collections::BTreeMap;

/// What more than half of the votes are for.
pub(super) fn majority<'a, V: PartialEq>(votes: &[&'a V]) -> Option<&'a V> {
    // Whoever has more than half survives the pairwise cancelling of unequal votes (Boyer and Moore).
    let (mut leader, mut lead) = (None, 0usize);
    for &vote in votes {
        match leader {
            Some(current) if current == vote => lead += 1,
            _ if lead == 0 => (leader, lead) = (Some(vote), 1),
            _ => lead -= 1,
        }
    }
    leader.filter(|leader| 2 * votes.iter().filter(|vote| vote == &leader).count() > votes.len())
}

/// The entries that more than half of the candidates of this layout share.
pub(super) fn shared_metadata(candidates: &[Candidate], layout: Option<&Layout>) -> BTreeMap<String, String> {
    let voters: Vec<&Candidate> =
        candidates.iter().filter(|one| one.layout.is_some() && one.layout.as_ref() == layout).collect();
    let mut counts: BTreeMap<(&String, &String), usize> = BTreeMap::new();
    for entry in voters.iter().flat_map(|voter| &voter.metadata) {
        *counts.entry(entry).or_default() += 1;
    }
    let shared = counts.into_iter().filter(|(_, count)| 2 * count > voters.len());
    shared.map(|((key, value), _)| (key.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_half_of_all_is_a_majority_and_half_is_none() {
        assert_eq!(majority(&[&1, &2, &1, &3, &1]), Some(&1));
        assert_eq!(majority(&[&2, &1, &1]), Some(&1));
        assert_eq!(majority(&[&1, &2, &1, &2]), None);
        assert_eq!(majority(&[&3, &1, &2]), None);
        assert_eq!(majority::<u8>(&[]), None);
    }
}
