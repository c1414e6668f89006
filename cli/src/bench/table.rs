//! [`text`]: a report for people.

use super::report::{Measured, Report};
use crate::text::{counted, grouped, percent, rounded, table};
use comfy_table::Table;
use std::fmt::Write;

/// The report for people: what was measured, a table for each phase, and what to keep in mind.
pub(super) fn text(report: &Report) -> String {
    let mut text = format!(
        "{}\n\nThroughput: {} s, each thread asks again as soon as it is answered, no check is timed\n\n{}\n\n{}\n\n{}\n\n",
        heading(report),
        report.phase_seconds,
        throughput(report).trim_fmt(),
        loop_of_latencies(report),
        latency(report).trim_fmt(),
    );
    for note in notes(report) {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn heading(report: &Report) -> String {
    let skew = if report.skew > 0.0 { format!("with a skew of {}", report.skew) } else { "all alike".to_owned() };
    format!(
        "limit {}; {}, {skew}; {} on {}, {} {}",
        report.quota,
        counted(report.clients.into(), "client"),
        counted(report.threads as u64, "thread"),
        counted(report.cores as u64, "core"),
        report.arch,
        report.os,
    )
}

fn throughput(report: &Report) -> Table {
    let header = [
        "algorithm",
        "checks per\nsecond",
        "ns per check\nof a thread",
        "allowed",
        "refused",
        "bytes\nin use",
        "clients\nremembered",
        "bytes per\nclient",
    ];
    let mut table = table(&header, &[1, 2, 3, 4, 5, 6, 7]);
    for Measured { algorithm, throughput, memory, .. } in &report.algorithms {
        table.add_row([
            algorithm.name().to_owned(),
            rounded(throughput.checks.checks_per_second),
            format!("{:.1}", throughput.ns_per_check),
            percent(throughput.checks.allowed_share),
            percent(throughput.checks.refused_share),
            grouped(memory.bytes as u64),
            grouped(memory.tracked as u64),
            memory.bytes_per_client.map(rounded).unwrap_or_default(),
        ]);
    }
    table
}

/// What the latencies are.
fn loop_of_latencies(report: &Report) -> String {
    let time = report.phase_seconds;
    match report.rate {
        None => format!(
            "Latency in ns: {time} s, each thread asks again as soon as it is answered (a closed loop), so these are service\n\
             times only: what holds a thread up also keeps it from asking. --rate counts that, too."
        ),
        Some(rate) => format!(
            "Latency in ns: {time} s of {} requests per second (an open loop), counted from the instant at which each was\n\
             to start, so that waiting for a thread is part of it: corrected for coordinated omission.",
            grouped(rate)
        ),
    }
}

fn latency(report: &Report) -> Table {
    let header = ["algorithm", "checks", "allowed", "refused", "p50", "p99", "p99.9", "p99.99", "max"];
    let mut table = table(&header, &[1, 2, 3, 4, 5, 6, 7, 8]);
    for Measured { algorithm, latency, .. } in &report.algorithms {
        table.add_row([
            algorithm.name().to_owned(),
            grouped(latency.checks.checks),
            percent(latency.checks.allowed_share),
            percent(latency.checks.refused_share),
            grouped(latency.p50_ns),
            grouped(latency.p99_ns),
            grouped(latency.p99_9_ns),
            grouped(latency.p99_99_ns),
            grouped(latency.max_ns),
        ]);
    }
    table
}

fn notes(report: &Report) -> Vec<String> {
    let mut notes =
        vec![format!("every latency includes what two clock stamps cost: {} ns here", report.stamp_pair_ns)];
    if !report.optimized {
        notes.push("the tool was built without optimisation, so these figures say nothing: use --release".to_owned());
    }
    if report.threads > report.cores {
        notes.push("there are more threads than cores: waiting for a core is part of the figures".to_owned());
    }
    let mixed = |measured: &Measured| (0.05..0.95).contains(&measured.throughput.checks.refused_share);
    if report.algorithms.iter().any(mixed) {
        notes.push(
            "allowed and refused checks are mixed, and the faster an algorithm the more are refused; for refusals alone\n      \
             use --limit 1/1d, for allowed checks alone a limit that nobody reaches"
                .to_owned(),
        );
    }
    for Measured { algorithm, throughput, latency, .. } in &report.algorithms {
        let name = algorithm.name();
        if let Some(late) = latency.scheduled.and_then(|all| all.checked_sub(latency.checks.checks)).filter(|n| *n > 0)
        {
            notes.push(format!(
                "{name}: the rate was too high, {} had not started at the end; the latencies grow with the time of the run",
                counted(late, "request")
            ));
        }
        let full = throughput.checks.full + latency.checks.full;
        if full > 0 {
            notes.push(format!("{name}: {} found no room", counted(full, "request")));
        }
    }
    notes
}
