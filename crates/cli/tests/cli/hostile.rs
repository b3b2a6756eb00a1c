//! Bytes that lie. One worker's make that worker invalid; a matrix's are an error; nothing panics or hangs.

use crate::support::{FIVE, Files, bytes, npy, npy_version};

/// What a bad `.npy` may look like, and a word of the reason.
fn bad_arrays() -> Vec<(Vec<u8>, &'static str)> {
    let good = npy("<f4", false, &[3], &bytes(&[1.0f32; 3]));
    let header = |text: &str| {
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((text.len() as u16).to_le_bytes());
        file.extend(text.as_bytes());
        file.extend(bytes(&[1.0f32; 3]));
        file
    };
    let mut huge = b"\x93NUMPY\x02\x00".to_vec();
    huge.extend(u32::MAX.to_le_bytes());
    let mut version = good.clone();
    version[6] = 9;
    let mut latin = npy_version(3, 64, "<f4", false, &[3], &bytes(&[1.0f32; 3]));
    latin[20] = 0xff;
    let mut trailing = good.clone();
    trailing.push(0);
    let typed = |descr: &str| npy(descr, false, &[3], &bytes(&[1.0f32; 3]));
    vec![
        (vec![], "the file is empty"),
        (b"\x93NUM".to_vec(), "not a .npy file"),
        (b"PK\x03\x04 this is an .npz".to_vec(), "not a .npy file"),
        (good[..7].to_vec(), "ends within its header"),
        (good[..9].to_vec(), "ends within its header"),
        (good[..40].to_vec(), "ends within its header"),
        (good[..good.len() - 1].to_vec(), "needs 12 bytes, but 11 follow"),
        (trailing, "needs 12 bytes, but 13 follow"),
        (huge, "its header claims 4294967295 bytes"),
        (version, "version 9.0"),
        (latin, "not UTF-8"),
        (
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }"),
            "larger than any file",
        ),
        (
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }"),
            "its shape has the length",
        ),
        (header("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }"), "a length"),
        (
            header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), "),
            "where a quoted word is expected",
        ),
        (header("__import__('os').system('true')"), "where '{' is expected"),
        (typed(">f4"), "its dtype is '>f4' (big-endian)"),
        (typed("|O"), "its dtype is '|O' (object)"),
        (typed("<i4"), "its dtype is '<i4' (integer)"),
        (typed("<c8"), "its dtype is '<c8' (complex)"),
        (typed("\x1b[31m"), "its dtype is '\\u{1b}[31m'"),
        (npy("<f4", false, &[], &bytes(&[1.0f32])), "an array of 0 dimensions"),
        (npy("<f4", false, &[1, 1, 3], &bytes(&[1.0f32; 3])), "an array of 3 dimensions"),
        (npy("<f4", false, &[0], &[]), "length 0, expected 3"),
    ]
}

#[test]
fn a_worker_with_a_bad_array_is_invalid_and_the_round_goes_on() {
    let files = Files::new();
    files.five();
    for (file, expected) in bad_arrays() {
        files.write("bad.npy", &file);
        let ran = files.aggregate(&format!("{FIVE} bad.npy --rule median --tolerance 1 --json")).expect(0);
        let reason = ran.json()["verdicts"][5]["reason"].as_str().unwrap().to_string();
        assert!(reason.contains(expected), "{reason}\nexpected: {expected}");
    }
}

#[test]
fn a_bad_matrix_is_a_failure_that_says_what_is_wrong() {
    let files = Files::new();
    for (file, expected) in bad_arrays().into_iter().filter(|(_, why)| !why.starts_with("length")) {
        files.write("bad.npy", &file);
        let ran = files.aggregate("bad.npy --rule median --tolerance 1").expect(1);
        assert!(
            ran.err.contains("bad.npy") && !ran.err.contains('\u{1b}'),
            "{}\nexpected: {expected}",
            ran.err
        );
    }
}

#[test]
fn a_matrix_without_numbers_or_with_absurd_rows_is_a_usage_error() {
    let files = Files::new();
    let rule = "--rule mean --tolerance 0";
    files.write("m.npy", &npy("<f4", false, &[1 << 40, 0], &[]));
    files.aggregate(&format!("m.npy {rule}")).expect(2).says("dimension 0");
    files.write("m.npy", &npy("<f4", true, &[20_000, 1], &bytes(&[0.0f32; 20_000])));
    files.aggregate(&format!("m.npy {rule}")).expect(2).says("is the matrix transposed?");
    files.write("m.npy", &npy("<f4", false, &[0, 5], &[]));
    files.aggregate(&format!("m.npy {rule}")).expect(3).says("no valid message");
    files.write("v.npy", &npy("<f4", false, &[0], &[]));
    files.aggregate(&format!("v.npy {rule}")).expect(2).says("dimension 0");
}

/// A frame around any header.
fn framed(header: &str, data: usize) -> Vec<u8> {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header.as_bytes());
    file.resize(file.len() + data, 0);
    file
}

#[test]
fn a_worker_with_a_bad_checkpoint_is_invalid_and_the_round_goes_on() {
    let files = Files::new();
    let good = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    for worker in 0..4 {
        files.write(&format!("g{worker}.safetensors"), &framed(good, 8));
    }
    let mut long = (u64::MAX).to_le_bytes().to_vec();
    long.extend(good.as_bytes());
    let near_the_end = format!(
        "{{{}}}",
        (0..8u64)
            .map(|k| {
                let size = (1u64 << 61) - 1;
                format!(
                    r#""t{k}":{{"dtype":"U8","shape":[{size}],"data_offsets":[{},{}]}}"#,
                    k * size,
                    (k + 1) * size
                )
            })
            .collect::<Vec<_>>()
            .join(",")
    );
    for (file, expected) in [
        (vec![], "the file is empty"),
        (vec![1, 2, 3], "ends within its header"),
        (long, "more than the format allows"),
        (framed(good, 8)[..30].to_vec(), "ends within its header"),
        (framed(good, 7), "need 8 bytes, but 7 follow"),
        (framed(good, 9), "need 8 bytes, but 9 follow"),
        (framed("", 0), "its header"),
        (framed("[1,2]", 8), "its header"),
        (framed(&"[".repeat(100_000), 8), "its header"),
        (framed(r#"{"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}}"#, 8), "its header"),
        (framed(r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#, 8), "invalid shape"),
        (framed(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#, 8), "invalid offset"),
        (framed(r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#, 12), "invalid offset"),
        (framed(r#"{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}"#, 8), "its header"),
        (
            framed(r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}"#, 8),
            "overflow",
        ),
        (framed(&near_the_end, 8), "bytes"),
        (b"\x93NUMPY\x01\x00 and so on".to_vec(), "is it a .safetensors file?"),
    ] {
        files.write("bad.safetensors", &file);
        let inputs = "g0.safetensors g1.safetensors bad.safetensors g2.safetensors g3.safetensors";
        let ran = files.aggregate(&format!("{inputs} --rule median --tolerance 1 --json")).expect(0);
        let reason = ran.json()["verdicts"][2]["reason"].as_str().unwrap_or_default().to_string();
        assert!(reason.contains(expected), "{reason}\nexpected: {expected}");
    }
}

#[test]
fn names_with_escapes_do_not_reach_the_terminal() {
    let files = Files::new();
    files.five();
    let name = "x\u{1b}[2Jx.npy";
    files.vector(name, &[f32::NAN; 3]);
    let ran = files.aggregate(&format!("{FIVE} {name} --rule median --tolerance 1 --explain")).expect(0);
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
    let ran = files.aggregate(&format!("{name} --rule median --tolerance 0")).expect(3);
    assert!(!ran.err.contains('\u{1b}'), "{}", ran.err);
}
