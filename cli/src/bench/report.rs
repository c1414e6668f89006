//! [`Report`]: the result of a bench, as `--json` prints it.

use super::{answers::Answers, latency, load::Load, subject::Outcome, throughput};
use crate::{algorithm::Algorithm, millis::Millis};
use serde::{Serialize, Serializer};
use slidegate::Quota;
use std::{env::consts, time::Duration};

/// The result of a bench. The fields and their order are the JSON's.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Units per window.
    pub(super) limit: u64,
    /// The length of the window.
    #[serde(rename = "window_ms")]
    pub(super) window: Millis,
    /// Clients that asked.
    pub(super) clients: u32,
    /// How unequally: the exponent of Zipf's law.
    pub(super) skew: f64,
    /// Threads that asked.
    pub(super) threads: usize,
    /// Cores that they could use.
    pub(super) cores: usize,
    /// The kind of processor.
    pub(super) arch: &'static str,
    /// The operating system.
    pub(super) os: &'static str,
    /// Whether the tool was built with optimisation.
    pub(super) optimized: bool,
    /// How long a phase was to last.
    pub(super) phase_seconds: f64,
    /// Requests per second of the latency phase; `None` in a closed loop.
    pub(super) rate: Option<u64>,
    /// Whether latencies count from the schedule: corrected for coordinated omission.
    pub(super) corrected: bool,
    /// What two stamps cost, in nanoseconds, which is part of every latency.
    pub(super) stamp_pair_ns: u64,
    /// What each algorithm did, under its name.
    #[serde(serialize_with = "by_name")]
    pub(super) algorithms: Vec<Measured>,
    /// The limit, for the eye.
    #[serde(skip)]
    pub(super) quota: Quota,
}

/// What one algorithm did.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    /// Which one it is.
    #[serde(skip)]
    pub(super) algorithm: Algorithm,
    /// The phase without stamps.
    pub(super) throughput: Throughput,
    /// What the table took at the end of it.
    pub(super) memory: Memory,
    /// The phase with stamps.
    pub(super) latency: Latency,
}

/// The phase without stamps.
#[derive(Debug, Serialize)]
pub(super) struct Throughput {
    #[serde(flatten)]
    pub(super) checks: Checks,
    /// Of one thread.
    pub(super) ns_per_check: f64,
}

/// Checks and their answers.
#[derive(Debug, Serialize)]
pub(super) struct Checks {
    /// All of them.
    pub(super) checks: u64,
    /// What they took.
    pub(super) seconds: f64,
    /// Of all threads together.
    pub(super) checks_per_second: f64,
    /// Requests allowed.
    pub(super) allowed: u64,
    /// Requests refused.
    pub(super) refused: u64,
    /// Requests that found no room.
    pub(super) full: u64,
    /// Allowed, of all: 0 to 1.
    pub(super) allowed_share: f64,
    /// Refused, of all: 0 to 1.
    pub(super) refused_share: f64,
}

/// What a table took.
#[derive(Debug, Serialize)]
pub(super) struct Memory {
    /// All of it.
    pub(super) bytes: usize,
    /// Clients of which something was remembered.
    pub(super) tracked: usize,
    /// The one by the other.
    pub(super) bytes_per_client: Option<f64>,
}

/// The phase with stamps.
#[derive(Debug, Serialize)]
pub(super) struct Latency {
    #[serde(flatten)]
    pub(super) checks: Checks,
    /// Requests that were to be made; `None` in a closed loop.
    pub(super) scheduled: Option<u64>,
    /// The percentiles, in nanoseconds.
    pub(super) p50_ns: u64,
    pub(super) p99_ns: u64,
    pub(super) p99_9_ns: u64,
    pub(super) p99_99_ns: u64,
    pub(super) max_ns: u64,
    pub(super) mean_ns: f64,
}

impl Report {
    /// Puts the parts together.
    pub(super) fn new(load: &Load, stamp_pair_ns: u64, outcomes: &[(Algorithm, Outcome)]) -> Report {
        Report {
            limit: load.quota.limit(),
            window: Millis(load.quota.window().as_nanos()),
            clients: load.clients,
            skew: load.skew,
            threads: load.threads,
            cores: load.cores,
            arch: consts::ARCH,
            os: consts::OS,
            optimized: !cfg!(debug_assertions),
            phase_seconds: load.time.as_secs_f64(),
            rate: load.rate,
            corrected: load.rate.is_some(),
            stamp_pair_ns,
            algorithms: outcomes.iter().map(|(algorithm, outcome)| Measured::new(*algorithm, outcome, load)).collect(),
            quota: load.quota,
        }
    }
}

impl Measured {
    fn new(algorithm: Algorithm, outcome: &Outcome, load: &Load) -> Measured {
        Measured {
            algorithm,
            throughput: Throughput::new(&outcome.throughput, load.threads),
            memory: Memory {
                bytes: outcome.bytes,
                tracked: outcome.tracked,
                bytes_per_client: (outcome.tracked > 0).then(|| outcome.bytes as f64 / outcome.tracked as f64),
            },
            latency: Latency::new(&outcome.latency),
        }
    }
}

impl Throughput {
    fn new(throughput: &throughput::Throughput, threads: usize) -> Throughput {
        let checks = Checks::new(throughput.answers, throughput.elapsed);
        let ns_per_check = threads as f64 * 1e9 / checks.checks_per_second;
        Throughput { checks, ns_per_check }
    }
}

impl Checks {
    fn new(answers: Answers, elapsed: Duration) -> Checks {
        let (checks, seconds) = (answers.checks(), elapsed.as_secs_f64());
        Checks {
            checks,
            seconds,
            checks_per_second: checks as f64 / seconds,
            allowed: answers.allowed,
            refused: answers.refused,
            full: answers.full,
            allowed_share: answers.allowed as f64 / checks as f64,
            refused_share: answers.refused as f64 / checks as f64,
        }
    }
}

impl Latency {
    fn new(latency: &latency::Latency) -> Latency {
        let histogram = &latency.histogram;
        Latency {
            checks: Checks::new(latency.answers, latency.elapsed),
            scheduled: latency.scheduled,
            p50_ns: histogram.value_at_quantile(0.5),
            p99_ns: histogram.value_at_quantile(0.99),
            p99_9_ns: histogram.value_at_quantile(0.999),
            p99_99_ns: histogram.value_at_quantile(0.9999),
            max_ns: histogram.max(),
            mean_ns: histogram.mean(),
        }
    }
}

fn by_name<S: Serializer>(algorithms: &[Measured], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(algorithms.iter().map(|measured| (measured.algorithm.name(), measured)))
}
