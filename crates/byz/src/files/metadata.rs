//! The metadata of an aggregated checkpoint: what its sources share.

use super::{candidate::Candidate, layout::Layout};
use std::collections::BTreeMap;

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
