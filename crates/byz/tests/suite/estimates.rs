//! What a run estimates of the theorem's constants, against what is known of the quartic.

use byz::{
    Engine, Estimates, Trainer,
    experiment::{Diagnostics, Draft, Opened, open},
};

const HONEST: usize = 10;

fn trainer(task: &str, worker: &str, look: Option<u64>) -> Trainer<f64> {
    let draft = Draft {
        task: Some(task.into()),
        workers: Some(13),
        byzantine: Some(3),
        attack: Some("little_is_enough(z=1)".into()),
        defense: Some("nnm+trimmed_mean".into()),
        worker: Some(vec![worker.into()]),
        rate: Some(0.05),
        rounds: Some(400),
        seed: Some(3),
        diagnostics: look.map(|every| Diagnostics { every }),
        ..Draft::default()
    };
    match open(&draft.resolve().expect("a good configuration"), &byz::data::Directory::at("unused"))
        .expect("needs no data")
    {
        Opened::F64(trainer) => trainer,
        Opened::F32(_) => panic!("the quartic is in f64"),
    }
}

fn looks(task: &str, worker: &str, rounds: u64) -> Vec<Estimates> {
    let mut trainer = trainer(task, worker, Some(1));
    (0..rounds)
        .map(|_| trainer.round(Engine::default(), true).expect("runs").estimates.expect("looks"))
        .collect()
}

fn mean(looks: &[Estimates], of: impl Fn(&Estimates) -> f64) -> f64 {
    looks.iter().map(of).sum::<f64>() / looks.len() as f64
}

#[test]
fn noise_and_heterogeneity_are_told_apart_without_bias() {
    // Without noise every look tells the shifts exactly.
    let exact = looks("quartic(shift=0.2,noise=0)", "momentum", 2)[1].zeta_squared;
    assert!((0.2..0.6).contains(&exact), "{exact}");
    let noisy = looks("quartic(shift=0.2,noise=0.5)", "momentum", 400);
    let (zeta, sigma) = (mean(&noisy, |look| look.zeta_squared), mean(&noisy, |look| look.sigma_squared));
    // ζ² has a standard deviation of σ²√(2/dG) and more per look; a fiftieth of σ² is five of them over 400 looks.
    assert!((zeta - exact).abs() < 0.05, "ζ² {zeta}, exactly {exact}");
    // σ² = d·0.25.
    assert!((sigma / 2.5 - 1.0).abs() < 0.02, "σ² {sigma}");
}

#[test]
fn the_first_momentum_error_is_that_of_the_start() {
    let zero = looks("quartic(shift=0.001,noise=0.1)", "momentum", 1)[0].initial_momentum_error.unwrap();
    assert!((zero / (4.0 * 10f64.powf(1.5)) - 1.0).abs() < 0.01, "V₀ {zero}");
    let own = looks("quartic(shift=0.001,noise=0.1)", "momentum(start=gradient)", 2);
    let first = own[0].initial_momentum_error.unwrap();
    // σ = 0.1·√d.
    assert!((first / 0.1 / 10f64.sqrt() - 1.0).abs() < 0.3, "V₀ {first}");
    assert_eq!(own[1].initial_momentum_error, None);
}

#[test]
fn local_smoothness_is_that_of_the_fourth_power_and_the_line_lies_above_it() {
    let looks = looks("quartic(shift=0.01,noise=0.01)", "momentum", 300);
    for look in &looks {
        // r from ‖∇f‖ = 4r³; the largest curvature nearby is 12r², and a step moves r by at most 0.05.
        let r = (look.gradient_norm / 4.0).cbrt() + 0.06;
        let smoothness = look.smoothness.unwrap();
        assert!(smoothness <= 12.0 * r * r + 1e-9, "{smoothness} at {}", look.gradient_norm);
    }
    let [l0, l1] = looks[299].envelope.unwrap();
    for look in &looks {
        assert!(l0 + l1 * look.gradient_norm >= look.smoothness.unwrap() - 1e-9);
    }
    assert!(l0 > 0.0 && l1 > 0.0 && l0 * l1 * l1 < 40.0, "{l0} {l1}");
}

#[test]
fn realised_coefficients_agree_with_the_report_and_with_the_chosen_tolerance() {
    let mut trainer = trainer("quartic(shift=0.5,noise=0.5)", "momentum", Some(5));
    for round in 1..=20u64 {
        let report = trainer.round(Engine::default(), true).unwrap();
        let Some(look) = report.estimates else {
            assert!(round > 1 && round % 5 != 0);
            continue;
        };
        let squared = look.kappa_squared.unwrap();
        assert!((squared / report.kappa.unwrap() - 1.0).abs() < 1e-9);
        assert!((1.0..=HONEST as f64 / 2.0).contains(&look.leverage.unwrap()));
        let chosen = look.tolerances.iter().find(|(tolerance, _)| *tolerance == 3).unwrap().1;
        assert!((chosen / look.kappa_linear.unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(look.tolerances.len(), 7);
        assert_eq!(trainer.defense.tolerance, 3);
    }
}

#[test]
fn looking_changes_nothing() {
    let task = "quartic(shift=0.5,noise=0.5)";
    let [mut plain, mut watched] = [None, Some(3)].map(|look| trainer(task, "momentum", look));
    for _ in 0..30 {
        let plain = plain.round(Engine::default(), false).unwrap();
        let watched = watched.round(Engine::default(), false).unwrap();
        assert_eq!(plain.loss.to_bits(), watched.loss.to_bits());
    }
    assert_eq!(plain.parameters, watched.parameters);
}
