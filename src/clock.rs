//! [`Clock`] and the clocks that come with the crate.
//!
//! What each of them counts:
//!
//! | clock | reads | suspended machine | restored snapshot | forked process |
//! |---|---|---|---|---|
//! | [`FastClock`] | the processor's time stamp counter, 12 ns | does not count (Linux) | may jump: calibrate again by a restart | goes on |
//! | [`SystemClock`] | [`std::time::Instant`], 30 ns | does not count (Linux) | goes on | goes on |
//! | [`CachedClock`] | what one of these showed when it was last renewed, 1 ns | as that one | as that one | as that one |
//! | [`ManualClock`] | what the test says | - | - | - |
//!
//! A time stamp counter drifts against the system's clock by some parts per million, which shortens or lengthens a
//! window by as much. Whoever wants the hours of a suspend to count writes a clock over `CLOCK_BOOTTIME`, or over the
//! wall clock as in the example of [`Clock`].

use crate::{
    nanos::{Nanos, saturating_nanos},
    sync::{Arc, ClockReading, OnceLock, Ordering},
};
use core::{fmt, time::Duration};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A source of readings.
///
/// A reading may be late, coarse or behind an earlier one: a limiter then may refuse, but never allows more than its
/// limit. A reading in the future holds its client there until that time comes. That holds for readings within 50 years
/// of each other; what is further apart may be taken for another time. If `now` panics, nothing is recorded.
///
/// ```
/// use slidegate::{Clock, Nanos};
/// use std::time::{SystemTime, UNIX_EPOCH};
///
/// /// Counts the time a machine sleeps; jumps where an administrator sets the time.
/// struct WallClock;
///
/// impl Clock for WallClock {
///     fn now(&self) -> Nanos {
///         let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
///         Nanos::ZERO.saturating_add(since_1970)
///     }
/// }
/// assert!(WallClock.now() > Nanos::ZERO);
/// ```
pub trait Clock {
    /// The present instant.
    fn now(&self) -> Nanos;

    /// What takes time before the first reading; called where a limiter is built.
    fn prepare(&self) {}
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now(&self) -> Nanos {
        (**self).now()
    }

    fn prepare(&self) {
        (**self).prepare();
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    #[inline]
    fn now(&self) -> Nanos {
        (**self).now()
    }

    fn prepare(&self) {
        (**self).prepare();
    }
}

/// The default clock: the processor's time stamp counter where the platform has a steady one, else the system's clock.
///
/// Its origin is 1970-01-01 UTC as the system told it when the clock was calibrated, so windows of a minute start with
/// the minutes of the day; from then on it runs by itself and ignores changes of the wall clock. A wall clock that is not
/// set yet, and says 1970, is taken for the start of 2026.
///
/// ```
/// use slidegate::{Clock, FastClock};
///
/// FastClock::calibrate(); // at the start of `main`: 10 to 200 ms, once in a process
/// let before = FastClock.now();
/// assert!(FastClock.now() >= before);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FastClock;

struct Calibrated {
    clock: quanta::Clock,
    /// The counter at the calibration, and the wall clock's nanoseconds at the same moment.
    counter: u64,
    wall: u64,
}

static CALIBRATED: OnceLock<Calibrated> = OnceLock::new();

impl FastClock {
    /// Calibrates the counter of this process, if nobody has: 10 to 200 ms, during which other callers wait.
    ///
    /// Limiters that are built at run time do it themselves. A program whose only limiters are statics calls it first
    /// thing in `main`; until it has, a reading never waits and comes from the system's wall clock instead.
    pub fn calibrate() {
        CALIBRATED.get_or_init(|| {
            let clock = quanta::Clock::new();
            let counter = clock.raw();
            Calibrated { clock, counter, wall: wall_nanos() }
        });
    }
}

impl Clock for FastClock {
    #[inline]
    fn now(&self) -> Nanos {
        // `get` does not wait for a calibration that runs: no check may.
        match CALIBRATED.get() {
            Some(at) => Nanos::from_nanos(at.wall + at.clock.delta_as_nanos(at.counter, at.clock.raw())),
            None => uncalibrated(),
        }
    }

    fn prepare(&self) {
        FastClock::calibrate();
    }
}

#[cold]
fn uncalibrated() -> Nanos {
    Nanos::from_nanos(wall_nanos())
}

/// 2026-01-01, before which no wall clock was right that reads this.
const EARLIEST: u64 = 1_767_225_600 * 1_000_000_000;

fn wall_nanos() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, saturating_nanos).max(EARLIEST)
}

/// The system's monotonic clock, [`std::time::Instant`]; its origin is the moment it was made.
///
/// ```
/// use slidegate::{Clock, SystemClock};
///
/// let clock = SystemClock::new();
/// assert!(clock.now() <= clock.now());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock that starts now.
    #[must_use]
    pub fn new() -> SystemClock {
        SystemClock { origin: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock::new()
    }
}

impl Clock for SystemClock {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos::from_nanos(saturating_nanos(self.origin.elapsed()))
    }
}

/// A clock that shows what another one showed when it was last [renewed](Self::renew), by a thread or by the turns of an
/// event loop; clones show the same time. A reading costs a load, a tenth of that of the [`FastClock`].
///
/// Readings are late by as much as a renewal is, so a promise for an interval of length `W` then holds for one of `W`
/// minus the longest time between two renewals. If nobody renews it any more, time stands still: clients at their limit
/// stay refused.
///
/// ```
/// use slidegate::{CachedClock, FastClock, Limiter, Quota};
/// use std::{thread, time::Duration};
///
/// let clock = CachedClock::new(FastClock);
/// let limiter = Limiter::<str>::counter(Quota::per_second(10)).clock(clock.clone()).build()?;
/// thread::spawn(move || {
///     loop {
///         thread::sleep(Duration::from_millis(1));
///         clock.renew();
///     }
/// });
/// assert!(limiter.check("acme").is_allowed());
/// # Ok::<(), slidegate::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct CachedClock<C = FastClock> {
    shown: ManualClock,
    clock: C,
}

impl<C: Clock> CachedClock<C> {
    /// A clock that shows what `clock` shows now, until it is renewed.
    #[must_use]
    pub fn new(clock: C) -> CachedClock<C> {
        clock.prepare();
        let cached = CachedClock { shown: ManualClock::new(), clock };
        cached.renew();
        cached
    }

    /// Reads the other clock, and shows that from here on.
    pub fn renew(&self) {
        self.shown.set(self.clock.now());
    }
}

impl<C: Clock> Clock for CachedClock<C> {
    #[inline]
    fn now(&self) -> Nanos {
        self.shown.now()
    }
}

/// A clock that stands still until it is told to move, for tests; clones show the same time.
///
/// ```
/// use slidegate::{Gate, ManualClock, Quota};
/// use std::time::Duration;
///
/// let clock = ManualClock::new();
/// let gate = Gate::try_fixed_window(Quota::per_minute(1))?.with_clock(clock.clone());
/// assert!(gate.check().is_allowed());
/// assert!(!gate.check().is_allowed());
/// clock.advance(Duration::from_secs(60));
/// assert!(gate.check().is_allowed());
/// # Ok::<(), slidegate::BuildError>(())
/// ```
#[derive(Clone, Default)]
pub struct ManualClock {
    // Relaxed: a reading is one number and carries nothing else from thread to thread.
    reading: Arc<ClockReading>,
}

impl ManualClock {
    /// A clock that shows its origin.
    #[must_use]
    pub fn new() -> ManualClock {
        ManualClock::default()
    }

    /// Moves on by `step`, at most to [`Nanos::MAX`].
    pub fn advance(&self, step: Duration) {
        let later = |reading| Some(Nanos::from_nanos(reading).saturating_add(step).as_nanos());
        // The closure always answers `Some`, so the update cannot fail.
        let _ = self.reading.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later);
    }

    /// Shows `now` from here on, be it earlier or later than before.
    pub fn set(&self, now: Nanos) {
        self.reading.store(now.as_nanos(), Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos::from_nanos(self.reading.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}
