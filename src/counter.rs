//! [`Counter`]: the sliding counter, two counts and a window number in one word.
//!
//! ```text
//!       63     62 .. 2b      2b-1 .. b     b-1 .. 0
//!   [ frozen |   epoch    |    prev     |    cur    ]      b = bits of the limit; 0 = never used
//! ```
//!
//! `cur` counts the units allowed in the window `epoch`, `prev` those of the window before it. With `left` what remains
//! of the window, the previous one still weighs `left / W`:
//!
//! ```text
//!   allow n  iff  prev * left <= (L - cur - n) * W   and   cur + n <= L
//! ```

use crate::{
    decision::{Standing, Waiting},
    error::BuildError,
    horizon,
    quota::Quota,
    window::{Place, Windows},
    word::{Ask, FROZEN, Span, Step, Stepped},
};

/// The sliding counter: the count of this window plus the previous one's, weighted by what is left of it.
///
/// One 64-bit word per client. An estimate: it assumes that the previous window's units were spread evenly. In the worst
/// case `2L - 1` units pass within one window's length (all of them at the end of one window, and as many as fade by the
/// end of the next), and a client can be refused although an exact log had room. A client that spends all of `L` at
/// once, once per window, is refused every other time; at `L = 1` the counter therefore gives half the rate.
///
/// ```
/// use slidegate::{Gate, Nanos, Quota};
/// use std::time::Duration;
///
/// let gate = Gate::try_counter(Quota::new(5, Duration::from_secs(30)))?;
/// let at = |seconds: u64| Nanos::from_nanos(seconds * 1_000_000_000);
/// assert!(gate.at(at(0)).cost(5).check().is_allowed());
/// assert!(!gate.at(at(35)).check().is_allowed()); // 5 * 25/30 + 1 = 5.17 > 5
/// assert!(gate.at(at(36)).check().is_allowed()); //  5 * 24/30 + 1 = 5
/// # Ok::<(), slidegate::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Counter {
    windows: Windows,
    /// The largest limit.
    ceiling: u64,
    /// Bits of one count.
    bits: u32,
}

impl Counter {
    pub(crate) const fn new(quota: Quota) -> Result<Counter, BuildError> {
        match horizon::fit(quota, 2, "counter") {
            Ok((window, bits)) => Ok(Counter::with_bits(window, quota.limit(), bits)),
            Err(error) => Err(error),
        }
    }

    /// A quarter of the horizon; for ever where the horizon is more than a century.
    pub(crate) const fn longest_life(&self) -> u64 {
        self.windows.longest_life()
    }

    /// A counter whose counts have `bits` bits, however short a horizon that leaves the epoch.
    pub(crate) const fn with_bits(window: u64, ceiling: u64, bits: u32) -> Counter {
        Counter { windows: Windows::new(window, horizon::epoch_bits(2, bits)), ceiling, bits }
    }

    /// The epoch, the previous count and the current count of a word.
    const fn unpack(&self, word: u64) -> (u64, u32, u32) {
        let count = (1 << self.bits) - 1;
        let epoch = (word & !FROZEN) >> (2 * self.bits);
        #[expect(clippy::cast_possible_truncation, reason = "a count has at most 30 bits")]
        let (prev, cur) = ((word >> self.bits & count) as u32, (word & count) as u32);
        (epoch, prev, cur)
    }

    const fn pack(&self, epoch: u64, prev: u32, cur: u32) -> u64 {
        epoch << (2 * self.bits) | (prev as u64) << self.bits | cur as u64
    }

    /// The counts of a word as they stand at a reading, and where that is.
    const fn counts(&self, word: u64, now: u64) -> (Place, Counts) {
        let (epoch, prev, cur) = self.unpack(word);
        let place = if word == 0 { self.windows.first(now) } else { self.windows.after(epoch, now) };
        let (prev, cur) = match place.age {
            0 => (prev, cur),
            1 => (cur, 0),
            _ => (0, 0),
        };
        (place, Counts { window: self.windows.length(), left: place.left, prev, cur })
    }
}

impl Step for Counter {
    #[inline(always)] // as `Client::decide`
    #[expect(clippy::cast_possible_truncation, reason = "a cost below the limit, which has at most 30 bits")]
    fn step(&self, word: u64, Ask { now, cost, limit, .. }: Ask) -> Stepped {
        let (place, counts) = self.counts(word, now);
        if cost > limit {
            return Stepped::never(limit, counts.remaining(limit));
        }
        if !counts.fits(limit, cost) {
            return Stepped::refused(limit, Waiting::Counter { counts, cost: cost as u32 }, place.now);
        }
        let counts = Counts { cur: counts.cur + cost as u32, ..counts };
        let next = if cost == 0 { None } else { Some(self.pack(place.epoch, counts.prev, counts.cur)) };
        Stepped::allowed(limit, Standing::Counter(counts), next)
    }

    fn forgotten(&self, word: u64) -> u64 {
        let (epoch, ..) = self.unpack(word);
        self.pack(epoch, 0, 0)
    }

    fn span(&self, word: u64, reference: u64) -> Span {
        let (epoch, prev, cur) = self.unpack(word);
        let newest = self.windows.start(epoch, reference);
        let windows = match (prev, cur) {
            (0, 0) => 0,
            (_, 0) => 1,
            _ => 2,
        };
        Span { newest, until: newest.saturating_add(windows * self.windows.length()) }
    }

    fn longest_life(&self) -> u64 {
        Counter::longest_life(self)
    }

    fn ceiling(&self) -> u64 {
        self.ceiling
    }
}

/// What a counter weighs at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    window: u64,
    /// What is left of the window, `1..=window`.
    left: u64,
    prev: u32,
    cur: u32,
}

impl Counts {
    const fn fits(self, limit: u64, cost: u64) -> bool {
        match self.room(limit, cost) {
            Some(room) => self.prev as u128 * self.left as u128 <= room as u128 * self.window as u128,
            None => false,
        }
    }

    /// What this window's count and the request leave of the limit for the previous window's count.
    const fn room(self, limit: u64, cost: u64) -> Option<u64> {
        limit.checked_sub(self.cur as u64 + cost)
    }

    pub(crate) const fn remaining(self, limit: u64) -> u64 {
        let faded = (self.prev as u128 * self.left as u128).div_ceil(self.window as u128);
        #[expect(clippy::cast_possible_truncation, reason = "left <= window, so no more than prev")]
        let faded = faded as u64;
        limit.saturating_sub(self.cur as u64).saturating_sub(faded)
    }

    /// The time until a request of `cost <= limit` is allowed, if no other comes.
    pub(crate) const fn wait(self, limit: u64, cost: u64) -> u64 {
        if let Some(wait) = self.wait_within(limit, cost) {
            return wait;
        }
        let next = Counts { left: self.window, prev: self.cur, cur: 0, ..self };
        self.left
            + match next.wait_within(limit, cost) {
                Some(wait) => wait,
                // Nothing is left in the window after the next.
                None => self.window,
            }
    }

    /// The same within this window: the previous count weighs little enough once only `room * W / prev` is left.
    const fn wait_within(self, limit: u64, cost: u64) -> Option<u64> {
        let Some(room) = self.room(limit, cost) else { return None };
        if self.prev == 0 {
            return Some(0);
        }
        let enough = room as u128 * self.window as u128 / self.prev as u128;
        if enough >= self.left as u128 {
            return Some(0);
        }
        #[expect(clippy::cast_possible_truncation, reason = "less than left")]
        let enough = enough as u64;
        if enough == 0 { None } else { Some(self.left - enough) }
    }

    /// The time until one more unit fits; `None` where all do.
    pub(crate) const fn next_unit(self, limit: u64) -> Option<u64> {
        let remaining = self.remaining(limit);
        if remaining == limit { None } else { Some(self.wait(limit, remaining + 1)) }
    }

    /// The time until nothing is remembered.
    pub(crate) const fn full_reset(self) -> u64 {
        match (self.prev, self.cur) {
            (0, 0) => 0,
            (_, 0) => self.left,
            _ => self.left + self.window,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::Rule, word::tests};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// 29 and 30 bits a count leave an epoch of 5 and 3.
        #[test]
        fn narrow_epochs(
            limit in 0_u64..6,
            window in prop_oneof![1_u64..6, Just(1_000), 1_u64..1_000_000],
            bits in 29_u32..=30,
            start in 0_u64..1_000_000,
            requests in tests::requests(),
        ) {
            let quota = (limit, window, 63 - 2 * bits);
            tests::narrow_epochs_agree(&Counter::with_bits(window, limit, bits), Rule::Counter, quota, start, &requests)?;
        }

        #[test]
        fn words_come_back(bits in 1_u32..=30, epoch: u64, prev: u32, cur: u32) {
            let counter = Counter::with_bits(1, 1, bits);
            let (epoch, prev, cur) = (epoch % (1 << (63 - 2 * bits)), prev % (1 << bits), cur % (1 << bits));
            prop_assert_eq!(counter.unpack(counter.pack(epoch, prev, cur)), (epoch, prev, cur));
            prop_assert_eq!(counter.pack(epoch, prev, cur) & FROZEN, 0);
        }
    }
}
