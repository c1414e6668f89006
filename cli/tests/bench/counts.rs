//! What can be known of the counts, whatever the machine.

use crate::tool::report;
use serde_json::Value;

const ALGORITHMS: [&str; 3] = ["log", "counter", "fixed"];

fn number(phase: &Value, field: &str) -> u64 {
    phase[field].as_u64().unwrap_or_else(|| panic!("{field} in {phase}"))
}

/// The phase of each algorithm, by name.
fn phases<'r>(report: &'r Value, phase: &str) -> Vec<&'r Value> {
    ALGORITHMS.map(|name| &report["algorithms"][name][phase]).into()
}

#[test]
fn within_one_window_every_client_gets_its_limit_and_no_more() {
    // A window of ten years is longer than any run.
    for (clients, threads) in [("1", "1"), ("3", "2"), ("7", "3")] {
        let report = report(&["--limit", "5/3650d", "--clients", clients, "--threads", threads]);
        let limit = 5 * clients.parse::<u64>().unwrap();
        for phase in ["throughput", "latency"] {
            for found in phases(&report, phase) {
                assert_eq!((number(found, "allowed"), number(found, "full")), (limit, 0), "{phase}: {found}");
                assert_eq!(number(found, "refused"), number(found, "checks") - limit);
            }
        }
    }
}

#[test]
fn every_request_of_a_schedule_is_made() {
    // 2,000 a second for 0.05 s.
    let report = report(&["--limit", "10/3650d", "--clients", "3", "--threads", "2", "--rate", "2000"]);
    assert_eq!((&report["rate"], &report["corrected"]), (&2_000.into(), &true.into()));
    for found in phases(&report, "latency") {
        assert_eq!((number(found, "scheduled"), number(found, "checks")), (100, 100));
        assert_eq!((number(found, "allowed"), number(found, "refused")), (30, 70));
        assert_eq!((found["allowed_share"].as_f64(), found["refused_share"].as_f64()), (Some(0.3), Some(0.7)));
    }
}

#[test]
fn the_seldom_clients_of_a_skew_seldom_ask() {
    // The second asks a million times more seldom than the first: not in the first hundred requests.
    let report =
        report(&["--limit", "1/3650d", "--clients", "1000", "--threads", "1", "--skew", "20", "--rate", "2000"]);
    for found in phases(&report, "latency") {
        assert_eq!((number(found, "allowed"), number(found, "checks")), (1, 100));
    }
}

#[test]
fn a_limit_of_zero_refuses_everything() {
    let report = report(&["--limit", "0/1m", "--clients", "2", "--threads", "2"]);
    for phase in ["throughput", "latency"] {
        for found in phases(&report, phase) {
            assert_eq!((number(found, "allowed"), number(found, "full")), (0, 0));
            assert_eq!(found["refused_share"], 1.0);
        }
    }
    for memory in phases(&report, "memory") {
        assert_eq!((number(memory, "tracked"), &memory["bytes_per_client"]), (0, &Value::Null));
    }
}

#[test]
fn all_that_is_asked_is_allowed_where_the_limit_is_out_of_reach() {
    let report =
        report(&["--limit", "500000000/3650d", "--algorithm", "counter,fixed", "--clients", "50", "--threads", "1"]);
    for name in &ALGORITHMS[1..] {
        for phase in ["throughput", "latency"] {
            let found = &report["algorithms"][name][phase];
            assert_eq!(found["allowed"], found["checks"]);
        }
        assert_eq!(report["algorithms"][name]["memory"]["tracked"], 50);
    }
}
