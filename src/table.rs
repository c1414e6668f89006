//! [`Table`]: the clients of a limiter, in segments that are checked in place and replaced as a whole.
//!
//! A segment is one pointer to an [`Array`]. Growing, shrinking, sweeping, forgetting and renewing stamps are one
//! operation, the **move**: freeze every word, copy the live clients, decide the mover's own request in the copy, publish
//! by one exchange of the pointer. Who loses the exchange drops his copy and starts again from the pointer. Every
//! publication completes a request, so in any infinite run some request completes, whichever threads stand still.
//!
//! # Orderings
//!
//! * publication, Release in the exchange of the pointer, Acquire in [`Record::protect`]: carries the array.
//! * a word, Release in its exchange, Acquire in the freezing `fetch_or`: whoever finds a record in a frozen word also
//!   finds the tag of its client, which was claimed before by a Relaxed exchange.
//! * tags, Relaxed: a tag is written once, and what it leads to is the word beside it.

use crate::{
    array::{Array, NoMemory, Private, Slot, bytes_of_array},
    decision::{Allowed, Decision, Full},
    hazard::{Record, Retired},
    nanos::Nanos,
    sync::{
        AtomicPtr,
        Ordering::{Acquire, Relaxed, Release},
        Usage,
    },
    word::{Ask, FROZEN, Span, Step, decide},
};
use core::ptr::{NonNull, null_mut};

/// Slots of the largest array.
pub(crate) const LARGEST: usize = 1_024;

/// Slots of an array that a segment starts with.
const SMALLEST: usize = 4;

/// What a new client is answered where there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenFull {
    /// [`Decision::Full`]: it is turned away.
    #[default]
    Refuse,
    /// It goes ahead and nothing is recorded; [`Allowed::is_tracked`] says so.
    AllowUntracked,
    /// It shares one count with all such clients of its segment of the table.
    Share,
}

/// The clients of a limiter.
pub(crate) struct Table<A> {
    algorithm: A,
    segments: Box<[AtomicPtr<Retired>]>,
    /// Slots of the largest array; less in the models.
    largest: usize,
    /// An array of this age is moved before it is read; `u64::MAX` where an epoch lasts a century.
    longest_life: u64,
    when_full: WhenFull,
    usage: Usage,
}

/// Why a segment is moved.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    /// To decide on a request of a client.
    Decide(u64, Ask),
    /// To leave out the expired.
    Sweep,
    /// To leave out one client, whatever is remembered of it.
    Forget(u64),
    /// To leave out all.
    ForgetAll,
}

impl Purpose {
    fn forgets(self, tag: u64) -> bool {
        match self {
            Purpose::Decide(..) | Purpose::Sweep => false,
            Purpose::Forget(client) => client == tag,
            Purpose::ForgetAll => true,
        }
    }
}

/// Where a request belongs in an array.
enum Place<'a> {
    /// In the client's slot.
    Slot(&'a Slot),
    /// Nowhere: it records nothing, and this is its answer.
    Nowhere(Decision),
    /// In a slot that the array has no room for.
    NoRoom,
}

impl<A> Table<A> {
    pub(crate) fn algorithm(&self) -> &A {
        &self.algorithm
    }
}

impl<A: Step> Table<A> {
    pub(crate) fn new(algorithm: A, segments: usize, largest: usize, when_full: WhenFull, usage: Usage) -> Table<A> {
        let longest_life = algorithm.longest_life();
        let segments = (0..segments).map(|_| AtomicPtr::new(null_mut())).collect();
        Table { algorithm, segments, largest, longest_life, when_full, usage }
    }

    /// Clients that fit for certain, if their hashes fill the segments evenly.
    pub(crate) fn capacity(&self) -> usize {
        self.segments.len() * full_at(self.largest)
    }

    /// The bytes of a table whose segments are all full; `None` beyond the address space.
    pub(crate) fn bytes_when_full(segments: usize) -> Option<usize> {
        segments.checked_mul(bytes_of_segment(LARGEST))
    }

    /// The segments of a table that takes at most so many bytes.
    pub(crate) fn segments_within(bytes: usize) -> usize {
        bytes / bytes_of_segment(LARGEST)
    }

    pub(crate) fn max_bytes(&self) -> usize {
        self.segments.len() * bytes_of_segment(self.largest)
    }

    pub(crate) fn bytes_in_use(&self) -> usize {
        size_of_val(&*self.segments) + self.usage.bytes()
    }

    /// The segment of a key, chosen by its high bits; the low ones choose the slot.
    #[inline]
    fn segment(&self, key: u64) -> &AtomicPtr<Retired> {
        let index = (u128::from(key) * self.segments.len() as u128) >> 64;
        #[expect(clippy::cast_possible_truncation, reason = "less than the number of segments")]
        let index = index as usize;
        &self.segments[index]
    }

    /// Decides on a request of the client with this key, which is not 0.
    #[inline]
    pub(crate) fn check(&self, record: &Record, key: u64, ask: Ask) -> Decision {
        let segment = self.segment(key);
        loop {
            let decision = match protect(record, segment) {
                Some(array) => self.attempt(record, segment, array, key, ask),
                None => self.renew(record, segment, None, ask.now, Purpose::Decide(key, ask)),
            };
            if let Some(decision) = decision {
                record.release();
                return decision;
            }
        }
    }

    /// One attempt in a protected array; `None` where another request was completed first.
    #[inline]
    fn attempt(
        &self,
        record: &Record,
        segment: &AtomicPtr<Retired>,
        array: Array<'_>,
        key: u64,
        ask: Ask,
    ) -> Option<Decision> {
        let first = ask.not_before(array.birth());
        if !self.is_due(array, first.now) {
            let word = match self.place(array, key, first) {
                Place::Slot(slot) => &slot.word,
                Place::Nowhere(decision) => return Some(decision),
                Place::NoRoom => match self.full(array, key, first.now) {
                    None if !ask.recording => return Some(self.first_answer(first)),
                    None => return self.renew(record, segment, Some(array), first.now, Purpose::Decide(key, ask)),
                    Some(decision) if self.when_full != WhenFull::Share => return Some(decision),
                    Some(_) => array.shared(),
                },
            };
            if let Some(decision) = decide(word, &self.algorithm, |word| self.asked(word, ask, array.birth())) {
                return Some(decision);
            }
        }
        self.renew(record, segment, Some(array), first.now, Purpose::Decide(key, ask))
    }

    /// What is asked of a word: a client is bounded by its own record or, without one, by the birth of the array. So is
    /// one with a record whose epoch can only be read near the birth.
    #[inline]
    fn asked(&self, word: u64, ask: Ask, birth: u64) -> Ask {
        if word & !FROZEN != 0 && self.longest_life == u64::MAX { ask } else { ask.not_before(birth) }
    }

    /// Whether the array is so old that its epochs must not be read any more.
    #[inline]
    fn is_due(&self, array: Array<'_>, now: u64) -> bool {
        now - array.birth() >= self.longest_life
    }

    /// The slot of a client, claimed if the request is to be recorded.
    #[inline]
    fn place<'a>(&self, array: Array<'a>, key: u64, ask: Ask) -> Place<'a> {
        let mut reserved = false;
        let mut place = Place::NoRoom;
        for slot in array.probe(key) {
            let mut tag = slot.tag.load(Relaxed);
            if tag == 0 {
                if !reserved {
                    let stepped = self.algorithm.step(0, Nanos::from_nanos(ask.now), ask.cost);
                    if stepped.next.is_none() {
                        return Place::Nowhere(stepped.decision);
                    }
                    let most = full_at(array.capacity());
                    if !ask.recording && array.claimed().load(Relaxed) < most as u64 {
                        return Place::Nowhere(stepped.decision);
                    }
                    reserved = ask.recording && array.reserve(most);
                    if !reserved {
                        break;
                    }
                }
                match slot.tag.compare_exchange(0, key, Relaxed, Relaxed) {
                    Ok(_) => return Place::Slot(slot),
                    Err(winner) => tag = winner,
                }
            }
            if tag == key {
                place = Place::Slot(slot);
                break;
            }
        }
        if reserved {
            // Another thread of the same client was first.
            array.claimed().fetch_sub(1, Relaxed);
        }
        place
    }

    /// What a client is answered of which nothing is known.
    fn first_answer(&self, ask: Ask) -> Decision {
        self.algorithm.step(0, Nanos::from_nanos(ask.now), ask.cost).decision
    }

    /// The answer to a new client that finds no room; `None` where a move would make some.
    #[cold]
    fn full(&self, array: Array<'_>, key: u64, now: u64) -> Option<Decision> {
        if array.capacity() < self.largest {
            return None;
        }
        // In an array lives only lengthen, so what was found once holds.
        // Acquire: pairs with the Release below; carries the tags that were seen.
        if now < array.none_dies_before().load(Acquire) {
            // Another thread of the client may have taken the last slot.
            let mut tags = array.probe(key).map(|slot| slot.tag.load(Relaxed)).take_while(|tag| *tag != 0);
            return (!tags.any(|tag| tag == key)).then(|| self.turned_away());
        }
        let (mut earliest, mut seen) = (u64::MAX, 0);
        for slot in array.slots() {
            let tag = slot.tag.load(Relaxed);
            if tag == 0 {
                continue;
            }
            let until = self.until(slot.word.load(Relaxed), array.birth());
            if until <= now || tag == key {
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
        Some(self.turned_away())
    }

    fn turned_away(&self) -> Decision {
        match self.when_full {
            WhenFull::Refuse | WhenFull::Share => Decision::Full(Full::new(self.algorithm.limit())),
            WhenFull::AllowUntracked => Decision::Allowed(Allowed::untracked(self.algorithm.limit())),
        }
    }

    /// The instant from which on nothing in a word counts; 0 for a word that was never used.
    fn until(&self, word: u64, birth: u64) -> u64 {
        self.span(word, birth).map_or(0, |span| span.until)
    }

    /// When the record in a word was made and until when it counts, read from the birth of its array.
    fn span(&self, word: u64, birth: u64) -> Option<Span> {
        let word = word & !FROZEN;
        (word != 0).then(|| self.algorithm.span(word, birth))
    }

    /// Moves a segment, and decides the request that needs it in the copy; `None` where another move was published
    /// first.
    #[cold]
    fn renew(
        &self,
        record: &Record,
        segment: &AtomicPtr<Retired>,
        old: Option<Array<'_>>,
        now: u64,
        purpose: Purpose,
    ) -> Option<Decision> {
        let old_birth = old.map_or(0, Array::birth);
        let mut birth = now.max(old_birth);
        if let Some(old) = old {
            for slot in old.slots() {
                // Acquire: pairs with the Release in `decide`; carries the tag of the client that made the record.
                let word = slot.word.fetch_or(FROZEN, Acquire);
                // Only then its tag: a late claim finds a frozen word.
                if purpose.forgets(slot.tag.load(Relaxed)) {
                    birth = birth.max(self.span(word, old_birth).map_or(0, |span| span.newest));
                }
            }
            let shared = old.shared().fetch_or(FROZEN, Acquire);
            if matches!(purpose, Purpose::ForgetAll) {
                birth = birth.max(self.span(shared, old_birth).map_or(0, |span| span.newest));
            }
        }
        let lives = |word: u64| self.until(word, old_birth) > birth;
        let kept = |slot: &&Slot| {
            let tag = slot.tag.load(Relaxed);
            tag != 0 && !purpose.forgets(tag) && lives(slot.word.load(Relaxed))
        };
        let live = || old.into_iter().flat_map(Array::slots).filter(kept);
        let shared = old.map_or(0, |old| old.shared().load(Relaxed) & !FROZEN);
        let shared = if lives(shared) && !matches!(purpose, Purpose::ForgetAll) { shared } else { 0 };

        // The mover's own request.
        let (mut own, mut decision, mut shared_next) =
            (None, Decision::Full(Full::new(self.algorithm.limit())), shared);
        let mut count = live().count();
        if let Purpose::Decide(key, ask) = purpose {
            let present = live().find(|slot| slot.tag.load(Relaxed) == key);
            let has_room = present.is_some() || count < full_at(self.largest);
            let word = match present {
                Some(slot) => slot.word.load(Relaxed) & !FROZEN,
                None if has_room || self.when_full != WhenFull::Share => 0,
                None => shared,
            };
            let asked = self.asked(word, ask, birth);
            let stepped = self.algorithm.step(word, Nanos::from_nanos(asked.now), ask.cost);
            decision = stepped.decision;
            let shares = !has_room && self.when_full == WhenFull::Share;
            match stepped.next {
                Some(_) if !has_room && !shares => return Some(self.turned_away()),
                Some(next) if ask.recording && shares => shared_next = next,
                Some(next) if ask.recording => {
                    own = Some((key, next));
                    count += usize::from(present.is_none());
                }
                _ => {}
            }
        }

        let copy = match Private::new(self.fitting(count), birth, &self.usage) {
            Ok(copy) => copy,
            Err(NoMemory) => return Some(Decision::Full(Full::new(self.algorithm.limit()))),
        };
        for slot in live() {
            let tag = slot.tag.load(Relaxed);
            if own.is_none_or(|(key, _)| key != tag) {
                copy.insert(tag, slot.word.load(Relaxed) & !FROZEN);
            }
        }
        if let Some((key, word)) = own {
            copy.insert(key, word);
        }
        copy.array().shared().store(shared_next, Relaxed);
        self.publish(record, segment, old, copy).then_some(decision)
    }

    /// Replaces an array by its copy; false where it was replaced before.
    fn publish(&self, record: &Record, segment: &AtomicPtr<Retired>, old: Option<Array<'_>>, copy: Private) -> bool {
        let address = old.map_or(null_mut(), |old| old.as_raw().as_ptr());
        let new = copy.into_raw();
        // Release: pairs with the Acquire in `Record::protect`; carries the copy.
        if segment.compare_exchange(address, new, Release, Relaxed).is_err() {
            // SAFETY: it was never published.
            NonNull::new(new).into_iter().for_each(|new| unsafe { crate::array::free(new) });
            return false;
        }
        #[cfg(slidegate_loom)]
        crate::sync::ending::note_publication();
        if let Some(old) = old {
            // SAFETY: the exchange took away the only pointer to it, and only its winner retires it.
            unsafe { record.retire(old.as_raw()) };
        }
        true
    }

    /// The slots of an array for so many clients: a quarter of them free, unless it is the largest.
    fn fitting(&self, clients: usize) -> usize {
        let slots = (clients * 4).div_ceil(3).next_power_of_two();
        slots.clamp(SMALLEST.min(self.largest), self.largest.max((clients + 1).next_power_of_two()))
    }

    /// Forgets what one client used; a late reading of the time before stays where the client was.
    pub(crate) fn forget(&self, record: &Record, key: u64, now: u64) {
        let segment = self.segment(key);
        while let Some(array) = protect(record, segment) {
            let known = array.probe(key).map(|slot| (slot.tag.load(Relaxed), slot)).take_while(|(tag, _)| *tag != 0);
            let used = known.filter(|(tag, _)| *tag == key).any(|(_, slot)| slot.word.load(Relaxed) & !FROZEN != 0);
            if !used || self.renew(record, segment, Some(array), now, Purpose::Forget(key)).is_some() {
                break;
            }
        }
        record.release();
    }

    /// Forgets all clients, segment by segment.
    pub(crate) fn forget_all(&self, record: &Record, now: u64) {
        for segment in &self.segments {
            while let Some(array) = protect(record, segment) {
                if self.renew(record, segment, Some(array), now, Purpose::ForgetAll).is_some() {
                    break;
                }
            }
        }
        record.release();
    }

    /// Leaves out the clients of which nothing counts any more.
    pub(crate) fn sweep(&self, record: &Record, now: u64) {
        for segment in &self.segments {
            let Some(array) = protect(record, segment) else { continue };
            let now = now.max(array.birth());
            let expired =
                |slot: &Slot| slot.tag.load(Relaxed) != 0 && self.until(slot.word.load(Relaxed), array.birth()) <= now;
            if array.slots().any(expired) {
                // Where another move was published first, that one left them out.
                let _ = self.renew(record, segment, Some(array), now, Purpose::Sweep);
            }
        }
        record.release();
    }

    /// The clients of which something counts.
    pub(crate) fn tracked(&self, record: &Record, now: u64) -> usize {
        let mut tracked = 0;
        for segment in &self.segments {
            let Some(array) = protect(record, segment) else { continue };
            let now = now.max(array.birth());
            tracked += array.slots().filter(|slot| self.until(slot.word.load(Relaxed), array.birth()) > now).count();
        }
        record.release();
        tracked
    }
}

/// The bytes of a segment with an array of so many slots.
const fn bytes_of_segment(slots: usize) -> usize {
    size_of::<AtomicPtr<Retired>>() + bytes_of_array(slots)
}

impl<A> Drop for Table<A> {
    fn drop(&mut self) {
        for segment in &mut self.segments {
            if let Some(array) = NonNull::new(crate::sync::exclusive(segment)) {
                // SAFETY: nobody else can reach the table any more, and what it points to was not retired.
                unsafe { crate::array::free(array) };
            }
        }
    }
}

/// The present array of a segment, protected until the record protects another or is released; `None` before the first.
#[inline]
fn protect<'r>(record: &'r Record, segment: &AtomicPtr<Retired>) -> Option<Array<'r>> {
    // SAFETY: a segment holds null or what `Private::into_raw` gave, and the record protects it.
    NonNull::new(record.protect(segment)).map(|array| unsafe { Array::from_raw(array) })
}

/// The slots of an array that may be claimed.
const fn full_at(capacity: usize) -> usize {
    capacity - capacity.div_ceil(8)
}
