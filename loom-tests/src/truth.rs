//! The sequential truth of the three algorithms: a list of everything that was allowed, and nothing clever.

use crate::Answer;

/// What an algorithm must answer if requests come one after the other.
pub trait Truth: Clone {
    /// The effective now of a reading.
    fn effective(&self, now: u64) -> u64;
    /// Whether `cost` fits at an effective now.
    fn fits(&self, now: u64, cost: u64) -> bool;
    fn record(&mut self, now: u64, cost: u64);
    fn forget(&mut self);
    fn limit(&self) -> u64;

    fn peek(&self, now: u64, cost: u64) -> Answer {
        let mut after = self.clone();
        after.check(now, cost)
    }

    fn check(&mut self, now: u64, cost: u64) -> Answer {
        let now = self.effective(now);
        let remaining = |truth: &Self| (0..=truth.limit()).rev().find(|&cost| truth.fits(now, cost)).unwrap_or(0);
        if cost > self.limit() {
            return Answer::Never { remaining: remaining(self) };
        }
        if !self.fits(now, cost) {
            let wait = (1..).find(|&wait| self.fits(now + wait, cost)).expect("a cost within the limit fits some day");
            return Answer::Refused { remaining: remaining(self), wait, at: now + wait };
        }
        if cost > 0 {
            self.record(now, cost);
        }
        Answer::Allowed { remaining: remaining(self) }
    }
}

/// Instants and costs of what was allowed.
#[derive(Clone, Debug, Default)]
struct List(Vec<(u64, u64)>);

impl List {
    fn newest(&self) -> Option<u64> {
        self.0.iter().map(|&(at, _)| at).max()
    }

    fn units(&self, counts: impl Fn(u64) -> bool) -> u64 {
        self.0.iter().filter(|&&(at, _)| counts(at)).map(|&(_, cost)| cost).sum()
    }
}

/// No closed interval `[t - window, t]` holds more than the limit.
#[derive(Clone, Debug)]
pub struct LogTruth {
    limit: u64,
    window: u64,
    allowed: List,
}

impl LogTruth {
    pub fn new(limit: u64, window: u64) -> LogTruth {
        LogTruth { limit, window, allowed: List::default() }
    }
}

impl Truth for LogTruth {
    fn effective(&self, now: u64) -> u64 {
        self.allowed.newest().map_or(now, |newest| newest.max(now))
    }

    fn fits(&self, now: u64, cost: u64) -> bool {
        self.allowed.units(|at| now - at <= self.window) + cost <= self.limit
    }

    fn record(&mut self, now: u64, cost: u64) {
        self.allowed.0.push((now, cost));
    }

    fn forget(&mut self) {
        unreachable!("a gate with a log cannot forget yet");
    }

    fn limit(&self) -> u64 {
        self.limit
    }
}

/// What the two word algorithms share: windows from the origin, and the newest that was recorded, forgotten or not.
#[derive(Clone, Debug)]
struct Windowed {
    limit: u64,
    window: u64,
    allowed: List,
    newest_window: Option<u64>,
}

impl Windowed {
    fn new(limit: u64, window: u64) -> Windowed {
        Windowed { limit, window, allowed: List::default(), newest_window: None }
    }

    fn effective(&self, now: u64) -> u64 {
        self.newest_window.map_or(now, |newest| now.max(newest * self.window))
    }

    fn units_of(&self, window: u64) -> u64 {
        self.allowed.units(|at| at / self.window == window)
    }

    fn record(&mut self, now: u64, cost: u64) {
        self.allowed.0.push((now, cost));
        self.newest_window = Some(now / self.window);
    }
}

/// The count of this window plus the previous one's, weighted by what is left of it.
#[derive(Clone, Debug)]
pub struct CounterTruth(Windowed);

impl CounterTruth {
    pub fn new(limit: u64, window: u64) -> CounterTruth {
        CounterTruth(Windowed::new(limit, window))
    }
}

impl Truth for CounterTruth {
    fn effective(&self, now: u64) -> u64 {
        self.0.effective(now)
    }

    fn fits(&self, now: u64, cost: u64) -> bool {
        let (window, limit) = (self.0.window, self.0.limit);
        let (number, into) = (now / window, now % window);
        let cur = self.0.units_of(number);
        let prev = number.checked_sub(1).map_or(0, |before| self.0.units_of(before));
        prev * (window - into) + (cur + cost) * window <= limit * window
    }

    fn record(&mut self, now: u64, cost: u64) {
        self.0.record(now, cost);
    }

    fn forget(&mut self) {
        self.0.allowed = List::default();
    }

    fn limit(&self) -> u64 {
        self.0.limit
    }
}

/// The count of this window.
#[derive(Clone, Debug)]
pub struct FixedTruth(Windowed);

impl FixedTruth {
    pub fn new(limit: u64, window: u64) -> FixedTruth {
        FixedTruth(Windowed::new(limit, window))
    }
}

impl Truth for FixedTruth {
    fn effective(&self, now: u64) -> u64 {
        self.0.effective(now)
    }

    fn fits(&self, now: u64, cost: u64) -> bool {
        self.0.units_of(now / self.0.window) + cost <= self.0.limit
    }

    fn record(&mut self, now: u64, cost: u64) {
        self.0.record(now, cost);
    }

    fn forget(&mut self) {
        self.0.allowed = List::default();
    }

    fn limit(&self) -> u64 {
        self.0.limit
    }
}
