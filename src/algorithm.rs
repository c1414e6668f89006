//! [`Algorithm`]: what the table and the gate ask of an algorithm.

use crate::{
    array::{Cells, NoCells, Slot},
    decision::Decision,
    hazard::Held,
    sync::{AtomicWord, Ordering::Relaxed, Usage},
    word::{Ask, FROZEN, Span, Step, decide},
};
use core::fmt;

/// An algorithm: how a client's requests are remembered and weighed.
///
/// Implemented by [`Counter`](crate::Counter), [`FixedWindow`](crate::FixedWindow) and [`Log`](crate::Log); sealed, since
/// the proofs are about the algorithms of this crate.
pub trait Algorithm: Rule {}

impl<A: Rule> Algorithm for A {}

/// A request at a slot of an array.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a> {
    pub(crate) ask: Ask,
    /// Of the array: read only where it matters, which spares a check its line.
    pub(crate) birth: &'a u64,
    /// Whether a record alone bounds its client, since it can be read at any time.
    pub(crate) lasts: bool,
    /// The array, or the one that is to be replaced by the private one that the slot is in.
    pub(crate) held: Held<'a>,
    pub(crate) usage: &'a Usage,
}

impl Visit<'_> {
    /// What is asked of a client without a record, which the birth bounds; and of any that can only be read near it.
    #[inline]
    pub(crate) fn for_new(&self) -> Ask {
        Ask { now: self.ask.now.max(*self.birth), ..self.ask }
    }

    /// What is asked of a client with a record, which that record bounds.
    #[inline]
    pub(crate) fn for_known(&self) -> Ask {
        if self.lasts { self.ask } else { self.for_new() }
    }
}

/// How the table reads and writes what is remembered of a client: a word, and the cells that go with it.
pub trait Rule: fmt::Debug {
    /// What a slot holds beside the word.
    type Cells: Cells + 'static;

    /// The largest limit that it has room for.
    fn ceiling(&self) -> u64;

    /// The age from which on nothing is recorded in an array; `u64::MAX` where its words stay true for a century.
    fn longest_life(&self) -> u64;

    /// The most bytes of the cells of a client.
    fn most_cells(&self) -> usize;

    /// When the record in a used word was made and until when it counts, read from an instant not far from it.
    fn span(&self, word: u64, reference: u64) -> Span;

    /// What a client is answered of which nothing is remembered.
    fn first(&self, ask: Ask) -> Decision;

    /// Decides in a slot; `None` if it cannot be done there any more, since the slot is frozen and the request would be
    /// allowed, or its array was replaced.
    fn decide(&self, slot: &Slot<Self::Cells>, visit: Visit<'_>) -> Option<Decision>;

    /// Decides in a word that is never frozen, nor renewed; `None` for an algorithm that needs more.
    fn decide_in_word(&self, _word: &AtomicWord, _ask: Ask) -> Option<Decision> {
        None
    }

    /// Forgets what is in such a word.
    fn forget_in_word(&self, _word: &AtomicWord) {}
}

impl<A: Step> Rule for A {
    type Cells = NoCells;

    #[inline]
    fn ceiling(&self) -> u64 {
        Step::ceiling(self)
    }

    #[inline]
    fn longest_life(&self) -> u64 {
        Step::longest_life(self)
    }

    fn most_cells(&self) -> usize {
        0
    }

    #[inline]
    fn span(&self, word: u64, reference: u64) -> Span {
        Step::span(self, word, reference)
    }

    fn first(&self, ask: Ask) -> Decision {
        self.step(0, ask).decision
    }

    #[inline(always)] // as `Client::decide`
    fn decide(&self, slot: &Slot<NoCells>, visit: Visit<'_>) -> Option<Decision> {
        decide(&slot.word, self, |word| if word & !FROZEN == 0 { visit.for_new() } else { visit.for_known() })
    }

    #[inline]
    fn decide_in_word(&self, word: &AtomicWord, ask: Ask) -> Option<Decision> {
        decide(word, self, |_| ask)
    }

    fn forget_in_word(&self, word: &AtomicWord) {
        let mut seen = word.load(Relaxed);
        while let Err(newer) = word.compare_exchange_weak(seen, self.forgotten(seen), Relaxed, Relaxed) {
            seen = newer;
        }
    }
}
