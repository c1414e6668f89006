//! [`Nanos`]: an instant on a clock.

use core::time::Duration;

/// An instant: whole nanoseconds since the origin of the [`Clock`](crate::Clock) that was read.
///
/// Instants of two different clocks must not be mixed; the type cannot tell them apart. 64 bits last for 584 years.
///
/// ```
/// use slidegate::Nanos;
/// use std::time::Duration;
///
/// let start = Nanos::from_nanos(5);
/// let end = start.saturating_add(Duration::from_nanos(10));
/// assert_eq!(end.as_nanos(), 15);
/// assert_eq!(end.saturating_since(start), Duration::from_nanos(10));
/// assert_eq!(start.saturating_since(end), Duration::ZERO); // never a wrapped difference
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(u64);

impl Nanos {
    /// The origin of the clock.
    pub const ZERO: Nanos = Nanos(0);
    /// The last instant that can be told, 584 years after the origin.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// The instant `nanos` nanoseconds after the origin.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Nanos {
        Nanos(nanos)
    }

    /// Nanoseconds since the origin.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The instant `later` after this one, at most [`Nanos::MAX`].
    #[must_use]
    pub const fn saturating_add(self, later: Duration) -> Nanos {
        Nanos(self.0.saturating_add(saturating_nanos(later)))
    }

    /// The time from `earlier` to this instant; zero if `earlier` is the later one.
    #[must_use]
    pub const fn saturating_since(self, earlier: Nanos) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// A duration in nanoseconds; what does not fit 64 bits (584 years) is cut to their maximum.
pub(crate) const fn saturating_nanos(duration: Duration) -> u64 {
    let nanos = duration.as_nanos();
    if nanos > u64::MAX as u128 {
        u64::MAX
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "compared on the line above")]
        let nanos = nanos as u64;
        nanos
    }
}
