//! The results beside the published numbers.

use super::study::duration;
use crate::report::{
    Agreement, Columns, Deviation, Study, StudyCell,
    figure::{escape, short},
    mean,
};

/// One line per cell, what matters most first.
pub(super) fn results(study: &Study, columns: Columns) -> String {
    let published = !study.expected.is_empty();
    let mut heading: Vec<String> = study.axes.clone();
    heading.push(study.measure_name(columns.measure));
    if published {
        heading.extend([study.report.expected_name.clone(), "agreement".into()]);
    }
    heading.extend(columns.beside.map(|beside| study.measure_name(beside)));
    heading.extend(["learning rate", "runs", "time per run"].map(String::from));
    let lines: String = study.cells.iter().map(|cell| line(study, columns, cell, published)).collect();
    let unit = study.unit();
    let comma = if unit.is_empty() { "" } else { ", " };
    framed(&format!("Results: mean ± standard deviation over seeds{comma}{unit}"), &heading, &lines)
}

fn line(study: &Study, columns: Columns, cell: &StudyCell, published: bool) -> String {
    let label = |label: &String| format!("<th scope=\"row\">{}</th>", escape(label));
    let number = |text: &str| format!("<td class=\"number\">{}</td>", escape(text));
    let mut line: String = cell.labels.iter().map(label).collect();
    line += &number(&study.value(cell, columns.measure, columns.deviation));
    if published {
        line += &number(&study.expected(cell).map_or(String::new(), |expected| match expected.std {
            Some(std) => format!("{} ± {std}", expected.mean),
            None => expected.mean.to_string(),
        }));
        line += match study.agreement(cell, columns) {
            Some(Agreement::Agrees) => "<td class=\"agrees\">✓ agrees</td>",
            Some(Agreement::Differs) => "<td class=\"differs\">✗ differs</td>",
            Some(Agreement::NotRun) => "<td class=\"soft\">not run</td>",
            None => "<td></td>",
        };
    }
    line.extend(columns.beside.map(|beside| number(&study.value(cell, beside, columns.deviation))));
    line += &number(&cell.rate.map_or(String::new(), short));
    line += &number(&cell.counted());
    let seconds: Vec<f64> = cell.runs.iter().map(|run| run.seconds()).collect();
    line += &number(&mean(&seconds, Deviation::Population).map_or(String::new(), |(mean, _)| duration(mean)));
    format!("<tr>{line}</tr>\n")
}

/// A table that scrolls in its own box where it is too wide.
pub(super) fn framed(note: &str, heading: &[String], lines: &str) -> String {
    let heading: String =
        heading.iter().map(|name| format!("<th scope=\"col\">{}</th>", escape(name))).collect();
    format!(
        "<p class=\"note\">{0}</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\
         <thead><tr>{heading}</tr></thead>\n<tbody>\n{lines}</tbody></table></div>\n",
        escape(note)
    )
}
