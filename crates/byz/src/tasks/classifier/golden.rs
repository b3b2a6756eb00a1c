//! Values made with PyTorch in double precision by `scripts/pytorch_values.py`, on images and parameters given by formulas.

use super::{Classifier, Network, tests::gradient};
use crate::{
    nn::differences::wave,
    tasks::{
        Batch, LabelMap, Split, Task,
        digits::tests::made_up,
        logistic::Regression,
        mnist_cnn::{Convolutional, Masks, Unit},
        mnist_mlp::Perceptron,
    },
};
use serde_json::Value;

fn close(found: f64, expected: &Value, scale: f64) {
    let expected = expected.as_f64().expect("a number");
    assert!((found - expected).abs() <= 1e-10 * scale, "{found} but PyTorch says {expected}");
}

fn check<N: Network<f64>>(network: N, expected: &Value) {
    let task = Classifier::new(network, made_up(40, 20, 0));
    let (mut parameters, mut bound) = (Vec::new(), 1.0);
    for (phase, tensor) in task.layout().tensors().iter().enumerate() {
        bound = tensor.matrix().map_or(bound, |(_, fan_in)| 1.0 / (fan_in as f64).sqrt());
        parameters.extend(wave(tensor.len(), phase).iter().map(|x| bound * x));
    }
    assert_eq!(Value::from(parameters.len()), expected["parameters"]);
    let labels = Some(LabelMap::Shift(3));
    let batch = Batch { worker: 2, round: 7, seed: 3, examples: &[4, 0, 17, 30, 9], labels };
    let (loss, found) = gradient(&task, &parameters, batch);
    close(loss, &expected["loss"], 1.0);
    for tensor in task.layout().tensors() {
        let (found, expected) = (&found[tensor.range()], &expected["gradient"][&tensor.name]);
        let norm = expected["norm"].as_f64().expect("a number");
        close(found.iter().map(|g| g * g).sum::<f64>().sqrt(), &expected["norm"], norm);
        close(found.iter().sum(), &expected["sum"], norm);
        for (place, expected) in expected["at"].as_object().expect("places") {
            close(found[place.parse::<usize>().expect("an index")], expected, norm);
        }
    }
    let judged = task.evaluate(&parameters, Split::Test, 1).expect("there are test images");
    close(judged.loss, &expected["test_loss"], 1.0);
    close(judged.metric, &expected["test_accuracy"], 1.0);
}

#[test]
fn agrees_with_pytorch() {
    let file = include_str!("../../../tests/suite/golden/pytorch_mnist.json");
    let file: Value = serde_json::from_str(file).expect("the file is JSON");
    let cases = file["cases"].as_array().expect("a list");
    assert_eq!(cases.len(), 4);
    for case in cases {
        match case["model"].as_str().expect("a name") {
            "logistic" => check(Regression, case),
            "mnist_mlp" => check(Perceptron, case),
            "mnist_cnn(dropout=channel,masks=fresh)" => {
                check(Convolutional { unit: Unit::Channel, masks: Masks::Fresh, pytorch_start: false }, case);
            }
            "mnist_cnn(dropout=element,masks=frozen)" => {
                check(
                    Convolutional { unit: Unit::Element, masks: Masks::Frozen, pytorch_start: false },
                    case,
                );
            }
            other => panic!("no such model: {other}"),
        }
    }
}
