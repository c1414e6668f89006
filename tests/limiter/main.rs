//! The limiter of many clients: against a map of exact models, under floods, short horizons, panics and real threads.
//!
//! The ordinary run is small. The large one, and the flood of 50 million keys:
//!
//! ```text
//! SLIDEGATE_DECISIONS=10000000 SLIDEGATE_FLOOD=50000000 cargo test --release -p slidegate --test limiter -- --nocapture
//! ```
//!
//! `SLIDEGATE_SEED` repeats a run whose seed was printed.

#[path = "../clients/mod.rs"]
mod clients;
#[path = "../model/mod.rs"]
mod model;
#[path = "../random/mod.rs"]
mod random;
#[path = "../segment/mod.rs"]
mod segment;

mod decisions;
mod flood;
mod horizons;
mod memory;
mod panics;
mod rules;
mod threads;

use clients::{Clients, Counters, Logs, Preallocated, Timed, Way, Windows, largest_limit, quota, span};
use model::{Answer, Rule, Verb};
use segment::{LARGEST, Segment};
use slidegate::{Algorithm, BuildError, Counter, Decision, FixedWindow, Limiter, Log, ManualClock, Nanos, WhenFull};
use std::time::Duration;

const S: u64 = 1_000_000_000;

/// Clients of one segment, and of a table of one.
const SEGMENT: usize = 896;

/// Whether an answer is that the table has no room.
fn is_full(decision: &Decision) -> bool {
    matches!(decision, Decision::Full(_))
}
