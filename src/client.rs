//! [`Client`]: a client of a limiter, and what it asks.

use crate::{
    algorithm::Algorithm,
    clock::Clock,
    decision::{Decision, Full},
    hazard::{NoRecord, Record, with_record},
    key::ClientKey,
    nanos::Nanos,
    table::Table,
    word::Ask,
};
use core::fmt;

/// How a client comes to the record of a thread.
pub trait Access: Copy {
    /// Calls `body` with the record.
    fn with<T>(self, body: impl FnOnce(&Record) -> T) -> Result<T, NoRecord>;
}

/// The record of whatever thread asks, looked up in it.
#[derive(Clone, Copy, Debug)]
pub struct FromThread;

impl Access for FromThread {
    #[inline]
    fn with<T>(self, body: impl FnOnce(&Record) -> T) -> Result<T, NoRecord> {
        with_record(body)
    }
}

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
pub struct Client<'a, A: Algorithm, C, R: Access = FromThread> {
    table: &'a Table<A>,
    clock: &'a C,
    record: R,
    key: ClientKey,
    cost: u64,
    at: Option<Nanos>,
}

impl<A: Algorithm, C, R: Access> Clone for Client<'_, A, C, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Algorithm, C, R: Access> Copy for Client<'_, A, C, R> {}

impl<A: Algorithm, C, R: Access> fmt::Debug for Client<'_, A, C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("cost", &self.cost).field("at", &self.at).finish_non_exhaustive()
    }
}

impl<'a, A: Algorithm, C: Clock, R: Access> Client<'a, A, C, R> {
    pub(crate) fn new(table: &'a Table<A>, clock: &'a C, record: R, key: ClientKey) -> Self {
        Client { table, clock, record, key, cost: 1, at: None }
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
        let _ = self.record.with(|record| self.table.forget(record, self.key.tag(), now));
    }

    // Always, all the way down: what the caller does not look at of the answer is then not computed.
    #[inline(always)]
    fn decide(self, recording: bool) -> Decision {
        // The clock is the user's code: it runs before anything is protected.
        let ask = Ask { now: self.now(), cost: self.cost, limit: self.table.limit(), recording };
        let decided = self.record.with(|record| self.table.check(record, self.key.tag(), ask));
        decided.unwrap_or_else(|_| Decision::Full(Full::new(ask.limit)))
    }

    #[inline]
    fn now(&self) -> u64 {
        self.at.unwrap_or_else(|| self.clock.now()).as_nanos()
    }
}
