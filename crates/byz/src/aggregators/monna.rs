//! MoNNA: the mean of the n − f messages nearest to a trusted worker's.
//!
//! The trusted worker is named, never guessed: when its message is not valid the round is refused. Needs
//! n ≥ 2f + 1 and an honest pivot. Costs two passes.
//! Reference: Farhadkhani, Guerraoui, Gupta, Hoang, Pinot, Stephan: "Robust collaborative learning with linear
//! gradient overhead", ICML 2023.

use super::Aggregator;
use crate::{
    defense::Round,
    error::{Error, Refusal, Result},
    geometry::Geometry,
    plan::{Decision, Note},
    registry::{Entry, Kind, Parameter, Properties},
};

struct Monna {
    trusted: usize,
}

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "monna",
    aliases: &["mon_na"],
    summary: "the mean of the n−f messages nearest to a trusted worker's",
    parameters: &[Parameter {
        name: "trusted",
        default: "0",
        summary: "index of the trusted worker",
        kind: Kind::Count { least: 0 },
    }],
    requirement: "n ≥ 2f+1 and an honest trusted worker",
    reference: "Farhadkhani et al., Robust collaborative learning with linear gradient overhead, ICML 2023",
    properties: Properties { symmetric: false, ..Properties::ALL },
    build: |arguments| Ok(Box::new(Monna { trusted: arguments.count("trusted").unwrap_or(0) })),
};

impl Aggregator for Monna {
    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let Some(workers) = round.workers else {
            let problem = "monna cannot follow bucketing: no bucket belongs to the trusted worker";
            return Err(Error::Usage(problem.into()));
        };
        let Some(pivot) = workers.iter().position(|&worker| worker == self.trusted) else {
            return Err(Error::refused(Refusal::TrustedWorker { worker: self.trusted }));
        };
        let selected = geometry.nearest(pivot, geometry.messages() - round.tolerance);
        let decision = Decision::mean_of(&selected, geometry.points());
        Ok(decision.note("selected", Note::Rows(selected)))
    }
}
