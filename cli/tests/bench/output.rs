//! What is printed and written.

use crate::tool::{bench, file, report};
use serde_json::Value;
use std::fs;

#[test]
fn the_json_has_these_fields_in_this_order() {
    let args = ["--json", "--seconds", "0.02", "--limit", "5/90s", "--algorithm", "fixed", "--clients", "9"];
    let run = bench(&[&args[..], &["--threads", "1", "--skew", "1.5"]].concat());
    let keys: Vec<&str> =
        run.result().lines().filter_map(|line| Some(line.trim_start().strip_prefix('"')?.split_once('"')?.0)).collect();
    let checks = "checks seconds checks_per_second allowed refused full allowed_share refused_share";
    let expected = format!(
        "limit window_ms clients skew threads cores arch os optimized phase_seconds rate corrected stamp_pair_ns \
         algorithms fixed throughput {checks} ns_per_check memory bytes tracked bytes_per_client \
         latency {checks} scheduled p50_ns p99_ns p99_9_ns p99_99_ns max_ns mean_ns"
    );
    assert_eq!(keys.join(" "), expected);

    let report: Value = serde_json::from_str(run.result()).unwrap();
    assert_eq!((&report["limit"], &report["window_ms"], &report["clients"]), (&5.into(), &90_000.into(), &9.into()));
    assert_eq!((&report["threads"], &report["skew"], &report["phase_seconds"]), (&1.into(), &1.5.into(), &0.02.into()));
    assert_eq!((&report["rate"], &report["corrected"]), (&Value::Null, &false.into()));
    assert_eq!(report["algorithms"]["fixed"]["latency"]["scheduled"], Value::Null);
}

#[test]
fn percentiles_are_in_order_and_a_phase_is_not_cut_short() {
    for rate in [None, Some("5000")] {
        let rate: Vec<&str> = rate.into_iter().flat_map(|rate| ["--rate", rate]).collect();
        let report = report(&[&["--clients", "100", "--skew", "1"], &rate[..]].concat());
        for measured in report["algorithms"].as_object().unwrap().values() {
            let latency = &measured["latency"];
            let percentiles: Vec<u64> = ["p50_ns", "p99_ns", "p99_9_ns", "p99_99_ns", "max_ns"]
                .map(|field| latency[field].as_u64().unwrap())
                .into();
            assert!(percentiles.is_sorted() && percentiles[4] > 0, "{percentiles:?}");
            assert!(latency["mean_ns"].as_f64().unwrap() <= percentiles[4] as f64);
            let throughput = &measured["throughput"];
            assert!(throughput["seconds"].as_f64().unwrap() >= 0.05, "{throughput}");
            assert!(measured["memory"]["bytes"].as_u64().unwrap() > 0);
        }
    }
}

#[test]
fn the_tables_show_the_algorithms_that_were_asked_for() {
    let args = ["--seconds", "0.01", "--clients", "1500", "--threads", "1"];
    let closed = bench(&[&args[..], &["--algorithm", "counter,log,counter", "--skew", "1.1"]].concat());
    let lines: Vec<&str> = closed.result().lines().collect();
    assert!(lines[0].starts_with("limit 100/1m; 1,500 clients, with a skew of 1.1; 1 thread on "), "{closed:?}");
    let first_words: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix(' ')?.split(' ').next()).collect();
    assert_eq!(
        first_words.join(" ").split_whitespace().collect::<Vec<_>>(),
        ["algorithm", "counter", "log", "algorithm", "counter", "log"]
    );
    for said in ["service\ntimes only", "p99.99", "bytes per", "every latency includes what two clock stamps cost: "] {
        assert!(closed.out.contains(said), "{said}: {closed:?}");
    }
    assert!(!closed.out.contains("corrected"));

    let open = bench(&[&args[..], &["--algorithm", "fixed", "--rate", "12345"]].concat());
    assert!(open.result().contains("s of 12,345 requests per second (an open loop), counted from"), "{open:?}");
    assert!(open.out.contains("corrected for coordinated omission") && open.out.contains(" 124 "), "{open:?}");
    assert!(open.out.contains("clients, all alike; ") && !open.out.contains("service"));
}

#[test]
fn a_rate_beyond_all_machines_is_noted_and_ends() {
    // A hundred million in 2.1 s, with two readings of the clock for each.
    let run = bench(&["--seconds", "0.1", "--algorithm", "counter", "--threads", "1", "--rate", "1000000000"]);
    assert!(run.result().contains("note: counter: the rate was too high, "), "{run:?}");
    assert!(run.out.contains(" requests had not started at the end; the latencies grow"), "{run:?}");
}

#[test]
fn what_is_all_allowed_or_all_refused_is_not_mixed() {
    for limit in ["0/1d", "500000000/1d"] {
        let run = bench(&["--seconds", "0.01", "--algorithm", "counter,fixed", "--limit", limit]);
        assert!(!run.result().contains("mixed"), "{run:?}");
    }
}

#[test]
fn more_threads_than_cores_is_noted() {
    let run = bench(&["--seconds", "0.01", "--algorithm", "fixed", "--threads", "300"]);
    assert!(run.result().contains("note: there are more threads than cores"), "{run:?}");
}

#[test]
fn the_distribution_is_one_that_plotters_read() {
    let path = file("latencies.hgrm");
    let name = path.to_str().unwrap();
    let args = ["--seconds", "0.05", "--json", "--algorithm", "counter", "--rate", "4000", "--hgrm", name];
    let report: Value = serde_json::from_str(bench(&args).result()).unwrap();
    let latency = &report["algorithms"]["counter"]["latency"];
    let text = fs::read_to_string(&path).unwrap();

    // As plotters do: four columns, none of which begins with `#`, and both outer ones are numbers.
    let rows: Vec<Vec<f64>> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()).collect())
        .filter(|row: &Vec<f64>| !row.is_empty())
        .collect();
    let (last, rows) = rows.split_last().unwrap();
    assert!(rows.len() > 3 && rows.iter().all(|row| row.len() == 4), "{text}");
    for column in 0..4 {
        assert!(rows.is_sorted_by(|one, next| one[column] <= next[column]), "{text}");
    }
    for row in rows {
        assert!((row[3] - 1.0 / (1.0 - row[1])).abs() < 0.01 * row[3], "{row:?}");
        assert!(row[2] >= (row[1] * 200.0).floor(), "{row:?}");
    }
    let max = latency["max_ns"].as_u64().unwrap();
    assert_eq!((last[0], last[1], last[2], last.len()), (max as f64, 1.0, 200.0, 3));

    let footer: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(footer.len(), 3, "{text}");
    assert!(footer[0].starts_with("#[Mean    = ") && footer[0].contains(", StdDeviation   = "));
    assert_eq!(footer[1], format!("#[Max     = {:12.3}, Total count    = {:12}]", max as f64, 200));
    assert!(footer[2].ends_with("SubBuckets     =         2048]"), "{text}");
}
