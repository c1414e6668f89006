//! The rules that hold in every algorithm, and the spans that an answer names.

use super::*;
use slidegate::{Allowed, Refused};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
};

fn allowed<G: Algorithm>(gate: &Gate<G>, cost: u64, at: u64) -> Allowed {
    match gate.at(Nanos::from_nanos(at)).cost(cost).check() {
        Decision::Allowed(allowed) => allowed,
        other => panic!("{other:?}"),
    }
}

fn refused<G: Algorithm, C: Clock>(gate: &Gate<G, C>, cost: u64, at: u64) -> Refused {
    match gate.at(Nanos::from_nanos(at)).cost(cost).check() {
        Decision::Refused(refused) => refused,
        other => panic!("{other:?}"),
    }
}

/// `next_unit` and `full_reset` in nanoseconds.
fn spans(allowed: Allowed) -> (Option<u64>, u64) {
    (allowed.next_unit().map(nanos), nanos(allowed.full_reset()))
}

#[test]
fn peeks_and_refusals_change_nothing() {
    fn run<G: Algorithm>(gate: Gate<G>) {
        assert_eq!(gate.costing(7, 95 * S), A(3));
        for at in [95 * S, 90 * S, 110 * S] {
            assert_eq!(gate.peeking(3, at), A(0));
            assert!(matches!([gate.peeking(4, at), gate.costing(4, at)], [R(3, _), R(3, _)]));
            assert!(matches!([gate.peeking(11, at), gate.costing(11, at)], [N(3), N(3)]));
            assert_eq!([gate.peeking(0, at), gate.costing(0, at)], [A(3), A(3)]);
        }
        // No peek at a later time has moved the client there.
        assert_eq!(gate.costing(3, 95 * S), A(0));
    }
    run(log(10, 60 * S));
    run(counter(10, 60 * S));
    run(fixed(10, 60 * S));
}

/// A cost of 0 is allowed even where nothing is left, and does not tell the client a time.
#[test]
fn a_cost_of_zero_records_nothing() {
    fn run<G: Algorithm>(gate: Gate<G>) {
        assert_eq!(gate.costing(0, 500 * S), A(2));
        assert_eq!([gate.costing(2, 10 * S), gate.costing(0, 10 * S)], [A(0), A(0)]);
        assert_eq!(gate.costing(0, 500 * S), A(2));
        assert!(matches!(gate.ask(10 * S), R(0, _)));
    }
    run(log(2, 60 * S));
    run(counter(2, 60 * S));
    run(fixed(2, 60 * S));
}

#[test]
fn spans_of_the_log() {
    let gate = log(10, 60 * S);
    assert_eq!(spans(allowed(&gate, 0, 5 * S)), (None, 0));
    assert_eq!(spans(allowed(&gate, 4, 5 * S)), (Some(60 * S + TICK), 60 * S + TICK));
    assert_eq!(spans(allowed(&gate, 3, 20 * S)), (Some(45 * S + TICK), 60 * S + TICK));
    assert_eq!(spans(allowed(&gate, 0, 30 * S)), (Some(35 * S + TICK), 50 * S + TICK));
    // Three remain: a cost of 4 needs the first four to leave, a cost of 8 all.
    assert_eq!(nanos(refused(&gate, 4, 30 * S).retry_after()), 35 * S + TICK);
    assert_eq!(nanos(refused(&gate, 7, 30 * S).retry_after()), 35 * S + TICK);
    assert_eq!(nanos(refused(&gate, 8, 30 * S).retry_after()), 50 * S + TICK);
    assert_eq!(refused(&gate, 8, 30 * S).retry_at().as_nanos(), 80 * S + TICK);
}

#[test]
fn spans_of_the_counter() {
    let gate = counter(10, 60 * S);
    assert_eq!(spans(allowed(&gate, 0, 5 * S)), (None, 0));
    // Nothing of 4 fades before the next window, then one in a quarter of it; all is gone after the window after that.
    assert_eq!(spans(allowed(&gate, 4, 5 * S)), (Some(55 * S + 15 * S), 115 * S));
    // 4 * 36/60 = 2.4: the ceiling is 2 from 4 * 30/60 on.
    assert_eq!(spans(allowed(&gate, 0, 84 * S)), (Some(6 * S), 36 * S));
    assert_eq!(spans(allowed(&gate, 1, 84 * S)), (Some(6 * S), 96 * S));
    // 2.4 + 1 + 7 > 10; 4 * left <= 2 * 60 at 90.
    assert_eq!(nanos(refused(&gate, 7, 84 * S).retry_after()), 6 * S);
    // All the previous units must leave, and then this window's one.
    assert_eq!(nanos(refused(&gate, 10, 84 * S).retry_after()), 96 * S);
    assert_eq!(refused(&gate, 10, 84 * S).retry_at().as_nanos(), 180 * S);
}

#[test]
fn spans_of_the_fixed_window() {
    let gate = fixed(10, 60 * S);
    assert_eq!(spans(allowed(&gate, 0, 65 * S)), (None, 0));
    assert_eq!(spans(allowed(&gate, 4, 65 * S)), (Some(55 * S), 55 * S));
    assert_eq!(spans(allowed(&gate, 0, 119 * S)), (Some(S), S));
    assert_eq!(nanos(refused(&gate, 7, 119 * S).retry_after()), S);
    assert_eq!(refused(&gate, 7, 119 * S).retry_at().as_nanos(), 120 * S);
    assert_eq!(spans(allowed(&gate, 0, 120 * S)), (None, 0));
}

/// A reading behind the newest record counts as that record; the wait counts from there.
#[test]
fn time_does_not_run_backwards() {
    let gate = log(2, 60 * S);
    assert_eq!([gate.ask(1_000 * S), gate.ask(10 * S)], [A(1), A(0)]);
    let late = refused(&gate, 1, 10 * S);
    assert_eq!((nanos(late.retry_after()), late.retry_at().as_nanos()), (60 * S + TICK, 1_060 * S + TICK));

    // Window 16 starts at 960.
    let gate = counter(2, 60 * S);
    assert_eq!([gate.ask(1_000 * S), gate.ask(10 * S)], [A(1), A(0)]);
    let late = refused(&gate, 1, 10 * S);
    assert_eq!((nanos(late.retry_after()), late.retry_at().as_nanos()), (60 * S + 30 * S, 1_050 * S));

    let gate = fixed(2, 60 * S);
    assert_eq!([gate.ask(1_000 * S), gate.ask(10 * S)], [A(1), A(0)]);
    let late = refused(&gate, 1, 10 * S);
    assert_eq!((nanos(late.retry_after()), late.retry_at().as_nanos()), (60 * S, 1_020 * S));
}

/// Forgetting gives the units back, but no earlier window.
#[test]
fn a_forgotten_client_does_not_go_back() {
    let gate = counter(2, 60 * S);
    assert_eq!([gate.ask(1_000 * S), gate.ask(1_000 * S)], [A(1), A(0)]);
    gate.forget();
    assert_eq!([gate.ask(10 * S), gate.ask(10 * S)], [A(1), A(0)]);
    assert_eq!(refused(&gate, 1, 10 * S).retry_at().as_nanos(), 1_050 * S);

    let gate = fixed(2, 60 * S);
    assert_eq!([gate.ask(1_000 * S), gate.ask(1_000 * S)], [A(1), A(0)]);
    gate.forget();
    assert_eq!([gate.ask(10 * S), gate.ask(10 * S)], [A(1), A(0)]);
    assert_eq!(refused(&gate, 1, 10 * S).retry_at().as_nanos(), 1_020 * S);

    // A log goes to the reading of its clock, where that is later than what was recorded.
    let clock = slidegate::ManualClock::new();
    let gate = log(2, 60 * S).with_clock(clock.clone());
    for (reading, latest) in [(0, 1_000), (500, 1_000), (1_500, 1_500)] {
        clock.set(Nanos::from_nanos(reading * S));
        assert_eq!(gate.many(3, 1_000 * S), 2);
        gate.forget();
        assert_eq!([gate.ask(10 * S), gate.ask(10 * S)], [A(1), A(0)]);
        assert_eq!(refused(&gate, 1, 10 * S).retry_at().as_nanos(), (latest + 60) * S + TICK);
        gate.forget();
    }
}

/// A clock that counts how often it is read, and that can be broken.
#[derive(Default)]
struct Watched {
    reads: Cell<u32>,
    broken: Cell<bool>,
}

impl Clock for Watched {
    fn now(&self) -> Nanos {
        self.reads.set(self.reads.get() + 1);
        assert!(!self.broken.get(), "a broken clock");
        Nanos::from_nanos(S)
    }
}

#[test]
fn the_clock_is_read_once_and_never_for_a_given_time() {
    let clock = Watched::default();
    let gate = log(2, S).with_clock(&clock);
    let _ = gate.check();
    assert_eq!(clock.reads.get(), 1);
    let _ = gate.cost(2).peek();
    assert_eq!(clock.reads.get(), 2);
    let _ = (gate.ask(5 * S), gate.peeking(1, 5 * S), gate.at(gate.now()));
    assert_eq!(clock.reads.get(), 3);
}

#[test]
fn a_clock_that_panics_records_nothing() {
    fn run<G: Algorithm>(gate: Gate<G>) {
        let clock = Watched::default();
        let gate = gate.with_clock(&clock);
        let _ = gate.check();
        clock.broken.set(true);
        assert!(catch_unwind(AssertUnwindSafe(|| gate.check())).is_err());
        clock.broken.set(false);
        assert_eq!(Told::from(gate.check()), A(0));
    }
    run(log(2, S));
    run(counter(2, S));
    run(fixed(2, S));
}

#[test]
fn a_static_gate_needs_no_building() {
    static GATE: Gate<Counter> = Gate::counter(Quota::per_minute(2));
    static FIXED: Gate<FixedWindow> = Gate::fixed_window(Quota::per_minute(2));
    assert_eq!([GATE.ask(0), FIXED.ask(0)], [A(1); 2]);
    assert_eq!([GATE.ask(0), FIXED.ask(0)], [A(0); 2]);
}

/// A limiter is shared by reference, also with threads that may panic.
#[test]
fn gates_are_shared_freely() {
    fn shared<T: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    shared::<Gate<slidegate::Counter>>();
    shared::<Gate<slidegate::FixedWindow>>();
    shared::<Gate<slidegate::Log>>();
}
