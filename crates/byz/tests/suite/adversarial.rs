//! Inputs made to hurt: where iterations stall, sums cancel and centres are far from what they centre.

use crate::reference::{
    Rows,
    data::{Instance, Look, normals, round, widen},
    evaluate,
    geometric_median::{certificate, objective},
    mixers,
    run::{number_note, run},
    vectors::{distance, norm, spread},
};
use byz::{Kernels, Scalar, Stream};

/// The optimality bound at the library's answer must be tiny; where rounding of z itself spoils it, the objective must be.
fn is_the_median(name: &str, rows: &Rows) {
    for rule in ["geometric_median", "geometric_median(start=mean)", "geometric_median(start=zero)"] {
        let result = run(rule, rows, (rows.len() - 1) / 2, Kernels::fastest()).expect("defined");
        let gap = number_note(&result, "gap").expect("the gap is noted");
        let best = evaluate("geometric_median", rows, 0, None).vector;
        let (ours, least) = (objective(rows, &result.vector), objective(rows, &best));
        let proven = certificate(rows, &result.vector);
        assert!(ours <= least * (1.0 + 1e-11), "{name} {rule}: {ours:e} > {least:e}, proven {proven:e}");
        assert!(gap <= 1e-7 || ours <= least * (1.0 + 1e-14), "{name} {rule}: reports a gap of {gap:e}");
    }
}

#[test]
fn the_geometric_median_does_not_stall_at_a_corner_that_is_just_or_just_not_optimal() {
    for nudge in [0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, -1e-12, -1e-9, -1e-6] {
        // At 120° the corner is the minimiser; a little less and it is not.
        let angle = (120f64 + nudge * 100.0).to_radians() / 2.0;
        let corner = [vec![0.0, 0.0], vec![angle.cos(), angle.sin()], vec![angle.cos(), -angle.sin()]];
        is_the_median(&format!("corner {nudge:e}"), &corner.to_vec());
        let far =
            [vec![0.0, 0.0], vec![1e6 * angle.cos(), 1e6 * angle.sin()], vec![angle.cos(), -angle.sin()]];
        is_the_median(&format!("long corner {nudge:e}"), &far.to_vec());
    }
}

#[test]
fn the_geometric_median_is_found_among_lines_clusters_and_copies() {
    let mut stream = Stream::new(3, "clusters", 0, 0);
    for trial in 0..40 {
        let n = 3 + trial % 9;
        let line: Rows = (0..n).map(|i| vec![i as f64 * i as f64, 2.0 * (i * i) as f64]).collect();
        is_the_median("line", &line);
        let nearly: Rows = line.iter().map(|row| vec![row[0] + 1e-9 * stream.uniform(), row[1]]).collect();
        is_the_median("nearly a line", &nearly);
        // A tight cluster that is not a majority, and a wide one.
        for (tight, share) in [(1e-3, 2), (1e-6, 2), (1e-9, 2), (1e-6, 3)] {
            let size = |i: usize| if i.is_multiple_of(share) { tight } else { 1.0 };
            let rows: Rows = (0..n + 2).map(|i| normals(&mut stream, 5, size(i))).collect();
            is_the_median(&format!("cluster {tight:e}"), &rows);
        }
        let mut copies: Rows = (0..n).map(|_| normals(&mut stream, 3, 1.0)).collect();
        copies.extend(vec![copies[0].clone(); n / 2]);
        is_the_median("copies", &copies);
    }
}

#[test]
fn rows_that_all_but_coincide_count_as_one() {
    let mut stream = Stream::new(4, "nearly copies", 0, 0);
    for trial in 0..60 {
        for tiny in [1e-12, 1e-20, 1e-30, 1e-70, 1e-140] {
            let size = |i: usize| if i % 4 == 1 { tiny } else { 1.0 };
            let rows: Rows = (0..12).map(|i| normals(&mut stream, 17, size(i))).collect();
            let copies: Rows = rows
                .iter()
                .enumerate()
                .map(|(i, row)| if i % 4 == 1 { vec![0.0; 17] } else { row.clone() })
                .collect();
            let nearly = byz::aggregate(&rows, "geometric_median", 3).expect("defined");
            let exactly = byz::aggregate(&copies, "geometric_median", 3).expect("defined");
            let apart = distance(&nearly, &exactly);
            assert!(apart <= 1e-5, "trial {trial}, {tiny:e}: {apart:e}");
        }
    }
}

#[test]
fn distances_that_vanish_in_f32_are_measured_again_beside_as_many_outliers_as_honest_rows_less_one() {
    let mut stream = Stream::new(5, "vanishing", 0, 0);
    for (spread, outlier) in [(1e-22, 1e-12), (1e-26, 1e-12), (1e-30, 1.0)] {
        for (n, f) in [(5, 2), (7, 3), (8, 3), (11, 5)] {
            let size = |i: usize| if i < n - f { spread } else { outlier };
            let rows: Vec<Vec<f32>> = (0..n)
                .map(|i| normals(&mut stream, 100, size(i)).iter().map(|&x| x as f32).collect())
                .collect();
            let wide: Rows = rows.iter().map(|row| widen(row)).collect();
            for rule in ["krum", "geometric_median", "nnm+median"] {
                let narrow = byz::aggregate(&rows, rule, f).expect("defined");
                let exact = byz::aggregate(&wide, rule, f).expect("defined");
                let off = distance(&widen(&narrow), &exact) / distance(&wide[0], &wide[1]);
                assert!(off < 1e-3, "{rule} {spread:e} beside {outlier:e}, n = {n}: off by {off:e}");
            }
        }
    }
}

/// Two liars, each beyond what is seen beside the next smaller thing: sums of distances tell nothing about them.
fn two_liars_of_two_sizes<T: Scalar>(sizes: &[f64]) {
    let rules = [
        "geometric_median",
        "geometric_median(start=mean)",
        "geometric_median(iterations=1)",
        "geometric_median(iterations=8)",
        "nnm+geometric_median",
        "nnm+geometric_median(iterations=8)",
        "bucketing+geometric_median",
        "krum",
        "nnm+krum",
        "multi_krum",
        "nnm+median",
        "trimmed_mean",
    ];
    let mut stream = Stream::new(6, "two sizes", 0, 0);
    for (&large, &small) in sizes.iter().flat_map(|a| sizes.iter().map(move |b| (a, b))) {
        for places in [[0, 1], [1, 0], [0, 10], [10, 0], [5, 9]] {
            let mut rows: Rows = (0..11).map(|_| normals(&mut stream, 4, 1.0)).collect();
            rows[places[0]] = vec![large; 4];
            rows[places[1]] = vec![-small; 4];
            let rows: Vec<Vec<T>> =
                rows.iter().map(|row| row.iter().map(|&x| T::from_f64(x)).collect()).collect();
            for rule in rules {
                let result = byz::aggregate(&rows, rule, 2).expect("defined");
                let length = norm(&widen(&result));
                assert!(length < 10.0, "{rule} beside {large:e} and -{small:e} at {places:?}: {length:e}");
            }
        }
    }
}

#[test]
fn liars_of_different_sizes_do_not_hide_behind_one_another() {
    two_liars_of_two_sizes::<f32>(&[1e3, 1e8, 1e16, 1e20, 1e25, 1e30, 3e38]);
    two_liars_of_two_sizes::<f64>(&[1e3, 1e8, 1e16, 1e22, 1e40, 1e90, 1e128, 1.7e146]);
}

/// n = 2f + 1: half of the rows beside the centre are outliers, so "typical" must not mean one of them.
fn exact_beside_outliers<T: Scalar>(relative: f64) {
    let mut worst = (0.0, String::new());
    for size in [1e2, 1.6e3, 1e4, 1e6, 1e8, 1e15] {
        for (n, f) in [(3, 1), (5, 2), (7, 3), (9, 4), (20, 9), (20, 4)] {
            for d in [2, 3, 10, 300] {
                for look in [Look::Outliers(size), Look::Colluding(size)] {
                    let instance = Instance::<T>::random(look, n, f, d, d as u64);
                    let expected = evaluate("geometric_median", &instance.wide, f, None).vector;
                    let result =
                        run("geometric_median", &instance.rows, f, Kernels::fastest()).expect("defined");
                    let error = distance(&widen(&result.vector), &expected) / instance.spread();
                    if error > worst.0 {
                        worst = (error, format!("{look:?} n={n} f={f} d={d}"));
                    }
                }
            }
        }
    }
    println!("geometric_median {} beside outliers: {:.1e} of the spread at {}", T::NAME, worst.0, worst.1);
    assert!(worst.0 <= relative, "{} {:e} at {}", T::NAME, worst.0, worst.1);
}

#[test]
fn the_geometric_median_is_exact_beside_outliers_of_every_size() {
    exact_beside_outliers::<f64>(1e-7);
    exact_beside_outliers::<f32>(1e-3);
}

/// Clipped rows are short, however long the rows were; what is computed about a long row must not show it.
fn clipped_rows_keep_their_digits<T: Scalar>(sizes: &[f64], relative: f64) {
    for &size in sizes {
        let mut stream = Stream::new(8, "long", 0, 0);
        let rows: Vec<Vec<T>> = (0..9).map(|_| round(&normals(&mut stream, 70, size))).collect();
        let wide: Rows = rows.iter().map(|row| widen(row)).collect();
        for rule in ["median", "trimmed_mean", "mean", "geometric_median", "nnm", "krum"] {
            let rule = if rule == "nnm" { "nnm+trimmed_mean" } else { rule };
            let expression = format!("clipping(radius=2)+{rule}");
            let expected = evaluate(&expression, &wide, 2, None).vector;
            for kernels in Kernels::available() {
                let found = widen(&run(&expression, &rows, 2, kernels).expect("defined").vector);
                let error = distance(&found, &expected);
                assert!(
                    error <= relative,
                    "{expression} {} rows of {size:e}: off by {error:e} of 2",
                    T::NAME
                );
            }
        }
    }
}

#[test]
fn clipping_long_rows_leaves_short_ones_with_all_their_digits() {
    clipped_rows_keep_their_digits::<f32>(&[1e2, 1e4, 1e8, 1e20, 1e30, 1e36], 1e-5);
    clipped_rows_keep_their_digits::<f64>(&[1e4, 1e10, 1e20, 1e30, 1e100], 1e-9);
}

/// Distances between clipped rows are small differences of huge numbers: they must be noticed and measured.
fn clipped_distances_do_not_cancel<T: Scalar>(sizes: &[f64], relative: f64) {
    for &size in sizes {
        for (n, seed) in (3..7).flat_map(|n| (0..10).map(move |seed| (n, seed))) {
            let mut stream = Stream::new(seed, "cancel", n, 0);
            let rows: Vec<Vec<T>> = (0..n).map(|_| round(&normals(&mut stream, 9, size))).collect();
            let wide: Rows = rows.iter().map(|row| widen(row)).collect();
            for rule in ["geometric_median", "multi_krum(select=2)", "monna"] {
                let expression = format!("clipping(radius=2)+{rule}");
                let answer = evaluate(&expression, &wide, 0, None);
                let found = widen(&run(&expression, &rows, 0, Kernels::fastest()).expect("defined").vector);
                let error = distance(&found, &answer.vector);
                let tied = answer.margin < 1e-5;
                assert!(
                    error <= relative || tied,
                    "{expression} {} n={n} {size:e}: off by {error:e} of 2",
                    T::NAME
                );
            }
        }
    }
}

#[test]
fn distances_between_clipped_rows_do_not_cancel_unnoticed() {
    clipped_distances_do_not_cancel::<f32>(&[1e4, 1e9, 1e20, 1e30], 1e-4);
    clipped_distances_do_not_cancel::<f64>(&[1e4, 1e9, 1e20, 1e30, 1e100], 1e-8);
}

/// A factor of 1e-40 is no normal f32.
#[test]
fn clipping_one_row_of_any_size_keeps_its_direction() {
    for (honest, huge) in [(1.0, 1e30), (1.0, 1e37), (1e-3, 1e37), (1e-6, 1e37), (1e-6, 1e30)] {
        let mut stream = Stream::new(9, "direction", 0, 0);
        let mut rows: Vec<Vec<f32>> = (0..6).map(|_| round(&normals(&mut stream, 50, honest))).collect();
        rows.push(round(&normals(&mut stream, 50, huge)));
        let wide: Rows = rows.iter().map(|row| widen(row)).collect();
        for rule in
            ["arc+median", "arc+trimmed_mean", "arc+mean", "arc+mean_around_median", "arc+geometric_median"]
        {
            let expected = evaluate(rule, &wide, 1, None).vector;
            let error = distance(
                &widen(&run(rule, &rows, 1, Kernels::fastest()).expect("defined").vector),
                &expected,
            );
            assert!(error <= 1e-5 * norm(&wide[0]), "{rule}, {huge:e} beside {honest:e}: off by {error:e}");
        }
    }
}

/// Fourth powers of distances span 1e600: the choice must still be the best of the honest rows.
#[test]
fn krum_with_fourth_powers_chooses_well_beside_rows_of_1e100() {
    for (n, f) in [(7, 2), (9, 3), (5, 1), (11, 4)] {
        for size in [1e30, 1e60, 1e100, 1e140] {
            let instance = Instance::<f64>::random(Look::Outliers(size), n, f, 6, 5);
            let squared = crate::reference::vectors::squared_distances(&instance.wide);
            let score = |i: usize| {
                let mut row = squared[i].clone();
                row.sort_by(f64::total_cmp);
                row[1..n - f - 1].iter().map(|x| x * x).sum::<f64>()
            };
            let best = (0..n).min_by(|&a, &b| score(a).total_cmp(&score(b))).expect("rows");
            let result = run("krum(power=4)", &instance.rows, f, Kernels::fastest()).expect("defined");
            assert_eq!(result.vector, instance.rows[best], "n={n} f={f} size={size:e}");
        }
    }
}

/// One coordinate of the mixed rows is a sum that cancels to nothing beside a huge row of weight zero.
#[test]
fn mixing_in_f32_keeps_the_digits_of_honest_rows_beside_huge_ones() {
    for size in [1e3, 1e8, 1e20, 1e30, 3e37] {
        for mixer in ["nnm", "bucketing", "nnm+nnm", "arc+nnm"] {
            for rule in ["median", "trimmed_mean"] {
                let instance = Instance::<f32>::random(Look::Outliers(size), 20, 4, 130, 31);
                let expression = format!("{mixer}+{rule}");
                let expected = evaluate(&expression, &instance.wide, 4, None).vector;
                let found =
                    widen(&run(&expression, &instance.rows, 4, Kernels::fastest()).expect("defined").vector);
                let error = distance(&found, &expected) / instance.spread();
                assert!(error <= 1e-6, "{expression} beside {size:e}: off by {error:e} of the spread");
            }
        }
    }
}

/// Adaptive clipping keeps lengths; the lengths themselves are checked, not only their mean.
#[test]
fn adaptive_clipping_cuts_the_longest_to_the_longest_of_the_rest() {
    let instance = Instance::<f64>::random(Look::Outliers(1e6), 10, 3, 40, 2);
    let clipped = mixers::adaptively_clipped(&instance.wide, 3);
    assert!(spread(&clipped) < 1e3);
    let source = crate::reference::source::Materialised(clipped);
    let expected = evaluate("krum", &source.0, 3, None).vector;
    let found = run("arc+krum", &instance.rows, 3, Kernels::fastest()).expect("defined").vector;
    assert!(distance(&found, &expected) <= 1e-12 * norm(&expected));
}

/// One outlier hides the next: every sum that holds the largest has forgotten the others.
fn sizes_far_apart<T: Scalar>(relative: f64) {
    let sizes = [1e30, 1e15, 1e8, 1e3];
    for (seed, rule) in (0..6).flat_map(|seed| {
        let rules = [
            "smea",
            "caf",
            "minimum_diameter_averaging",
            "krum",
            "multi_krum",
            "geometric_median",
            "trimmed_mean",
        ];
        let mixed = [
            "nnm+geometric_median",
            "nnm+krum",
            "nnm+smea",
            "arc+caf",
            "arc+nnm+geometric_median",
            "nnm+trimmed_mean",
        ];
        rules.into_iter().chain(mixed).map(move |rule| (seed, rule))
    }) {
        let mut stream = Stream::new(seed, "apart", 0, 0);
        let (n, f) = (10, 4);
        let order = stream.permutation(n);
        let row = |i: usize| {
            normals(
                &mut Stream::new(seed, "apart", i as u64, 1),
                12,
                sizes.get(order[i]).copied().unwrap_or(1.0),
            )
        };
        let rows: Rows = (0..n).map(row).collect();
        let byzantine: Vec<usize> = (0..n).filter(|&i| order[i] < f).collect();
        let instance = Instance::<T>::new(rows, &byzantine, f);
        let answer = evaluate(rule, &instance.wide, f, None);
        if answer.margin < 1e-5 {
            continue;
        }
        let found = widen(&run(rule, &instance.rows, f, Kernels::fastest()).expect("defined").vector);
        let error = distance(&found, &answer.vector) / instance.spread();
        assert!(error <= relative, "{rule} {} seed {seed}: off by {error:e} of the spread", T::NAME);
    }
}

#[test]
fn outliers_of_sizes_far_apart_do_not_hide_one_another() {
    sizes_far_apart::<f64>(1e-7);
    sizes_far_apart::<f32>(1e-3);
}

/// Ten copies of a, ten of b: every coordinate ties, and the ten lowest workers must stay.
#[test]
fn ties_around_the_median_go_to_the_lowest_workers_in_both_types() {
    fn check<T: Scalar>() {
        let mut stream = Stream::new(8, "ties", 0, 0);
        let mut draw = || (0..1000).map(|_| T::from_f64(stream.uniform() - 0.5)).collect::<Vec<T>>();
        let (a, b) = (draw(), draw());
        let rows: Vec<Vec<T>> = (0..20).map(|i| if i < 10 { a.clone() } else { b.clone() }).collect();
        for kernels in Kernels::available() {
            let result = run("mean_around_median", &rows, 3, kernels).expect("defined");
            for ((ours, a), b) in result.vector.iter().zip(&a).zip(&b) {
                let expected = (10.0 * a.to_f64() + 7.0 * b.to_f64()) / 17.0;
                assert!((ours.to_f64() - expected).abs() < 1e-6, "{ours:?} {expected}");
            }
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn messages_at_the_edge_of_the_range_are_aggregated_like_smaller_ones() {
    let mut stream = Stream::new(3, "edge", 0, 0);
    for n in [7, 9, 21] {
        let row =
            |_| (0..300).map(|_| (0.9 + 0.8 * stream.uniform()).copysign(stream.uniform() - 0.5)).collect();
        let small: Vec<Vec<f64>> = (0..n).map(row).collect();
        let edge: Vec<Vec<f64>> = small.iter().map(|row| row.iter().map(|x| x * 1e146).collect()).collect();
        for before in ["nnm", "bucketing(size=2)", "adaptive_clipping"] {
            for rule in ["median", "trimmed_mean", "mean_around_median", "krum", "geometric_median", "mean"] {
                let (rule, f) = (format!("{before}+{rule}"), (n - 1) / 4);
                let wanted =
                    run(&rule, &small, f, Kernels::fastest()).unwrap_or_else(|e| panic!("{rule}: {e}"));
                let found =
                    run(&rule, &edge, f, Kernels::fastest()).unwrap_or_else(|e| panic!("{rule}: {e}"));
                for (found, wanted) in found.vector.iter().zip(&wanted.vector) {
                    assert!((found / 1e146 - wanted).abs() < 1e-9, "{rule}, n = {n}: {found} {wanted}");
                }
            }
        }
    }
}

/// Three rows of equal score in exact arithmetic, whose sums of distances round differently: the lowest worker wins.
#[test]
fn scores_that_only_rounding_tells_apart_go_to_the_lowest_worker() {
    // Corners of a regular hexagon, turned: every row has the same distances to the others.
    let corner = |k: usize, turn: f64| {
        let angle = std::f64::consts::PI / 3.0 * k as f64 + turn;
        vec![0.1 + angle.cos(), 0.7 + angle.sin()]
    };
    for step in 0..50 {
        let rows: Vec<Vec<f64>> = (0..6).map(|k| corner(k, 0.01 * f64::from(step))).collect();
        for rule in ["krum", "krum(power=1)", "krum(power=4)", "nnm+krum"] {
            let result = run(rule, &rows, 1, Kernels::fastest()).expect("defined");
            let found =
                crate::reference::run::rows_note(&result, "selected").expect("krum notes what it selected");
            assert_eq!(found, [0], "{rule}, turned by {step}/100");
        }
        for (select, expected) in [("3", 3), ("n-f-2", 3), ("n-f", 5)] {
            let rule = format!("multi_krum(select={select})");
            let result = run(&rule, &rows, 1, Kernels::fastest()).expect("defined");
            let found = crate::reference::run::rows_note(&result, "selected").expect("multi_krum notes them");
            assert_eq!(found, (0..expected).collect::<Vec<_>>(), "{rule}, turned by {step}/100");
        }
    }
}

/// Two rows tie for the largest score along the leading direction; one must not stay with a weight of 1e-16.
#[test]
fn caf_removes_all_that_tie_for_the_largest_score() {
    let rows = [vec![-2.0, 1.0], vec![2.0, 1.0], vec![0.0, 2.0]];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let rows: Vec<Vec<f64>> = order.iter().map(|&i: &usize| rows[i].clone()).collect();
        let found = run("caf", &rows, 1, Kernels::fastest()).expect("defined").vector;
        assert!(found[0].abs() < 1e-12 && (found[1] - 4.0 / 3.0).abs() < 1e-12, "{order:?}: {found:?}");
    }
}
