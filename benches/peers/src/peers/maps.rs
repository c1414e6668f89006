//! What a service would write for a start: a map of sliding counters behind a lock, and a sharded one.

use super::{Clock, Entry, Setup, step::Step, timer::Timer};
use crate::keys::Key;
use ahash::RandomState;
use dashmap::DashMap;
use std::{
    collections::HashMap,
    sync::{Mutex, atomic::AtomicU64},
};

pub fn entries<K: Key>() -> [Entry<K>; 2] {
    [
        Entry::new("by-hand-mutex", Clock::Counter, &[], |Setup { quota, .. }| {
            let map = Mutex::new(HashMap::<K, u64, RandomState>::default());
            let (step, timer) = (Step::new(quota), Timer::counter());
            Box::new(move |key: &K| {
                let mut map = map.lock().unwrap();
                let word = match map.get_mut(key) {
                    Some(word) => word,
                    None => map.entry(key.clone()).or_default(),
                };
                let taken = step.taken(*word, timer.now());
                *word = taken.unwrap_or(*word);
                taken.is_some()
            })
        }),
        Entry::new("by-hand-dashmap", Clock::Counter, &[], |Setup { quota, .. }| {
            let map = DashMap::<K, AtomicU64, RandomState>::default();
            let (step, timer) = (Step::new(quota), Timer::counter());
            Box::new(move |key: &K| match map.get(key) {
                Some(word) => step.take(&word, timer.now()),
                None => step.take(&map.entry(key.clone()).or_default(), timer.now()),
            })
        }),
    ]
}
