//! `byz list` says what the tables say.

use crate::support::{byz, snapshot};
use byz::{aggregators, attacks, pre_aggregators};

#[test]
fn the_list_of_pre_aggregators_reads_well() {
    snapshot("list_pre_aggregators.txt", &byz("list pre-aggregators").expect(0).out);
}

#[test]
fn the_list_of_attacks_says_what_each_acts_on() {
    snapshot("list_attacks.txt", &byz("list attacks").expect(0).out);
}

#[test]
fn every_algorithm_is_listed_within_80_columns() {
    let ran = byz("list").expect(0);
    for line in ran.out.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let names = aggregators::TABLE.iter().map(|entry| entry.name);
    let names = names.chain(pre_aggregators::TABLE.iter().map(|entry| entry.name));
    for name in names.chain(attacks::table::<f32>().iter().map(|entry| entry.name)) {
        assert!(ran.out.lines().any(|line| line.split(' ').next() == Some(name)), "{name}");
    }
}

#[test]
fn a_family_may_be_written_in_any_form() {
    let expected = byz("list pre_aggregators").expect(0).out;
    for form in ["pre-aggregators", "pre-aggregator", "pre_aggregator", "Pre-Aggregators"] {
        assert_eq!(byz(&format!("list {form}")).expect(0).out, expected, "{form}");
    }
    assert!(byz("list aggregator").expect(0).out.starts_with("AGGREGATORS\n\nmean"));
}

#[test]
fn json_has_every_field_of_every_algorithm() {
    let all = byz("list --json").expect(0).json();
    assert_eq!(all["aggregators"].as_array().unwrap().len(), aggregators::TABLE.len());
    assert_eq!(all["pre_aggregators"].as_array().unwrap().len(), pre_aggregators::TABLE.len());
    assert_eq!(all["attacks"].as_array().unwrap().len(), attacks::table::<f32>().len());
    for (line, entry) in all["aggregators"].as_array().unwrap().iter().zip(aggregators::TABLE) {
        assert_eq!(line["name"], entry.name);
        assert_eq!(line["aliases"].as_array().unwrap().len(), entry.aliases.len());
        assert_eq!(line["summary"], entry.summary);
        assert_eq!(line["requirement"], entry.requirement);
        assert_eq!(line["reference"], entry.reference);
        for (told, parameter) in line["parameters"].as_array().unwrap().iter().zip(entry.parameters) {
            assert_eq!(told["name"], parameter.name);
            assert_eq!(told["default"], parameter.default);
            assert_eq!(told["accepts"], parameter.kind.describe());
        }
    }
    let one = byz("list aggregators --json").expect(0).json();
    assert_eq!(one.as_object().unwrap().len(), 1);
}
