//! Arrays of Python as rows of the engine, without copying.
//!
//! A worker's message is one array or several, one after the other. An array is contiguous, or one-dimensional with any
//! stride; the Python layer sees to that. bfloat16, which NumPy does not know, comes as uint16.

use byz::{Message, Messages, Row, Scalar, Stored, files::Float};
use half::{bf16, f16};
use numpy::{PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::{
    Borrowed, Bound, FromPyObject, PyAny, PyErr, PyResult,
    exceptions::PyTypeError,
    types::{PyAnyMethods, PyList, PyListMethods, PyString, PyStringMethods},
};

/// Numbers at equal distances in memory that someone else owns.
#[derive(Clone, Copy)]
struct Part {
    first: *const u8,
    /// Bytes from one number to the next; may be negative or zero.
    stride: isize,
    length: usize,
    float: Float,
}

/// One worker's vector: its parts, one after the other.
pub(crate) struct Vector {
    parts: Vec<Part>,
    /// The column behind each part.
    ends: Vec<usize>,
}

// SAFETY: it only reads, from memory that `Arrays` keeps alive. A caller who writes to an array while another thread aggregates
// it gets an aggregate of what was there at some moment, as with every library that releases the interpreter's lock.
unsafe impl Send for Vector {}
// SAFETY: as above.
unsafe impl Sync for Vector {}

impl Part {
    fn is_contiguous(&self) -> bool {
        self.length < 2 || self.stride == self.float.size() as isize
    }

    fn read<T: Scalar>(&self, start: usize, out: &mut [T]) {
        // SAFETY: start + out.len() ≤ length, and NumPy vouches for `length` numbers at this stride.
        unsafe {
            let first = self.first.offset(start as isize * self.stride);
            if self.is_contiguous() {
                let bytes = std::slice::from_raw_parts(first, out.len() * self.float.size());
                return self.float.decode(bytes, self.float.size(), out);
            }
            match self.float {
                Float::F16 => gather(first, self.stride, out, |half: f16| half.to_f64()),
                Float::Bf16 => gather(first, self.stride, out, |half: bf16| half.to_f64()),
                Float::F32 => gather(first, self.stride, out, |single: f32| f64::from(single)),
                Float::F64 => gather(first, self.stride, out, |double: f64| double),
            }
        }
    }
}

/// Reads numbers `stride` bytes apart.
///
/// # Safety
///
/// `out.len()` numbers of type N must lie there.
unsafe fn gather<N, T: Scalar>(first: *const u8, stride: isize, out: &mut [T], widen: impl Fn(N) -> f64) {
    for (k, out) in out.iter_mut().enumerate() {
        // SAFETY: the caller's promise.
        *out = T::from_f64(widen(unsafe { first.offset(k as isize * stride).cast::<N>().read_unaligned() }));
    }
}

impl<T: Scalar> Stored<T> for Vector {
    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn read(&self, start: usize, out: &mut [T]) {
        let (mut column, mut rest) = (start, out);
        let mut part = self.ends.partition_point(|&end| end <= start);
        while !rest.is_empty() {
            let count = rest.len().min(self.ends[part] - column);
            let (now, later) = rest.split_at_mut(count);
            let begin = self.ends[part] - self.parts[part].length;
            self.parts[part].read(column - begin, now);
            (column, rest, part) = (column + count, later, part + 1);
        }
    }

    fn as_slice(&self) -> Option<&[T]> {
        match &self.parts[..] {
            [one]
                if one.float.name() == T::NAME
                    && one.is_contiguous()
                    && one.first.cast::<T>().is_aligned() =>
            {
                // SAFETY: `length` numbers of type T lie there, one beside the other.
                Some(unsafe { std::slice::from_raw_parts(one.first.cast(), one.length) })
            }
            _ => None,
        }
    }
}

/// What one worker sent.
enum Entry {
    Vector(Vector),
    Malformed(String),
    Missing,
}

/// The messages of a round, with the arrays they lie in.
pub(crate) struct Arrays<'py> {
    entries: Vec<Entry>,
    /// Holds the memory while the interpreter's lock is released.
    _alive: Vec<Bound<'py, PyUntypedArray>>,
    /// Whether some numbers are float64.
    pub(crate) is_double: bool,
}

/// The messages alone, for use without the interpreter's lock.
pub(crate) struct Sent<'a>(&'a [Entry]);

impl Arrays<'_> {
    pub(crate) fn sent(&self) -> Sent<'_> {
        Sent(&self.entries)
    }
}

impl<'a> Sent<'a> {
    pub(crate) fn messages<T: Scalar>(&self) -> Messages<'a, T> {
        let message = |entry: &'a Entry| match entry {
            Entry::Vector(vector) => Message::Row(match Stored::<T>::as_slice(vector) {
                Some(slice) => Row::Slice(slice),
                None => Row::Stored(vector),
            }),
            Entry::Malformed(why) => Message::Malformed(why.clone()),
            Entry::Missing => Message::Missing,
        };
        Messages { workers: self.0.iter().map(message).collect(), dimension: None }
    }

    /// Every row in full; the Python layer lets only vectors of one length come here.
    pub(crate) fn rows<T: Scalar>(&self) -> Vec<Vec<T>> {
        let vectors = self.0.iter().filter_map(|entry| match entry {
            Entry::Vector(vector) => Some(vector),
            _ => None,
        });
        vectors
            .map(|vector| {
                let mut row = vec![T::default(); Stored::<T>::len(vector)];
                vector.read(0, &mut row);
                row
            })
            .collect()
    }
}

impl<'py> FromPyObject<'_, 'py> for Arrays<'py> {
    type Error = PyErr;

    /// A matrix of one row per worker, or a list with, per worker: an array, a list of arrays, a text that says what is wrong
    /// with the message, or none.
    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Arrays<'py>> {
        let mut arrays = Arrays { entries: Vec::new(), _alive: Vec::new(), is_double: false };
        match object.cast::<PyUntypedArray>() {
            Ok(matrix) => arrays.push_matrix(&matrix)?,
            Err(_) => {
                for worker in object.cast::<PyList>()?.iter() {
                    arrays.push_worker(&worker)?;
                }
            }
        }
        Ok(arrays)
    }
}

impl<'py> Arrays<'py> {
    fn push_matrix(&mut self, matrix: &Bound<'py, PyUntypedArray>) -> PyResult<()> {
        let &[workers, length] = matrix.shape() else {
            return Err(PyTypeError::new_err("a matrix with one row per worker is expected"));
        };
        let (first, float) = self.hold(matrix)?;
        let stride = matrix.strides();
        for worker in 0..workers {
            // SAFETY: the array has so many rows; where a row is empty nothing is read.
            let first = unsafe { first.offset(worker as isize * stride[0]) };
            let part = Part { first, stride: stride[1], length, float };
            self.entries.push(Entry::Vector(Vector { parts: vec![part], ends: vec![length] }));
        }
        Ok(())
    }

    fn push_worker(&mut self, worker: &Bound<'py, PyAny>) -> PyResult<()> {
        let entry = if worker.is_none() {
            Entry::Missing
        } else if let Ok(why) = worker.cast::<PyString>() {
            Entry::Malformed(why.to_cow()?.into_owned())
        } else {
            let mut vector = Vector { parts: Vec::new(), ends: Vec::new() };
            match worker.cast::<PyList>() {
                Ok(parts) => {
                    for part in parts.iter() {
                        self.push_part(part.cast::<PyUntypedArray>()?, &mut vector)?;
                    }
                }
                Err(_) => self.push_part(worker.cast::<PyUntypedArray>()?, &mut vector)?,
            }
            Entry::Vector(vector)
        };
        self.entries.push(entry);
        Ok(())
    }

    fn push_part(&mut self, array: &Bound<'py, PyUntypedArray>, vector: &mut Vector) -> PyResult<()> {
        let (first, float) = self.hold(array)?;
        let stride = match array.strides() {
            &[stride] => stride,
            _ if array.is_c_contiguous() => float.size() as isize,
            _ => return Err(PyTypeError::new_err("an array of several dimensions must be contiguous")),
        };
        let length = array.len();
        if length > 0 {
            vector.ends.push(vector.ends.last().unwrap_or(&0) + length);
            vector.parts.push(Part { first, stride, length, float });
        }
        Ok(())
    }

    /// Keeps an array alive; where its first number lies and of what type it is.
    fn hold(&mut self, array: &Bound<'py, PyUntypedArray>) -> PyResult<(*const u8, Float)> {
        let dtype = array.dtype();
        let float = match (dtype.kind(), dtype.itemsize()) {
            _ if dtype.is_native_byteorder() == Some(false) => None,
            (b'f', 2) => Some(Float::F16),
            (b'u', 2) => Some(Float::Bf16),
            (b'f', 4) => Some(Float::F32),
            (b'f', 8) => Some(Float::F64),
            _ => None,
        };
        let float = float.ok_or_else(|| PyTypeError::new_err(format!("no native float: {dtype}")))?;
        self.is_double |= float == Float::F64;
        self._alive.push(array.clone());
        // SAFETY: only the address is asked for, and that is the same for every type of number.
        let bytes = unsafe { array.cast_unchecked::<PyArrayDyn<u8>>() };
        Ok((bytes.data().cast_const(), float))
    }
}
