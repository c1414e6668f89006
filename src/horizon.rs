//! How counts and time share a word: what a quota needs, and what to change where it does not fit.

use crate::{error::BuildError, nanos::saturating_nanos, quota::Quota};
use core::time::Duration;

const SECOND: u64 = 1_000_000_000;

/// A hundred years: the longest window, and the time that a word whose epoch nobody renews must tell apart.
pub(crate) const CENTURY: u64 = 100 * 31_557_600 * SECOND;

/// The bits of a word that counts and epoch share; the highest is the frozen bit.
const SHARED: u32 = 63;

/// With fewer a distance would have no sign to speak of.
const FEWEST_EPOCH_BITS: u32 = 3;

/// Eight windows in a quarter of the horizon.
const FEWEST_RENEWED_BITS: u32 = 5;

/// The window of a quota in nanoseconds, neither zero nor longer than a century.
pub(crate) const fn window(quota: Quota) -> Result<u64, BuildError> {
    match saturating_nanos(quota.window()) {
        0 => Err(BuildError::ZeroWindow { quota }),
        1..=CENTURY => Ok(saturating_nanos(quota.window())),
        _ => Err(BuildError::WindowTooLong { quota, longest: Duration::from_nanos(CENTURY) }),
    }
}

/// The bits that hold every number up to `largest`.
pub(crate) const fn bits(largest: u64) -> u32 {
    // One even for 0, so that no field of a word is empty.
    u64::BITS - (largest | 1).leading_zeros()
}

/// The bits that the epoch of a word keeps beside `counts` counts of `bits` bits.
pub(crate) const fn epoch_bits(counts: u32, bits: u32) -> u32 {
    SHARED.saturating_sub(counts * bits)
}

/// The window in nanoseconds and the bits of a count, for a word of `counts` counts whose epoch lasts a century.
pub(crate) const fn fit(quota: Quota, counts: u32, algorithm: &'static str) -> Result<(u64, u32), BuildError> {
    let window = match window(quota) {
        Ok(window) => window,
        Err(error) => return Err(error),
    };
    let needed = bits(quota.limit());
    let most = SHARED.saturating_sub(epoch_bits_for(window)) / counts;
    if needed <= most {
        return Ok((window, needed));
    }
    let largest_limit = if most == 0 { None } else { Some((1 << most) - 1) };
    let epoch = epoch_bits(counts, needed);
    let shortest_window = if epoch < FEWEST_EPOCH_BITS { None } else { Some(rounded_up(CENTURY.div_ceil(1 << epoch))) };
    Err(BuildError::DoesNotFit { quota, algorithm, largest_limit, shortest_window })
}

/// The same where words are renewed before their epoch wraps, so that a few bits of it are enough.
pub(crate) const fn fit_renewed(quota: Quota, counts: u32, algorithm: &'static str) -> Result<(u64, u32), BuildError> {
    let window = match window(quota) {
        Ok(window) => window,
        Err(error) => return Err(error),
    };
    let (needed, most) = (bits(quota.limit()), (SHARED - FEWEST_RENEWED_BITS) / counts);
    if needed <= most {
        return Ok((window, needed));
    }
    Err(BuildError::DoesNotFit { quota, algorithm, largest_limit: Some((1 << most) - 1), shortest_window: None })
}

/// The epoch bits with which windows of this length last a century.
const fn epoch_bits_for(window: u64) -> u32 {
    let needed = bits(CENTURY.div_ceil(window) - 1);
    if needed < FEWEST_EPOCH_BITS { FEWEST_EPOCH_BITS } else { needed }
}

/// The next duration that reads well: whole seconds, or milliseconds, or microseconds where it is shorter.
const fn rounded_up(nanos: u64) -> Duration {
    let unit = match nanos {
        SECOND.. => SECOND,
        1_000_000.. => 1_000_000,
        1_000.. => 1_000,
        _ => 1,
    };
    Duration::from_nanos(nanos.div_ceil(unit) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two ways out that an error names do work, and nothing looser does.
    #[test]
    fn errors_name_the_exact_edge() {
        for counts in [1, 2] {
            for window in [1, 999, 1_000_000, SECOND, 60 * SECOND, 86_400 * SECOND, CENTURY] {
                for limit in [1, 100, 8_191, 8_192, 1 << 20, 1 << 29, 1 << 40, 1 << 59, u64::MAX] {
                    let quota = Quota::new(limit, Duration::from_nanos(window));
                    let Err(BuildError::DoesNotFit { largest_limit, shortest_window, .. }) = fit(quota, counts, "word")
                    else {
                        continue;
                    };
                    let at_limit = |limit| fit(Quota::new(limit, quota.window()), counts, "word");
                    match largest_limit {
                        Some(largest) => {
                            assert!(at_limit(largest).is_ok(), "{quota}: {largest}");
                            assert!(at_limit(largest + 1).is_err(), "{quota}: {largest} + 1");
                        }
                        None => assert!(at_limit(1).is_err(), "{quota}"),
                    }
                    let at_window = |window| fit(Quota::new(limit, window), counts, "word");
                    match shortest_window {
                        Some(shortest) => assert!(at_window(shortest).is_ok(), "{quota}: {shortest:?}"),
                        None => assert!(at_window(Duration::from_nanos(CENTURY)).is_err(), "{quota}"),
                    }
                }
            }
        }
    }

    #[test]
    fn an_epoch_that_fits_lasts_a_century() {
        for window in [1_000, 1_000_000, SECOND, 60 * SECOND, 86_400 * SECOND] {
            for limit in (0..40).map(|bits| 1 << bits) {
                if let Ok((length, bits)) = fit(Quota::new(limit, Duration::from_nanos(window)), 2, "counter") {
                    assert!(u128::from(length) << epoch_bits(2, bits) >= u128::from(CENTURY));
                }
            }
        }
    }
}
