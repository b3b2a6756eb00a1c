//! What happens as liars pass the tolerance: a map of the true number of Byzantine workers against the tolerance, one for every
//! combination of the other axes.
//!
//! A frame holds the cells for which the rule promises something; a line stands where n = 2f.

use super::{
    Drawing, Medium,
    heat_map::{Field, Line},
    trace::named,
};
use crate::{
    defense::Defense,
    error::{Error, Result},
    experiment::Config,
    report::{Measure, Study},
    theory::{Counts, Definition},
};

pub(super) fn draw(study: &Study, measure: Measure, medium: Medium) -> Result<Vec<Drawing>> {
    let axis = |wanted: &str| study.axes.iter().position(|axis| axis == wanted);
    let (Some(byzantine), Some(tolerance)) = (axis("byzantine"), axis("tolerance")) else {
        let axes = study.axes.join(", ");
        return Err(Error::Usage(format!(
            "report.figures: a breakdown needs the axes byzantine and tolerance, and there are {axes}"
        )));
    };
    let others: Vec<usize> = (0..study.axes.len()).filter(|k| ![byzantine, tolerance].contains(k)).collect();
    let mut combinations: Vec<Vec<&String>> = Vec::new();
    for cell in &study.cells {
        let labels: Vec<&String> = others.iter().map(|&axis| &cell.labels[axis]).collect();
        if !combinations.contains(&labels) {
            combinations.push(labels);
        }
    }
    let drawing = |labels: Vec<&String>| {
        let fixed: Vec<(usize, String)> = others.iter().copied().zip(labels.into_iter().cloned()).collect();
        let field = Field::of(study, measure, [tolerance, byzantine], &fixed).by_number();
        let workers = field.workers().unwrap_or(0);
        let names: Vec<String> = fixed.iter().map(|(axis, label)| named(&study.axes[*axis], label)).collect();
        let of = if names.is_empty() { String::new() } else { format!("{}: ", names.join(" · ")) };
        let title = format!("{of}final {} as liars pass the tolerance", field.name);
        let lines = lines(&field, workers);
        let mut note = "mean ± standard deviation; brighter is better; framed: promised".to_string();
        if lines.iter().any(|line| line.dashed) {
            note += "; dashed: n = 2f";
        }
        let svg = field.map(&title, &note, medium, &lines);
        let parts: Vec<&str> =
            ["breakdown"].into_iter().chain(fixed.iter().map(|(_, l)| l.as_str())).collect();
        Drawing { name: parts.join("-"), title, note, svg, legend: Vec::new(), cell: None }
    };
    Ok(combinations.into_iter().map(drawing).collect())
}

/// The frame about what the rule promises, and where n = 2f; in cells from the upper left corner.
fn lines(field: &Field<'_>, workers: usize) -> Vec<Line> {
    let promised = |row: Option<usize>, column: Option<usize>| match (row, column) {
        (Some(row), Some(column)) => field.run(row, column).is_some_and(|run| promises(&run.config)),
        _ => false,
    };
    let (rows, columns) = (field.rows.len(), field.columns.len());
    let mut lines = Vec::new();
    for row in 0..=rows {
        for column in 0..=columns {
            let (x, y) = (column as f64, row as f64);
            let here = promised(Some(row), Some(column));
            if here != promised(Some(row), column.checked_sub(1)) {
                lines.push(Line { from: (x, y), to: (x, y + 1.0), dashed: false });
            }
            if here != promised(row.checked_sub(1), Some(column)) {
                lines.push(Line { from: (x, y), to: (x + 1.0, y), dashed: false });
            }
        }
    }
    // Between the counts below n/2 and those from it on.
    let below = |label: &&String| label.parse::<usize>().is_ok_and(|liars| liars.saturating_mul(2) < workers);
    let edge = field.columns.iter().filter(below).count();
    if (1..columns).contains(&edge) {
        let (x, bottom) = (edge as f64, rows as f64);
        lines.push(Line { from: (x, 0.0), to: (x, bottom), dashed: true });
    }
    lines
}

/// Whether the defence promises something for these counts, and no more lie than it expects.
fn promises(config: &Config) -> bool {
    let Ok(defense) = Defense::new(&config.defense, config.tolerance) else { return false };
    let counts = Counts {
        messages: config.workers,
        tolerance: config.tolerance,
        // Whether there is a constant does not depend on the dimension.
        dimension: 1,
        definition: Definition::Squared,
        leverage: None,
    };
    config.byzantine <= config.tolerance
        && defense.check_counts(config.workers, config.tolerance).is_ok_and(|warnings| warnings.is_empty())
        && defense.robustness(&counts).unbounded.is_none()
}
