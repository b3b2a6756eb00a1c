//! The layers of `mnist_cnn`, one after another. Convolutions go image by image, linear layers over the whole chunk.

use crate::{
    layout::{Layout, Role},
    nn::{
        Convolution, Dropout, Linear, PooledConvolution, Real, product::Into, relu, relu_backward,
        uniform_as_pytorch, uniform_by_fan_in,
    },
    random::Stream,
    tasks::{
        Batch,
        classifier::{CHUNK, Network},
        digits::{CLASSES, PIXELS},
    },
};

const FIRST: Convolution = Convolution { inputs: 1, outputs: 32, side: 28 };
const SECOND: Convolution = Convolution { inputs: 32, outputs: 64, side: 26 };
const POOLED: PooledConvolution = PooledConvolution { convolution: SECOND };
const THIRD: Linear = Linear::new(FEATURES, 128);
const FOURTH: Linear = Linear::new(128, CLASSES);
/// Numbers per image after the first convolution, and after the pool.
const MAPS: usize = 26 * 26 * 32;
const FEATURES: usize = 64 * 12 * 12;

/// What the first dropout drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Unit {
    Element,
    Channel,
}

/// Whose dropout masks are whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Masks {
    /// Every worker's in every round are its own.
    Fresh,
    /// All the same.
    Frozen,
}

/// The network.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Convolutional {
    pub(in super::super) unit: Unit,
    pub(in super::super) masks: Masks,
    /// Start where PyTorch's layers do.
    pub(in super::super) pytorch_start: bool,
}

impl Convolutional {
    fn dropouts(self) -> [Dropout; 2] {
        let unit = if self.unit == Unit::Channel { 12 * 12 } else { 1 };
        [Dropout::new(0.25, unit), Dropout::new(0.5, 1)]
    }
}

/// Activations, masks, gradients, and weights in the orders that the convolutions want.
pub(in super::super) struct Space<T> {
    images: Vec<T>,
    maps: Vec<T>,
    features: Vec<T>,
    winners: Vec<u8>,
    hidden: Vec<T>,
    logits: Vec<T>,
    streams: [Stream; 2],
    feature_masks: Vec<T>,
    hidden_masks: Vec<T>,
    d_features: Vec<T>,
    d_hidden: Vec<T>,
    /// Of one image.
    d_maps: Vec<T>,
    band: Vec<T>,
    first: Vec<T>,
    second: Vec<T>,
    d_first: Vec<T>,
    d_second: Vec<T>,
}

/// One slice per layer.
fn split<T>(parameters: &[T]) -> [&[T]; 4] {
    let (first, rest) = parameters.split_at(FIRST.size());
    let (second, rest) = rest.split_at(SECOND.size());
    let (third, fourth) = rest.split_at(THIRD.size());
    [first, second, third, fourth]
}

fn split_mut<T>(gradient: &mut [T]) -> [&mut [T]; 4] {
    let (first, rest) = gradient.split_at_mut(FIRST.size());
    let (second, rest) = rest.split_at_mut(SECOND.size());
    let (third, fourth) = rest.split_at_mut(THIRD.size());
    [first, second, third, fourth]
}

impl<T: Real> Network<T> for Convolutional {
    type Space = Space<T>;

    fn layout(&self) -> Layout {
        Layout::new()
            .with("conv1.weight", &[32, 1, 3, 3], Role::Matrix)
            .with("conv1.bias", &[32], Role::Vector)
            .with("conv2.weight", &[64, 32, 3, 3], Role::Matrix)
            .with("conv2.bias", &[64], Role::Vector)
            .with("fc1.weight", &[128, FEATURES], Role::Matrix)
            .with("fc1.bias", &[128], Role::Vector)
            .with("fc2.weight", &[CLASSES, 128], Role::Matrix)
            .with("fc2.bias", &[CLASSES], Role::Vector)
    }

    fn start(&self, layout: &Layout, seed: u64) -> Vec<T> {
        if self.pytorch_start { uniform_as_pytorch(layout, seed) } else { uniform_by_fan_in(layout, seed) }
    }

    fn space(&self) -> Space<T> {
        let zeros = |numbers: usize| vec![T::ZERO; numbers];
        Space {
            images: zeros(CHUNK * PIXELS),
            maps: zeros(CHUNK * MAPS),
            features: zeros(CHUNK * FEATURES),
            winners: vec![0; CHUNK * FEATURES],
            hidden: zeros(CHUNK * THIRD.outputs),
            logits: zeros(CHUNK * CLASSES),
            streams: [Stream::new(0, "dropout1", 0, 0), Stream::new(0, "dropout2", 0, 0)],
            feature_masks: zeros(CHUNK * FEATURES),
            hidden_masks: zeros(CHUNK * THIRD.outputs),
            d_features: zeros(CHUNK * FEATURES),
            d_hidden: zeros(CHUNK * THIRD.outputs),
            d_maps: zeros(MAPS),
            band: zeros(POOLED.band()),
            first: zeros(FIRST.weights()),
            second: zeros(SECOND.weights()),
            d_first: zeros(FIRST.weights()),
            d_second: zeros(SECOND.weights()),
        }
    }

    fn begin(&self, batch: &Batch<'_>, space: &mut Space<T>) {
        // Rounds count from 1, so that frozen masks are nobody's fresh ones.
        let (worker, round) = match self.masks {
            Masks::Fresh => (batch.worker as u64, batch.round),
            Masks::Frozen => (0, 0),
        };
        space.streams = ["dropout1", "dropout2"].map(|layer| Stream::new(batch.seed, layer, worker, round));
    }

    fn images<'s>(&self, space: &'s mut Space<T>) -> &'s mut [T] {
        &mut space.images
    }

    fn forward<'s>(
        &self,
        parameters: &[T],
        samples: usize,
        training: bool,
        space: &'s mut Space<T>,
    ) -> &'s mut [T] {
        let [first, second, third, fourth] = split(parameters);
        let features = &mut space.features[..samples * FEATURES];
        let hidden = &mut space.hidden[..samples * THIRD.outputs];
        let logits = &mut space.logits[..samples * CLASSES];
        FIRST.pack(first, &mut space.first);
        SECOND.pack(second, &mut space.second);
        let (first_bias, second_bias) = (&first[FIRST.weights()..], &second[SECOND.weights()..]);
        let results = features.chunks_exact_mut(FEATURES).zip(space.winners.chunks_exact_mut(FEATURES));
        let images = space.images.chunks_exact(PIXELS).zip(space.maps.chunks_exact_mut(MAPS));
        for ((features, winners), (image, maps)) in results.zip(images) {
            FIRST.forward(&space.first, first_bias, image, 0..FIRST.width(), maps);
            relu(maps);
            POOLED.forward(&space.second, second_bias, maps, &mut space.band, features, winners);
        }
        let [of_features, of_hidden] = self.dropouts();
        let feature_masks = &mut space.feature_masks[..samples * FEATURES];
        let hidden_masks = &mut space.hidden_masks[..samples * THIRD.outputs];
        if training {
            of_features.draw(&mut space.streams[0], feature_masks);
            of_features.apply(feature_masks, features);
        }
        THIRD.forward(third, features, hidden);
        relu(hidden);
        if training {
            of_hidden.draw(&mut space.streams[1], hidden_masks);
            of_hidden.apply(hidden_masks, hidden);
        }
        FOURTH.forward(fourth, hidden, logits);
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
        let [_, second, third, fourth] = split(parameters);
        let [g_first, g_second, g_third, g_fourth] = split_mut(gradient);
        let [of_features, of_hidden] = self.dropouts();
        let d_logits = &space.logits[..samples * CLASSES];
        let d_hidden = &mut space.d_hidden[..samples * THIRD.outputs];
        let d_features = &mut space.d_features[..samples * FEATURES];
        FOURTH.backward(&space.hidden, d_logits, g_fourth, into);
        FOURTH.backward_input(fourth, d_logits, d_hidden);
        of_hidden.apply(&space.hidden_masks, d_hidden);
        relu_backward(&space.hidden, d_hidden);
        THIRD.backward(&space.features, d_hidden, g_third, into);
        THIRD.backward_input(third, d_hidden, d_features);
        of_features.apply(&space.feature_masks, d_features);

        let (g_first, g_first_bias) = g_first.split_at_mut(FIRST.weights());
        let (g_second, g_second_bias) = g_second.split_at_mut(SECOND.weights());
        POOLED.turn(&second[..SECOND.weights()], &mut space.second);
        space.d_first.fill(T::ZERO);
        space.d_second.fill(T::ZERO);
        if into == Into::Replace {
            g_first_bias.fill(T::ZERO);
            g_second_bias.fill(T::ZERO);
        }
        let results = d_features.chunks_exact(FEATURES).zip(space.winners.chunks_exact(FEATURES));
        let images = space.images.chunks_exact(PIXELS).zip(space.maps.chunks_exact(MAPS));
        for ((d_features, winners), (image, maps)) in results.zip(images) {
            POOLED.backward(&space.second, maps, d_features, winners, &mut space.d_second, &mut space.d_maps);
            POOLED.backward_bias(d_features, g_second_bias);
            relu_backward(maps, &mut space.d_maps);
            FIRST.backward(image, &space.d_maps, &mut space.d_first);
            FIRST.backward_bias(&space.d_maps, g_first_bias);
        }
        FIRST.unpack(&space.d_first, g_first, into);
        POOLED.turn_back(&space.d_second, g_second, into);
    }

    /// What is computed, not what dense products would: a quarter of the second convolution's two backward passes.
    fn flops(&self) -> f64 {
        2.0 * FIRST.flops() + 1.5 * SECOND.flops() + 3.0 * THIRD.flops() + 3.0 * FOURTH.flops()
    }
}
