//! Twenty workers of which six may be hostile at any moment, while processes are killed, slowed and restarted at random, the
//! broker and the coordinator among them: the run ends and converges.

use crate::federation::{Federation, Process, data, no_broker};
use byz::Stream;
use std::{process::Command, thread::sleep, time::Duration};

const WORKERS: usize = 20;
const TOLERANCE: usize = 6;
/// Everything a worker can do wrong, but a flood: that costs processors, of which a machine may have two.
const DRILLS: [&str; 9] = [
    "sign_flip",
    "non_finite",
    "oversize",
    "wrong_dimension",
    "stale",
    "duplicate",
    "silent",
    "slow",
    "impersonate",
];

struct Chaos {
    federation: Federation,
    workers: Vec<Option<Process>>,
    hostile: Vec<bool>,
    /// Who is held up until the next stroke.
    held: Option<usize>,
    random: Stream,
    /// Between two strokes.
    pause: Duration,
}

impl Chaos {
    fn new(config: &str, seed: u64, pause: Duration) -> Chaos {
        let federation = Federation::start(WORKERS, config, "deadline = 5.0");
        let workers = federation.workers(WORKERS).into_iter().map(Some).collect();
        let random = Stream::new(seed, "chaos", 0, 0);
        Chaos { federation, workers, hostile: vec![false; WORKERS], held: None, random, pause }
    }

    fn below(&mut self, count: usize) -> usize {
        self.random.below(count as u64) as usize
    }

    /// One stroke: one worker is held up, and one replaced by a hostile or an honest one, or killed.
    fn strike(&mut self) {
        self.hold_one();
        let worker = self.below(WORKERS);
        let away = self.workers.iter().filter(|worker| worker.is_none()).count();
        let hostile = self.hostile.iter().filter(|&&hostile| hostile).count();
        // First the old one ends, so that at no moment seven are hostile.
        self.workers[worker] = None;
        let was = std::mem::take(&mut self.hostile[worker]);
        match self.below(4) {
            0 | 1 if hostile - usize::from(was) < TOLERANCE => {
                let drill = DRILLS[self.below(DRILLS.len())];
                self.hostile[worker] = true;
                self.workers[worker] = Some(self.federation.worker(worker, &["--attack", drill]));
            }
            // Those away and those hostile together leave the rule enough.
            2 if away < 1 => {}
            _ => self.workers[worker] = Some(self.federation.worker(worker, &[])),
        }
        for worker in 0..WORKERS {
            if self.workers[worker].is_none() && self.below(2) == 0 {
                self.workers[worker] = Some(self.federation.worker(worker, &[]));
            }
        }
    }

    /// Lets whoever was held up go on, and holds up another: slower than the others, and honest unless it is hostile anyway.
    fn hold_one(&mut self) {
        let next = self.below(WORKERS);
        for (worker, signal) in [(self.held.replace(next), "-CONT"), (Some(next), "-STOP")] {
            if let Some(Some(process)) = worker.map(|worker| &self.workers[worker]) {
                // Whoever is gone already needs neither.
                let _ = Command::new("kill").args([signal, &process.0.id().to_string()]).status();
            }
        }
    }

    /// Strikes until the run is over; at a third the broker restarts, at two thirds the coordinator is killed.
    fn rage(mut self, rounds: u64, seconds: u64) -> Federation {
        let arguments = ["--checkpoint-rounds", "10"];
        let mut coordinator = self.federation.coordinator(&arguments);
        let start = std::time::Instant::now();
        let mut struck = [false; 2];
        loop {
            if let Some(status) = coordinator.0.try_wait().expect("a child") {
                assert!(status.success(), "{}", self.federation.said("coordinator"));
                break;
            }
            assert!(start.elapsed().as_secs() < seconds, "{}", self.federation.said("coordinator"));
            let done =
                self.federation.lines_now().last().and_then(|line| line["round"].as_u64()).unwrap_or(0);
            if done >= rounds / 3 && !struck[0] {
                struck[0] = true;
                self.federation.stop_broker();
                sleep(Duration::from_millis(300));
                self.federation.start_broker();
            }
            if done >= 2 * rounds / 3 && !struck[1] {
                struck[1] = true;
                coordinator.kill();
                coordinator = self.federation.coordinator(&arguments);
            }
            self.strike();
            sleep(self.pause);
        }
        assert_eq!(struck, [true; 2], "broker and coordinator were restarted");
        let told: Vec<u64> =
            self.federation.lines("run").iter().filter_map(|line| line["round"].as_u64()).collect();
        assert_eq!(told, (0..=rounds).collect::<Vec<_>>(), "a line for every round, once");
        self.federation
    }
}

#[test]
fn the_quartic_converges_in_chaos() {
    if no_broker() {
        return;
    }
    let config = format!(
        "task = \"quartic(dimension=100)\"\ntolerance = {TOLERANCE}\ndefense = \"nnm+geometric_median\"\nrate = 0.6\n\
         schedule = \"inverse_sqrt\"\nrounds = 150\nevaluate_every = 10"
    );
    let federation = Chaos::new(&config, 1, Duration::from_millis(150)).rage(150, 300);
    let lines = federation.lines("run");
    let norm = |line: usize| lines[line]["evaluation"]["metric"].as_f64().expect("a metric");
    assert!(norm(150) < norm(0) / 100.0, "{} to {}", norm(0), norm(150));
}

#[test]
fn the_perceptron_converges_in_chaos() {
    let (false, Some(_)) = (no_broker(), data()) else {
        eprintln!("skipped: needs MNIST");
        return;
    };
    let config = format!(
        "task = \"mnist_mlp\"\ntolerance = {TOLERANCE}\ndefense = \"nnm+trimmed_mean\"\nrate = 0.3\n\
         schedule = \"inverse_sqrt\"\nrounds = 60\nbatch = 32\nevaluate_every = 10"
    );
    let federation = Chaos::new(&config, 2, Duration::from_secs(1)).rage(60, 400);
    let accuracy = federation.summary("run")["metric"].as_f64().expect("a metric");
    assert!(accuracy > 80.0, "{accuracy}");
}
