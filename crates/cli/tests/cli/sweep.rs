//! Sweeps: tuning, skipping what is done, failing in part; and the tables of their runs.

use crate::support::{Files, Ran, command, run};
use std::fs;

fn byz(files: &Files, arguments: &str) -> Ran {
    let mut command = command();
    command.current_dir(files.0.path()).args(arguments.split_whitespace());
    run(command)
}

const GRID: &str = r#"
seeds = [0, 1]
[base]
task = "quartic"
byzantine = 3
rounds = 40
[axes]
attack = ["sign_flip", "zero"]
optimizer = [
  { label = "Ours", optimizer = "byz_nsgdm" },
  { label = "Base", optimizer = "baseline", rates = [0.001, 1e9] },
]
[tuning]
rates = [1e-9, 0.3, 1e-8]
rounds = 30
on = "test"
"#;

fn runs(files: &Files, folder: &str) -> usize {
    fs::read_dir(files.0.path().join(folder)).unwrap().count()
}

#[test]
fn a_sweep_tunes_runs_every_seed_and_skips_what_is_done() {
    let files = Files::new();
    files.write("grid.toml", GRID.as_bytes());
    for method in ["grid", "halving"] {
        files.write("grid.toml", format!("{GRID}method = \"{method}\"\n").as_bytes());
        let table = byz(&files, &format!("sweep grid.toml --jobs 2 --quiet --out {method}")).expect(0).out;
        // The steps of 1e-9 lead nowhere and those of 1e9 too far.
        let rates: Vec<&str> = table
            .lines()
            .filter(|line| line.contains('/'))
            .filter_map(|line| line.split_whitespace().nth(1))
            .collect();
        assert_eq!(rates, ["0.3", "0.001", "0.3", "0.001"], "{table}");
        assert_eq!(runs(&files, &format!("{method}/runs")), 2 * 2 * 2);
        let again = byz(&files, &format!("sweep grid.toml --jobs 1 --quiet --out {method}")).expect(0).out;
        assert_eq!(table, again);
    }
    assert_eq!(runs(&files, "grid/tuning"), 2 * (3 + 2));
}

#[test]
fn a_run_that_fails_is_reported_and_the_others_finish() {
    let files = Files::new();
    let grid = GRID.split("[tuning]").next().unwrap();
    files.write(
        "grid.toml",
        grid.replace("\"zero\"", "\"non_finite\"")
            .replace("byzantine = 3", "byzantine = 3\ntolerance = 2")
            .as_bytes(),
    );
    let ran = byz(&files, "sweep grid.toml --out s").expect(5).says("4 of 8 runs failed");
    assert!(ran.out.contains("non_finite/Ours  -"), "{}", ran.out);
    assert!(ran.out.contains("0 of 2"), "{}", ran.out);
}

#[test]
fn published_numbers_stand_beside_ours_and_cells_can_be_run_apart() {
    let files = Files::new();
    let grid = GRID.split("[tuning]").next().unwrap();
    files.write("grid.toml", format!("{grid}\n[report]\nexpected = \"paper.csv\"\n").as_bytes());
    byz(&files, "sweep grid.toml --out s").expect(2).says("paper.csv: cannot be read");
    files.write(
        "paper.csv",
        b"attack,optimizer,mean,std,low,high\nsign_flip,Ours,30,1,20,40\nzero,Ours,99,,98,100\n",
    );
    let first = byz(&files, "sweep grid.toml --quiet --out s --cells sign_flip/Ours").expect(0).out;
    assert!(first.contains("30 ± 1     agrees"), "{first}");
    assert!(first.contains("99         not run"), "{first}");
    byz(&files, "sweep grid.toml --out s --cells nosuch/Ours").expect(2).says("attack/optimizer");
    let second = byz(&files, "sweep grid.toml --quiet --out s --cells zero").expect(0).out;
    assert!(second.contains("30 ± 1     agrees") && second.contains("99         differs"), "{second}");
}

#[test]
fn reports_come_in_every_format() {
    let files = Files::new();
    files.write("grid.toml", GRID.split("[tuning]").next().unwrap().as_bytes());
    byz(&files, "sweep grid.toml --quiet --out s").expect(0);
    for (format, words) in [
        ("text", "cell            gradient_norm"),
        ("markdown", "| attack | optimizer |"),
        ("latex", "sign\\_flip & "),
        ("csv", "attack,optimizer,learning_rate,mean,std,runs,diverged"),
    ] {
        let out = byz(&files, &format!("report s --format {format}")).expect(0).out;
        assert!(out.contains(words), "{format}:\n{out}");
    }
    let loose = byz(&files, "report s/runs").expect(0).out;
    assert!(loose.contains("attack     schedule"), "{loose}");
    let pairs = byz(&files, "report s --pairs").expect(0).out;
    assert!(pairs.contains("Base − Ours"), "{pairs}");
    let pairs = byz(&files, "report s --pairs --csv").expect(0).out;
    assert!(pairs.contains("attack,cell,less,mean,low,high,seeds,verdict"), "{pairs}");
    byz(&files, "report s --format html5").expect(2).says("markdown");
    byz(&files, "report s --measure norm").expect(2).says("aggregate_norm");
    byz(&files, "report nowhere").expect(2).says("no directory");
}

#[test]
fn tuning_that_cannot_decide_fails_the_cell() {
    let files = Files::new();
    // Every candidate is refused: more messages are invalid than the tolerance allows.
    files.write(
        "grid.toml",
        b"[base]\ntask = \"quartic\"\nrounds = 4\nbyzantine = 3\ntolerance = 2\nattack = \"non_finite\"\n[tuning]\nrates = [0.1, 0.2]\n",
    );
    byz(&files, "sweep grid.toml --out s")
        .expect(5)
        .says("tuning failed at rate 0.1")
        .says("1 of 1 runs failed");
}

#[test]
fn cells_that_are_the_same_run_share_it() {
    let files = Files::new();
    let options = "rate = [{ label = \"one\", rate = 0.1 }, { label = \"other\", rate = 0.1 }]\n";
    let grid = format!("[base]\ntask = \"quartic\"\nrounds = 50\n[axes]\n{options}");
    files.write("grid.toml", grid.as_bytes());
    byz(&files, "sweep grid.toml --out s --jobs 4").expect(0);
    assert_eq!(runs(&files, "s/runs"), 1);
}

#[test]
fn a_wrong_grid_is_found_before_anything_runs() {
    let files = Files::new();
    for (text, words) in [
        ("[base]\ntask = \"quartic\"\n[axes]\nattack = \"zero\"\n", "axes.attack"),
        ("[base]\ntask = \"quartic\"\n[axes]\nattack = [\"zero\", \"zorro\"]\n", "zorro"),
        ("[base]\ntask = \"quartic\"\n[tuning]\nrates = [1]\nmetric = \"luck\"\n", "tuning.metric"),
        ("seeds = []\n[base]\ntask = \"quartic\"\n", "seeds is empty"),
        ("[base]\ntask = \"quartic\"\nseed = 3\n", "list seeds"),
        ("[base]\ntask = \"quartic\"\n[axes]\nseed = [1, 2]\n", "list seeds"),
        ("[base]\ntask = \"quartic\"\n[tuning]\nrates = []\n", "tuning has no rates"),
        ("[base]\ntask = \"quartic\"\n[tuning]\nrates = [1]\ntask = \"quartc\"\n", "tuning.task: "),
        (
            "[axes]\ntask = [\"quartic\", \"quartic(dimension=2)\"]\n[tuning]\nrates = [1]\ntask = \"quartic\"\n",
            "the cells have several",
        ),
        ("[base]\ntask = \"quartic\"\n[tuning]\nrates = [1]\nrounds = 0\n", "tuning.rounds = 0"),
        ("[base]\ntask = \"quartic\"\n[report]\nmeasure = \"luck\"\n", "report.measure"),
        ("[bases]\n", "bases"),
        (
            "[base]\ntask = \"quartic\"\n[axes]\nattack = [\"zero\", \"zero\"]\n",
            "two options are called zero",
        ),
        ("[base]\ntask = \"quartic\"\n[tuning]\nrates = [0.1, -1]\n", "cell the only cell: rate = -1"),
    ] {
        files.write("grid.toml", text.as_bytes());
        byz(&files, "sweep grid.toml").expect(2).says(words);
        assert!(!files.0.path().join("sweeps").exists());
    }
}
