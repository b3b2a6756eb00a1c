//! An axis: where a value lies on it, and the round numbers that are printed beside it.

use super::number::{power_of_ten, short};

/// A direction of a panel.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) title: String,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) kind: Kind,
}

/// How values are spread.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Linear,
    Log,
    /// Names at 0, 1, 2, …
    Names(Vec<String>),
}

impl Axis {
    /// Covers the values; those that have no place on it are left out.
    pub(super) fn over(title: &str, log: bool, values: impl Iterator<Item = f64>) -> Axis {
        let kind = if log { Kind::Log } else { Kind::Linear };
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite() && (!log || *value > 0.0)) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = if log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        if low == high {
            let wider = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
            (low, high) = if log { (low / 2.0, high * 2.0) } else { (low - wider, high + wider) };
        }
        Axis { title: title.into(), low, high, kind }
    }

    pub(super) fn names(title: &str, names: Vec<String>) -> Axis {
        let high = names.len() as f64 - 0.5;
        Axis { title: title.into(), low: -0.5, high, kind: Kind::Names(names) }
    }

    /// With some air at both ends.
    pub(super) fn padded(mut self) -> Axis {
        if self.kind == Kind::Log {
            let air = (self.high / self.low).powf(0.04);
            (self.low, self.high) = (self.low / air, self.high * air);
        } else {
            let air = 0.04 * (self.high - self.low);
            (self.low, self.high) = (self.low - air, self.high + air);
        }
        self
    }

    /// From 0 to 1, values beyond the ends at the ends; none for what has no place.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        let part = match self.kind {
            Kind::Log if value <= 0.0 => return None,
            Kind::Log => (value / self.low).ln() / (self.high / self.low).ln(),
            _ => (value - self.low) / (self.high - self.low),
        };
        part.is_finite().then(|| part.clamp(0.0, 1.0))
    }

    /// About `most` values with their labels.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        match &self.kind {
            Kind::Names(names) => {
                names.iter().enumerate().map(|(k, name)| (k as f64, name.clone())).collect()
            }
            Kind::Log => self.decades(most),
            Kind::Linear => self.steps(most),
        }
    }

    fn decades(&self, most: usize) -> Vec<(f64, String)> {
        let (first, last) = (self.low.log10().ceil() as i32, self.high.log10().floor() as i32);
        if last - first < 2 {
            return self.parts_of_decades(first - 1, last).unwrap_or_else(|| self.steps(most));
        }
        let stride = (1..).find(|stride| (last - first) / stride < most as i32).unwrap_or(1);
        // Counted from 10⁰, so that panels of different ranges agree.
        let exponents = (first..=last).filter(|exponent| exponent % stride == 0);
        exponents.map(|exponent| (10f64.powi(exponent), power_of_ten(exponent))).collect()
    }

    /// 1, 2 and 5 times the powers of ten; none if these are too few.
    fn parts_of_decades(&self, first: i32, last: i32) -> Option<Vec<(f64, String)>> {
        let parts = |exponent| [1.0, 2.0, 5.0].map(|factor| factor * 10f64.powi(exponent));
        let within = |value: &f64| (self.low..=self.high).contains(value);
        let values = (first..=last).flat_map(parts).filter(within);
        let ticks: Vec<(f64, String)> = values.map(|value| (value, short(value))).collect();
        (ticks.len() > 2).then_some(ticks)
    }

    fn steps(&self, most: usize) -> Vec<(f64, String)> {
        let rough = (self.high - self.low) / most.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        // A range of 0.08 is a little more than that once it is subtracted.
        let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= 0.999 * rough);
        let step = factor.unwrap_or(10.0) * power;
        let (first, last) =
            ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        (first..=last).map(|k| (k as f64 * step, label(k as f64 * step, step))).collect()
    }
}

fn label(value: f64, step: f64) -> String {
    match value.abs() {
        large if large >= 1e6 && step >= 1e5 => format!("{}M", short(value / 1e6)),
        large if large >= 1e4 && step >= 1e3 => format!("{}k", short(value / 1e3)),
        small if step < 1e-4 && small > 0.0 => short(value),
        _ => {
            let decimals = (-(step * 1.000_001).log10().floor()).clamp(0.0, 6.0) as usize;
            format!("{value:.decimals$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, most: usize) -> Vec<String> {
        axis.ticks(most).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn steps_are_round_numbers() {
        assert_eq!(
            labels(&Axis::over("", false, [0.0, 3000.0].into_iter()), 4),
            ["0", "1000", "2000", "3000"]
        );
        assert_eq!(
            labels(&Axis::over("", false, [0.83, 0.91].into_iter()), 4),
            ["0.84", "0.86", "0.88", "0.90"]
        );
        assert_eq!(labels(&Axis::over("", false, [0.0, 1e6].into_iter()), 3), ["0", "500k", "1M"]);
    }

    #[test]
    fn decades_are_skipped_evenly() {
        let axis = Axis::over("", true, [3e-7, 200.0].into_iter());
        assert_eq!(labels(&axis, 5), ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰", "10²"]);
        let narrow = Axis::over("", true, [2.0, 7.0].into_iter());
        assert_eq!(labels(&narrow, 3), ["2", "4", "6"]);
        let decade = Axis::over("", true, [3e-4, 0.006].into_iter());
        assert_eq!(labels(&decade, 5), ["5e-4", "0.001", "0.002", "0.005"]);
    }

    #[test]
    fn values_without_a_place_have_none_and_empty_axes_still_work() {
        let axis = Axis::over("", true, [0.0, -1.0, f64::NAN].into_iter());
        assert_eq!((axis.low, axis.high), (1.0, 10.0));
        assert_eq!((axis.place(0.0), axis.place(f64::NAN), axis.place(1e9)), (None, None, Some(1.0)));
        let flat = Axis::over("", false, [5.0].into_iter());
        assert!(flat.low < 5.0 && flat.high > 5.0);
    }
}
