//! Forged rows of an independent implementation, `tests/suite/golden/golden.json`, which holds the definitions.

use super::testing::{build, run};
use crate::kernels::Scalar;
use serde_json::Value;

fn rows<T: Scalar>(list: &Value) -> Vec<Vec<T>> {
    let row =
        |row: &Value| row.as_array().unwrap().iter().map(|x| T::from_f64(x.as_f64().unwrap())).collect();
    list.as_array().unwrap().iter().map(row).collect()
}

fn check<T: Scalar>(case: &Value, tolerance: f64) {
    let (given, input) = (&case["params"], rows::<T>(&case["input"]));
    let expression = match case["op"].as_str().unwrap() {
        "attack_sign_flip" => "sign_flip".to_string(),
        "attack_ipm" => format!("inner_product(scale={})", given["eps"]),
        _ => format!("little_is_enough(z={},ddof={})", given["z"], given["ddof"]),
    };
    // One flips every row of its own; the others forge one row of all honest ones.
    let each = expression == "sign_flip";
    let own = if each { &input[..] } else { &input[..1] };
    let expected = if each { case["expected"].clone() } else { Value::from(vec![case["expected"].clone()]) };
    let (found, expected) =
        (run(build(&expression).unwrap().as_mut(), &input, own, 1), rows::<f64>(&expected));
    assert_eq!(found.len(), expected.len(), "{}", case["id"]);
    for (found, expected) in found.concat().iter().zip(expected.concat()) {
        assert!((found.to_f64() - expected).abs() <= tolerance, "{}: {found:?} for {expected}", case["id"]);
    }
}

#[test]
fn attacks_forge_the_expected_rows_in_f64_and_f32() {
    let file: Value = serde_json::from_str(include_str!("../../tests/suite/golden/golden.json")).unwrap();
    let is_attack = |case: &&Value| case["op"].as_str().unwrap().starts_with("attack_");
    let cases: Vec<&Value> = file["cases"].as_array().unwrap().iter().filter(is_attack).collect();
    assert_eq!(cases.len(), 5);
    for case in cases {
        check::<f64>(case, case["tol64"].as_f64().unwrap());
        check::<f32>(case, case["tol32"].as_f64().unwrap());
    }
}
