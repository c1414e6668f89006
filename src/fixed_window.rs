//! [`FixedWindow`]: the baseline, one count and a window number in one word.
//!
//! ```text
//!       63     62 .. b    b-1 .. 0
//!   [ frozen |  epoch  |    cur   ]      b = bits of the limit; 0 = never used
//! ```

use crate::{
    decision::{Standing, Waiting},
    error::BuildError,
    horizon,
    quota::Quota,
    window::{Place, Windows},
    word::{Ask, FROZEN, Span, Step, Stepped},
};

/// The fixed window: at most `L` units in each window `[kW, (k+1)W)` of the clock.
///
/// One 64-bit word per client, the cheapest and the weakest: around the turn of a window `2L` units can pass within
/// an instant. It never refuses a client that keeps its limit in every interval of length `W`.
///
/// ```
/// use slidegate::{Gate, Nanos, Quota};
///
/// let gate = Gate::try_fixed_window(Quota::per_second(100))?;
/// let at = |millis: u64| Nanos::from_nanos(millis * 1_000_000);
/// assert!(gate.at(at(999)).cost(100).check().is_allowed());
/// assert!(gate.at(at(1_000)).cost(100).check().is_allowed()); // 200 within a millisecond
/// # Ok::<(), slidegate::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FixedWindow {
    windows: Windows,
    /// The largest limit.
    ceiling: u64,
    /// Bits of the count.
    bits: u32,
}

impl FixedWindow {
    pub(crate) const fn new(quota: Quota) -> Result<FixedWindow, BuildError> {
        match horizon::fit(quota, 1, "fixed window") {
            Ok((window, bits)) => Ok(FixedWindow::with_bits(window, quota.limit(), bits)),
            Err(error) => Err(error),
        }
    }

    /// A quarter of the horizon; for ever where the horizon is more than a century.
    pub(crate) const fn longest_life(&self) -> u64 {
        self.windows.longest_life()
    }

    /// A fixed window whose count has `bits` bits, however short a horizon that leaves the epoch.
    pub(crate) const fn with_bits(window: u64, ceiling: u64, bits: u32) -> FixedWindow {
        FixedWindow { windows: Windows::new(window, horizon::epoch_bits(1, bits)), ceiling, bits }
    }

    /// The epoch and the count of a word.
    const fn unpack(&self, word: u64) -> (u64, u64) {
        ((word & !FROZEN) >> self.bits, word & ((1 << self.bits) - 1))
    }

    const fn pack(&self, epoch: u64, cur: u64) -> u64 {
        epoch << self.bits | cur
    }

    /// The count of a word as it stands at a reading, and where that is.
    const fn count(&self, word: u64, now: u64) -> (Place, u64) {
        let (epoch, cur) = self.unpack(word);
        let place = if word == 0 { self.windows.first(now) } else { self.windows.after(epoch, now) };
        (place, if place.age == 0 { cur } else { 0 })
    }
}

impl Step for FixedWindow {
    #[inline(always)] // as `Client::decide`
    fn step(&self, word: u64, Ask { now, cost, limit, .. }: Ask) -> Stepped {
        let (place, cur) = self.count(word, now);
        let remaining = limit.saturating_sub(cur);
        if cost > limit {
            return Stepped::never(limit, remaining);
        }
        let Some(remaining) = limit.checked_sub(cur).and_then(|remaining| remaining.checked_sub(cost)) else {
            return Stepped::refused(limit, Waiting::Known { remaining, wait: place.left }, place.now);
        };
        let next = if cost == 0 { None } else { Some(self.pack(place.epoch, cur + cost)) };
        let used = cur + cost > 0;
        let standing = Standing::Known {
            remaining,
            next_unit: used.then_some(place.left),
            full_reset: if used { place.left } else { 0 },
        };
        Stepped::allowed(limit, standing, next)
    }

    fn forgotten(&self, word: u64) -> u64 {
        let (epoch, _) = self.unpack(word);
        self.pack(epoch, 0)
    }

    fn span(&self, word: u64, reference: u64) -> Span {
        let (epoch, cur) = self.unpack(word);
        let newest = self.windows.start(epoch, reference);
        Span { newest, until: if cur == 0 { newest } else { newest.saturating_add(self.windows.length()) } }
    }

    fn longest_life(&self) -> u64 {
        FixedWindow::longest_life(self)
    }

    fn ceiling(&self) -> u64 {
        self.ceiling
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::Rule, word::tests};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        /// 58 to 60 bits of the count leave an epoch of 5 to 3.
        #[test]
        fn narrow_epochs(
            limit in 0_u64..6,
            window in prop_oneof![1_u64..6, Just(1_000), 1_u64..1_000_000],
            bits in 58_u32..=60,
            start in 0_u64..1_000_000,
            requests in tests::requests(),
        ) {
            let quota = (limit, window, 63 - bits);
            tests::narrow_epochs_agree(&FixedWindow::with_bits(window, limit, bits), Rule::Fixed, quota, start, &requests)?;
        }

        #[test]
        fn words_come_back(bits in 1_u32..=60, epoch: u64, cur: u64) {
            let fixed = FixedWindow::with_bits(1, 1, bits);
            let (epoch, cur) = (epoch % (1 << (63 - bits)), cur % (1 << bits));
            prop_assert_eq!(fixed.unpack(fixed.pack(epoch, cur)), (epoch, cur));
            prop_assert_eq!(fixed.pack(epoch, cur) & FROZEN, 0);
        }
    }
}
