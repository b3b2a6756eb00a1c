//! f(x) = ‖x‖⁴: smooth only in the (L₀, L₁) sense, and everything about it is known.
//!
//!   gᵢ(x) = 4‖x‖²x + sᵢ + ξ,   x⁰ = (1, …, 1),   ‖∇f(x)‖ = 4‖x‖³
//!
//! Honest worker i has a fixed shift sᵢ of standard deviation `shift` per coordinate; the shifts add up to zero, so that
//! the mean of the honest gradients is unbiased. Byzantine workers have none. ξ is fresh noise, Gaussian or Student t (moments
//! of order p exist for p < `freedom`). In f64, because shifts of 1e-6 vanish in f32 beside gradients of 126.
//!
//! The paper writes N(0, 1e-3 I) and N(0, 1e-5 I); the defaults read these as standard deviations. Its released code has
//! shifts of 1e-6 drawn once for all seeds (`shift_seed`), the last shift minus the sum of the others
//! (`centering=last`), gradients clipped to `clip` and ‖x‖ to `reach` inside the formula; `draws` takes its very numbers.

mod released;

use super::{AnyTask, Batch, Metrics, Objective, Setting, Spec, Split, Task};
use crate::{
    error::Result,
    layout::Layout,
    numpy_random::Normals,
    random::Stream,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
    theory::Problem,
};
use released::Noise;

#[derive(Clone, Debug)]
struct Quartic {
    dimension: usize,
    shift: f64,
    shift_seed: Option<u64>,
    center_last: bool,
    noise: f64,
    freedom: Option<f64>,
    clip: f64,
    reach: f64,
    draws: Draws,
}

/// Where the random numbers come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draws {
    /// A stream of its own for every worker and round.
    Own,
    /// One sequence for all, behind the shifts or from its start.
    NumPy { after_shifts: bool },
}

pub(super) const ENTRY: Entry<dyn Spec> = Entry {
    name: "quartic",
    aliases: &["synthetic"],
    summary: "f(x) = ‖x‖⁴ with shifted and noisy gradients; needs no data",
    parameters: &[
        Parameter {
            name: "dimension",
            default: "10",
            summary: "coordinates",
            kind: Kind::Count { least: 1 },
        },
        Parameter {
            name: "shift",
            default: "1e-3",
            summary: "standard deviation of the workers' shifts",
            kind: Kind::NonNegative,
        },
        Parameter {
            name: "shift_seed",
            default: "the run's seed",
            summary: "seed of the shifts alone",
            kind: Kind::Count { least: 0 },
        },
        Parameter {
            name: "centering",
            default: "mean",
            summary: "how the shifts come to add up to zero: less their mean, or the last makes up for the others",
            kind: Kind::Choice(&["mean", "last"]),
        },
        Parameter {
            name: "noise",
            default: "1e-5",
            summary: "standard deviation (scale, for Student t) of the noise",
            kind: Kind::NonNegative,
        },
        Parameter {
            name: "freedom",
            default: "infinite: Gaussian noise",
            summary: "degrees of freedom of Student t noise",
            kind: Kind::Positive,
        },
        Parameter {
            name: "clip",
            default: "infinite",
            summary: "largest length of a worker's gradient",
            kind: Kind::Positive,
        },
        Parameter {
            name: "reach",
            default: "infinite",
            summary: "largest ‖x‖ inside the gradient's formula",
            kind: Kind::Positive,
        },
        Parameter {
            name: "draws",
            default: "own",
            summary: "whose random numbers: byz's own, or NumPy's in the order of the released code, the noise of the seed that drew the shifts behind these or not",
            kind: Kind::Choice(&["own", "numpy", "numpy_after_shifts"]),
        },
    ],
    requirement: "",
    reference: "the synthetic task of the Byz-NSGDM paper",
    properties: Properties::NONE,
    build: |arguments| {
        if arguments.count("dimension").is_some_and(|dimension| dimension > 100_000_000) {
            return Err(arguments.reject("dimension", "a number up to 100,000,000"));
        }
        let draws = match arguments.choice("draws") {
            Some("numpy") => Draws::NumPy { after_shifts: false },
            Some("numpy_after_shifts") => Draws::NumPy { after_shifts: true },
            _ => Draws::Own,
        };
        if draws != Draws::Own && arguments.number("freedom").is_some() {
            return Err(arguments.reject("freedom", "none where NumPy's normal numbers are drawn"));
        }
        Ok(Box::new(Quartic {
            dimension: arguments.count("dimension").unwrap_or(10),
            shift: arguments.number("shift").unwrap_or(1e-3),
            shift_seed: arguments.count("shift_seed").map(|seed| seed as u64),
            center_last: arguments.choice("centering") == Some("last"),
            noise: arguments.number("noise").unwrap_or(1e-5),
            freedom: arguments.number("freedom"),
            clip: arguments.number("clip").unwrap_or(f64::INFINITY),
            reach: arguments.number("reach").unwrap_or(f64::INFINITY),
            draws,
        }))
    },
};

impl Spec for Quartic {
    fn dimension(&self) -> Option<usize> {
        Some(self.dimension)
    }

    /// λmax(∇²f) = 12r² ≤ L₀ + L₁·4r³ for all r means L₀L₁² ≥ 16; a worker's shift s adds L₁‖s‖ to its L₀, and the
    /// largest counts. The shifts are those of `shift_seed`, else of seed 0. Momentum starts from zero.
    fn problem(&self, honest: usize) -> Option<Box<dyn Fn(f64) -> Problem>> {
        // Student's t has a variance above two degrees of freedom.
        let widening = match self.freedom {
            Some(freedom) if freedom > 2.0 => (freedom / (freedom - 2.0)).sqrt(),
            Some(_) => f64::INFINITY,
            None => 1.0,
        };
        // Another function where it is cut off.
        if self.clip.is_finite() || self.reach.is_finite() {
            return None;
        }
        let d = self.dimension as f64;
        let shifts = self.shifts(honest, self.shift_seed.unwrap_or(0)).ok()?;
        let mean = |lengths: &[f64]| lengths.iter().sum::<f64>() / honest as f64;
        let lengths: Vec<f64> = shifts.iter().map(|shift| squared_norm(shift).sqrt()).collect();
        let longest = lengths.iter().fold(0.0f64, |longest, &length| longest.max(length));
        // ∇fᵢ(x⁰) = 4d·1 + sᵢ.
        let gradient = |shift: &Vec<f64>| shift.iter().map(|s| (4.0 * d + s).powi(2)).sum::<f64>().sqrt();
        let at_one = Problem {
            honest,
            l0: 16.0 + longest,
            l1: 1.0,
            sigma: self.noise * widening * d.sqrt(),
            zeta: mean(&lengths.iter().map(|s| s * s).collect::<Vec<_>>()).sqrt(),
            initial_gap: d * d,
            initial_momentum_error: mean(&shifts.iter().map(gradient).collect::<Vec<_>>()),
            // fᵢ* = −3(‖sᵢ‖/4)^(4/3).
            heterogeneity_gap: mean(
                &lengths.iter().map(|s| 3.0 * (s / 4.0).powf(4.0 / 3.0)).collect::<Vec<_>>(),
            ),
            initial_gradient: Some(4.0 * d.powf(1.5)),
        };
        Some(Box::new(move |l1| Problem { l0: 16.0 / (l1 * l1) + l1 * longest, l1, ..at_one }))
    }

    fn open(&self, setting: &Setting<'_>) -> Result<AnyTask> {
        let honest = setting.workers - setting.byzantine;
        let shift_seed = self.shift_seed.unwrap_or(setting.seed);
        let noise = match self.draws {
            Draws::Own => None,
            Draws::NumPy { after_shifts } => {
                let behind = after_shifts && setting.seed == shift_seed;
                let skipped = if behind { self.drawn_shifts(honest) * self.dimension } else { 0 };
                Some((setting.seed, Noise::new(released::seed(setting.seed)?, setting.workers, skipped)))
            }
        };
        let shifts = self.shifts(honest, shift_seed)?;
        let layout = Layout::vector("x", self.dimension);
        Ok(AnyTask::F64(Box::new(Opened { spec: self.clone(), shifts, noise, layout })))
    }
}

impl Quartic {
    /// How many shifts the released code draws: the last one follows from the others.
    fn drawn_shifts(&self, honest: usize) -> usize {
        if self.center_last { honest - 1 } else { honest }
    }

    /// One shift per honest worker; they add up to zero.
    fn shifts(&self, honest: usize, seed: u64) -> Result<Vec<Vec<f64>>> {
        let own = |worker: usize| {
            let mut stream = Stream::new(seed, "shift", worker as u64, 0);
            (0..self.dimension).map(|_| self.shift * stream.normal()).collect()
        };
        let mut shifts: Vec<Vec<f64>> = match self.draws {
            Draws::Own => (0..honest).map(own).collect(),
            Draws::NumPy { .. } => {
                let mut normals = Normals::new(released::seed(seed)?);
                let mut one = || (0..self.dimension).map(|_| self.shift * normals.next()).collect();
                let mut shifts: Vec<Vec<f64>> = (0..self.drawn_shifts(honest)).map(|_| one()).collect();
                shifts.resize(honest, vec![0.0; self.dimension]);
                shifts
            }
        };
        for k in 0..self.dimension {
            let sum: f64 = shifts.iter().map(|shift| shift[k]).sum();
            match (self.center_last, shifts.last_mut()) {
                (true, Some(last)) => last[k] -= sum,
                _ => shifts.iter_mut().for_each(|shift| shift[k] -= sum / honest as f64),
            }
        }
        Ok(shifts)
    }
}

struct Opened {
    spec: Quartic,
    shifts: Vec<Vec<f64>>,
    /// The run's seed and its noise, where NumPy's is drawn; what estimators draw with seeds of their own is not.
    noise: Option<(u64, Noise)>,
    layout: Layout,
}

impl Opened {
    /// A worker's noise in a round, in units of `noise`.
    fn draw(&self, batch: &Batch<'_>, out: &mut [f64]) {
        if let Some((seed, noise)) = &self.noise
            && *seed == batch.seed
        {
            return noise.draw(batch.worker, batch.round, out);
        }
        let mut stream = Stream::new(batch.seed, "noise", batch.worker as u64, batch.round);
        out.iter_mut().for_each(|number| {
            *number = match self.spec.freedom {
                Some(freedom) => stream.student_t(freedom),
                None => stream.normal(),
            }
        });
    }
}

fn squared_norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

impl Task for Opened {
    type Scalar = f64;

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn initial_parameters(&self, _seed: u64) -> Vec<f64> {
        vec![1.0; self.spec.dimension]
    }

    fn objective(&self) -> Objective {
        Objective { metric: "gradient_norm", higher_is_better: false }
    }

    fn gradients(
        &self,
        x: &[f64],
        batches: &[Batch<'_>],
        mut out: RowsMut<'_, f64>,
        _threads: usize,
    ) -> Result<Vec<f64>> {
        let squared = squared_norm(x);
        let factor = 4.0 * squared.min(self.spec.reach * self.spec.reach);
        for (batch, gradient) in batches.iter().zip(out.iter_mut()) {
            self.draw(batch, gradient);
            let shift = self.shifts.get(batch.worker);
            for k in 0..x.len() {
                let noise = gradient[k];
                gradient[k] = factor * x[k] + shift.map_or(0.0, |shift| shift[k]) + self.spec.noise * noise;
            }
            let length = squared_norm(gradient).sqrt();
            if length > self.spec.clip {
                gradient.iter_mut().for_each(|g| *g *= self.spec.clip / length);
            }
        }
        Ok(vec![squared * squared; batches.len()])
    }

    fn evaluate(&self, x: &[f64], _split: Split, _threads: usize) -> Result<Metrics> {
        let squared = squared_norm(x);
        let gradient_norm = 4.0 * squared * squared.sqrt();
        Ok(Metrics {
            loss: squared * squared,
            metric: gradient_norm,
            gradient_norm: Some(gradient_norm),
            per_class: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{data::Directory, registry, tasks::TABLE};

    fn open(expression: &str) -> Box<dyn Task<Scalar = f64>> {
        let data = Directory::at("nowhere");
        let setting = Setting { workers: 6, byzantine: 2, seed: 5, data: &data };
        match registry::read("task", TABLE, expression).unwrap().open(&setting).unwrap() {
            AnyTask::F64(task) => task,
            AnyTask::F32(_) => panic!("the quartic is f64"),
        }
    }

    fn gradients(task: &dyn Task<Scalar = f64>, x: &[f64], round: u64) -> Vec<Vec<f64>> {
        let batch = |worker| Batch { worker, round, seed: 5, examples: &[], labels: None };
        let batches: Vec<Batch<'_>> = (0..6).map(batch).collect();
        let mut out = vec![0.0; 6 * x.len()];
        task.gradients(x, &batches, RowsMut::new(&mut out, x.len()), 1).unwrap();
        out.chunks(x.len()).map(<[f64]>::to_vec).collect()
    }

    #[test]
    fn without_noise_honest_gradients_average_to_the_true_one() {
        for centering in ["mean", "last"] {
            let task = open(&format!("quartic(dimension=3,noise=0,shift=0.1,centering={centering})"));
            let rows = gradients(task.as_ref(), &[1.0, 2.0, 0.0], 1);
            for (k, wanted) in [20.0, 40.0, 0.0].into_iter().enumerate() {
                let mean = rows[..4].iter().map(|row| row[k]).sum::<f64>() / 4.0;
                assert!((mean - wanted).abs() < 1e-12, "{mean} {wanted}");
                assert!(rows[0][k] != wanted, "no shift");
                assert_eq!(rows[5][k], wanted, "a Byzantine worker has no shift");
            }
        }
    }

    #[test]
    fn the_gradient_is_the_derivative_of_the_loss() {
        let task = open("quartic(dimension=3,noise=0,shift=0)");
        let x = [0.3, -0.7, 1.1];
        let gradient = &gradients(task.as_ref(), &x, 1)[0];
        for k in 0..3 {
            let (mut above, mut below) = (x, x);
            above[k] += 1e-5;
            below[k] -= 1e-5;
            let loss = |x: &[f64]| task.evaluate(x, Split::Test, 1).unwrap().loss;
            let slope = (loss(&above) - loss(&below)) / 2e-5;
            assert!((slope - gradient[k]).abs() < 1e-8 * gradient[k].abs().max(1.0));
        }
        let norm = task.evaluate(&x, Split::Test, 1).unwrap().gradient_norm.unwrap();
        assert!((norm - squared_norm(gradient).sqrt()).abs() < 1e-12);
    }

    /// The first numbers of `numpy.random.seed(0)`: 3·2 for the shifts of workers 0 to 2, then two for every worker. Of all that
    /// seed 5 draws, the shifts take nothing.
    #[test]
    fn numbers_of_the_released_code_come_in_its_order() {
        let rows = |draws: &str, round: u64| {
            let options = "dimension=2,shift=1,noise=1,shift_seed=0,centering=last";
            gradients(open(&format!("quartic({options},draws={draws})")).as_ref(), &[0.0, 0.0], round)
        };
        let mut first = Normals::new(0);
        let shifts: Vec<f64> = (0..6).map(|_| first.next()).collect();
        let mut own = Normals::new(5);
        let noise: Vec<f64> = (0..24).map(|_| own.next()).collect();
        for draws in ["numpy", "numpy_after_shifts"] {
            let (one, two) = (rows(draws, 1), rows(draws, 2));
            assert_eq!(one[1], [noise[2] + shifts[2], noise[3] + shifts[3]]);
            assert_eq!(one[5], noise[10..12]);
            assert_eq!(two[4], noise[20..22]);
            let last = -(shifts[0] + shifts[2] + shifts[4]);
            assert!((one[3][0] - noise[6] - last).abs() < 1e-15);
        }
    }

    #[test]
    fn noise_goes_on_behind_the_shifts_of_its_own_seed_in_any_order_of_rounds() {
        let task = open("quartic(dimension=2,shift=0,noise=1,centering=last,draws=numpy_after_shifts)");
        let mut normals = Normals::new(5);
        let all: Vec<f64> = (0..6 + 36).map(|_| normals.next()).collect();
        for round in [3, 1, 2, 2] {
            let from = 6 + 12 * (round as usize - 1);
            let found = gradients(task.as_ref(), &[0.0, 0.0], round).concat();
            assert_eq!(found, all[from..from + 12], "round {round}");
        }
    }

    #[test]
    fn noise_is_fresh_every_round_and_clips_hold() {
        let task = open("quartic(noise=0.1,freedom=3,clip=2,reach=1)");
        let x = [1.0; 10];
        let (first, again, second) = (
            gradients(task.as_ref(), &x, 1),
            gradients(task.as_ref(), &x, 1),
            gradients(task.as_ref(), &x, 2),
        );
        assert_eq!(first, again);
        assert_ne!(first, second);
        assert!(first.iter().all(|row| squared_norm(row).sqrt() <= 2.0 + 1e-12));
    }
}
