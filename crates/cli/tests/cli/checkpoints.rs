//! `.safetensors` in, `.safetensors` out.

use crate::support::{Files, bytes, payload, safetensors};

const INPUTS: &str = "c0.safetensors c1.safetensors c2.safetensors c3.safetensors c4.safetensors";

/// Five checkpoints with four number types; worker k adds k to every value.
fn five(files: &Files) {
    for worker in 0..5u16 {
        let k = f32::from(worker);
        let half = 0x3c00 + worker; // just above one
        let brain = 0x3f80 + worker;
        let tensors = [
            ("z.bias", "F32", &[2][..], bytes(&[k, 10.0 + k])),
            ("a.scale", "F64", &[][..], bytes(&[f64::from(worker) * 0.1])),
            ("m.half", "F16", &[1, 2][..], bytes(&[half, half])),
            ("m.brain", "BF16", &[2, 1][..], bytes(&[brain, brain])),
            ("nothing", "F32", &[0, 3][..], vec![]),
        ];
        let worker = worker.to_string();
        let metadata = [("format", "pt"), ("worker", worker.as_str())];
        files.write(&format!("c{worker}.safetensors"), &safetensors(&tensors, &metadata));
    }
}

/// The header and the bytes of every tensor of a checkpoint.
fn parsed(file: &[u8]) -> (serde_json::Value, impl Fn(&str) -> Vec<u8> + use<>) {
    let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    let (infos, data) = (header.clone(), file[8 + length..].to_vec());
    let tensor = move |name: &str| {
        let offset = |k: usize| infos[name]["data_offsets"][k].as_u64().unwrap() as usize;
        data[offset(0)..offset(1)].to_vec()
    };
    (header, tensor)
}

#[test]
fn the_output_keeps_keys_shapes_types_and_the_metadata_that_most_share() {
    let files = Files::new();
    five(&files);
    files.aggregate(&format!("{INPUTS} --rule median --tolerance 1 --output o.safetensors")).expect(0);
    let (header, tensor) = parsed(&files.read("o.safetensors"));
    assert_eq!(header["__metadata__"], serde_json::json!({ "format": "pt" }));
    for (name, dtype, shape) in [
        ("z.bias", "F32", serde_json::json!([2])),
        ("a.scale", "F64", serde_json::json!([])),
        ("m.half", "F16", serde_json::json!([1, 2])),
        ("m.brain", "BF16", serde_json::json!([2, 1])),
        ("nothing", "F32", serde_json::json!([0, 3])),
    ] {
        assert_eq!(header[name]["dtype"], dtype, "{name}");
        assert_eq!(header[name]["shape"], shape, "{name}");
    }
    assert_eq!(header.as_object().unwrap().len(), 6);
    assert_eq!(tensor("z.bias"), bytes(&[2.0f32, 12.0]));
    assert_eq!(tensor("a.scale"), bytes(&[0.2f64]));
    assert_eq!(tensor("m.half"), bytes(&[0x3c02u16, 0x3c02]));
    assert_eq!(tensor("m.brain"), bytes(&[0x3f82u16, 0x3f82]));
}

#[test]
fn the_same_command_writes_the_same_bytes() {
    let files = Files::new();
    five(&files);
    let run = || {
        files.aggregate(&format!("{INPUTS} --rule krum --tolerance 1 --output o.safetensors")).expect(0);
        files.read("o.safetensors")
    };
    let first = run();
    assert!((0..5).all(|_| run() == first));
}

#[test]
fn an_output_is_an_input_again() {
    let files = Files::new();
    five(&files);
    files.aggregate(&format!("{INPUTS} --rule median --tolerance 1 --output o.safetensors")).expect(0);
    files.aggregate("o.safetensors --rule mean --tolerance 0 --output again.safetensors").expect(0);
    assert!(files.read("again.safetensors") == files.read("o.safetensors"));
}

#[test]
fn one_float64_tensor_makes_the_computation_float64() {
    let files = Files::new();
    five(&files);
    let report = files.aggregate(&format!("{INPUTS} --rule mean --tolerance 0 --json")).expect(0).json();
    assert_eq!(report["dtype"], "float64");
    assert_eq!(report["dimension"], 7);
}

#[test]
fn npy_output_is_the_flat_vector_in_order_of_names() {
    let files = Files::new();
    five(&files);
    files.aggregate(&format!("{INPUTS} --rule median --tolerance 1 --output o.npy")).expect(0);
    let (half, brain) = (1.0 + 2.0 / 1024.0, 1.0 + 2.0 / 128.0);
    assert_eq!(payload(&files.read("o.npy")), bytes(&[0.2f64, brain, brain, half, half, 2.0, 12.0]));
}

#[test]
fn per_tensor_chooses_for_every_tensor_what_it_would_choose_alone() {
    let files = Files::new();
    // Worker 0 is central in a, worker 4 in b, none in both.
    let (a, b) = ([0.0f32, 1.0, -1.0, 1.1, -1.1], [3.0f32, -3.1, 3.2, -3.3, 0.0]);
    for worker in 0..5 {
        let tensors =
            [("a", "F32", &[1][..], bytes(&[a[worker]])), ("b", "F32", &[1][..], bytes(&[b[worker]]))];
        files.write(&format!("c{worker}.safetensors"), &safetensors(&tensors, &[]));
    }
    let command =
        format!("{INPUTS} --rule monna(trusted=0) --tolerance 1 --per-tensor --output o.npy --json");
    let report = files.aggregate(&command).expect(0).json();
    let tensors = report["tensors"].as_array().unwrap();
    assert_eq!(tensors.len(), 2);
    assert_eq!(tensors[1]["tensor"], "b");
    let command = format!("{INPUTS} --rule median --tolerance 1 --per-tensor --output o.npy --json");
    let report = files.aggregate(&command).expect(0).json();
    assert_eq!(payload(&files.read("o.npy")), bytes(&[0.0f32, 0.0]));
    assert_eq!(report["tensors"][0]["weights"], serde_json::json!([1.0, 0.0, 0.0, 0.0, 0.0]));
    assert_eq!(report["tensors"][1]["weights"], serde_json::json!([0.0, 0.0, 0.0, 0.0, 1.0]));
    assert_eq!(report["weights"], serde_json::json!([0.5, 0.0, 0.0, 0.0, 0.5]));
    assert_eq!(report["distances"][0], 3.0);
}

#[test]
fn a_bad_value_in_one_tensor_excludes_its_worker_from_all() {
    let files = Files::new();
    for worker in 0..4 {
        let bad = if worker == 3 { f32::NAN } else { 1.0 };
        let value = worker as f32;
        let tensors = [("a", "F32", &[1][..], bytes(&[value])), ("b", "F32", &[2][..], bytes(&[1.0, bad]))];
        files.write(&format!("c{worker}.safetensors"), &safetensors(&tensors, &[]));
    }
    let inputs = "c0.safetensors c1.safetensors c2.safetensors c3.safetensors";
    let command = format!("{inputs} --rule median --tolerance 1 --per-tensor --json --output o.npy");
    let report = files.aggregate(&command).expect(0).json();
    assert_eq!(payload(&files.read("o.npy")), bytes(&[1.0f32, 1.0, 1.0]));
    assert_eq!(report["verdicts"][3]["reason"], "NaN at coordinate 2 (tensor 'b', element 1)");
    assert_eq!(report["tensors"][0]["distances"][3], serde_json::Value::Null);
    let table = files.aggregate(&command.replace("--json", "--explain")).expect(0).out;
    assert!(table.contains("tensor      a [1]"), "{table}");
}

#[test]
fn the_reference_is_the_centre_of_centered_clipping() {
    let files = Files::new();
    for worker in 0..3 {
        let tensors = [("a", "F32", &[2][..], bytes(&[100.0f32, 100.0]))];
        files.write(&format!("c{worker}.safetensors"), &safetensors(&tensors, &[]));
    }
    let centre = [("a", "F32", &[2][..], bytes(&[100.0f32, 99.0]))];
    files.write("centre.safetensors", &safetensors(&centre, &[]));
    let inputs = "c0.safetensors c1.safetensors c2.safetensors";
    let rule = "--rule centered_clipping(radius=0.5) --tolerance 0";
    files.aggregate(&format!("{inputs} {rule} --reference centre.safetensors --output o.npy")).expect(0);
    assert_eq!(payload(&files.read("o.npy")), bytes(&[100.0f32, 99.5]));
    files.aggregate(&format!("{inputs} {rule} --reference centre.safetensors --per-tensor")).expect(0);
    files
        .aggregate(&format!("{inputs} --rule median --tolerance 0 --reference centre.safetensors"))
        .expect(2)
        .says("--reference is the centre of centered_clipping");
    files.vector("flat.npy", &[100.0, 99.0]);
    files
        .aggregate(&format!("{inputs} {rule} --reference flat.npy"))
        .expect(2)
        .says("must look like the messages");
    let nan = [("a", "F32", &[2][..], bytes(&[f32::NAN, 99.0]))];
    files.write("nan.safetensors", &safetensors(&nan, &[]));
    files.aggregate(&format!("{inputs} {rule} --reference nan.safetensors")).expect(2).says("must be finite");
    files.aggregate(&format!("{inputs} {rule} --reference none.safetensors")).expect(2).says("no such file");
}
