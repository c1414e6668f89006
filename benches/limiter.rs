//! Checks per second of a limiter: one key, 1,000 and 1,000,000, allowed and refused apart, one thread and two.

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use slidegate::{Algorithm, Builder, Counter, Decision, FixedWindow, Limiter, Log, Quota};
use std::{
    hint::black_box,
    sync::{
        Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// A limit that the first request of a client reaches.
const REFUSED: Quota = Quota::new(1, DAY);

/// An algorithm, and a limit that no run reaches at so many keys, with the least there is to remember.
trait Contender: Algorithm + Sized + Sync + 'static {
    const NAME: &'static str;

    fn builder(quota: Quota) -> Builder<u64, Self>;

    fn never_reached(keys: u64) -> Quota;
}

impl Contender for Counter {
    const NAME: &'static str = "counter";

    fn builder(quota: Quota) -> Builder<u64, Counter> {
        Limiter::counter(quota)
    }

    fn never_reached(_: u64) -> Quota {
        Quota::new((1 << 29) - 1, DAY)
    }
}

impl Contender for FixedWindow {
    const NAME: &'static str = "fixed window";

    fn builder(quota: Quota) -> Builder<u64, FixedWindow> {
        Limiter::fixed_window(quota)
    }

    fn never_reached(_: u64) -> Quota {
        Quota::new((1 << 29) - 1, DAY)
    }
}

impl Contender for Log {
    const NAME: &'static str = "log";

    fn builder(quota: Quota) -> Builder<u64, Log> {
        Limiter::log(quota)
    }

    /// A hundred checks of one key take more than a microsecond, and eight walks over many more than 60 ns for each.
    fn never_reached(keys: u64) -> Quota {
        if keys == 1 {
            Quota::new(100, Duration::from_micros(1))
        } else {
            Quota::new(8, Duration::from_nanos(400 * keys))
        }
    }
}

/// The key that comes after a key: a walk over all of them in no order that a cache could foresee.
fn next(key: u64, keys: u64) -> u64 {
    // A power of two of keys, and an odd step of about the golden section of them.
    key.wrapping_add(0x9e37_79b9_7f4a_7c15 >> 1 | 1) & (keys - 1)
}

fn filled<A: Contender>(quota: Quota, keys: u64) -> Limiter<u64, A> {
    let clients = usize::try_from(keys).unwrap().max(1_000);
    let limiter = A::builder(quota).max_clients(2 * clients).build().unwrap();
    for key in 0..keys {
        assert!(limiter.check(&key).is_allowed());
    }
    limiter
}

fn one_thread<A: Contender>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("{}, one thread", A::NAME));
    group.throughput(Throughput::Elements(1));
    for keys in [1, 1 << 10, 1 << 20] {
        for (name, quota) in [("allowed", A::never_reached(keys)), ("refused", REFUSED)] {
            let limiter = filled::<A>(quota, keys);
            let walk = |group: &mut BenchmarkGroup<'_, WallTime>, how: &str, check: &dyn Fn(&u64) -> Decision| {
                let mut key = 0;
                group.bench_function(format!("{keys} keys, {name}{how}"), |bencher| {
                    bencher.iter(|| {
                        key = next(key, keys);
                        assert_eq!(check(black_box(&key)).is_allowed(), name == "allowed");
                    });
                });
            };
            walk(&mut group, "", &|key| limiter.check(key));
            let handle = limiter.handle();
            walk(&mut group, ", by a handle", &|key| handle.check(key));
        }
    }
    group.finish();
}

/// Sixteen keys at a time.
fn many<A: Contender>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("{}, check_many", A::NAME));
    group.throughput(Throughput::Elements(16));
    for keys in [1 << 10, 1 << 20] {
        let limiter = filled::<A>(A::never_reached(keys), keys);
        let mut key = 0;
        group.bench_function(format!("{keys} keys, allowed"), |bencher| {
            bencher.iter(|| {
                let batch: [u64; 16] = std::array::from_fn(|_| {
                    key = next(key, keys);
                    key
                });
                let clients: [&u64; 16] = std::array::from_fn(|index| &batch[index]);
                limiter.check_many(black_box(&clients), |_, decision| assert!(decision.is_allowed()));
            });
        });
    }
    group.finish();
}

fn two_threads<A: Contender>(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group(format!("{}, two threads", A::NAME));
    group.throughput(Throughput::Elements(2));
    for keys in [1, 1 << 20] {
        let limiter = filled::<A>(A::never_reached(keys), keys);
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
                                assert!(limiter.check(black_box(&key)).is_allowed());
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

fn all<A: Contender>(criterion: &mut Criterion) {
    one_thread::<A>(criterion);
    many::<A>(criterion);
    two_threads::<A>(criterion);
}

criterion_group!(benches, all::<Counter>, all::<FixedWindow>, all::<Log>);
criterion_main!(benches);
