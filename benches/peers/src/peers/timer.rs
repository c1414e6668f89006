//! [`Timer`]: the clocks of what is written by hand.

use quanta::{Clock, Handle, Instant, Upkeep};
use std::time::Duration;

/// Nanoseconds since it was made.
pub struct Timer {
    clock: Clock,
    start: u64,
    start_recent: Instant,
    _upkeep: Option<Handle>,
}

/// How old a cached reading may be: the same for everyone.
pub const CACHED_FOR: Duration = Duration::from_millis(1);

impl Timer {
    /// To be read by [`now`](Self::now).
    pub fn counter() -> Timer {
        Timer::new(None)
    }

    /// To be read by [`recent`](Self::recent), which a thread keeps up to date.
    pub fn cached() -> Timer {
        Timer::new(Some(Upkeep::new(CACHED_FOR).start().expect("one at a time in a process")))
    }

    fn new(upkeep: Option<Handle>) -> Timer {
        let clock = Clock::new();
        Timer { start: clock.raw(), start_recent: clock.recent(), clock, _upkeep: upkeep }
    }

    #[inline]
    pub fn now(&self) -> u64 {
        self.clock.delta_as_nanos(self.start, self.clock.raw())
    }

    #[inline]
    pub fn recent(&self) -> u64 {
        self.clock.recent().saturating_duration_since(self.start_recent).as_nanos() as u64
    }
}
