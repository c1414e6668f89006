//! The floor: the least that a sliding counter for many clients costs. Hash, clock, one probe, one load, the step in whole
//! numbers, one compare-and-swap; no growth, no expiry, no reclamation.

use super::{Clock, Entry, FLOOR, FLOOR_CACHED, Note, Setup, step::Step, timer::Timer};
use crate::keys::Key;
use ahash::RandomState;
use std::{
    hash::Hash,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

const NOTES: &[Note] = &[Note::HashOnly, Note::FixedSize];

pub fn entries<K: Key>() -> [Entry<K>; 2] {
    [
        Entry::new(FLOOR, Clock::Counter, NOTES, |setup| {
            let (floor, timer) = (Floor::new(setup), Timer::counter());
            Box::new(move |key: &K| floor.allows(key, || timer.now()))
        }),
        Entry::new(FLOOR_CACHED, Clock::Cached, NOTES, |setup| {
            let (floor, timer) = (Floor::new(setup), Timer::cached());
            Box::new(move |key: &K| floor.allows(key, || timer.recent()))
        }),
    ]
}

struct Floor {
    hash: RandomState,
    slots: Vec<Slot>,
    step: Step,
}

#[derive(Default)]
struct Slot {
    tag: AtomicU64,
    word: AtomicU64,
}

impl Floor {
    fn new(Setup { quota, clients }: Setup) -> Floor {
        // About half of them full.
        let slots: Vec<Slot> = (0..(clients * 3 / 2).next_power_of_two()).map(|_| Slot::default()).collect();
        // Each page is touched now, so that no check meets one for the first time.
        slots.iter().for_each(|slot| slot.word.store(0, Relaxed));
        Floor { hash: RandomState::new(), slots, step: Step::new(quota) }
    }

    #[inline]
    fn allows(&self, key: &impl Hash, now: impl Fn() -> u64) -> bool {
        let hash = self.hash.hash_one(key);
        let (tag, mut at) = (hash | 1 << 63, hash as usize);
        loop {
            let Slot { tag: kept, word } = &self.slots[at & (self.slots.len() - 1)];
            let found = kept.load(Relaxed);
            let claimed = || kept.compare_exchange(0, tag, Relaxed, Relaxed).map_or_else(|kept| kept == tag, |_| true);
            if found == tag || found == 0 && claimed() {
                return self.step.take(word, now());
            }
            at += 1;
        }
    }
}
