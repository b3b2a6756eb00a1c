//! Copies the honest worker that stands out most along the direction in which they differ most.
//!
//!   in round k of the warm-up, c = 1/k:
//!     μ ← (1−c)μ + c·mean(x),  s = Σᵢ ⟨z, xᵢ−μ⟩ (xᵢ−μ),  z ← (1−c)z + c·s/‖s‖,  target = argmaxᵢ ⟨z, xᵢ⟩
//!   y = x_target, in the warm-up and, with the last target, for ever after
//!
//! z starts as normal numbers drawn from the run's seed; the released code of Byz-NSGDM draws them from seed 0 in
//! every run. Ties go to the lowest worker. μ and z have the messages' own type, so that a checkpoint holds them to
//! the bit; both are dropped after the warm-up.

use crate::{
    attacks::{Attack, View, statistics},
    error::{Error, Result},
    kernels::Scalar,
    random::Stream,
    rows_mut::RowsMut,
};

pub(super) struct Copy<T> {
    warmup: u64,
    target: Option<usize>,
    /// μ and z: empty before and after the warm-up.
    center: Vec<T>,
    direction: Vec<T>,
    mean: Vec<f64>,
    step: Vec<f64>,
}

impl<T: Scalar> Copy<T> {
    pub(super) fn new(warmup: u64) -> Copy<T> {
        let (center, direction, mean, step) = Default::default();
        Copy { warmup, target: None, center, direction, mean, step }
    }

    /// One round of the warm-up.
    fn learn(&mut self, view: &View<'_, T>) -> usize {
        statistics::mean(view, &mut self.mean);
        let mut share = 1.0 / view.round.max(1) as f64;
        if self.direction.len() != self.mean.len() {
            let mut stream = Stream::new(view.seed, "mimic", 0, 0);
            self.direction = self.mean.iter().map(|_| T::from_f64(stream.normal())).collect();
            self.center = vec![T::default(); self.mean.len()];
            share = 1.0;
        }
        blend(&mut self.center, &self.mean, share, 1.0);
        let mut weights = self.along_direction(view.honest);
        let largest = weights.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        if largest > 0.0 && largest.is_finite() {
            // Relative weights: squares of tiny products would vanish.
            weights.iter_mut().for_each(|weight| *weight /= largest);
            self.add_up(view.honest, &weights);
            let norm = statistics::norm(&self.step);
            if norm > 0.0 && norm.is_finite() {
                blend(&mut self.direction, &self.step, share, 1.0 / norm);
            }
        }
        let scores = self.along_direction(view.honest);
        (1..scores.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best })
    }

    /// ⟨z, xᵢ − μ⟩ for every row.
    fn along_direction(&self, rows: &[&[T]]) -> Vec<f64> {
        let others = [self.center.as_slice(), self.direction.as_slice()];
        rows.iter().map(|row| statistics::sum(row, others, |x, [center, z]| z * (x - center))).collect()
    }

    /// s, of weights.
    fn add_up(&mut self, rows: &[&[T]], weights: &[f64]) {
        self.step.clear();
        self.step.resize(self.center.len(), 0.0);
        for (row, weight) in rows.iter().zip(weights) {
            for ((sum, x), center) in self.step.iter_mut().zip(*row).zip(&self.center) {
                *sum += weight * (x.to_f64() - center.to_f64());
            }
        }
    }
}

/// value ← (1 − share)·value + share·scale·new.
fn blend<T: Scalar>(values: &mut [T], new: &[f64], share: f64, scale: f64) {
    for (value, new) in values.iter_mut().zip(new) {
        *value = T::from_f64((1.0 - share) * value.to_f64() + share * scale * new);
    }
}

impl<T: Scalar> Attack<T> for Copy<T> {
    fn forge(&mut self, view: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        if view.is_idle(&out) {
            return Ok(());
        }
        let target = match self.target {
            Some(target) if view.round > self.warmup => target,
            _ => self.learn(view),
        };
        self.target = Some(target);
        if view.round >= self.warmup {
            (self.center, self.direction) = Default::default();
        }
        // Fewer honest workers than in the warm-up: somebody is copied all the same.
        let row = view.honest[target.min(view.honest.len() - 1)];
        out.iter_mut().for_each(|to| to.copy_from_slice(row));
        Ok(())
    }

    fn state(&self) -> Vec<Vec<T>> {
        let Some(target) = self.target else { return Vec::new() };
        vec![vec![T::from_f64(target as f64)], self.center.clone(), self.direction.clone()]
    }

    fn restore(&mut self, state: Vec<Vec<T>>) -> Result<()> {
        (self.target, self.center, self.direction) = match <[Vec<T>; 3]>::try_from(state) {
            Ok([target, center, direction]) if target.len() == 1 && center.len() == direction.len() => {
                (Some(target[0].to_f64() as usize), center, direction)
            }
            Err(state) if state.is_empty() => Default::default(),
            _ => return Err(Error::Usage("the checkpoint does not hold the state of mimic".into())),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::attacks::testing::{build, run};

    /// Rows that differ along the first axis only, two of them at its ends.
    fn honest() -> [Vec<f64>; 3] {
        [vec![-5.0, 1.0], vec![0.0, 1.0], vec![5.0, 1.0]]
    }

    #[test]
    fn copies_an_end_of_the_leading_direction_for_ever() {
        let mut attack = build::<f64>("mimic").unwrap();
        let own = [vec![9.0, 9.0], vec![9.0, 9.0]];
        let first = run(&mut *attack, &honest(), &own, 1);
        assert!(first[0][0].abs() == 5.0 && first[0] == first[1], "{first:?}");
        let target = usize::from(first[0][0] > 0.0) * 2;
        // Whatever the others do later, the same worker is copied.
        let later = [vec![7.0, 0.0], vec![-80.0, 90.0], vec![8.0, 0.0]];
        assert_eq!(run(&mut *attack, &later, &own, 2)[0], later[target]);
    }

    #[test]
    fn a_longer_warm_up_averages_the_rounds() {
        let mut attack = build::<f64>("mimic(warmup=3)").unwrap();
        for round in 1..=3 {
            run(&mut *attack, &honest(), &[vec![0.0, 0.0]], round);
            let [_, center, direction] = attack.state().try_into().unwrap();
            match round {
                3 => assert!(center.is_empty() && direction.is_empty()),
                _ => assert!(center == [0.0, 1.0] && direction[0].abs() == 1.0 && direction[1] == 0.0),
            }
        }
    }
}
