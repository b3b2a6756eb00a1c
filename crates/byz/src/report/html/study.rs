//! A study's part of the page.

use super::{comparisons, configuration, figures, table};
use crate::{
    error::Result,
    report::{Agreement, Columns, Deviation, Study, figure::escape},
};

/// What a study is called.
pub(super) fn title(study: &Study) -> String {
    match (study.report.title.as_str(), study.name.as_str()) {
        ("", "") => "Runs".into(),
        ("", name) => name.into(),
        (title, _) => title.into(),
    }
}

pub(super) fn section(study: &Study, index: usize) -> Result<String> {
    let columns = study.columns(Deviation::Population)?;
    Ok(format!(
        "<section id=\"study-{index}\">\n<h2>{}</h2>\n<p>{}</p>\n{}{}{}{}</section>\n",
        escape(&title(study)),
        summary(study, columns),
        table::results(study, columns),
        comparisons::of_study(study, columns.measure),
        figures::of_study(study)?,
        configuration::of_study(study)
    ))
}

/// How much was run, how much of it agrees, how long it took.
fn summary(study: &Study, columns: Columns) -> String {
    let (done, wanted) =
        study.cells.iter().fold((0, 0), |(d, w), cell| (d + cell.runs.len(), w + cell.wanted));
    let seconds: f64 = study.cells.iter().flat_map(|cell| &cell.runs).map(|run| run.seconds()).sum();
    let mut text = format!("{} cells, {done} of {wanted} runs. ", study.cells.len());
    let found: Vec<Agreement> =
        study.cells.iter().filter_map(|cell| study.agreement(cell, columns)).collect();
    if !found.is_empty() {
        let count = |wanted| found.iter().filter(|agreement| **agreement == wanted).count();
        text += &format!(
            "Of {} cells with a number to compare with, {} agree, {} differ, {} were not run. ",
            found.len(),
            count(Agreement::Agrees),
            count(Agreement::Differs),
            count(Agreement::NotRun)
        );
    }
    if done > 0 {
        text += &format!("{} in all, {} per run.", duration(seconds), duration(seconds / done as f64));
    }
    text
}

/// Seconds as people say them.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        short if short < 10.0 => format!("{short:.2} s"),
        short if short < 120.0 => format!("{short:.0} s"),
        middle if middle < 7200.0 => format!("{:.1} min", middle / 60.0),
        long => format!("{:.1} h", long / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_fits() {
        let said = [1.234, 45.0, 600.0, 9000.0].map(duration);
        assert_eq!(said, ["1.23 s", "45 s", "10.0 min", "2.5 h"]);
    }
}
