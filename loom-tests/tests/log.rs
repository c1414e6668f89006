//! The log: its ring, and whoever reads it while it turns and grows.

use loom_tests::{
    Ask::{self, Check, Peek},
    Race, Truth, nothing_stale, with_a_running_clock,
};
use slidegate::{Gate, Log, Quota};
use std::time::Duration;

/// A log of limit `L` and a window of `W` nanoseconds, which are its ticks.
fn log<const L: u64, const W: u64>() -> Gate<Log> {
    Gate::try_log(Quota::new(L, Duration::from_nanos(W))).unwrap()
}

fn race<const L: u64, const W: u64>(
    name: &'static str,
    preemptions: Option<usize>,
    before: &'static [Ask],
    threads: [&'static [Ask]; 2],
    after: &'static [Ask],
) -> Race<Log> {
    Race { name, preemptions, gate: log::<L, W>, truth: Truth::log(L, W), before, threads, after }
}

/// Two threads and one unit left: one is allowed (B44, B49).
#[test]
fn log_one_unit_left() {
    race::<1, 2>(
        "log_one_unit_left",
        None,
        &[Check(1, 1)],
        [&[Check(5, 1)], &[Check(5, 1)]],
        &[Check(7, 1), Check(8, 1)],
    )
    .run();
}

/// Mixed costs in one tick, with a cost of 0 and one above the limit.
#[test]
fn log_equal_stamps_and_mixed_costs() {
    race::<3, 2>(
        "log_equal_stamps_and_mixed_costs",
        Some(3),
        &[Check(4, 1)],
        [&[Check(5, 2), Check(5, 0)], &[Check(5, 1), Check(5, 4)]],
        &[Check(5, 1), Check(7, 1)],
    )
    .run();
}

/// A ring of four turns over while a thread reads it; a base read from a later lap would count too little.
#[test]
fn log_ring_of_four_wraps() {
    race::<2, 3>(
        "log_ring_of_four_wraps",
        Some(2),
        &[Check(0, 1), Check(2, 1), Check(4, 1), Check(6, 1)],
        [&[Check(8, 1), Check(10, 1), Check(12, 1), Check(14, 1)], &[Check(7, 1)]],
        &[Check(15, 1), Check(16, 1)],
    )
    .run();
}

/// One tick takes units from two threads while a third thread's view of it is settled.
#[test]
fn log_settles_the_whole_tick() {
    race::<3, 2>(
        "log_settles_the_whole_tick",
        Some(2),
        &[Check(0, 1), Check(1, 1)],
        [&[Check(3, 1), Check(4, 1), Check(6, 1)], &[Check(3, 1), Check(5, 1)]],
        &[Check(7, 1), Check(8, 3)],
    )
    .run();
}

/// Two threads meet the second tick together, where the ring starts.
#[test]
fn log_ring_starts() {
    race::<3, 4>(
        "log_ring_starts",
        Some(3),
        &[Check(1, 1)],
        [&[Check(2, 1)], &[Check(3, 2)]],
        &[Check(5, 1), Check(6, 1), Check(8, 3)],
    )
    .run();
}

/// The ring starts for a thread that is held up, while the log goes on without one.
#[test]
fn log_ring_starts_late() {
    race::<2, 2>(
        "log_ring_starts_late",
        Some(3),
        &[Check(1, 1)],
        [&[Check(4, 1), Check(7, 1), Check(8, 1)], &[Check(2, 1)]],
        &[Check(9, 1), Check(10, 2)],
    )
    .run();
}

/// The ring of four is full of live ticks and doubles under two threads.
#[test]
fn log_grows() {
    race::<6, 9>(
        "log_grows",
        Some(1),
        &[Check(1, 1), Check(2, 1), Check(3, 1)],
        [&[Check(4, 1), Check(5, 1)], &[Check(4, 1)]],
        &[Check(6, 1), Check(11, 1), Check(12, 1)],
    )
    .run();
}

/// A thread that doubles the ring is held up, while time passes and the old ring serves again.
#[test]
fn log_grows_late() {
    race::<6, 9>(
        "log_grows_late",
        Some(2),
        &[Check(1, 1), Check(2, 1), Check(3, 1)],
        [&[Check(15, 1), Check(16, 1), Check(17, 1), Check(18, 1)], &[Check(4, 1)]],
        &[Check(19, 1), Check(25, 1)],
    )
    .run();
}

/// Readings late by 1 tick, 2, a window and many windows.
#[test]
fn log_late_readings() {
    macro_rules! late {
        ($by:expr) => {
            race::<2, 3>(
                concat!("log_late_readings, by ", stringify!($by)),
                None,
                &[Check(1_000 - $by, 1)],
                [&[Check(1_000, 1), Check(1_001, 1)], &[Check(1_000 - $by, 1)]],
                &[Check(1_002, 1), Check(1_004, 1)],
            )
            .run()
        };
    }
    late!(1);
    late!(2);
    late!(3);
    late!(900);
}

/// Peeks confirm what they read like everybody else.
#[test]
fn log_peek_while_the_ring_wraps() {
    race::<2, 3>(
        "log_peek_while_the_ring_wraps",
        Some(2),
        &[Check(0, 1), Check(2, 1), Check(4, 1), Check(6, 1)],
        [&[Check(8, 1), Check(10, 1), Check(12, 1), Check(14, 1)], &[Peek(7, 1)]],
        &[],
    )
    .run();
}

/// A thread stops for ever anywhere in a turn of the ring.
#[test]
fn log_a_thread_stops_in_a_turn() {
    race::<2, 3>(
        "log_a_thread_stops_in_a_turn",
        Some(2),
        &[Check(0, 1), Check(2, 1), Check(4, 1), Check(6, 1)],
        [&[Check(9, 1), Check(11, 1)], &[Check(8, 1)]],
        &[Check(100, 2)],
    )
    .run_with_a_stop();
}

/// A thread stops for ever anywhere where the ring starts.
#[test]
fn log_a_thread_stops_where_the_ring_starts() {
    race::<3, 4>(
        "log_a_thread_stops_where_the_ring_starts",
        Some(1),
        &[Check(1, 1)],
        [&[Check(3, 1)], &[Check(2, 1)]],
        &[Check(100, 3)],
    )
    .run_with_a_stop();
}

/// A thread stops for ever anywhere where the ring doubles.
#[test]
fn log_a_thread_stops_where_the_ring_doubles() {
    race::<6, 9>(
        "log_a_thread_stops_where_the_ring_doubles",
        Some(1),
        &[Check(1, 1), Check(2, 1), Check(3, 1)],
        [&[Peek(4, 1)], &[Check(4, 1)]],
        &[Check(5, 1), Check(100, 6)],
    )
    .run_with_a_stop();
}

/// The clock runs inside the model, and its readings may be as late as the model lets them.
#[test]
fn log_with_a_running_clock() {
    with_a_running_clock("log_with_a_running_clock", Some(3), log::<2, 1>, Truth::log(2, 1), 10, [1, 1], &[]);
}

/// The promise, for the log: whoever was told of a request sees it counted until it is more than a window old.
#[test]
fn no_request_reads_a_stale_log() {
    let (told, reader) = ([Check(1, 1), Check(2, 1)], [Peek(1, 0), Peek(2, 1), Check(5, 1)]);
    let truth = Truth::log(2, 3);
    nothing_stale("no_request_reads_a_stale_log", Some(3), log::<2, 3>, truth, told, reader, Peek(5, 0));
}
