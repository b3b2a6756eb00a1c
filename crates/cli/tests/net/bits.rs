//! With everybody honest and on time, a networked run has the bits of one process.

use crate::federation::{Federation, data, no_broker};
use std::fs;

fn same(workers: usize, config: &str, network: &str) {
    let federation = Federation::start(workers, config, network);
    let mut processes = federation.workers(workers);
    let mut coordinator = federation.coordinator(&[]);
    assert_eq!(coordinator.wait(180), 0, "{}", federation.said("coordinator"));
    for process in &mut processes {
        assert_eq!(process.wait(10), 0, "workers end with the run");
    }
    federation.alone();
    for file in ["summary.json", "config.toml"] {
        let read = |run: &str| fs::read_to_string(federation.path(run).join(file)).expect(file);
        assert_eq!(read("run"), read("alone"), "{file}");
    }
    let kept = fs::read_to_string(federation.path("run").join("network.toml")).expect("who took part");
    let kept: toml::Table = kept.parse().expect("a section");
    assert_eq!(kept["network"]["members"].as_array().map(Vec::len), Some(workers));
    // Line by line the same, so nobody answered twice.
    assert_eq!(federation.lines("run"), federation.lines("alone"));
}

const QUARTIC: &str = "task = \"quartic(dimension=50,shift=0.1)\"\ntolerance = 2\ndefense = \"nnm+geometric_median\"\n\
                       strict = true\nrounds = 120\nevaluate_every = 10";

#[test]
fn the_quartic_has_the_bits_of_one_process() {
    if no_broker() {
        return;
    }
    same(7, QUARTIC, "patience = 1000.0");
}

#[test]
fn so_it_has_when_workers_keep_their_momentum_and_frames_are_small() {
    if no_broker() {
        return;
    }
    // 50 numbers of 8 bytes do not fit one frame of 1024.
    same(
        7,
        &QUARTIC.replace("dimension=50", "dimension=300"),
        "momentum = \"worker\"\nchunk = 1024\npatience = 1000.0",
    );
}

#[test]
fn a_perceptron_has_the_bits_of_one_process() {
    let (false, Some(_)) = (no_broker(), data()) else {
        eprintln!("skipped: needs MNIST");
        return;
    };
    let config = "task = \"mnist_mlp\"\ntolerance = 1\ndefense = \"nnm+trimmed_mean\"\nstrict = true\nrounds = 8\n\
                  batch = 16\npartition = \"dirichlet(alpha=0.5)\"\nevaluate_every = 4";
    same(5, config, "patience = 1000.0");
}
