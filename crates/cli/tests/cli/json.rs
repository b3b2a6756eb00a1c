//! What programs read.

use crate::support::{FIVE, Files};
use serde_json::{Value, json};

#[test]
fn one_object_has_everything() {
    let files = Files::new();
    files.five();
    let ran = files.aggregate(&format!("{FIVE} --rule krum --tolerance 1 --json --round 3")).expect(0);
    assert_eq!(ran.out.lines().count(), 1);
    let report = ran.json();
    assert_eq!(report["rule"], "krum");
    assert_eq!(report["tolerance"], 1);
    assert_eq!(report["dimension"], 3);
    assert_eq!(report["messages"], 5);
    assert_eq!(report["round"], 3);
    assert_eq!(report["warnings"], json!([]));
    assert_eq!(report["extra_passes"], 0);
    assert_eq!(
        report["verdicts"][1],
        json!({ "worker": 1, "file": "w1.npy", "verdict": "used", "reason": null })
    );
    let selected = report["selected"][0].as_u64().unwrap() as usize;
    assert_eq!(report["weights"][selected], 1.0);
    assert_eq!(report["distances"][selected], 0.0);
    assert_eq!(report["scores"].as_array().unwrap().len(), 5);
}

#[test]
fn every_rule_tells_its_own_details() {
    let files = Files::new();
    files.five();
    for (rule, keys) in [
        ("geometric_median", &["iterations", "gap"][..]),
        ("multi_krum", &["selected", "scores"]),
        ("minimum_diameter_averaging", &["selected", "diameter"]),
        ("centered_clipping", &["clipped"]),
        ("divide_and_conquer", &["selected"]),
    ] {
        let report = files.aggregate(&format!("{FIVE} --rule {rule} --tolerance 1 --json")).expect(0).json();
        for key in keys {
            assert!(!report[key].is_null(), "{rule} without {key}: {report}");
        }
    }
}

#[test]
fn warnings_are_in_the_object_and_on_standard_error() {
    let files = Files::new();
    files.five();
    let ran = files.aggregate(&format!("{FIVE} --rule krum --tolerance 2 --json")).expect(0);
    assert_eq!(ran.json()["warnings"].as_array().unwrap().len(), 1);
    ran.says("byz: warning: ");
}

#[test]
fn a_refused_round_prints_its_verdicts_too() {
    let files = Files::new();
    files.five().vector("nan.npy", &[f32::NAN; 3]);
    let ran = files.aggregate(&format!("{FIVE} nan.npy --rule krum --tolerance 0 --json")).expect(3);
    let report = ran.json();
    assert_eq!(report["verdicts"][5]["verdict"], "invalid");
    assert_eq!(report["verdicts"][5]["reason"], "NaN at coordinate 0");
    assert!(report["refused"].as_str().unwrap().contains("more than the tolerance of 0"), "{report}");
    assert_eq!(report["weights"], Value::Null);
}

#[test]
fn what_is_not_a_number_is_null() {
    let files = Files::new();
    files.five().vector("inf.npy", &[f32::INFINITY; 3]);
    let ran = files.aggregate(&format!("{FIVE} inf.npy --rule median --tolerance 1 --json")).expect(0);
    // The parser accepts no bare NaN or inf, so it is enough that it reads the text.
    assert_eq!(ran.json()["distances"][5], Value::Null);
    assert_eq!(ran.json()["weights"][5], 0.0);
}
