//! Small multiples: panels in rows and columns under one legend.

use super::{
    Key, Medium,
    panel::{Extras, Panel, Place},
    svg::{Font, Svg, fitting, width},
};

/// Panels that share their axes.
pub(super) struct Grid {
    pub(super) title: String,
    /// One line under the title, on paper.
    pub(super) note: String,
    pub(super) columns: usize,
    /// Row by row.
    pub(super) panels: Vec<Panel>,
    pub(super) legend: Vec<Key>,
}

const LEFT: f64 = 70.0;
const RIGHT: f64 = 18.0;
const GAP: f64 = 28.0;

impl Grid {
    pub(super) fn draw(&self, medium: Medium) -> String {
        let columns = self.columns.max(1);
        let rows = self.panels.len().div_ceil(columns);
        let (w, h) = match columns {
            1 => (600.0, 300.0),
            2 => (380.0, 230.0),
            3 => (262.0, 178.0),
            _ => (214.0, 150.0),
        };
        let noted = self.panels.iter().any(|panel| !panel.notes.1.is_empty());
        let header = if noted { 44.0 } else { 28.0 };
        let sheet = LEFT + RIGHT + columns as f64 * w + (columns - 1) as f64 * GAP;
        let top = if medium == Medium::Paper { self.head(&mut Svg::new(sheet, 0.0, "")) } else { 4.0 };
        let height = top + rows as f64 * (h + header) + 46.0;
        let mut svg = Svg::new(sheet, height, &self.title);
        if medium == Medium::Paper {
            self.head(&mut svg);
        }
        for (index, panel) in self.panels.iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let left = LEFT + column as f64 * (w + GAP);
            let place = Place { left, top: top + header + row as f64 * (h + header), width: w, height: h };
            // The last of each column has the numbers.
            let x_labels = index + columns >= self.panels.len();
            panel.draw(
                &mut svg,
                place,
                Extras { x_labels, y_labels: column == 0, numbers: medium == Medium::Page },
            );
        }
        if let Some(panel) = self.panels.first() {
            let middle = top + (height - 46.0 - top + header) / 2.0;
            svg.text(15.0, middle, Font::of(12.0).middle().turned(), &panel.y.title);
            let center = LEFT + (sheet - LEFT - RIGHT) / 2.0;
            svg.text(center, height - 10.0, Font::of(12.0).middle(), &panel.x.title);
        }
        svg.finish()
    }

    /// Title, note and legend; gives where they end.
    fn head(&self, svg: &mut Svg) -> f64 {
        let room = svg.width() - 28.0;
        svg.text(14.0, 24.0, Font::of(15.0).bold(), &fitting(&self.title, 15.0, room));
        let mut y = 24.0;
        if !self.note.is_empty() {
            y += 18.0;
            svg.text(14.0, y, Font::of(11.0).class("soft"), &fitting(&self.note, 11.0, room));
        }
        legend(svg, &self.legend, y + 20.0) + 8.0
    }
}

/// Entries side by side, on as many lines as they need; gives where they end.
pub(super) fn legend(svg: &mut Svg, keys: &[Key], top: f64) -> f64 {
    let (mut x, mut y) = (14.0, top);
    for key in keys {
        let label = fitting(&key.label, 12.0, svg.width() - 80.0);
        let room = 36.0 + width(&label, 12.0) + 14.0;
        if x > 14.0 && x + room > svg.width() {
            (x, y) = (14.0, y + 18.0);
        }
        svg.element(format_args!("{}", key.sample((x, y - 4.0), 28.0, 2.2)));
        svg.text(x + 34.0, y, Font::of(12.0), &label);
        x += room;
    }
    y
}
