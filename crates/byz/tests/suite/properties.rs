//! The same promises on random counts, dimensions and rules, and on arbitrary bits in up to f rows.

use crate::reference::{
    data::{Instance, Look, widen},
    run::run,
    vectors::{distance, mean_of, norm, spread},
};
use byz::{Error, Kernels, Scalar, aggregators};
use proptest::{prelude::*, test_runner::RngSeed};

const PREFIXES: [&str; 8] =
    ["", "nnm+", "bucketing+", "bucketing(size=3)+", "clipping+", "arc+", "arc+nnm+", "nnm+nnm+"];

/// Honest rows first; the rest has whatever bits came.
fn check<T: Scalar>(
    prefix: &str,
    rule: usize,
    n: usize,
    d: usize,
    seed: u64,
    lies: &[Vec<T>],
) -> Result<(), TestCaseError> {
    let entry = &aggregators::TABLE[rule % aggregators::TABLE.len()];
    let f = lies.len();
    let honest = Instance::<T>::random(Look::Benign, n - f, 0, d, seed);
    let mut rows = honest.rows.clone();
    rows.extend(lies.iter().map(|lie| lie[..d].to_vec()));
    let expression = format!("{prefix}{}", entry.name);
    for kernels in Kernels::available() {
        let result = match run(&expression, &rows, f, kernels) {
            // Undefined counts and monna behind bucketing are answers too.
            Err(Error::Refused { .. } | Error::Usage(_)) => continue,
            Err(other) => return Err(TestCaseError::fail(format!("{expression}: {other}"))),
            Ok(result) => result,
        };
        let found = widen(&result.vector);
        prop_assert!(found.iter().all(|x| x.is_finite()), "{expression} n={n} f={f} d={d}: not finite");
        if !entry.properties.bounded || !result.warnings.is_empty() {
            continue;
        }
        let mean = mean_of(&honest.wide, &(0..n - f).collect::<Vec<_>>());
        // Constants are at most √n-like for these counts; an unbounded result is off by many powers of ten.
        let reach = match entry.name {
            "sign_majority" => 2.0 * (d as f64).sqrt() + norm(&mean),
            "centered_clipping" => 10.0 + norm(&mean),
            _ => 8.0 * (spread(&honest.wide) + honest.wide.iter().map(|row| norm(row)).fold(0.0, f64::max)),
        };
        let error = distance(&found, &mean);
        prop_assert!(
            error <= reach,
            "{expression} {} n={n} f={f} d={d}: {error:e} away, reach {reach:e}",
            T::NAME
        );
    }
    Ok(())
}

/// Bits drawn evenly, or from the corners where arithmetic breaks.
fn bits32() -> impl Strategy<Value = f32> {
    let corners = [
        0,
        1,
        0x8000_0000,
        0x8000_0001,
        0x007F_FFFF,
        0x7F7F_FFFF,
        0xFF7F_FFFF,
        0x7F80_0000,
        0x7FC0_0000,
        0x7149_F2CA,
    ];
    prop_oneof![4 => any::<u32>(), 1 => proptest::sample::select(corners.to_vec())].prop_map(f32::from_bits)
}

fn bits64() -> impl Strategy<Value = f64> {
    let corners =
        [1e-320, -1e-320, 1e146, -1e146, 1e100, -1e100, 1e30, f64::MAX, f64::NAN, f64::INFINITY, 0.0, 1.0];
    prop_oneof![
        4 => any::<u64>().prop_map(f64::from_bits),
        3 => any::<u32>().prop_map(|bits| f64::from(f32::from_bits(bits))),
        1 => proptest::sample::select(corners.to_vec()),
    ]
}

/// One row of bits, or one number everywhere.
fn lie<T: Clone + std::fmt::Debug + 'static>(
    bits: impl Strategy<Value = T> + Clone + 'static,
) -> impl Strategy<Value = Vec<T>> {
    prop_oneof![proptest::collection::vec(bits.clone(), 80), bits.prop_map(|one| vec![one; 80])]
}

proptest! {
    // A fixed seed, so that a failure is everybody's; another seed looks further.
    #![proptest_config(ProptestConfig {
        cases: 12_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_f32_bits_in_up_to_f_rows_leave_a_finite_result_near_the_honest_rows(
        prefix in proptest::sample::select(PREFIXES.to_vec()), rule in 0usize..100, honest in 0usize..12,
        d in 1usize..80, seed in any::<u64>(), lies in proptest::collection::vec(lie(bits32().boxed()), 0..5),
    ) {
        let n = 2 * lies.len() + 1 + honest;
        check(prefix, rule, n, d, seed, &lies)?;
    }

    #[test]
    fn any_f64_bits_in_up_to_f_rows_leave_a_finite_result_near_the_honest_rows(
        prefix in proptest::sample::select(PREFIXES.to_vec()), rule in 0usize..100, honest in 0usize..12,
        d in 1usize..80, seed in any::<u64>(), lies in proptest::collection::vec(lie(bits64().boxed()), 0..5),
    ) {
        let n = 2 * lies.len() + 1 + honest;
        check(prefix, rule, n, d, seed, &lies)?;
    }

    #[test]
    fn expressions_of_any_text_are_errors_or_defences_and_never_panics(text in "[a-z_+(),=0-9 ]{0,30}") {
        let _ = byz::Defense::new(&text, 1);
    }
}
