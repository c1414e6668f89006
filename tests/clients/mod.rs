//! Limiters of many clients as the tests see them, whatever their algorithm.

#![allow(dead_code, reason = "each of the tests that share it uses a part")]

use super::{
    model::{Rule, Verb},
    segment::{self, LARGEST, Segment},
};
use slidegate::{
    Algorithm, BuildError, Counter, Decision, FixedWindow, Limiter, Log, ManualClock, Nanos, Quota, WhenFull,
};
use std::time::Duration;

pub(crate) fn quota(limit: u64, window: u64) -> Quota {
    Quota::new(limit, Duration::from_nanos(window))
}

/// How a request comes to the limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Client,
    Handle,
}

/// A limiter as these tests see it, whatever its algorithm.
pub(crate) trait Clients: Sync + Sized {
    const NAME: &'static str;

    /// Whether a client's cells come with its first request.
    const PREALLOCATES: bool;

    fn rule(limit: u64, window: u64) -> Rule;

    /// Without a bound on its bytes, which would hold off the largest limits.
    fn try_build(quota: Quota, max_clients: usize, when_full: WhenFull) -> Result<Self, BuildError>;

    fn decide_by(&self, way: Way, key: u64, verb: Verb, at: u64, cost: u64) -> Decision;

    /// Checks several clients at once.
    fn check_many(&self, way: Way, keys: &[u64], at: u64) -> Vec<Decision>;

    fn forget(&self, key: u64, at: u64);

    fn forget_all_at(&self, at: u64);

    fn sweep_at(&self, at: u64);

    fn tracked_at(&self, at: u64) -> usize;

    /// Capacity, bytes in use, most bytes.
    fn sizes(&self) -> (usize, usize, usize);

    fn build(quota: Quota, max_clients: usize, when_full: WhenFull) -> Self {
        Self::try_build(quota, max_clients, when_full).expect("a quota that fits")
    }

    fn decide(&self, key: u64, verb: Verb, at: u64, cost: u64) -> Decision {
        self.decide_by(Way::Client, key, verb, at, cost)
    }

    fn check(&self, key: u64, at: u64, cost: u64) -> Decision {
        self.decide(key, Verb::Check, at, cost)
    }

    fn peek(&self, key: u64, at: u64, cost: u64) -> Decision {
        self.decide(key, Verb::Peek, at, cost)
    }
}

/// A limiter with the clock that it reads where no instant can be given.
pub(crate) struct Timed<A: Algorithm, const PREALLOCATES: bool = false> {
    pub(crate) limiter: Limiter<u64, A, ManualClock>,
    pub(crate) clock: ManualClock,
}

macro_rules! clients {
    ($timed:ty, $name:literal, $preallocates:literal, $rule:expr, $builder:expr) => {
        impl Clients for $timed {
            const NAME: &'static str = $name;
            const PREALLOCATES: bool = $preallocates;

            fn rule(limit: u64, window: u64) -> Rule {
                $rule(limit, window)
            }

            fn try_build(quota: Quota, max_clients: usize, when_full: WhenFull) -> Result<Self, BuildError> {
                let clock = ManualClock::new();
                let builder = $builder(quota).max_clients(max_clients).when_full(when_full);
                let limiter = builder.max_bytes(usize::MAX).clock(clock.clone()).build()?;
                Ok(Timed { limiter, clock })
            }

            fn decide_by(&self, way: Way, key: u64, verb: Verb, at: u64, cost: u64) -> Decision {
                let at = Nanos::from_nanos(at);
                match (way, verb) {
                    (Way::Client, Verb::Check) => self.limiter.client(&key).at(at).cost(cost).check(),
                    (Way::Client, Verb::Peek) => self.limiter.client(&key).at(at).cost(cost).peek(),
                    (Way::Handle, Verb::Check) => self.limiter.handle().client(&key).at(at).cost(cost).check(),
                    (Way::Handle, Verb::Peek) => self.limiter.handle().client(&key).at(at).cost(cost).peek(),
                }
            }

            fn check_many(&self, way: Way, keys: &[u64], at: u64) -> Vec<Decision> {
                self.clock.set(Nanos::from_nanos(at));
                let keys: Vec<&u64> = keys.iter().collect();
                let mut decisions = Vec::new();
                let each = |index: usize, decision| {
                    assert_eq!(index, decisions.len(), "the answers come in the order of the clients");
                    decisions.push(decision);
                };
                match way {
                    Way::Client => self.limiter.check_many(&keys, each),
                    Way::Handle => self.limiter.handle().check_many(&keys, each),
                }
                decisions
            }

            fn forget(&self, key: u64, at: u64) {
                self.limiter.client(&key).at(Nanos::from_nanos(at)).forget();
            }

            fn forget_all_at(&self, at: u64) {
                self.clock.set(Nanos::from_nanos(at));
                self.limiter.forget_all();
            }

            fn sweep_at(&self, at: u64) {
                self.clock.set(Nanos::from_nanos(at));
                self.limiter.sweep();
            }

            fn tracked_at(&self, at: u64) -> usize {
                self.clock.set(Nanos::from_nanos(at));
                self.limiter.tracked()
            }

            fn sizes(&self) -> (usize, usize, usize) {
                (self.limiter.capacity(), self.limiter.bytes_in_use(), self.limiter.max_bytes())
            }
        }
    };
}
clients!(Counters, "counter", false, |_, _| Rule::Counter, Limiter::counter);
clients!(Windows, "fixed window", false, |_, _| Rule::Fixed, Limiter::fixed_window);
clients!(Logs, "log", false, segment::log_rule, Limiter::log);
clients!(Preallocated, "preallocated log", true, segment::log_rule, |quota| Limiter::log(quota).preallocate());

pub(crate) type Counters = Timed<Counter>;
pub(crate) type Windows = Timed<FixedWindow>;
pub(crate) type Logs = Timed<Log>;
pub(crate) type Preallocated = Timed<Log, true>;

/// The age from which on nothing of a record counts that was made at the start of its window.
pub(crate) fn span<L: Clients>(limit: u64, window: u64) -> u64 {
    Segment::new(L::rule(limit, window), limit, window, WhenFull::Refuse, LARGEST).span()
}

/// The largest limit that fits at a window.
pub(crate) fn largest_limit<L: Clients>(window: u64) -> u64 {
    match L::try_build(quota(u64::MAX, window), 1, WhenFull::Refuse) {
        Err(BuildError::DoesNotFit { largest_limit, .. }) => largest_limit,
        other => panic!("{:?}", other.err()),
    }
}
