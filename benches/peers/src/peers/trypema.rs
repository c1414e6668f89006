//! trypema: a queue of buckets for each client, found by text.

use super::{Clock, Entry, Setup};
use crate::keys::Key;
use trypema::{
    RateLimit, RateLimitDecision, RateLimiterBuilder, WindowSize,
    local::{LocalRateLimiterBuilder, LocalRateLimiterProvider},
};

pub fn entries<K: Key>() -> [Entry<K>; 1] {
    [Entry::new("trypema", Clock::System, &[], |Setup { quota, .. }| {
        let window = WindowSize::seconds_or_panic(quota.window().as_secs());
        // Its thread that looks for stale clients would only disturb.
        let builder: LocalRateLimiterBuilder = LocalRateLimiterProvider::builder().disable_cleanup();
        let limiter = builder.window_size(window).build().unwrap();
        // It multiplies by the window and cuts off what follows the point.
        let rate = RateLimit::per_second_or_panic((quota.limit() as f64 + 0.5) / quota.window().as_secs_f64());
        Box::new(move |key: &K| {
            key.with_text(|key| matches!(limiter.absolute().inc(key, &rate, 1), RateLimitDecision::Allowed))
        })
    })]
}
