//! Rounds whose gradients come from elsewhere: the same bits when everybody answers, verdicts when not.

use byz::{
    Arrival, Collected, Collector, Engine, Question, Result, RowsMut, Trainer,
    experiment::{Draft, Opened, open},
    tasks::{Batch, Task},
};
use std::collections::BTreeMap;

const WORKERS: usize = 7;
const SEED: u64 = 3;

/// Workers who compute what a simulation would, but for those of whom `fate` says otherwise.
struct Elsewhere<F> {
    task: Box<dyn Task<Scalar = f64>>,
    fate: F,
}

impl<F: Fn(u64, usize) -> Option<Arrival> + Send> Collector<f64> for Elsewhere<F> {
    fn collect(&mut self, question: &Question<'_, f64>, mut rows: RowsMut<'_, f64>) -> Result<Collected> {
        let batch = |worker| Batch { worker, round: question.round, seed: SEED, examples: &[], labels: None };
        let batches: Vec<Batch<'_>> = (0..WORKERS).map(batch).collect();
        let losses = self.task.gradients(question.parameters, &batches, rows.reborrow(), 1)?;
        let arrival = |(worker, loss)| {
            let told = (self.fate)(question.round, worker);
            if told.is_some() {
                // What is not there must not be looked at.
                rows.row_mut(worker).fill(f64::NAN);
            }
            told.unwrap_or(Arrival::Row { loss })
        };
        let arrivals = losses.into_iter().enumerate().map(arrival).collect();
        Ok(Collected { arrivals, ignored: BTreeMap::from([("late", 2)]) })
    }
}

fn trainer(defense: &str, tolerance: usize) -> Trainer<f64> {
    let draft = Draft {
        task: Some("quartic(shift=0.1,noise=0.1)".into()),
        workers: Some(WORKERS),
        byzantine: Some(0),
        tolerance: Some(tolerance),
        defense: Some(defense.into()),
        optimizer: Some("baseline".into()),
        rate: Some(0.001),
        rounds: Some(20),
        seed: Some(SEED),
        ..Draft::default()
    };
    match open(&draft.resolve().expect("a good configuration"), &byz::data::Directory::at("unused")) {
        Ok(Opened::F64(trainer)) => trainer,
        _ => panic!("the quartic is in f64 and needs no data"),
    }
}

fn elsewhere(
    defense: &str,
    tolerance: usize,
    fate: impl Fn(u64, usize) -> Option<Arrival> + Send + 'static,
) -> Trainer<f64> {
    let mut remote = trainer(defense, tolerance);
    remote.collector = Some(Box::new(Elsewhere { task: trainer(defense, tolerance).task, fate }));
    remote
}

#[test]
fn a_round_of_workers_elsewhere_has_the_bits_of_a_simulation() {
    let (mut here, mut there) = (trainer("nnm+krum", 2), elsewhere("nnm+krum", 2, |_, _| None));
    for _ in 0..20 {
        let simulated = here.round(Engine::default(), true).expect("runs");
        let mut collected = there.round(Engine::default(), true).expect("runs");
        assert_eq!(std::mem::take(&mut collected.ignored), BTreeMap::from([("late", 2)]));
        assert_eq!(simulated, collected);
        assert_eq!(here.parameters, there.parameters);
    }
}

#[test]
fn who_is_missing_has_no_say_and_keeps_the_momentum() {
    let absent = |round, worker| (round == 2 && worker == 4).then_some(Arrival::Missing);
    let mut there = elsewhere("mean", 0, absent);
    let mut plain = there.parameters.clone();
    let mut momenta = vec![vec![0.0; plain.len()]; WORKERS];
    let task = trainer("mean", 0).task;
    for round in 1..=3 {
        let batch = |worker| Batch { worker, round, seed: SEED, examples: &[], labels: None };
        let batches: Vec<Batch<'_>> = (0..WORKERS).map(batch).collect();
        let mut rows = vec![0.0; WORKERS * plain.len()];
        let dimension = plain.len();
        task.gradients(&plain, &batches, RowsMut::new(&mut rows, dimension), 1).expect("gradients");
        let answered: Vec<usize> = (0..WORKERS).filter(|&worker| absent(round, worker).is_none()).collect();
        for &worker in &answered {
            let gradient = &rows[worker * dimension..(worker + 1) * dimension];
            momenta[worker].iter_mut().zip(gradient).for_each(|(v, g)| *v = 0.9 * *v + 0.1 * g);
        }
        for k in 0..dimension {
            let sum: f64 = answered.iter().map(|&worker| momenta[worker][k]).sum();
            plain[k] -= 0.001 * sum / answered.len() as f64;
        }
        let told = there.round(Engine::default(), true).expect("runs");
        let missing: &[(usize, String)] = if round == 2 { &[(4, "missing".into())] } else { &[] };
        assert_eq!(told.verdicts, missing);
        assert!(told.loss.is_finite() && told.kappa.is_none_or(f64::is_finite));
    }
    let apart = plain.iter().zip(&there.parameters).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-12, "{apart}");
}

#[test]
fn an_invalid_answer_lowers_what_the_rule_must_tolerate() {
    let liar = |_, worker| (worker < 2).then(|| Arrival::Invalid("no vector".into()));
    let mut there = elsewhere("krum", 2, liar);
    let told = there.round(Engine::default(), true).expect("five messages and nobody left to tolerate");
    assert_eq!(told.verdicts, [(0, "invalid: no vector".into()), (1, "invalid: no vector".into())]);
    // Missing ones prove nothing: of the four others two may still lie, which is too many for krum.
    let mut there = elsewhere("krum", 2, |_, worker| (worker < 3).then_some(Arrival::Missing));
    assert!(there.round(Engine::default(), false).is_err(), "krum needs one neighbour at least");
}
