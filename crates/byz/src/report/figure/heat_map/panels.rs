//! (b) and (c): the same cells as curves.

use super::Field;
use crate::report::figure::{
    Key,
    axis::Axis,
    grid::Grid,
    panel::Panel,
    range::share_axes,
    series::{Sample, Series, Style, over_seeds, thin},
    trace::{Trace, axis_name, named},
};

impl Field<'_> {
    /// Each row's curve in its best column.
    pub(super) fn best_curves(&self, traces: &[Trace]) -> Grid {
        let (log, unit) =
            (self.study.report.log, if self.study.report.log { 1.0 } else { self.study.report.unit });
        let (mut series, mut legend) = (Vec::new(), Vec::new());
        for (row, label) in self.rows.iter().enumerate() {
            let Some(column) = self.best(row) else { continue };
            let found = self
                .study
                .cells
                .iter()
                .position(|cell| cell.labels == [label.as_str(), &self.columns[column]]);
            let curves = found.map_or(&[][..], |cell| &traces[cell].curves);
            let mut points = thin(&over_seeds(curves), 200, log);
            points
                .iter_mut()
                .for_each(|point| (point.mean, point.std) = (point.mean / unit, point.std / unit));
            let label = format!("{label} ({} {})", self.study.axes[1], self.columns[column]);
            legend.push(Key { label: label.clone(), index: row, style: Style::Band });
            series.push(Series { label, index: row, style: Style::Band, points });
        }
        let (first, second) = (&self.study.axes[0], &self.study.axes[1]);
        let name = axis_name(self.study, self.measure, unit);
        let mut panels = vec![panel(series)];
        let beyond = share_axes(&mut panels, &name, log);
        let title = format!("(b) {name} by round, each {first} at its best {second}");
        Grid {
            title,
            note: format!("mean over seeds, band ± 1 standard deviation{beyond}"),
            columns: 1,
            panels,
            legend,
        }
    }

    /// Each column along the rows.
    pub(super) fn along(&self) -> Grid {
        let (mut series, mut legend) = (Vec::new(), Vec::new());
        for (index, label) in self.columns.iter().enumerate() {
            let point =
                |row: usize| self.values[row][index].map(|(mean, std)| Sample { x: row as f64, mean, std });
            let points = (0..self.rows.len()).filter_map(point).collect();
            let label = named(&self.study.axes[1], label);
            legend.push(Key { label: label.clone(), index, style: Style::Marks });
            series.push(Series { label, index, style: Style::Marks, points });
        }
        let (first, second) = (&self.study.axes[0], &self.study.axes[1]);
        let mut panels = vec![panel(series)];
        let beyond = share_axes(&mut panels, &self.name, self.study.report.log);
        panels[0].x = Axis::names(first, self.rows.clone());
        let title = format!("(c) final {} against {first}, for each {second}", self.name);
        Grid {
            title,
            note: format!("mean over seeds, bars ± 1 standard deviation{beyond}"),
            columns: 1,
            panels,
            legend,
        }
    }
}

fn panel(series: Vec<Series>) -> Panel {
    let axis = || Axis::over("", false, std::iter::empty());
    Panel { title: String::new(), notes: Default::default(), x: axis(), y: axis(), series }
}
