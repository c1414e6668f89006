//! The **claim**: how a new client comes to a slot of an array, and what it is answered where there is none.

use crate::{
    algorithm::Rule,
    array::{Array, Slot},
    decision::{Allowed, Decision, Full},
    sync::Ordering::{Acquire, Relaxed, Release},
    table::{Segment, Table, WhenFull, full_at},
    word::Ask,
};

impl<A: Rule, S: AsRef<[Segment]>> Table<A, S> {
    /// A slot for a client that was not found; or the answer, `None` where that takes a move.
    #[inline(never)]
    pub(crate) fn claim<'a>(
        &self,
        array: Array<'a, A::Cells>,
        key: u64,
        ask: Ask,
    ) -> Result<&'a Slot<A::Cells>, Option<Decision>> {
        let first = self.algorithm.first(ask);
        if !first.is_allowed() || ask.cost == 0 {
            return Err(Some(first));
        }
        let most = full_at(array.capacity());
        if !ask.recording {
            let has_room = array.claimed().load(Relaxed) < most as u64;
            return if has_room { Err(Some(first)) } else { self.without_room(array, key, ask, Some(first)) };
        }
        if !array.reserve(most) {
            return self.without_room(array, key, ask, None);
        }
        for slot in array.probe(key) {
            let mut tag = slot.tag.load(Relaxed);
            if tag == 0 {
                match slot.tag.compare_exchange(0, key, Relaxed, Relaxed) {
                    Ok(_) => return Ok(slot),
                    Err(winner) => tag = winner,
                }
            }
            if tag == key {
                // Another thread of the same client was first.
                array.claimed().fetch_sub(1, Relaxed);
                return Ok(slot);
            }
        }
        // Not reached: with a slot set aside, one is empty.
        Err(None)
    }

    /// What a new client gets where no slot is left: what `room` says where a move would make some.
    #[cold]
    fn without_room<'a>(
        &self,
        array: Array<'a, A::Cells>,
        key: u64,
        ask: Ask,
        room: Option<Decision>,
    ) -> Result<&'a Slot<A::Cells>, Option<Decision>> {
        match self.full(array, key, ask) {
            None => Err(room),
            Some(_) if self.when_full == WhenFull::Share => Ok(array.shared()),
            decision => Err(decision),
        }
    }

    /// The answer to a new client that finds no room; `None` where a move would make some.
    fn full(&self, array: Array<'_, A::Cells>, key: u64, ask: Ask) -> Option<Decision> {
        if array.capacity() < self.largest {
            return None;
        }
        // In an array lives only lengthen, so what was found once holds.
        // Acquire: pairs with the Release below; carries the tags that were seen.
        if ask.now < array.none_dies_before().load(Acquire) {
            // Another thread of the client may have taken the last slot.
            return array.find(key).is_none().then(|| self.turned_away(ask.limit));
        }
        let (mut earliest, mut seen) = (u64::MAX, 0);
        for slot in array.slots() {
            let tag = slot.tag.load(Relaxed);
            if tag == 0 {
                continue;
            }
            let until = self.until(slot.word.load(Relaxed), *array.birth());
            if until <= ask.now || tag == key {
                return None;
            }
            earliest = earliest.min(until);
            seen += 1;
        }
        // A slot set aside that nobody has claimed may never be: a move gives it back.
        if seen < full_at(array.capacity()) {
            return None;
        }
        array.none_dies_before().store(earliest, Release);
        Some(self.turned_away(ask.limit))
    }

    pub(crate) fn turned_away(&self, limit: u64) -> Decision {
        match self.when_full {
            WhenFull::Refuse | WhenFull::Share => Decision::Full(Full::new(limit)),
            WhenFull::AllowUntracked => Decision::Allowed(Allowed::untracked(limit)),
        }
    }
}
