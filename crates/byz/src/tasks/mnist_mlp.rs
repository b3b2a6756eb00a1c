//! A perceptron with two hidden layers on MNIST: 784-128-64-10, ReLU, 109,386 parameters.
//!
//! The text of the Byz-NSGDM paper names this model; its released code trains `mnist_cnn`.

use super::{
    AnyTask, Setting, Spec,
    classifier::{CHUNK, Classifier, Network},
    digits::{CLASSES, PIXELS, Sizes, TEST, VALIDATION},
};
use crate::{
    error::Result,
    layout::{Layout, Role},
    nn::{Linear, Order, Real, product::Into, relu, relu_backward},
    registry::{Entry, Properties},
};

pub(super) const ENTRY: Entry<dyn Spec> = Entry {
    name: "mnist_mlp",
    aliases: &["mlp"],
    summary: "a perceptron 784-128-64-10 with ReLU on MNIST; 109,386 parameters",
    parameters: &[VALIDATION, TEST],
    requirement: "",
    reference: "LeCun et al., Gradient-based learning applied to document recognition, 1998 (the data)",
    properties: Properties::NONE,
    build: |arguments| Ok(Box::new(MnistMlp(Sizes::new(arguments)))),
};

struct MnistMlp(Sizes);

impl Spec for MnistMlp {
    fn open(&self, setting: &Setting<'_>) -> Result<AnyTask> {
        let digits = self.0.read(setting.data)?;
        Ok(AnyTask::F32(Box::new(Classifier::new(Perceptron, digits))))
    }
}

const FIRST: Linear = Linear { y: Order::ByFeature, ..Linear::new(PIXELS, 128) };
const SECOND: Linear = Linear { x: Order::ByFeature, y: Order::ByFeature, ..Linear::new(128, 64) };
const THIRD: Linear = Linear { x: Order::ByFeature, ..Linear::new(64, CLASSES) };

/// The network of three layers.
#[derive(Clone, Copy)]
pub(super) struct Perceptron;

/// Activations, and the gradients of the hidden ones.
pub(super) struct Space<T> {
    images: Vec<T>,
    first: Vec<T>,
    second: Vec<T>,
    logits: Vec<T>,
    d_first: Vec<T>,
    d_second: Vec<T>,
}

impl<T: Real> Network<T> for Perceptron {
    type Space = Space<T>;

    fn layout(&self) -> Layout {
        [("fc1", FIRST), ("fc2", SECOND), ("fc3", THIRD)].iter().fold(
            Layout::new(),
            |layout, (name, layer)| {
                layout.with(&format!("{name}.weight"), &[layer.outputs, layer.inputs], Role::Matrix).with(
                    &format!("{name}.bias"),
                    &[layer.outputs],
                    Role::Vector,
                )
            },
        )
    }

    fn space(&self) -> Space<T> {
        let buffer = |numbers: usize| vec![T::ZERO; CHUNK * numbers];
        Space {
            images: buffer(PIXELS),
            first: buffer(FIRST.outputs),
            second: buffer(SECOND.outputs),
            logits: buffer(THIRD.outputs),
            d_first: buffer(FIRST.outputs),
            d_second: buffer(SECOND.outputs),
        }
    }

    fn images<'s>(&self, space: &'s mut Space<T>) -> &'s mut [T] {
        &mut space.images
    }

    fn forward<'s>(&self, parameters: &[T], samples: usize, _: bool, space: &'s mut Space<T>) -> &'s mut [T] {
        let (first, rest) = parameters.split_at(FIRST.size());
        let (second, third) = rest.split_at(SECOND.size());
        let hidden = &mut space.first[..samples * FIRST.outputs];
        FIRST.forward(first, &space.images, hidden);
        relu(hidden);
        let deeper = &mut space.second[..samples * SECOND.outputs];
        SECOND.forward(second, hidden, deeper);
        relu(deeper);
        let logits = &mut space.logits[..samples * CLASSES];
        THIRD.forward(third, deeper, logits);
        logits
    }

    fn backward(
        &self,
        parameters: &[T],
        samples: usize,
        space: &mut Space<T>,
        gradient: &mut [T],
        into: Into,
    ) {
        let (_, rest) = parameters.split_at(FIRST.size());
        let (second, third) = rest.split_at(SECOND.size());
        let (g_first, rest) = gradient.split_at_mut(FIRST.size());
        let (g_second, g_third) = rest.split_at_mut(SECOND.size());
        let d_logits = &space.logits[..samples * CLASSES];
        let d_second = &mut space.d_second[..samples * SECOND.outputs];
        let d_first = &mut space.d_first[..samples * FIRST.outputs];

        THIRD.backward(&space.second, d_logits, g_third, into);
        THIRD.backward_input(third, d_logits, d_second);
        relu_backward(&space.second, d_second);
        SECOND.backward(&space.first, d_second, g_second, into);
        SECOND.backward_input(second, d_second, d_first);
        relu_backward(&space.first, d_first);
        FIRST.backward(&space.images, d_first, g_first, into);
    }

    fn flops(&self) -> f64 {
        2.0 * FIRST.flops() + 3.0 * SECOND.flops() + 3.0 * THIRD.flops()
    }
}
