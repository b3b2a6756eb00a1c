//! ⟨v, u⟩ is the dual norm, u lies in the ball, and the parameters do what they say.

use super::{
    super::tests::{at, read, steady},
    *,
};
use crate::{layout::Role, random::Stream};
use proptest::prelude::*;

fn model(rows: usize, columns: usize, vector: usize) -> Layout {
    Layout::new()
        .with("fc.weight", &[rows, columns], Role::Matrix)
        .with("fc.bias", &[vector], Role::Vector)
        .with("conv.weight", &[columns, 2, 1, 2], Role::Matrix)
        .with("tokens", &[2, vector], Role::Embedding)
}

fn point<T: Scalar>(expression: &str, layout: &Layout, update: &[T]) -> Vec<f64> {
    let mut update = update.to_vec();
    let mut lmo = read::<T>(expression).unwrap();
    lmo.check(layout).unwrap();
    lmo.apply(&mut update, &Step { layout, ..at(1, steady()) });
    update.iter().map(|x| x.to_f64()).collect()
}

fn l2(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
fn l1(x: &[f64]) -> f64 {
    x.iter().map(|x| x.abs()).sum()
}
fn linf(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}
fn nuclear(x: &[f64], (rows, columns): (usize, usize)) -> f64 {
    linf(x) * Singular::of(x, rows, columns).values.iter().sum::<f64>()
}
fn spectral(x: &[f64], (rows, columns): (usize, usize)) -> f64 {
    linf(x) * linf(&Singular::of(x, rows, columns).values)
}

type Measure = fn(&[f64], (usize, usize)) -> f64;

/// Norm and dual norm of a layer under `norm` beside `vectors`; vectors have the shape 0 × 0.
fn norms(norm: &str, vectors: &str) -> (Measure, Measure) {
    match (norm, vectors) {
        ("spectral", "l2") => (
            |x, s| if s.0 > 0 { spectral(x, s) } else { l2(x) },
            |x, s| if s.0 > 0 { nuclear(x, s) } else { l2(x) },
        ),
        ("spectral", _) => (
            |x, s| if s.0 > 0 { spectral(x, s) } else { linf(x) },
            |x, s| if s.0 > 0 { nuclear(x, s) } else { l1(x) },
        ),
        ("nuclear", "l2") => (
            |x, s| if s.0 > 0 { nuclear(x, s) } else { l2(x) },
            |x, s| if s.0 > 0 { spectral(x, s) } else { l2(x) },
        ),
        ("nuclear", _) => (
            |x, s| if s.0 > 0 { nuclear(x, s) } else { linf(x) },
            |x, s| if s.0 > 0 { spectral(x, s) } else { l1(x) },
        ),
        ("l2", _) => (|x, _| l2(x), |x, _| l2(x)),
        ("l1", _) => (|x, _| l1(x), |x, _| linf(x)),
        _ => (|x, _| linf(x), |x, _| l1(x)),
    }
}

fn check<T: Scalar>(update: &[T], layout: &Layout, precision: f64) -> Result<(), TestCaseError> {
    let wide: Vec<f64> = update.iter().map(|x| x.to_f64()).collect();
    for (expression, norm, vectors, whole) in [
        ("lmo(radius=2)", "l2", "", true),
        ("lmo(norm=l1,radius=2)", "l1", "", true),
        ("lmo(norm=l2,radius=2,scope=layer)", "l2", "", false),
        ("lmo(norm=l1,radius=2,scope=layer)", "l1", "", false),
        ("lmo(norm=linf,radius=2)", "linf", "", false),
        ("lmo(norm=linf,radius=2,scope=whole)", "linf", "", true),
        ("lmo(norm=spectral,radius=2)", "spectral", "l2", false),
        ("lmo(norm=spectral,vectors=linf,radius=2)", "spectral", "linf", false),
        ("lmo(norm=nuclear,radius=2)", "nuclear", "l2", false),
        ("lmo(norm=nuclear,vectors=linf,radius=2)", "nuclear", "linf", false),
    ] {
        let point = point(expression, layout, update);
        let (size, dual) = norms(norm, vectors);
        let parts = match whole {
            true => vec![(0..wide.len(), (0, 0))],
            false => layout.tensors().iter().map(|t| (t.range(), t.matrix().unwrap_or((0, 0)))).collect(),
        };
        for (range, shape) in parts {
            let (v, u) = (&wide[range.clone()], &point[range]);
            prop_assert!(size(u, shape) <= 2.0 * (1.0 + precision), "{} leaves the ball", expression);
            let inner: f64 = v.iter().zip(u).map(|(v, u)| v * u).sum();
            let best = 2.0 * dual(v, shape);
            prop_assert!((inner - best).abs() <= precision * best, "{}: {} of {}", expression, inner, best);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn the_inner_product_is_the_dual_norm(
        rows in 1usize..9, columns in 1usize..9, vector in 1usize..6, seed: u64, scale in -30i32..30, sparse: bool,
    ) {
        let layout = model(rows, columns, vector);
        let mut stream = Stream::new(seed, "test", 0, 0);
        let mut draw = || if sparse && stream.uniform() < 0.6 { 0.0 } else { stream.normal() * 10f64.powi(scale) };
        let update: Vec<f64> = (0..layout.dimension()).map(|_| draw()).collect();
        check(&update, &layout, 1e-12)?;
        let narrow: Vec<f32> = update.iter().map(|x| *x as f32).collect();
        check(&narrow, &layout, 1e-5)?;
    }
}

#[test]
fn matrices_by_hand() {
    let layout = Layout::new().with("w", &[2, 2], Role::Matrix).with("b", &[2], Role::Vector);
    // diag(4, −2) beside (0, −4).
    let update = [4.0, 0.0, 0.0, -2.0, 0.0, -4.0];
    assert_eq!(point("lmo(norm=spectral)", &layout, &update), [1.0, 0.0, 0.0, -1.0, 0.0, -1.0]);
    assert_eq!(point("lmo(norm=nuclear,vectors=linf)", &layout, &update), [1.0, 0.0, 0.0, 0.0, 0.0, -1.0]);
    let radii = point("lmo(norm=spectral,radius=2,radii=[b:5])", &layout, &update);
    assert_eq!(radii, [2.0, 0.0, 0.0, -2.0, 0.0, -5.0]);
    let singular = [3.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(point("lmo(norm=spectral)", &layout, &singular), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn unfit_parameters_and_unknown_layers_are_named() {
    for expression in [
        "lmo(norm=l2,vectors=linf)",
        "lmo(norm=nuclear,method=svd)",
        "lmo(norm=spectral,steps=3)",
        "lmo(norm=spectral,scope=whole)",
        "lmo(norm=l2,radii=[a:1])",
        "lmo(norm=spectral,radii=[a])",
        "lmo(norm=spectral,radii=[a:0])",
        "lmo(norm=spectral,radii=[a:inf])",
    ] {
        assert!(read::<f32>(expression).is_err(), "{expression}");
    }
    let lmo = read::<f32>("lmo(norm=spectral,radii=[fc.weigth:2])").unwrap();
    let error = lmo.check(&model(2, 2, 2)).unwrap_err().to_string();
    assert!(error.contains("did you mean 'fc.weight'?"), "{error}");
}

/// The cases of an independent implementation; its sign is that of the step.
#[test]
fn golden_points_hold_in_f64_and_f32() {
    fn check<T: Scalar>(case: &serde_json::Value, tolerance: f64) {
        let list = |name: &str| -> Vec<f64> {
            let rows = case[name].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap());
            rows.map(|x| x.as_f64().unwrap()).collect()
        };
        let (norm, count) =
            (case["params"]["norm"].as_str().unwrap(), |key: &str| case[key].as_u64().unwrap() as usize);
        let shape = if count("n") == 1 { vec![count("d")] } else { vec![count("n"), count("d")] };
        let role = if shape.len() == 1 { Role::Vector } else { Role::Matrix };
        let layout = Layout::new().with("v", &shape, role);
        let update: Vec<T> = list("input").into_iter().map(T::from_f64).collect();
        let found = point(&format!("lmo(norm={norm})"), &layout, &update);
        for (found, expected) in found.iter().zip(list("expected")) {
            assert!((found + expected).abs() <= tolerance, "{}: {found} for {}", case["id"], -expected);
        }
    }
    let golden = include_str!("../../../tests/suite/golden/golden.json");
    let file: serde_json::Value = serde_json::from_str(golden).unwrap();
    let cases: Vec<_> = file["cases"].as_array().unwrap().iter().filter(|case| case["op"] == "lmo").collect();
    assert_eq!(cases.len(), 10);
    for case in cases {
        check::<f64>(case, case["tol64"].as_f64().unwrap());
        if case["f32_ok"] == true {
            check::<f32>(case, case["tol32"].as_f64().unwrap());
        }
    }
}
