//! The algorithms of one word: the counter, and the fixed window where it differs.

use loom::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};
use loom_tests::{
    Ask::{Check, Forget, Peek},
    Client, CounterTruth, FixedTruth, History, LoomClock, Race, model,
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
        truth: CounterTruth::new(1, W),
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
                truth: CounterTruth::new(3, W),
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
        truth: CounterTruth::new(2, W),
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
        truth: CounterTruth::new(2, W),
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
        truth: FixedTruth::new(2, W),
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
        truth: CounterTruth::new(2, W),
        before: &[],
        threads: [&[Check(1, 1), Check(W + 2, 2)], &[Check(1, 1), Check(W, 1)]],
        after: &[Check(3 * W, 2)],
    }
    .run_with_a_stop();
}

/// Three threads at a turn-over with the clock running: mixed costs, and a reading may be as old as the model lets it.
#[test]
fn turnover_with_a_running_clock() {
    model("turnover_with_a_running_clock", None, || {
        let clock = LoomClock::new(W - 1);
        let gate = Arc::new(counter::<3>().with_clock(clock.clone()));
        let mut begin = Client::new(&*gate);
        begin.check_now(1);
        let threads: Vec<_> = [2, 1]
            .into_iter()
            .map(|cost| {
                let gate = Arc::clone(&gate);
                thread::spawn(move || {
                    let mut client = Client::new(&*gate);
                    client.check_now(cost);
                    client.records()
                })
            })
            .collect();
        clock.advance(1);
        clock.advance(W);
        let threads = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let mut end = Client::new(&*gate);
        end.check_now(1);
        end.ask(Peek(3 * W, 0));
        let history = History { before: begin.records(), threads, after: end.records(), ..History::default() };
        history.assert_linearizable(CounterTruth::new(3, W));
    });
}

/// The promise: whoever was told of a request sees it counted, in its window and, weighted, in the next.
#[test]
fn no_request_reads_a_stale_count() {
    model("no_request_reads_a_stale_count", None, || {
        let gate = Arc::new(counter::<2>());
        let told = Arc::new(AtomicBool::new(false));
        let teller = thread::spawn({
            let (gate, told) = (Arc::clone(&gate), Arc::clone(&told));
            move || {
                let mut client = Client::new(&*gate);
                client.ask(Peek(1, 0));
                let mut precedes = Vec::new();
                if told.load(Ordering::Acquire) {
                    precedes.push([(1, 1), (0, 1)]);
                }
                client.ask(Peek(1, 1));
                client.ask(Check(W, 1));
                (client.records(), precedes)
            }
        });
        let mut client = Client::new(&*gate);
        client.ask(Check(1, 1));
        client.ask(Check(1, 1));
        told.store(true, Ordering::Release);
        let (records, precedes) = teller.join().unwrap();
        let mut end = Client::new(&*gate);
        end.ask(Peek(W, 0));
        let history =
            History { threads: vec![records, client.records()], precedes, after: end.records(), ..History::default() };
        history.assert_linearizable(CounterTruth::new(2, W));
    });
}
