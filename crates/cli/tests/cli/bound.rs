//! `byz bound`: the theorem's terms, and what it needs to be told.

use crate::support::{Files, Ran, command, run};
use serde_json::Value;

fn bound(files: &Files, arguments: &str) -> Ran {
    let mut command = command();
    command.current_dir(files.0.path()).arg("bound").args(arguments.split_whitespace());
    run(command)
}

#[test]
fn the_quartic_needs_no_constants_and_its_bound_is_vacuous_at_3000_rounds() {
    let files = Files::new();
    let arguments = "--rule gm --workers 20 --byzantine 3 --task quartic(shift=1e-6) --rounds 3000 \
                     --initial-momentum-error 0 --epsilon 1";
    let told: Value =
        serde_json::from_str(&bound(&files, &format!("{arguments} --json")).expect(0).out).unwrap();
    let published = &told["forms"]["published"];
    assert!((published["bound"].as_f64().unwrap() - 299.0).abs() < 1.0, "{told}");
    assert!((published["l1"].as_f64().unwrap() - 0.367).abs() < 1e-3);
    assert_eq!(published["vacuous"], true);
    let terms: f64 =
        published["terms"].as_array().unwrap().iter().map(|term| term["value"].as_f64().unwrap()).sum();
    assert!((terms / published["bound"].as_f64().unwrap() - 1.0).abs() < 1e-12);
    assert!(told["forms"]["improved"]["bound"].as_f64() < published["bound"].as_f64());
    let text = bound(&files, arguments).expect(0).out;
    assert!(text.contains("vacuous") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn without_the_gradient_at_the_start_nothing_is_said_of_being_vacuous_but_how_to_ask() {
    let files = Files::new();
    let constants = "--l0 1 --l1 1 --sigma 1 --zeta 1 --initial-gap 1 --initial-momentum-error 1 \
                     --heterogeneity-gap 1";
    let arguments = format!("--rule gm --workers 20 --byzantine 3 --rounds 10 {constants}");
    let unknown = bound(&files, &arguments).expect(0).out;
    assert!(unknown.contains("--initial-gradient would tell"), "{unknown}");
    let little = bound(&files, &format!("{arguments} --initial-gradient 1")).expect(0).out;
    assert!(little.contains("improved: vacuous") && !little.contains("would tell"), "{little}");
    let much = bound(&files, &format!("{arguments} --initial-gradient 1e9")).expect(0).out;
    assert!(!much.contains("vacuous"), "{much}");
    // L₁² is out of range, and Δ* zero.
    let neither = format!("{arguments} --l1 1e200 --heterogeneity-gap 0 --initial-gradient 1e9");
    let neither = neither.replace("--l1 1 ", "").replace("--heterogeneity-gap 1 ", "");
    assert!(bound(&files, &neither).expect(0).out.contains("improved: vacuous"));
}

#[test]
fn a_task_brings_its_own_dimension() {
    let files = Files::new();
    let arguments = "--rule median --workers 20 --byzantine 3 --rounds 100 --json --task";
    let of_task = bound(&files, &format!("{arguments} quartic(dimension=7)")).expect(0).out;
    assert_eq!(
        of_task,
        bound(&files, &format!("{arguments} quartic(dimension=7) --dimension 7")).expect(0).out
    );
    assert_ne!(
        of_task,
        bound(&files, &format!("{arguments} quartic(dimension=7) --dimension 1")).expect(0).out
    );
    bound(&files, &format!("{arguments} quartic --dimension 0")).expect(2).says("--dimension");
}

#[test]
fn what_a_task_fills_in_is_shown_and_takes_no_longer_in_many_dimensions() {
    let files = Files::new();
    let arguments = "--rule gm --workers 20 --byzantine 3 --rounds 100 --json --task";
    let told = |task: &str| -> Value {
        serde_json::from_str(&bound(&files, &format!("{arguments} {task}")).expect(0).out).unwrap()
    };
    let number = |told: &Value, name: &str| told["forms"]["published"][name].as_f64().unwrap();
    let many = told("quartic(dimension=100000)");
    assert!(
        (number(&many, "initial_gap") - 1e10).abs() < 1.0
            && many["forms"]["published"]["step_allowed"] == true
    );
    // Momentum starts from zero, so the workers' shifts count.
    let (near, far) = (told("quartic(shift=1e-6)"), told("quartic(shift=100)"));
    assert!((number(&near, "initial_momentum_error") - 4.0 * 10f64.powf(1.5)).abs() < 1e-3);
    assert!(number(&far, "initial_momentum_error") > 2.0 * number(&near, "initial_momentum_error"));
    assert!(number(&far, "zeta") > 200.0 && number(&far, "sigma") < 1e-4);
}

#[test]
fn what_is_missing_or_impossible_is_usage() {
    let files = Files::new();
    let counts = "--workers 20 --byzantine 3 --rounds 100";
    let beyond = "--workers 3 --byzantine 9223372036854775808 --rounds 3 --task quartic";
    bound(&files, &format!("--rule median {beyond}")).expect(2).says("above twice");
    bound(&files, &format!("--rule gm {counts} --task quartic --l0 1 --l1 0.5"))
        .expect(2)
        .says("no --l0 below 64");
    bound(&files, &format!("--rule gm {counts} --l0 1 --l1 1")).expect(2).says("--sigma is missing");
    bound(&files, &format!("--rule mean {counts} --task quartic")).expect(2).says("says nothing of mean");
    bound(&files, &format!("--rule gm {counts} --task mnist_mlp")).expect(2).says("closed form");
    bound(&files, &format!("--rule gm {counts} --task quartic --l1 0")).expect(2).says("--l1");
    bound(&files, &format!("--rule gm {counts} --task quartic --l0 5")).expect(2).says("goes with --l1");
    bound(&files, &format!("--rule nnm+gm {counts} --task quartic --leverage 0.5"))
        .expect(2)
        .says("--leverage");
    bound(&files, &format!("--rule gm {counts} --task quartic(clip=2)")).expect(2).says("closed form");
    bound(&files, &format!("--rule gm {counts} --task quartic(freedom=1.5)")).expect(2).says("variance");
    bound(&files, &format!("--rule gm {counts} --task quartic(shift=1e308)")).expect(2).says("beyond");
    bound(&files, "--rule gm --workers 6 --byzantine 3 --rounds 9 --task quartic").expect(2);
    bound(&files, &format!("--rule gm {counts} --task quartic --zeta -1")).expect(2).says("--zeta");
    let many = "--rule gm --workers 100000000000 --byzantine 3 --rounds 10 --task quartic";
    bound(&files, many).expect(2).says("too many");
}
