//! The algorithms of one word: the counter, and the fixed window where it differs.

use loom_tests::{
    Ask::{Check, Forget, Peek},
    Race, Truth, nothing_stale, with_a_running_clock,
};
use slidegate::{
    __loom::{narrow_counter, narrow_fixed_window},
    Counter, FixedWindow, Gate, Quota,
};
use std::time::Duration;

/// Nanoseconds.
const W: u64 = 4;

fn quota(limit: u64) -> Quota {
    Quota::new(limit, Duration::from_nanos(W))
}

/// An epoch of 3 bits: it wraps after 8 windows, and reads up to 3 as age and up to 4 as lateness.
fn counter<const L: u64>() -> Gate<Counter> {
    narrow_counter(quota(L), 30).unwrap()
}

/// An epoch of 51 bits, in which a thread may be late by any number of windows.
fn wide_counter<const L: u64>() -> Gate<Counter> {
    narrow_counter(quota(L), 6).unwrap()
}

fn fixed<const L: u64>() -> Gate<FixedWindow> {
    narrow_fixed_window(quota(L), 60).unwrap()
}

/// Two threads and one unit left: one is allowed (B44).
#[test]
fn one_unit_left() {
    Race {
        name: "one_unit_left",
        preemptions: None,
        gate: counter::<1>,
        truth: Truth::counter(1, W),
        before: &[],
        threads: [&[Check(1, 1)], &[Check(1, 1)]],
        after: &[Peek(1, 0)],
    }
    .run();
}

/// A thread that read its clock so many windows ago meets a client that moved on; it may be refused, but never brings
/// time back.
macro_rules! late {
    ($name:ident, $windows:expr, $gate:expr) => {
        #[test]
        fn $name() {
            Race {
                name: stringify!($name),
                preemptions: None,
                gate: $gate,
                truth: Truth::counter(3, W),
                before: &[Check(W - 1, 2)],
                threads: [
                    &[Check(W - 1 + $windows * W, 2), Check(W - 1 + $windows * W, 1)],
                    &[Check(W - 1, 1), Check(W - 1, 1)],
                ],
                after: &[Peek(W - 1 + $windows * W, 0), Peek(W + $windows * W, 1)],
            }
            .run();
        }
    };
}

late!(late_by_one_window, 1, counter::<3>);
late!(late_by_two_windows, 2, counter::<3>);
late!(late_by_three_windows, 3, counter::<3>);
late!(late_by_many_windows, 1_000, wide_counter::<3>);

/// Forgetting loses the counts and nothing else: a late thread cannot bring back the window before.
#[test]
fn forgetting_races_checks() {
    Race {
        name: "forgetting_races_checks",
        preemptions: None,
        gate: counter::<2>,
        truth: Truth::counter(2, W),
        before: &[Check(1, 2), Check(W + 2, 1)],
        threads: [&[Forget, Check(W + 3, 1)], &[Check(1, 2), Check(W + 2, 1)]],
        after: &[Peek(2 * W, 0), Peek(1, 0)],
    }
    .run();
}

/// Forgetting in one thread cannot take back the turn-over of another.
#[test]
fn forgetting_races_a_turnover() {
    Race {
        name: "forgetting_races_a_turnover",
        preemptions: None,
        gate: counter::<2>,
        truth: Truth::counter(2, W),
        before: &[Check(1, 2)],
        threads: [&[Forget], &[Check(W + 2, 1), Check(1, 2)]],
        after: &[Peek(1, 0), Peek(2 * W, 0)],
    }
    .run();
}

/// A late thread is counted in the window that was recorded (B46), and a fresh unit goes once (B49).
#[test]
fn fixed_window_late_and_fresh() {
    Race {
        name: "fixed_window_late_and_fresh",
        preemptions: None,
        gate: fixed::<2>,
        truth: Truth::fixed(2, W),
        before: &[Check(1, 2)],
        threads: [&[Check(2 * W, 1), Check(2 * W + 1, 1)], &[Check(W - 1, 1), Peek(2 * W, 1)]],
        after: &[Peek(0, 0)],
    }
    .run();
}

/// A thread that stops for ever anywhere in a check holds up nobody, and takes at most what it asked for; all of it has
/// come back two windows later.
#[test]
fn a_thread_stops() {
    Race {
        name: "a_thread_stops",
        preemptions: None,
        gate: counter::<2>,
        truth: Truth::counter(2, W),
        before: &[],
        threads: [&[Check(1, 1), Check(W + 2, 2)], &[Check(1, 1), Check(W, 1)]],
        after: &[Check(3 * W, 2)],
    }
    .run_with_a_stop();
}

/// Three threads at a turn-over with the clock running: mixed costs, and a reading may be as old as the model lets it.
#[test]
fn turnover_with_a_running_clock() {
    let (truth, after) = (Truth::counter(3, W), &[Peek(3 * W, 0)]);
    with_a_running_clock("turnover_with_a_running_clock", None, counter::<3>, truth, W - 1, [1, W], after);
}

/// The promise: whoever was told of a request sees it counted, in its window and, weighted, in the next.
#[test]
fn no_request_reads_a_stale_count() {
    let (told, reader) = ([Check(1, 1), Check(1, 1)], [Peek(1, 0), Peek(1, 1), Check(W, 1)]);
    let truth = Truth::counter(2, W);
    nothing_stale("no_request_reads_a_stale_count", None, counter::<2>, truth, told, reader, Peek(W, 0));
}
