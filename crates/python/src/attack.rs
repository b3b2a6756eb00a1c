//! An attack as Python holds it: forges rows from what the honest workers send.

use crate::{
    errors::{lock, raise},
    pipeline::{Flat, Pipeline},
    rows::{Arrays, Sent},
};
use byz::{
    Engine, Error, Messages, Options, Result, RowsMut, Scalar,
    attacks::{self, View},
    registry,
};
use numpy::Element;
use pyo3::{Py, PyAny, PyResult, Python, pyclass, pymethods};
use std::{cell::Cell, sync::Mutex};

/// An attack and what it remembers from round to round, in either number type.
#[pyclass(frozen, module = "byz._byz")]
pub(crate) struct Attack {
    single: Mutex<Box<dyn attacks::Attack<f32>>>,
    double: Mutex<Box<dyn attacks::Attack<f64>>>,
}

/// The numbers of a round besides its messages.
struct Call<'a> {
    honest: Sent<'a>,
    own: Sent<'a>,
    round: u64,
    seed: u64,
    tolerance: usize,
    pipeline: Option<&'a Pipeline>,
}

#[pymethods]
impl Attack {
    #[new]
    fn new(py: Python<'_>, expression: &str) -> PyResult<Attack> {
        let single = registry::read("attack", attacks::table::<f32>(), expression);
        let double = registry::read("attack", attacks::table::<f64>(), expression);
        Ok(Attack {
            single: Mutex::new(single.map_err(|error| raise(py, error))?),
            double: Mutex::new(double.map_err(|error| raise(py, error))?),
        })
    }

    /// What it carries from round to round, in either number type.
    fn state(&self) -> (Vec<Vec<f32>>, Vec<Vec<f64>>) {
        (lock(&self.single).state(), lock(&self.double).state())
    }

    /// Takes a state back.
    fn restore(&self, py: Python<'_>, single: Vec<Vec<f32>>, double: Vec<Vec<f64>>) -> PyResult<()> {
        let restored = lock(&self.single).restore(single).and_then(|()| lock(&self.double).restore(double));
        restored.map_err(|error| raise(py, error))
    }

    /// What the Byzantine workers send; `own` is what they would send if they were honest.
    #[expect(clippy::too_many_arguments, reason = "only the Python layer calls it, by name")]
    #[pyo3(signature = (honest, own, *, round, seed, tolerance, pipeline))]
    fn forge(
        &self,
        py: Python<'_>,
        honest: Arrays<'_>,
        own: Arrays<'_>,
        round: u64,
        seed: u64,
        tolerance: usize,
        pipeline: Option<&Pipeline>,
    ) -> PyResult<Py<PyAny>> {
        let call = Call { honest: honest.sent(), own: own.sent(), round, seed, tolerance, pipeline };
        match honest.is_double {
            true => call.forge(py, &self.double),
            false => call.forge(py, &self.single),
        }
    }
}

impl Call<'_> {
    fn forge<T: Scalar + Element>(
        &self,
        py: Python<'_>,
        attack: &Mutex<Box<dyn attacks::Attack<T>>>,
    ) -> PyResult<Py<PyAny>> {
        let forged = py.detach(|| self.forged(lock(attack).as_mut()).map(Flat::new));
        forged.map_err(|error| raise(py, error))?.array(py)
    }

    fn forged<T: Scalar>(&self, attack: &mut dyn attacks::Attack<T>) -> Result<Vec<Vec<T>>> {
        let (honest, own) = (self.honest.rows::<T>(), self.own.rows::<T>());
        let honest: Vec<&[T]> = honest.iter().map(Vec::as_slice).collect();
        let dimension = honest.first().map_or(0, |row| row.len());
        let mut data: Vec<T> = own.into_iter().flatten().collect();
        // A search takes what fails for harmless, so it cannot be the one to complain.
        let blind = Cell::new(false);
        let probe = |forged: &[&[T]]| match self.pipeline {
            Some(pipeline) => {
                let rows: Vec<&[T]> = honest.iter().chain(forged).copied().collect();
                let options = Options { round: self.round, ..Options::default() };
                Ok(pipeline.defense.aggregate(&Messages::from_rows(&rows), &options)?.vector)
            }
            None => {
                blind.set(true);
                Err(Error::Usage("no defence is given".into()))
            }
        };
        let next_loss = |_: &[T]| {
            Err(Error::Usage("the next loss is known only in training: choose objective=displacement".into()))
        };
        let view = View {
            round: self.round,
            seed: self.seed,
            tolerance: self.tolerance,
            honest: &honest,
            probe: &probe,
            next_loss: &next_loss,
            engine: Engine::default(),
        };
        let forged = attack.forge(&view, RowsMut::new(&mut data, dimension));
        if blind.get() {
            return Err(Error::Usage("this attack looks at the defence: give defense=".into()));
        }
        forged?;
        Ok(data.chunks(dimension.max(1)).map(<[T]>::to_vec).collect())
    }
}
