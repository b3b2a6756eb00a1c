//! Whoever is killed comes back: a worker, the coordinator, the broker.

use crate::federation::{Federation, Process, no_broker, verdicts};
use std::{thread::sleep, time::Duration};

const CONFIG: &str = "task = \"quartic(dimension=200)\"\ntolerance = 2\ndefense = \"nnm+geometric_median\"\nstrict = true\n\
                      rate = 0.05\nrounds = 600\nevaluate_every = 10";

fn complete(federation: &Federation, rounds: u64) {
    let lines = federation.lines("run");
    let told: Vec<u64> = lines.iter().filter_map(|line| line["round"].as_u64()).collect();
    assert_eq!(told, (0..=rounds).collect::<Vec<_>>(), "a line for every round, once");
    assert_eq!(federation.summary("run")["status"], "finished");
}

#[test]
fn a_killed_worker_takes_part_again_at_once() {
    if no_broker() {
        return;
    }
    let federation = Federation::start(7, CONFIG, "");
    let mut workers = federation.workers(7);
    let mut coordinator = federation.coordinator(&["--checkpoint-rounds", "20"]);
    federation.await_round(60, 60);
    workers[3].kill();
    federation.await_round(120, 60);
    workers[3] = federation.worker(3, &[]);
    assert_eq!(coordinator.wait(180), 0, "{}", federation.said("coordinator"));
    complete(&federation, 600);
    let missing = verdicts(&federation.lines("run"), 3);
    assert!(!missing.is_empty() && missing.len() < 400, "{}", missing.len());
    let last = &federation.lines("run")[600];
    assert!(!last["training"]["verdicts"].to_string().contains("[3,"), "{last}");
}

#[test]
fn a_killed_coordinator_goes_on_from_its_checkpoint_with_the_same_bits() {
    if no_broker() {
        return;
    }
    let federation = Federation::start(7, CONFIG, "patience = 1000.0");
    let _workers = federation.workers(7);
    for round in [80, 200, 330] {
        let mut coordinator = federation.coordinator(&["--checkpoint-rounds", "20"]);
        federation.await_round(round, 60);
        coordinator.kill();
    }
    assert_eq!(federation.coordinator(&[]).wait(120), 0, "{}", federation.said("coordinator"));
    complete(&federation, 600);
    federation.has_the_bits_of_one_process();
}

#[test]
fn a_broker_that_restarts_costs_only_time() {
    if no_broker() {
        return;
    }
    let mut federation = Federation::start(7, CONFIG, "deadline = 5.0");
    let mut workers = federation.workers(7);
    let mut coordinator = federation.coordinator(&["--checkpoint-rounds", "20"]);
    for round in [60, 250] {
        federation.await_round(round, 60);
        federation.stop_broker();
        sleep(Duration::from_millis(500));
        federation.start_broker();
    }
    assert_eq!(coordinator.wait(180), 0, "{}", federation.said("coordinator"));
    complete(&federation, 600);
    let ended: Vec<i32> = workers.iter_mut().map(|worker: &mut Process| worker.wait(20)).collect();
    assert_eq!(ended, [0; 7]);
}

#[test]
fn with_too_few_workers_a_run_pauses_and_goes_on_when_they_return() {
    if no_broker() {
        return;
    }
    let federation = Federation::start(5, &CONFIG.replace("600", "60"), "deadline = 0.3\nretries = 1");
    let mut workers = federation.workers(4);
    let mut coordinator = federation.coordinator(&["--checkpoint-rounds", "5"]);
    // Four of five are not enough for two liars among them.
    federation.until(60, "pause", || federation.said("coordinator").contains("paused until more come back"));
    assert!(coordinator.0.try_wait().expect("a child").is_none(), "it waits");
    workers.push(federation.worker(4, &[]));
    assert_eq!(coordinator.wait(120), 0, "{}", federation.said("coordinator"));
    assert!(federation.said("coordinator").contains("going on"));
    complete(&federation, 60);
}

#[test]
fn a_worker_keeps_its_own_momentum_over_a_restart_if_the_run_says_so() {
    if no_broker() {
        return;
    }
    let federation = Federation::start(7, CONFIG, "momentum = \"worker\"");
    let mut workers = federation.workers(7);
    let mut coordinator = federation.coordinator(&["--checkpoint-rounds", "20"]);
    federation.await_round(60, 60);
    workers[3].kill();
    workers[3] = federation.worker(3, &[]);
    assert_eq!(coordinator.wait(180), 0, "{}", federation.said("coordinator"));
    let said = federation.said("worker-3");
    assert!(said.contains("no momentum of this run") && said.contains("taken up"), "{said}");
}
