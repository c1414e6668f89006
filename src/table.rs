//! [`Table`]: the clients of a limiter, in segments that are checked in place and replaced as a whole.
//!
//! A segment is one pointer to an [`Array`]. Growing, shrinking, sweeping, forgetting and renewing stamps are one
//! operation, the **move**, in [`moving`](crate::moving). This file is what a check does where none is needed.
//!
//! # Orderings
//!
//! * publication, Release in the exchange of the pointer, Acquire in [`Record::protect`]: carries the array.
//! * a word, Release in its exchange, Acquire in the freezing `fetch_or`: whoever finds a record in a frozen word also
//!   finds the tag of its client, which was claimed before by a Relaxed exchange.
//! * tags, Relaxed: a tag is written once, and what it leads to is the word beside it.

use crate::{
    algorithm::{Rule, Visit},
    array::{Array, free_with_cells},
    block::Block,
    decision::Decision,
    hazard::{BATCH, Held, Record, Retired},
    sync::{AtomicPtr, Ordering::Relaxed, Setting, Usage},
    word::Ask,
};
use core::ptr::{NonNull, null_mut};

/// Slots of the largest array.
pub(crate) const LARGEST: usize = 1_024;

/// What a new client is answered where there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenFull {
    /// [`Decision::Full`]: it is turned away.
    #[default]
    Refuse,
    /// It goes ahead and nothing is recorded; [`Allowed::is_tracked`](crate::Allowed::is_tracked) says so.
    AllowUntracked,
    /// It shares one count with all such clients of its segment of the table.
    Share,
}

/// Where the array of a segment is found; null before the first.
pub(crate) type Segment = AtomicPtr<Retired>;

/// The clients of a limiter, in many segments, or the client of a gate in one.
pub(crate) struct Table<A: Rule, S: AsRef<[Segment]> = Box<[Segment]>> {
    pub(crate) algorithm: A,
    /// The units of a window; no more than the algorithm has room for.
    limit: Setting,
    pub(crate) segments: S,
    /// Slots of the largest array.
    pub(crate) largest: usize,
    /// Nothing is recorded in an array of this age; `u64::MAX` where words stay true for a century.
    longest_life: u64,
    pub(crate) when_full: WhenFull,
    pub(crate) usage: Usage,
}

impl<A: Rule> Table<A> {
    pub(crate) fn new(algorithm: A, segments: usize, largest: usize, when_full: WhenFull) -> Table<A> {
        let longest_life = algorithm.longest_life();
        let segments = (0..segments).map(|_| AtomicPtr::new(null_mut())).collect();
        let limit = Setting::new(algorithm.ceiling());
        Table { algorithm, limit, segments, largest, longest_life, when_full, usage: Usage::counted() }
    }
}

impl<A: Rule> Table<A, [Segment; 1]> {
    const_fn! {
        /// A table for one client, whose algorithm has this longest life.
        pub(crate) const fn of_one(algorithm: A, limit: u64, longest_life: u64) -> Self {
            let segments = [AtomicPtr::new(null_mut())];
            let limit = Setting::new(limit);
            let usage = Usage::uncounted();
            Table { algorithm, limit, segments, largest: 1, longest_life, when_full: WhenFull::Refuse, usage }
        }
    }
}

impl<A: Rule, S: AsRef<[Segment]>> Table<A, S> {
    /// The segment of a key, chosen by its high bits; the low ones choose the slot.
    #[inline]
    pub(crate) fn segment(&self, key: u64) -> &Segment {
        let segments = self.segments.as_ref();
        let index = (u128::from(key) * segments.len() as u128) >> 64;
        #[expect(clippy::cast_possible_truncation, reason = "less than the number of segments")]
        let index = index as usize;
        &segments[index]
    }

    /// The units of a window at present.
    #[inline]
    pub(crate) fn limit(&self) -> u64 {
        self.limit.load(Relaxed)
    }

    /// A check that comes later decides by the new limit; one that runs at the same time, by either.
    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Relaxed);
    }

    /// Whether a record can be read at any time, however old its array is.
    #[inline]
    pub(crate) fn lasts(&self) -> bool {
        self.longest_life == u64::MAX
    }

    /// Decides on a request of the client with this key, which is not 0.
    #[inline(always)] // as `Client::decide`
    pub(crate) fn check(&self, record: &Record, key: u64, ask: Ask) -> Decision {
        let segment = self.segment(key);
        loop {
            let held = record.protect(segment);
            if let Some(decision) = self.attempt(held, key, ask).or_else(|| self.decide_in_a_copy(held, key, ask)) {
                record.release();
                return decision;
            }
        }
    }

    /// The same for several clients, up to [`BATCH`], in their order.
    pub(crate) fn check_many(&self, record: &Record, keys: &[u64], ask: Ask, decisions: &mut [Decision]) {
        let segments: [&Segment; BATCH] =
            core::array::from_fn(|index| self.segment(keys.get(index).copied().unwrap_or(1)));
        let held = record.protect_all(&segments[..keys.len()]);
        for (held, &key) in held.iter().zip(keys) {
            held.and_then(array_of::<A>).iter().for_each(|array| array.prefetch_slot(key));
        }
        let mut decided = 0;
        for (held, &key) in held.iter().zip(keys) {
            // Once one takes a move, the others come after it: a client may be among them again.
            let Some(decision) = held.and_then(|held| self.attempt(held, key, ask)) else { break };
            decisions[decided] = decision;
            decided += 1;
        }
        record.release_all();
        for (decision, &key) in decisions.iter_mut().zip(keys).skip(decided) {
            *decision = self.check(record, key, ask);
        }
    }

    /// Decides in the array at hand; `None` where that takes a move.
    #[inline(always)] // as `Client::decide`
    pub(crate) fn attempt(&self, held: Held<'_>, key: u64, ask: Ask) -> Option<Decision> {
        let array = array_of::<A>(held)?;
        let visit = self.visit(ask, array.birth(), held);
        if !visit.lasts && visit.for_new().now - array.birth() >= self.longest_life {
            return self.look(array, key, visit);
        }
        let slot = match array.find(key) {
            Some(slot) => slot,
            None => match self.claim(array, key, visit.for_new()) {
                Ok(slot) => slot,
                Err(answer) => return answer,
            },
        };
        self.algorithm.decide(slot, visit)
    }

    /// A request at a slot of an array with this birth.
    #[inline]
    pub(crate) fn visit<'a>(&'a self, ask: Ask, birth: &'a u64, held: Held<'a>) -> Visit<'a> {
        Visit { ask, birth, lasts: self.lasts(), held, usage: &self.usage }
    }
}

impl<A: Rule, S: AsRef<[Segment]>> Drop for Table<A, S> {
    fn drop(&mut self) {
        for segment in self.segments.as_ref() {
            // Relaxed: nobody else can reach the table any more, and whoever could has told us so.
            if let Some(array) = NonNull::new(segment.load(Relaxed)) {
                // SAFETY: as above; what a segment points to was not retired.
                unsafe { free_with_cells::<A::Cells>(array) };
            }
        }
    }
}

/// The array that is protected; `None` before the first.
#[inline]
pub(crate) fn array_of<'a, A: Rule>(held: Held<'a>) -> Option<Array<'a, A::Cells>> {
    // SAFETY: a segment leads to an array with the cells of its table's algorithm, and the record protects it.
    NonNull::new(held.array()).map(|array| unsafe { Block::from_raw(array) })
}

/// The slots of an array that may be claimed; always one at least, and some empty in all but the smallest.
pub(crate) const fn full_at(capacity: usize) -> usize {
    if capacity == 1 { 1 } else { capacity - capacity.div_ceil(8) }
}
