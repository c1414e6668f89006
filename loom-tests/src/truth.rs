//! The sequential truth of the three algorithms: a list of everything that was allowed, and nothing clever.

use crate::Answer;

#[derive(Clone, Copy, Debug)]
enum Rule {
    Log,
    Counter,
    Fixed,
}

/// What an algorithm must answer if requests come one after the other.
#[derive(Clone, Debug)]
pub struct Truth {
    rule: Rule,
    limit: u64,
    window: u64,
    /// Instants and costs.
    allowed: Vec<(u64, u64)>,
    /// Where time stands for the client, forgotten or not: at a stamp, or at the start of a window.
    newest: Option<u64>,
}

impl Truth {
    /// No closed interval `[t - window, t]` holds more than the limit.
    pub fn log(limit: u64, window: u64) -> Truth {
        Truth { rule: Rule::Log, limit, window, allowed: Vec::new(), newest: None }
    }

    /// The count of this window plus the previous one's, weighted by what is left of it.
    pub fn counter(limit: u64, window: u64) -> Truth {
        Truth { rule: Rule::Counter, ..Truth::log(limit, window) }
    }

    /// The count of this window.
    pub fn fixed(limit: u64, window: u64) -> Truth {
        Truth { rule: Rule::Fixed, ..Truth::log(limit, window) }
    }

    pub fn peek(&self, now: u64, cost: u64) -> Answer {
        self.clone().check(now, cost)
    }

    pub fn check(&mut self, now: u64, cost: u64) -> Answer {
        let now = self.newest.map_or(now, |newest| newest.max(now));
        let remaining = |truth: &Self| (0..=truth.limit).rev().find(|&cost| truth.fits(now, cost)).unwrap_or(0);
        if cost > self.limit {
            return Answer::Never { remaining: remaining(self) };
        }
        if !self.fits(now, cost) {
            let wait = (1..).find(|&wait| self.fits(now + wait, cost)).expect("a cost within the limit fits some day");
            return Answer::Refused { remaining: remaining(self), wait, at: now + wait };
        }
        if cost > 0 {
            self.allowed.push((now, cost));
            self.newest = Some(self.recorded_at(now));
        }
        Answer::Allowed { remaining: remaining(self) }
    }

    pub fn forget(&mut self) {
        self.allowed.clear();
    }

    /// Where a record keeps the client that is made at an instant.
    pub fn recorded_at(&self, now: u64) -> u64 {
        match self.rule {
            Rule::Log => now,
            Rule::Counter | Rule::Fixed => now / self.window * self.window,
        }
    }

    /// Whether something of a record made at one instant may count at another.
    pub fn may_count(&self, recorded: u64, now: u64) -> bool {
        match self.rule {
            Rule::Log => recorded + self.window >= now,
            Rule::Counter => self.recorded_at(recorded) + 2 * self.window > now,
            Rule::Fixed => self.recorded_at(recorded) + self.window > now,
        }
    }

    /// Whether `cost` fits at an effective now.
    fn fits(&self, now: u64, cost: u64) -> bool {
        let (window, limit) = (self.window, self.limit);
        let (number, into) = (now / window, now % window);
        let of_window = |number| self.units(|at| at / window == number);
        match self.rule {
            Rule::Log => self.units(|at| now - at <= window) + cost <= limit,
            Rule::Counter => {
                let prev = number.checked_sub(1).map_or(0, of_window);
                prev * (window - into) + (of_window(number) + cost) * window <= limit * window
            }
            Rule::Fixed => of_window(number) + cost <= limit,
        }
    }

    fn units(&self, counts: impl Fn(u64) -> bool) -> u64 {
        self.allowed.iter().filter(|&&(at, _)| counts(at)).map(|&(_, cost)| cost).sum()
    }
}
