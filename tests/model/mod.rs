//! The limiters as they are defined: the list of all that was allowed, and sums over it in exact arithmetic.
//!
//! Nothing here is shared with the library but the type of its answers. Every span of time that an answer names is
//! found by search: it is the first instant from which on the question has the other answer, if no request comes.

#![allow(dead_code, reason = "each of the tests that share it uses a part")]

use super::Decision;

/// How the list is weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Rule {
    /// The units of the closed window that ends now, both ends cut down to ticks of `tick` nanoseconds.
    Log { tick: u64 },
    /// The units of this window of the clock, and those of the one before it by what is left of this one.
    Counter,
    /// The units of this window of the clock.
    Fixed,
}

/// One client. Instants and spans are nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Model {
    rule: Rule,
    limit: u64,
    window: u64,
    /// What was allowed: in which tick (log) or window (the others), and how many units. The first never decreases.
    recorded: Vec<(u64, u64)>,
    /// The newest tick or window that was recorded: no time before it is believed.
    newest: u64,
}

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Check,
    Peek,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    /// With the time until one more unit is free, and the time until all are.
    Allowed {
        next_unit: Option<u64>,
        full_reset: u64,
    },
    /// With the wait, and the instant when it is over.
    Refused {
        wait: u64,
        at: u64,
    },
    Never,
    Full,
}

/// All that an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) limit: u64,
    pub(crate) remaining: u64,
}

impl Model {
    pub(crate) fn new(rule: Rule, limit: u64, window: u64) -> Model {
        Model { rule, limit, window, recorded: Vec::new(), newest: 0 }
    }

    /// Answers a request at a reading of the clock; an allowed `check` is the only thing that changes the list.
    pub(crate) fn ask(&mut self, verb: Verb, reading: u64, cost: u64) -> Answer {
        let answer = self.answer(reading, cost);
        if verb == Verb::Check && cost > 0 && matches!(answer.verdict, Verdict::Allowed { .. }) {
            self.newest = self.effective_now(reading) / self.cell();
            self.recorded.push((self.newest, cost));
        }
        answer
    }

    /// Forgets the units but not the time.
    pub(crate) fn forget(&mut self) {
        self.recorded.clear();
    }

    pub(crate) fn effective_now(&self, reading: u64) -> u64 {
        reading.max(self.newest * self.cell())
    }

    /// Whether a request fits at an instant.
    pub(crate) fn fits(&self, now: u128, cost: u64) -> bool {
        let whole = u128::from(self.window);
        cost <= self.limit && self.weight(now) + u128::from(cost) * whole <= u128::from(self.limit) * whole
    }

    /// The requests of cost 1 that fit at an instant.
    pub(crate) fn remaining(&self, now: u128) -> u64 {
        let whole = u128::from(self.window);
        let room = (u128::from(self.limit) * whole).saturating_sub(self.weight(now));
        u64::try_from(room / whole).expect("no more than the limit")
    }

    /// Drops what can weigh nothing any more, and writes the rest in the one form that all equal states share.
    pub(crate) fn trim(&mut self) {
        let oldest = match self.rule {
            Rule::Log { tick } => self.window.div_ceil(tick),
            Rule::Counter => 1,
            Rule::Fixed => 0,
        };
        let newest = self.newest;
        self.recorded.retain(|&(cell, _)| newest - cell <= oldest);
        self.recorded.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
    }

    /// Whether nothing was recorded yet: no time is known for the client.
    pub(crate) fn is_new(&self) -> bool {
        self.recorded.is_empty() && self.newest == 0
    }

    /// The entries of the list, to bound what a test has to sum.
    pub(crate) fn entries(&self) -> usize {
        self.recorded.len()
    }

    /// The ticks or windows in which something was allowed that a log would still count.
    pub(crate) fn live(&self, reading: u64) -> usize {
        let (now, oldest) = (self.effective_now(reading) / self.cell(), self.window.div_ceil(self.cell()));
        let counted = self.recorded.iter().map(|entry| entry.0).filter(|cell| now - cell <= oldest);
        let mut before = None;
        counted.filter(|&cell| before.replace(cell) != Some(cell)).count()
    }

    /// The first instant of the tick or window of an entry.
    pub(crate) fn instant(&self, entry: usize) -> u64 {
        self.recorded[entry].0 * self.cell()
    }

    fn answer(&self, reading: u64, cost: u64) -> Answer {
        let now = u128::from(self.effective_now(reading));
        let verdict = if cost > self.limit {
            Verdict::Never
        } else if self.fits(now, cost) {
            let after = self.with(now, cost);
            let remaining = after.remaining(now);
            Verdict::Allowed {
                next_unit: (remaining < self.limit).then(|| after.first(now, |then| after.remaining(then) > remaining)),
                full_reset: after.first(now, |then| after.weight(then) == 0),
            }
        } else {
            let wait = self.first(now, |then| self.fits(then, cost));
            Verdict::Refused { wait, at: u64::try_from(now + u128::from(wait)).unwrap_or(u64::MAX) }
        };
        let after = if matches!(verdict, Verdict::Allowed { .. }) { self.with(now, cost) } else { self.clone() };
        Answer { verdict, limit: self.limit, remaining: after.remaining(now) }
    }

    /// The list with a request added to it.
    fn with(&self, now: u128, cost: u64) -> Model {
        let mut after = self.clone();
        after.recorded.push((u64::try_from(now).expect("an instant of the clock") / self.cell(), cost));
        after
    }

    /// The units used at an instant, times the window, so that what the counter fades is a whole number.
    fn weight(&self, now: u128) -> u128 {
        let (window, cell) = (u128::from(self.window), u128::from(self.cell()));
        let (this, left) = (now / cell, cell - now % cell);
        let units_by_age = |counts: &dyn Fn(u128) -> bool| -> u128 {
            let counted = self.recorded.iter().filter(|entry| counts(this - u128::from(entry.0)));
            counted.map(|entry| u128::from(entry.1)).sum()
        };
        match self.rule {
            Rule::Log { tick } => {
                let ticks = u128::from(self.window.div_ceil(tick));
                units_by_age(&|age| age <= ticks) * window
            }
            Rule::Counter => units_by_age(&|age| age == 1) * left + units_by_age(&|age| age == 0) * window,
            Rule::Fixed => units_by_age(&|age| age == 0) * window,
        }
    }

    /// The length of a tick or window: what falls into the same one is not told apart.
    fn cell(&self) -> u64 {
        match self.rule {
            Rule::Log { tick } => tick,
            Rule::Counter | Rule::Fixed => self.window,
        }
    }

    /// The time from `now` to the first instant at which something holds that, once it holds, goes on to hold.
    ///
    /// Four windows later nothing is left of any list.
    fn first(&self, now: u128, holds: impl Fn(u128) -> bool) -> u64 {
        let (mut low, mut high) = (0, 4 * u128::from(self.window));
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(now + middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        u64::try_from(low).expect("a few windows")
    }
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Answer {
        let nanos = |span: std::time::Duration| u64::try_from(span.as_nanos()).expect("spans are built from 64 bits");
        let verdict = match decision {
            Decision::Allowed(allowed) => {
                Verdict::Allowed { next_unit: allowed.next_unit().map(nanos), full_reset: nanos(allowed.full_reset()) }
            }
            Decision::Refused(refused) => {
                Verdict::Refused { wait: nanos(refused.retry_after()), at: refused.retry_at().as_nanos() }
            }
            Decision::Never(_) => Verdict::Never,
            Decision::Full(_) => Verdict::Full,
        };
        Answer { verdict, limit: decision.limit(), remaining: decision.remaining() }
    }
}
