//! [`Decision`]: the answer to a request.

use crate::{counter::Counts, nanos::Nanos};
use core::{fmt, time::Duration};

/// The answer to a request; exhaustive on purpose, so that a `match` shows every case that a server meets.
///
/// All numbers are those of the instant of the decision. Deriving them costs nothing until they are asked for.
///
/// ```
/// use slidegate::{Decision, Gate, ManualClock, Quota};
/// use std::time::Duration;
///
/// let gate = Gate::try_fixed_window(Quota::per_minute(1))?.with_clock(ManualClock::new());
/// for _ in 0..2 {
///     match gate.check() {
///         Decision::Allowed(allowed) => assert_eq!(allowed.full_reset(), Duration::from_secs(60)),
///         Decision::Refused(refused) => assert_eq!(refused.retry_after(), Duration::from_secs(60)),
///         Decision::Never(_) => unreachable!("the cost is not larger than the limit"),
///         Decision::Full(_) => unreachable!("there is room for one client"),
///     }
/// }
/// # Ok::<(), slidegate::BuildError>(())
/// ```
#[must_use = "a request that is not allowed must not be served"]
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    /// The request may go ahead; its cost is recorded.
    Allowed(Allowed),
    /// The request must wait; nothing is recorded.
    Refused(Refused),
    /// The request costs more than the limit, so no wait will help; nothing is recorded.
    Never(Never),
    /// There was no memory to record the request in; nothing is recorded.
    Full(Full),
}

const _: () = assert!(size_of::<Decision>() <= 48);

impl Decision {
    /// Whether the request may go ahead.
    #[inline]
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Decision::Allowed(_))
    }

    /// The limit of the quota.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        match self {
            Decision::Allowed(allowed) => allowed.limit,
            Decision::Refused(refused) => refused.limit,
            Decision::Never(never) => never.limit,
            Decision::Full(full) => full.limit,
        }
    }

    /// The requests of cost 1 that would be allowed right now, after this one.
    #[must_use]
    pub const fn remaining(&self) -> u64 {
        match self {
            Decision::Allowed(allowed) => allowed.remaining(),
            Decision::Refused(refused) => refused.remaining(),
            Decision::Never(never) => never.remaining,
            Decision::Full(_) => 0,
        }
    }

    /// How long to wait before the same request is allowed, if no other comes; `None` unless it was refused.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Decision::Refused(refused) => Some(refused.retry_after()),
            Decision::Allowed(_) | Decision::Never(_) | Decision::Full(_) => None,
        }
    }
}

/// A request that may go ahead.
#[derive(Clone, Copy)]
pub struct Allowed {
    limit: u64,
    standing: Standing,
}

/// What an answer carries of the client's state, to derive its numbers from when they are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Standing {
    /// Numbers that the decision found on its way.
    Known { remaining: u64, next_unit: Option<u64>, full_reset: u64 },
    /// Two counts, whose numbers take a division each.
    Counter(Counts),
    /// Nothing: the request was allowed without a record.
    Untracked,
}

impl Allowed {
    pub(crate) const fn new(limit: u64, standing: Standing) -> Allowed {
        Allowed { limit, standing }
    }

    /// The requests of cost 1 that would be allowed right now, after this one.
    #[must_use]
    pub const fn remaining(&self) -> u64 {
        match self.standing {
            Standing::Known { remaining, .. } => remaining,
            Standing::Counter(counts) => counts.remaining(self.limit),
            Standing::Untracked => 0,
        }
    }

    pub(crate) const fn untracked(limit: u64) -> Allowed {
        Allowed { limit, standing: Standing::Untracked }
    }

    /// Whether the request was recorded; false only where a full limiter lets new clients through
    /// ([`WhenFull::AllowUntracked`](crate::WhenFull::AllowUntracked)).
    #[must_use]
    pub const fn is_tracked(&self) -> bool {
        !matches!(self.standing, Standing::Untracked)
    }

    /// How long until [`remaining`](Self::remaining) grows, if no other request comes; `None` where nothing is used.
    #[must_use]
    pub const fn next_unit(&self) -> Option<Duration> {
        let nanos = match self.standing {
            Standing::Known { next_unit, .. } => next_unit,
            Standing::Counter(counts) => counts.next_unit(self.limit),
            Standing::Untracked => None,
        };
        match nanos {
            Some(nanos) => Some(Duration::from_nanos(nanos)),
            None => None,
        }
    }

    /// How long until nothing of the client is remembered, if no other request comes.
    #[must_use]
    pub const fn full_reset(&self) -> Duration {
        Duration::from_nanos(match self.standing {
            Standing::Known { full_reset, .. } => full_reset,
            Standing::Counter(counts) => counts.full_reset(),
            Standing::Untracked => 0,
        })
    }
}

impl fmt::Debug for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allowed")
            .field("limit", &self.limit)
            .field("remaining", &self.remaining())
            .field("next_unit", &self.next_unit())
            .field("full_reset", &self.full_reset())
            .finish()
    }
}

/// A request that must wait.
#[derive(Clone, Copy)]
pub struct Refused {
    limit: u64,
    waiting: Waiting,
    /// The effective now of the decision.
    now: Nanos,
}

/// What a refusal carries, to derive its numbers from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Waiting {
    /// Numbers that the decision found on its way; the wait in nanoseconds.
    Known { remaining: u64, wait: u64 },
    /// Two counts, whose numbers take a division each, and the cost that did not fit.
    Counter { counts: Counts, cost: u32 },
}

impl Refused {
    pub(crate) const fn new(limit: u64, waiting: Waiting, now: Nanos) -> Refused {
        Refused { limit, waiting, now }
    }

    const fn remaining(&self) -> u64 {
        match self.waiting {
            Waiting::Known { remaining, .. } => remaining,
            Waiting::Counter { counts, .. } => counts.remaining(self.limit),
        }
    }

    /// The smallest wait after which the same request is allowed, if no other comes: neither too early nor too late.
    ///
    /// It counts from the client's effective now. That is the reading of the clock, or the newest time recorded for the
    /// client where the reading lies behind it.
    #[must_use]
    pub const fn retry_after(&self) -> Duration {
        Duration::from_nanos(match self.waiting {
            Waiting::Known { wait, .. } => wait,
            Waiting::Counter { counts, cost } => counts.wait(self.limit, cost as u64),
        })
    }

    /// The instant at which that wait is over, at most [`Nanos::MAX`].
    #[must_use]
    pub const fn retry_at(&self) -> Nanos {
        self.now.saturating_add(self.retry_after())
    }
}

impl fmt::Debug for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused")
            .field("limit", &self.limit)
            .field("remaining", &self.remaining())
            .field("retry_after", &self.retry_after())
            .finish_non_exhaustive()
    }
}

/// A request that no wait will help: it costs more than the limit.
#[derive(Clone, Copy, Debug)]
pub struct Never {
    limit: u64,
    remaining: u64,
}

impl Never {
    pub(crate) const fn new(limit: u64, remaining: u64) -> Never {
        Never { limit, remaining }
    }
}

/// A request that found no memory to be recorded in.
#[derive(Clone, Copy, Debug)]
pub struct Full {
    limit: u64,
}

impl Full {
    pub(crate) const fn new(limit: u64) -> Full {
        Full { limit }
    }
}
