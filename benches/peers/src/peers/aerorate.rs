//! aerorate: GCRA in 64 maps.

use super::{Clock, Entry, Setup};
use crate::keys::Key;
use aerorate::{KeyedRateLimiter, Quota};

pub fn entries<K: Key>() -> [Entry<K>; 1] {
    [Entry::new("aerorate", Clock::System, &[], |Setup { quota, .. }| {
        let limit = quota.limit().try_into().expect("a limit that is no peer's problem");
        let limiter = KeyedRateLimiter::<K>::new(Quota::with_period(limit, quota.window()));
        Box::new(move |key: &K| limiter.check(key).is_allowed())
    })]
}
