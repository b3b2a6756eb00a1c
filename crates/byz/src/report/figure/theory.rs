//! A run beside what the theorem says of it: smoothness, realised robustness, the floor, and what other tolerances would cost.
//!
//! Drawn of the first run of each cell that looked at the constants (`[diagnostics]`).

use super::{
    Drawing, Key, Medium,
    axis::Axis,
    grid::Grid,
    number::short,
    panel::Panel,
    range::ends,
    series::{Sample, Series, Style, thin},
    trace::name,
};
use crate::{
    defense::Defense,
    diagnostics::Estimates,
    error::Result,
    report::{Deviation, Point, Run, Study, mean},
    theory::{Constants, Counts, Definition},
};

/// On more cells than this nobody would look.
const MOST_CELLS: usize = 4;
const MOST_POINTS: usize = 200;

pub(super) fn draw(study: &Study, medium: Medium) -> Result<Vec<Drawing>> {
    let mut drawings = Vec::new();
    let mut cells = 0;
    for cell in &study.cells {
        let Some(run) = cell.runs.first().filter(|run| run.config.diagnostics.is_some()) else { continue };
        let points = run.points()?;
        let looks: Vec<(u64, Estimates)> = points
            .iter()
            .filter_map(|point| Some((point.round, point.training.as_ref()?.estimates.clone()?)))
            .collect();
        if looks.is_empty() || cells == MOST_CELLS {
            continue;
        }
        cells += 1;
        let of =
            if cell.labels.is_empty() { String::new() } else { format!(": {}", name(study, &cell.labels)) };
        let sheets =
            [smoothness(&looks), robustness(run, &looks)?, floor(run, &points, &looks)?, advice(run, &looks)];
        for sheet in sheets.into_iter().flatten() {
            drawings.push(sheet.drawing(&of, cells, medium));
        }
    }
    Ok(drawings)
}

/// One figure of one panel.
struct Sheet {
    name: &'static str,
    title: &'static str,
    note: String,
    axes: [&'static str; 2],
    log: [bool; 2],
    series: Vec<Series>,
}

impl Sheet {
    fn drawing(self, of: &str, cell: usize, medium: Medium) -> Drawing {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Axis::over(self.axes[0], self.log[0], points().map(|p| p.x)).padded();
        let y = Axis::over(self.axes[1], self.log[1], points().flat_map(|p| ends(p, self.log[1]))).padded();
        let legend = self.series.iter().map(Key::of).collect();
        let (title, note) = (format!("{}{of}", self.title), self.note);
        let panel = Panel { title: String::new(), notes: Default::default(), x, y, series: self.series };
        let grid = Grid { title: title.clone(), note: note.clone(), columns: 1, panels: vec![panel], legend };
        let svg = grid.draw(medium);
        let name = if cell == 1 { self.name.to_string() } else { format!("{}-{cell}", self.name) };
        Drawing { name, title, note, svg, legend: grid.legend, cell: None }
    }
}

fn series(index: usize, label: String, style: Style, points: Vec<Sample>) -> Series {
    Series { label, index, style, points }
}

fn at(x: f64, mean: f64) -> Sample {
    Sample { x, mean, std: 0.0 }
}

/// A level line over the rounds.
fn level(index: usize, label: String, looks: &[(u64, Estimates)], value: f64) -> Series {
    let ends = [looks[0].0, looks[looks.len() - 1].0].map(|round| at(round as f64, value));
    series(index, label, Style::Band, ends.to_vec())
}

fn smoothness(looks: &[(u64, Estimates)]) -> Option<Sheet> {
    let seen: Vec<Sample> =
        looks.iter().filter_map(|(_, look)| Some(at(look.gradient_norm, look.smoothness?))).collect();
    let [l0, l1] = looks.last()?.1.envelope?;
    let lowest = seen.iter().map(|p| p.x).fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
    let highest = seen.iter().map(|p| p.x).fold(0.0, f64::max);
    // Straight lines are curves on logarithmic axes.
    let along = (0..=40).map(|k| lowest * (highest / lowest).powf(f64::from(k) / 40.0));
    let line = along.map(|x| at(x, l0 + l1 * x)).collect();
    Some(Sheet {
        name: "theory-smoothness",
        title: "Local smoothness against gradient length",
        note: "one point per look, on one batch; the line is the lowest above all points".into(),
        axes: ["gradient length", "local smoothness"],
        log: [true, true],
        series: vec![
            series(0, "measured".into(), Style::Dots, seen),
            series(1, format!("L₀ + L₁·length, L₀ = {}, L₁ = {}", short(l0), short(l1)), Style::Band, line),
        ],
    })
}

/// What is known of the run's defence, with the leverage that was seen.
fn constants(run: &Run, looks: &[(u64, Estimates)]) -> Result<(Constants, Counts)> {
    let counts = Counts {
        messages: run.config.workers,
        tolerance: run.config.tolerance,
        dimension: 1,
        definition: Definition::Linear,
        leverage: looks.iter().filter_map(|(_, look)| look.leverage).reduce(f64::max),
    };
    let constants = match run.config.byzantine <= run.config.tolerance {
        true => Defense::new(&run.config.defense, run.config.tolerance)?.robustness(&counts),
        // More lie than were expected: nothing is promised.
        false => Constants::UNKNOWN,
    };
    Ok((constants, counts))
}

fn robustness(run: &Run, looks: &[(u64, Estimates)]) -> Result<Option<Sheet>> {
    let seen: Vec<Sample> =
        looks.iter().filter_map(|(round, look)| Some(at(*round as f64, look.kappa_linear?))).collect();
    if seen.is_empty() {
        return Ok(None);
    }
    let (constants, counts) = constants(run, looks)?;
    let leverage = counts.leverage.map_or(String::new(), |c| format!("; leverage C up to {}", short(c)));
    let beyond =
        if run.config.byzantine > run.config.tolerance { "; more lie than the tolerance" } else { "" };
    let mut all = vec![series(0, "realised κ".into(), Style::Band, thin(&seen, MOST_POINTS, true))];
    all.extend(constants.proved.map(|k| level(1, format!("proved {}", short(k)), looks, k)));
    if let Some(least) = counts.least_possible().filter(|&least| least > 0.0) {
        all.push(level(2, format!("no rule is below {} in the worst case", short(least)), looks, least));
    }
    Ok(Some(Sheet {
        name: "theory-kappa",
        title: "Realised robustness",
        note: format!("error of the aggregate in mean distances of the honest messages{leverage}{beyond}"),
        axes: ["round", "κ, linear"],
        log: [false, true],
        series: all,
    }))
}

fn floor(run: &Run, points: &[Point], looks: &[(u64, Estimates)]) -> Result<Option<Sheet>> {
    let known = |point: &Point| Some(at(point.round as f64, point.evaluation.as_ref()?.gradient_norm?));
    let mut lengths: Vec<Sample> = points.iter().filter_map(known).collect();
    let mut label = "‖∇f‖";
    if lengths.is_empty() {
        lengths = looks.iter().map(|(round, look)| at(*round as f64, look.gradient_norm)).collect();
        label = "‖∇f‖ on the looks' batches";
    }
    let average = |of: &dyn Fn(&Estimates) -> f64| {
        (looks.iter().map(|(_, look)| of(look)).sum::<f64>() / looks.len() as f64).max(0.0).sqrt()
    };
    let (zeta, sigma) = (average(&|look| look.zeta_squared), average(&|look| look.sigma_squared));
    let mut all = vec![series(0, label.into(), Style::Band, thin(&lengths, MOST_POINTS, true))];
    if let Some(kappa) = constants(run, looks)?.0.proved.filter(|_| zeta > 0.0) {
        let floor = 2.0 * kappa * zeta;
        all.push(level(1, format!("floor of the bound, 2κζ = {}", short(floor)), looks, floor));
    }
    let start = looks[0].1.initial_momentum_error.map_or(String::new(), |v| format!(", V₀ {}", short(v)));
    Ok(Some(Sheet {
        name: "theory-floor",
        title: "Gradient length and the floor of the bound",
        note: format!("estimated: ζ {}, σ {}{start}", short(zeta), short(sigma)),
        axes: ["round", "gradient length"],
        log: [false, true],
        series: all,
    }))
}

fn advice(run: &Run, looks: &[(u64, Estimates)]) -> Option<Sheet> {
    let tried: std::collections::BTreeSet<usize> =
        looks.iter().flat_map(|(_, look)| look.tolerances.iter().map(|(tolerance, _)| *tolerance)).collect();
    let cost = |tolerance: usize| {
        let of =
            |look: &Estimates| look.tolerances.iter().find(|(t, _)| *t == tolerance).map(|(_, cost)| *cost);
        let costs: Vec<f64> = looks.iter().filter_map(|(_, look)| of(look)).collect();
        let (mean, std) = mean(&costs, Deviation::Population)?;
        Some(Sample { x: tolerance as f64, mean, std })
    };
    let costs: Vec<Sample> = tried.into_iter().filter_map(cost).collect();
    let least = *costs.iter().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
    let chosen = costs.iter().find(|sample| sample.x == run.config.tolerance as f64).copied();
    let mut note = format!("mean over the looks; least with {}: {}", least.x, short(least.mean));
    if let Some(chosen) = chosen {
        note += &format!("; chosen {}: {}", chosen.x, short(chosen.mean));
    }
    note += &format!("; truly {} Byzantine", run.config.byzantine);
    let mut all = vec![series(0, "error with this tolerance".into(), Style::Marks, costs)];
    all.extend(chosen.map(|chosen| series(1, "chosen".into(), Style::Marks, vec![chosen])));
    Some(Sheet {
        name: "theory-tolerance",
        title: "What another tolerance would have cost",
        note,
        axes: ["tolerance", "κ, linear"],
        log: [false, true],
        series: all,
    })
}
