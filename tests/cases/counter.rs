//! The sliding counter, and the fixed window beside it.

use super::*;

#[test]
fn b16_a_limit_of_one() {
    let gate = counter(1, 10 * S);
    assert_eq!(gate.ask(0), A(0));
    assert_eq!(gate.ask(5 * S), R(0, 15 * S));
    assert_eq!(gate.ask(9_999 * MS), R(0, 10_001 * MS));
    assert_eq!(gate.ask(10_001 * MS), R(0, 9_999 * MS));
    assert_eq!(gate.ask(20 * S), A(0));
}

#[test]
fn b17_the_previous_window_counts_in_what_remains() {
    let gate = counter(100, 100 * S);
    assert_eq!(gate.many(50, 0), 50);
    assert_eq!(gate.many(10, 100 * S), 10);
    assert_eq!(gate.peeking(0, 110 * S), A(45));
    assert_eq!(gate.many(46, 110 * S), 45);
}

#[test]
fn b19_the_wait_ends_when_the_weight_has_fallen() {
    let gate = counter(60, 60 * S);
    assert_eq!(gate.many(60, 0), 60);
    for second in 61..=72 {
        assert_eq!(gate.ask(second * S), A(0));
    }
    assert_eq!(gate.ask(72 * S), R(0, S));
    assert_eq!(gate.ask(73 * S), A(0));
}

#[test]
fn b20_long_periods_turn_over() {
    let gate = counter(10, 10 * S);
    assert_eq!(gate.many(10, S), 10);
    assert_eq!([gate.ask(12 * S), gate.ask(31 * S)], [A(1), A(9)]);
}

/// Some rate is left a whole window after the burst, as the counter is defined; an exact log has none.
#[test]
fn b22_a_rate_one_window_after_the_burst() {
    let gate = counter(10, 60 * S);
    assert_eq!([gate.many(10, 59 * S), gate.many(10, 119_001 * MS)], [10, 9]);
    let gate = log(10, 60 * S);
    assert_eq!([gate.many(10, 59 * S), gate.many(10, 119_001 * MS)], [10, 10]);
}

#[test]
fn b23_two_bursts_around_the_turn() {
    let gate = fixed(100, S);
    assert_eq!([gate.many(100, 900 * MS), gate.many(100, 1_100 * MS)], [100, 100]);
    let gate = counter(100, S);
    assert_eq!([gate.many(100, 900 * MS), gate.many(100, 1_100 * MS)], [100, 10]);
    let gate = log(100, S);
    assert_eq!([gate.many(100, 900 * MS), gate.many(99, 1_100 * MS)], [100, 0]);
    assert_eq!(gate.ask(1_100 * MS), R(0, 800 * MS + TICK));
}

#[test]
fn b25_forgetting_clears_both_counts() {
    let gate = counter(10, 60 * S);
    assert_eq!(gate.many(10, 50 * S), 10);
    assert_eq!(gate.peeking(0, 70 * S), A(1));
    gate.forget();
    assert_eq!(gate.many(11, 70 * S), 10);
}

/// The same with something in the window that goes on.
#[test]
fn b25_forgetting_in_the_middle_of_a_window() {
    let gate = counter(10, 60 * S);
    assert_eq!([gate.many(10, 50 * S), gate.many(10, 110 * S)], [10, 8]);
    gate.forget();
    assert_eq!(gate.many(11, 110 * S), 10);

    let gate = fixed(10, 60 * S);
    assert_eq!(gate.many(11, 50 * S), 10);
    gate.forget();
    assert_eq!(gate.many(11, 50 * S), 10);
}

#[test]
fn x3_the_previous_part_is_not_floored() {
    let gate = counter(1, 10 * S);
    assert_eq!([gate.ask(9_900 * MS), gate.ask(10_100 * MS)], [A(0), R(0, 9_900 * MS)]);
}

#[test]
fn x4_a_request_is_part_of_the_estimate() {
    let gate = counter(10, 10 * S);
    assert_eq!([gate.many(9, 0), gate.many(2, 11 * S)], [9, 1]);
}
