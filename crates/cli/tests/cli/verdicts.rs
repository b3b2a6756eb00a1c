//! What becomes of workers whose files differ from the others, or are not there.

use crate::support::{FIVE, Files, Ran, bytes, npy, safetensors};

#[track_caller]
fn reason(ran: &Ran, worker: usize) -> String {
    let report = ran.json();
    assert_eq!(report["verdicts"][worker]["verdict"], "invalid", "{report}");
    report["verdicts"][worker]["reason"].as_str().unwrap().to_string()
}

#[test]
fn every_way_a_checkpoint_differs_is_named() {
    let good: [(&str, &str, &[usize], Vec<u8>); 2] =
        [("a", "F32", &[2], bytes(&[1.0f32, 2.0])), ("b", "F32", &[1], bytes(&[3.0f32]))];
    let files = Files::new();
    for worker in 0..3 {
        files.write(&format!("g{worker}.safetensors"), &safetensors(&good, &[]));
    }
    let mut extra = good.to_vec();
    extra.push(("c\u{7}", "F32", &[1], bytes(&[3.0f32])));
    let mut shape = good.to_vec();
    shape[0] = ("a", "F32", &[2, 1], bytes(&[1.0f32, 2.0]));
    let mut dtype = good.to_vec();
    dtype[1] = ("b", "BF16", &[1], bytes(&[0u16]));
    let mut renamed = good.to_vec();
    renamed[0].0 = "aa";
    let mut integer = good.to_vec();
    integer[1] = ("b", "I32", &[1], vec![0; 4]);
    for (bad, expected) in [
        (good[..1].to_vec(), "tensor 'b' is missing"),
        (extra, "tensor 'c\\u{7}' is not expected"),
        (shape, "tensor 'a' has shape [2, 1], expected [2]"),
        (dtype, "tensor 'b' is bfloat16, expected float32"),
        (renamed, "tensor 'a' is missing (and 1 more differences)"),
        (integer, "tensor 'b' is of type I32; byz reads F16, BF16, F32 and F64: save it without that tensor"),
    ] {
        files.write("bad.safetensors", &safetensors(&bad, &[]));
        let inputs = "g0.safetensors bad.safetensors g1.safetensors g2.safetensors";
        let ran = files.aggregate(&format!("{inputs} --rule median --tolerance 1 --json")).expect(0);
        assert_eq!(reason(&ran, 1), expected);
        assert_eq!(ran.json()["messages"], 3);
        assert_eq!(ran.json()["remaining_tolerance"], 0);
    }
}

#[test]
fn vectors_of_another_length_type_or_kind_are_invalid() {
    let files = Files::new();
    files.five();
    files.vector("long.npy", &[0.0; 4]);
    files.write("double.npy", &npy("<f8", false, &[3], &bytes(&[0.0f64; 3])));
    files.write("matrix.npy", &npy("<f4", false, &[1, 3], &bytes(&[0.0f32; 3])));
    files.write("c.safetensors", &safetensors(&[("a", "F32", &[3], bytes(&[0.0f32; 3]))], &[]));
    files.vector("nan.npy", &[0.0, f32::NEG_INFINITY, f32::NAN]);
    for (bad, expected) in [
        ("long.npy", "length 4, expected 3"),
        ("double.npy", "its dtype is float64, expected float32"),
        ("matrix.npy", "a matrix, 1×3, where a vector is expected; a matrix must be the only input"),
        ("c.safetensors", "a checkpoint, expected a .npy vector"),
        ("nan.npy", "-inf at coordinate 1"),
    ] {
        let ran = files.aggregate(&format!("{FIVE} {bad} --rule krum --tolerance 1 --json")).expect(0);
        assert_eq!(reason(&ran, 5), expected);
    }
}

#[test]
fn the_majority_of_kinds_decides() {
    let files = Files::new();
    files.five();
    files.write("c0.safetensors", &safetensors(&[("a", "F32", &[3], bytes(&[0.0f32; 3]))], &[]));
    files.write("c1.safetensors", &safetensors(&[("a", "F32", &[3], bytes(&[0.0f32; 3]))], &[]));
    let ran =
        files.aggregate("w0.npy c0.safetensors c1.safetensors --rule mean --tolerance 1 --json").expect(0);
    assert_eq!(reason(&ran, 0), "a .npy vector, expected a checkpoint (.safetensors)");
    let tie = "w0.npy w1.npy c0.safetensors c1.safetensors --rule mean --tolerance 2";
    files.aggregate(tie).expect(3).says("more than half");
}

#[test]
fn a_stated_dimension_outvotes_the_majority() {
    let files = Files::new();
    files.five();
    files.vector("x0.npy", &[1.0, 2.0]).vector("x1.npy", &[1.0, 2.0]);
    let inputs = "w0.npy w1.npy w2.npy x0.npy x1.npy";
    let ran = files.aggregate(&format!("{inputs} --rule mean --tolerance 3 --dimension 2 --json")).expect(0);
    assert_eq!(reason(&ran, 0), "length 3, expected 2");
    assert_eq!(ran.json()["messages"], 2);
    files.aggregate(&format!("{inputs} --rule mean --tolerance 1 --dimension 9")).expect(3);
    files.aggregate(&format!("{inputs} --rule mean --tolerance 1 --dimension 0")).expect(2);
}

#[test]
fn rows_of_a_matrix_are_workers() {
    let files = Files::new();
    let mut values = vec![1.0f32; 12];
    values[7] = f32::INFINITY;
    files.write("m.npy", &npy("<f4", false, &[4, 3], &bytes(&values)));
    let ran = files.aggregate("m.npy --rule median --tolerance 1 --json").expect(0);
    assert_eq!(reason(&ran, 2), "inf at coordinate 1");
    assert_eq!(ran.json()["verdicts"][2]["row"], 2);
    files.aggregate("m.npy --rule median --tolerance 1 --dimension 4").expect(3).says("length 3, expected 4");
}

#[test]
fn a_missing_file_is_a_usage_error_unless_it_may_be_missing() {
    let files = Files::new();
    files.five();
    let command = format!("{FIVE} gone.npy --rule median --tolerance 1");
    files.aggregate(&command).expect(2).says("gone.npy: no such file");
    let ran = files.aggregate(&format!("{command} --allow-missing --json")).expect(0);
    assert_eq!(ran.json()["verdicts"][5]["verdict"], "missing");
    assert_eq!(ran.json()["remaining_tolerance"], 1);
    files
        .aggregate("gone.npy --rule median --tolerance 0 --allow-missing")
        .expect(3)
        .says("no valid message");
}

#[test]
fn the_same_file_twice_is_two_workers_and_a_warning() {
    let files = Files::new();
    files.five();
    files
        .aggregate("w0.npy w0.npy w1.npy --rule median --tolerance 1")
        .expect(0)
        .says("w0.npy is given more than once");
}
