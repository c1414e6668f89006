//! Checks per second of a limiter: one key, 1,000 and 1,000,000, allowed and refused apart, one thread and two.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use slidegate::{Decision, Limiter, Quota};
use std::{
    hint::black_box,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

/// A limit that no run reaches, and one that the first request of a client reaches.
const ALLOWED: Quota = Quota::new((1 << 29) - 1, Duration::from_secs(24 * 60 * 60));
const REFUSED: Quota = Quota::new(1, Duration::from_secs(24 * 60 * 60));

/// The key that comes after a key: a walk over all of them in no order that a cache could foresee.
fn next(key: u64, keys: u64) -> u64 {
    // A power of two of keys, and an odd step of about the golden section of them.
    key.wrapping_add(0x9e37_79b9_7f4a_7c15 >> 1 | 1) & (keys - 1)
}

fn filled(quota: Quota, keys: u64) -> Limiter<u64> {
    let clients = usize::try_from(keys).unwrap().max(1_000);
    let limiter = Limiter::<u64>::counter(quota).max_clients(2 * clients).build().unwrap();
    for key in 0..keys {
        assert!(limiter.check(&key).is_allowed());
    }
    limiter
}

fn one_thread(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one thread");
    group.throughput(Throughput::Elements(1));
    for keys in [1, 1 << 10, 1 << 20] {
        for (name, quota) in [("allowed", ALLOWED), ("refused", REFUSED)] {
            let limiter = filled(quota, keys);
            let mut key = 0;
            group.bench_function(format!("{keys} keys, {name}"), |bencher| {
                bencher.iter(|| {
                    key = next(key, keys);
                    let decision = limiter.check(black_box(&key));
                    assert_eq!(decision.is_allowed(), name == "allowed");
                });
            });
        }
    }
    group.finish();
}

fn two_threads(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("two threads");
    group.throughput(Throughput::Elements(2));
    for keys in [1, 1 << 20] {
        let limiter = filled(ALLOWED, keys);
        group.bench_function(format!("{keys} keys, allowed"), |bencher| {
            bencher.iter_custom(|checks| {
                let slowest = AtomicU64::new(0);
                let start = Barrier::new(2);
                thread::scope(|scope| {
                    for half in 0..2 {
                        let (limiter, slowest, start) = (&limiter, &slowest, &start);
                        scope.spawn(move || {
                            let mut key = half * (keys / 2);
                            start.wait();
                            let begin = Instant::now();
                            for _ in 0..checks {
                                key = next(key, keys);
                                let decision = limiter.check(black_box(&key));
                                assert!(matches!(decision, Decision::Allowed(_)));
                            }
                            let nanos = u64::try_from(begin.elapsed().as_nanos()).unwrap();
                            slowest.fetch_max(nanos, Ordering::Relaxed);
                        });
                    }
                });
                Duration::from_nanos(slowest.into_inner())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, one_thread, two_threads);
criterion_main!(benches);
