//! The **move**: how an array is replaced, and all that goes with it.
//!
//! Freeze every slot, which makes the array immutable; build a private copy of the live clients; decide the mover's own
//! request in the copy; publish it by one exchange of the segment's pointer. Who loses the exchange drops his copy and
//! starts again from the pointer. So every publication completes a request: in any infinite run some request completes,
//! whichever threads stand still.
//!
//! The cells of a client go from array to array; those of the clients left out are retired with the array. A mover's own
//! client is decided in the copy by the ordinary steps, with the cells that the old array has: what they write there is
//! what every mover would write, and they write only while the old array is the present one.

use crate::{
    algorithm::{Rule, Visit},
    array::{Array, Private, Remembered, Slot},
    block::NoMemory,
    decision::{Decision, Full},
    hazard::{Held, Record},
    sync::Ordering::{Relaxed, Release},
    table::{Segment, Table, WhenFull, array_of, full_at},
    word::{Ask, FROZEN},
};
use core::ptr::{NonNull, null_mut};

/// Slots of an array that a segment starts with.
const SMALLEST: usize = 4;

/// Who is left out of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    /// The expired.
    Expired,
    /// They and one client, whatever is remembered of it.
    Client(u64),
    /// All.
    All,
}

impl LeftOut {
    fn has(self, tag: u64) -> bool {
        match self {
            LeftOut::Expired => false,
            LeftOut::Client(client) => client == tag,
            LeftOut::All => true,
        }
    }
}

/// An array that is frozen, if there was one, and what the copy takes from it.
struct Frozen<'a, A: Rule> {
    array: Option<Array<'a, A::Cells>>,
    left_out: LeftOut,
    /// The birth of the copy: not before the reading, the old birth, and what is forgotten. The live are told by it.
    birth: u64,
    /// The live clients; a few more where some are forgotten.
    live: usize,
    /// Whether the client that asks is one of them.
    has_own: bool,
    /// What is remembered of those that share.
    shared: Option<Remembered>,
}

/// Where a request is decided in a copy.
enum Own {
    /// In the slot of its client, which is new if the old array has none.
    Client,
    /// In the shared slot.
    Shared,
    /// Nowhere: it records nothing, and this is its answer.
    Nowhere(Decision),
    /// In a slot that the copy has no room for.
    NoRoom,
}

impl<A: Rule, S: AsRef<[Segment]>> Table<A, S> {
    /// The answer of an array that is so old that nothing may be recorded in it; `None` where the request is to be. Only
    /// that takes a move: it moves the time of all clients of the segment, which a look into the future must not.
    #[cold]
    pub(crate) fn look(&self, array: Array<'_, A::Cells>, key: u64, visit: Visit<'_>) -> Option<Decision> {
        let ask = visit.for_new();
        let visit = Visit { ask: Ask { recording: false, ..ask }, ..visit };
        // A record that is live is not far from now, and read as ever. Any is read from the birth.
        let lives = |slot: &&Slot<A::Cells>| self.until(slot.word.load(Relaxed), *array.birth()) > ask.now;
        let answer = match array.find(key).filter(lives) {
            Some(slot) => self.algorithm.decide(slot, visit)?,
            None => {
                // Others only: the client may have been recorded since, and is not in its own way.
                let others = array.slots().filter(|slot| ![0, key].contains(&slot.tag.load(Relaxed)));
                let live = others.filter(lives).count();
                match (self.place_of_a_new_client(live, ask), Some(array.shared()).filter(lives)) {
                    (Own::Nowhere(answer), _) => answer,
                    (Own::Shared, Some(shared)) => self.algorithm.decide(shared, visit)?,
                    (Own::Client | Own::Shared, _) => self.algorithm.first(ask),
                    (Own::NoRoom, _) => self.turned_away(ask.limit),
                }
            }
        };
        (!ask.records(&answer)).then_some(answer)
    }

    /// Moves a segment and decides on a request in the copy; `None` where another move was published first.
    #[cold]
    pub(crate) fn decide_in_a_copy(&self, held: Held<'_>, key: u64, ask: Ask) -> Option<Decision> {
        if !held.is_present() {
            return None;
        }
        let frozen = self.freeze(held, ask.now, key, LeftOut::Expired);
        let visit = self.visit(ask, &frozen.birth, held);
        let own = if frozen.has_own { Own::Client } else { self.place_of_a_new_client(frozen.live, visit.for_new()) };
        let is_new = matches!(own, Own::Client) && !frozen.has_own;
        let tag = match own {
            Own::Client => Some(key),
            Own::Shared => None,
            Own::Nowhere(decision) => return Some(decision),
            Own::NoRoom => return Some(self.turned_away(ask.limit)),
        };
        let Ok(mut copy) = self.copy(&frozen, usize::from(is_new)) else {
            return Some(Decision::Full(Full::new(ask.limit)));
        };
        if is_new {
            copy.insert(key, Remembered { word: 0, cells: null_mut() });
        }
        let decision = self.algorithm.decide(copy.open(tag), visit)?;
        // What is frozen was the state at an instant of this call: what records nothing may be answered from it.
        (!ask.records(&decision) || self.publish(held, &frozen, copy)).then_some(decision)
    }

    /// Moves a segment without a request; false where another move was published first. Without memory it does nothing.
    fn leave_out(&self, held: Held<'_>, now: u64, left_out: LeftOut) -> bool {
        let frozen = self.freeze(held, now, 0, left_out);
        self.copy(&frozen, 0).map_or(true, |copy| self.publish(held, &frozen, copy))
    }

    /// Freezes every slot, and counts the live on the way.
    fn freeze<'a>(&self, held: Held<'a>, now: u64, key: u64, left_out: LeftOut) -> Frozen<'a, A> {
        let array = array_of::<A>(held);
        let old_birth = array.map_or(0, |array| *array.birth());
        let mut frozen = Frozen { array, left_out, birth: now.max(old_birth), live: 0, has_own: false, shared: None };
        for slot in array.into_iter().flat_map(Array::slots) {
            let remembered = slot.freeze();
            // Only then its tag: a late claim finds a frozen word.
            let tag = slot.tag.load(Relaxed);
            if left_out.has(tag) {
                frozen.birth = frozen.birth.max(self.newest(remembered.word, old_birth));
            } else if tag != 0 && self.until(remembered.word, old_birth) > frozen.birth {
                frozen.live += 1;
                frozen.has_own |= tag == key;
            }
        }
        if let Some(shared) = array.map(|array| array.shared().freeze()) {
            if left_out == LeftOut::All {
                frozen.birth = frozen.birth.max(self.newest(shared.word, old_birth));
            } else if self.until(shared.word, old_birth) > frozen.birth {
                frozen.shared = Some(shared);
            }
        }
        frozen
    }

    /// Whether the client of a frozen slot goes into the copy.
    fn is_kept(&self, frozen: &Frozen<'_, A>, birth: u64, slot: &Slot<A::Cells>) -> bool {
        let tag = slot.tag.load(Relaxed);
        tag != 0 && !frozen.left_out.has(tag) && self.until(slot.frozen().word, birth) > frozen.birth
    }

    /// The private copy of a frozen array, with room for so many more.
    fn copy(&self, frozen: &Frozen<'_, A>, more: usize) -> Result<Private<A::Cells>, NoMemory> {
        let copy = Private::new(self.fitting(frozen.live + more), frozen.birth, &self.usage)?;
        if let Some(array) = frozen.array {
            for slot in array.slots().filter(|slot| self.is_kept(frozen, *array.birth(), slot)) {
                copy.insert(slot.tag.load(Relaxed), slot.frozen());
            }
        }
        if let Some(shared) = frozen.shared {
            copy.share(shared);
        }
        Ok(copy)
    }

    /// Replaces an array by its copy; false where it was replaced before.
    fn publish(&self, held: Held<'_>, frozen: &Frozen<'_, A>, copy: Private<A::Cells>) -> bool {
        let new = copy.as_raw().as_ptr();
        // Release: pairs with the Acquire in `Record::protect`; carries the copy.
        if held.pointer().compare_exchange(held.array(), new, Release, Relaxed).is_err() {
            return false;
        }
        copy.published();
        #[cfg(slidegate_loom)]
        crate::sync::ending::note_publication();
        if let Some(array) = frozen.array {
            let left_out = array.slots().filter(|slot| !self.is_kept(frozen, *array.birth(), slot));
            let shared = Some(array.shared()).filter(|_| frozen.shared.is_none());
            let cells = left_out.chain(shared).filter_map(|slot| NonNull::new(slot.frozen().cells));
            // SAFETY: the exchange took away the only pointer to the array and with it those to the cells that the copy
            // has not, and only its winner retires them.
            unsafe { held.record().retire(cells.chain([array.as_raw()])) };
        }
        true
    }

    /// Where a client is decided that has no record in an array with so many live ones.
    fn place_of_a_new_client(&self, live: usize, ask: Ask) -> Own {
        let first = self.algorithm.first(ask);
        let has_room = live < full_at(self.largest);
        if !first.is_allowed() || ask.cost == 0 || !ask.recording && has_room {
            Own::Nowhere(first)
        } else if has_room {
            Own::Client
        } else if self.when_full == WhenFull::Share {
            Own::Shared
        } else {
            Own::NoRoom
        }
    }

    /// The instant from which on nothing in a word counts; 0 for a word that was never used.
    pub(crate) fn until(&self, word: u64, birth: u64) -> u64 {
        let word = word & !FROZEN;
        if word == 0 { 0 } else { self.algorithm.span(word, birth).until }
    }

    /// The instant of the record in a word; 0 for a word that was never used.
    fn newest(&self, word: u64, birth: u64) -> u64 {
        if word == 0 { 0 } else { self.algorithm.span(word, birth).newest }
    }

    /// The slots of an array for so many clients: a quarter of them free, unless it is the largest.
    fn fitting(&self, clients: usize) -> usize {
        let slots = (clients * 4).div_ceil(3).next_power_of_two();
        slots.clamp(SMALLEST.min(self.largest), self.largest)
    }

    /// Forgets what one client used; a late reading of the time before stays where the client was.
    pub(crate) fn forget(&self, record: &Record, key: u64, now: u64) {
        let segment = self.segment(key);
        loop {
            let held = record.protect(segment);
            let Some(array) = array_of::<A>(held) else { break };
            let used = array.find(key).is_some_and(|slot| slot.word.load(Relaxed) & !FROZEN != 0);
            if !used || self.leave_out(held, now, LeftOut::Client(key)) {
                break;
            }
        }
        record.release();
    }

    /// Forgets all clients, segment by segment.
    pub(crate) fn forget_all(&self, record: &Record, now: u64) {
        for segment in self.segments.as_ref() {
            loop {
                let held = record.protect(segment);
                if held.array().is_null() || self.leave_out(held, now, LeftOut::All) {
                    break;
                }
            }
        }
        record.release();
    }

    /// Leaves out the clients of which nothing counts any more.
    pub(crate) fn sweep(&self, record: &Record, now: u64) {
        self.for_each_array(record, |held, array| {
            let now = now.max(*array.birth());
            let expired = |slot: &Slot<A::Cells>| {
                slot.tag.load(Relaxed) != 0 && self.until(slot.word.load(Relaxed), *array.birth()) <= now
            };
            if array.slots().any(expired) {
                // Where another move was published first, that one left them out.
                self.leave_out(held, now, LeftOut::Expired);
            }
        });
    }

    /// The clients of which something counts.
    pub(crate) fn tracked(&self, record: &Record, now: u64) -> usize {
        let mut tracked = 0;
        self.for_each_array(record, |_, array| {
            let now = now.max(*array.birth());
            tracked += array.slots().filter(|slot| self.until(slot.word.load(Relaxed), *array.birth()) > now).count();
        });
        tracked
    }

    /// For the models: how many blocks the segments lead to.
    #[cfg(slidegate_loom)]
    pub(crate) fn blocks(&self, record: &Record) -> usize {
        let mut blocks = 0;
        self.for_each_array(record, |_, array| {
            let cells = array.slots().chain([array.shared()]).map(|slot| crate::array::Cells::first(&slot.cells));
            blocks += 1 + cells.map(crate::hazard::chain_of).sum::<usize>();
        });
        blocks
    }

    fn for_each_array<'a>(&'a self, record: &'a Record, mut each: impl FnMut(Held<'a>, Array<'a, A::Cells>)) {
        for segment in self.segments.as_ref() {
            let held = record.protect(segment);
            if let Some(array) = array_of::<A>(held) {
                each(held, array);
            }
        }
        record.release();
    }

    /// Clients that fit for certain, if their hashes fill the segments evenly.
    pub(crate) fn capacity(&self) -> usize {
        self.segments.as_ref().len() * full_at(self.largest)
    }

    pub(crate) fn max_bytes(&self) -> usize {
        Self::bytes_when_full(&self.algorithm, self.segments.as_ref().len(), self.largest).unwrap_or(usize::MAX)
    }

    pub(crate) fn bytes_in_use(&self) -> usize {
        size_of_val(self.segments.as_ref()) + self.usage.bytes()
    }

    /// The bytes of so many segments when all are full; `None` beyond the address space.
    pub(crate) fn bytes_when_full(algorithm: &A, segments: usize, largest: usize) -> Option<usize> {
        // Those that share have cells, too.
        let cells = (full_at(largest) + 1).checked_mul(algorithm.most_cells())?;
        let segment = cells.checked_add(size_of::<Segment>() + Array::<'_, A::Cells>::bytes(largest))?;
        segments.checked_mul(segment)
    }
}
