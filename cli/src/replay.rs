//! `slidegate replay`: one log, one limit, several algorithms.

mod algorithm;
mod report;
mod run;
mod table;
mod tally;

use crate::{
    failure::Failure,
    input::{self, Input},
    output::{json, print},
    progress::Progress,
    text::{counted, grouped},
};
use algorithm::Algorithm;
use report::{Contender, Report};
use run::Run;
use slidegate::Quota;
use std::{panic::resume_unwind, thread};
use tally::Tally;

/// Replay request logs through rate limiters and compare what each would have done
///
/// Every client has a limit of its own. Time is the stamps of the log, counted from the smallest one; rows are sorted
/// by it where needed. Windows of the counter and of the fixed window start at that origin. Bytes per client are the most
/// that the limiter took, divided by the most clients of which it remembered something at once.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The limit: units per window, as in 100/60s, 5/1s or 10/250ms
    #[arg(long, value_name = "LIMIT/WINDOW")]
    limit: String,

    /// Algorithms to compare; the exact log is always the reference
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "log,counter,fixed")]
    algorithm: Vec<Algorithm>,

    /// Clients that each limiter is made for, a few hundred at least; all of the log unless said. A client that finds
    /// no room is turned away, and the exit code is 3
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    max_clients: Option<u32>,

    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    input: input::Files,
}

/// Reads, replays and prints.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let quota: Quota = args.limit.parse().map_err(|error| Failure::unusable(format!("--limit: {error}")))?;
    let algorithms = Algorithm::distinct(&args.algorithm);
    for algorithm in algorithms.iter().chain(&[Algorithm::Log]) {
        algorithm.try_quota(quota).map_err(|error| Failure::unusable(format!("--limit: {error}")))?;
    }
    let input = input::read(&args.input)?;
    let all = input.trace.names.len();
    let max_clients = args.max_clients.map_or(all, |max_clients| max_clients as usize);
    let contenders = compete(&input, quota, &algorithms, max_clients)?;
    let report = Report::new(&input, quota, contenders);
    let text = if args.json { json(&report)? } else { table::text(&report) };
    print(&text)?;
    let Some(who) = turned_away(&report) else { return Ok(()) };
    let [now, all] = [max_clients, all].map(|clients| grouped(clients as u64));
    Err(Failure::no_room(format!(
        "no room: {who}; raise --max-clients, now {now}, or leave it out to make room for all {all}"
    )))
}

/// Replays the input through every algorithm, all at once.
fn compete(
    input: &Input,
    quota: Quota,
    algorithms: &[Algorithm],
    max_clients: usize,
) -> Result<Vec<Contender>, Failure> {
    let trace = &input.trace;
    // The reference turns nobody away, whatever room the others have.
    let mut wanted = vec![(Algorithm::Log, trace.names.len())];
    for &algorithm in algorithms {
        if !wanted.contains(&(algorithm, max_clients)) {
            wanted.push((algorithm, max_clients));
        }
    }
    let progress = Progress::start("replaying", u64::try_from(wanted.len() * trace.times.len()).ok());
    let runs = each_in_a_thread(&wanted, |&(algorithm, room)| algorithm.run(quota, room, trace, &progress));
    let runs = runs.into_iter().collect::<Result<Vec<Run>, Failure>>()?;
    drop(progress);

    let shown: Vec<(Algorithm, &Run)> = algorithms
        .iter()
        .filter_map(|&algorithm| {
            Some((algorithm, &runs[wanted.iter().position(|run| *run == (algorithm, max_clients))?]))
        })
        .collect();
    Ok(each_in_a_thread(&shown, |&(algorithm, run)| {
        let tally = Tally::new(trace, quota, &run.answers, &runs[0].answers);
        Contender::new(algorithm, run, &tally, trace)
    }))
}

/// What `work` makes of each item, in their order.
fn each_in_a_thread<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = items.iter().map(|item| scope.spawn(move || work(item))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Which algorithms turned clients away, and how often; `None` if none did.
fn turned_away(report: &Report) -> Option<String> {
    let full = report.contenders.iter().filter(|contender| contender.full > 0);
    let said: Vec<String> = full
        .map(|contender| {
            let requests = counted(contender.full, "request");
            format!(
                "{} turned away {requests} of {}",
                contender.algorithm.name(),
                counted(contender.clients_full, "client")
            )
        })
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}
