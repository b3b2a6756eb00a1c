//! The linear minimisation oracle: the update becomes r · argmax ⟨v, u⟩ over the unit ball of a norm, so that a step of −γu is
//! the paper's γ·argmin. Byz-LMO; with l2 Byz-NSGDM, with spectral a Byzantine-robust Muon.
//!
//!   l2: v/‖v‖   linf: sign(v)   l1: ± one entry   spectral: UVᵀ of each matrix   nuclear: u₁v₁ᵀ of each matrix
//!
//! l2 and l1 act on the whole vector (`scope=layer`: on each tensor). The others act on each tensor: the norm of the model is the
//! largest over its layers, each divided by its radius, so every layer moves by its full radius. A convolution kernel is a
//! matrix of out × in·kh·kw; vectors and embeddings follow `vectors` (l2 or linf). `radius` (1) is every layer's unless `radii`
//! names it. `method` = svd is exact, newton_schulz with `steps` (5) is Muon's. Zero stays zero, directions of zero singular value
//! too; an update that is not finite stays as it is, for the trainer to see.
//! Reference: Pethick et al.: "Training deep learning models with norm-constrained LMOs", ICML 2025; Jordan et al.: "Muon", 2024.

mod ball;
mod newton_schulz;
mod reflections;
mod singular;

use super::{Step, Table, Transform};
use crate::{
    error::{Error, Result},
    kernels::Scalar,
    layout::Layout,
    registry::{Arguments, Entry, Kind, Parameter, Properties, nearest},
};
use ball::Ball;
use newton_schulz::newton_schulz;
use singular::Singular;

struct Lmo {
    norm: Norm,
    /// One ball for the whole vector.
    whole: bool,
    radius: f64,
    radii: Vec<(String, f64)>,
}

enum Norm {
    Vector(Ball),
    /// A norm of matrices, and that of everything else.
    Matrix(MatrixBall, Ball),
}

enum MatrixBall {
    Spectral,
    NewtonSchulz { steps: usize },
    Nuclear,
}

impl<T: Scalar> Table<T> {
    pub(super) const LMO: Entry<dyn Transform<T>> = Entry {
        name: "lmo",
        aliases: &[],
        summary: "the point of a norm's unit ball that is furthest along the update",
        parameters: &[
            Parameter {
                name: "norm",
                default: "l2",
                summary: "whose ball",
                kind: Kind::Choice(&["l2", "linf", "l1", "spectral", "nuclear"]),
            },
            Parameter {
                name: "vectors",
                default: "l2",
                summary: "norm of vectors and embeddings beside spectral and nuclear",
                kind: Kind::Choice(&["l2", "linf"]),
            },
            Parameter {
                name: "method",
                default: "svd",
                summary: "how spectral is computed: exactly, or as Muon does",
                kind: Kind::Choice(&["svd", "newton_schulz"]),
            },
            Parameter {
                name: "steps",
                default: "5",
                summary: "of newton_schulz",
                kind: Kind::Count { least: 1 },
            },
            Parameter {
                name: "scope",
                default: "whole for l2 and l1, else layer",
                summary: "one ball for the whole vector, or one for each layer",
                kind: Kind::Choice(&["whole", "layer"]),
            },
            Parameter { name: "radius", default: "1", summary: "of the ball", kind: Kind::Positive },
            Parameter {
                name: "radii",
                default: "[]",
                summary: "of some layers' balls, as in [fc1.weight:2,fc1.bias:0.5]",
                kind: Kind::List,
            },
        ],
        requirement: "",
        reference: "Pethick et al., Training deep learning models with norm-constrained LMOs, ICML 2025",
        properties: Properties::NONE,
        build: |arguments| Ok(Box::new(Lmo::new(arguments)?)),
    };
}

impl Lmo {
    fn new(arguments: &Arguments) -> Result<Lmo> {
        let name = arguments.choice("norm").unwrap_or("l2");
        let spectral = name == "spectral";
        let muon = spectral && arguments.choice("method") == Some("newton_schulz");
        let vector = Ball::named(name);
        for (parameter, makes_sense, expected) in [
            ("vectors", vector.is_none(), "norm=spectral or norm=nuclear beside it"),
            ("method", spectral, "norm=spectral beside it"),
            ("steps", muon, "method=newton_schulz beside it"),
        ] {
            if arguments.choice(parameter).is_some() && !makes_sense {
                return Err(arguments.reject(parameter, expected));
            }
        }
        let whole = match arguments.choice("scope") {
            Some("whole") if vector.is_none() => {
                return Err(arguments.reject("scope", "layer, because only layers are matrices"));
            }
            Some(scope) => scope == "whole",
            None => matches!(name, "l2" | "l1"),
        };
        let vectors = arguments.choice("vectors").and_then(Ball::named).unwrap_or(Ball::L2);
        let matrices = || match (spectral, muon) {
            (true, true) => MatrixBall::NewtonSchulz { steps: arguments.count("steps").unwrap_or(5) },
            (true, false) => MatrixBall::Spectral,
            (false, _) => MatrixBall::Nuclear,
        };
        let norm = vector.map_or_else(|| Norm::Matrix(matrices(), vectors), Norm::Vector);
        let radii = radii(arguments)?;
        if whole && !radii.is_empty() {
            return Err(arguments.reject("radii", "scope=layer beside it"));
        }
        Ok(Lmo { norm, whole, radius: arguments.number("radius").unwrap_or(1.0), radii })
    }

    fn radius_of(&self, layer: &str) -> f64 {
        self.radii.iter().find(|(name, _)| name == layer).map_or(self.radius, |(_, radius)| *radius)
    }

    fn layer<T: Scalar>(&self, values: &mut [T], matrix: Option<(usize, usize)>, radius: f64) {
        let (ball, (rows, columns)) = match (&self.norm, matrix) {
            (Norm::Vector(ball) | Norm::Matrix(_, ball), None) | (Norm::Vector(ball), Some(_)) => {
                return ball.point(values, radius);
            }
            (Norm::Matrix(ball, _), Some(shape)) => (ball, shape),
        };
        let point = match ball {
            MatrixBall::NewtonSchulz { steps } => {
                newton_schulz(values, rows, columns, *steps);
                let radius = T::from_f64(radius);
                return values.iter_mut().for_each(|value| *value = radius * *value);
            }
            MatrixBall::Spectral => Singular::of(values, rows, columns).polar(),
            MatrixBall::Nuclear => Singular::of(values, rows, columns).leading(),
        };
        values.iter_mut().zip(point).for_each(|(value, point)| *value = T::from_f64(radius * point));
    }
}

/// `layer:radius` each.
fn radii(arguments: &Arguments) -> Result<Vec<(String, f64)>> {
    let read = |item: &String| {
        let (name, radius) = item.rsplit_once(':')?;
        let radius: f64 = radius.trim().parse().ok()?;
        (radius.is_finite() && radius > 0.0).then(|| (name.trim().to_string(), radius))
    };
    let items = arguments.list("radii").unwrap_or_default();
    let radii: Option<Vec<(String, f64)>> = items.iter().map(read).collect();
    radii.ok_or_else(|| {
        arguments.reject("radii", "layers and radii above zero such as [fc1.weight:2,fc1.bias:0.5]")
    })
}

impl<T: Scalar> Transform<T> for Lmo {
    fn apply(&mut self, update: &mut [T], step: &Step<'_, T>) {
        if update.iter().any(|value| !value.to_f64().is_finite()) {
            return;
        }
        if self.whole {
            return self.layer(update, None, self.radius);
        }
        for tensor in step.layout.tensors() {
            let radius = self.radius_of(&tensor.name);
            self.layer(&mut update[tensor.range()], tensor.matrix(), radius);
        }
    }

    fn check(&self, layout: &Layout) -> Result<()> {
        let known = || layout.tensors().iter().map(|tensor| tensor.name.as_str());
        match self.radii.iter().find(|(name, _)| !known().any(|layer| layer == name)) {
            None => Ok(()),
            Some((name, _)) => Err(Error::UnknownName {
                family: "layer",
                name: name.clone(),
                nearest: nearest(name, known()),
                known: known().map(str::to_string).collect(),
            }),
        }
    }
}

#[cfg(test)]
mod tests;
