//! Two axes: (a) the final measure of every cell, (b) curves of each label of the first axis at its best label of the second,
//! (c) the final measure along the first axis.

mod map;
mod panels;

use super::{
    Drawing, Medium,
    trace::{Trace, axis_name, higher_is_better},
};
use crate::{
    error::{Error, Result},
    report::{Deviation, Measure, Run, Study, StudyCell, mean},
};

/// The study as rows and columns, with every cell's mean and deviation.
pub(super) struct Field<'a> {
    study: &'a Study,
    measure: Measure,
    /// The axis of the rows and that of the columns.
    axes: [usize; 2],
    pub(super) rows: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) name: String,
    higher: bool,
    values: Vec<Vec<Option<(f64, f64)>>>,
    /// Those that are shown.
    cells: Vec<&'a StudyCell>,
}

/// A line over a map, in cells from its upper left corner.
pub(super) struct Line {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
    pub(super) dashed: bool,
}

pub(super) fn draw(
    study: &Study,
    traces: &[Trace],
    measure: Measure,
    medium: Medium,
) -> Result<Vec<Drawing>> {
    if study.axes.len() != 2 {
        let axes = study.axes.len();
        return Err(Error::Usage(format!("report.figures: a heat_map needs two axes, and there are {axes}")));
    }
    let field = Field::of(study, measure, [0, 1], &[]);
    let drawing = |name: &str, title: String, note: &str, svg, legend| Drawing {
        name: name.into(),
        title,
        note: note.into(),
        svg,
        legend,
        cell: None,
    };
    let (first, second) = (&study.axes[0], &study.axes[1]);
    let map = (
        format!("(a) final {} by {first} and {second}", field.name),
        "mean ± standard deviation; brighter is better",
    );
    let best = field.best_curves(traces);
    let along = field.along();
    Ok(vec![
        drawing("heat_map", map.0.clone(), map.1, field.map(&map.0, map.1, medium, &[]), Vec::new()),
        drawing("heat_map_curves", best.title.clone(), &best.note, best.draw(medium), best.legend.clone()),
        drawing(
            "heat_map_profile",
            along.title.clone(),
            &along.note,
            along.draw(medium),
            along.legend.clone(),
        ),
    ])
}

impl<'a> Field<'a> {
    /// The cells that have these labels on the axes that are fixed.
    pub(super) fn of(
        study: &'a Study,
        measure: Measure,
        axes: [usize; 2],
        fixed: &[(usize, String)],
    ) -> Field<'a> {
        let cells: Vec<&StudyCell> = (study.cells.iter())
            .filter(|cell| fixed.iter().all(|(axis, label)| cell.labels[*axis] == *label))
            .collect();
        let labels = |axis: usize| {
            let mut labels: Vec<String> = Vec::new();
            for cell in &cells {
                if !labels.contains(&cell.labels[axis]) {
                    labels.push(cell.labels[axis].clone());
                }
            }
            labels
        };
        let (rows, columns) = (labels(axes[0]), labels(axes[1]));
        let value = |cell: &StudyCell| {
            let values: Vec<f64> =
                cell.values(measure).iter().map(|value| value / study.report.unit).collect();
            mean(&values, Deviation::Population)
        };
        let find = |row: &String, column: &String| {
            let mut found = cells.iter();
            found
                .find(|cell| cell.labels[axes[0]] == *row && cell.labels[axes[1]] == *column)
                .copied()
                .and_then(value)
        };
        let values =
            rows.iter().map(|row| columns.iter().map(|column| find(row, column)).collect()).collect();
        let name = axis_name(study, measure, study.report.unit);
        Field {
            study,
            measure,
            axes,
            rows,
            columns,
            name,
            higher: higher_is_better(study, measure),
            values,
            cells,
        }
    }

    /// With rows and columns in the order of their numbers.
    pub(super) fn by_number(mut self) -> Field<'a> {
        let order = |labels: &[String]| {
            let mut order: Vec<usize> = (0..labels.len()).collect();
            order.sort_by_key(|&k| labels[k].parse::<u64>().unwrap_or(u64::MAX));
            order
        };
        let (rows, columns) = (order(&self.rows), order(&self.columns));
        self.values = rows.iter().map(|&r| columns.iter().map(|&c| self.values[r][c]).collect()).collect();
        self.rows = rows.iter().map(|&r| self.rows[r].clone()).collect();
        self.columns = columns.iter().map(|&c| self.columns[c].clone()).collect();
        self
    }

    /// The first run of a cell.
    pub(super) fn run(&self, row: usize, column: usize) -> Option<&Run> {
        let (row, column) = (self.rows.get(row)?, self.columns.get(column)?);
        let [first, second] = self.axes;
        let fits = |cell: &&&StudyCell| cell.labels[first] == *row && cell.labels[second] == *column;
        self.cells.iter().find(fits)?.runs.first()
    }

    /// All workers of the runs that are shown.
    pub(super) fn workers(&self) -> Option<usize> {
        self.cells.iter().find_map(|cell| cell.runs.first()).map(|run| run.config.workers)
    }

    /// The column of a row's best mean.
    fn best(&self, row: usize) -> Option<usize> {
        let means =
            self.values[row].iter().enumerate().filter_map(|(k, value)| value.map(|(mean, _)| (k, mean)));
        let sign = if self.higher { -1.0 } else { 1.0 };
        means.min_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1))).map(|(k, _)| k)
    }
}
