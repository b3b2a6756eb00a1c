//! Multi-Krum: the mean of the m messages with the lowest Krum scores.
//!
//! Scores are computed once. Default m = n − f − 2 (AggregaThor); ByzFL uses n − f. Guaranteed for n ≥ 2f + 3,
//! 1 ≤ m ≤ n − f − 2 and as many neighbours as Krum needs. Ties go to the lowest worker.
//! Reference: Blanchard, El Mhamdi, Guerraoui, Stainer: "Machine learning with adversaries", NeurIPS 2017.

use super::{
    Aggregator,
    krum::{HowMany, NEIGHBORS, POWER, Scoring},
};
use crate::{
    defense::Round,
    error::Result,
    geometry::{Geometry, ranked},
    plan::{Decision, Note},
    registry::{Entry, Kind, Parameter, Properties},
    theory::{Constants, Counts},
};

struct MultiKrum {
    scoring: Scoring,
    select: HowMany,
}

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "multi_krum",
    aliases: &["multikrum", "mkrum"],
    summary: "the mean of the m messages with the lowest Krum scores",
    parameters: &[
        Parameter {
            name: "select",
            default: "n-f-2",
            summary: "messages averaged, m: n-f-2, n-f or a number",
            kind: Kind::CountOr { least: 1, words: &["n-f-2", "n-f"] },
        },
        NEIGHBORS,
        POWER,
    ],
    requirement: "n ≥ 2f+3, select ≤ n−f−2 and f ≤ neighbors ≤ n−f−1",
    reference: "Blanchard et al., Machine learning with adversaries, NeurIPS 2017",
    properties: Properties::ALL,
    build: |arguments| {
        let (scoring, select) = (Scoring::new(arguments), HowMany::read(arguments, "select"));
        Ok(Box::new(MultiKrum { scoring, select }))
    },
};

impl MultiKrum {
    fn select(&self, messages: usize, tolerance: usize) -> usize {
        self.select.of(messages, tolerance)
    }
}

impl Aggregator for MultiKrum {
    fn defined(&self, messages: usize, tolerance: usize) -> bool {
        let select = self.select(messages, tolerance);
        self.scoring.defined(messages, tolerance) && (1..=messages).contains(&select)
    }

    fn guaranteed(&self, messages: usize, tolerance: usize) -> bool {
        self.scoring.guaranteed(messages, tolerance)
            && self.defined(messages, tolerance)
            && self.select(messages, tolerance) + tolerance + 2 <= messages
    }

    fn robustness(&self, counts: &Counts) -> Constants {
        match self.select(counts.messages, counts.tolerance) + counts.tolerance <= counts.messages {
            true => self.scoring.robustness(counts),
            false => Constants::unbounded("more messages are averaged than there are honest ones"),
        }
    }

    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let count = self.select(geometry.messages(), round.tolerance);
        let scores = self.scoring.decided(geometry, round, count);
        let mut selected = ranked(&scores);
        selected.truncate(count);
        let decision = Decision::mean_of(&selected, geometry.points());
        Ok(decision.note("selected", Note::Rows(selected)).note("scores", Note::Numbers(scores)))
    }
}
