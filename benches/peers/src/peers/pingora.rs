//! pingora-limits: a count-min sketch, 4 rows of 1,024 counters that all clients share.

use super::{Clock, Entry, Note, Setup};
use crate::keys::Key;
use pingora_limits::rate::Rate;

const NOTES: &[Note] = &[Note::Sketch];

pub fn entries<K: Key>() -> [Entry<K>; 2] {
    [
        Entry::new("pingora-observe", Clock::System, NOTES, |Setup { quota, .. }| {
            let rate = Rate::new(quota.window());
            let limit = quota.limit() as isize;
            Box::new(move |key: &K| rate.observe(key, 1) <= limit)
        }),
        Entry::new("pingora-observe-rate", Clock::System, NOTES, |Setup { quota, .. }| {
            let rate = Rate::new(quota.window());
            let (limit, per_second) = (quota.limit() as isize, quota.limit() as f64 / quota.window().as_secs_f64());
            // The window before this one, too.
            Box::new(move |key: &K| rate.observe(key, 1) <= limit && rate.rate(key) <= per_second)
        }),
    ]
}
