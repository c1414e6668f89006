//! The worked examples of `vectors.json`: how many of `n` requests at an instant are allowed, and what was used before.

use serde_json::Value;
use slidegate::{Algorithm, Gate, Nanos, Quota};
use std::time::Duration;

#[test]
fn all_vectors() {
    let vectors: Value = serde_json::from_str(include_str!("vectors.json")).expect("vectors.json is JSON");
    let vectors = vectors.as_array().expect("a list of vectors");
    let mut with_remaining = 0;
    for vector in vectors {
        let quota = Quota::new(number(&vector["limit"]), Duration::from_millis(number(&vector["window_ms"])));
        with_remaining += match vector["algo"].as_str() {
            Some("log") => run(&Gate::try_log(quota).unwrap(), vector),
            Some("counter") => run(&Gate::try_counter(quota).unwrap(), vector),
            Some("fixed") => run(&Gate::try_fixed_window(quota).unwrap(), vector),
            other => panic!("no such algorithm: {other:?}"),
        };
    }
    assert_eq!((vectors.len(), with_remaining), (19, 18));
}

/// Asks all of a vector's rows; 1 if it also says what was used before each of them.
fn run<A: Algorithm>(gate: &Gate<A>, vector: &Value) -> usize {
    let list = |name: &str| vector[name].as_array().expect("a list").clone();
    let (arrivals, accepted, before) = (list("arrivals"), list("accepted"), list("before"));
    assert_eq!(arrivals.len(), accepted.len(), "{}", vector["id"]);
    assert!(before.is_empty() || before.len() == arrivals.len(), "{}", vector["id"]);
    for (row, arrival) in arrivals.iter().enumerate() {
        let request = gate.at(Nanos::from_nanos(number(&arrival[0]) * 1_000_000));
        if let Some(before) = before.get(row) {
            let remaining = number(&vector["limit"]) - ceil(before);
            assert_eq!(request.cost(0).peek().remaining(), remaining, "{}, row {row}", vector["id"]);
        }
        let allowed = (0..number(&arrival[1])).filter(|_| request.check().is_allowed()).count();
        assert_eq!(allowed as u64, number(&accepted[row]), "{}, row {row}", vector["id"]);
    }
    usize::from(!before.is_empty())
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a whole number")
}

/// A whole number, or the next one above a fraction `"a/b"`.
fn ceil(value: &Value) -> u64 {
    let Some(text) = value.as_str() else { return number(value) };
    let parse = |part: &str| part.parse::<u64>().expect("a part of a fraction");
    match text.split_once('/') {
        Some((above, below)) => parse(above).div_ceil(parse(below)),
        None => parse(text),
    }
}
