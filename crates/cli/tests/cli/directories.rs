//! Directories that hold something else, or something damaged, or are named twice.

use crate::support::{Files, Ran, command, run};
use std::fs;

fn byz(files: &Files, arguments: &str) -> Ran {
    let mut command = command();
    command.current_dir(files.0.path()).args(arguments.split_whitespace());
    run(command)
}

const GRID: &[u8] = b"seeds = [0, 1]\n[base]\ntask = \"quartic\"\nrounds = 5\n";

#[test]
fn a_run_and_a_sweep_leave_the_directories_of_others_alone() {
    let files = Files::new();
    files.write("grid.toml", GRID);
    byz(&files, "run --task quartic --rounds 5 --quiet --out run").expect(0);
    byz(&files, "sweep grid.toml --quiet --out sweep").expect(0);
    let refused = byz(&files, "sweep grid.toml --quiet --out run").expect(2);
    assert!(refused.err.contains("holds a run"), "{}", refused.err);
    byz(&files, "run --task quartic --rounds 5 --quiet --out sweep").expect(2);
    for name in ["rounds.jsonl", "checkpoint", "summary.json"] {
        fs::create_dir_all(files.0.path().join(name).with_extension("d")).unwrap();
        let folder = files.0.path().join(name).with_extension("d");
        fs::write(folder.join(name), "mine\n").unwrap();
        let refused =
            byz(&files, &format!("run --task quartic --rounds 5 --quiet --out {}", folder.display()));
        assert!(refused.expect(2).err.contains("holds another run"));
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), "mine\n");
    }
}

#[test]
fn a_damaged_summary_is_run_again_loudly_and_comes_out_the_same() {
    let files = Files::new();
    files.write("grid.toml", GRID);
    let table = byz(&files, "sweep grid.toml --quiet --out sweep").expect(0).out;
    let runs = files.0.path().join("sweep/runs");
    let summary = fs::read_dir(runs).unwrap().next().unwrap().unwrap().path().join("summary.json");
    let before = fs::read_to_string(&summary).unwrap();
    fs::write(&summary, "{").unwrap();
    let again = byz(&files, "sweep grid.toml --quiet --out sweep").expect(0);
    assert!(again.err.contains("damaged") && again.err.contains("running again"), "{}", again.err);
    assert_eq!(again.out, table);
    assert_eq!(fs::read_to_string(&summary).unwrap(), before);
}

#[test]
fn the_same_run_never_counts_twice() {
    let files = Files::new();
    files.write("twice.toml", &[b"seeds = [3, 3]\n", &GRID[b"seeds = [0, 1]\n".len()..]].concat());
    let refused = byz(&files, "sweep twice.toml --quiet").expect(2);
    assert!(refused.err.contains("one seed twice"), "{}", refused.err);
    byz(&files, "run --task quartic --rounds 5 --quiet --out run").expect(0);
    let once = byz(&files, "report run --csv").expect(0).out;
    assert_eq!(byz(&files, "report run . ./run --csv").expect(0).out, once);
}

#[test]
fn an_attack_by_nobody_is_warned_about() {
    let files = Files::new();
    let ran = byz(&files, "run --task quartic --attack sign_flip --rounds 3 --out run").expect(0);
    assert!(ran.err.contains("nobody is Byzantine"), "{}", ran.err);
}
