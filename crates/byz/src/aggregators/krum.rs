//! Krum: the message whose nearest neighbours are nearest.
//!
//!   score(i) = Σ_{j ∈ the k nearest others} ‖xᵢ − xⱼ‖^p,   k = n − f − 2, p = 2;   output the lowest score.
//!
//! Defined while k ≥ 1; guaranteed for n ≥ 2f + 3 and f ≤ k ≤ n − f − 1. With n ≤ 2f + 2, or with k < f, the f Byzantine
//! messages can be identical and win; with k ≥ n − f every score counts one of them, and its distance decides. Ties go to the lowest worker. Costs two passes. `neighbors` = n−f−1 is ByzFL's choice; `power` = 4 the released code's
//! of Byz-NSGDM (squares of squared distances).
//! Reference: Blanchard, El Mhamdi, Guerraoui, Stainer: "Machine learning with adversaries", NeurIPS 2017.

use super::Aggregator;
use crate::{
    defense::Round,
    error::Result,
    geometry::{Geometry, is_cut_clear, ranked},
    plan::{Decision, Note},
    registry::{Arguments, Entry, Kind, Parameter, Properties},
    theory::{Constants, Counts, Definition},
};

/// How Krum scores a message; shared with its descendants.
#[derive(Clone, Copy)]
pub(super) struct Scoring {
    neighbors: HowMany,
    power: u32,
}

/// A number of messages: told, or following from the counts.
#[derive(Clone, Copy)]
pub(super) enum HowMany {
    /// n − f − `less`.
    FewerBy(usize),
    Fixed(usize),
}

impl HowMany {
    /// As an argument says; n − f − 2 if it does not.
    pub(super) fn read(arguments: &Arguments, name: &str) -> HowMany {
        match arguments.choice(name) {
            None | Some("n-f-2") => HowMany::FewerBy(2),
            Some("n-f-1") => HowMany::FewerBy(1),
            Some("n-f") => HowMany::FewerBy(0),
            Some(_) => HowMany::Fixed(arguments.count(name).unwrap_or(1)),
        }
    }

    pub(super) fn of(self, messages: usize, tolerance: usize) -> usize {
        match self {
            HowMany::FewerBy(less) => messages.saturating_sub(tolerance + less),
            HowMany::Fixed(count) => count,
        }
    }
}

pub(super) const NEIGHBORS: Parameter = Parameter {
    name: "neighbors",
    default: "n-f-2",
    summary: "nearest others that count: n-f-2, n-f-1 or a number",
    kind: Kind::CountOr { least: 1, words: &["n-f-2", "n-f-1"] },
};
pub(super) const POWER: Parameter = Parameter {
    name: "power",
    default: "2",
    summary: "power of the distance in the score",
    kind: Kind::Choice(&["1", "2", "4"]),
};

impl Scoring {
    pub(super) const DEFAULT: Scoring = Scoring { neighbors: HowMany::FewerBy(2), power: 2 };

    pub(super) fn new(arguments: &Arguments) -> Scoring {
        let neighbors = HowMany::read(arguments, "neighbors");
        Scoring { neighbors, power: arguments.count("power").unwrap_or(2) as u32 }
    }

    /// Neighbours that count among `messages`; zero if none would.
    pub(super) fn neighbors(&self, messages: usize, tolerance: usize) -> usize {
        self.neighbors.of(messages, tolerance)
    }

    /// Whether the score means something: at least one other counts, and there are that many.
    pub(super) fn defined(&self, messages: usize, tolerance: usize) -> bool {
        (1..messages).contains(&self.neighbors(messages, tolerance))
    }

    /// Whether the winner is near the honest messages: one of its neighbours is honest, and an honest message has an honest
    /// score.
    pub(super) fn guaranteed(&self, messages: usize, tolerance: usize) -> bool {
        let neighbors = self.neighbors(messages, tolerance);
        messages >= 2 * tolerance + 3 && (tolerance.max(1)..messages - tolerance).contains(&neighbors)
    }

    /// What holds for the mean of any rows with the lowest scores, up to n − f of them.
    ///
    /// With squared distances and k neighbours the honest scores are in the mean at most 2Gk/(G−1) of the honest variance V, and the
    /// lowest ones are no higher. At least h = k + 1 − f of a row and its neighbours are honest; it is √(score/h) from their
    /// mean, and that is √((G−h)/h·V) from the honest mean. Together κ = (√(2Gk/((G−1)h)) + √((G−h)/h))².
    pub(super) fn robustness(&self, counts: &Counts) -> Constants {
        let neighbors = self.neighbors(counts.messages, counts.tolerance) as f64;
        let (honest, close) = (counts.honest(), neighbors + 1.0 - counts.tolerance as f64);
        if close < 1.0 {
            return Constants::unbounded(
                "the Byzantine messages alone can be each other's neighbours: as copies, they score zero",
            );
        }
        if self.power != 2 || neighbors > honest - 1.0 || honest < 2.0 {
            return Constants::UNKNOWN;
        }
        let (from_row, from_mean) =
            (2.0 * honest * neighbors / ((honest - 1.0) * close), (honest - close) / close);
        Constants::proved_squared((from_row.sqrt() + from_mean.sqrt()).powi(2), counts)
    }

    /// The score of each of `members` among themselves with `neighbors` nearest others.
    pub(super) fn scores(&self, geometry: &Geometry<'_>, members: &[usize], neighbors: usize) -> Vec<f64> {
        let unit = self.unit(geometry, members, neighbors);
        let mut costs = Vec::with_capacity(members.len());
        let score = |&i: &usize| {
            let others = members.iter().filter(|&&j| j != i);
            costs.clear();
            costs.extend(others.map(|&j| self.cost(geometry.squared(i, j), unit)));
            costs.sort_unstable_by(f64::total_cmp);
            costs.iter().take(neighbors).sum()
        };
        members.iter().map(score).collect()
    }

    /// The scores of all messages; measured in f64 where rounding would decide which are the `count` lowest.
    pub(super) fn decided(&self, geometry: &Geometry<'_>, round: &Round<'_>, count: usize) -> Vec<f64> {
        let n = geometry.messages();
        let everyone: Vec<usize> = (0..n).collect();
        let neighbors = self.neighbors(n, round.tolerance);
        let scores = self.scores(geometry, &everyone, neighbors);
        // A fourth power has twice the relative error of a square, and short messages are rounded in few places.
        if is_cut_clear(&scores, count, 4.0 * geometry.resolution()) {
            return scores;
        }
        geometry.exactly().map_or(scores, |geometry| self.scores(&geometry, &everyone, neighbors))
    }

    fn cost(&self, squared: f64, unit: f64) -> f64 {
        match self.power {
            1 => squared.sqrt(),
            4 => (squared / unit) * (squared / unit),
            _ => squared,
        }
    }

    /// Fourth powers are taken relative to the squared distance within which some member has all its neighbours: what
    /// is too small beside it to have a fourth power adds nothing, and what is too large cannot have the lowest score.
    fn unit(&self, geometry: &Geometry<'_>, members: &[usize], neighbors: usize) -> f64 {
        if self.power != 4 {
            return 1.0;
        }
        let reach = |&i: &usize| {
            let others = members.iter().filter(|&&j| j != i);
            let mut squared: Vec<f64> = others.map(|&j| geometry.squared(i, j)).collect();
            squared.sort_unstable_by(f64::total_cmp);
            squared.get(neighbors.min(squared.len()).saturating_sub(1)).copied().unwrap_or(0.0)
        };
        let positive = members.iter().map(reach).filter(|reach| *reach > 0.0);
        positive.min_by(f64::total_cmp).unwrap_or(1.0)
    }
}

struct Krum(Scoring);

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "krum",
    aliases: &[],
    summary: "the message with the smallest sum of squared distances to its nearest others",
    parameters: &[NEIGHBORS, POWER],
    requirement: "n ≥ 2f+3 and f ≤ neighbors ≤ n−f−1",
    reference: "Blanchard et al., Machine learning with adversaries, NeurIPS 2017",
    properties: Properties::ALL,
    build: |arguments| Ok(Box::new(Krum(Scoring::new(arguments)))),
};

impl Aggregator for Krum {
    fn defined(&self, messages: usize, tolerance: usize) -> bool {
        self.0.defined(messages, tolerance)
    }

    fn guaranteed(&self, messages: usize, tolerance: usize) -> bool {
        self.0.guaranteed(messages, tolerance)
    }

    fn robustness(&self, counts: &Counts) -> Constants {
        let known = self.0.robustness(counts);
        // Published for n − f − 1 neighbours.
        let neighbors = self.0.neighbors(counts.messages, counts.tolerance) as f64;
        match counts.definition {
            Definition::Squared if known.proved.is_some() && neighbors == counts.honest() - 1.0 => {
                known.published(6.0 * (1.0 + counts.ratio()))
            }
            _ => known,
        }
    }

    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let scores = self.0.decided(geometry, round, 1);
        let selected = ranked(&scores)[0];
        let decision = Decision::mean_of(&[selected], geometry.points());
        Ok(decision.note("selected", Note::Rows(vec![selected])).note("scores", Note::Numbers(scores)))
    }
}
