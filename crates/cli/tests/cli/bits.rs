//! The bits of the aggregate depend on the numbers alone: not on the file, its order, its alignment or the threads.

use crate::support::{Bytes, Files, bytes, npy, npy_version, payload, rows, safetensors};
use byz::{Defense, Messages, Options, Scalar};

const RULES: [&str; 12] = [
    "mean",
    "median",
    "trimmed_mean",
    "mean_around_median",
    "krum",
    "bulyan",
    "geometric_median",
    "centered_clipping(radius=1000)",
    "divide_and_conquer(coordinates=100,seed=3)",
    "nnm+trimmed_mean",
    "bucketing(size=2)+geometric_median",
    "adaptive_clipping+nnm+median",
];
const WORKERS: usize = 11;
/// More than two chunks, the last of odd length.
const DIMENSION: usize = 17_001;

fn in_memory<T: Scalar + Bytes>(rows: &[Vec<T>], rule: &str) -> Vec<u8> {
    let defense = Defense::new(rule, 2).unwrap();
    let options = Options { round: 5, ..Options::default() };
    bytes(&defense.aggregate(&Messages::from_rows(rows), &options).unwrap().vector)
}

fn transposed<T: Copy>(rows: &[Vec<T>]) -> Vec<T> {
    (0..rows[0].len()).flat_map(|k| rows.iter().map(move |row| row[k])).collect()
}

/// Every form of the same rows that a user may have: their names on the command line.
fn forms<T: Scalar + Bytes>(files: &Files, rows: &[Vec<T>], descr: &str, dtype: &str) -> Vec<String> {
    let shape = [WORKERS, DIMENSION];
    files.write("c.npy", &npy(descr, false, &shape, &bytes(&rows.concat())));
    files.write("fortran.npy", &npy(descr, true, &shape, &bytes(&transposed(rows))));
    files.write("odd.npy", &npy_version(1, 1, descr, false, &shape, &bytes(&rows.concat())));
    let mut lists = [String::new(), String::new()];
    for (worker, row) in rows.iter().enumerate() {
        let version = 1 + worker as u8 % 3;
        let vector = npy_version(version, 1 << (worker % 4), descr, false, &[DIMENSION], &bytes(row));
        files.write(&format!("w{worker}.npy"), &vector);
        lists[0] += &format!("w{worker}.npy ");
        let cut = DIMENSION / 3;
        let shapes = [[cut / 3, 3].to_vec(), vec![DIMENSION - cut]];
        let (first, second) = (bytes(&row[..cut]), bytes(&row[cut..]));
        let mut tensors =
            vec![("a", dtype, &shapes[0][..], first), ("b.weight", dtype, &shapes[1][..], second)];
        // The order in the file is the writer's business.
        if worker % 2 == 1 {
            tensors.reverse();
        }
        files.write(&format!("w{worker}.safetensors"), &safetensors(&tensors, &[]));
        lists[1] += &format!("w{worker}.safetensors ");
    }
    let [vectors, checkpoints] = lists;
    vec!["c.npy".into(), "fortran.npy".into(), "odd.npy".into(), vectors, checkpoints]
}

fn every_form_has_the_bits_of_memory<T: Scalar + Bytes>(descr: &str, dtype: &str, rules: &[&str]) {
    let (files, rows) = (Files::new(), rows::<T>(WORKERS, DIMENSION));
    for inputs in forms(&files, &rows, descr, dtype) {
        for rule in rules {
            let arguments = format!("{inputs} --rule {rule} --tolerance 2 --round 5 --output out.npy");
            files.aggregate(&arguments).expect(0);
            assert!(payload(&files.read("out.npy")) == in_memory(&rows, rule), "{rule} of {inputs}");
        }
    }
}

#[test]
fn files_in_every_form_give_the_bits_of_memory_in_float32() {
    every_form_has_the_bits_of_memory::<f32>("<f4", "F32", &RULES);
}

#[test]
fn files_in_every_form_give_the_bits_of_memory_in_float64() {
    every_form_has_the_bits_of_memory::<f64>("<f8", "F64", &RULES[5..10]);
}

#[test]
fn the_number_of_threads_changes_no_byte_of_any_output() {
    let (files, rows) = (Files::new(), rows::<f32>(WORKERS, 60_000));
    files.write("m.npy", &npy("<f4", false, &[WORKERS, 60_000], &bytes(&rows.concat())));
    for rule in ["median", "nnm+geometric_median", "krum", "nnm+trimmed_mean"] {
        let run = |threads: usize| {
            let common = format!("m.npy --rule {rule} --tolerance 2 --threads {threads}");
            files.aggregate(&format!("{common} --output out.npy")).expect(0);
            let json = files.aggregate(&format!("{common} --json")).expect(0).out;
            let table = files.aggregate(&format!("{common} --explain")).expect(0).out;
            (files.read("out.npy"), json, table)
        };
        let one = run(1);
        for threads in [2, 3, 8] {
            assert!(run(threads) == one, "{rule} with {threads} threads");
        }
    }
}

#[test]
fn half_precision_is_read_exactly_in_vectors_matrices_and_checkpoints() {
    // 1, 1.5, -2, the largest, the smallest and the smallest normal half.
    let halves: [u16; 6] = [0x3c00, 0x3e00, 0xc000, 0x7bff, 0x0001, 0x0400];
    let values = [1.0f32, 1.5, -2.0, 65504.0, 2f32.powi(-24), 2f32.powi(-14)];
    let files = Files::new();
    files.write("v.npy", &npy("<f2", false, &[6], &bytes(&halves)));
    files.write("m.npy", &npy("<f2", true, &[1, 6], &bytes(&halves)));
    files.write("h.safetensors", &safetensors(&[("x", "F16", &[6], bytes(&halves))], &[]));
    for input in ["v.npy", "m.npy", "h.safetensors"] {
        files.aggregate(&format!("{input} --rule mean --tolerance 0 --output o.npy")).expect(0);
        assert_eq!(payload(&files.read("o.npy")), bytes(&values), "{input}");
    }
    let brain: [u16; 3] = [0x3f80, 0xc000, 0x7f7f];
    files.write("b.safetensors", &safetensors(&[("x", "BF16", &[3], bytes(&brain))], &[]));
    files.aggregate("b.safetensors --rule mean --tolerance 0 --output o.npy").expect(0);
    assert_eq!(payload(&files.read("o.npy")), bytes(&[1.0f32, -2.0, f32::from_bits(0x7f7f_0000)]));
}
