//! Files damaged at random: every outcome but a panic is fine, and honest workers go on.

use super::{Float, Inputs, Open, Tensor, write_npy, write_safetensors};
use crate::{Defense, Options, Stream, Verdict};
use std::{collections::BTreeMap, fs, path::PathBuf};

const DAMAGES: u64 = 1500;

/// Flips, overwrites, inserts, removes or cuts a few bytes, mostly in the header.
fn damaged(good: &[u8], stream: &mut Stream) -> Vec<u8> {
    let mut bytes = good.to_vec();
    let mut below = |limit: usize| (stream.uniform() * limit as f64) as usize;
    for _ in 0..=below(3) {
        let place = below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        match below(6) {
            _ if bytes.is_empty() => {}
            0 => bytes[place] ^= 1 << below(8),
            1 => bytes[place] = below(256) as u8,
            2 => bytes[place] = b"0123456789{}[]()'\",:-"[below(21)],
            3 => bytes.insert(place, b"0123456789{}[]()'\",:-"[below(21)]),
            4 => drop(bytes.remove(place)),
            _ => bytes.truncate(place),
        }
    }
    bytes
}

fn survives(paths: &[PathBuf], stream_of: &str) {
    let good = fs::read(&paths[0]).unwrap();
    let defense = Defense::new("median", 1).unwrap();
    for damage in 0..DAMAGES {
        fs::write(&paths[0], damaged(&good, &mut Stream::new(1, stream_of, 0, damage))).unwrap();
        let inputs = Inputs::open(paths, Open::default()).unwrap();
        let result = defense.aggregate::<f32>(&inputs.messages(), &Options::default()).unwrap();
        assert!(result.verdicts[1..].iter().all(|verdict| *verdict == Verdict::Used));
        // Alone it may be a matrix, or nothing at all.
        if let Ok(inputs) = Inputs::open(&paths[..1], Open::default()) {
            let _ = defense.aggregate::<f64>(&inputs.messages(), &Options::default());
        }
    }
}

#[test]
fn a_damaged_array_never_stops_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..4).map(|worker| directory.path().join(format!("{worker}.npy"))).collect();
    for path in &paths {
        write_npy(path, &[1.0f32, 2.0, 3.0]).unwrap();
    }
    survives(&paths, "npy");
}

#[test]
fn a_damaged_checkpoint_never_stops_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> =
        (0..4).map(|worker| directory.path().join(format!("{worker}.safetensors"))).collect();
    let tensors = [
        Tensor { name: "a".into(), shape: vec![2], float: Float::F32, columns: 0..2 },
        Tensor { name: "b".into(), shape: vec![1, 1], float: Float::Bf16, columns: 2..3 },
    ];
    for path in &paths {
        write_safetensors(path, &tensors, &BTreeMap::new(), &[1.0f32, 2.0, 3.0]).unwrap();
    }
    survives(&paths, "safetensors");
}
