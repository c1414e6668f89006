//! slidegate: each algorithm as it comes; the counter by a handle, in batches, and with a cached clock.

use super::{Clock, Entry, Note, Setup, timer::CACHED_FOR};
use crate::{
    contender::{Batch, Contender, Pace},
    keys::Key,
};
use slidegate::{Algorithm, CachedClock, Clock as Reading, Counter, FastClock, KeyHash, Limiter};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
};

const NOTES: &[Note] = &[Note::HashOnly];

pub fn entries<K: Key>() -> [Entry<K>; 7] {
    [
        Entry::new("slidegate-counter", Clock::Counter, NOTES, |Setup { quota, clients }| {
            let limiter = Limiter::<K>::counter(quota).max_clients(clients).build().unwrap();
            Box::new(move |key: &K| limiter.check(key).is_allowed())
        }),
        Entry::new("slidegate-handle", Clock::Counter, NOTES, |Setup { quota, clients }| {
            Box::new(ByHandle(Limiter::<K>::counter(quota).max_clients(clients).build().unwrap()))
        }),
        Entry::new("slidegate-many", Clock::Counter, &[Note::HashOnly, Note::InBatches], |Setup { quota, clients }| {
            Box::new(InBatches(Limiter::<K>::counter(quota).max_clients(clients).build().unwrap()))
        }),
        Entry::new("slidegate-fixed", Clock::Counter, NOTES, |Setup { quota, clients }| {
            let limiter = Limiter::<K>::fixed_window(quota).max_clients(clients).build().unwrap();
            Box::new(move |key: &K| limiter.check(key).is_allowed())
        }),
        Entry::new("slidegate-log", Clock::Counter, &[Note::HashOnly, Note::Log], |Setup { quota, clients }| {
            // A client here is far from its limit; the bound is for those that are not.
            let builder = Limiter::<K>::log(quota).max_clients(clients).max_bytes(usize::MAX);
            let limiter = builder.build().unwrap();
            Box::new(move |key: &K| limiter.check(key).is_allowed())
        }),
        Entry::new("slidegate-cached", Clock::Cached, NOTES, |Setup { quota, clients }| {
            let ticker = Ticker::start();
            let builder = Limiter::<K>::counter(quota).max_clients(clients).clock(ticker.clock.clone());
            let limiter = builder.build().unwrap();
            Box::new(move |key: &K| {
                let _ = &ticker;
                limiter.check(key).is_allowed()
            })
        }),
        Entry::new("slidegate-cached-handle", Clock::Cached, NOTES, |Setup { quota, clients }| {
            let ticker = Ticker::start();
            let builder = Limiter::<K>::counter(quota).max_clients(clients).clock(ticker.clock.clone());
            Box::new(Ticking(ByHandle(builder.build().unwrap()), ticker))
        }),
    ]
}

struct ByHandle<K, A: Algorithm, C>(Limiter<K, A, C, KeyHash>);

impl<K: Key, A: Algorithm + Send + Sync, C: Reading + Send + Sync> Contender<K> for ByHandle<K, A, C> {
    fn serve(&self, batch: Batch<'_, K>) -> usize {
        let handle = self.0.handle();
        batch.each(|key| handle.check(key).is_allowed())
    }
}

struct InBatches<K>(Limiter<K, Counter>);

impl<K: Key> Contender<K> for InBatches<K> {
    fn serve(&self, batch: Batch<'_, K>) -> usize {
        if batch.pace != Pace::BackToBack {
            return batch.each(|key| self.0.check(key).is_allowed());
        }
        let mut allowed = 0;
        let (chunks, rest) = batch.keys.as_chunks::<16>();
        for chunk in chunks {
            self.0.check_many(&chunk.each_ref(), |_, decision| allowed += usize::from(decision.is_allowed()));
        }
        allowed + rest.iter().filter(|key| self.0.check(key).is_allowed()).count()
    }
}

/// A contender and the thread behind its clock.
struct Ticking<T>(T, #[expect(dead_code, reason = "it ends when this is dropped")] Ticker);

impl<K, T: Contender<K>> Contender<K> for Ticking<T> {
    fn serve(&self, batch: Batch<'_, K>) -> usize {
        self.0.serve(batch)
    }
}

/// A thread that renews a clock until it is dropped.
struct Ticker {
    clock: CachedClock,
    over: Arc<AtomicBool>,
}

impl Ticker {
    fn start() -> Ticker {
        let ticker = Ticker { clock: CachedClock::new(FastClock), over: Arc::default() };
        let (clock, over) = (ticker.clock.clone(), Arc::clone(&ticker.over));
        thread::spawn(move || {
            while !over.load(Relaxed) {
                clock.renew();
                thread::sleep(CACHED_FOR);
            }
        });
        ticker
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
    }
}
