//! A curve in its panel: a line in its band, or points with error bars.

use super::{Panel, Place};
use crate::report::figure::{
    axis::Kind,
    number::short,
    palette::{ink, pen},
    series::{Sample, Series, Style},
    svg::{Svg, escape, px},
};

impl Panel {
    pub(super) fn curve(&self, svg: &mut Svg, place: Place, series: &Series, numbers: bool) {
        let mut attributes = format!("class=\"series\" data-series=\"{}\"", series.index);
        if numbers {
            let values: Vec<String> = series.points.iter().map(|point| self.numbers(point)).collect();
            attributes +=
                &format!(" data-label=\"{}\" data-v=\"{}\"", escape(&series.label), values.join(";"));
        }
        svg.group(attributes, |svg| {
            let (class, colour) = ink(series.index);
            if let Some(band) = self.band(place, &series.points).filter(|_| series.style == Style::Band) {
                svg.element(format_args!(
                    "<path class=\"f{class}\" d=\"{band}\" fill=\"{colour}\" fill-opacity=\"0.18\"/>"
                ));
            }
            if series.style != Style::Dots {
                let line = self.line(place, &series.points);
                let pen = pen(series.index, 1.7);
                svg.element(format_args!("<path d=\"{line}\" stroke-linejoin=\"round\" {pen}/>"));
            }
            for point in series.points.iter().filter(|_| series.style != Style::Band) {
                self.mark(svg, place, point, (class, colour));
            }
        });
    }

    /// A point with its error bar.
    fn mark(&self, svg: &mut Svg, place: Place, point: &Sample, (class, colour): (usize, &str)) {
        let Some((x, y)) = self.at(place, point.x, point.mean) else { return };
        if point.std > 0.0 {
            let end = |value| self.at(place, point.x, value).map_or(place.top + place.height, |(_, y)| y);
            let (low, high) = (end(point.mean - point.std), end(point.mean + point.std));
            svg.element(format_args!(
                "<path class=\"c{class}\" d=\"M{} {}V{}\" stroke=\"{colour}\" fill=\"none\"/>",
                px(x),
                px(low),
                px(high)
            ));
        }
        svg.element(format_args!(
            "<circle class=\"f{class}\" cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{colour}\"/>",
            px(x),
            px(y)
        ));
    }

    fn at(&self, place: Place, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, y) = (self.x.place(x)?, self.y.place(y)?);
        Some((place.left + x * place.width, place.top + (1.0 - y) * place.height))
    }

    /// Broken where a value has no place.
    fn line(&self, place: Place, points: &[Sample]) -> String {
        let (mut path, mut step) = (String::new(), 'M');
        for point in points {
            match self.at(place, point.x, point.mean) {
                Some((x, y)) => {
                    path += &format!("{step}{} {}", px(x), px(y));
                    step = 'L';
                }
                None => step = 'M',
            }
        }
        path
    }

    /// One deviation to either side; down to the axis where that has no place.
    fn band(&self, place: Place, points: &[Sample]) -> Option<String> {
        let (mut upper, mut lower) = (Vec::new(), Vec::new());
        for point in points {
            let Some((x, y)) = self.at(place, point.x, point.mean) else { continue };
            let edge = |value, beyond| self.at(place, point.x, value).map_or(beyond, |(_, y)| y);
            upper.push(format!("{} {}", px(x), px(edge(point.mean + point.std, y))));
            lower.push(format!("{} {}", px(x), px(edge(point.mean - point.std, place.top + place.height))));
        }
        let flat = points.iter().all(|point| point.std == 0.0);
        lower.reverse();
        (upper.len() > 1 && !flat).then(|| format!("M{}L{}Z", upper.join("L"), lower.join("L")))
    }

    /// A point for the page: where it is, what that is called, mean and deviation.
    fn numbers(&self, point: &Sample) -> String {
        let called = match &self.x.kind {
            Kind::Names(names) => {
                names.get(point.x as usize).map_or("", String::as_str).replace([';', ' '], "_")
            }
            _ if point.x.fract() == 0.0 => point.x.to_string(),
            _ => short(point.x),
        };
        format!("{} {} {} {}", point.x, escape(&called), short(point.mean), short(point.std))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::figure::axis::Axis;

    #[test]
    fn a_line_breaks_where_a_value_has_no_place_and_its_band_ends_at_the_axis() {
        let axis = |log, low, high| Axis::over("", log, [low, high].into_iter());
        let (x, y) = (axis(false, 0.0, 10.0), axis(true, 0.1, 10.0));
        let panel = Panel { title: String::new(), notes: Default::default(), x, y, series: vec![] };
        let place = Place { left: 0.0, top: 0.0, width: 10.0, height: 10.0 };
        let point = |x, mean, std| Sample { x, mean, std };
        let points =
            [point(0.0, 1.0, 0.0), point(1.0, 0.0, 0.0), point(2.0, 10.0, 20.0), point(3.0, 1.0, 0.0)];
        assert_eq!(panel.line(place, &points), "M0 5M2 0L3 5");
        assert_eq!(panel.band(place, &points).unwrap(), "M0 5L2 0L3 5L3 5L2 10L0 5Z");
        assert_eq!(panel.band(place, &points[..2]), None);
    }
}
