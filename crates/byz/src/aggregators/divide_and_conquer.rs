//! Divide and conquer: drop what sticks out along the leading direction of a random subset of coordinates.
//!
//!   repeat `iterations` times: on b random coordinates, centre, v the leading right singular vector,
//!   sᵢ = ⟨xᵢ − μ, v⟩²; keep the n − ⌊c·f⌋ lowest.   Output the mean of those kept every time.
//!
//! The coordinates are drawn from (seed, iteration, round). An empty intersection refuses the round. Not bounded, so never
//! guaranteed: outliers of very different sizes hide one another, and a single iteration sees only the largest. Costs two
//! passes and one over the drawn coordinates per iteration.
//! Reference: Shejwalkar, Houmansadr: "Manipulating the Byzantine", NDSS 2021.

use super::Aggregator;
use crate::{
    defense::Round,
    error::{Error, Refusal, Result},
    geometry::{Geometry, ascending},
    plan::{Decision, Note},
    random::Stream,
    registry::{Entry, Kind, Parameter, Properties},
    spectral::{largest_eigenpair, scatter},
};

struct DivideAndConquer {
    iterations: usize,
    coordinates: usize,
    factor: f64,
    seed: u64,
}

pub(super) const ENTRY: Entry<dyn Aggregator> = Entry {
    name: "divide_and_conquer",
    aliases: &["dnc"],
    summary: "the mean of the messages that never stick out along a leading direction of random coordinates",
    parameters: &[
        Parameter {
            name: "iterations",
            default: "1",
            summary: "repetitions",
            kind: Kind::Count { least: 1 },
        },
        Parameter {
            name: "coordinates",
            default: "10000",
            summary: "coordinates looked at, b",
            kind: Kind::Count { least: 1 },
        },
        Parameter {
            name: "factor",
            default: "1",
            summary: "messages dropped per tolerated worker, c",
            kind: Kind::Positive,
        },
        Parameter {
            name: "seed",
            default: "0",
            summary: "seed of the choice",
            kind: Kind::Count { least: 0 },
        },
    ],
    requirement: "f = 0 (a heuristic without a worst-case promise)",
    reference: "Shejwalkar and Houmansadr, Manipulating the Byzantine, NDSS 2021",
    properties: Properties { bounded: false, ..Properties::ALL },
    build: |arguments| {
        Ok(Box::new(DivideAndConquer {
            iterations: arguments.count("iterations").unwrap_or(1),
            coordinates: arguments.count("coordinates").unwrap_or(10_000),
            factor: arguments.number("factor").unwrap_or(1.0),
            seed: arguments.count("seed").unwrap_or(0) as u64,
        }))
    },
};

impl DivideAndConquer {
    fn dropped(&self, tolerance: usize) -> usize {
        (self.factor * tolerance as f64).floor() as usize
    }
}

impl Aggregator for DivideAndConquer {
    fn defined(&self, messages: usize, tolerance: usize) -> bool {
        messages > self.dropped(tolerance)
    }

    fn guaranteed(&self, messages: usize, tolerance: usize) -> bool {
        tolerance == 0 && messages > 0
    }

    fn plan(&self, geometry: &Geometry<'_>, round: &Round<'_>) -> Result<Decision> {
        let n = geometry.messages();
        let everyone: Vec<usize> = (0..n).collect();
        let mut selected = everyone.clone();
        for iteration in 0..self.iterations {
            let mut stream = Stream::new(self.seed, "divide_and_conquer", iteration as u64, round.number);
            let coordinates = stream.sample(geometry.dimension(), self.coordinates);
            let seen;
            let seen = if coordinates.len() < geometry.dimension() {
                seen = geometry.on_coordinates(&coordinates);
                &seen
            } else {
                geometry
            };
            let products = scatter(seen, &everyone, &vec![1.0 / n as f64; n]);
            // Along the leading direction the projections are the entries of the eigenvector, scaled alike; where all rows
            // are one there is no direction, and all scores are zero.
            let (value, vector) = largest_eigenpair(&products);
            let mut scores: Vec<f64> = vector.iter().map(|x| value * x * x).collect();
            // Copies have one score; what tells them apart is rounding.
            for row in 0..n {
                if let Some(first) = (0..row).find(|&other| seen.squared(row, other) == 0.0) {
                    scores[row] = scores[first];
                }
            }
            let kept = &ascending(&scores)[..n - self.dropped(round.tolerance)];
            selected.retain(|row| kept.contains(row));
        }
        if selected.is_empty() {
            return Err(Error::refused(Refusal::NothingLeft { rule: ENTRY.name }));
        }
        let decision = Decision::mean_of(&selected, geometry.points());
        Ok(decision.note("selected", Note::Rows(selected)))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Defense, Messages, Options, plan::Note, random::Stream};

    #[test]
    fn of_copies_the_last_one_is_dropped() {
        let mut stream = Stream::new(1, "copies", 0, 0);
        for _ in 0..100 {
            let [a, b] = [0, 1].map(|_| (0..4).map(|_| stream.normal()).collect::<Vec<f64>>());
            let rows = [&a, &b, &b, &b, &a, &b].map(|row| row.as_slice());
            let defense = Defense::new("divide_and_conquer", 1).unwrap();
            let told = defense.aggregate(&Messages::from_rows(&rows), &Options::default()).unwrap();
            assert_eq!(told.notes, [("selected", Note::Rows(vec![0, 1, 2, 3, 5]))]);
        }
    }
}
