//! `slidegate replay`: one log, one limit, several algorithms.

mod algorithm;
mod gates;
mod report;
mod table;
mod tally;

use crate::{
    escape,
    failure::Failure,
    input::{self, Input},
};
use algorithm::Algorithm;
use report::{Contender, Report};
use slidegate::Quota;
use std::io::{self, Write};
use tally::Tally;

/// Replay request logs through rate limiters and compare what each would have done
///
/// Every client has a limit of its own. Time is the stamps of the log, counted from the smallest one; rows are sorted by
/// it where needed. Windows of the counter and of the fixed window start at that origin.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The limit: units per window, as in 100/60s, 5/1s or 10/250ms
    #[arg(long, value_name = "LIMIT/WINDOW")]
    limit: String,

    /// Algorithms to compare; the exact log is always the reference
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "log,counter,fixed")]
    algorithm: Vec<Algorithm>,

    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    input: input::Files,
}

/// Reads, replays and prints.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let quota: Quota = args.limit.parse().map_err(|error| Failure::unusable(format!("--limit: {error}")))?;
    let mut algorithms = Vec::new();
    for &algorithm in &args.algorithm {
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
    }
    for algorithm in algorithms.iter().chain(&[Algorithm::Log]) {
        algorithm.try_quota(quota).map_err(|error| Failure::unusable(format!("--limit: {error}")))?;
    }
    let input = input::read(&args.input)?;
    let contenders = compete(&input, quota, &algorithms)?;
    let report = Report::new(&input, quota, contenders);
    let text = if args.json { json(&report)? } else { table::text(&report) };
    print(&text)
}

/// Replays the input through every algorithm.
fn compete(input: &Input, quota: Quota, algorithms: &[Algorithm]) -> Result<Vec<Contender>, Failure> {
    let trace = &input.trace;
    let reference = Algorithm::Log.answers(quota, trace)?;
    let mut contenders = Vec::new();
    for &algorithm in algorithms {
        let tally = match algorithm {
            Algorithm::Log => Tally::new(trace, quota, &reference, &reference),
            _ => Tally::new(trace, quota, &algorithm.answers(quota, trace)?, &reference),
        };
        contenders.push(Contender::new(algorithm, &tally, trace));
    }
    Ok(contenders)
}

fn json(report: &Report) -> Result<String, Failure> {
    let json = serde_json::to_string_pretty(report).map_err(|error| Failure::unusable(error.to_string()))?;
    Ok(escape::ascii_json(&json) + "\n")
}

/// Prints the result. A reader who had enough (`| head -1`) is no failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::unusable(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}
