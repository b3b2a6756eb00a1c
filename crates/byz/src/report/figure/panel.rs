//! One panel: a frame with round numbers beside it and curves in it.
//!
//! For a page that lets its reader point at a curve, the panel says where its axis lies and every curve carries its numbers.

mod curve;

use super::{
    axis::{Axis, Kind},
    palette::pen,
    series::Series,
    svg::{Font, Svg, escape, fitting, px, width},
};

/// Curves on two axes.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    /// What is said of each curve under the title, by its place in the palette; the first word is what they are.
    pub(super) notes: (String, Vec<(usize, String)>),
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
}

/// Where a panel lies on the sheet, without its labels.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// What is drawn of a panel besides its curves.
#[derive(Clone, Copy)]
pub(super) struct Extras {
    pub(super) x_labels: bool,
    pub(super) y_labels: bool,
    /// Numbers for a page that reads them.
    pub(super) numbers: bool,
}

impl Panel {
    pub(super) fn draw(&self, svg: &mut Svg, place: Place, extras: Extras) {
        let axis = match self.x.kind {
            Kind::Log => "log",
            _ => "linear",
        };
        let mut attributes = "class=\"panel\"".to_string();
        if extras.numbers {
            attributes += &format!(
                " data-title=\"{}\" data-axis=\"{axis}\" data-name=\"{}\" data-x=\"{} {} {} {}\" data-y=\"{} {}\"",
                escape(&self.title),
                escape(&self.x.title),
                px(place.left),
                px(place.left + place.width),
                self.x.low,
                self.x.high,
                px(place.top),
                px(place.top + place.height)
            );
        }
        svg.group(attributes, |svg| {
            self.header(svg, place);
            self.frame(svg, place, extras);
            for series in &self.series {
                self.curve(svg, place, series, extras.numbers);
            }
        });
    }

    fn header(&self, svg: &mut Svg, place: Place) {
        let noted = !self.notes.1.is_empty();
        let y = place.top - if noted { 24.0 } else { 8.0 };
        svg.text(place.left, y, Font::of(13.0).bold(), &fitting(&self.title, 13.0, place.width));
        if !noted {
            return;
        }
        let (y, mut x) = (place.top - 8.0, place.left);
        svg.text(x, y, Font::of(11.0).class("soft"), &self.notes.0);
        x += width(&self.notes.0, 11.0) + 6.0;
        for (index, note) in &self.notes.1 {
            swatch(svg, *index, x, y - 4.0, 18.0);
            svg.text(x + 22.0, y, Font::of(11.0), note);
            x += 22.0 + width(note, 11.0) + 8.0;
        }
    }

    fn frame(&self, svg: &mut Svg, place: Place, extras: Extras) {
        let Place { left, top, width: w, height: h } = place;
        let font = Font::of(11.0).class("soft");
        let mut free = f64::NEG_INFINITY;
        for (value, label) in self.x.ticks((w / 62.0) as usize) {
            let Some(part) = self.x.place(value) else { continue };
            let x = left + part * w;
            svg.rule("grid", (x, top), (x, top + h));
            let label = fitting(&label, 11.0, w);
            let room = width(&label, 11.0) * 0.5;
            // Names may be longer than their share; then not all are told.
            if extras.x_labels && x - room > free {
                svg.text(x, top + h + 15.0, font.middle(), &label);
                free = x + room + 3.0;
            }
        }
        for (value, label) in self.y.ticks((h / 32.0) as usize) {
            let Some(part) = self.y.place(value) else { continue };
            let y = top + (1.0 - part) * h;
            svg.rule("grid", (left, y), (left + w, y));
            if extras.y_labels {
                svg.text(left - 6.0, y + 4.0, font.end(), &label);
            }
        }
        let corner = (left, top + h);
        svg.rule("axis", (left, top), corner);
        svg.rule("axis", corner, (left + w, top + h));
        if self.series.iter().all(|series| series.points.is_empty()) {
            svg.text(left + w / 2.0, top + h / 2.0, font.middle(), "not run");
        }
    }
}

/// A piece of a curve, for legends.
fn swatch(svg: &mut Svg, index: usize, x: f64, y: f64, width: f64) {
    svg.element(format_args!("<path d=\"M{} {}h{}\" {}/>", px(x), px(y), px(width), pen(index, 2.2)));
}
