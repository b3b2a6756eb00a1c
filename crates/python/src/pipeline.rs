//! A defence as Python holds it: aggregates with the interpreter's lock released.

use crate::{
    errors::raise,
    rows::{Arrays, Sent},
};
use byz::{Aggregate, Defense, Engine, MixedMessages, Options, Scalar, Verdict, plan::Note};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::{
    Bound, IntoPyObjectExt, Py, PyAny, PyResult, Python, pyclass, pymethods,
    types::{PyDict, PyDictMethods},
};

/// A pipeline with the number of Byzantine workers it assumes.
#[pyclass(frozen, module = "byz._byz")]
pub(crate) struct Pipeline {
    pub(crate) defense: Defense,
    engine: Engine<'static>,
}

/// A vector, what does not hold for these counts, and all that is known of the round if it was asked for.
type Aggregated = (Py<PyAny>, Vec<String>, Option<Py<PyDict>>);

/// The numbers of a round besides its messages.
struct Call<'a> {
    round: u64,
    center: Option<Sent<'a>>,
    explain: bool,
}

#[pymethods]
impl Pipeline {
    #[new]
    fn new(
        py: Python<'_>,
        expression: &str,
        tolerance: usize,
        strict: bool,
        threads: Option<usize>,
    ) -> PyResult<Pipeline> {
        let defense = Defense::new(expression, tolerance).map_err(|error| raise(py, error))?.strict(strict);
        let engine = match threads {
            Some(threads) => Engine { threads, ..Engine::default() },
            None => Engine::parallel(),
        };
        Ok(Pipeline { defense, engine })
    }

    /// Whether the last aggregate is the centre of the next round.
    #[getter]
    fn needs_center(&self) -> bool {
        self.defense.needs_center()
    }

    /// The aggregate, what does not hold for these counts, and with `explain` all that is known of the round.
    #[pyo3(signature = (messages, round=0, center=None, explain=false))]
    fn aggregate(
        &self,
        py: Python<'_>,
        messages: Arrays<'_>,
        round: u64,
        center: Option<Arrays<'_>>,
        explain: bool,
    ) -> PyResult<Aggregated> {
        let call = Call { round, center: center.as_ref().map(Arrays::sent), explain };
        match messages.is_double {
            true => self.aggregate_as::<f64>(py, &messages, &call),
            false => self.aggregate_as::<f32>(py, &messages, &call),
        }
    }

    /// The rows that reach the rule, and a verdict on every worker.
    #[pyo3(signature = (messages, round=0))]
    fn mixed_rows(
        &self,
        py: Python<'_>,
        messages: Arrays<'_>,
        round: u64,
    ) -> PyResult<(Py<PyAny>, Vec<String>)> {
        match messages.is_double {
            true => self.mixed_rows_as::<f64>(py, &messages, round),
            false => self.mixed_rows_as::<f32>(py, &messages, round),
        }
    }
}

impl Pipeline {
    fn aggregate_as<T: Scalar + Element>(
        &self,
        py: Python<'_>,
        messages: &Arrays<'_>,
        call: &Call<'_>,
    ) -> PyResult<Aggregated> {
        let sent = messages.sent();
        let result = py.detach(|| {
            let center = call.center.as_ref().and_then(|center| center.rows::<T>().pop());
            let (round, explain) = (call.round, call.explain);
            let options = Options { engine: self.engine, round, center: center.as_deref(), explain };
            self.defense.aggregate(&sent.messages::<T>(), &options)
        });
        let mut result = result.map_err(|error| raise(py, error))?;
        let vector = PyArray1::from_vec(py, std::mem::take(&mut result.vector)).into_any().unbind();
        let warnings = std::mem::take(&mut result.warnings);
        let explained = if call.explain { Some(explanation(py, &result)?.unbind()) } else { None };
        Ok((vector, warnings, explained))
    }

    fn mixed_rows_as<T: Scalar + Element>(
        &self,
        py: Python<'_>,
        messages: &Arrays<'_>,
        round: u64,
    ) -> PyResult<(Py<PyAny>, Vec<String>)> {
        let sent = messages.sent();
        let options = Options { engine: self.engine, round, ..Options::default() };
        let mixed = py.detach(|| {
            let mixed = self.defense.mixed_rows(&sent.messages::<T>(), &options);
            mixed.map(|MixedMessages { rows, verdicts }| (Flat::new(rows), texts(&verdicts)))
        });
        let (rows, verdicts) = mixed.map_err(|error| raise(py, error))?;
        Ok((rows.array(py)?, verdicts))
    }
}

/// Rows one after the other: what an array of them needs. Making it takes a while, so other threads run meanwhile.
pub(crate) struct Flat<T> {
    numbers: Vec<T>,
    shape: [usize; 2],
}

impl<T: Element> Flat<T> {
    pub(crate) fn new(rows: Vec<Vec<T>>) -> Flat<T> {
        let shape = [rows.len(), rows.first().map_or(0, Vec::len)];
        let mut numbers = Vec::with_capacity(shape[0] * shape[1]);
        rows.into_iter().for_each(|row| numbers.extend(row));
        Flat { numbers, shape }
    }

    pub(crate) fn array(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let matrix: Bound<'_, PyArray2<T>> = PyArray1::from_vec(py, self.numbers).reshape(self.shape)?;
        Ok(matrix.into_any().unbind())
    }
}

fn texts(verdicts: &[Verdict]) -> Vec<String> {
    verdicts.iter().map(Verdict::to_string).collect()
}

fn explanation<'py, T>(py: Python<'py>, result: &Aggregate<T>) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("verdicts", texts(&result.verdicts))?;
    told.set_item("weights", &result.weights)?;
    told.set_item("distances", &result.distances)?;
    told.set_item("messages", result.messages)?;
    told.set_item("tolerance", result.tolerance)?;
    told.set_item("extra_passes", result.extra_passes)?;
    let notes = PyDict::new(py);
    for (name, note) in &result.notes {
        notes.set_item(
            name,
            match note {
                Note::Count(count) => count.into_py_any(py),
                Note::Number(number) => number.into_py_any(py),
                Note::Rows(rows) => rows.into_py_any(py),
                Note::Numbers(numbers) => numbers.into_py_any(py),
                Note::Text(text) => text.into_py_any(py),
            }?,
        )?;
    }
    told.set_item("notes", notes)?;
    Ok(told)
}
