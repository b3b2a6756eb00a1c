//! The worst of several attacks: each forges, the defence is asked, and the forgery that moves the aggregate most
//! is sent.
//!
//!   argmax over attacks of ‖A(honest, forged) − mean(honest)‖
//!
//! Every member forges every round, so those with a memory keep learning. Ties go to the first. A forgery that the
//! defence refuses moves nothing. Members act on messages: what poisons labels cannot be taken back once the
//! gradients exist. Cost: one aggregation per member and round, besides the members' own probes.
//! Reference: own.

use super::{Attack, Stage, View, statistics, table};
use crate::{
    error::{Error, Result},
    kernels::Scalar,
    registry::{self, Arguments, Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};

struct WorstOf<T> {
    attacks: Vec<Box<dyn Attack<T>>>,
    mean: Vec<f64>,
    honest: Vec<T>,
    worst: Vec<T>,
}

const DEFAULT: &str = "[sign_flip,little_is_enough,inner_product,min_max,mimic]";

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "worst_of",
        aliases: &[],
        summary: "whichever of its members moves the aggregate most",
        parameters: &[Parameter {
            name: "attacks",
            default: DEFAULT,
            summary: "the members; they act on messages",
            kind: Kind::List,
        }],
        requirement: "acts on messages",
        reference: "this project",
        properties: Properties::NONE,
        build: |arguments| Ok(Box::new(WorstOf::new(arguments)?)),
    }
}

impl<T: Scalar> WorstOf<T> {
    fn new(arguments: &Arguments) -> Result<WorstOf<T>> {
        let names = arguments.list("attacks").unwrap_or_else(|| {
            crate::expression::split_list(DEFAULT.trim_start_matches('[').trim_end_matches(']'))
        });
        let attacks: Vec<Box<dyn Attack<T>>> =
            names.iter().map(|name| registry::read("attack", table(), name)).collect::<Result<_>>()?;
        if attacks.is_empty() || attacks.iter().any(|attack| attack.acts_on() != Stage::Messages) {
            return Err(arguments.reject("attacks", "one or more attacks that act on messages"));
        }
        Ok(WorstOf { attacks, mean: Vec::new(), honest: Vec::new(), worst: Vec::new() })
    }
}

impl<T: Scalar> Attack<T> for WorstOf<T> {
    fn forge(&mut self, view: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        if view.is_idle(&out) {
            return Ok(());
        }
        statistics::mean(view, &mut self.mean);
        copy_out(&out, &mut self.honest);
        let mut most = f64::NEG_INFINITY;
        for attack in &mut self.attacks {
            copy_in(&self.honest, &mut out);
            attack.forge(view, out.reborrow())?;
            let forged: Vec<&[T]> = (0..out.count()).map(|row| out.row(row)).collect();
            let moved = view.displacement(&forged, &self.mean);
            if moved > most {
                most = moved;
                copy_out(&out, &mut self.worst);
            }
        }
        copy_in(&self.worst, &mut out);
        Ok(())
    }

    /// The number of vectors of each member, then all of them; nothing if no member remembers anything.
    fn state(&self) -> Vec<Vec<T>> {
        let states: Vec<Vec<Vec<T>>> = self.attacks.iter().map(|attack| attack.state()).collect();
        if states.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        let counts = states.iter().map(|state| T::from_f64(state.len() as f64)).collect();
        std::iter::once(counts).chain(states.into_iter().flatten()).collect()
    }

    fn restore(&mut self, state: Vec<Vec<T>>) -> Result<()> {
        let mut vectors = state.into_iter();
        let Some(counts) = vectors.next() else {
            return self.attacks.iter_mut().try_for_each(|attack| attack.restore(Vec::new()));
        };
        if counts.len() != self.attacks.len() {
            return Err(Error::Usage("the checkpoint holds the state of other attacks in worst_of".into()));
        }
        for (attack, count) in self.attacks.iter_mut().zip(counts) {
            attack.restore(vectors.by_ref().take(count.to_f64() as usize).collect())?;
        }
        Ok(())
    }
}

fn copy_out<T: Copy>(rows: &RowsMut<'_, T>, to: &mut Vec<T>) {
    to.clear();
    (0..rows.count()).for_each(|row| to.extend_from_slice(rows.row(row)));
}

fn copy_in<T: Copy>(from: &[T], rows: &mut RowsMut<'_, T>) {
    let dimension = rows.dimension();
    rows.iter_mut().zip(from.chunks_exact(dimension)).for_each(|(row, from)| row.copy_from_slice(from));
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::{build, forge_against};

    #[test]
    fn sends_what_moves_the_aggregate_most() {
        let honest = [vec![1.0], vec![2.0], vec![3.0]];
        let worst = |defense| {
            forge_against(
                defense,
                "worst_of(attacks=[zero,sign_flip,gaussian(mean=2.5,deviation=0)])",
                &honest,
                &[vec![9.0]],
            )
        };
        assert_eq!(worst("mean"), [[-9.0]]);
        // A median of four moves by half at most, to either side; the first to do so is sent.
        assert_eq!(worst("median"), [[0.0]]);
    }

    #[test]
    fn refuses_what_poisons_labels_and_the_empty_list() {
        for bad in
            ["worst_of(attacks=[zero,label_flip])", "worst_of(attacks=[])", "worst_of(attacks=[bananas])"]
        {
            assert!(build::<f64>(bad).is_err(), "{bad}");
        }
        assert!(build::<f64>("worst_of(attacks=[worst_of(attacks=[zero]),none])").is_ok());
    }
}
