//! `byz cluster`, interrupted.

use crate::federation::{Process, byz, no_broker};
use serde_json::Value;
use std::{fs, os::unix::process::CommandExt, path::Path, process::Command, thread::sleep, time::Duration};

const CONFIG: &str = "task = \"quartic(dimension=20)\"\ntolerance = 1\ndefense = \"nnm+geometric_median\"\nrate = 0.05\n\
                      rounds = 1000000\nevaluate_every = 10";

fn record(run: &Path) -> String {
    fs::read_to_string(run.join("rounds.jsonl")).unwrap_or_default()
}

fn interrupted(run: &Path, config: &Path, whom: &str, signal: &str) -> usize {
    let before = record(run).lines().count();
    let mut command = byz(&["cluster", "--workers", "5", "--out"]);
    let words = fs::File::create(run.with_extension("log")).expect("a log");
    command.arg(run).arg(config).stderr(words).process_group(0);
    let mut cluster = Process(command.spawn().expect("started"));
    let said = || fs::read_to_string(run.with_extension("log")).unwrap_or_default();
    for _ in 0..3000 {
        if record(run).lines().count() > before + 20 {
            break;
        }
        sleep(Duration::from_millis(20));
    }
    assert!(record(run).lines().count() > before, "{}", said());
    let target = format!("{whom}{}", cluster.0.id());
    assert!(Command::new("kill").args([signal, "--", &target]).status().expect("kill").success());
    assert_eq!(cluster.wait(15), 130, "{}", said());
    let rounds: Vec<u64> = record(run)
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("a whole line")["round"].as_u64().expect("a round")
        })
        .collect();
    assert_eq!(rounds, (0..rounds.len() as u64).collect::<Vec<_>>(), "a line for every round, once");
    assert!(said().contains("goes on from there"), "{}", said());
    rounds.len()
}

#[test]
fn an_interrupted_cluster_keeps_its_rounds_and_goes_on() {
    if no_broker() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (run, config) = (folder.path().join("run"), folder.path().join("config.toml"));
    fs::write(&config, CONFIG).expect("written");
    // The command alone; all of its group, as Ctrl-C at a terminal; a terminal that closes.
    let one = interrupted(&run, &config, "", "-INT");
    let two = interrupted(&run, &config, "-", "-INT");
    let three = interrupted(&run, &config, "-", "-HUP");
    assert!(one < two && two < three, "{one}, {two}, {three}");
}
