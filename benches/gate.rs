//! Checks per second of a gate, one thread: each algorithm, allowed and refused apart, with and without the clock.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use slidegate::{Algorithm, Clock, FastClock, Gate, Nanos, Quota, SystemClock};
use std::{hint::black_box, time::Duration};

fn gates(criterion: &mut Criterion) {
    FastClock::calibrate();
    let second = |limit| Quota::new(limit, Duration::from_secs(1));
    bench(criterion, "counter", |quota| Gate::try_counter(quota).unwrap(), second(32_767));
    bench(criterion, "fixed_window", |quota| Gate::try_fixed_window(quota).unwrap(), second(1 << 30));
    bench(criterion, "log", |quota| Gate::try_log(quota).unwrap(), second(100));
}

fn bench<A: Algorithm>(criterion: &mut Criterion, name: &str, make: impl Fn(Quota) -> Gate<A>, quota: Quota) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(1));
    // Half of the limit, which every algorithm allows all the time.
    let step = 2 * u64::try_from(quota.window().as_nanos()).unwrap() / quota.limit() + 1;
    let (gate, mut now) = (make(quota), 0);
    group.bench_function("allowed, time given", |bencher| {
        bencher.iter(|| {
            now += step;
            let decision = gate.at(black_box(Nanos::from_nanos(now))).check();
            assert!(decision.is_allowed());
        });
    });
    let gate = make(quota);
    let full = || assert!(gate.at(Nanos::ZERO).cost(quota.limit()).check().is_allowed());
    full();
    group.bench_function("refused, time given", |bencher| {
        bencher.iter(|| {
            let decision = gate.at(black_box(Nanos::from_nanos(1))).check();
            assert!(!decision.is_allowed());
        });
    });
    // A window that does not end during the run, so that everything is refused after the first requests.
    let gate = make(Quota::new(1, Duration::from_secs(24 * 60 * 60)));
    let _ = gate.check();
    group.bench_function("refused, FastClock", |bencher| {
        bencher.iter(|| assert!(!black_box(&gate).check().is_allowed()));
    });
    group.finish();
}

fn clocks(criterion: &mut Criterion) {
    FastClock::calibrate();
    let mut group = criterion.benchmark_group("clock");
    group.throughput(Throughput::Elements(1));
    group.bench_function("FastClock", |bencher| bencher.iter(|| FastClock.now()));
    let system = SystemClock::new();
    group.bench_function("SystemClock", |bencher| bencher.iter(|| system.now()));
    group.finish();
}

criterion_group!(benches, gates, clocks);
criterion_main!(benches);
