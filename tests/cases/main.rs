//! Faults that users reported of other rate limiters, each as a small input with the answers that are right; and the
//! rules of this crate, where no such report speaks of them.
//!
//! `A(n)`: allowed, `n` remain. `R(n, d)`: refused, `n` remain, wait `d`. A request has a cost of 1 unless said. Under
//! the log's closed window a unit leaves one tick after the window; a tick is a nanosecond here.

mod clock;
mod config;
mod counter;
mod headers;
mod log;
mod rules;
mod threads;

use slidegate::{Algorithm, Clock, Counter, Decision, FixedWindow, Gate, Log, Nanos, Quota};
use std::time::Duration;

const NS: u64 = 1;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * S;
/// The tick that a unit of the log stays beyond its window.
const TICK: u64 = NS;

/// What a decision says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Told {
    /// Allowed, with what remains.
    A(u64),
    /// Refused, with what remains and the wait in nanoseconds.
    R(u64, u64),
    /// Never, with what remains.
    N(u64),
}
use Told::{A, N, R};

impl From<Decision> for Told {
    fn from(decision: Decision) -> Told {
        let remaining = decision.remaining();
        match decision {
            Decision::Allowed(_) => A(remaining),
            Decision::Refused(refused) => R(remaining, nanos(refused.retry_after())),
            Decision::Never(_) => N(remaining),
            Decision::Full(_) => panic!("there is memory"),
        }
    }
}

/// Requests at instants in nanoseconds.
trait Ask {
    fn costing(&self, cost: u64, at: u64) -> Told;
    fn peeking(&self, cost: u64, at: u64) -> Told;

    fn ask(&self, at: u64) -> Told {
        self.costing(1, at)
    }

    /// How many of `n` requests at one instant are allowed.
    fn many(&self, n: u64, at: u64) -> u64 {
        (0..n).map(|_| u64::from(matches!(self.ask(at), A(_)))).sum()
    }
}

impl<G: Algorithm, C: Clock> Ask for Gate<G, C> {
    fn costing(&self, cost: u64, at: u64) -> Told {
        self.at(Nanos::from_nanos(at)).cost(cost).check().into()
    }

    fn peeking(&self, cost: u64, at: u64) -> Told {
        self.at(Nanos::from_nanos(at)).cost(cost).peek().into()
    }
}

fn quota(limit: u64, window: u64) -> Quota {
    Quota::new(limit, Duration::from_nanos(window))
}

fn log(limit: u64, window: u64) -> Gate<Log> {
    Gate::try_log(quota(limit, window)).unwrap()
}

fn counter(limit: u64, window: u64) -> Gate<Counter> {
    Gate::try_counter(quota(limit, window)).unwrap()
}

fn fixed(limit: u64, window: u64) -> Gate<FixedWindow> {
    Gate::try_fixed_window(quota(limit, window)).unwrap()
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap()
}
