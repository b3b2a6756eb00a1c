//! Every drill: what the record says of it, and that the run does not mind.

use crate::federation::{Federation, ignored, no_broker, verdicts};
use serde_json::Value;

const CONFIG: &str = "task = \"quartic(dimension=20)\"\ntolerance = 2\ndefense = \"nnm+geometric_median\"\nrate = 0.3\n\
                      rounds = 40\nevaluate_every = 10";
/// The hostile one of seven.
const LIAR: usize = 4;

/// A run with one hostile worker: its record and what broker and worker said.
fn drill(name: &str) -> (Vec<Value>, String) {
    let federation = Federation::start(7, CONFIG, "");
    let hostile = ["--attack", name];
    let more = |id| if id == LIAR { &hostile[..] } else { &[] };
    let _workers: Vec<_> = (0..7).map(|id| federation.worker(id, more(id))).collect();
    let mut coordinator = federation.coordinator(&[]);
    assert_eq!(coordinator.wait(120), 0, "{}", federation.said("coordinator"));
    let lines = federation.lines("run");
    assert_eq!(lines.len(), 41, "a line per round and one for the start");
    let (first, last) = (&lines[0]["evaluation"]["loss"], &lines[40]["evaluation"]["loss"]);
    assert!(last.as_f64() < first.as_f64().map(|loss| loss / 2.0), "{first} to {last}");
    for honest in (0..7).filter(|&worker| worker != LIAR) {
        let invalid = verdicts(&lines, honest as u64);
        assert!(invalid.iter().all(|verdict| verdict == "missing"), "{honest}: {invalid:?}");
    }
    (lines, federation.said("broker"))
}

fn all_say(lines: &[Value], words: &str) {
    let told = verdicts(lines, LIAR as u64);
    assert!(told.len() >= 39 && told.iter().all(|verdict| verdict.contains(words)), "{told:?}");
}

#[test]
fn malformed_answers_are_verdicts_on_their_sender() {
    if no_broker() {
        return;
    }
    all_say(&drill("non_finite").0, "invalid: numbers that are not finite");
    all_say(&drill("oversize").0, "invalid: 320 bytes for 20 numbers");
    all_say(&drill("wrong_dimension").0, "invalid: 21 numbers instead of 20");
}

#[test]
fn what_comes_too_late_or_twice_is_counted_and_not_used() {
    if no_broker() {
        return;
    }
    let (stale, _) = drill("stale");
    all_say(&stale, "missing");
    assert!(ignored(&stale, "late") >= 38, "{}", ignored(&stale, "late"));
    let (duplicate, _) = drill("duplicate");
    assert!(ignored(&duplicate, "duplicate") + ignored(&duplicate, "late") >= 70);
    assert!(verdicts(&duplicate, LIAR as u64).iter().all(|verdict| verdict == "missing"));
    let (slow, _) = drill("slow");
    assert!(verdicts(&slow, LIAR as u64).len() >= 35);
    all_say(&drill("silent").0, "missing");
}

#[test]
fn lies_of_the_right_form_are_the_rule_s_business() {
    if no_broker() {
        return;
    }
    let (lines, _) = drill("sign_flip");
    assert!(verdicts(&lines, LIAR as u64).iter().all(|verdict| verdict == "missing"));
    let weight = |line: &Value| line["training"]["weights"][LIAR].as_f64();
    let (first, last) = (weight(&lines[10]).expect("a weight"), weight(&lines[20]).expect("a weight"));
    assert!(first < 0.05 && last < 0.05, "{first} {last}");
}

#[test]
fn nobody_speaks_in_another_s_name() {
    if no_broker() {
        return;
    }
    let (lines, broker) = drill("impersonate");
    all_say(&lines, "missing");
    assert!(broker.contains("Publish Violation"), "refused by the broker: {broker}");
    assert!(ignored(&lines, "foreign") >= 38, "and by the coordinator");
    assert!(verdicts(&lines, LIAR as u64 - 1).is_empty(), "the victim is not touched");
}

#[test]
fn more_invalid_messages_than_assumed_refuse_the_round_and_the_run_goes_on_without_them() {
    if no_broker() {
        return;
    }
    let federation = Federation::start(7, CONFIG, "");
    let hostile = ["--attack", "non_finite"];
    let more = |id| if id < 3 { &hostile[..] } else { &[] };
    let mut workers: Vec<_> = (0..7).map(|id| federation.worker(id, more(id))).collect();
    assert_eq!(federation.coordinator(&[]).wait(60), 3, "{}", federation.said("coordinator"));
    let said = federation.said("coordinator");
    assert!(
        said.contains("refused: 3 invalid message(s), more than the tolerance of 2")
            && !said.contains("diverged"),
        "{said}"
    );
    workers.drain(..3).for_each(|mut liar| liar.kill());
    workers.extend((0..3).map(|id| federation.worker(id, &[])));
    assert_eq!(federation.coordinator(&[]).wait(60), 0, "{}", federation.said("coordinator"));
    assert_eq!(federation.summary("run")["status"], "finished");
}
