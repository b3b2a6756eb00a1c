//! The matrix products of one round of `mnist_mlp` (20 workers, batch 64), as a share of the rate at which this machine
//! multiplies square matrices, measured in turns.
//!
//! cargo bench -p byz --bench products

use byz::nn::{
    Linear, Order,
    product::{Into, View, multiply},
};
use std::time::Instant;

const WORKERS: usize = 20;
const BATCH: usize = 64;
const SQUARE: usize = 512;
const REPETITIONS: usize = 200;

/// The layers as `mnist_mlp` has them; the first needs no gradient of its input.
const LAYERS: [Linear; 3] = [
    Linear { y: Order::ByFeature, ..Linear::new(784, 128) },
    Linear { x: Order::ByFeature, ..Linear::new(128, 64) },
    Linear::new(64, 10),
];

fn main() {
    let (mut round, mut square) = (round(), square());
    let mut shares: Vec<f64> = (0..REPETITIONS).map(|_| round() / square()).collect();
    shares.sort_unstable_by(f64::total_cmp);
    println!(
        "mnist_mlp's products run at {:.0} % of the rate of {SQUARE}×{SQUARE} ones (10 % of rounds below {:.0} %)",
        100.0 * shares[REPETITIONS / 2],
        100.0 * shares[REPETITIONS / 10],
    );
}

/// GFLOP/s of one round's products. Every worker has its own gradient, so results leave the cache as in a round.
fn round() -> impl FnMut() -> f64 {
    let weights: Vec<Vec<f32>> = LAYERS.iter().map(|layer| vec![0.01; layer.size()]).collect();
    let inputs: Vec<Vec<f32>> = LAYERS.iter().map(|layer| vec![0.5; BATCH * layer.inputs]).collect();
    let mut outputs: Vec<Vec<f32>> = LAYERS.iter().map(|layer| vec![0.0; BATCH * layer.outputs]).collect();
    let mut d_inputs = inputs.clone();
    let mut gradients: Vec<Vec<Vec<f32>>> = vec![weights.clone(); WORKERS];
    let products = |layer: usize| if layer == 0 { 2.0 } else { 3.0 };
    let flops: f64 = LAYERS.iter().enumerate().map(|(k, layer)| products(k) * layer.flops()).sum();
    move || {
        let clock = Instant::now();
        for gradient in &mut gradients {
            for (k, layer) in LAYERS.iter().enumerate() {
                layer.forward(&weights[k], &inputs[k], &mut outputs[k]);
            }
            for (k, layer) in LAYERS.iter().enumerate().rev() {
                layer.backward(&inputs[k], &outputs[k], &mut gradient[k], Into::Replace);
                if k > 0 {
                    layer.backward_input(&weights[k], &outputs[k], &mut d_inputs[k]);
                }
            }
        }
        flops * (BATCH * WORKERS) as f64 / clock.elapsed().as_secs_f64() / 1e9
    }
}

/// GFLOP/s of one square product.
fn square() -> impl FnMut() -> f64 {
    let (a, b) = (vec![0.5f32; SQUARE * SQUARE], vec![0.25f32; SQUARE * SQUARE]);
    let mut out = vec![0f32; SQUARE * SQUARE];
    move || {
        let clock = Instant::now();
        multiply(
            1.0,
            View::new(&a, SQUARE, SQUARE),
            View::new(&b, SQUARE, SQUARE),
            &mut out,
            SQUARE,
            Into::Replace,
        );
        2.0 * (SQUARE * SQUARE * SQUARE) as f64 / clock.elapsed().as_secs_f64() / 1e9
    }
}
