//! [`Algorithm`]: the algorithms that a trace can be replayed through.

use super::gates::Gates;
use crate::{failure::Failure, progress::Progress, trace::Trace};
use slidegate::{__tool::log_gate, BuildError, Gate, Nanos, Quota};

/// An algorithm of the library. A new one is one more variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Algorithm {
    /// The exact log
    Log,
    /// Two counts, the older one weighed
    Counter,
    /// One count
    Fixed,
}

impl Algorithm {
    /// Its name on the command line and in the output.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Algorithm::Log => "log",
            Algorithm::Counter => "counter",
            Algorithm::Fixed => "fixed",
        }
    }

    /// Whether the algorithm can keep this quota; the error says what to change.
    pub(super) fn try_quota(self, quota: Quota) -> Result<(), BuildError> {
        match self {
            Algorithm::Log => log_gate(quota).map(drop),
            Algorithm::Counter => Gate::try_counter(quota).map(drop),
            Algorithm::Fixed => Gate::try_fixed_window(quota).map(drop),
        }
    }

    /// Replays the trace: was the request of each row allowed?
    pub(super) fn answers(self, quota: Quota, trace: &Trace) -> Result<Vec<bool>, Failure> {
        match self {
            Algorithm::Log => answers(self, Gates::new(trace.names.len(), || log_gate(quota)), trace),
            Algorithm::Counter => answers(self, Gates::new(trace.names.len(), || Gate::try_counter(quota)), trace),
            Algorithm::Fixed => answers(self, Gates::new(trace.names.len(), || Gate::try_fixed_window(quota)), trace),
        }
    }
}

fn answers<A, F>(name: Algorithm, mut gates: Gates<A, F>, trace: &Trace) -> Result<Vec<bool>, Failure>
where
    A: slidegate::Algorithm,
    F: Fn() -> Result<Gate<A>, BuildError>,
{
    /// Rows between two looks at the progress bar.
    const STRIDE: usize = 1 << 16;

    let progress = Progress::start(name.name(), u64::try_from(trace.times.len()).ok());
    let mut answers = Vec::with_capacity(trace.times.len());
    for (times, clients) in trace.times.chunks(STRIDE).zip(trace.clients.chunks(STRIDE)) {
        for (&time, &client) in times.iter().zip(clients) {
            let answer = gates.check(client, Nanos::from_nanos(time));
            answers.push(answer.map_err(|reason| Failure::unusable(format!("{}: {reason}", name.name())))?);
        }
        progress.advance(times.len());
    }
    Ok(answers)
}
