//! [`Gate`]: a limiter for a single client.

use crate::{
    clock::{Clock, FastClock},
    counter::Counter,
    decision::Decision,
    error::BuildError,
    fixed_window::FixedWindow,
    log::{Log, Stamps},
    nanos::Nanos,
    quota::Quota,
    word::{Step, Word},
};
use core::fmt;

/// An algorithm: how a client's requests are remembered and weighed.
///
/// Implemented by [`Counter`] and [`FixedWindow`]; sealed, since the proofs are about the algorithms of this crate.
pub trait Algorithm: sealed::Decide {}

impl<A: sealed::Decide> Algorithm for A {}

mod sealed {
    use super::{Decision, Log, Nanos, Stamps, Step, Word, fmt};

    pub trait Decide: fmt::Debug {
        /// All that is remembered of a client.
        type Memory: fmt::Debug;

        fn check(&self, memory: &Self::Memory, now: Nanos, cost: u64) -> Decision;

        fn peek(&self, memory: &Self::Memory, now: Nanos, cost: u64) -> Decision;
    }

    impl<A: Step> Decide for A {
        type Memory = Word;

        #[inline]
        fn check(&self, word: &Word, now: Nanos, cost: u64) -> Decision {
            word.check(self, now, cost)
        }

        #[inline]
        fn peek(&self, word: &Word, now: Nanos, cost: u64) -> Decision {
            word.peek(self, now, cost)
        }
    }

    impl Decide for Log {
        type Memory = Stamps;

        #[inline]
        fn check(&self, stamps: &Stamps, now: Nanos, cost: u64) -> Decision {
            self.check(stamps, now, cost)
        }

        #[inline]
        fn peek(&self, stamps: &Stamps, now: Nanos, cost: u64) -> Decision {
            self.peek(stamps, now, cost)
        }
    }
}

/// A limiter for a single client: a service as a whole, a tenant, a device.
///
/// Lock-free, by shared reference, and `const`, so that it can be a static; a quota that does not fit then fails to
/// compile. A check is a reading of the clock, one load and, if the request is allowed, one compare-and-swap, repeated
/// only where another request was recorded in between: a thread that is stopped anywhere holds up nobody.
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
/// use std::time::Duration;
///
/// static ALL: Gate<Counter> = Gate::counter(Quota::new(1_000_000, Duration::from_millis(1)));
/// ```
#[derive(Debug)]
pub struct Gate<A: Algorithm, C = FastClock> {
    algorithm: A,
    memory: A::Memory,
    clock: C,
}

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
                Ok(algorithm) => Gate::of_word(algorithm),
                Err(error) => panic!("{}", error.summary()),
            }
        }
    }

    /// The same at run time; calibrates the [`FastClock`].
    ///
    /// # Errors
    ///
    /// If the window is zero or longer than 100 years, or the limit too large for a word that tells 100 years apart.
    pub fn try_counter(quota: Quota) -> Result<Gate<Counter>, BuildError> {
        FastClock::calibrate();
        Counter::new(quota).map(Gate::of_word)
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
                Ok(algorithm) => Gate::of_word(algorithm),
                Err(error) => panic!("{}", error.summary()),
            }
        }
    }

    /// The same at run time; calibrates the [`FastClock`].
    ///
    /// # Errors
    ///
    /// If the window is zero or longer than 100 years, or the limit too large for a word that tells 100 years apart.
    pub fn try_fixed_window(quota: Quota) -> Result<Gate<FixedWindow>, BuildError> {
        FastClock::calibrate();
        FixedWindow::new(quota).map(Gate::of_word)
    }
}

impl<A: Step> Gate<A> {
    const_fn! {
        pub(crate) const fn of_word(algorithm: A) -> Gate<A> {
            Gate { algorithm, memory: Word::new(), clock: FastClock }
        }
    }
}

impl Gate<Log> {
    /// A gate with the exact log; not public until a gate renews its stamps by itself.
    ///
    /// It is valid as long as it is used within a quarter of its horizon, one window at least, since its newest stamp.
    pub(crate) fn log(quota: Quota) -> Result<Gate<Log>, BuildError> {
        Ok(Gate { algorithm: Log::new(quota)?, memory: Log::stamps(), clock: FastClock })
    }
}

impl<A: Algorithm, C> Gate<A, C> {
    /// The same gate, reading another clock; before its first request, since the origins of two clocks differ.
    pub fn with_clock<D: Clock>(self, clock: D) -> Gate<A, D> {
        Gate { algorithm: self.algorithm, memory: self.memory, clock }
    }

    /// The algorithm with its parameters.
    pub const fn algorithm(&self) -> &A {
        &self.algorithm
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

impl<A: Step, C> Gate<A, C> {
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
        self.memory.forget(&self.algorithm);
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
        self.gate.algorithm.check(&self.gate.memory, self.now(), self.cost)
    }

    /// What [`check`](Self::check) would answer; records nothing.
    #[inline]
    pub fn peek(self) -> Decision {
        self.gate.algorithm.peek(&self.gate.memory, self.now(), self.cost)
    }

    /// The instant of the request. The clock is read once, before anything of the client: a late reading only denies.
    #[inline]
    fn now(&self) -> Nanos {
        self.at.unwrap_or_else(|| self.gate.clock.now())
    }
}
