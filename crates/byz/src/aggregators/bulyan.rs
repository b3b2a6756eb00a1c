//! Bulyan: θ = n − 2f messages picked by repeated Krum, then per coordinate the mean of the θ − 2f nearest the median.
//!
//! After every pick the rest is scored anew among itself with max(1, m − f − 2) neighbours, m the number left:
//! the published count reaches zero for the last picks when f ≤ 1, and one neighbour is the smallest count that still
//! compares messages. A message left alone is picked. Needs n ≥ 4f + 3. Ties go to the lowest worker. Costs two
//! passes and O(n³) scores.
//! Reference: El Mhamdi, Guerraoui, Rouault: "The hidden vulnerability of distributed learning in Byzantium", ICML 2018.

use super::{Aggregator, krum::Scoring};
use crate::{
    defense::Round,
    error::Result,
    geometry::{Geometry, ranked},
    kernels::coordinate::CoordinateRule,
    plan::{Decision, Finish, Note},
    registry::{Entry, Properties},
};

struct Bulyan;

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "bulyan",
    aliases: &[],
    summary: "n−2f messages by repeated Krum, then the mean around their median in every coordinate",
    parameters: &[],
    requirement: "n ≥ 4f+3",
    reference: "El Mhamdi et al., The hidden vulnerability of distributed learning, ICML 2018",
    properties: Properties::ALL,
    build: |_| Ok(Box::new(Bulyan)),
};

impl Aggregator for Bulyan {
    fn defined(&self, messages: usize, tolerance: usize) -> bool {
        messages > 4 * tolerance
    }

    fn guaranteed(&self, messages: usize, tolerance: usize) -> bool {
        messages >= 4 * tolerance + 3
    }

    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let f = round.tolerance;
        let mut left: Vec<usize> = (0..geometry.messages()).collect();
        let theta = left.len() - 2 * f;
        let mut picked = Vec::with_capacity(theta);
        while picked.len() < theta {
            let neighbors = left.len().saturating_sub(f + 2).max(1);
            let scores = Scoring::DEFAULT.scores(geometry, &left, neighbors);
            picked.push(left.remove(ranked(&scores)[0]));
        }
        let selected = Note::Rows(picked.clone());
        picked.sort_unstable();
        let rule = CoordinateRule::MeanAroundMedian { keep: theta - 2 * f };
        let finish = Finish::CoordinateWise { rule, rows: Some(picked) };
        Ok(Decision { finish, notes: vec![("selected", selected)] })
    }
}
