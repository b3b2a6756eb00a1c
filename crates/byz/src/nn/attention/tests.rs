use super::*;
use crate::random::Stream;

fn numbers(count: usize, frequency: f64) -> Vec<f64> {
    (0..count).map(|k| (k as f64 * frequency).sin()).collect()
}

/// The definition, one number at a time, without dropout.
fn plain(attention: Attention, qkv: &[f64]) -> Vec<f64> {
    let Attention { block, width, heads } = attention;
    let size = width / heads;
    let mut out = vec![0.0; qkv.len() / 3];
    for token in 0..qkv.len() / (3 * width) {
        let start = token - token % block;
        for head in 0..heads {
            let at =
                |token: usize, part: usize| &qkv[token * 3 * width + part * width + head * size..][..size];
            let dot = |past| at(token, 0).iter().zip(at(past, 1)).map(|(q, k)| q * k).sum::<f64>();
            let weights: Vec<f64> =
                (start..=token).map(|past| (dot(past) / (size as f64).sqrt()).exp()).collect();
            let total: f64 = weights.iter().sum();
            for (past, weight) in (start..).zip(weights) {
                for d in 0..size {
                    out[token * width + head * size + d] += weight / total * at(past, 2)[d];
                }
            }
        }
    }
    out
}

fn forward<T: Smooth>(attention: Attention, qkv: &[T], dropout: Dropout<'_>) -> (Vec<T>, Vec<T>) {
    let sequences = qkv.len() / (3 * attention.width * attention.block);
    let mut signed = vec![T::ZERO; sequences * attention.kept()];
    let mut out = vec![T::ZERO; qkv.len() / 3];
    attention.forward(qkv, dropout, &mut signed, &mut out, &mut Scratch::new(attention.block));
    (signed, out)
}

const SHAPES: [Attention; 3] = [
    Attention { block: 5, width: 6, heads: 2 },
    Attention { block: 70, width: 4, heads: 1 },
    Attention { block: 128, width: 12, heads: 3 },
];

#[test]
fn outputs_follow_the_definition() {
    for attention in SHAPES {
        let qkv = numbers(2 * 3 * attention.width * attention.block, 0.37);
        let (_, out) = forward(attention, &qkv, None);
        let narrow: Vec<f32> = qkv.iter().map(|&x| x as f32).collect();
        let (_, single) = forward(attention, &narrow, None);
        for ((out, wanted), single) in out.iter().zip(plain(attention, &qkv)).zip(single) {
            assert!((out - wanted).abs() < 1e-13, "{out} {wanted}");
            assert!((f64::from(single) - wanted).abs() < 2e-6, "{single} {wanted}");
        }
    }
}

#[test]
fn gradients_are_central_differences_with_and_without_dropout() {
    let masks = Masks::new(Stream::new(4, "dropout", 1, 2), 0.3, 9);
    for (attention, dropout) in
        SHAPES.into_iter().flat_map(|shape| [(shape, None), (shape, Some((&masks, 4, 1)))])
    {
        let mut qkv = numbers(2 * 3 * attention.width * attention.block, 0.37);
        let weights = numbers(qkv.len() / 3, 1.3);
        let (signed, out) = forward(attention, &qkv, dropout);
        let mut gradient = vec![f64::NAN; qkv.len()];
        let scratch = &mut Scratch::new(attention.block);
        attention.backward(&qkv, dropout, &signed, &out, &weights, &mut gradient, scratch);
        for index in (0..qkv.len()).step_by(qkv.len() / 40) {
            let mut at = |offset: f64| {
                let before = qkv[index];
                qkv[index] = before + offset;
                let (_, out) = forward(attention, &qkv, dropout);
                qkv[index] = before;
                out.iter().zip(&weights).map(|(a, b)| a * b).sum::<f64>()
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((difference - gradient[index]).abs() < 1e-8, "{difference} {}", gradient[index]);
        }
    }
}
