//! Values made by an independent implementation, with its tolerances. `golden/golden.json` holds the definitions.

use crate::reference::{
    Rows,
    data::{round, widen},
    geometric_median::objective,
    mixers,
    run::{number_note, numbers_note, rows_note, run_with},
    source::Materialised,
    vectors::distance,
};
use byz::{Kernels, Round, Scalar, mixing_of};
use serde_json::Value;

struct Case(Value);

impl Case {
    fn all() -> Vec<Case> {
        let file: Value = serde_json::from_str(include_str!("golden/golden.json")).expect("the file is JSON");
        file["cases"].as_array().expect("a list of cases").iter().cloned().map(Case).collect()
    }

    fn id(&self) -> &str {
        self.0["id"].as_str().expect("a case has an id")
    }

    fn op(&self) -> &str {
        self.0["op"].as_str().expect("a case has an op")
    }

    fn count(&self, parameter: &str) -> usize {
        self.0["params"][parameter].as_u64().unwrap_or(0) as usize
    }

    fn input(&self) -> Rows {
        self.0["input"].as_array().expect("rows").iter().map(numbers).collect()
    }

    fn tolerance<T: Scalar>(&self) -> f64 {
        self.0[if T::NAME == "float32" { "tol32" } else { "tol64" }].as_f64().expect("a tolerance")
    }

    /// The case as an expression of this library.
    fn expression(&self) -> String {
        let parameter = |name: &str| self.0["params"][name].to_string();
        match self.op() {
            "multi_krum" => format!("multi_krum(select={})", parameter("m")),
            "smoothed_weiszfeld" => {
                let (times, smoothing) = (parameter("T"), parameter("nu"));
                format!("geometric_median(iterations={times},smoothing={smoothing},start=zero)")
            }
            "centered_clipping" => {
                format!("centered_clipping(radius={},iterations={})", parameter("tau"), parameter("L"))
            }
            other => other.to_string(),
        }
    }
}

fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().expect("a row").iter().map(|value| value.as_f64().expect("a number")).collect()
}

fn close(case: &Case, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{}", case.id());
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs();
        assert!(error <= tolerance, "{}: {found:e} for {expected:e}, off by {error:e}", case.id());
    }
}

fn check_vector<T: Scalar>(case: &Case, kernels: Kernels) {
    let rows: Vec<Vec<T>> = case.input().iter().map(|row| round(row)).collect();
    let center = case.0["params"].get("v0").map(|start| round::<T>(&numbers(start)));
    let result = run_with(&case.expression(), &rows, case.count("f"), kernels, center.as_deref());
    let result = result.unwrap_or_else(|error| panic!("{}: {error}", case.id()));
    let found = widen(&result.vector);
    let mut expected = numbers(&case.0["expected"]);
    // f32 numbers below 1e-38 lie 1.4e-45 apart, farther than this case's tolerance: the nearest of them is right.
    if T::NAME == "float32" && expected.iter().all(|x| x.abs() < 1e-38) {
        expected = widen(&round::<T>(&expected));
    }
    let (extra, tolerance) = (&case.0["extra"], case.tolerance::<T>());
    if extra.get("objective").is_some() {
        let rows: Rows = rows.iter().map(|row| widen(row)).collect();
        let (ours, least) = (objective(&rows, &found), extra["objective"].as_f64().expect("a number"));
        assert!(ours - least <= tolerance * rows.len() as f64, "{}: {ours} > {least}", case.id());
    }
    if extra.get("unique").is_none_or(|unique| unique == true) {
        close(case, &found, &expected, tolerance);
    }
    check_choice(case, &result, if T::NAME == "float32" { 1e-5 } else { 1e-12 });
}

/// Indices, subsets, scores and diameters of the decision.
fn check_choice<T>(case: &Case, result: &byz::Aggregate<T>, relative: f64) {
    let extra = &case.0["extra"];
    let list = |name: &str| extra.get(name).map(|list| numbers(list).iter().map(|&i| i as usize).collect());
    let index = extra.get("index").and_then(Value::as_u64).map(|index| vec![index as usize]);
    if let Some(chosen) = index.or_else(|| list("indices")).or_else(|| list("subset")) {
        assert_eq!(rows_note(result, "selected"), Some(chosen), "{}", case.id());
    }
    if let Some(scores) = extra.get("scores").map(numbers) {
        let found = numbers_note(result, "scores").expect("krum notes its scores");
        for (found, score) in found.iter().zip(scores) {
            assert!((found - score).abs() <= relative * score, "{}: score {found} for {score}", case.id());
        }
    }
    if let Some(diameter) = extra.get("diameter").and_then(Value::as_f64) {
        let found = number_note(result, "diameter").expect("the diameter is noted");
        assert!((found - diameter).abs() <= relative * diameter, "{}: diameter {found}", case.id());
    }
}

/// monna averages exactly one row's neighbours, so with every worker trusted in turn it shows every mixed row.
fn check_mixed_rows<T: Scalar>(case: &Case, kernels: Kernels) {
    let rows: Vec<Vec<T>> = case.input().iter().map(|row| round(row)).collect();
    let expected: Rows = case.0["expected"].as_array().expect("rows").iter().map(numbers).collect();
    for (i, expected) in expected.iter().enumerate() {
        let rule = format!("monna(trusted={i})");
        let result = run_with(&rule, &rows, case.count("f"), kernels, None).expect("defined for n > 2f");
        close(case, &widen(&result.vector), expected, case.tolerance::<T>());
    }
}

#[test]
fn every_aggregator_case_holds_in_f64_and_f32_with_all_kernels() {
    let mut checked = 0;
    // Attacks and linear minimisation are held to theirs where they are.
    let aggregates =
        |case: &&Case| !matches!(case.op(), "nnm" | "bucketing" | "lmo") && !case.op().starts_with("attack_");
    for case in Case::all().iter().filter(aggregates) {
        for kernels in Kernels::available() {
            check_vector::<f64>(case, kernels);
            if case.0["f32_ok"] == true {
                check_vector::<f32>(case, kernels);
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 56);
}

#[test]
fn nearest_neighbor_mixing_gives_the_expected_rows() {
    for case in Case::all().iter().filter(|case| case.op() == "nnm") {
        for kernels in Kernels::available() {
            check_mixed_rows::<f64>(case, kernels);
            if case.0["f32_ok"] == true {
                check_mixed_rows::<f32>(case, kernels);
            }
        }
        let source = Materialised(case.input());
        let round = Round { tolerance: case.count("f"), number: 0, workers: None };
        let mixing = mixing_of("nnm", &source.geometry(), &round).expect("defined");
        let expected: Rows = case.0["expected"].as_array().expect("rows").iter().map(numbers).collect();
        for (i, expected) in expected.iter().enumerate() {
            let mixed: Vec<f64> = (0..source.0[0].len())
                .map(|k| source.0.iter().zip(mixing.row(i)).map(|(row, weight)| weight * row[k]).sum())
                .collect();
            close(case, &mixed, expected, case.tolerance::<f64>());
        }
    }
}

/// The given permutation cannot be forced by a seed, so the definition is checked instead.
#[test]
fn bucketing_averages_every_worker_once_in_buckets_of_the_size() {
    for case in Case::all().iter().filter(|case| case.op() == "bucketing") {
        let (size, source) = (case.count("s"), Materialised(case.input()));
        let order: Vec<usize> = numbers(&case.0["params"]["perm"]).iter().map(|&i| i as usize).collect();
        let expected: Rows = case.0["expected"].as_array().expect("rows").iter().map(numbers).collect();
        for (mixed, expected) in mixers::bucket_means(&source.0, &order, size).iter().zip(&expected) {
            close(case, mixed, expected, case.tolerance::<f64>());
        }
        let n = source.0.len();
        for number in 0..20 {
            let round = Round { tolerance: 0, number, workers: None };
            let expression = format!("bucketing(size={size},seed=5)");
            let mixing = mixing_of(&expression, &source.geometry(), &round).expect("defined");
            assert_eq!(mixing.rows(), n.div_ceil(size));
            let mut seen = vec![0; n];
            for b in 0..mixing.rows() {
                let members: Vec<usize> = (0..n).filter(|&i| mixing[(b, i)] != 0.0).collect();
                assert_eq!(members.len(), size.min(n - b * size));
                assert!(members.iter().all(|&i| mixing[(b, i)] == 1.0 / members.len() as f64));
                members.iter().for_each(|&i| seen[i] += 1);
            }
            assert!(seen.iter().all(|&times| times == 1), "every worker in exactly one bucket");
        }
    }
}

/// Not required: 1e30 and −1e30 would have to cancel before anything is rounded. Printed, never failed.
#[test]
fn tells_whether_huge_cancelling_values_leave_the_exact_mean() {
    let cases = Case::all();
    let case = cases.iter().find(|case| case.id() == "shared-003").expect("the case exists");
    let result = run_with("mean", &case.input(), 0, Kernels::fastest(), None).expect("a mean");
    let error = distance(&result.vector, &[1.0]);
    println!("shared-003: error {error:e}, bonus {}", if error < 1e-9 { "reached" } else { "not reached" });
    assert!(error <= case.tolerance::<f64>());
}
