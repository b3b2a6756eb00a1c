//! What every attack promises: the table is walked for both number types.

use super::{
    Attack, statistics, table,
    testing::{build, run_against, with_defense},
};
use crate::{error::Error, kernels::Scalar, random::Stream, rows_mut::RowsMut};

/// Variants besides the defaults of the table.
const VARIANTS: [&str; 17] = [
    "sign_flip(of=mean)",
    "label_flip(map=shift)",
    "mimic(warmup=3)",
    "mimic(variant=reverse,warmup=1)",
    "little_is_enough(z=quantile,sign=minus,ddof=0)",
    "little_is_enough(z=optimal)",
    "inner_product(scale=optimal)",
    "min_max(perturbation=unit)",
    "min_max(perturbation=sign)",
    "min_sum(perturbation=unit,bound=min)",
    "min_sum(perturbation=sign)",
    "fang(target=median)",
    "gaussian(around=mean)",
    "non_finite(value=huge,coordinate=0)",
    "relocated(place=0.5,angle=90)",
    "worst_case(budget=40,objective=displacement)",
    "worst_of(attacks=[mimic(warmup=2),relocated,zero,worst_of(attacks=[relocated,none])])",
];

fn expressions() -> impl Iterator<Item = &'static str> {
    table::<f32>().iter().map(|entry| entry.name).chain(VARIANTS)
}

fn rows<T: Scalar>(count: usize, dimension: usize, purpose: &str, round: u64) -> Vec<Vec<T>> {
    let row = |i: usize| {
        let mut stream = Stream::new(11, purpose, i as u64, round);
        (0..dimension).map(|k| T::from_f64((k % 5) as f64 - 1.5 + stream.normal())).collect()
    };
    (0..count).map(row).collect()
}

/// Bits, so that NaN equals itself.
fn bits<T: Scalar>(rows: &[Vec<T>]) -> Vec<Vec<u64>> {
    rows.iter().map(|row| row.iter().map(|value| value.to_f64().to_bits()).collect()).collect()
}

const DEFENSE: &str = "nnm+median";

fn one_round<T: Scalar>(
    attack: &mut dyn Attack<T>,
    n: [usize; 2],
    dimension: usize,
    round: u64,
) -> Vec<Vec<T>> {
    let (honest, own) = (rows(n[0], dimension, "honest", round), rows(n[1], dimension, "own", round));
    let sent = run_against(DEFENSE, attack, &honest, &own, round);
    assert_eq!(bits(&honest), bits(&rows::<T>(n[0], dimension, "honest", round)), "honest rows are sacred");
    sent
}

fn deterministic_and_finite<T: Scalar>() {
    for expression in expressions() {
        for dimension in [1, 10, 1000] {
            let [mut one, mut two] = [build::<T>(expression).unwrap(), build::<T>(expression).unwrap()];
            for round in 1..=4 {
                let sent = one_round(&mut *one, [9, 3], dimension, round);
                let again = one_round(&mut *two, [9, 3], dimension, round);
                assert_eq!(bits(&sent), bits(&again), "{expression} {}", T::NAME);
                let finite = sent.iter().flatten().all(|value| value.to_f64().is_finite());
                assert_eq!(finite, expression != "non_finite", "{expression} {}", T::NAME);
            }
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_finite_bits() {
    deterministic_and_finite::<f32>();
    deterministic_and_finite::<f64>();
}

fn continues_from_a_checkpoint<T: Scalar>() {
    for expression in expressions() {
        for stop in 0..5 {
            let mut whole = build::<T>(expression).unwrap();
            let mut state = Vec::new();
            for round in 1..=stop {
                one_round(&mut *whole, [9, 3], 37, round);
                state = whole.state();
            }
            let mut resumed = build::<T>(expression).unwrap();
            resumed.restore(state).unwrap();
            for round in stop + 1..=6 {
                let expected = one_round(&mut *whole, [9, 3], 37, round);
                let found = one_round(&mut *resumed, [9, 3], 37, round);
                assert_eq!(bits(&expected), bits(&found), "{expression} {} after {stop}", T::NAME);
                assert_eq!(bits(&whole.state()), bits(&resumed.state()), "{expression} {}", T::NAME);
            }
        }
    }
}

#[test]
fn a_restored_attack_continues_with_the_same_bits() {
    continues_from_a_checkpoint::<f32>();
    continues_from_a_checkpoint::<f64>();
}

fn survives_small_rounds<T: Scalar>() {
    for expression in expressions() {
        for (honest, byzantine, dimension) in
            [(1, 1, 3), (1, 1, 1), (0, 1, 3), (0, 0, 0), (2, 0, 3), (1, 5, 3), (3, 2, 0), (2, 9, 8)]
        {
            let mut attack = build::<T>(expression).unwrap();
            for round in 1..=3 {
                let sent = one_round(&mut *attack, [honest, byzantine], dimension, round);
                assert_eq!(sent.len(), if dimension == 0 { 0 } else { byzantine });
                let finite = sent.iter().flatten().all(|value| value.to_f64().is_finite());
                assert!(
                    finite || expression == "non_finite",
                    "{expression} {honest} {byzantine} {dimension}"
                );
            }
        }
    }
}

#[test]
fn no_count_of_workers_or_coordinates_is_too_small() {
    survives_small_rounds::<f32>();
    survives_small_rounds::<f64>();
}

#[test]
fn equal_and_non_finite_honest_rows_do_no_harm() {
    for expression in expressions() {
        for value in [0.0, 1e-300, 3.5, 1e30, f64::NAN, f64::INFINITY] {
            let honest = vec![vec![value; 12]; 5];
            let mut attack = build::<f64>(expression).unwrap();
            let sent = run_against(DEFENSE, &mut *attack, &honest, &honest[..2], 1);
            let finite = sent.iter().flatten().all(|x: &f64| x.is_finite());
            assert!(finite || expression == "non_finite" || !value.is_finite(), "{expression} {value}");
        }
    }
}

#[test]
fn unknown_parameters_and_foreign_states_are_errors() {
    for entry in table::<f64>() {
        let error = build::<f64>(&format!("{}(bananas=1)", entry.name)).err();
        assert!(matches!(error, Some(Error::UnknownParameter { .. })), "{}", entry.name);
        let mut attack = build::<f64>(entry.name).unwrap();
        assert!(attack.restore(vec![vec![1.0]; 9]).is_err(), "{}", entry.name);
    }
}

/// What the defaults and variants do to real rules, seen through the defence.
fn moved(defense: &str, expression: &str) -> f64 {
    let (honest, own) = (rows::<f64>(9, 20, "honest", 1), rows::<f64>(3, 20, "own", 1));
    let sent = run_against(defense, &mut *build(expression).unwrap(), &honest, &own, 1);
    with_defense(defense, &honest, 1, |view| {
        let mut mean = Vec::new();
        statistics::mean(view, &mut mean);
        view.displacement(&sent.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mean)
    })
}

#[test]
fn attacks_that_ask_the_defence_beat_those_that_guess() {
    for defense in ["mean", "median", "nnm+krum", "trimmed_mean", "nnm+geometric_median", "centered_clipping"]
    {
        for z in [0.0, 1.0, -1.0] {
            let optimal = moved(defense, "little_is_enough(z=optimal)");
            assert!(optimal >= moved(defense, &format!("little_is_enough(z={z})")), "{defense} {z}");
            let optimal = moved(defense, "inner_product(scale=optimal)");
            assert!(optimal >= moved(defense, &format!("inner_product(scale={z})")), "{defense} {z}");
        }
        let worst = moved(defense, "worst_of");
        for member in ["sign_flip", "little_is_enough", "inner_product", "min_max", "mimic"] {
            assert!(worst >= moved(defense, member), "{defense} {member}");
        }
    }
}

#[test]
fn a_defence_that_always_refuses_is_no_reason_to_stop() {
    for expression in expressions() {
        let (honest, mut own) = (rows::<f32>(4, 6, "honest", 1), rows::<f32>(2, 6, "own", 1).concat());
        let mut attack = build::<f32>(expression).unwrap();
        with_defense("bulyan", &honest, 1, |view| attack.forge(view, RowsMut::new(&mut own, 6))).unwrap();
    }
}

#[test]
fn what_an_attack_acts_on_is_what_the_table_says() {
    for entry in table::<f32>() {
        let attack = build::<f32>(entry.name).unwrap();
        assert_eq!(
            entry.requirement,
            format!("acts on {:?}", attack.acts_on()).to_lowercase(),
            "{}",
            entry.name
        );
    }
}
