//! Multinomial logistic regression on MNIST: one linear layer 784-10, 7,850 parameters. The cheap convex case.

use super::{
    AnyTask, Setting, Spec,
    classifier::{CHUNK, Classifier, Network},
    digits::{CLASSES, PIXELS, Sizes, TEST, VALIDATION},
};
use crate::{
    error::Result,
    layout::{Layout, Role},
    nn::{Linear, Real, product::Into},
    registry::{Entry, Properties},
};

pub(super) const ENTRY: Entry<dyn Spec> = Entry {
    name: "logistic",
    aliases: &["mnist_logistic"],
    summary: "multinomial logistic regression on MNIST; convex, 7,850 parameters",
    parameters: &[VALIDATION, TEST],
    requirement: "",
    reference: "LeCun et al., Gradient-based learning applied to document recognition, 1998 (the data)",
    properties: Properties::NONE,
    build: |arguments| Ok(Box::new(Logistic(Sizes::new(arguments)))),
};

struct Logistic(Sizes);

impl Spec for Logistic {
    fn open(&self, setting: &Setting<'_>) -> Result<AnyTask> {
        let digits = self.0.read(setting.data)?;
        Ok(AnyTask::F32(Box::new(Classifier::new(Regression, digits))))
    }
}

const LAYER: Linear = Linear::new(PIXELS, CLASSES);

/// The network of one layer.
#[derive(Clone, Copy)]
pub(super) struct Regression;

pub(super) struct Space<T> {
    images: Vec<T>,
    logits: Vec<T>,
}

impl<T: Real> Network<T> for Regression {
    type Space = Space<T>;

    fn layout(&self) -> Layout {
        Layout::new().with("fc.weight", &[CLASSES, PIXELS], Role::Matrix).with(
            "fc.bias",
            &[CLASSES],
            Role::Vector,
        )
    }

    fn space(&self) -> Space<T> {
        Space { images: vec![T::ZERO; CHUNK * PIXELS], logits: vec![T::ZERO; CHUNK * CLASSES] }
    }

    fn images<'s>(&self, space: &'s mut Space<T>) -> &'s mut [T] {
        &mut space.images
    }

    fn forward<'s>(&self, parameters: &[T], samples: usize, _: bool, space: &'s mut Space<T>) -> &'s mut [T] {
        let logits = &mut space.logits[..samples * CLASSES];
        LAYER.forward(parameters, &space.images, logits);
        logits
    }

    fn backward(&self, _: &[T], samples: usize, space: &mut Space<T>, gradient: &mut [T], into: Into) {
        LAYER.backward(&space.images, &space.logits[..samples * CLASSES], gradient, into);
    }

    fn flops(&self) -> f64 {
        2.0 * LAYER.flops()
    }
}
