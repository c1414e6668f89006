//! governor: GCRA, keyed, in its default store and its other one, with a faster hash and clock, and for a single client.

use super::{Clock, Entry, GOVERNOR, Note, Setup, timer::CACHED_FOR};
use crate::keys::Key;
use ahash::RandomState;
use governor::{Quota, RateLimiter, clock::QuantaUpkeepClock};
use std::num::NonZeroU32;

pub fn entries<K: Key>() -> [Entry<K>; 4] {
    [
        Entry::new(GOVERNOR, Clock::Counter, &[], |setup| {
            let limiter = RateLimiter::dashmap(quota(setup));
            Box::new(move |key: &K| limiter.check_key(key).is_ok())
        }),
        Entry::new("governor-hashmap", Clock::Counter, &[], |setup| {
            let limiter = RateLimiter::hashmap(quota(setup));
            Box::new(move |key: &K| limiter.check_key(key).is_ok())
        }),
        Entry::new("governor-direct", Clock::Counter, &[Note::OneClient], |setup| {
            let limiter = RateLimiter::direct(quota(setup));
            Box::new(move |_: &K| limiter.check().is_ok())
        }),
        Entry::new("governor-tuned", Clock::Cached, &[], |setup| {
            let clock = QuantaUpkeepClock::from_interval(CACHED_FOR).expect("one at a time in a process");
            let limiter = RateLimiter::dashmap_with_clock_and_hasher(quota(setup), clock, RandomState::new());
            Box::new(move |key: &K| limiter.check_key(key).is_ok())
        }),
    ]
}

/// The whole limit at once, given back evenly over the window.
fn quota(Setup { quota, .. }: Setup) -> Quota {
    let limit = u32::try_from(quota.limit()).ok().and_then(NonZeroU32::new).expect("a limit that is no peer's problem");
    Quota::with_period(quota.window() / limit.get()).expect("a window far above its limit").allow_burst(limit)
}
