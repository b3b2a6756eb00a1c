//! Curves in a terminal: letters on a grid of 80 columns, the height logarithmic.

/// One curve; its first letter draws it.
pub(super) struct Curve {
    pub(super) label: String,
    /// Rounds and values.
    pub(super) points: Vec<(f64, f64)>,
}

pub(super) struct Chart {
    pub(super) title: String,
    pub(super) curves: Vec<Curve>,
}

const COLUMNS: usize = 68;
const ROWS: usize = 16;

impl Chart {
    pub(super) fn draw(&self) -> String {
        let reduced: Vec<Vec<Option<f64>>> = self.curves.iter().map(|curve| self.columns(curve)).collect();
        let (low, high) = decades(reduced.iter().flatten().flatten());
        let row = |height: f64| {
            let share = (high as f64 - height) / f64::from(high - low);
            ((share * (ROWS - 1) as f64).round() as usize).min(ROWS - 1)
        };
        let mut grid = [[' '; COLUMNS]; ROWS];
        for (curve, columns) in self.curves.iter().zip(&reduced) {
            let letter = curve.label.chars().next().unwrap_or('*');
            for (column, height) in columns.iter().enumerate() {
                if let Some(height) = height {
                    grid[row(*height)][column] = letter;
                }
            }
        }
        let labels: Vec<(usize, i32)> = (low..=high).map(|decade| (row(f64::from(decade)), decade)).collect();
        let mut out = format!("{}\n", self.title);
        for (index, line) in grid.iter().enumerate() {
            let label = labels.iter().find(|(row, _)| *row == index).map(|(_, decade)| format!("1e{decade}"));
            let line: String = line.iter().collect();
            out += &format!("{:>6} ┤{}", label.unwrap_or_default(), line.trim_end());
            out = out.trim_end().to_string() + "\n";
        }
        let last = self.last_round();
        out += &format!("{:>6} └{}\n", "", "─".repeat(COLUMNS));
        out += &format!("{:>8}0{:>width$}\n", "", format!("round {last}"), width = COLUMNS - 1);
        let names: Vec<String> = self
            .curves
            .iter()
            .map(|curve| format!("{} {}", curve.label.chars().next().unwrap_or('*'), curve.label))
            .collect();
        out + &format!("{:>8}{}\n", "", names.join("   "))
    }

    fn last_round(&self) -> f64 {
        self.curves.iter().flat_map(|curve| &curve.points).map(|(round, _)| *round).fold(1.0, f64::max)
    }

    /// The mean of the logarithms of the values in each column.
    fn columns(&self, curve: &Curve) -> Vec<Option<f64>> {
        let mut sums = [(0.0, 0u32); COLUMNS];
        let last = self.last_round();
        for &(round, value) in curve.points.iter().filter(|(_, value)| value.is_finite() && *value > 0.0) {
            let column = ((round / last * COLUMNS as f64) as usize).min(COLUMNS - 1);
            sums[column].0 += value.log10();
            sums[column].1 += 1;
        }
        sums.iter().map(|&(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
    }
}

/// Whole decades around the values.
fn decades<'a>(heights: impl Iterator<Item = &'a f64>) -> (i32, i32) {
    let (low, high) =
        heights.fold((f64::MAX, f64::MIN), |(low, high), &height| (low.min(height), high.max(height)));
    if low > high {
        return (0, 1);
    }
    let (low, high) = (low.floor() as i32, high.ceil() as i32);
    (low, high.max(low + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_falling_curve_goes_from_the_top_left_to_the_bottom_right_within_80_columns() {
        let points = (0..=600).map(|round| (f64::from(round), 10f64.powf(2.0 - f64::from(round) / 150.0)));
        let chart = Chart {
            title: "a curve".into(),
            curves: vec![Curve { label: "Ours".into(), points: points.collect() }],
        };
        let lines: Vec<String> = chart.draw().lines().map(String::from).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
        assert!(lines[1].starts_with("   1e2 ┤OO"), "{lines:#?}");
        assert!(lines[ROWS].starts_with("  1e-2 ┤ ") && lines[ROWS].ends_with("OO"), "{lines:#?}");
        assert!(lines[ROWS + 2].ends_with("round 600"));
    }

    #[test]
    fn nothing_to_draw_is_no_panic() {
        let curves = vec![Curve { label: String::new(), points: vec![(1.0, f64::NAN), (2.0, 0.0)] }];
        assert!(Chart { title: String::new(), curves }.draw().contains("round 2"));
    }
}
