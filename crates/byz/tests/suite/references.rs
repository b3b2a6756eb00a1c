//! Every rule against its plain reference, on many seeded instances.

use crate::reference::{compare::check, data::Look};

const LOOKS: [Look; 6] = [
    Look::Benign,
    Look::Outliers(30.0),
    Look::Outliers(1e6),
    Look::Colluding(1e3),
    Look::Duplicates,
    Look::Offset(1e3),
];

fn majority(n: usize, f: usize) -> bool {
    n > 2 * f
}

fn krum_like(n: usize, f: usize) -> bool {
    n >= f + 3
}

fn halved(n: usize, f: usize) -> bool {
    n.div_ceil(2) > 2 * f
}

#[test]
fn coordinate_wise_rules() {
    for rule in ["mean", "median", "trimmed_mean", "mean_around_median", "sign_majority"] {
        check(rule, &LOOKS, 25, 90, majority);
        check(rule, &[Look::Lattice], 25, 60, majority);
    }
}

#[test]
fn krum_and_multi_krum_with_every_neighbour_count_and_power() {
    for neighbors in ["n-f-2", "n-f-1", "1"] {
        for power in [1, 2, 4] {
            let rule = format!("krum(neighbors={neighbors},power={power})");
            check(&rule, &LOOKS, 25, 42, krum_like);
            check(&rule, &[Look::Lattice], 12, 30, krum_like);
            let rule = format!("multi_krum(neighbors={neighbors},power={power})");
            check(&rule, &LOOKS, 25, 42, krum_like);
            check(&rule.replace("(", "(select=2,"), &[Look::Lattice], 12, 30, krum_like);
        }
    }
}

#[test]
fn bulyan_scores_anew_after_every_pick() {
    check("bulyan", &LOOKS, 25, 120, |n, f| n > 4 * f);
    check("bulyan", &[Look::Lattice], 11, 60, |n, f| n > 4 * f);
}

#[test]
fn minimum_diameter_averaging_finds_the_best_of_all_subsets() {
    let looks =
        [Look::Benign, Look::Outliers(30.0), Look::Colluding(1e3), Look::Duplicates, Look::Offset(1e3)];
    check("minimum_diameter_averaging", &looks, 13, 150, majority);
    check("minimum_diameter_averaging", &[Look::Lattice], 12, 120, majority);
}

#[test]
fn smea_finds_the_best_of_all_subsets() {
    let looks =
        [Look::Benign, Look::Outliers(30.0), Look::Outliers(1e6), Look::Colluding(1e3), Look::Offset(1e3)];
    check("smea", &looks, 11, 100, majority);
    check("smea", &[Look::Lattice], 9, 60, majority);
}

#[test]
fn caf_follows_its_definition() {
    let looks = [Look::Benign, Look::Outliers(30.0), Look::Colluding(1e3), Look::Offset(1e3)];
    check("caf", &looks, 20, 120, majority);
}

#[test]
fn monna_averages_the_neighbours_of_the_trusted_worker() {
    check("monna", &LOOKS, 25, 90, majority);
    check("monna(trusted=2)", &[Look::Benign, Look::Lattice], 25, 60, |n, f| n > 2 * f && n > 2);
}

#[test]
fn divide_and_conquer_on_all_and_on_drawn_coordinates() {
    let looks = [Look::Benign, Look::Outliers(30.0), Look::Offset(1e3)];
    check("divide_and_conquer", &looks, 25, 90, majority);
    check("divide_and_conquer(coordinates=20,seed=7,factor=1.5)", &looks, 25, 90, majority);
    check("divide_and_conquer(coordinates=9,iterations=2)", &looks, 25, 60, |n, f| n > 4 * f);
    check("nnm+divide_and_conquer(coordinates=20)", &[Look::Benign], 25, 60, majority);
}

#[test]
fn the_exact_geometric_median() {
    check("geometric_median", &LOOKS, 25, 90, majority);
    check("geometric_median(start=mean)", &LOOKS, 25, 48, majority);
    check("geometric_median(start=zero)", &LOOKS, 25, 48, majority);
}

#[test]
fn smoothed_and_counted_weiszfeld_steps_from_every_start() {
    for start in ["medoid", "mean", "zero"] {
        let rule = format!("geometric_median(iterations=8,smoothing=0.1,start={start})");
        check(&rule, &LOOKS, 25, 48, majority);
    }
    check(
        "geometric_median(iterations=3,start=medoid)",
        &[Look::Benign, Look::Offset(1e3)],
        25,
        40,
        majority,
    );
    check("geometric_median(iterations=3,start=mean)", &[Look::Benign, Look::Offset(1e3)], 25, 40, majority);
}

#[test]
fn centered_clipping_from_a_given_centre() {
    check("centered_clipping", &LOOKS, 25, 60, majority);
    check("centered_clipping(radius=0.5,iterations=4)", &LOOKS, 25, 90, majority);
}

#[test]
fn mixing_before_weighted_rules() {
    for rule in ["mean", "krum", "multi_krum(select=1)", "geometric_median", "monna", "centered_clipping"] {
        for mixer in ["nnm", "arc", "clipping", "arc+nnm", "clipping(radius=5)+nnm"] {
            check(&format!("{mixer}+{rule}"), &LOOKS, 20, 24, krum_like_majority);
        }
        if rule != "monna" {
            check(&format!("bucketing+{rule}"), &LOOKS, 25, 24, |n, f| halved(n, f) && n >= 6 + 2 * f);
        }
    }
}

fn krum_like_majority(n: usize, f: usize) -> bool {
    n > 2 * f && n >= f + 3
}

#[test]
fn mixing_before_coordinate_wise_rules() {
    for rule in ["median", "trimmed_mean", "mean_around_median"] {
        for mixer in ["nnm", "arc", "clipping", "arc+nnm", "clipping(radius=5)+nnm"] {
            // Clipping rounds relative to the length of a row; with an offset that turns choices per coordinate.
            let offset = rule != "mean_around_median" || mixer == "nnm";
            let looks = if offset { &LOOKS[..] } else { &LOOKS[..5] };
            check(&format!("{mixer}+{rule}"), looks, 20, 36, majority);
        }
        check(&format!("bucketing+{rule}"), &LOOKS, 25, 36, halved);
        check(&format!("bucketing(size=3,seed=4)+nnm+{rule}"), &LOOKS, 25, 36, |n, f| n.div_ceil(3) > 2 * f);
    }
    check("nnm+bulyan", &LOOKS, 25, 36, |n, f| n > 4 * f);
    check("arc+minimum_diameter_averaging", &LOOKS, 10, 36, majority);
}
