//! The engine of the algorithms whose whole memory of a client is one word: one load, one compare-and-swap on success,
//! no write on refusal.
//!
//! # Orderings
//!
//! All Relaxed. A client is one word, only exchanges write it, and an exchange reads the last value in its
//! modification order; whoever saw a count, or was told of it by another thread, cannot read an older one (coherence).
//! Nothing else travels with the word.

use crate::{
    decision::{Allowed, Decision, Never, Refused, Standing},
    nanos::Nanos,
    sync::{AtomicWord, Ordering::Relaxed},
};
use core::fmt;

/// The pure step of an algorithm: what it answers to a request, and the word it leaves behind.
pub trait Step: fmt::Debug {
    /// Decides on a request of `cost` units at the reading `now`, where the client's word is `word`.
    fn step(&self, word: u64, now: Nanos, cost: u64) -> Stepped;

    /// The word of the same window with nothing counted in it, so that time does not run backwards.
    fn forgotten(&self, word: u64) -> u64;
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

    pub(crate) const fn refused(limit: u64, remaining: u64, wait: u64, now: Nanos) -> Stepped {
        Stepped { decision: Decision::Refused(Refused::new(limit, remaining, wait, now)), next: None }
    }

    pub(crate) const fn never(limit: u64, remaining: u64) -> Stepped {
        Stepped { decision: Decision::Never(Never::new(limit, remaining)), next: None }
    }
}

/// The word of one client; zero until its first allowed request.
#[derive(Debug)]
pub struct Word(AtomicWord);

impl Word {
    const_fn! {
        pub(crate) const fn new() -> Word {
            Word(AtomicWord::new(0))
        }
    }

    #[inline]
    pub(crate) fn check(&self, algorithm: &impl Step, now: Nanos, cost: u64) -> Decision {
        let mut seen = self.0.load(Relaxed);
        loop {
            let Stepped { decision, next } = algorithm.step(seen, now, cost);
            let Some(next) = next else { return decision };
            match self.0.compare_exchange_weak(seen, next, Relaxed, Relaxed) {
                Ok(_) => return decision,
                Err(newer) => seen = newer,
            }
        }
    }

    #[inline]
    pub(crate) fn peek(&self, algorithm: &impl Step, now: Nanos, cost: u64) -> Decision {
        algorithm.step(self.0.load(Relaxed), now, cost).decision
    }

    pub(crate) fn forget(&self, algorithm: &impl Step) {
        let mut seen = self.0.load(Relaxed);
        while let Err(newer) = self.0.compare_exchange_weak(seen, algorithm.forgotten(seen), Relaxed, Relaxed) {
            seen = newer;
        }
    }
}
