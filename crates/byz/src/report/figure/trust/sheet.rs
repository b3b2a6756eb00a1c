//! The map as a drawing: a row per worker, a column per round, darker where the weight is larger.

use super::Map;
use crate::report::figure::{
    Medium,
    number::short,
    palette::WEIGHTS,
    svg::{Font, Svg, fitting, px},
};

const LEFT: f64 = 86.0;
const WIDTH: f64 = 640.0;

impl Map {
    pub(super) fn svg(&self, title: &str, note: &str, medium: Medium) -> String {
        let workers = self.weights.len();
        let row = if workers > 40 { 8.0 } else { 14.0 };
        let top = if medium == Medium::Paper { 56.0 } else { 8.0 };
        // A gap sets the Byzantine workers apart.
        let gap = if self.honest < workers { 5.0 } else { 0.0 };
        let bottom = top + workers as f64 * row + gap;
        let mut svg = Svg::new(LEFT + WIDTH + 24.0, bottom + 84.0, title);
        if medium == Medium::Paper {
            svg.text(14.0, 22.0, Font::of(14.0).bold(), &fitting(title, 14.0, LEFT + WIDTH));
            svg.text(14.0, 42.0, Font::of(11.0).class("soft"), note);
        }
        let y = |worker: usize| top + worker as f64 * row + if worker >= self.honest { gap } else { 0.0 };
        let numbers = if medium == Medium::Page { self.numbers(top, row, gap) } else { String::new() };
        svg.group(format_args!("class=\"weights\"{numbers}"), |svg| self.cells(svg, row, &y));
        self.labels(&mut svg, row, &y, bottom);
        scale(&mut svg, bottom + 62.0, self.largest);
        svg.finish()
    }

    /// One path per step of the colours: strokes as thick as a row.
    fn cells(&self, svg: &mut Svg, row: f64, y: &dyn Fn(usize) -> f64) {
        let step = WIDTH / self.rounds.len().max(1) as f64;
        let mut paths = vec![String::new(); WEIGHTS.len()];
        for (worker, weights) in self.weights.iter().enumerate() {
            let levels: Vec<usize> = weights.iter().map(|weight| level(*weight, self.largest)).collect();
            let mut start = 0;
            while start < levels.len() {
                let same = levels[start..].iter().take_while(|level| **level == levels[start]).count();
                let (x, end) = (LEFT + start as f64 * step, LEFT + (start + same) as f64 * step);
                paths[levels[start]] += &format!("M{} {}H{}", px(x), px(y(worker) + row / 2.0), px(end));
                start += same;
            }
        }
        for (level, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            svg.element(format_args!(
                "<path class=\"w{level}\" d=\"{path}\" stroke=\"{}\" stroke-width=\"{}\" fill=\"none\"/>",
                WEIGHTS[level],
                px(row - 1.0)
            ));
        }
    }

    fn labels(&self, svg: &mut Svg, row: f64, y: &dyn Fn(usize) -> f64, bottom: f64) {
        let workers = self.weights.len();
        let every = if row < 11.0 { 5 } else { 1 };
        for worker in (0..workers).filter(|worker| worker % every == 0) {
            let class = if worker >= self.honest { "byzantine" } else { "soft" };
            svg.text(
                LEFT - 8.0,
                y(worker) + row / 2.0 + 4.0,
                Font::of(11.0).end().class(class),
                &worker.to_string(),
            );
        }
        let middle = |from: usize, to: usize| (y(from) + y(to - 1) + row) / 2.0;
        if self.honest > 0 {
            svg.text(50.0, middle(0, self.honest), Font::of(12.0).middle().turned(), "honest");
        }
        if self.honest < workers {
            let (from, to) = (y(self.honest), y(workers - 1) + row);
            svg.element(format_args!(
                "<path class=\"mark\" d=\"M{0} {1}V{2}\" stroke=\"#b23c00\" stroke-width=\"3\" fill=\"none\"/>",
                px(LEFT - 3.5),
                px(from),
                px(to)
            ));
            svg.text(56.0, (from + to) / 2.0 + 4.0, Font::of(11.0).end().bold().class("byzantine"), "Byz.");
        }
        let step = WIDTH / self.rounds.len().max(1) as f64;
        let every = self.rounds.len().div_ceil(8).max(1);
        for (index, round) in self.rounds.iter().enumerate().step_by(every) {
            let x = LEFT + (index as f64 + 0.5) * step;
            svg.text(x, bottom + 15.0, Font::of(11.0).middle().class("soft"), &round.to_string());
        }
        svg.text(LEFT + WIDTH / 2.0, bottom + 34.0, Font::of(12.0).middle(), "round");
    }

    /// Thousandths, for a page that reads them.
    fn numbers(&self, top: f64, row: f64, gap: f64) -> String {
        let thousandths = |weights: &Vec<f64>| {
            weights.iter().map(|w| ((1000.0 * w).round() as i64).to_string()).collect::<Vec<_>>().join(" ")
        };
        let rows: Vec<String> = self.weights.iter().map(thousandths).collect();
        let rounds: Vec<String> = self.rounds.iter().map(u64::to_string).collect();
        format!(
            " data-place=\"{LEFT} {WIDTH} {} {} {}\" data-honest=\"{}\" data-rounds=\"{}\" data-w=\"{}\"",
            px(top),
            px(row),
            px(gap),
            self.honest,
            rounds.join(" "),
            rows.join(";")
        )
    }
}

/// Nothing has its own colour.
fn level(weight: f64, largest: f64) -> usize {
    let steps = WEIGHTS.len() - 1;
    if weight <= 1e-9 * largest {
        0
    } else {
        ((weight / largest * steps as f64).ceil() as usize).clamp(1, steps)
    }
}

fn scale(svg: &mut Svg, y: f64, largest: f64) {
    let font = Font::of(11.0).class("soft");
    svg.text(LEFT, y + 10.0, font, "weight  0");
    let start = LEFT + 66.0;
    for (level, colour) in WEIGHTS.iter().enumerate() {
        svg.element(format_args!(
            "<path class=\"w{level}\" d=\"M{} {}h18\" stroke=\"{colour}\" stroke-width=\"12\" fill=\"none\"/>",
            px(start + 18.0 * level as f64),
            px(y + 6.0)
        ));
    }
    svg.text(start + 18.0 * WEIGHTS.len() as f64 + 6.0, y + 10.0, font, &short(largest));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_no_weight_at_all_has_the_first_colour() {
        assert_eq!((level(0.0, 0.5), level(1e-6, 0.5), level(0.5, 0.5)), (0, 1, 9));
        assert_eq!(level(0.0, 0.0), 0);
    }

    #[test]
    fn equal_neighbours_become_one_stroke() {
        let map = Map {
            rounds: vec![1, 2, 3],
            weights: vec![vec![0.5, 0.5, 0.0], vec![0.5; 3]],
            honest: 1,
            largest: 0.5,
        };
        let svg = map.svg("t", "n", Medium::Page);
        let largest = svg.split("class=\"w9\"").nth(1).and_then(|rest| rest.split("/>").next()).unwrap();
        assert_eq!(largest.matches('M').count(), 2, "{largest}");
        assert!(svg.contains("Byz.") && svg.contains("data-w=\"500 500 0;500 500 500\""), "{svg}");
        assert_eq!(map.byzantine(), (0.6, 0.5));
    }
}
