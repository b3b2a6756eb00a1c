//! A sweep whose grid has changed since its last call, and copies of runs: no result is shown in the place of another.

use crate::support::{Files, Ran, command, run};
use std::fs;

fn byz(files: &Files, arguments: &str) -> Ran {
    let mut command = command();
    command.current_dir(files.0.path()).args(arguments.split_whitespace());
    run(command)
}

fn grid(rounds: u64, more: &str) -> String {
    format!(
        "seeds = [0, 1]\n[base]\ntask = \"quartic\"\nworkers = 11\nbyzantine = 2\nrounds = {rounds}\n{more}\
         [axes]\nattack = [\"sign_flip\", \"non_finite\"]\n[tuning]\nrates = [0.01, 0.1]\non = \"test\"\n"
    )
}

/// The lines of the cells: label, rate, mean, deviation, runs.
fn cells(ran: &Ran) -> Vec<Vec<String>> {
    let lines = ran.out.lines().skip(1);
    lines.map(|line| line.split(',').map(String::from).collect()).collect()
}

#[test]
fn a_cell_that_fails_now_does_not_show_what_it_was_before() {
    let files = Files::new();
    files.write("a.toml", grid(30, "").as_bytes());
    byz(&files, "sweep a.toml --out s --quiet").expect(0);
    files.write("a.toml", grid(30, "tolerance = 1\n").as_bytes());
    byz(&files, "sweep a.toml --out s --quiet").expect(5);
    let told = cells(&byz(&files, "report s --csv").expect(0));
    assert_eq!((told[0][4].as_str(), told[1][4].as_str()), ("2", "0"), "{told:?}");
}

#[test]
fn a_cell_that_was_left_out_stays_only_while_the_grid_still_asks_for_its_runs() {
    let files = Files::new();
    files.write("a.toml", grid(30, "").as_bytes());
    byz(&files, "sweep a.toml --out s --quiet").expect(0);
    byz(&files, "sweep a.toml --out s --quiet --cells sign_flip").expect(0);
    let told = cells(&byz(&files, "report s --csv").expect(0));
    assert_eq!((told[0][4].as_str(), told[1][4].as_str()), ("2", "2"), "{told:?}");
    files.write("a.toml", grid(3, "").as_bytes());
    byz(&files, "sweep a.toml --out s --quiet --cells sign_flip").expect(0);
    let told = cells(&byz(&files, "report s --csv").expect(0));
    assert_eq!((told[0][4].as_str(), told[1][4].as_str()), ("2", "0"), "{told:?}");
}

#[test]
fn a_cell_that_its_rule_refuses_fails_alone() {
    let files = Files::new();
    let rules =
        "[axes]\ndefense = [\"nnm+krum\", { label = \"BAD\", defense = \"bulyan\", tolerance = 5 }]\n";
    let base = "[base]\ntask = \"quartic\"\nworkers = 11\nrounds = 3\n";
    files.write("a.toml", format!("{base}{rules}").as_bytes());
    let ran = byz(&files, "sweep a.toml --out s").expect(5).says("1 of 2 runs failed").says("refused");
    assert!(ran.out.contains("nnm+krum"), "{}", ran.out);
    byz(&files, "sweep a.toml --out t --quiet --cells nnm+krum").expect(0);
}

#[test]
fn published_numbers_that_the_grid_no_longer_names_are_gone() {
    let files = Files::new();
    let base = "[base]\ntask = \"quartic\"\nrounds = 3\n[axes]\nattack = [\"none\"]\n";
    files.write("p.csv", b"attack,mean,std,low,high\nnone,1,0,0,2\n");
    files.write("a.toml", format!("{base}[report]\nexpected = \"p.csv\"\n").as_bytes());
    assert!(byz(&files, "sweep a.toml --out s --quiet").expect(0).out.contains("published"));
    files.write("a.toml", base.as_bytes());
    assert!(!byz(&files, "sweep a.toml --out s --quiet").expect(0).out.contains("published"));
}

#[test]
fn a_grid_and_a_run_are_not_taken_for_one_another() {
    let files = Files::new();
    files.write("grid.toml", grid(3, "").as_bytes());
    files.write("run.toml", b"task = \"quartic\"\n");
    byz(&files, "run grid.toml").expect(2).says("byz sweep");
    byz(&files, "sweep run.toml").expect(2).says("byz run");
    files.write("grid.toml", format!("{}[report]\nfigures = [\"curvs\"]\n", grid(3, "")).as_bytes());
    byz(&files, "sweep grid.toml").expect(2).says("curves");
}

#[test]
fn a_copy_of_a_run_is_no_second_result() {
    let files = Files::new();
    for (seed, name) in [(0, "a"), (1, "b")] {
        byz(&files, &format!("run --task quartic --rounds 5 --seed {seed} --out {name} --quiet")).expect(0);
    }
    let place = |name: &str| files.0.path().join(name);
    fs::create_dir(place("c")).unwrap();
    for file in ["config.toml", "summary.json", "rounds.jsonl"] {
        fs::copy(place("a").join(file), place("c").join(file)).unwrap();
    }
    let table = |arguments: &str| byz(&files, arguments).expect(0).out;
    assert_eq!(table("report a b"), table("report a b c"));
    // One result has no sample deviation.
    assert!(!table("report a --sample-deviation").contains('±'));
}

#[test]
fn choices_of_one_command_do_not_take_back_one_another() {
    let files = Files::new();
    for (arguments, line) in [
        ("--schedule theory --set optimizer=byz_sign", "schedule = \"theory\""),
        ("--set server=[\"clip\"] --set optimizer=baseline", "server = [\"clip\"]"),
        ("--byzantine 3 --tolerance 3 --set byzantine=5", "tolerance = 3"),
        ("--seed 3 --set data_seed=3 --set seed=4", "data_seed = 3"),
    ] {
        let shown = byz(&files, &format!("run --task quartic {arguments} --print-config")).expect(0).out;
        assert!(shown.contains(line), "{arguments}: {shown}");
    }
    byz(&files, "run --task quartic --seed 9223372036854775808").expect(2).says("at most");
}
