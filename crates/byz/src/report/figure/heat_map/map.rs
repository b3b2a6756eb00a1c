//! (a): a coloured cell with its number in it for every pair of labels.

use super::{Field, Line};
use crate::report::figure::{
    Medium,
    axis::Axis,
    number::short,
    palette::heat,
    svg::{Font, Svg, escape, fitting, px, width},
};

impl Field<'_> {
    pub(in crate::report::figure) fn map(
        &self,
        title: &str,
        note: &str,
        medium: Medium,
        lines: &[Line],
    ) -> String {
        let [first, second] = self.axes.map(|axis| &self.study.axes[axis]);
        let (cell_width, cell_height) = (78.0, 40.0);
        let labels = self.rows.iter().map(|label| width(label, 12.0)).fold(0.0, f64::max);
        let left = labels.clamp(76.0, 226.0) + 34.0;
        let top = if medium == Medium::Paper { 58.0 } else { 8.0 };
        // What stands above a narrow map is not cut off.
        let above = width(title, 15.0).max(width(note, 11.0)) + 28.0;
        let least = if medium == Medium::Paper { above.clamp(560.0, 1000.0) } else { 560.0 };
        let width = (left + 20.0 + cell_width * self.columns.len() as f64).max(least);
        let height = top + cell_height * self.rows.len() as f64 + 46.0;
        let mut svg = Svg::new(width, height, title);
        if medium == Medium::Paper {
            svg.text(14.0, 24.0, Font::of(15.0).bold(), &fitting(title, 15.0, width - 28.0));
            svg.text(14.0, 42.0, Font::of(11.0).class("soft"), &fitting(note, 11.0, width - 28.0));
        }
        let scale = self.scale();
        for (row, label) in self.rows.iter().enumerate() {
            let y = top + row as f64 * cell_height;
            svg.text(left - 8.0, y + 25.0, Font::of(12.0).end(), &fitting(label, 12.0, left - 34.0));
            for (column, other) in self.columns.iter().enumerate() {
                let x = left + column as f64 * cell_width;
                let read = format!("{first} {label}, {second} {other}");
                self.cell(&mut svg, (x, y, cell_width, cell_height), (row, column), &scale, &read);
            }
        }
        let bottom = top + cell_height * self.rows.len() as f64;
        for (column, label) in self.columns.iter().enumerate() {
            let x = left + (column as f64 + 0.5) * cell_width;
            svg.text(x, bottom + 16.0, Font::of(12.0).middle(), &fitting(label, 12.0, cell_width));
        }
        let middle = left + cell_width * self.columns.len() as f64 / 2.0;
        svg.text(middle, bottom + 36.0, Font::of(12.0).middle(), second);
        svg.text(15.0, (top + bottom) / 2.0, Font::of(12.0).middle().turned(), first);
        for line in lines {
            let at =
                |(x, y): (f64, f64)| format!("{} {}", px(left + x * cell_width), px(top + y * cell_height));
            let dashes = if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
            svg.element(format_args!(
                "<path class=\"ink\" d=\"M{}L{}\" stroke=\"#1f2933\" stroke-width=\"2.5\" stroke-linecap=\"round\"{dashes}/>",
                at(line.from),
                at(line.to)
            ));
        }
        svg.finish()
    }

    /// What is to become small and spans orders of magnitude is coloured by its logarithm: one large cell would make all others alike.
    fn scale(&self) -> Axis {
        let means =
            || self.values.iter().flatten().flatten().map(|(mean, _)| *mean).filter(|mean| mean.is_finite());
        let (least, most) = means().fold((f64::INFINITY, 0.0f64), |(a, b), mean| (a.min(mean), b.max(mean)));
        let wide = !self.higher && least > 0.0 && most > 100.0 * least;
        Axis::over("", self.study.report.log || wide, means())
    }

    fn cell(&self, svg: &mut Svg, place: (f64, f64, f64, f64), at: (usize, usize), scale: &Axis, read: &str) {
        let (x, y, w, h) = place;
        let value = self.values[at.0][at.1];
        let part = value.and_then(|(mean, _)| scale.place(mean));
        let (colour, dark) = match part {
            Some(part) => heat(if self.higher { part } else { 1.0 - part }),
            None => ("#eceff2".into(), true),
        };
        let said = match value {
            Some((mean, std)) => format!("{read}: {} ± {}", short(mean), short(std)),
            None => format!("{read}: no result"),
        };
        let frame = format!(
            "x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"",
            px(x + 1.0),
            px(y + 1.0),
            px(w - 2.0),
            px(h - 2.0)
        );
        svg.element(format_args!(
            "<rect {frame} rx=\"2\" fill=\"{colour}\" data-read=\"{0}\"><title>{0}</title></rect>",
            escape(&said)
        ));
        let font = Font::of(13.0).middle().class(if dark { "dark" } else { "bright" });
        let small = Font::of(11.0).middle().class(if dark { "dark" } else { "bright" });
        match value {
            Some((mean, std)) => {
                let (mean, std) = three(mean, std);
                svg.text(x + w / 2.0, y + 18.0, font, &mean);
                svg.text(x + w / 2.0, y + 33.0, small, &std);
            }
            None => svg.text(x + w / 2.0, y + 25.0, small, "–"),
        }
    }
}

/// Three digits of a mean, and as many decimals of its deviation: they fit in a cell.
fn three(mean: f64, std: f64) -> (String, String) {
    let decimals = match mean.abs() {
        large if large >= 1e4 => return (format!("{mean:.1e}"), format!("± {std:.0e}")),
        large if large >= 100.0 => 0,
        large if large >= 10.0 => 1,
        small if small >= 0.01 || small == 0.0 => 2,
        _ => return (format!("{mean:.1e}"), format!("± {std:.0e}")),
    };
    (format!("{mean:.decimals$}"), format!("± {std:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_room_for_three_digits() {
        let cell = |mean, std| three(mean, std);
        assert_eq!(cell(86.04, 0.17), ("86.0".into(), "± 0.2".into()));
        assert_eq!(cell(121.3, 2e-12), ("121".into(), "± 0".into()));
        assert_eq!(cell(1.43e-4, 3.1e-5), ("1.4e-4".into(), "± 3e-5".into()));
    }
}
