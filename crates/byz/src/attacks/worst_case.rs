//! The worst case that a search finds, each round anew and with the defence in the loop.
//!
//!   y = mean + s · Σ cₖ·dₖ,   c chosen so that the damage is largest
//!
//! dₖ are unit directions of the round (`directions`: the mean, the deviations, the principal components of the honest
//! messages, the most harmful honest message, what was best in the round before), s is the honest spread √((1/G) Σ ‖xᵢ − mean‖²). The search (`climb`) tries
//! zero, minus the mean, and every direction at several scales and either sign, then climbs from the best; all Byzantine workers send the same.
//! `objective=loss`: the honest workers' mean loss after the step that the server would take; `objective=displacement`:
//! ‖A(honest, forged) − mean‖. Sending the mean itself is always among the candidates, so the search never helps.
//! Cost: `budget` aggregations per round, and with `loss` as many gradients.
//! Reference: own; searches with the defence in the loop: Shejwalkar, Houmansadr: "Manipulating the Byzantine", NDSS 2021.

mod climb;
mod directions;

use super::{Attack, View};
use crate::{
    error::{Error, Result},
    kernels::Scalar,
    random::Stream,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};
use directions::Directions;

struct WorstCase<T> {
    budget: usize,
    aims_at_loss: bool,
    /// Σ cₖ·dₖ of the round before; empty before the first.
    previous: Vec<T>,
}

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "worst_case",
        aliases: &[],
        summary: "what a search with the defence in the loop finds to do the most damage",
        parameters: &[
            Parameter {
                name: "budget",
                default: "150",
                summary: "forgeries tried per round",
                kind: Kind::Count { least: 1 },
            },
            Parameter {
                name: "objective",
                default: "loss",
                summary: "the next loss, or the distance of the aggregate from the honest mean",
                kind: Kind::Choice(&["loss", "displacement"]),
            },
        ],
        requirement: "acts on messages",
        reference: "this project",
        properties: Properties::NONE,
        build: |arguments| {
            Ok(Box::new(WorstCase {
                budget: arguments.count("budget").unwrap_or(150),
                aims_at_loss: arguments.choice("objective") != Some("displacement"),
                previous: Vec::new(),
            }))
        },
    }
}

impl<T: Scalar> Attack<T> for WorstCase<T> {
    fn forge(&mut self, view: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        if view.is_idle(&out) || out.dimension() == 0 {
            return Ok(());
        }
        let mut directions = Directions::of(view, &self.previous);
        let (mean, count) = (directions.mean.clone(), out.count());
        let damage = |row: &[T]| match self.aims_at_loss {
            true => view.loss_after(&vec![row; count]),
            false => view.displacement(&vec![row; count], &mean),
        };
        let mut starts = directions.starts();
        // A copy of an honest message is never out of place, and the most harmful one is a direction too.
        let copies = if self.budget > 2 * view.honest.len() { view.honest } else { &[] };
        let harm: Vec<f64> = copies.iter().map(|row| damage(row)).collect();
        let worst = (0..copies.len()).max_by(|&a, &b| harm[a].total_cmp(&harm[b]).then(b.cmp(&a)));
        if let Some(start) = worst.and_then(|worst| directions.towards(copies[worst])) {
            starts.iter_mut().for_each(|start| start.push(0.0));
            starts.push(start);
        }
        let mut stream = Stream::new(view.seed, "worst_case", 0, view.round);
        let budget = self.budget - copies.len();
        let best = climb::climb(directions.count(), &starts, budget, &mut stream, |coefficients| {
            directions.write(coefficients, out.row_mut(0));
            damage(out.row(0))
        });
        directions.write(&best, out.row_mut(0));
        out.repeat_first();
        self.previous = directions.combine(&best).into_iter().map(T::from_f64).collect();
        Ok(())
    }

    fn state(&self) -> Vec<Vec<T>> {
        if self.previous.is_empty() { Vec::new() } else { vec![self.previous.clone()] }
    }

    fn restore(&mut self, mut state: Vec<Vec<T>>) -> Result<()> {
        self.previous = state.pop().unwrap_or_default();
        match state.is_empty() {
            true => Ok(()),
            false => Err(Error::Usage("the checkpoint holds more state than worst_case has".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::forge_against;

    #[test]
    fn finds_the_edge_of_the_median() {
        // A median of five moves to the second honest value at most, 3 away from the mean of 3.
        let honest = [vec![0.0], vec![1.0], vec![2.0], vec![9.0]];
        let own = [vec![0.0]];
        let sent = forge_against("median", "worst_case(objective=displacement)", &honest, &own);
        assert!(sent[0][0] <= 1.0, "{sent:?}");
    }

    #[test]
    fn a_budget_of_one_sends_the_mean() {
        let honest = [vec![1.0, 0.0], vec![3.0, 4.0]];
        let sent = forge_against("mean", "worst_case(budget=1)", &honest, &[vec![0.0, 0.0]]);
        assert_eq!(sent, [[2.0, 2.0]]);
    }
}
