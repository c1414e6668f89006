//! `slidegate bench`: what checks cost on this machine.

mod answers;
mod crew;
mod hgrm;
mod keys;
mod latency;
mod load;
mod report;
mod stamps;
mod subject;
mod table;
mod throughput;
mod value;

use crate::{
    algorithm::Algorithm,
    escape::Shown,
    failure::Failure,
    output::{json, print},
    progress::Progress,
};
use keys::Keys;
use load::Load;
use report::Report;
use slidegate::Quota;
use std::{
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

/// What stands below the help of the options.
pub(crate) const NOTES: &str = "\
How to read it:
  p99 = 250 means that 99 of 100 checks took 250 ns or less. Every check is timed by two readings of the system's clock,
  whose cost is measured, printed, and part of every latency. All values are to three digits.
  A refusal writes nothing and an allowed check does: the shares of both say which of them was measured.
  Figures are those of this machine, now: stop what else runs on it, and run twice.

Exit codes:
  0  the result was printed
  2  no result: an argument cannot be used";

/// Measure limiters on this machine: checks per second, and how long a check takes
///
/// Threads ask a limiter of this process, each through a handle of its own, for clients that were drawn at random before.
/// Each algorithm has two phases, each with a new, empty limiter, so that the first requests of the clients and the growth
/// of the table are part of what is measured.
///
/// Throughput: every thread asks again as soon as it is answered, and no check is timed.
///
/// Latency: every check is timed. Without --rate that is a closed loop again, and the latencies are service times only:
/// what holds a thread up also keeps it from asking. With --rate, requests come by a schedule, and a latency counts from
/// the instant at which its request was to start, whether or not a thread was free: nothing is left out (corrected for
/// coordinated omission).
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The limit of each client: units per window, as in 100/1m, 5/1s or 10/250ms
    #[arg(long, value_name = "LIMIT/WINDOW", default_value = "100/1m")]
    limit: String,

    /// Algorithms to measure, one after the other
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "log,counter,fixed")]
    algorithm: Vec<Algorithm>,

    /// Clients that ask, up to 10,000,000
    #[arg(long, value_name = "COUNT", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    clients: u32,

    /// How unequally they ask: the exponent of Zipf's law. 0: all alike; 1: the second asks half as often as the first, the
    /// third a third
    #[arg(long, value_name = "EXPONENT", default_value = "0", value_parser = value::skew)]
    skew: f64,

    /// Threads that ask; as many as there are cores unless said
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// How long each phase of each algorithm lasts
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = value::seconds)]
    seconds: Duration,

    /// Requests per second of the latency phase, of all threads together; as fast as they can unless said
    #[arg(long, value_name = "PER_SECOND", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    rate: Option<u64>,

    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,

    /// Write the latencies of one algorithm as the text that plotters of HdrHistogram read; their unit is nanoseconds
    #[arg(long, value_name = "FILE")]
    hgrm: Option<PathBuf>,
}

/// Measures and prints.
pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let quota: Quota = args.limit.parse().map_err(|error| Failure::unusable(format!("--limit: {error}")))?;
    let algorithms = Algorithm::distinct(&args.algorithm);
    let load = Load::new(quota, args);
    // What cannot work is said before anything takes its time.
    for algorithm in &algorithms {
        algorithm.try_load(&load)?;
    }
    let mut hgrm = args.hgrm.as_deref().map(|path| Hgrm::create(path, &algorithms)).transpose()?;

    let time = 2 * load.time.as_nanos() * algorithms.len() as u128;
    let progress = Progress::start("measuring", u64::try_from(time).ok());
    let keys = Keys::draw(load.clients, load.skew).map_err(|error| Failure::unusable(format!("--skew: {error}")))?;
    let stamp_pair = stamps::pair();
    let mut outcomes = Vec::new();
    for &algorithm in &algorithms {
        let outcome = algorithm.measure(&load, &keys, &progress)?;
        if let Some(hgrm) = &mut hgrm {
            hgrm.write(&outcome)?;
        }
        outcomes.push((algorithm, outcome));
    }
    drop(progress);

    let report = Report::new(&load, stamp_pair, &outcomes);
    print(&if args.json { json(&report)? } else { table::text(&report) })
}

/// The file for the distribution of latencies.
struct Hgrm {
    name: String,
    file: File,
}

impl Hgrm {
    fn create(path: &Path, algorithms: &[Algorithm]) -> Result<Hgrm, Failure> {
        if algorithms.len() != 1 {
            return Err(Failure::unusable(
                "--hgrm: a file has the latencies of one algorithm; choose it, as in --algorithm counter",
            ));
        }
        let name = format!("{:#}", Shown(path.as_os_str().as_encoded_bytes()));
        match File::create(path) {
            Ok(file) => Ok(Hgrm { name, file }),
            Err(error) => Err(Failure::unusable(format!("--hgrm: {name}: {error}"))),
        }
    }

    fn write(&mut self, outcome: &subject::Outcome) -> Result<(), Failure> {
        hgrm::write(&outcome.latency.histogram, &mut self.file)
            .map_err(|error| Failure::unusable(format!("--hgrm: {}: {error}", self.name)))
    }
}
