//! Numbers that arithmetic does not survive: a test of the defence's admission, not of its statistics.
//!
//!   every coordinate, or one while the rest stay honest, is
//!   NaN, ∞, −∞, huge (3e38 in f32, 1e300 in f64) or denormal (1e-40, 1e-310)
//!
//! `value` = nan and all coordinates by default. 1e300 in f64 is finite, but its square is not.
//! Reference: folklore.

use super::{Attack, View};
use crate::{
    error::{Error, Result},
    kernels::Scalar,
    registry::{Entry, Kind, Parameter, Properties},
    rows_mut::RowsMut,
};

struct NonFinite<T> {
    value: T,
    /// None for all.
    coordinate: Option<usize>,
}

pub(super) const fn entry<T: Scalar>() -> Entry<dyn Attack<T>> {
    Entry {
        name: "non_finite",
        aliases: &["nan"],
        summary: "NaN, infinity, or finite numbers at the edge of the type",
        parameters: &[
            Parameter {
                name: "value",
                default: "nan",
                summary: "what is sent",
                kind: Kind::Choice(&["nan", "inf", "minus_inf", "huge", "denormal"]),
            },
            Parameter {
                name: "coordinate",
                default: "all",
                summary: "the only coordinate to spoil, from 0; the others stay honest",
                kind: Kind::CountOr { least: 0, words: &["all"] },
            },
        ],
        requirement: "acts on messages",
        reference: "folklore",
        properties: Properties::NONE,
        build: |arguments| {
            let value = value(arguments.choice("value").unwrap_or("nan"));
            Ok(Box::new(NonFinite { value, coordinate: arguments.count("coordinate") }))
        },
    }
}

fn value<T: Scalar>(name: &str) -> T {
    let is_wide = T::from_f64(1e300).to_f64().is_finite();
    T::from_f64(match name {
        "inf" => f64::INFINITY,
        "minus_inf" => f64::NEG_INFINITY,
        "huge" if is_wide => 1e300,
        "huge" => 3e38,
        "denormal" if is_wide => 1e-310,
        "denormal" => 1e-40,
        _ => f64::NAN,
    })
}

impl<T: Scalar> Attack<T> for NonFinite<T> {
    fn forge(&mut self, _: &View<'_, T>, mut out: RowsMut<'_, T>) -> Result<()> {
        let dimension = out.dimension();
        match self.coordinate {
            None => out.iter_mut().for_each(|row| row.fill(self.value)),
            Some(k) if k < dimension => out.iter_mut().for_each(|row| row[k] = self.value),
            Some(_) if out.count() == 0 => {}
            Some(k) => {
                return Err(Error::Usage(format!(
                    "non_finite(coordinate={k}): the messages have {dimension} coordinates, counted from 0"
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::value;
    use crate::attacks::testing::{build, forge, with_view};
    use crate::rows_mut::RowsMut;

    #[test]
    fn values_are_at_the_edge_of_the_type() {
        assert!(value::<f32>("nan").is_nan() && value::<f64>("inf") == f64::INFINITY);
        assert!(value::<f32>("huge") == 3e38 && value::<f64>("huge") == 1e300);
        assert!(value::<f32>("denormal").is_subnormal() && value::<f64>("denormal").is_subnormal());
    }

    #[test]
    fn one_coordinate_or_all_are_spoilt() {
        let own = [vec![1.0, 2.0]];
        assert_eq!(forge("non_finite(value=minus_inf,coordinate=1)", &own, &own), [[1.0, f64::NEG_INFINITY]]);
        assert_eq!(forge("non_finite(value=inf)", &own, &own), [[f64::INFINITY; 2]]);
        let mut attack = build::<f64>("nan(coordinate=2)").unwrap();
        with_view(&own, |view| assert!(attack.forge(view, RowsMut::new(&mut [0.0; 2], 2)).is_err()));
    }
}
