//! The paper's experiments from the binary alone, cut short.

use crate::support::{Files, Ran, command, run};

fn byz(files: &Files, arguments: &str) -> Ran {
    let mut command = command();
    command.current_dir(files.0.path()).args(arguments.split_whitespace());
    run(command)
}

#[test]
fn chosen_cells_stand_beside_the_published_numbers() {
    let files = Files::new();
    let arguments = "reproduce synthetic --cells bf/rfa,ALIE/*/Ours --seeds 2 --jobs 2";
    let ran = byz(&files, arguments).expect(0).says("synthetic_released: cells: 6, seeds: 2");
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    let line = |name: &str| ran.out.lines().find(|line| line.starts_with(name)).unwrap().to_string();
    assert!(line("BF/RFA/Ours").contains("7.3 ± 0.4") && line("BF/RFA/Ours").contains("agrees"));
    assert!(line("Mimic/CM/Base").contains("not run"));
    assert!(ran.out.contains("of 6 cells agree"), "{}", ran.out);
    assert!(files.path("reproduce/report.html").exists());
    let again = byz(&files, arguments).expect(0).says("all done");
    assert_eq!(ran.out, again.out);
}

/// The released code's numbers come out of the released code's random numbers, mean and deviation as printed, and the rates that a
/// re-run of it chose; the decaying rates are left out, because their runs are chaotic.
#[test]
fn published_cells_come_out_to_the_printed_digit() {
    let files = Files::new();
    byz(&files, "reproduce synthetic --cells */*/Base,*/*/Ours --jobs 2 --quiet").expect(0);
    let table = byz(&files, "report reproduce/synthetic_released --csv").expect(0).out;
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let run: Vec<_> = lines.filter(|line| line[column("runs")] == "3").collect();
    let rates: Vec<&str> = run.iter().map(|line| line[column("learning_rate")]).collect();
    let ours = ["0.1", "0.01", "0.1", "0.01", "0.01", "0.01", "0.01", "0.01", "0.02"];
    assert!(rates.iter().step_by(2).all(|rate| *rate == "0.02"), "{rates:?}");
    assert_eq!(rates.into_iter().skip(1).step_by(2).collect::<Vec<_>>(), ours);
    for line in run {
        let number = |name: &str| line[column(name)].parse::<f64>().unwrap();
        for measure in ["mean", "std"] {
            let apart = (number(measure) - number(&format!("published_{measure}"))).abs();
            assert!(apart <= 0.0501, "{measure}: {line:?}");
        }
    }
}

#[test]
fn the_text_is_another_protocol_and_fewer_rounds_another_directory() {
    let files = Files::new();
    let arguments = "reproduce synthetic --protocol text --rounds 20 --seeds 1 --cells";
    byz(&files, &format!("{arguments} std/BF/RFA/Ours")).expect(0).says("cells: 1");
    // Its first axis, the reading, may be left out: both are meant.
    byz(&files, &format!("{arguments} BF/RFA/Ours")).expect(0).says("cells: 2");
    assert!(files.path("reproduce/synthetic_text-20-rounds/index.json").exists());
}

#[test]
fn wrong_names_are_usage_errors_that_list_the_right_ones() {
    let files = Files::new();
    byz(&files, "reproduce nosuch").expect(2).says("synthetic, mnist, lm, ablation");
    byz(&files, "reproduce synthetic --cells BF/XX").expect(2).says("attack/aggregator/optimizer");
    byz(&files, "reproduce synthetic --seeds 0").expect(2).says("--seeds");
    byz(&files, "reproduce synthetic --rounds 0").expect(2).says("at least 1");
    byz(&files, "reproduce synthetic --jobs 0").expect(2).says("--jobs");
    byz(&files, "reproduce mnist --data-dir nowhere").expect(1).says("byz data fetch");
    assert!(!files.path("reproduce").exists());
}

#[test]
fn the_demo_shows_the_table_and_a_picture_and_leaves_nothing() {
    let files = Files::new();
    let mut command = command();
    command.current_dir(files.0.path()).env("TMPDIR", files.0.path()).arg("demo");
    let ran = run(command).expect(0);
    assert!(ran.out.contains("cells agree") && ran.out.contains("O Ours"), "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 80), "{}", ran.out);
    assert_eq!(files.0.path().read_dir().unwrap().count(), 0);
}
