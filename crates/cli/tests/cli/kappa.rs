//! `byz kappa`: what is promised, what is found, and that the saved messages show it.

use crate::support::{Files, Ran, command, run};
use serde_json::Value;

fn kappa(files: &Files, arguments: &str) -> Ran {
    let mut command = command();
    command.current_dir(files.0.path()).arg("kappa").args(arguments.split_whitespace());
    run(command)
}

fn json(files: &Files, arguments: &str) -> Value {
    serde_json::from_str(&kappa(files, &format!("{arguments} --json")).expect(0).out).unwrap()
}

#[test]
fn constants_are_told_as_published_proved_and_exact() {
    let files = Files::new();
    let told = json(&files, "--rule median --workers 20 --tolerance 3 --dimension 109386");
    assert!((told["exact"].as_f64().unwrap() - 17.0 / 16.0).abs() < 1e-12);
    assert!((told["paper"].as_f64().unwrap() - 803.3).abs() < 0.1);
    let told = json(&files, "--rule gm --workers 20 --tolerance 3");
    assert!((told["proved"].as_f64().unwrap() - 17.0 / 14.0).abs() < 1e-12);
    assert!(told["exact"].is_null() && told["found"].is_null());
    assert!((told["lower_bound"].as_f64().unwrap() - 17.0 / 28.0).abs() < 1e-12);
    // Of two messages the median is the mean, whatever was published.
    let told = json(&files, "--rule median --workers 2 --tolerance 0");
    assert_eq!((told["exact"].as_f64(), told["paper"].as_f64()), (Some(0.0), Some(2.0)));
    let told = json(&files, "--rule trimmed_mean --workers 20 --tolerance 3 --definition squared");
    assert!((told["exact"].as_f64().unwrap() - 3.0 / 14.0).abs() < 1e-12);
}

#[test]
fn the_messages_found_are_saved_and_show_the_ratio() {
    let files = Files::new();
    let told = json(&files, "--rule median --workers 7 --tolerance 2 --dimension 2 --search 0.2");
    assert!((told["found"].as_f64().unwrap() - 5.0 / 4.0).abs() < 1e-9, "{told}");
    files.aggregate("worst_case.npy --rule median --tolerance 2 --output out.npy").expect(0);
    let (rows, found) = (numbers(&files, "worst_case.npy", 14), numbers(&files, "out.npy", 2));
    // The liars are sent first or last.
    let honest = &rows[2 * told["honest"][0].as_u64().unwrap() as usize..][..10];
    let mean = |k: usize| (0..5).map(|i| honest[2 * i + k]).sum::<f64>() / 5.0;
    let away = |x: &[f64]| (x[0] - mean(0)).hypot(x[1] - mean(1));
    let spread = (0..5).map(|i| away(&honest[2 * i..])).sum::<f64>() / 5.0;
    assert!((away(&found) / spread - 5.0 / 4.0).abs() < 1e-9);
}

/// The last numbers of a `.npy` file of f64.
fn numbers(files: &Files, name: &str, count: usize) -> Vec<f64> {
    let bytes = std::fs::read(files.path(name)).unwrap();
    let numbers = bytes[bytes.len() - 8 * count..].chunks_exact(8);
    numbers.map(|eight| f64::from_le_bytes(eight.try_into().unwrap())).collect()
}

#[test]
fn without_time_one_look_is_taken_and_shows_something_even_among_a_thousand() {
    let files = Files::new();
    for more in ["", " --dimension 20000 --definition squared"] {
        for rule in ["median", "krum", "bulyan", "nnm+geometric_median"] {
            // Pairs of so many long messages take their time.
            let workers = if more.is_empty() { 1000 } else { 100 };
            let counts = format!("--rule {rule} --workers {workers} --tolerance 10{more} --search 0");
            let told = json(&files, &counts);
            assert!(told["looks"].as_u64().unwrap() >= 1, "{told}");
            let (found, least) = (told["found"].as_f64().unwrap(), told["lower_bound"].as_f64().unwrap());
            assert!(found >= least * (1.0 - 1e-9), "{told}");
            assert!(told["proved"].as_f64().is_none_or(|proved| found <= proved), "{told}");
        }
    }
    let rule = "nnm+".repeat(20) + "median";
    let told = kappa(&files, &format!("--rule {rule} --workers 9 --tolerance 2 --search 0")).expect(0).out;
    assert!(told.contains("The only look took"), "{told}");
    // All but the command, which can be copied as it stands.
    let wide = |line: &&str| line.chars().count() > 80 && !line.starts_with("    --rule");
    assert_eq!(told.lines().find(wide), None);
}

#[test]
fn a_search_that_found_nothing_says_so_and_saves_nothing() {
    let files = Files::new();
    let counts = "--rule median --workers 60 --tolerance 25 --leverage 1 --search 0";
    let told = json(&files, counts);
    assert!(
        told["found"].is_null() && told["instance"].is_null() && told["looks"].as_u64() >= Some(1),
        "{told}"
    );
    assert!(kappa(&files, counts).expect(0).out.contains("The search found nothing"));
    assert!(!files.path("worst_case.npy").exists());
}

#[test]
fn a_rule_without_a_constant_says_why_and_shows_a_counterexample() {
    let files = Files::new();
    for rule in ["krum", "geometric_median(smoothing=0.1)", "mean", "nnm+mean", "nnm+gm(smoothing=0.1)"] {
        let told = kappa(&files, &format!("--rule {rule} --workers 5 --tolerance 2")).expect(0).out;
        assert!(told.contains("No constant holds") && told.contains("\nByzantine"), "{told}");
        assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
    }
    // Ties go to the lowest index, and so do liars that are tried there.
    for rule in ["krum", "nnm+krum"] {
        let asked = format!("--rule {rule} --workers 5 --tolerance 2 --output krum.npy");
        let told = kappa(&files, &asked).expect(0).out;
        assert!(told.contains("infinite") && told.contains("honest ones last"), "{told}");
        assert!(told.contains("Byzantine   0") && told.contains("honest      4"), "{told}");
    }
    // Nothing is known of caf, and nothing was asked for.
    let told = kappa(&files, "--rule caf --workers 5 --tolerance 1 --output caf.npy").expect(0).out;
    assert!(told.contains("unknown") && !files.path("caf.npy").exists(), "{told}");
    // Only a search has a file of its own.
    assert!(files.path("krum.npy").exists() && !files.path("worst_case.npy").exists());
}

#[test]
fn with_a_promised_leverage_nothing_is_called_exact_that_needs_more() {
    let files = Files::new();
    let arguments = "--rule median --workers 20 --tolerance 3 --json";
    let told = |more: &str| -> Value {
        serde_json::from_str(&kappa(&files, &format!("{arguments}{more}")).expect(0).out).unwrap()
    };
    let (free, restricted) = (told(""), told(" --leverage 2"));
    assert!(free["exact"].is_f64() && free["lower_bound"].is_f64());
    assert!(restricted["exact"].is_null() && restricted["lower_bound"].is_null(), "{restricted}");
    assert_eq!(restricted["proved"], free["proved"]);
}

#[test]
fn a_promise_about_the_messages_is_none_about_mixed_rows() {
    let files = Files::new();
    let proved = |arguments: &str| json(&files, arguments)["proved"].as_f64().unwrap();
    // α = 1/19, and the median's own constants are 1. Of one mixing the linear proof is the better one, (4κ+2)α(1+C); of two
    // the squared one, because the inner mixing knows of C only what always holds.
    let (share, one) = (2.0 / 38.0, proved("--rule nnm+median --workers 40 --tolerance 2 --leverage 1"));
    assert!((one - 6.0 * share * 2.0).abs() < 1e-9, "{one}");
    let both = proved("--rule nnm+nnm+median --workers 40 --tolerance 2 --leverage 1");
    let squared: f64 = 8.0 * share * (8.0 * share * 2.0 + 1.0);
    assert!((both - squared.sqrt()).abs() < 1e-9, "{both}");
    let told = kappa(&files, "--rule nnm+median --workers 40 --tolerance 2 --leverage 30").expect(0).out;
    assert!(told.contains("leverage C = 19, which always holds"), "{told}");
}

#[test]
fn wrong_counts_are_usage() {
    let files = Files::new();
    kappa(&files, "--rule median --workers 5 --tolerance 1 --output worst.txt").expect(2).says(".npy");
    kappa(&files, "--rule median --workers 4 --tolerance 2").expect(2).says("above twice");
    kappa(&files, "--rule median --workers 5 --tolerance 2 --search -1").expect(2).says("number of seconds");
    let nowhere = "--rule median --workers 5 --tolerance 2 --search 1e6 --output nowhere/x.npy";
    kappa(&files, nowhere).expect(2).says("no such directory");
    kappa(&files, "--rule gm --workers 5 --tolerance 2 --leverage 0.5").expect(2).says("--leverage");
    let endless = format!("--rule mean --workers 5 --tolerance 2 --dimension {}", usize::MAX);
    kappa(&files, &endless).expect(0);
    kappa(&files, &format!("{endless} --search 1")).expect(2).says("too many");
    // What `byz aggregate` would not read again.
    kappa(&files, "--rule krum --workers 10001 --tolerance 2 --search 0").expect(2).says("10000");
}
