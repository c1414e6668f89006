//! How counts and time share a word: what a quota needs, and what to change where it does not fit.

use crate::{error::BuildError, nanos::saturating_nanos, quota::Quota};
use core::time::Duration;

const SECOND: u64 = 1_000_000_000;

/// A hundred years: the longest window. A word that tells as much time apart is never renewed.
pub(crate) const CENTURY: u64 = 100 * 31_557_600 * SECOND;

/// The bits of a word that counts and epoch share; the highest is the frozen bit.
const SHARED: u32 = 63;

/// Eight windows in a quarter of the horizon.
const FEWEST_EPOCH_BITS: u32 = 5;

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

/// The window in nanoseconds and the bits of a count, for a word of `counts` counts.
pub(crate) const fn fit(quota: Quota, counts: u32, algorithm: &'static str) -> Result<(u64, u32), BuildError> {
    let window = match window(quota) {
        Ok(window) => window,
        Err(error) => return Err(error),
    };
    let (needed, most) = (bits(quota.limit()), (SHARED - FEWEST_EPOCH_BITS) / counts);
    if needed <= most {
        return Ok((window, needed));
    }
    Err(BuildError::DoesNotFit { quota, algorithm, largest_limit: (1 << most) - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way out that an error names does work, and nothing looser does.
    #[test]
    fn errors_name_the_exact_edge() {
        for counts in [1, 2] {
            for limit in [1, 1 << 20, 1 << 29, 1 << 40, 1 << 59, u64::MAX] {
                let at_limit = |limit| fit(Quota::per_second(limit), counts, "word");
                match at_limit(limit) {
                    Ok((_, needed)) => assert!(epoch_bits(counts, needed) >= FEWEST_EPOCH_BITS),
                    Err(BuildError::DoesNotFit { largest_limit, .. }) => {
                        assert!(at_limit(largest_limit).is_ok(), "{limit}: {largest_limit}");
                        assert!(at_limit(largest_limit + 1).is_err(), "{limit}: {largest_limit} + 1");
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
}
