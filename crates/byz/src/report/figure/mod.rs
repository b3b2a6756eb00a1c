//! Figures of a study, as SVG that this module writes itself: curves, heat maps, who was trusted, slopes, and theory beside
//! practice.
//!
//! A plotting crate would bring a hundred options and its own looks; a few kinds of figure on one panel need neither. A
//! figure is drawn for one of two media: on paper it has its title and legend in it; on a page these are the page's, and
//! the curves carry their numbers for its reader to point at. The same records give the same bytes.

mod axis;
mod breakdown;
mod curves;
mod grid;
mod heat_map;
mod number;
mod palette;
mod panel;
mod range;
mod series;
mod slope;
mod svg;
#[cfg(test)]
mod tests;
mod theory;
mod trace;
mod trust;

pub(super) use number::short;
pub(super) use svg::escape;

use super::{Deviation, Study};
use crate::{
    error::{Error, Result},
    experiment::Presentation,
};
use palette::{ink, pen};
use series::{Series, Style};
use svg::px;
use trace::Trace;

/// A figure that stands alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What it shows, as part of a file's name.
    pub name: String,
    /// The picture.
    pub svg: String,
}

/// What a figure is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Medium {
    Paper,
    Page,
}

/// An entry of a legend.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) label: String,
    /// Its place in the palette.
    pub(super) index: usize,
    style: Style,
}

impl Key {
    fn of(series: &Series) -> Key {
        Key { label: series.label.clone(), index: series.index, style: series.style }
    }

    /// A piece of the curve as it is drawn, from a place to the right.
    pub(super) fn sample(&self, (x, y): (f64, f64), length: f64, width: f64) -> String {
        let (class, colour) = ink(self.index);
        let line = format!("<path d=\"M{} {}h{}\" {}/>", px(x), px(y), px(length), pen(self.index, width));
        let middle = px(x + length / 2.0);
        let point = format!(
            "<circle class=\"f{class}\" cx=\"{middle}\" cy=\"{}\" r=\"3\" fill=\"{colour}\"/>",
            px(y)
        );
        match self.style {
            Style::Band => line,
            Style::Marks => line + &point,
            Style::Dots => point,
        }
    }
}

/// A figure and what a page says around it.
#[derive(Clone, Debug)]
pub(super) struct Drawing {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) note: String,
    pub(super) svg: String,
    pub(super) legend: Vec<Key>,
    /// The cell, where there is a figure per cell.
    pub(super) cell: Option<String>,
}

/// The figures that the study asks for, to stand alone.
pub fn figures(study: &Study) -> Result<Vec<Figure>> {
    let drawings = drawings(study, Medium::Paper)?;
    Ok(drawings.into_iter().map(|drawing| Figure { name: drawing.name, svg: drawing.svg }).collect())
}

pub(super) fn drawings(study: &Study, medium: Medium) -> Result<Vec<Drawing>> {
    let measure = study.columns(Deviation::Population)?.measure;
    let mut drawings = Vec::new();
    if study.is_empty() {
        return Ok(drawings);
    }
    if study.cells.iter().any(|cell| cell.labels.len() != study.axes.len()) {
        return Err(Error::Usage(format!(
            "the index of {} is damaged: a cell has not one label per axis",
            study.name
        )));
    }
    // Long records are only read where a figure needs them.
    let mut traces = Vec::new();
    if study.report.figures.iter().any(|kind| !["slope", "breakdown"].contains(&kind.as_str())) {
        traces = study.cells.iter().map(|cell| Trace::read(cell, measure)).collect::<Result<Vec<_>>>()?;
    }
    for kind in &study.report.figures {
        drawings.extend(match kind.as_str() {
            "curves" => curves::draw(study, &traces, measure, medium),
            "heat_map" => heat_map::draw(study, &traces, measure, medium)?,
            "breakdown" => breakdown::draw(study, measure, medium)?,
            "trust" => trust::draw(study, &traces, medium),
            "slope" => slope::draw(study, measure, medium),
            _ => return Err(Presentation::unknown_figure(kind)),
        });
    }
    drawings.extend(theory::draw(study, medium)?);
    Ok(drawings)
}
