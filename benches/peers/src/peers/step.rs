//! [`Step`]: a sliding counter of two windows in whole numbers, for what is written by hand.

use slidegate::Quota;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A limit, and how a word is told that a request was allowed.
///
/// The word: the number of a window in 12 bits, then the counts of the window before it and of itself in 26 each.
pub struct Step {
    limit: u64,
    window: u64,
}

const COUNT: u64 = (1 << 26) - 1;

impl Step {
    pub fn new(quota: Quota) -> Step {
        Step { limit: quota.limit(), window: quota.window().as_nanos() as u64 }
    }

    /// The word with a request of this instant, if that is allowed.
    #[inline]
    pub fn taken(&self, word: u64, now: u64) -> Option<u64> {
        let (kept, prev, cur) = (word >> 52, word >> 26 & COUNT, word & COUNT);
        // A thread that read its clock before another one's window began is in that window.
        let (window, past) = (now / self.window, now % self.window).max((kept, 0));
        let (prev, cur) = match window - kept {
            0 => (prev, cur),
            1 => (cur, 0),
            _ => (0, 0),
        };
        let weighed = u128::from(prev) * u128::from(self.window - past);
        let fits = cur < self.limit && weighed <= u128::from(self.limit - cur - 1) * u128::from(self.window);
        fits.then_some(window << 52 | prev << 26 | (cur + 1))
    }

    /// The same on a word that others change: whether the request is allowed.
    #[inline]
    pub fn take(&self, word: &AtomicU64, now: u64) -> bool {
        word.fetch_update(Relaxed, Relaxed, |word| self.taken(word, now)).is_ok()
    }
}
