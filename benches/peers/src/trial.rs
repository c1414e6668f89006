//! [`Trial`]: one contender through all repetitions of a workload.

use crate::{
    contender::{Batch, Contender, Pace},
    keys::Key,
    peers::{Entry, Note, Setup},
    workload::{BATCH, Workload},
};
use hdrhistogram::Histogram;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

/// Who needs longer for a fill or a repetition has not finished.
const PATIENCE: Duration = Duration::from_secs(60);

/// A check of nothing takes about this part of a check, and is to see as much of the machine's own disturbance.
const NOTHINGS: usize = 8;

/// A contender in a workload, and what came of it so far.
pub struct Trial<K> {
    pub entry: Entry<K>,
    contender: Option<Box<dyn Contender<K>>>,
    pub runs: Vec<Run>,
    /// Of all repetitions.
    pub latency: Histogram<u64>,
    /// Why this one is not in the table.
    pub failure: Option<String>,
}

/// A repetition.
pub struct Run {
    /// For each check: the time of the slowest thread, by the checks of all.
    pub nanos: f64,
    /// Nanoseconds between the stamps of the slowest check, in the stamped pace.
    pub slowest: u64,
    /// The part of the answers that were wrong, for those that may be wrong at all.
    pub wrong: f64,
}

impl<K: Key> Trial<K> {
    /// Builds the contender and shows it every client, unless each repetition is to begin with an empty one.
    pub fn new(entry: Entry<K>, workload: &Workload) -> Trial<K> {
        let mut trial = Trial { entry, contender: None, runs: Vec::new(), latency: histogram(), failure: None };
        if !workload.fresh() {
            trial.attempt(|trial| {
                trial.contender = Some(filled(&trial.entry, workload)?);
                Ok(())
            });
        }
        trial
    }

    /// One repetition, unless the contender has failed before.
    pub fn repeat(&mut self, workload: &Workload, streams: &[Vec<K>]) {
        self.attempt(|trial| {
            let run = match &trial.contender {
                Some(contender) => run(&trial.entry, &**contender, workload, streams, &mut trial.latency),
                None => {
                    let contender = (trial.entry.build)(setup(workload));
                    run(&trial.entry, &*contender, workload, streams, &mut trial.latency)
                }
            };
            trial.runs.push(run?);
            Ok(())
        });
    }

    fn attempt(&mut self, action: impl FnOnce(&mut Self) -> Result<(), String>) {
        if self.failure.is_none() {
            self.failure = catch_unwind(AssertUnwindSafe(|| action(self))).unwrap_or_else(|_| Err(panicked())).err();
        }
    }
}

/// A contender that has seen every client once.
pub fn filled<K: Key>(entry: &Entry<K>, workload: &Workload) -> Result<Box<dyn Contender<K>>, String> {
    let contender = (entry.build)(setup(workload));
    let (mut latency, deadline) = (histogram(), Instant::now() + PATIENCE);
    for first in (0..workload.clients).step_by(BATCH) {
        let keys: Vec<K> = (first..workload.clients.min(first + BATCH as u64)).map(K::of).collect();
        let served = serve(&*contender, &keys, keys.len(), Pace::BackToBack, &mut latency, deadline)?;
        served.wrong(entry, true)?;
    }
    Ok(contender)
}

fn setup(workload: &Workload) -> Setup {
    // Nobody makes a table for a single client.
    Setup { quota: workload.quota, clients: workload.clients.max(1_000) as usize }
}

/// All threads at once, each on a core of its own.
fn run<'a, K: Key>(
    entry: &Entry<K>,
    contender: &'a dyn Contender<K>,
    workload: &'a Workload,
    streams: &'a [Vec<K>],
    latency: &mut Histogram<u64>,
) -> Result<Run, String> {
    let checks = workload.checks_of_a_thread() * if entry.is(Note::NoLimiter) { NOTHINGS } else { 1 };
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let start = &Barrier::new(streams.len());
    let threads = thread::scope(|scope| {
        let spawn = |(number, keys): (usize, &'a Vec<K>)| {
            let core = cores.get(number).copied();
            scope.spawn(move || {
                core.map(core_affinity::set_for_current);
                let mut latency = histogram();
                start.wait();
                let begin = Instant::now();
                let served = serve(contender, keys, checks, workload.pace, &mut latency, begin + PATIENCE)?;
                Ok((begin.elapsed(), served, latency))
            })
        };
        let threads: Vec<_> = streams.iter().enumerate().map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(panicked()))).collect::<Vec<_>>()
    });
    let (mut slowest_thread, mut slowest, mut all) = (Duration::ZERO, 0, Served::default());
    for thread in threads {
        let (elapsed, served, latency_of_thread) = thread?;
        slowest_thread = slowest_thread.max(elapsed);
        slowest = slowest.max(latency_of_thread.max());
        all.checks += served.checks;
        all.allowed += served.allowed;
        *latency += latency_of_thread;
    }
    let wrong = all.wrong(entry, workload.allowed)?;
    Ok(Run { nanos: slowest_thread.as_nanos() as f64 / all.checks as f64, slowest, wrong })
}

#[derive(Default)]
struct Served {
    checks: usize,
    allowed: usize,
}

impl Served {
    /// The part of the answers that are wrong: none, except for a sketch.
    fn wrong<K>(&self, entry: &Entry<K>, all_allowed: bool) -> Result<f64, String> {
        let Served { checks, allowed } = *self;
        let right = if all_allowed { checks } else { 0 };
        if allowed == right || entry.is(Note::Sketch) || entry.is(Note::NoLimiter) {
            return Ok(allowed.abs_diff(right) as f64 / checks as f64);
        }
        Err(format!("allowed {allowed} of {checks} checks, and not {right}"))
    }
}

/// So many checks, and up to a batch more, of the keys over and over.
fn serve<K: Key>(
    contender: &dyn Contender<K>,
    keys: &[K],
    checks: usize,
    pace: Pace,
    latency: &mut Histogram<u64>,
    deadline: Instant,
) -> Result<Served, String> {
    let mut served = Served::default();
    for keys in keys.chunks(BATCH).cycle() {
        if served.checks >= checks {
            break;
        }
        if Instant::now() > deadline {
            return Err(format!("did not finish within {PATIENCE:?}"));
        }
        served.allowed += contender.serve(Batch { keys, pace, latency });
        served.checks += keys.len();
    }
    Ok(served)
}

fn panicked() -> String {
    "panicked".to_owned()
}

/// Three digits, from a nanosecond to a minute.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(60_000_000_000, 3).expect("valid bounds")
}
