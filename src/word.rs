//! The engine of the algorithms whose whole memory of a client is one word: one load, one compare-and-swap on success,
//! no write on refusal.
//!
//! # Orderings
//!
//! A word by itself needs none: only exchanges write it, an exchange reads the last value in its modification order, and
//! whoever saw a count, or was told of it by another thread, cannot read an older one (coherence). The Release of the
//! exchange is for the table, where a word carries the tag of its client to who freezes it.

use crate::{
    decision::{Allowed, Decision, Never, Refused, Standing, Waiting},
    nanos::Nanos,
    sync::{
        AtomicWord,
        Ordering::{Relaxed, Release},
    },
};
use core::fmt;

/// The pure step of an algorithm: what it answers to a request, and the word it leaves behind.
pub trait Step: fmt::Debug {
    /// Decides on a request, where the client's word is `word`.
    fn step(&self, word: u64, ask: Ask) -> Stepped;

    /// The word of the same window with nothing counted in it, so that time does not run backwards. In the first window
    /// after the origin, where it cannot, that is 0, and so it is where the epoch has wrapped to that number.
    fn forgotten(&self, word: u64) -> u64;

    /// When the record in a used word was made and until when it counts, read from an instant not far from it.
    fn span(&self, word: u64, reference: u64) -> Span;

    /// The age of an array from which on nothing is recorded in its words: a quarter of their horizon, or never where that
    /// is more than a century.
    fn longest_life(&self) -> u64;

    /// The largest limit that the word has room for.
    fn ceiling(&self) -> u64;
}

/// The time that a record takes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The start of its newest window.
    pub(crate) newest: u64,
    /// The instant from which on nothing of it counts.
    pub(crate) until: u64,
}

/// What is asked of a word.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The reading, in nanoseconds.
    pub(crate) now: u64,
    pub(crate) cost: u64,
    /// The units of a window, no more than the algorithm's ceiling.
    pub(crate) limit: u64,
    /// Whether what is allowed is recorded.
    pub(crate) recording: bool,
}

impl Ask {
    /// Whether this answer to it is to be recorded.
    #[inline]
    pub(crate) fn records(self, answer: &Decision) -> bool {
        self.recording && self.cost > 0 && answer.is_allowed()
    }
}

/// Decides on a word in place, where what is asked may depend on the word; `None` if the request would be allowed and the
/// word is frozen, so that it cannot be recorded here any more.
#[inline(always)] // as `Client::decide`
pub(crate) fn decide(word: &AtomicWord, algorithm: &impl Step, ask: impl Fn(u64) -> Ask) -> Option<Decision> {
    let mut seen = word.load(Relaxed);
    loop {
        let ask = ask(seen);
        let Stepped { decision, next } = algorithm.step(seen, ask);
        let Some(next) = next.filter(|_| ask.recording) else { return Some(decision) };
        if seen & FROZEN != 0 {
            return None;
        }
        // Release: pairs with the Acquire of the freezing `fetch_or`; carries the tag. Model: a_new_client_meets_a_move.
        match word.compare_exchange_weak(seen, next, Release, Relaxed) {
            Ok(_) => return Some(decision),
            Err(newer) => seen = newer,
        }
    }
}

/// The highest bit of a word: set once and for ever when its place in memory is given up.
pub(crate) const FROZEN: u64 = 1 << 63;

/// An answer, and the word that must replace the old one for the answer to hold.
#[derive(Clone, Copy, Debug)]
pub struct Stepped {
    pub(crate) decision: Decision,
    /// `None` where the word stays as it is.
    pub(crate) next: Option<u64>,
}

impl Stepped {
    pub(crate) const fn allowed(limit: u64, standing: Standing, next: Option<u64>) -> Stepped {
        Stepped { decision: Decision::Allowed(Allowed::new(limit, standing)), next }
    }

    pub(crate) const fn refused(limit: u64, waiting: Waiting, now: u64) -> Stepped {
        Stepped { decision: Decision::Refused(Refused::new(limit, waiting, Nanos::from_nanos(now))), next: None }
    }

    pub(crate) const fn never(limit: u64, remaining: u64) -> Stepped {
        Stepped { decision: Decision::Never(Never::new(limit, remaining)), next: None }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{Answer, Model, Rule, Verb};
    use proptest::{collection::vec, prelude::*};

    /// Raw numbers of a request, to be cut to what a test needs.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Raw {
        pub(crate) verb: Option<Verb>,
        /// How the clock moves, and how far.
        pub(crate) kind: u8,
        pub(crate) distance: u64,
        pub(crate) cost: u64,
    }

    /// Requests, and some where the client is forgotten (no verb).
    pub(crate) fn requests() -> impl Strategy<Value = Vec<Raw>> {
        let verb = prop_oneof![8 => Just(Some(Verb::Check)), 2 => Just(Some(Verb::Peek)), 1 => Just(None)];
        let raw = (verb, any::<u8>(), any::<u64>(), any::<u64>());
        vec(raw.prop_map(|(verb, kind, distance, cost)| Raw { verb, kind, distance, cost }), 1..80)
    }

    impl Raw {
        /// The next reading, at most `ahead` after and `behind` before the newest record.
        pub(crate) fn reading(self, last: u64, newest: u64, window: u64, ahead: u64, behind: u64) -> u64 {
            let reading = match self.kind % 6 {
                0 => last,
                1 => last + self.distance % window,
                2 => (last / window + 1 + self.distance % 3) * window - self.distance / 3 % 2,
                3 => newest + ahead - self.distance % 2,
                4 => newest + self.distance % ahead,
                _ => newest.saturating_sub(self.distance % behind),
            };
            reading.clamp(newest.saturating_sub(behind), newest + ahead)
        }

        pub(crate) fn cost(self, limit: u64) -> u64 {
            if self.cost.is_multiple_of(3) { 1 } else { self.cost % (limit + 2) }
        }
    }

    /// A step with an epoch of few bits answers as the list does over many wraps, as long as its word is never older
    /// than a quarter of the horizon, and no reading half of it behind.
    pub(crate) fn narrow_epochs_agree(
        algorithm: &impl Step,
        rule: Rule,
        (limit, window, epoch_bits): (u64, u64, u32),
        start: u64,
        requests: &[Raw],
    ) -> Result<(), TestCaseError> {
        let horizon = window << epoch_bits;
        let (ahead, behind) = (horizon / 4, horizon / 2 - 1);
        let (mut word, mut model, mut last) = (0, Model::new(rule, limit, window), start);
        for raw in requests {
            let Some(verb) = raw.verb else {
                word = algorithm.forgotten(word);
                model.forget();
                if word == 0 {
                    // An epoch of 0 and no counts: a client that was never seen.
                    model = Model::new(rule, limit, window);
                }
                continue;
            };
            let newest = if model.is_new() { last } else { model.effective_now(0) };
            let (reading, cost) = (raw.reading(last, newest, window, ahead, behind), raw.cost(limit));
            let ask = Ask { now: reading, cost, limit, recording: true };
            let Stepped { decision, next } = algorithm.step(word, ask);
            prop_assert_eq!(Answer::from(decision), model.ask(verb, reading, cost), "{:?} at {}", raw, reading);
            // A frozen word answers the same, and only an allowed cost leaves a word behind.
            if word != 0 {
                let frozen = algorithm.step(word | FROZEN, ask);
                prop_assert_eq!((Answer::from(frozen.decision), frozen.next), (Answer::from(decision), next));
            }
            prop_assert_eq!(next.is_some(), decision.is_allowed() && cost > 0);
            prop_assert!(next.is_none_or(|next| next & FROZEN == 0 && next != 0));
            if let (Verb::Check, Some(next)) = (verb, next) {
                word = next;
            }
            last = reading.max(last);
        }
        Ok(())
    }
}
