//! Every kind of figure of a study whose labels are as bad as labels get.

use super::*;
use crate::{
    experiment::{Draft, Presentation, Status, Summary},
    report::{Run, StudyCell},
};
use std::{fs, path::Path};

/// The kinds that need no axes of a certain name.
const PLAIN: [&str; 4] = ["curves", "heat_map", "trust", "slope"];

const HOSTILE: &str = "<script>alert('&')</script>";

fn run(directory: &Path, seed: u64, rounds: u64, scale: f64) -> Run {
    let text = format!(
        "task = \"quartic\"\nworkers = 3\nbyzantine = 1\nrounds = {rounds}\nseed = {seed}\ntolerance = 0"
    );
    let config = Draft::from_toml(&text).unwrap().resolve().unwrap();
    let directory = directory.join(format!("{seed}-{rounds}-{scale}"));
    fs::create_dir_all(&directory).unwrap();
    let line = |round: u64| {
        let norm = scale / round as f64;
        // JSON has no infinity.
        let norm = if round == 3 { "null".into() } else { norm.to_string() };
        format!(
            "{{\"round\":{round},\"training\":{{\"round\":{round},\"loss\":{scale},\"rate\":0.1,\"aggregate_norm\":{norm},\
             \"weights\":[0.5,0.5,0]}},\"evaluation\":{{\"loss\":1.0,\"metric\":{scale},\"gradient_norm\":null}}}}\n"
        )
    };
    fs::write(directory.join("rounds.jsonl"), (1..=rounds).map(line).collect::<String>()).unwrap();
    let summary = Summary {
        status: Status::Finished,
        key: String::new(),
        rounds,
        metric_name: "accuracy".into(),
        higher_is_better: true,
        metric: Some(scale + seed as f64),
        best_metric: Some(scale),
        mean_metric: Some(scale),
        loss: None,
        training_loss: None,
        aggregate_norm: Some(scale / rounds as f64),
        gradient_norm: None,
        per_class: None,
        zero_updates: 0,
        invalid_messages: 0,
    };
    Run { directory, config, summary }
}

/// Two axes with two labels each; the last cell was not run.
fn study(directory: &Path, figures: &[&str], measure: &str) -> Study {
    let mut cells = Vec::new();
    for (row, first) in [HOSTILE, "b"].iter().enumerate() {
        for (column, second) in ["100", "1000"].iter().enumerate() {
            let (rounds, scale) = ([100, 1000][column], 10.0 + row as f64);
            let ran = row + column < 2;
            let runs = (0..2).filter(|_| ran).map(|seed| run(directory, seed, rounds, scale)).collect();
            let labels = vec![first.to_string(), second.to_string()];
            cells.push(StudyCell { labels, rate: Some(0.1), scores: Vec::new(), wanted: 2, runs });
        }
    }
    let report = Presentation {
        title: HOSTILE.into(),
        measure: measure.into(),
        log: true,
        figures: figures.iter().map(|name| name.to_string()).collect(),
        ..Presentation::default()
    };
    let axes = ["a \"quoted\" axis", "rounds"].map(String::from).to_vec();
    Study { name: "study".into(), report, axes, cells, expected: Vec::new() }
}

/// Every tag that is opened is closed, in order.
fn well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in svg.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').unwrap_or_else(|| panic!("an open tag: {piece}"));
        assert_eq!(tag.matches('"').count() % 2, 0, "an open quote: {tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn every_kind_is_well_formed_escaped_and_the_same_each_time() {
    let directory = tempfile::tempdir().unwrap();
    for measure in ["metric", "best_metric", "aggregate_norm", "loss"] {
        let study = study(directory.path(), &PLAIN, measure);
        for medium in [Medium::Paper, Medium::Page] {
            let drawings = drawings(&study, medium).unwrap();
            let names: Vec<&str> =
                drawings.iter().map(|drawing| drawing.name.split('-').next().unwrap()).collect();
            for kind in ["curves", "heat_map", "heat_map_curves", "heat_map_profile", "trust", "slope"] {
                assert!(names.contains(&kind), "{kind}: {names:?}");
            }
            for drawing in &drawings {
                well_formed(&drawing.svg);
                assert!(!drawing.svg.contains("<script") && !drawing.svg.contains("NaN"), "{}", drawing.svg);
            }
            let again = super::drawings(&study, medium).unwrap();
            assert!(drawings.iter().zip(&again).all(|(a, b)| a.svg == b.svg));
        }
    }
}

#[test]
fn a_breakdown_is_a_map_of_two_counts_and_frames_what_is_promised() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = study(directory.path(), &["breakdown"], "metric");
    assert!(figures(&study).unwrap_err().to_string().contains("byzantine and tolerance"));
    study.axes = ["tolerance", "byzantine"].map(String::from).to_vec();
    let counts = [[0, 0], [0, 2], [1, 0], [1, 2]];
    for (cell, counts) in study.cells.iter_mut().zip(counts) {
        cell.labels = counts.map(|count: usize| count.to_string()).to_vec();
        for run in &mut cell.runs {
            [run.config.tolerance, run.config.byzantine] = counts;
        }
    }
    let svg = &figures(&study).unwrap()[0].svg;
    well_formed(svg);
    // Of three workers: nobody lies in the left column, both tolerances hold there; two of three are beyond n = 2f.
    assert_eq!(
        (svg.matches("stroke-width=\"2.5\"").count(), svg.matches("stroke-dasharray=\"5 4\"").count()),
        (7, 1)
    );
}

#[test]
fn a_page_shows_all_of_it_escaped() {
    let directory = tempfile::tempdir().unwrap();
    let page = crate::report::html(&[study(directory.path(), &PLAIN, "metric")], HOSTILE).unwrap();
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("<button type=\"button\" aria-pressed=\"true\""));
    assert!(page.contains("rounds 1000") && page.contains("task = &quot;quartic&quot;"));
}

#[test]
fn long_records_are_thinned_and_a_figure_stays_small() {
    let directory = tempfile::tempdir().unwrap();
    let svg = &figures(&study(directory.path(), &["curves"], "aggregate_norm")).unwrap()[0].svg;
    assert!(svg.len() < 30_000, "{}", svg.len());
    assert!(!svg.contains("data-v"));
}

#[test]
fn a_cell_that_was_not_run_leaves_its_panel_to_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = study(directory.path(), &["curves", "heat_map"], "metric");
    study.cells.iter_mut().skip(2).for_each(|cell| cell.runs.clear());
    let figures = figures(&study).unwrap();
    assert!(figures[0].svg.contains(">not run<"), "{}", figures[0].svg);
    study.cells.iter_mut().for_each(|cell| cell.runs.clear());
    assert_eq!(super::figures(&study).unwrap(), []);
}

#[test]
fn a_figure_that_cannot_be_drawn_is_an_error_that_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = study(directory.path(), &["heatmap"], "metric");
    assert!(figures(&study).unwrap_err().to_string().contains("heat_map"));
    study.report.figures = vec!["heat_map".into()];
    study.axes.pop();
    study.cells.iter_mut().for_each(|cell| drop(cell.labels.pop()));
    assert!(figures(&study).unwrap_err().to_string().contains("needs two axes"));
    study.axes.pop();
    assert!(figures(&study).unwrap_err().to_string().contains("damaged"));
}
