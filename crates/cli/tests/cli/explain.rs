//! What people read: the summary and the table.

use crate::support::{FIVE, Files, Ran, snapshot};

/// Files with values simple enough to check the table by hand.
fn files() -> Files {
    let files = Files::new();
    for (name, row) in [
        ("w0.npy", [1.0, 2.0, 3.0]),
        ("w1.npy", [1.5, 2.0, 3.0]),
        ("w2.npy", [1.0, 2.5, 3.0]),
        ("w3.npy", [1.0, 2.0, 4.0]),
        ("w4.npy", [90.0, 2.0, 3.0]),
        ("a-checkpoint-with-a-very-long-name-of-worker-0005.npy", [f32::NAN, 0.0, 0.0]),
    ] {
        files.vector(name, &row);
    }
    files.vector("short.npy", &[1.0]);
    files
}

const ODD: &str = "a-checkpoint-with-a-very-long-name-of-worker-0005.npy short.npy gone.npy --allow-missing";

fn fits(ran: &Ran) {
    for line in ran.out.lines() {
        assert!(line.chars().count() <= 80 && !line.contains('\u{1b}'), "{line}");
    }
}

#[test]
fn the_table_shows_verdict_weight_distance_and_rank() {
    let ran = files().aggregate(&format!("{FIVE} {ODD} --rule multi_krum --tolerance 3 --explain")).expect(0);
    fits(&ran);
    snapshot("explain.txt", &ran.out);
}

#[test]
fn the_summary_is_a_few_lines() {
    let ran = files().aggregate(&format!("{FIVE} {ODD} --rule median --tolerance 3")).expect(0);
    fits(&ran);
    snapshot("summary.txt", &ran.out);
}

#[test]
fn an_output_file_alone_prints_nothing() {
    let ran = files().aggregate(&format!("{FIVE} --rule median --tolerance 1 --output o.npy")).expect(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
}

#[test]
fn a_refused_round_explains_its_verdicts() {
    let ran = files().aggregate(&format!("{FIVE} {ODD} --rule median --tolerance 1 --explain")).expect(3);
    fits(&ran);
    assert!(
        ran.out.contains("NaN at coordinate 0") && ran.out.contains("length 1, expected 3"),
        "{}",
        ran.out
    );
    ran.says("refused: 2 invalid message(s)");
}

#[test]
fn passes_beyond_the_planned_are_mentioned() {
    let files = Files::new();
    for (worker, far) in [0.0, 0.1, 0.2, 0.3, 1e30].into_iter().enumerate() {
        files.vector(&format!("w{worker}.npy"), &[1.0 + far, 2.0, 3.0]);
    }
    let command = format!("{FIVE} --rule geometric_median --tolerance 1");
    let report = files.aggregate(&format!("{command} --json")).expect(0).json();
    let table = files.aggregate(&format!("{command} --explain")).expect(0).out;
    let passes = report["extra_passes"].as_u64().unwrap();
    assert_eq!(table.contains("more than planned"), passes > 0, "{table}");
}
