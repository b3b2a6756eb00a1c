use super::*;
use crate::nn::gelu::Gelu;
use serde_json::Value;

const SMALL: Settings = Settings {
    shape: Shape { layers: 2, width: 12, heads: 3, block: 9, vocabulary: 0 },
    gelu: Gelu::Erf,
    dropout: 0.0,
    frozen: false,
    validation: None,
};

fn made_up(length: usize) -> String {
    (0..length).map(|k| char::from(b'a' + (k * k / 3 % 11) as u8)).collect()
}

/// tinyshakespeare beside the project, where there is one.
fn shakespeare() -> Option<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let text = data::shakespeare(&data::Directory::at(path));
    text.inspect_err(|error| eprintln!("skipped, no tinyshakespeare: {error}")).ok()
}

fn batch(examples: &[usize]) -> Batch<'_> {
    Batch { worker: 3, round: 7, seed: 1, examples, labels: None }
}

fn gradient<T: Smooth>(task: &CharGpt<T>, parameters: &[T], batch: Batch<'_>) -> (f64, Vec<T>) {
    let mut out = vec![T::ONE; parameters.len()];
    let loss = task.gradients(parameters, &[batch], RowsMut::new(&mut out, parameters.len()), 1).unwrap();
    (loss[0], out)
}

/// Initial parameters moved by a wave, so that biases count and nothing is symmetric.
fn somewhere<T: Smooth>(task: &CharGpt<T>) -> Vec<T> {
    let start = task.initial_parameters(5).into_iter().enumerate();
    start.map(|(k, start)| start + T::from_f64(0.1 * (k as f64 * 0.73).sin())).collect()
}

#[test]
fn gradients_are_central_differences() {
    // More blocks than a chunk holds, so that chunks add up.
    let examples: Vec<usize> = (0..11).map(|k| k * 3 % 17).collect();
    let poisoned = Batch { labels: Some(LabelMap::Reverse), ..batch(&examples) };
    for (gelu, dropout, frozen, batch) in [
        (Gelu::Erf, 0.0, false, batch(&examples)),
        (Gelu::Tanh, 0.2, false, batch(&examples)),
        (Gelu::Erf, 0.1, true, poisoned),
    ] {
        let settings = Settings { gelu, dropout, frozen, ..SMALL };
        let task = CharGpt::<f64>::new(settings, &made_up(400)).unwrap();
        let mut parameters = somewhere(&task);
        let (_, exact) = gradient(&task, &parameters, batch);
        let step = 1e-5;
        for index in (0..parameters.len()).step_by(53) {
            let mut at = |offset: f64| {
                let before = parameters[index];
                parameters[index] = before + offset;
                let loss = gradient(&task, &parameters, batch).0;
                parameters[index] = before;
                loss
            };
            let difference = (at(step) - at(-step)) / (2.0 * step);
            assert!((difference - exact[index]).abs() < 1e-9, "{index}: {difference} {}", exact[index]);
        }
    }
}

#[test]
fn loss_and_gradient_are_those_of_pytorch() {
    let file: Value = serde_json::from_str(include_str!("pytorch.json")).unwrap();
    for case in file["cases"].as_array().unwrap() {
        let size = |name: &str| case[name].as_u64().unwrap() as usize;
        let shape = Shape {
            layers: size("layers"),
            width: size("width"),
            heads: size("heads"),
            block: size("block"),
            vocabulary: 0,
        };
        let gelu = if case["gelu"] == "tanh" { Gelu::Tanh } else { Gelu::Erf };
        let settings = Settings { shape, gelu, ..SMALL };
        let task = CharGpt::<f64>::new(settings, file["text"].as_str().unwrap()).unwrap();
        let is_gain = |tensor: &crate::Tensor| tensor.name.ends_with("norm.weight");
        let mut parameters: Vec<f64> = (1..=size("dimension")).map(|k| 0.2 * (k as f64).sin()).collect();
        for tensor in task.layout().tensors().iter().filter(|tensor| is_gain(tensor)) {
            parameters[tensor.range()].iter_mut().for_each(|gain| *gain += 1.0);
        }
        let examples: Vec<usize> = case["examples"]
            .as_array()
            .unwrap()
            .iter()
            .map(|index| index.as_u64().unwrap() as usize)
            .collect();
        let labels = case["reverse"].as_bool().unwrap().then_some(LabelMap::Reverse);
        let (loss, found) = gradient(&task, &parameters, Batch { labels, ..batch(&examples) });
        assert!((loss - case["loss"].as_f64().unwrap()).abs() < 1e-12, "{loss} {}", case["loss"]);
        for (index, wanted) in case["gradient"].as_object().unwrap() {
            let found = found[index.parse::<usize>().unwrap()];
            assert!((found - wanted.as_f64().unwrap()).abs() < 1e-12, "{index}: {found} {wanted}");
        }
        let norm = found.iter().map(|g| g * g).sum::<f64>().sqrt();
        assert!((norm - case["gradient_norm"].as_f64().unwrap()).abs() < 1e-11);
    }
}

#[test]
fn single_precision_is_near_double() {
    let examples = [4, 0, 9];
    let settings = Settings { dropout: 0.1, ..SMALL };
    let (single, double) = (
        CharGpt::<f32>::new(settings, &made_up(400)).unwrap(),
        CharGpt::<f64>::new(settings, &made_up(400)).unwrap(),
    );
    let parameters = somewhere(&single);
    let wide: Vec<f64> = parameters.iter().copied().map(f64::from).collect();
    let (loss, found) = gradient(&single, &parameters, batch(&examples));
    let (exact_loss, exact) = gradient(&double, &wide, batch(&examples));
    assert!((loss / exact_loss - 1.0).abs() < 1e-6, "{loss} {exact_loss}");
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let error = norm(&mut found.iter().zip(&exact).map(|(a, b)| f64::from(*a) - b));
    let length = norm(&mut exact.iter().copied());
    assert!(error < 2e-6 * length, "{error} of {length}");
}

#[test]
fn no_bit_depends_on_the_threads() {
    let task = CharGpt::<f32>::new(Settings { dropout: 0.1, ..SMALL }, &made_up(2000)).unwrap();
    let parameters = somewhere(&task);
    let examples: Vec<usize> = (0..20).collect();
    let batches: Vec<Batch<'_>> =
        (0..5).map(|worker| Batch { worker, examples: &examples[worker..], ..batch(&examples) }).collect();
    let run = |threads| {
        let mut out = vec![0.0; 5 * parameters.len()];
        let rows = RowsMut::new(&mut out, parameters.len());
        let losses = task.gradients(&parameters, &batches, rows, threads).unwrap();
        let metrics = task.evaluate(&parameters, Split::Test, threads).unwrap();
        (losses, out, metrics)
    };
    let alone = run(1);
    assert!(alone == run(2) && alone == run(3));
}

#[test]
fn frozen_masks_are_the_same_for_all_workers_in_all_rounds_and_fresh_ones_are_not() {
    let examples = [1, 2];
    for frozen in [true, false] {
        let task = CharGpt::<f32>::new(Settings { dropout: 0.3, frozen, ..SMALL }, &made_up(400)).unwrap();
        let parameters = somewhere(&task);
        let loss =
            |worker, round| gradient(&task, &parameters, Batch { worker, round, ..batch(&examples) }).0;
        let first = loss(0, 1);
        assert_eq!([loss(1, 1), loss(0, 2)].map(|loss| loss == first), [frozen; 2]);
    }
}

#[test]
fn training_starts_at_the_entropy_of_a_guess_and_goes_down() {
    for text in [Some(made_up(4000)), shakespeare()].into_iter().flatten() {
        let shape = Shape { layers: 2, width: 32, heads: 4, block: 32, vocabulary: 0 };
        let task = CharGpt::<f32>::new(Settings { shape, dropout: 0.1, ..SMALL }, &text).unwrap();
        let mut parameters = task.initial_parameters(0);
        let examples: Vec<usize> = (0..16).collect();
        let (start, _) = gradient(&task, &parameters, batch(&examples));
        assert!((start - (task.text.vocabulary as f64).ln()).abs() < 0.05, "{start}");
        for _ in 0..30 {
            let (_, step) = gradient(&task, &parameters, batch(&examples));
            parameters.iter_mut().zip(step).for_each(|(parameter, step)| *parameter -= 0.5 * step);
        }
        let (end, _) = gradient(&task, &parameters, batch(&examples));
        assert!(end < 0.95 * start, "{start} {end}");
    }
}

#[test]
fn tinyshakespeare_gives_the_paper_s_numbers() {
    let Some(text) = shakespeare() else { return };
    let shape = Shape { layers: 4, width: 128, heads: 4, block: 128, vocabulary: 0 };
    let task = CharGpt::<f32>::new(Settings { shape, ..SMALL }, &text).unwrap();
    assert_eq!((task.text.vocabulary, task.layout().dimension()), (65, 818_048));
    assert_eq!((task.examples().count, task.text.count(Part::Validation)), (7842, 871));
    let parameters = task.initial_parameters(0);
    let (loss, _) = gradient(&task, &parameters, batch(&[0, 7841]));
    assert!((loss - 65f64.ln()).abs() < 0.05, "{loss}");
}

#[test]
fn arguments_that_make_no_model_are_refused() {
    let task = CharGpt::<f32>::new(SMALL, &made_up(400)).unwrap();
    let parameters = task.initial_parameters(0);
    let mut out = vec![0.0; parameters.len()];
    for examples in [&[][..], &[1_000_000]] {
        let rows = RowsMut::new(&mut out, parameters.len());
        assert!(task.gradients(&parameters, &[batch(examples)], rows, 1).is_err());
    }
    for expression in ["char_gpt(heads=3)", "char_gpt(dropout=1)", "char_gpt(gelu=relu)"] {
        let call = crate::expression::parse(expression).unwrap().remove(0);
        assert!(crate::registry::build(&ENTRY, &call).is_err(), "{expression}");
    }
    let call = crate::expression::parse("gpt(layers=1,width=8,heads=2,masks=frozen,validation=all)")
        .unwrap()
        .remove(0);
    assert!(crate::registry::build(&ENTRY, &call).is_ok());
}
