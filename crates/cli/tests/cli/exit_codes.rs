//! 0 done, 1 failure, 2 usage, 3 refused, 130 interrupted (there); everywhere.

use crate::support::{FIVE, Files, bytes, byz, command, npy, run};
use std::{io::pipe, process::Stdio};

#[test]
fn help_and_version_are_done() {
    for arguments in ["--help", "--version", "help", "list --help", "aggregate --help", "bench --help"] {
        let ran = byz(arguments).expect(0);
        assert!(!ran.out.is_empty() && ran.err.is_empty(), "{arguments}");
    }
}

#[test]
fn what_the_command_line_does_not_know_is_usage() {
    for arguments in [
        "",
        "agregate",
        "list --jsn",
        "aggregate",
        "aggregate x.npy",
        "aggregate x.npy --rule mean",
        "aggregate x.npy --rule mean --tolerance -1",
        "aggregate x.npy --rule mean --tolerance many",
        "aggregate x.npy --rule mean --tolerance 1 --threads x",
    ] {
        byz(arguments).expect(2);
    }
}

#[test]
fn unknown_names_and_parameters_are_usage_with_the_nearest_spelling() {
    let files = Files::new();
    files.five();
    for (rule, words) in [
        ("kurm", "did you mean 'krum'?"),
        ("kurm", "known: mean, median"),
        ("nmm+krum", "did you mean 'nnm'?"),
        ("krum(powr=2)", "did you mean 'power'?"),
        ("krum(power=3)", "expected one of 1, 2, 4"),
        ("krum(", "expected a parameter"),
        ("nnm", "a rule must follow it"),
    ] {
        files.aggregate(&format!("{FIVE} --rule {rule} --tolerance 1")).expect(2).says(words);
    }
    byz("list agregators").expect(2).says("did you mean 'aggregators'?");
    byz("list bananas").expect(2).says("known: aggregators, pre_aggregators");
}

#[test]
fn wrong_names_of_files_are_usage() {
    let files = Files::new();
    files.five().write("w.bin", b"x");
    std::fs::create_dir(files.path("folder.npy")).unwrap();
    let rule = "--rule median --tolerance 1";
    for (arguments, words) in [
        (format!("{FIVE} w.bin {rule}"), "must end in .npy or .safetensors"),
        (format!("{FIVE} nowhere/w9.npy {rule}"), "no such file"),
        (format!("{FIVE} w0.npy/w9.npy {rule}"), "no such file"),
        (format!("{FIVE} {rule} --output out.txt"), "must end in .npy or .safetensors"),
        (format!("{FIVE} {rule} --output out"), "must end in .npy or .safetensors"),
        (format!("{FIVE} {rule} --output nowhere/out.npy"), "its directory does not exist"),
        (format!("{FIVE} {rule} --output folder.npy"), "is a directory"),
        (format!("{FIVE} {rule} --output w3.npy"), "is also an input"),
        (format!("{FIVE} {rule} --output ./w3.npy"), "is also an input"),
        (format!("{FIVE} {rule} --output out.safetensors"), "write to an .npy file instead"),
        (format!("{FIVE} {rule} --per-tensor"), "--per-tensor is for .safetensors"),
        (format!("{FIVE} {rule} --threads 0"), "--threads must be at least 1"),
    ] {
        files.aggregate(&arguments).expect(2).says(words);
    }
    assert_eq!(files.names(), ["folder.npy", "w.bin", "w0.npy", "w1.npy", "w2.npy", "w3.npy", "w4.npy"]);
}

#[test]
#[cfg(unix)]
fn what_the_system_denies_is_a_failure() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let files = Files::new();
    files.five().vector("locked.npy", &[1.0; 3]);
    std::fs::create_dir(files.path("folder.npy")).unwrap();
    symlink("/dev/zero", files.path("device.npy")).unwrap();
    let rule = "--rule median --tolerance 1";
    files.aggregate(&format!("{FIVE} folder.npy {rule}")).expect(1).says("folder.npy: is a directory");
    files.aggregate(&format!("{FIVE} device.npy {rule}")).expect(1).says("is not a regular file");
    files.aggregate(&format!("{FIVE} {rule} --output device.npy")).expect(1).says("is not a regular file");
    let locked = files.path("locked.npy");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads everything.
    if std::fs::File::open(&locked).is_err() {
        files.aggregate(&format!("{FIVE} locked.npy {rule}")).expect(1).says("cannot be read");
    }
}

#[test]
fn too_few_or_too_many_bad_messages_are_refused_and_nothing_is_written() {
    let files = Files::new();
    files.five().vector("bad.npy", &[f32::NAN; 3]);
    let refused = |arguments: &str| files.aggregate(&format!("{arguments} --output out.npy")).expect(3);
    refused(&format!("{FIVE} --rule krum --tolerance 3")).says("krum is not defined");
    refused(&format!("{FIVE} bad.npy --rule krum --tolerance 0"))
        .says("worker 5 (bad.npy) is invalid: NaN at coordinate 0")
        .says("more than the tolerance of 0");
    refused(&format!("{FIVE} --rule krum --tolerance 2 --strict")).says("promises robustness only for");
    refused("bad.npy --rule mean --tolerance 1").says("NaN at coordinate 0").says("no valid message arrived");
    refused("w0.npy --rule mean --tolerance 1").says("mean is not defined for 1 messages, tolerance 1");
    assert!(!files.path("out.npy").exists());
}

#[test]
fn what_is_not_guaranteed_is_a_warning_when_not_strict() {
    let files = Files::new();
    files.five();
    files
        .aggregate(&format!("{FIVE} --rule krum --tolerance 2"))
        .expect(0)
        .says("byz: warning: krum promises");
    assert!(files.aggregate(&format!("{FIVE} --rule krum --tolerance 1")).expect(0).err.is_empty());
    // With these parameters a single liar decides, whatever n is.
    for rule in ["krum(neighbors=4)", "gm(smoothing=1)", "gm(iterations=2,start=mean)"] {
        let warned = files.aggregate(&format!("{FIVE} --rule {rule} --tolerance 1"));
        warned.expect(0).says("promises robustness only for");
        let arguments = format!("{FIVE} --rule {rule} --tolerance 1 --strict");
        files.aggregate(&arguments).expect(3);
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let files = Files::new();
    files.write("m.npy", &npy("<f4", false, &[5, 2], &bytes(&[1.0f32; 10])));
    let matrix = files.path("m.npy").display().to_string();
    for arguments in [
        "list".to_string(),
        "list --json".into(),
        format!("aggregate {matrix} --rule median --tolerance 1 --json"),
        format!("aggregate {matrix} --rule median --tolerance 1 --explain"),
    ] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut command = command();
        command.args(arguments.split_whitespace()).stdout(writer).stderr(Stdio::piped());
        let ran = run(command).expect(0);
        assert_eq!(ran.err, "", "{arguments}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_printed_is_a_failure() {
    let mut command = command();
    command.arg("list").stdout(std::fs::File::create("/dev/full").unwrap());
    run(command).expect(1).says("cannot write the output");
}

#[test]
fn bench_gives_its_keys_and_refuses_what_it_cannot_measure() {
    let ran = byz("bench --dimension 100 --rules krum,nnm+median --json").expect(0);
    let lines: Vec<serde_json::Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(lines.len(), 2);
    for key in ["rule", "workers", "dimension", "threads", "cpu_ms", "wall_ms", "read_ms", "reads"] {
        assert!(lines.iter().all(|line| !line[key].is_null()), "{key}");
    }
    byz("bench --rules ,").expect(2).says("names no rule");
    byz("bench --workers 0").expect(2);
    byz("bench --workers 4 --tolerance 3 --rules median").expect(3);
    byz("bench --tolerance 0 --workers 1000000000 --dimension 18446744073709551615").expect(2).says("memory");
}

#[test]
fn a_misspelt_choice_of_kernels_is_a_usage_error() {
    let mut misspelt = command();
    misspelt.arg("list").env("BYZ_KERNELS", "scalr");
    run(misspelt).expect(2).says("expected scalar, avx2 or auto");
}
