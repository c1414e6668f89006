//! The exact log: its edge, its order, and what is recorded.

use super::*;

#[test]
fn b01_both_sides_of_the_window_edge() {
    let gate = log(2, 10 * S);
    assert_eq!([gate.ask(0), gate.ask(0)], [A(1), A(0)]);
    assert_eq!(gate.ask(10 * S - NS), R(0, NS + TICK));
    assert_eq!(gate.ask(10 * S), R(0, TICK));
    assert_eq!(gate.ask(10 * S + NS), A(1));
}

#[test]
fn b02_a_jump_over_several_windows() {
    let gate = log(3, 10 * S);
    assert_eq!([gate.ask(0), gate.ask(S), gate.ask(2 * S)], [A(2), A(1), A(0)]);
    assert_eq!(gate.ask(10_500 * MS), A(0));
    assert_eq!(gate.ask(25 * S), A(2));
}

#[test]
fn b04_refused_requests_are_not_stored() {
    let gate = log(10, 595 * S);
    let allowed = |k: u64| matches!(gate.ask(30 * S * k), A(_));
    let pattern: Vec<bool> = (0..40).map(allowed).collect();
    let right: Vec<bool> = (0..40).map(|k| k / 10 % 2 == 0).collect();
    assert_eq!(pattern, right);
}

#[test]
fn b05_equal_stamps_are_counted_each() {
    let gate = log(5, S);
    let told: Vec<Told> = (0..6).map(|_| gate.ask(100 * S)).collect();
    assert_eq!(told, [A(4), A(3), A(2), A(1), A(0), R(0, S + TICK)]);

    let gate = log(5, S);
    assert_eq!([gate.costing(5, 100 * S), gate.ask(100 * S)], [A(0), R(0, S + TICK)]);
}

#[test]
fn b07_a_cost_above_the_limit() {
    let gate = log(10, 60 * S);
    assert_eq!([gate.costing(5, 0), gate.costing(100, 0), gate.costing(5, 0)], [A(5), N(5), A(0)]);
    let never = gate.at(Nanos::ZERO).cost(100).check();
    assert_eq!(never.retry_after(), None);
}

#[test]
fn b08_a_refused_heavy_request_takes_nothing() {
    let gate = log(10, 60 * S);
    assert_eq!(gate.costing(3, 0), A(7));
    assert_eq!(gate.costing(8, S), R(7, 59 * S + TICK));
    assert_eq!(gate.costing(7, 2 * S), A(0));
}

#[test]
fn b11_the_wait_is_not_the_whole_window() {
    let gate = log(10, 60 * S);
    for k in 0..10 {
        assert_eq!(gate.ask(2 * k * S), A(9 - k));
    }
    assert_eq!(gate.ask(20 * S), R(0, 40 * S + TICK));
    assert_eq!(gate.ask(60 * S + MS), A(0));
}

/// The last unit is the same one whether the gate reads its clock or is told the time, and whether it peeks first.
#[test]
fn b13_every_path_agrees_on_the_last_unit() {
    fn run<G: Algorithm>(gate: Gate<G>, told_time: bool, refusal: Told) {
        let clock = slidegate::ManualClock::new();
        let gate = gate.with_clock(clock.clone());
        let ask = |at: u64| {
            clock.set(Nanos::from_nanos(at));
            let request = if told_time { gate.at(Nanos::from_nanos(at)) } else { gate.cost(1) };
            let (peeked, told) = (Told::from(request.peek()), Told::from(request.check()));
            assert_eq!(peeked, told);
            told
        };
        for k in 0..10 {
            assert_eq!(ask(k * S), A(9 - k));
        }
        assert_eq!(ask(9_500 * MS), refusal);
    }
    for told_time in [false, true] {
        run(log(10, 60 * S), told_time, R(0, 50_500 * MS + TICK));
        run(fixed(10, 60 * S), told_time, R(0, 50_500 * MS));
        run(counter(10, 60 * S), told_time, R(0, 56_500 * MS));
    }
}

/// The window is the client's own: another gate on the same clock changes nothing.
#[test]
fn b14_no_reset_for_all() {
    let (gate, other) = (log(5, 180 * S), log(5, 180 * S));
    for second in 60..65 {
        assert_eq!(gate.ask(second * S), A(64 - second));
        let _ = other.ask(second * S);
    }
    assert_eq!(gate.ask(179 * S), R(0, 61 * S + TICK));
    let _ = other.ask(180 * S);
    assert_eq!(gate.ask(181 * S), R(0, 59 * S + TICK));
    assert_eq!(gate.ask(240 * S + MS), A(0));
}

#[test]
fn x1_what_remains_after_all_has_expired() {
    let gate = log(2, 10 * S);
    assert_eq!(gate.many(2, 0), 2);
    assert_eq!(gate.peeking(0, 20 * S), A(2));
}

#[test]
fn x2_the_count_is_part_of_the_test() {
    let gate = log(10, 60 * S);
    assert_eq!([gate.costing(9, 0), gate.costing(100, 0), gate.peeking(0, 0)], [A(1), N(1), A(1)]);
}
