//! Seeded instances: honest rows about a common vector, outliers, duplicates, lattices.

use super::{Rows, vectors};
use byz::{Scalar, Stream};

/// What the rows of an instance look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Look {
    /// Independent, without outliers.
    Benign,
    /// f rows this many times farther out, in random directions.
    Outliers(f64),
    /// f equal rows this far out.
    Colluding(f64),
    /// Rows that repeat others.
    Duplicates,
    /// Small whole numbers: distances are exact in f32 and often tie.
    Lattice,
    /// A common vector this many times longer than the differences.
    Offset(f64),
}

/// Messages in their own type, and what they stand for in f64.
pub(crate) struct Instance<T> {
    pub(crate) rows: Vec<Vec<T>>,
    pub(crate) wide: Rows,
    pub(crate) honest: Rows,
    pub(crate) f: usize,
    pub(crate) look: Option<Look>,
}

/// A standard normal number (Box–Muller).
pub(crate) fn normal(stream: &mut Stream) -> f64 {
    let (u, v) = (1.0 - stream.uniform(), stream.uniform());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

pub(crate) fn normals(stream: &mut Stream, count: usize, scale: f64) -> Vec<f64> {
    (0..count).map(|_| scale * normal(stream)).collect()
}

pub(crate) fn round<T: Scalar>(row: &[f64]) -> Vec<T> {
    row.iter().map(|&x| T::from_f64(x)).collect()
}

pub(crate) fn widen<T: Scalar>(row: &[T]) -> Vec<f64> {
    row.iter().map(|x| x.to_f64()).collect()
}

impl<T: Scalar> Instance<T> {
    /// Rounds the rows to the message's type; those in `byzantine` are not honest.
    pub(crate) fn new(rows: Rows, byzantine: &[usize], f: usize) -> Instance<T> {
        let rows: Vec<Vec<T>> = rows.iter().map(|row| round(row)).collect();
        let wide: Rows = rows.iter().map(|row| widen(row)).collect();
        let honest = (0..wide.len()).filter(|i| !byzantine.contains(i)).map(|i| wide[i].clone()).collect();
        Instance { rows, wide, honest, f, look: None }
    }

    /// n rows of d numbers, f of them outliers where the look has any.
    pub(crate) fn random(look: Look, n: usize, f: usize, d: usize, seed: u64) -> Instance<T> {
        let mut stream = Stream::new(seed, "instance", n as u64, d as u64);
        let mut rows: Rows = (0..n).map(|_| normals(&mut stream, d, 1.0)).collect();
        let byzantine: Vec<usize> = stream.permutation(n)[..f].to_vec();
        match look {
            Look::Benign => {}
            Look::Outliers(size) => {
                for &i in &byzantine {
                    let size = size * (1.0 + stream.uniform());
                    rows[i].iter_mut().for_each(|x| *x *= size);
                }
            }
            Look::Colluding(size) => {
                let far = normals(&mut stream, d, size);
                byzantine.iter().for_each(|&i| rows[i] = far.clone());
            }
            Look::Duplicates => {
                for i in 1..n {
                    if stream.below(2) == 0 {
                        rows[i] = rows[stream.below(i as u64) as usize].clone();
                    }
                }
            }
            Look::Lattice => {
                rows.iter_mut().flatten().for_each(|x| *x = stream.below(4) as f64 - 1.0);
            }
            Look::Offset(size) => {
                let common = normals(&mut stream, d, size);
                let shift = |row: &mut Vec<f64>| row.iter_mut().zip(&common).for_each(|(x, c)| *x += c);
                rows.iter_mut().for_each(shift);
            }
        }
        let none = !matches!(look, Look::Outliers(_) | Look::Colluding(_));
        let instance = Instance::new(rows, if none { &[] } else { &byzantine }, f);
        Instance { look: Some(look), ..instance }
    }

    /// The largest distance between honest rows.
    pub(crate) fn spread(&self) -> f64 {
        vectors::spread(&self.honest)
    }
}
