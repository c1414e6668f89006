//! The limiter of many clients: against a map of exact models, under floods, short horizons, panics and real threads.
//!
//! The ordinary run is small. The large one, and the flood of 50 million keys:
//!
//! ```text
//! SLIDEGATE_DECISIONS=10000000 SLIDEGATE_FLOOD=50000000 cargo test --release -p slidegate --test limiter -- --nocapture
//! ```
//!
//! `SLIDEGATE_SEED` repeats a run whose seed was printed.

#[path = "../model/mod.rs"]
mod model;
#[path = "../oracle/mod.rs"]
mod oracle;
#[path = "../random/mod.rs"]
mod random;

mod decisions;
mod flood;
mod horizons;
mod memory;
mod panics;
mod rules;
mod threads;

use model::{Answer, Rule, Verb};
use slidegate::{Counter, Decision, FixedWindow, Limiter, ManualClock, Nanos, Quota, WhenFull};
use std::time::Duration;

const S: u64 = 1_000_000_000;

/// Clients of one segment, and of a table of one.
const SEGMENT: usize = 896;

fn quota(limit: u64, window: u64) -> Quota {
    Quota::new(limit, Duration::from_nanos(window))
}

/// A limiter as these tests see it, whatever its algorithm.
trait Clients: Sync + Sized {
    const RULE: Rule;

    fn build(quota: Quota, max_clients: usize, when_full: WhenFull) -> Self;

    fn decide(&self, key: u64, verb: Verb, at: u64, cost: u64) -> Decision;

    fn forget(&self, key: u64, at: u64);

    fn forget_all_at(&self, at: u64);

    fn sweep_at(&self, at: u64);

    fn tracked_at(&self, at: u64) -> usize;

    /// Capacity, bytes in use, most bytes.
    fn sizes(&self) -> (usize, usize, usize);

    fn check(&self, key: u64, at: u64, cost: u64) -> Decision {
        self.decide(key, Verb::Check, at, cost)
    }

    fn peek(&self, key: u64, at: u64, cost: u64) -> Decision {
        self.decide(key, Verb::Peek, at, cost)
    }
}

/// A limiter with the clock that it reads where no instant can be given.
struct Timed<A> {
    limiter: Limiter<u64, A, ManualClock>,
    clock: ManualClock,
}

macro_rules! clients {
    ($algorithm:ty, $rule:expr, $builder:ident) => {
        impl Clients for Timed<$algorithm> {
            const RULE: Rule = $rule;

            fn build(quota: Quota, max_clients: usize, when_full: WhenFull) -> Self {
                let clock = ManualClock::new();
                let builder = Limiter::$builder(quota).max_clients(max_clients).when_full(when_full);
                Timed { limiter: builder.clock(clock.clone()).build().expect("a quota that fits"), clock }
            }

            fn decide(&self, key: u64, verb: Verb, at: u64, cost: u64) -> Decision {
                let request = self.limiter.client(&key).at(Nanos::from_nanos(at)).cost(cost);
                match verb {
                    Verb::Check => request.check(),
                    Verb::Peek => request.peek(),
                }
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
clients!(Counter, Rule::Counter, counter);
clients!(FixedWindow, Rule::Fixed, fixed_window);

type Counters = Timed<Counter>;
type Windows = Timed<FixedWindow>;

/// Whether an answer is that the table has no room.
fn is_full(decision: &Decision) -> bool {
    matches!(decision, Decision::Full(_))
}
