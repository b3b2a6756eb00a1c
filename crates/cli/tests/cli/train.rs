//! Runs that are cut off, resumed, wrong or diverging.

use crate::support::{Files, Ran, command, run};
use std::{fs, path::PathBuf, thread, time::Duration};

/// Runs `byz` in the directory of `files`.
fn byz(files: &Files, arguments: &str) -> Ran {
    let mut command = command();
    command.current_dir(files.0.path()).env("HOME", files.0.path()).args(arguments.split_whitespace());
    run(command)
}

fn read(files: &Files, path: &str) -> Vec<u8> {
    fs::read(files.0.path().join(path)).unwrap()
}

const RUN: &str = "run --task quartic --attack mimic(variant=copy) --defense nnm+rfa --optimizer byz_nsgdm --rate 0.1 \
                   --workers 20 --byzantine 3 --seed 4 --quiet --evaluate-every 100 --checkpoint-rounds 50";

#[test]
fn a_run_leaves_its_configuration_a_line_per_round_and_a_summary() {
    let files = Files::new();
    let ran =
        byz(&files, "run --task quartic --attack bf --byzantine 3 --rounds 120 --out r --json").expect(0);
    let summary = ran.json();
    assert_eq!(summary["status"], "finished");
    assert_eq!(summary["metric_name"], "gradient_norm");
    assert!(summary["metric"].as_f64().unwrap() < 4.0 * 10f64.powf(1.5));
    let rounds = String::from_utf8(read(&files, "r/rounds.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> =
        rounds.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 121);
    for (round, line) in lines.iter().enumerate() {
        assert_eq!(line["round"], round);
        let evaluated = round % 50 == 0 || round == 120;
        assert_eq!(line.get("evaluation").is_some(), evaluated, "{line}");
        assert_eq!(line["training"].get("kappa").is_some(), evaluated && round > 0);
    }
    assert!(lines[50]["training"]["weights"].as_array().unwrap().len() == 20);
    let again = byz(&files, "run --task quartic --attack bf --byzantine 3 --rounds 120 --out r").expect(0);
    assert!(again.out.contains("already done"), "{}", again.out);
    // The stored configuration is itself a configuration.
    byz(&files, "run r/config.toml --out copy --quiet").expect(0);
    assert_eq!(read(&files, "copy/rounds.jsonl"), rounds.as_bytes());
}

#[test]
fn no_byte_depends_on_threads() {
    let files = Files::new();
    for threads in [1, 2, 3] {
        byz(&files, &format!("{RUN} --rounds 150 --threads {threads} --out t{threads}")).expect(0);
    }
    for name in ["rounds.jsonl", "summary.json", "config.toml"] {
        let one = read(&files, &format!("t1/{name}"));
        assert!(
            one == read(&files, &format!("t2/{name}")) && one == read(&files, &format!("t3/{name}")),
            "{name}"
        );
    }
}

/// Starts the run, waits for a checkpoint and kills it without warning.
fn kill_midway(files: &Files, arguments: &str, directory: &str) {
    let mut child = command();
    let mut child = child.current_dir(files.0.path()).args(arguments.split_whitespace()).spawn().unwrap();
    let previous = files.0.path().join(directory).join("checkpoint.previous");
    for _ in 0..60_000 {
        if previous.exists() {
            break;
        }
        assert!(child.try_wait().unwrap().is_none(), "the run was over before it could be killed");
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!files.0.path().join(directory).join("summary.json").exists());
}

#[test]
fn a_killed_run_goes_on_and_its_record_is_that_of_one_never_killed() {
    let files = Files::new();
    let run = format!("{RUN} --rounds 20000 --set diagnostics.every=50");
    let (whole, cut) = (format!("{run} --out whole"), format!("{run} --out cut"));
    kill_midway(&files, &cut, "cut");
    kill_midway(&files, &cut, "cut");
    byz(&files, &cut).expect(0);
    byz(&files, &whole).expect(0);
    for name in ["rounds.jsonl", "summary.json", "config.toml"] {
        assert!(read(&files, &format!("whole/{name}")) == read(&files, &format!("cut/{name}")), "{name}");
    }
}

#[test]
fn a_corrupt_checkpoint_is_reported_and_the_older_one_used() {
    let files = Files::new();
    let arguments = format!("{RUN} --rounds 20000 --out r");
    kill_midway(&files, &arguments, "r");
    let path: PathBuf = files.0.path().join("r/checkpoint");
    // The kill may have come between two renames; then the older one is the newest there is.
    fs::copy(files.0.path().join("r/checkpoint.previous"), files.0.path().join("r/kept")).unwrap();
    let mut bytes = fs::read(files.0.path().join("r/kept")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    byz(&files, &arguments).expect(0).says("its checksum does not match");
    byz(&files, &format!("{RUN} --rounds 20000 --out whole")).expect(0);
    assert!(read(&files, "whole/rounds.jsonl") == read(&files, "r/rounds.jsonl"));
}

#[test]
fn a_record_with_a_hole_is_not_gone_on_with() {
    let files = Files::new();
    let arguments = format!("{RUN} --rounds 20000 --out r");
    kill_midway(&files, &arguments, "r");
    let lines = String::from_utf8_lossy(&read(&files, "r/rounds.jsonl")).to_string();
    let holed: String =
        lines.lines().enumerate().filter(|(k, _)| *k != 3).map(|(_, l)| l.to_string() + "\n").collect();
    files.write("r/rounds.jsonl", holed.as_bytes());
    files.write("r/.checkpoint.1-0.tmp", b"half");
    byz(&files, &arguments).expect(0).says("rounds.jsonl lacks lines").says("starting afresh");
    byz(&files, &format!("{RUN} --rounds 20000 --out whole")).expect(0);
    assert!(read(&files, "whole/rounds.jsonl") == read(&files, "r/rounds.jsonl"));
    assert!(!files.path("r/.checkpoint.1-0.tmp").exists());
}

#[test]
fn a_run_is_one_process_at_a_time() {
    let files = Files::new();
    let arguments = format!("{RUN} --rounds 1000000 --out r");
    let mut first = command();
    let mut first = first.current_dir(files.0.path()).args(arguments.split_whitespace()).spawn().unwrap();
    while !files.path("r/checkpoint").exists() {
        thread::sleep(Duration::from_millis(1));
    }
    byz(&files, &arguments).expect(1).says("another process is working on this run");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn another_runs_summary_is_not_taken_for_ones_own() {
    let files = Files::new();
    byz(&files, "run --task quartic --rounds 5 --out r --quiet").expect(0);
    fs::remove_file(files.path("r/config.toml")).unwrap();
    byz(&files, "run --task quartic --rounds 7 --out r").expect(2).says("holds another run");
}

#[test]
fn a_run_that_could_not_start_leaves_the_directory_free() {
    let files = Files::new();
    byz(&files, "run --task quartic --attack lf --byzantine 3 --out r").expect(2).says("has no labels");
    byz(&files, "run --task quartic --rounds 5 --out r --quiet").expect(0);
}

#[test]
fn a_last_step_into_the_infinite_is_a_divergence() {
    let files = Files::new();
    byz(&files, "run --task quartic --optimizer baseline --rate 1e200 --rounds 1 --out r")
        .expect(4)
        .says("diverged in round 1");
}

#[test]
fn flags_override_what_a_resolved_file_only_followed() {
    let files = Files::new();
    byz(&files, "run --task quartic --byzantine 3 --attack bf --rounds 5 --out r --quiet").expect(0);
    let config = byz(&files, "run r/config.toml --optimizer byz_sign --byzantine 5 --seed 7 --print-config")
        .expect(0)
        .out;
    for line in ["server = [\"lmo(norm=linf)\"]", "tolerance = 5", "data_seed = 7"] {
        assert!(config.contains(line), "{line}\n{config}");
    }
    let config = byz(&files, "run r/config.toml --set attack=lf --print-config").expect(0).out;
    assert!(config.contains("attack_acts_on = \"gradients\""), "{config}");
    files.write("own.toml", b"task = \"quartic\"\nbyzantine = 3\ntolerance = 4\ndata_seed = 9\n");
    let config = byz(&files, "run own.toml --byzantine 5 --seed 7 --print-config").expect(0).out;
    assert!(config.contains("tolerance = 4") && config.contains("data_seed = 9"), "{config}");
}

#[test]
fn a_diverging_run_ends_as_diverged_with_its_round() {
    let files = Files::new();
    let ran = byz(&files, "run --task quartic --optimizer baseline --rate 10 --rounds 500 --out r");
    let ran = ran.expect(4).says("diverged in round ");
    assert!(ran.err.contains("lower the rate"));
    let summary: serde_json::Value = serde_json::from_slice(&read(&files, "r/summary.json")).unwrap();
    assert_eq!(summary["status"], "diverged");
    assert!(summary["rounds"].as_u64().unwrap() < 500);
}

#[test]
fn non_finite_byzantine_messages_are_verdicts_and_training_goes_on() {
    let files = Files::new();
    let ran = byz(&files, "run --task quartic --attack non_finite --byzantine 3 --rounds 60 --out r --json");
    let summary = ran.expect(0).json();
    assert_eq!(summary["invalid_messages"], 180);
    let rounds = String::from_utf8(read(&files, "r/rounds.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(rounds.lines().nth(1).unwrap()).unwrap();
    assert_eq!(line["training"]["verdicts"].as_array().unwrap().len(), 3, "{line}");
}

#[test]
fn wrong_configurations_are_usage_errors_that_say_what_is_known() {
    let files = Files::new();
    files.write("typo.toml", b"task = \"quartic\"\nruonds = 5\n");
    for (arguments, words) in [
        ("run", "no task given"),
        ("run --task quartik", "did you mean 'quartic'"),
        ("run --task quartic --attack signflip", "sign_flip"),
        ("run --task quartic --optimizer adam", "byz_nsgdm"),
        ("run --task quartic --byzantine 20", "nobody honest"),
        ("run --task quartic --rounds 0", "rounds = 0"),
        ("run --task quartic --rate -1", "rate = -1"),
        ("run --task quartic --set ruonds=5", "did you mean 'rounds'?"),
        ("run --task quartic --set rounds", "expected key=value"),
        ("run --task quartic --set server=[\"normalise\"]", "normalize"),
        ("run typo.toml", "ruonds"),
        ("run missing.toml", "cannot be read"),
    ] {
        byz(&files, arguments).expect(2).says(words);
    }
    byz(&files, "run --task quartic --rounds 5 --out r --quiet").expect(0);
    byz(&files, "run --task quartic --rounds 6 --out r --quiet").expect(2).says("holds another run");
}

#[test]
fn a_rule_that_promises_nothing_for_these_counts_says_so() {
    let files = Files::new();
    let run = "run --task quartic --workers 8 --byzantine 3 --defense krum --rounds 3";
    byz(&files, &format!("{run} --out loud")).expect(0).says("krum promises robustness only for");
    assert_eq!(byz(&files, &format!("{run} --quiet --out quiet")).expect(0).err, "");
    byz(&files, &format!("{run} --set strict=true --out strict")).expect(3);
}

#[test]
fn presets_are_chains_that_the_configuration_shows() {
    let files = Files::new();
    let shown =
        byz(&files, "run --task quartic --optimizer byz_muon --set batch=32 --print-config").expect(0).out;
    for line in
        ["server = [\"lmo(norm=spectral,method=newton_schulz)\"]", "worker = [\"momentum\"]", "batch = 32"]
    {
        assert!(shown.contains(line), "{shown}");
    }
}

#[test]
fn a_task_without_its_data_names_the_command_that_fetches_it() {
    let files = Files::new();
    let ran = byz(&files, "run --task mnist_mlp --rounds 1 --data-dir nothing --out r");
    ran.expect(1).says("byz data fetch");
}
