//! The searched attack does at least as much damage as every other one of the catalogue.

use byz::{
    Engine, attacks,
    experiment::{Draft, Opened, open},
};

const DEFENSES: [&str; 4] = ["krum", "median", "trimmed_mean", "geometric_median"];

/// Strengths besides the defaults of the table.
const VARIANTS: [&str; 11] = [
    "sign_flip(of=mean)",
    "mimic(variant=reverse)",
    "little_is_enough(sign=minus)",
    "little_is_enough(z=optimal)",
    "inner_product(scale=1)",
    "inner_product(scale=optimal)",
    "min_max(perturbation=unit)",
    "min_max(perturbation=sign)",
    "min_sum(perturbation=unit)",
    "min_sum(perturbation=sign)",
    "fang(target=median)",
];

/// The mean length of the true gradient over the run, which is what the convergence theorem bounds; mean of six
/// seeds.
fn damage(defense: &str, attack: &str) -> f64 {
    const SEEDS: u64 = 6;
    const ROUNDS: u64 = 300;
    let one = |seed| {
        let draft = Draft {
            task: Some("quartic(shift=1,noise=0.3)".into()),
            workers: Some(20),
            byzantine: Some(3),
            defense: Some(defense.into()),
            attack: Some(attack.into()),
            rate: Some(0.1),
            rounds: Some(ROUNDS),
            seed: Some(seed),
            ..Draft::default()
        };
        let Ok(Opened::F64(mut trainer)) =
            open(&draft.resolve().expect("a good configuration"), &byz::data::Directory::at("unused"))
        else {
            panic!("the quartic is in f64")
        };
        let length = |x: &[f64]| 4.0 * x.iter().map(|x| x * x).sum::<f64>().powf(1.5);
        let round = |_| {
            trainer.round(Engine { threads: 1, ..Engine::default() }, false).expect("runs");
            length(&trainer.parameters)
        };
        (0..ROUNDS).map(round).sum::<f64>() / ROUNDS as f64
    };
    (0..SEEDS).map(one).sum::<f64>() / SEEDS as f64
}

fn holds(mixing: &str) {
    std::thread::scope(|scope| {
        for defense in DEFENSES {
            scope.spawn(move || {
                let defense = format!("{mixing}{defense}");
                let worst = damage(&defense, "worst_case");
                // The quartic has no labels to flip.
                let all = attacks::table::<f64>().iter().map(|entry| entry.name);
                let others = all.filter(|&name| name != "worst_case" && name != "label_flip").chain(VARIANTS);
                for other in others {
                    let damage = damage(&defense, other);
                    assert!(worst >= damage, "{defense}: {other} does {damage}, the search {worst}");
                }
            });
        }
    });
}

#[test]
fn no_other_attack_does_more_damage() {
    holds("");
}

#[test]
fn nor_with_mixing() {
    holds("nnm+");
}
