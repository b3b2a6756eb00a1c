//! Every network on made-up images: gradients, bits, masks; and on MNIST where it is at hand.

use super::*;
use crate::{
    data::Directory,
    nn::differences::agrees,
    registry,
    tasks::{
        AnyTask, LabelMap, Setting, TABLE,
        digits::tests::made_up,
        logistic::Regression,
        mnist_cnn::{Convolutional, Masks, Unit},
        mnist_mlp::Perceptron,
    },
};

const CHANNEL: Convolutional =
    Convolutional { unit: Unit::Channel, masks: Masks::Fresh, pytorch_start: false };
const ELEMENT: Convolutional =
    Convolutional { unit: Unit::Element, masks: Masks::Frozen, pytorch_start: false };

fn task<T: Smooth, N: Network<T>>(network: N) -> Classifier<T, N> {
    Classifier::new(network, made_up(150, 100, 20))
}

fn batch(worker: usize, examples: &[usize]) -> Batch<'_> {
    Batch { worker, round: 7, seed: 3, examples, labels: None }
}

pub(super) fn gradient<T: Smooth, N: Network<T>>(
    task: &Classifier<T, N>,
    parameters: &[T],
    batch: Batch<'_>,
) -> (f64, Vec<T>) {
    let mut out = vec![T::ZERO; parameters.len()];
    let rows = RowsMut::new(&mut out, parameters.len());
    let losses = task.gradients(parameters, &[batch], rows, 1).expect("sizes fit");
    (losses[0], out)
}

/// Tensor by tensor, so that small ones are looked at too. The batch keeps its dropout masks.
fn check_differences<N: Network<f64>>(network: N) {
    let task = task(network);
    let point = task.initial_parameters(1);
    let batch = Batch { labels: Some(LabelMap::Shift(3)), ..batch(2, &[4, 0, 17]) };
    let (_, whole) = gradient(&task, &point, batch);
    for tensor in task.layout().tensors() {
        let mut moved = point.clone();
        let value = |part: &[f64]| {
            moved[tensor.range()].copy_from_slice(part);
            gradient(&task, &moved, batch).0
        };
        agrees(value, &point[tensor.range()], &whole[tensor.range()], 1e-7, 1e-6);
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    check_differences(Regression);
    check_differences(Perceptron);
    check_differences(CHANNEL);
    check_differences(ELEMENT);
}

/// Along the gradient, for a batch of two chunks of which the second is not full.
fn check_chunks<N: Network<f64>>(network: N) {
    let task = task(network);
    let point = task.initial_parameters(1);
    let examples: Vec<usize> = (0..CHUNK + 5).collect();
    let (_, slope) = gradient(&task, &point, batch(1, &examples));
    let squares: f64 = slope.iter().map(|g| g * g).sum();
    let loss = |step: f64| {
        let moved: Vec<f64> = point.iter().zip(&slope).map(|(x, g)| x + step * g).collect();
        gradient(&task, &moved, batch(1, &examples)).0
    };
    let difference = (loss(1e-6) - loss(-1e-6)) / 2e-6;
    assert!((difference / squares - 1.0).abs() < 1e-6, "{difference} {squares}");
}

#[test]
fn a_batch_may_be_longer_than_a_chunk() {
    check_chunks(Regression);
    check_chunks(Perceptron);
    check_chunks(CHANNEL);
    check_chunks(ELEMENT);
}

/// ‖g₃₂ − g₆₄‖ ≤ 2e-5 ‖g₆₄‖: sums of up to 40,000 terms in f32 lose about the root of that many roundings of 6e-8.
fn check_precision<N: Network<f32> + Network<f64> + Copy>(network: N) {
    let (narrow, wide) = (task::<f32, N>(network), task::<f64, N>(network));
    let parameters = narrow.initial_parameters(5);
    let examples: Vec<usize> = (0..40).collect();
    let (loss, g) = gradient(&narrow, &parameters, batch(0, &examples));
    let parameters: Vec<f64> = parameters.iter().map(|&x| x.into()).collect();
    let (exact_loss, exact) = gradient(&wide, &parameters, batch(0, &examples));
    assert!((loss / exact_loss - 1.0).abs() < 2e-6, "{loss} {exact_loss}");
    let error: f64 = g.iter().zip(&exact).map(|(&a, b)| (f64::from(a) - b).powi(2)).sum();
    let size: f64 = exact.iter().map(|g| g * g).sum();
    assert!((error / size).sqrt() < 2e-5, "{}", (error / size).sqrt());
}

#[test]
fn single_precision_is_close_to_double() {
    check_precision(Regression);
    check_precision(Perceptron);
    check_precision(CHANNEL);
    check_precision(ELEMENT);
}

fn check_threads<N: Network<f32>>(network: N) {
    let task = task(network);
    let parameters = task.initial_parameters(2);
    let examples: Vec<Vec<usize>> = (0..5).map(|worker| (worker..worker + 9).collect()).collect();
    let batches: Vec<Batch<'_>> = examples.iter().enumerate().map(|(w, e)| batch(w, e)).collect();
    let run = |threads: usize| {
        let mut out = vec![f32::NAN; 5 * parameters.len()];
        let rows = RowsMut::new(&mut out, parameters.len());
        let losses = task.gradients(&parameters, &batches, rows, threads).expect("sizes fit");
        // As text, because a class without images has no accuracy: NaN.
        let judged = [Split::Test, Split::Validation].map(|split| {
            format!("{:?}", task.evaluate(&parameters, split, threads).expect("both are there"))
        });
        (out.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), losses, judged)
    };
    let one = run(1);
    assert!(run(2) == one && run(3) == one && run(1) == one);
}

#[test]
fn no_bit_depends_on_threads_or_on_what_was_computed_before() {
    check_threads(Regression);
    check_threads(Perceptron);
    check_threads(CHANNEL);
    check_threads(ELEMENT);
}

#[test]
fn fresh_masks_differ_by_worker_and_round_and_frozen_ones_do_not() {
    let losses = |network: Convolutional| {
        let task = task::<f32, _>(network);
        let parameters = task.initial_parameters(1);
        let at = |worker, round| gradient(&task, &parameters, Batch { round, ..batch(worker, &[1, 2]) }).0;
        [at(0, 1), at(1, 1), at(0, 2)]
    };
    let [one, worker, round] = losses(CHANNEL);
    assert!(one != worker && one != round);
    let [one, worker, round] = losses(ELEMENT);
    assert!(one == worker && one == round);
}

#[test]
fn models_have_the_published_numbers_of_parameters() {
    assert_eq!(task::<f32, _>(Regression).layout().dimension(), 7_850);
    assert_eq!(task::<f32, _>(Perceptron).layout().dimension(), 109_386);
    assert_eq!(task::<f32, _>(CHANNEL).layout().dimension(), 1_199_882);
}

#[test]
fn what_does_not_fit_is_refused() {
    let task = task::<f32, _>(Regression);
    let mut out = vec![0.0; 7_850];
    let mut refused = |parameters: usize, examples: &[usize]| {
        let rows = RowsMut::new(&mut out, 7_850);
        task.gradients(&vec![0.0; parameters], &[batch(0, examples)], rows, 1).is_err()
    };
    assert!(refused(7_849, &[1]) && refused(7_850, &[]) && !refused(7_850, &[1]));
    assert!(task.evaluate(&[0.0], Split::Test, 1).is_err());
}

#[test]
fn a_few_steps_on_mnist_learn_most_digits() {
    let directory = Directory::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    if !directory.path().join("mnist").is_dir() {
        eprintln!("skipped: no MNIST at {}", directory.path().display());
        return;
    }
    let setting = Setting { workers: 1, byzantine: 0, seed: 1, data: &directory };
    for (expression, rate) in [("logistic(test=9984)", 0.1), ("mnist_mlp(validation=1000,test=9984)", 0.1)] {
        let spec = registry::read("task", TABLE, expression).expect("the table has it");
        let Ok(AnyTask::F32(task)) = spec.open(&setting) else { panic!("the data can be read") };
        let mut parameters = task.initial_parameters(1);
        let mut out = vec![0.0; parameters.len()];
        for step in 0..300 {
            let examples: Vec<usize> = (0..64).map(|k| (step * 64 + k) % task.examples().count).collect();
            let rows = RowsMut::new(&mut out, parameters.len());
            task.gradients(&parameters, &[batch(0, &examples)], rows, 1).expect("sizes fit");
            parameters.iter_mut().zip(&out).for_each(|(x, g)| *x -= rate * g);
        }
        let judged = task.evaluate(&parameters, Split::Test, 2).expect("there are test images");
        assert!(judged.metric > 85.0, "{expression}: {judged:?}");
    }
}
