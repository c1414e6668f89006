//! Sliding-window rate limiting in the process that serves the request: lock-free, and exact where you ask for it.
//!
//! ```
//! use slidegate::{Counter, Decision, Gate, Quota};
//!
//! static ALL: Gate<Counter> = Gate::counter(Quota::per_second(30_000));
//!
//! match ALL.check() {
//!     Decision::Allowed(allowed) => println!("{} more right now", allowed.remaining()),
//!     Decision::Refused(refused) => println!("again in {:?}", refused.retry_after()),
//!     Decision::Never(_) | Decision::Full(_) => unreachable!("a cost of 1, and room for one client"),
//! }
//! ```
//!
//! # Map
//!
//! * [`Quota`]: what is allowed, `100/1m`.
//! * [`Limiter`]: the limiter for many clients, made by a [`Builder`]; [`Client`]: one of them, and what it asks;
//!   [`ClientKey`], [`KeyHash`]: how it is found; [`WhenFull`]: what a new one is answered where there is no room.
//! * [`Gate`]: the limiter for a single client; [`Request`]: what a request costs and when it is made.
//! * [`Counter`], [`FixedWindow`]: the algorithms, what each guarantees and its worst case.
//! * [`Decision`]: the answer, with what remains and how long to wait.
//! * [`Clock`]: [`FastClock`], the default, [`SystemClock`], [`CachedClock`] for the cheapest reading, [`ManualClock`] for
//!   tests, or your own; [`Nanos`]: a reading.
//! * [`BuildError`], [`ParseQuotaError`], [`AboveCeiling`]: what to change where a quota does not work.
//!
//! # What holds
//!
//! Every check is lock-free and linearizable for its client: there is one order of all requests, true to real time, in
//! which each answer is what the algorithm says. Only allowed requests are recorded; a refusal changes nothing. Time never
//! runs backwards for a client: a request counts at the latest of its clock's reading and the newest time recorded, so
//! that a thread that was held up may be refused but is never allowed too much. A check cannot fail: it answers, and if a
//! clock panics nothing is recorded.
//!
//! # How it is built
//!
//! From the ground: the windows and their wrapping numbers, the pure steps of the words on them, the engine that runs a
//! step on an atomic word, the gate that joins it with a clock; for many clients the arrays of slots, the hazard records
//! that protect them, the table whose segments move as a whole, and the limiter in front. One file names atomics, and
//! loom runs all above it.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// A `const fn`, but for loom, whose atomics cannot be made in constants.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis const fn $($rest:tt)*) => {
        #[cfg(not(slidegate_loom))]
        $(#[$attribute])* $visibility const fn $($rest)*
        #[cfg(slidegate_loom)]
        $(#[$attribute])* $visibility fn $($rest)*
    };
}

mod algorithm;
mod array;
mod block;
mod claim;
mod client;
mod clock;
mod counter;
mod decision;
mod error;
mod fixed_window;
mod gate;
mod handle;
mod hazard;
mod horizon;
mod key;
mod limiter;
mod log;
#[cfg(test)]
#[path = "../tests/model/mod.rs"]
mod model;
mod moving;
mod nanos;
mod quota;
mod ring;
mod sync;
mod table;
mod window;
mod word;

pub use algorithm::Algorithm;
pub use client::Client;
pub use clock::{CachedClock, Clock, FastClock, ManualClock, SystemClock};
pub use counter::Counter;
pub use decision::{Allowed, Decision, Full, Never, Refused};
pub use error::{AboveCeiling, BuildError};
pub use fixed_window::FixedWindow;
pub use gate::{Gate, Request};
pub use handle::Handle;
pub use key::{ClientKey, KeyHash, KeyHasher};
pub use limiter::{Builder, Limiter};
pub use log::Log;
pub use nanos::Nanos;
pub use quota::{ParseQuotaError, Quota};
pub use table::WhenFull;

/// For the models in loom-tests/: what they need and no user can reach.
#[cfg(slidegate_loom)]
#[doc(hidden)]
pub mod __loom {
    pub use crate::sync::ending::{after_steps, blocks, published, spurious};
    use crate::{
        Algorithm, BuildError, ClientKey, Clock, Counter, FixedWindow, Gate, Limiter, Log, Quota, WhenFull, horizon,
    };

    /// A limiter of one segment, whose arrays have at most `largest` slots, and whose counts have `bits` bits.
    pub fn small_counter<C: Clock, S>(
        quota: Quota,
        bits: u32,
        largest: usize,
        when_full: WhenFull,
        clock: C,
        hash: S,
    ) -> Result<Limiter<u64, Counter, C, S>, BuildError> {
        let algorithm = Counter::with_bits(horizon::window(quota)?, quota.limit(), bits);
        Ok(Limiter::of_one_segment(algorithm, largest, when_full, clock, hash))
    }

    /// The same for the log, whose stamps have at most `stamp_bits` bits.
    pub fn small_log<C: Clock, S>(
        quota: Quota,
        stamp_bits: u32,
        preallocates: bool,
        largest: usize,
        when_full: WhenFull,
        clock: C,
        hash: S,
    ) -> Result<Limiter<u64, Log, C, S>, BuildError> {
        let algorithm = if preallocates { Log::preallocated(quota)? } else { Log::new(quota)? };
        Ok(Limiter::of_one_segment(algorithm.with_stamp_bits(stamp_bits), largest, when_full, clock, hash))
    }

    /// The blocks that a limiter leads to, and those that are kept since somebody may read them.
    pub fn known_blocks<K: ?Sized, A: Algorithm, C: Clock, S>(limiter: &Limiter<K, A, C, S>) -> usize {
        limiter.known_blocks()
    }

    /// The key with this tag, which is also the slot where its probe starts; not 0.
    pub const fn key(tag: u64) -> ClientKey {
        ClientKey::from_hash(tag)
    }

    /// A gate whose counts have `bits` bits, and whose epoch has the `63 - 2 * bits` that are left.
    pub fn narrow_counter(quota: Quota, bits: u32) -> Result<Gate<Counter>, BuildError> {
        Ok(Gate::of(Counter::with_bits(horizon::window(quota)?, quota.limit(), bits), quota.limit(), u64::MAX))
    }

    /// A gate whose count has `bits` bits, and whose epoch has the `63 - bits` that are left.
    pub fn narrow_fixed_window(quota: Quota, bits: u32) -> Result<Gate<FixedWindow>, BuildError> {
        Ok(Gate::of(FixedWindow::with_bits(horizon::window(quota)?, quota.limit(), bits), quota.limit(), u64::MAX))
    }
}
