//! `byz breakdown` and the figures of `[diagnostics]`.

use crate::support::{Files, Ran, command, run};
use std::fs;

fn byz(files: &Files, arguments: &str) -> Ran {
    let mut command = command();
    command.current_dir(files.0.path()).args(arguments.split_whitespace());
    run(command)
}

#[test]
fn a_breakdown_runs_every_pair_of_counts_and_maps_them() {
    let files = Files::new();
    let grid = "[base]\ntask = \"quartic\"\nworkers = 9\ndefense = \"krum\"\nrounds = 5\nevaluate_every = 5\n\
                [axes]\nattack = [\"sign_flip\", \"zero\"]\n";
    files.write("grid.toml", grid.as_bytes());
    let said = byz(&files, "breakdown grid.toml --quiet --out maps").expect(0);
    // Byzantine 0 to 4, and the tolerances of nine that krum is defined for.
    assert!(said.out.contains("sign_flip/4/3") && said.out.contains("zero/0/0"), "{}", said.out);
    let page = fs::read_to_string(files.0.path().join("maps/report.html")).unwrap();
    assert_eq!(page.matches("as liars pass the tolerance</b>").count(), 2);
    assert!(page.contains("stroke-dasharray=\"5 4\"") && page.contains("tolerance 3, byzantine 2"));
    byz(&files, "report maps --figures figures").expect(0);
    assert!(files.0.path().join("figures/grid-breakdown-zero.svg").exists());
}

#[test]
fn the_file_may_name_the_counts_and_undefined_ones_are_refused() {
    let files = Files::new();
    let grid = |axes: &str| format!("[base]\ntask = \"quartic\"\nworkers = 7\nrounds = 5\n[axes]\n{axes}");
    files.write("few.toml", grid("byzantine = [1]\ntolerance = [1, 2]\n").as_bytes());
    let said = byz(&files, "breakdown few.toml --quiet --json --out few").expect(0);
    assert_eq!(said.out.lines().count(), 2);
    files.write("many.toml", grid("tolerance = [7]\n").as_bytes());
    byz(&files, "breakdown many.toml --quiet --out many").expect(2).says("cell 7");
    byz(&files, "breakdown missing.toml").expect(2);
}

#[test]
fn the_line_stands_at_half_of_the_workers_of_its_map() {
    let files = Files::new();
    let base = "[base]\ntask = \"quartic\"\nrounds = 1\ndefense = \"median\"\n";
    let page = |name: &str| fs::read_to_string(files.0.path().join(name).join("report.html")).unwrap();
    let dashed = "stroke-dasharray=\"5 4\"";
    // Of many counts some, the half among them.
    files.write("many.toml", format!("{base}workers = 41\n").as_bytes());
    assert!(byz(&files, "breakdown many.toml --quiet --out many").expect(0).out.contains("21/20"));
    assert!(page("many").contains(dashed) && page("many").contains("dashed: n = 2f"));
    let axes = "[axes]\nworkers = [7, 9]\nbyzantine = [0, 1, 2, 3, 4]\ntolerance = [0, 1]\n";
    files.write("two.toml", format!("{base}{axes}").as_bytes());
    byz(&files, "breakdown two.toml --quiet --out two").expect(0);
    byz(&files, "report two --figures figures").expect(0);
    let [seven, nine] = [7, 9].map(|workers| {
        let name = format!("figures/two-breakdown-{workers}.svg");
        fs::read_to_string(files.0.path().join(name)).unwrap()
    });
    // Between 3 and 4 of seven; all of nine's counts are below half, so there is none.
    assert!(seven.contains(dashed) && !nine.contains("dash"));
    files.write("both.toml", format!("{base}[axes]\nworkers = [5, 9]\n").as_bytes());
    byz(&files, "breakdown both.toml").expect(2).says("axes.byzantine and axes.tolerance");
}

#[test]
fn a_run_that_looks_at_its_constants_is_shown_beside_its_theory() {
    let files = Files::new();
    let run =
        "run --task quartic(shift=1,noise=0.3) --workers 9 --byzantine 2 --attack zero --defense nnm+median";
    byz(&files, &format!("{run} --rounds 40 --set diagnostics.every=5 --quiet --out run")).expect(0);
    let record = fs::read_to_string(files.0.path().join("run/rounds.jsonl")).unwrap();
    assert_eq!(record.matches("\"zeta_squared\"").count(), 9);
    byz(&files, "report run --html page.html --figures figures").expect(0);
    let page = fs::read_to_string(files.0.path().join("page.html")).unwrap();
    for title in ["Local smoothness", "Realised robustness", "floor of the bound", "another tolerance"] {
        assert!(page.contains(title), "{title}");
    }
    assert!(files.0.path().join("figures/runs-theory-kappa.png").exists());
    for wrong in ["diagnostics.every=0", "diagnostics.ever=3"] {
        byz(&files, &format!("{run} --set {wrong} --quiet --out wrong")).expect(2).says("diagnostics");
    }
}
