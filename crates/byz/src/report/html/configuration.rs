//! How every cell was run: its resolved configuration, and the rates that were tried.

use crate::report::{
    Study, StudyCell,
    figure::{escape, short},
};

pub(super) fn of_study(study: &Study) -> String {
    let cells: String = study.cells.iter().filter_map(of_cell).collect();
    format!(
        "<details class=\"configuration\"><summary>Configuration of every cell</summary>\n{cells}</details>\n"
    )
}

fn of_cell(cell: &StudyCell) -> Option<String> {
    let run = cell.runs.first()?;
    let seeds: Vec<String> = cell.runs.iter().map(|run| run.config.seed.to_string()).collect();
    let label = if cell.labels.is_empty() { "all runs".into() } else { cell.labels.join(" · ") };
    Some(format!(
        "<details><summary>{}</summary>\n<p>Seeds {}; the configuration is that of the first.</p>\n{}\
         <pre>{}</pre></details>\n",
        escape(&label),
        seeds.join(", "),
        tried(cell),
        escape(&run.config.to_toml())
    ))
}

/// The candidates of tuning and their scores.
fn tried(cell: &StudyCell) -> String {
    if cell.scores.is_empty() {
        return String::new();
    }
    let score = |(rate, score): &(f64, Option<f64>)| {
        format!("{}: {}", short(*rate), score.map_or("diverged".into(), short))
    };
    let scores: Vec<String> = cell.scores.iter().map(score).collect();
    format!("<p>Learning rates tried, with their scores: {}.</p>\n", scores.join("; "))
}
