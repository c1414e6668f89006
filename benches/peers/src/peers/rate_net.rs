//! rate-net: its two sliding algorithms.

use super::{Clock, Entry, Note, Setup};
use crate::keys::Key;
use rate_net::{Algorithm, Eviction, RateLimiter};

pub fn entries<K: Key + Named>() -> [Entry<K>; 2] {
    [
        Entry::new("rate-net-sliding", Clock::System, &[], |setup| {
            let limiter = limiter(setup, Algorithm::SlidingWindowCounter);
            Box::new(move |key: &K| limiter.check(key.named()).is_allow())
        }),
        Entry::new("rate-net-log", Clock::System, &[Note::Log], |setup| {
            let limiter = limiter(setup, Algorithm::SlidingWindowLog);
            Box::new(move |key: &K| limiter.check(key.named()).is_allow())
        }),
    ]
}

fn limiter(Setup { quota, clients }: Setup, algorithm: Algorithm) -> RateLimiter {
    let limit = quota.limit().try_into().expect("a limit that is no peer's problem");
    // Room enough that no shard is short of it.
    let builder = RateLimiter::builder().eviction(Eviction::capacity(2 * clients));
    builder.algorithm(algorithm).quota(limit, quota.window()).try_build().unwrap()
}

/// A key as rate-net has it: neither of them allocates.
pub trait Named {
    fn named(&self) -> rate_net::Key;
}

impl Named for u64 {
    #[inline]
    fn named(&self) -> rate_net::Key {
        rate_net::Key::id(*self)
    }
}

impl Named for String {
    #[inline]
    fn named(&self) -> rate_net::Key {
        self.into()
    }
}
