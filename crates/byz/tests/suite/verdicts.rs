//! Bad input is a verdict, never a number: invalid and missing messages, for every rule.

use crate::reference::{
    data::{Instance, Look},
    run::run,
};
use byz::{
    Aggregate, Defense, Error, Kernels, Message, Messages, Options, Reason, Refusal, Row, Scalar, Verdict,
    aggregators,
};

const N: usize = 13;
const F: usize = 2;
const D: usize = 37;

fn rows<T: Scalar>() -> Vec<Vec<T>> {
    Instance::random(Look::Benign, N, F, D, 21).rows
}

fn aggregate<T: Scalar>(rule: &str, messages: &Messages<'_, T>, f: usize) -> byz::Result<Aggregate<T>> {
    Defense::new(rule, f)?.aggregate(messages, &Options::default())
}

/// Every rule but monna trusting the worker in question.
fn rules() -> impl Iterator<Item = String> {
    aggregators::TABLE.iter().map(|entry| match entry.name {
        "monna" => "monna(trusted=1)".to_string(),
        name => name.to_string(),
    })
}

fn invalid_lowers_both_counts<T: Scalar>(bad: T, at: usize) {
    let mut rows = rows::<T>();
    rows[4][at] = bad;
    let without: Vec<Vec<T>> =
        rows.iter().enumerate().filter(|(i, _)| *i != 4).map(|(_, r)| r.clone()).collect();
    for rule in rules() {
        let result = run(&rule, &rows, F, Kernels::fastest()).unwrap_or_else(|e| panic!("{rule}: {e}"));
        assert_eq!((result.messages, result.tolerance), (N - 1, F - 1), "{rule} {bad:?}");
        let Verdict::Invalid(Reason::NonFinite { coordinate, .. } | Reason::OutOfRange { coordinate, .. }) =
            result.verdicts[4]
        else {
            panic!("{rule} {bad:?}: {:?}", result.verdicts[4]);
        };
        assert_eq!(coordinate, at);
        assert!(result.weights.is_none_or(|weights| weights[4] == 0.0));
        let expected = run(&rule, &without, F - 1, Kernels::fastest()).expect("the same without the row");
        assert_eq!(result.vector, expected.vector, "{rule} {bad:?}: as if it had not been there");
    }
}

#[test]
fn a_number_that_is_not_finite_makes_its_message_invalid_for_every_rule() {
    for at in [0, 17, D - 1] {
        for bad in [
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::from_bits(0xFFC0_0001),
            f32::from_bits(0x7F80_0001),
        ] {
            invalid_lowers_both_counts(bad, at);
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            invalid_lowers_both_counts(bad, at);
        }
    }
}

#[test]
fn an_f64_whose_square_would_overflow_is_out_of_range_for_every_rule() {
    for bad in [1e147, -1e200, f64::MAX] {
        invalid_lowers_both_counts(bad, 17);
    }
}

#[test]
fn numbers_that_cancel_are_still_out_of_range() {
    let rows = [vec![1e200], vec![-1e200], vec![1.0], vec![3.0]];
    for rule in ["mean", "median", "trimmed_mean"] {
        let refused = run(rule, &rows, 1, Kernels::fastest()).expect_err("two invalid, one tolerated");
        assert!(
            matches!(refused, Error::Refused { reason: Refusal::TooManyInvalid { invalid: 2, .. }, .. }),
            "{rule}"
        );
    }
}

#[test]
fn more_invalid_messages_than_the_tolerance_refuse_the_round() {
    let mut rows = rows::<f32>();
    for i in 0..=F {
        rows[i + 3][i] = f32::NAN;
    }
    for rule in rules() {
        let Err(Error::Refused { reason, verdicts }) = run(&rule, &rows, F, Kernels::fastest()) else {
            panic!("{rule} went on");
        };
        assert_eq!(reason, Refusal::TooManyInvalid { invalid: F + 1, tolerance: F }, "{rule}");
        assert_eq!(verdicts.iter().filter(|verdict| verdict.name() == "invalid").count(), F + 1);
    }
}

#[test]
fn missing_messages_keep_the_tolerance() {
    let rows = rows::<f64>();
    let mut messages = Messages::from_rows(&rows);
    messages.workers[5] = Message::Missing;
    messages.workers[6] = Message::Missing;
    let rest: Vec<Vec<f64>> =
        rows.iter().enumerate().filter(|(i, _)| !(5..7).contains(i)).map(|(_, r)| r.clone()).collect();
    for rule in rules() {
        let result = aggregate(&rule, &messages, F).unwrap_or_else(|error| panic!("{rule}: {error}"));
        assert_eq!((result.messages, result.tolerance), (N - 2, F), "{rule}");
        assert_eq!(result.verdicts[5], Verdict::Missing);
        assert_eq!(result.vector, run(&rule, &rest, F, Kernels::detect()).expect("defined").vector, "{rule}");
    }
}

/// Krum promises something for 7 messages with f = 2, not for 8 with 3: the counts are those after the verdicts, whether a
/// look at the length or at the numbers gave them.
#[test]
fn counts_are_judged_after_every_verdict() {
    let clean = rows::<f32>();
    for bad in [vec![f32::NAN; D], vec![1.0; D - 1]] {
        let mut sent = clean[..7].to_vec();
        sent.push(bad);
        let strict = Defense::new("krum", 3).expect("a rule").strict(true);
        let result = strict.aggregate(&Messages::from_rows(&sent), &Options::default());
        let result = result.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((result.messages, result.tolerance, result.warnings.len()), (7, 2, 0));
        assert_eq!(result.verdicts[7].name(), "invalid");
        // Five messages with f = 2 have a median, six with 3 do not.
        sent.drain(..2);
        assert_eq!(aggregate("median", &Messages::from_rows(&sent), 3).expect("defined").messages, 5);
    }
    // And a refusal tells whose message was invalid.
    let mut sent = clean[..4].to_vec();
    sent[1][0] = f32::NAN;
    match aggregate("median", &Messages::from_rows(&sent), 3) {
        Err(Error::Refused { verdicts, .. }) => assert_eq!(verdicts[1].name(), "invalid"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn among_identical_messages_the_first_are_chosen() {
    let same = vec![vec![1.0f64; 3]; 7];
    for (rule, chosen) in [("smea", 5), ("minimum_diameter_averaging", 5), ("multi_krum", 3), ("krum", 1)] {
        let weights =
            aggregate(rule, &Messages::from_rows(&same), 2).expect("defined").weights.expect("told");
        let used: Vec<usize> = (0..7).filter(|&i| weights[i] > 0.0).collect();
        assert_eq!(used, (0..chosen).collect::<Vec<_>>(), "{rule}");
    }
}

#[test]
fn wrong_lengths_and_malformed_messages_are_invalid() {
    let mut rows = rows::<f64>();
    rows[3].pop();
    rows[3].pop();
    let mut messages = Messages::from_rows(&rows);
    messages.workers[8] = Message::Malformed("truncated".into());
    for rule in rules() {
        let result = aggregate(&rule, &messages, F).unwrap_or_else(|error| panic!("{rule}: {error}"));
        assert_eq!((result.messages, result.tolerance), (N - 2, 0), "{rule}");
        assert_eq!(result.verdicts[3], Verdict::Invalid(Reason::WrongLength { found: D - 2, expected: D }));
        assert_eq!(result.verdicts[8], Verdict::Invalid(Reason::Malformed("truncated".into())));
    }
}

/// 21 workers of whom 10 may lie. Five honest ones are late, so 6 honest and 10 lying messages arrive: the round
/// cannot be decided, whatever length the liars agree on.
#[test]
fn liars_cannot_outvote_the_honest_length_while_honest_messages_are_missing() {
    let honest = vec![vec![1.0f64; 8]; 6];
    let lies = vec![vec![-9.0f64; 5]; 10];
    let row = |row: &'static [f64]| Message::Row(Row::Slice(row));
    let leak = |rows: Vec<Vec<f64>>| rows.into_iter().map(|r| row(r.leak())).collect::<Vec<_>>();
    let mut workers = leak(honest);
    workers.extend(leak(lies));
    workers.extend(vec![Message::Missing; 5]);
    let messages = Messages { workers, dimension: None };
    for rule in ["median", "geometric_median", "trimmed_mean"] {
        let result = aggregate(rule, &messages, 10);
        assert!(result.is_err(), "{rule} gave the liars' {:?}", result.map(|result| result.vector));
    }
}

/// Ten seconds of search, whatever n is.
#[test]
fn an_exact_search_refuses_beyond_its_budget() {
    let rows = Instance::<f32>::random(Look::Benign, 100, 10, 10, 3).rows;
    let refused = run("smea", &rows, 10, Kernels::fastest()).expect_err("too many subsets");
    let Error::Refused { reason: Refusal::Budget { rule: "smea", steps: 30_000 }, .. } = refused else {
        panic!("{refused}");
    };
}

#[test]
fn a_trusted_worker_without_a_valid_message_refuses_the_round() {
    let mut rows = rows::<f32>();
    rows[0][3] = f32::NAN;
    let refused = run("monna", &rows, F, Kernels::fastest()).expect_err("nobody to trust");
    assert!(matches!(refused, Error::Refused { reason: Refusal::TrustedWorker { worker: 0 }, .. }));
    assert!(run("bucketing+monna", &rows, F, Kernels::fastest()).is_err());
    assert!(run("monna(trusted=99)", &rows, F, Kernels::fastest()).is_err());
}

#[test]
fn nothing_at_all_and_rows_without_coordinates_do_not_panic() {
    for rule in rules().chain(rules().map(|rule| format!("nnm+{rule}"))) {
        let none: [Vec<f64>; 0] = [];
        assert!(run(&rule, &none, 0, Kernels::fastest()).is_err(), "{rule}");
        for n in [1, 9] {
            // An empty vector or a refusal; both are answers.
            if let Ok(result) = run(&rule, &vec![Vec::<f32>::new(); n], 1.min(n - 1), Kernels::fastest()) {
                assert!(result.vector.is_empty());
            }
        }
    }
}

#[test]
fn inputs_are_never_modified() {
    let mut rows = rows::<f32>();
    rows[2][5] = f32::NAN;
    rows[7][5] = 3e38;
    let before: Vec<Vec<u32>> = rows.iter().map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
    for rule in rules().chain(["arc+nnm+trimmed_mean".to_string(), "clipping+median".to_string()]) {
        run(&rule, &rows, F, Kernels::fastest()).unwrap_or_else(|error| panic!("{rule}: {error}"));
        let after: Vec<Vec<u32>> = rows.iter().map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
        assert_eq!(before, after, "{rule}");
    }
}

#[test]
fn a_tolerance_of_any_size_is_refused_without_overflow() {
    let rows = rows::<f32>();
    for rule in rules().chain(rules().map(|rule| format!("nnm+{rule}"))) {
        for tolerance in [N, 1 << 62, 1 << 63, (1 << 63) + 1, usize::MAX] {
            let refused = run(&rule, &rows, tolerance, Kernels::fastest()).expect_err("nobody may be honest");
            assert!(matches!(refused, Error::Refused { reason: Refusal::Undefined { .. }, .. }), "{rule}");
        }
    }
}
