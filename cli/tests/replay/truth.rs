//! An independent computation, as plain as can be, must agree with every figure of a report.

use crate::tool;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs,
};

/// Nanoseconds since the first request, and who asked; in order of time.
type Rows = Vec<(u128, String)>;

const ALGORITHMS: [&str; 3] = ["log", "counter", "fixed"];

/// Was the request of each row allowed? Straight from the definitions, in whole nanoseconds.
fn answers(algorithm: &str, limit: u128, window: u128, rows: &Rows) -> Vec<bool> {
    let mut logs: BTreeMap<&str, VecDeque<u128>> = BTreeMap::new();
    let mut counts: BTreeMap<(&str, u128), u128> = BTreeMap::new();
    let mut answers = Vec::new();
    for (now, client) in rows {
        let current = now / window;
        let count = |index: Option<u128>| index.and_then(|index| counts.get(&(client, index))).copied().unwrap_or(0);
        let (cur, prev) = (count(Some(current)), count(current.checked_sub(1)));
        let log = logs.entry(client).or_default();
        while log.front().is_some_and(|stamp| stamp + window < *now) {
            log.pop_front();
        }
        let allowed = match algorithm {
            "log" => (log.len() as u128) < limit,
            "fixed" => cur < limit,
            "counter" => cur < limit && prev * (window - now % window) <= (limit - cur - 1) * window,
            other => panic!("{other}"),
        };
        if allowed {
            log.push_back(*now);
            *counts.entry((client, current)).or_default() += 1;
        }
        answers.push(allowed);
    }
    answers
}

/// The most clients of which something is remembered at once.
fn most_tracked(algorithm: &str, window: u128, rows: &Rows, answers: &[bool]) -> usize {
    let mut forgotten_at: BTreeMap<&str, u128> = BTreeMap::new();
    let mut most = 0;
    for ((now, client), _) in rows.iter().zip(answers).filter(|(_, allowed)| **allowed) {
        let end = match algorithm {
            // The window is closed.
            "log" => now + window + 1,
            "fixed" => (now / window + 1) * window,
            "counter" => (now / window + 2) * window,
            other => panic!("{other}"),
        };
        forgotten_at.insert(client, end);
        most = most.max(forgotten_at.values().filter(|end| *end > now).count());
    }
    most
}

/// Every figure of a report's `algorithms`, but for the bytes: how many those are is not written down anywhere else.
fn without_bytes(report: &Value) -> Value {
    let mut algorithms = report["algorithms"].clone();
    for figures in algorithms.as_object_mut().unwrap().values_mut() {
        let figures = figures.as_object_mut().unwrap();
        let [bytes, per_client] = ["max_bytes", "bytes_per_client"].map(|name| figures.remove(name).unwrap());
        let (bytes, tracked) = (bytes.as_u64().unwrap(), figures["max_tracked"].as_u64().unwrap());
        // At least a tag and a word; at most small arrays for the few clients, and rings that doubled with the rows.
        assert!((16 * tracked..10_000 + 32 * report["rows"].as_u64().unwrap()).contains(&bytes), "{bytes}");
        assert_eq!(per_client.as_f64(), (tracked > 0).then(|| bytes as f64 / tracked as f64));
    }
    algorithms
}

/// Every figure of a report's `algorithms` that can be told from the definitions.
fn figures(limit: u128, window: u128, rows: &Rows) -> Value {
    let reference = answers("log", limit, window, rows);
    let mut all = serde_json::Map::new();
    for algorithm in ALGORITHMS {
        let answers = answers(algorithm, limit, window, rows);
        let refused = answers.iter().filter(|allowed| !**allowed).count();
        let clients_refused: BTreeSet<&str> = rows
            .iter()
            .zip(&answers)
            .filter(|(_, allowed)| !**allowed)
            .map(|((_, client), _)| client.as_str())
            .collect();
        let mut granted: BTreeMap<&str, Vec<u128>> = BTreeMap::new();
        let mut most = (0, Value::Null, Value::Null);
        for ((now, client), _) in rows.iter().zip(&answers).filter(|(_, allowed)| **allowed) {
            let granted = granted.entry(client).or_default();
            granted.push(*now);
            let units = granted.iter().rev().take_while(|stamp| **stamp + window >= *now).count();
            if units > most.0 {
                most = (units, json!(client), millis(*now));
            }
        }
        all.insert(
            algorithm.to_owned(),
            json!({
                "allowed": rows.len() - refused,
                "refused": refused,
                "refused_share": refused as f64 / rows.len() as f64,
                "clients_refused": clients_refused.len(),
                "max_in_window": most.0,
                "max_client": most.1,
                "max_at_ms": most.2,
                "disagree": answers.iter().zip(&reference).filter(|(one, other)| one != other).count(),
                "full": 0,
                "clients_full": 0,
                "max_tracked": most_tracked(algorithm, window, rows, &answers),
            }),
        );
    }
    Value::Object(all)
}

fn millis(nanos: u128) -> Value {
    match nanos % 1_000_000 {
        0 => json!(u64::try_from(nanos / 1_000_000).unwrap()),
        _ => json!(nanos as f64 / 1e6),
    }
}

/// Sorts by time, equal stamps in the order of the input, and starts at zero.
fn in_order(mut rows: Vec<(i128, String)>) -> Rows {
    rows.sort_by_key(|(time, _)| *time);
    let origin = rows[0].0;
    rows.into_iter().map(|(time, client)| ((time - origin).unsigned_abs(), client)).collect()
}

const SECOND: u128 = 1_000_000_000;

const QUOTAS: [(&str, u128, u128); 7] = [
    ("20/10s", 20, 10 * SECOND),
    ("1/1s", 1, SECOND),
    ("5/1500ms", 5, SECOND + SECOND / 2),
    ("30/1m", 30, 60 * SECOND),
    ("7/1h", 7, 3600 * SECOND),
    ("0/1m", 0, 60 * SECOND),
    ("1000/1d", 1000, 86_400 * SECOND),
];

#[test]
fn the_csv_sample() {
    let text = fs::read_to_string(tool::sample("requests.csv")).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let (time, client) = line.split_once(',').unwrap();
        (time.parse::<i128>().unwrap() * 1_000_000, client.to_owned())
    });
    let rows = in_order(rows.collect());
    for (quota, limit, window) in QUOTAS {
        let report = tool::report(quota, text.as_bytes());
        assert_eq!(without_bytes(&report), figures(limit, window, &rows), "{quota}");
        assert_eq!(report["rows"], rows.len());
        assert_eq!(report["span_ms"], millis(rows.last().unwrap().0));
        assert_eq!((&report["limit"], &report["window_ms"]), (&json!(u64::try_from(limit).unwrap()), &millis(window)));
    }
}

#[test]
fn the_access_log_sample() {
    let text = fs::read_to_string(tool::sample("access.log")).unwrap();
    let rows = text.lines().map(|line| {
        let (_, date) = line.split_once('[').unwrap();
        let (date, _) = date.split_once(']').unwrap();
        let stamp = jiff::Timestamp::strptime("%d/%b/%Y:%H:%M:%S %z", date).unwrap();
        (stamp.as_nanosecond(), line.split_once(' ').unwrap().0.to_owned())
    });
    let rows = in_order(rows.collect());
    for (quota, limit, window) in QUOTAS {
        let report = tool::report(quota, text.as_bytes());
        assert_eq!(without_bytes(&report), figures(limit, window, &rows), "{quota}");
    }
}

/// A CSV with times in `unit`, whatever their order.
fn csv(unit: &str, rows: &[(i64, u8)]) -> String {
    let lines = rows.iter().map(|(time, client)| format!("{time},client {client}\n"));
    format!("t_{unit},client\n{}", lines.collect::<String>())
}

proptest! {
    // Each case is a run of the tool.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_input(
        rows in proptest::collection::vec((-3_000..3_000_i64, 0..4_u8), 1..300),
        limit in 0..30_u64,
        window in 1..2_000_u64,
        (unit, nanos) in prop_oneof![Just(("ns", 1)), Just(("us", 1_000)), Just(("ms", 1_000_000)), Just(("s", 1_000_000_000))],
    ) {
        // The words of the counters do not last 100 years of shorter windows.
        let window = u128::from(window * nanos).max(1_000);
        let args = ["--limit", &format!("{limit}/{window}ns"), "--json", "--time-column", &format!("t_{unit}"), "-"];
        let report = tool::replay(&args, csv(unit, &rows).as_bytes()).json();
        let rows = rows.iter().map(|(time, client)| (i128::from(*time) * i128::from(nanos), format!("client {client}")));
        let expected = figures(limit.into(), window, &in_order(rows.collect()));
        prop_assert_eq!(without_bytes(&report), expected);
    }

    #[test]
    fn the_order_of_distinct_stamps_is_of_no_matter(
        rows in proptest::collection::btree_map(0..5_000_i64, 0..4_u8, 1..300)
            .prop_map(|rows| rows.into_iter().collect::<Vec<_>>())
            .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        let (sorted, shuffled) = rows;
        let mut reports = [&sorted, &shuffled].map(|rows| tool::report("5/300ms", csv("ms", rows).as_bytes()));
        let late = reports.each_mut().map(|report| report["out_of_order"].take().as_u64().unwrap());
        prop_assert_eq!(late[0], 0);
        prop_assert_eq!(late[1] == 0, sorted == shuffled);
        prop_assert_eq!(&reports[0], &reports[1]);
    }
}
