//! Clocks that go back, stand still, or are near their end.

use super::*;
use slidegate::{CachedClock, ManualClock};

#[test]
fn b38_the_clock_goes_back() {
    let gate = log(5, 60 * S);
    let told = [1_000, 1_000, 900, 900, 900, 900].map(|second| gate.ask(second * S));
    assert_eq!(told, [A(4), A(3), A(2), A(1), A(0), R(0, 60 * S + TICK)]);
    assert_eq!(gate.ask(1_059 * S), R(0, S + TICK));
    assert_eq!(gate.ask(1_060 * S + MS), A(4));
}

#[test]
fn b40_the_clock_jitters() {
    let gate = log(10, 60 * S);
    let readings = [5_000, 4_999, 5_001, 4_998, 5_002, 4_997, 5_003, 5_001, 5_000, 5_002];
    let told = readings.map(|millis| gate.ask(millis * MS));
    assert_eq!(told.to_vec(), (0..10).rev().map(A).collect::<Vec<_>>());
    assert_eq!(gate.ask(5_003 * MS), R(0, 59_997 * MS + TICK));
}

/// Either clock is right; which one the default is stands in the docs of `FastClock`.
#[test]
fn b41_a_suspended_machine() {
    let spent = || {
        let gate = log(5, 3_600 * S);
        assert_eq!(gate.many(5, 0), 5);
        gate
    };
    assert_eq!(spent().ask(36_000 * S), A(4));
    assert_eq!(spent().ask(MS), R(0, 3_599_999 * MS + TICK));
}

#[test]
fn b43_near_the_end_of_time() {
    let (gate, start) = (log(3, 10 * S), u64::MAX - S);
    assert_eq!([0; 3].map(|_| gate.ask(start)), [A(2), A(1), A(0)]);
    assert_eq!(gate.ask(u64::MAX), R(0, 9 * S + TICK));

    // The same of the others: the wait is told, though the clock cannot show its end.
    let (into, left) = (start % (10 * S), 10 * S - start % (10 * S));
    let gate = fixed(3, 10 * S);
    assert_eq!([gate.many(4, start), gate.many(1, start)], [3, 0]);
    assert_eq!(gate.ask(start), R(0, left));
    let gate = counter(3, 10 * S);
    assert_eq!(gate.many(4, start), 3);
    // A third of the three must fade in the next window.
    assert_eq!(gate.ask(start), R(0, left + (10 * S).div_ceil(3)));
    assert!(into > 0, "the start lies inside a window");
    let Decision::Refused(refused) = gate.at(Nanos::MAX).check() else { panic!("it is spent") };
    assert_eq!(refused.retry_at(), Nanos::MAX);
}

/// It shows what its clock showed when it was renewed, and so do its clones.
#[test]
fn a_cached_clock_is_as_late_as_its_renewal() {
    let source = ManualClock::new();
    let cached = CachedClock::new(source.clone());
    let gate = Gate::try_log(quota(1, 60 * S)).unwrap().with_clock(cached.clone());
    assert!(gate.check().is_allowed());
    source.advance(Duration::from_secs(61));
    assert_eq!((cached.now(), gate.check().retry_after()), (Nanos::ZERO, Some(Duration::from_nanos(60 * S + TICK))));
    cached.renew();
    assert_eq!(gate.now(), Nanos::from_nanos(61 * S));
    assert!(gate.check().is_allowed());
}
