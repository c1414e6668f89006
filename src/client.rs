//! [`Client`]: a client of a limiter, and what it asks.

use crate::{
    clock::Clock,
    decision::{Decision, Full},
    hazard::with_record,
    key::ClientKey,
    nanos::Nanos,
    table::Table,
    word::{Ask, Step},
};
use core::fmt;

/// A client of a [`Limiter`](crate::Limiter): what its request costs and when it is made, then a verb.
///
/// ```
/// use slidegate::{Limiter, Quota};
///
/// let limiter = Limiter::<str>::counter(Quota::per_minute(10)).build()?;
/// let acme = limiter.client("acme");
/// assert_eq!(acme.cost(4).check().remaining(), 6);
/// assert_eq!(acme.cost(0).peek().remaining(), 6);
/// acme.forget();
/// assert_eq!(acme.cost(0).peek().remaining(), 10);
/// # Ok::<(), slidegate::BuildError>(())
/// ```
#[must_use = "a request is decided by `check` or `peek`"]
pub struct Client<'a, A, C> {
    table: &'a Table<A>,
    clock: &'a C,
    key: ClientKey,
    cost: u64,
    at: Option<Nanos>,
}

impl<A, C> Clone for Client<'_, A, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, C> Copy for Client<'_, A, C> {}

impl<A, C> fmt::Debug for Client<'_, A, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("cost", &self.cost).field("at", &self.at).finish_non_exhaustive()
    }
}

impl<'a, A: Step, C: Clock> Client<'a, A, C> {
    pub(crate) fn new(table: &'a Table<A>, clock: &'a C, key: ClientKey) -> Self {
        Client { table, clock, key, cost: 1, at: None }
    }

    /// The units that the request takes, 1 unless said. A cost of 0 records nothing and is allowed as long as no more
    /// than the limit is used; its answer tells what remains.
    #[inline]
    pub fn cost(self, cost: u64) -> Self {
        Client { cost, ..self }
    }

    /// The instant of the request, the clock's reading unless said; as with [`Request::at`](crate::Request::at).
    #[inline]
    pub fn at(self, now: Nanos) -> Self {
        Client { at: Some(now), ..self }
    }

    /// Decides on the request, and records its cost if it is allowed.
    #[inline]
    pub fn check(self) -> Decision {
        self.decide(true)
    }

    /// What [`check`](Self::check) would answer; records nothing.
    #[inline]
    pub fn peek(self) -> Decision {
        self.decide(false)
    }

    /// Forgets what the client used, but not when: time does not run backwards for it.
    pub fn forget(self) {
        let now = self.now();
        // Without memory for the record of a thread nothing is forgotten.
        let _ = with_record(|record| self.table.forget(record, self.key.tag(), now));
    }

    #[inline]
    fn decide(self, recording: bool) -> Decision {
        // The clock is the user's code: it runs before anything is protected.
        let ask = Ask { now: self.now(), cost: self.cost, recording };
        with_record(|record| self.table.check(record, self.key.tag(), ask))
            .unwrap_or_else(|_| Decision::Full(Full::new(self.table.algorithm().limit())))
    }

    #[inline]
    fn now(&self) -> u64 {
        self.at.unwrap_or_else(|| self.clock.now()).as_nanos()
    }
}
