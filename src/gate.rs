//! [`Gate`]: a limiter for a single client.

use crate::{
    algorithm::Algorithm,
    clock::{Clock, FastClock},
    counter::Counter,
    decision::{Decision, Full},
    error::BuildError,
    fixed_window::FixedWindow,
    hazard::with_record,
    log::Log,
    nanos::Nanos,
    quota::Quota,
    sync::AtomicWord,
    table::{Segment, Table},
    word::Ask,
};
use core::fmt;

/// A limiter for a single client: a service as a whole, a tenant, a device.
///
/// Lock-free, by shared reference, and `const`, so that it can be a static; a quota that does not fit then fails to
/// compile. A check is a reading of the clock, one load and, if the request is allowed, one compare-and-swap, repeated
/// only where another request was recorded in between: a thread that is stopped anywhere holds up nobody.
///
/// That is so where the word tells a century apart, which it does for the counter up to 8,191 a second, say. Where it does
/// not, and for the log, what is remembered is renewed on the way: a check then protects it like that of a
/// [`Limiter`](crate::Limiter), and the first one allocates.
///
/// ```
/// use slidegate::{Counter, Gate, Quota};
///
/// static ALL: Gate<Counter> = Gate::counter(Quota::per_second(30_000));
///
/// fn serve() -> &'static str {
///     if ALL.check().is_allowed() { "hello" } else { "503 overloaded" }
/// }
/// assert_eq!(serve(), "hello");
/// ```
///
/// What does not fit is an error of the build:
///
/// ```compile_fail,E0080
/// use slidegate::{Counter, Gate, Quota};
///
/// static ALL: Gate<Counter> = Gate::counter(Quota::per_second(1_000_000_000));
/// ```
pub struct Gate<A: Algorithm, C = FastClock> {
    /// What is remembered, where a word tells a century apart.
    word: AtomicWord,
    /// Else it is here.
    table: Table<A, [Segment; 1]>,
    clock: C,
}

/// The key of the only client.
const KEY: u64 = 1;

impl Gate<Counter> {
    const_fn! {
        /// A gate with the sliding [`Counter`].
        ///
        /// # Panics
        ///
        /// Where the quota does not fit; in a constant or a static that is an error of the compiler.
        #[must_use]
        pub const fn counter(quota: Quota) -> Gate<Counter> {
            match Counter::new(quota) {
                Ok(algorithm) => Gate::of(algorithm, quota.limit(), algorithm.longest_life()),
                Err(error) => panic!("{}", error.summary()),
            }
        }
    }

    /// The same at run time; calibrates the [`FastClock`].
    ///
    /// # Errors
    ///
    /// If the window is zero or longer than 100 years, or the limit too large for the word.
    pub fn try_counter(quota: Quota) -> Result<Gate<Counter>, BuildError> {
        FastClock::calibrate();
        Counter::new(quota).map(|algorithm| Gate::of(algorithm, quota.limit(), algorithm.longest_life()))
    }
}

impl Gate<FixedWindow> {
    const_fn! {
        /// A gate with the [`FixedWindow`].
        ///
        /// # Panics
        ///
        /// Where the quota does not fit; in a constant or a static that is an error of the compiler.
        #[must_use]
        pub const fn fixed_window(quota: Quota) -> Gate<FixedWindow> {
            match FixedWindow::new(quota) {
                Ok(algorithm) => Gate::of(algorithm, quota.limit(), algorithm.longest_life()),
                Err(error) => panic!("{}", error.summary()),
            }
        }
    }

    /// The same at run time; calibrates the [`FastClock`].
    ///
    /// # Errors
    ///
    /// If the window is zero or longer than 100 years, or the limit too large for the word.
    pub fn try_fixed_window(quota: Quota) -> Result<Gate<FixedWindow>, BuildError> {
        FastClock::calibrate();
        FixedWindow::new(quota).map(|algorithm| Gate::of(algorithm, quota.limit(), algorithm.longest_life()))
    }
}

impl Gate<Log> {
    const_fn! {
        /// A gate with the exact [`Log`].
        ///
        /// # Panics
        ///
        /// Where the quota does not fit; in a constant or a static that is an error of the compiler.
        #[must_use]
        pub const fn log(quota: Quota) -> Gate<Log> {
            match Log::new(quota) {
                Ok(algorithm) => Gate::of(algorithm, quota.limit(), algorithm.longest_life()),
                Err(error) => panic!("{}", error.summary()),
            }
        }
    }

    /// The same at run time; calibrates the [`FastClock`].
    ///
    /// # Errors
    ///
    /// If the window is zero or longer than 100 years, or the limit too large for the word.
    pub fn try_log(quota: Quota) -> Result<Gate<Log>, BuildError> {
        FastClock::calibrate();
        Log::new(quota).map(|algorithm| Gate::of(algorithm, quota.limit(), algorithm.longest_life()))
    }
}

impl<A: Algorithm> Gate<A> {
    const_fn! {
        /// A gate with an algorithm of this longest life.
        pub(crate) const fn of(algorithm: A, limit: u64, longest_life: u64) -> Gate<A> {
            Gate { word: AtomicWord::new(0), table: Table::of_one(algorithm, limit, longest_life), clock: FastClock }
        }
    }
}

impl<A: Algorithm, C> Gate<A, C> {
    /// The same gate, reading another clock; before its first request, since the origins of two clocks differ.
    pub fn with_clock<D: Clock>(self, clock: D) -> Gate<A, D> {
        Gate { word: self.word, table: self.table, clock }
    }

    /// The algorithm with its parameters.
    pub const fn algorithm(&self) -> &A {
        &self.table.algorithm
    }

    /// A request of `cost` units, to be [checked](Request::check) or [peeked](Request::peek).
    ///
    /// ```
    /// # use slidegate::{Gate, Quota};
    /// let bytes = Gate::try_fixed_window(Quota::per_second(1_000_000))?;
    /// assert!(bytes.cost(1_500).check().is_allowed());
    /// # Ok::<(), slidegate::BuildError>(())
    /// ```
    #[inline]
    pub const fn cost(&self, cost: u64) -> Request<'_, A, C> {
        Request { gate: self, cost, at: None }
    }

    /// A request at a given instant of the gate's clock, which is not read again.
    ///
    /// ```
    /// # use slidegate::{Gate, Quota};
    /// let gate = Gate::try_counter(Quota::per_second(2))?;
    /// let now = gate.now(); // once for a batch
    /// assert!(gate.at(now).check().is_allowed());
    /// assert!(gate.at(now).check().is_allowed());
    /// assert!(!gate.at(now).check().is_allowed());
    /// # Ok::<(), slidegate::BuildError>(())
    /// ```
    #[inline]
    pub const fn at(&self, now: Nanos) -> Request<'_, A, C> {
        Request { gate: self, cost: 1, at: Some(now) }
    }
}

impl<A: Algorithm, C: Clock> Gate<A, C> {
    /// Decides on a request of cost 1, and records it if it is allowed.
    #[inline]
    pub fn check(&self) -> Decision {
        self.cost(1).check()
    }

    /// What [`check`](Self::check) would answer; records nothing.
    #[inline]
    pub fn peek(&self) -> Decision {
        self.cost(1).peek()
    }

    /// The gate's clock, read once.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }
}

impl<A: Algorithm, C: Clock> Gate<A, C> {
    /// Forgets what was allowed so far, but not when: time does not run backwards for the client.
    ///
    /// ```
    /// # use slidegate::{Gate, Quota};
    /// let gate = Gate::try_counter(Quota::per_day(1))?;
    /// assert!(gate.check().is_allowed());
    /// assert!(!gate.check().is_allowed());
    /// gate.forget();
    /// assert!(gate.check().is_allowed());
    /// # Ok::<(), slidegate::BuildError>(())
    /// ```
    pub fn forget(&self) {
        if self.table.lasts() {
            return self.table.algorithm.forget_in_word(&self.word);
        }
        let now = self.now().as_nanos();
        // Without memory for the record of a thread nothing is forgotten.
        let _ = with_record(|record| self.table.forget(record, KEY, now));
    }

    #[inline]
    fn decide(&self, ask: Ask) -> Decision {
        if self.table.lasts() {
            if let Some(decision) = self.table.algorithm.decide_in_word(&self.word, ask) {
                return decision;
            }
        }
        with_record(|record| self.table.check(record, KEY, ask))
            .unwrap_or_else(|_| Decision::Full(Full::new(ask.limit)))
    }
}

impl<A: Algorithm, C> fmt::Debug for Gate<A, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("algorithm", self.algorithm()).finish_non_exhaustive()
    }
}

/// A request to a [`Gate`]: what it costs and when it is made, then a verb.
#[must_use = "a request is decided by `check` or `peek`"]
#[derive(Debug)]
pub struct Request<'a, A: Algorithm, C = FastClock> {
    gate: &'a Gate<A, C>,
    cost: u64,
    at: Option<Nanos>,
}

impl<A: Algorithm, C> Clone for Request<'_, A, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: Algorithm, C> Copy for Request<'_, A, C> {}

impl<A: Algorithm, C: Clock> Request<'_, A, C> {
    /// The units that the request takes, 1 unless said. A cost of 0 records nothing and is allowed as long as no more
    /// than the limit is used; its answer tells what remains.
    #[inline]
    pub const fn cost(self, cost: u64) -> Self {
        Request { cost, ..self }
    }

    /// The instant of the request, the clock's reading unless said.
    ///
    /// An instant before the newest that was recorded counts as that one; one in the future holds the client there until
    /// the time comes. More than 50 years away from what was recorded it may be taken for one of another time, so
    /// [`Nanos::MAX`] is not an instant to ask at.
    #[inline]
    pub const fn at(self, now: Nanos) -> Self {
        Request { at: Some(now), ..self }
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

    /// The clock is read once, before anything of the client: a late reading only denies.
    #[inline]
    fn decide(self, recording: bool) -> Decision {
        let now = self.at.unwrap_or_else(|| self.gate.clock.now()).as_nanos();
        self.gate.decide(Ask { now, cost: self.cost, limit: self.gate.table.limit(), recording })
    }
}
