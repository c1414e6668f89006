//! The same faults with real threads; the models in loom-tests try every interleaving of a few steps.

use super::*;
use std::{
    sync::{
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

/// Lets `threads` threads do `work(round)` at once, round by round; what each round's threads answered.
fn race<T: Send>(threads: usize, rounds: usize, work: impl Fn(usize) -> T + Sync) -> Vec<Vec<T>> {
    let arrived = AtomicUsize::new(0);
    let (work, arrived) = (&work, &arrived);
    let mut answers: Vec<Vec<T>> = (0..rounds).map(|_| Vec::new()).collect();
    thread::scope(|scope| {
        let runner = |_| {
            scope.spawn(move || {
                let one = |round| {
                    arrived.fetch_add(1, SeqCst);
                    while arrived.load(SeqCst) < (round + 1) * threads {
                        thread::yield_now();
                    }
                    work(round)
                };
                (0..rounds).map(one).collect::<Vec<T>>()
            })
        };
        let runners: Vec<_> = (0..threads).map(runner).collect();
        for runner in runners {
            for (round, answer) in runner.join().expect("no thread panics").into_iter().enumerate() {
                answers[round].push(answer);
            }
        }
    });
    answers
}

fn sorted(mut told: Vec<Told>) -> Vec<Told> {
    told.sort();
    told
}

#[test]
fn b44_two_threads_and_one_unit() {
    fn run<G: Algorithm + Sync>(build: impl Fn() -> Gate<G>, wait: u64)
    where
        Gate<G>: Sync,
    {
        let gates: Vec<_> = (0..1_000).map(|_| build()).collect();
        for told in race(2, gates.len(), |round| gates[round].ask(0)) {
            assert_eq!(sorted(told), [A(0), R(0, wait)]);
        }
    }
    run(|| log(1, 60 * S), 60 * S + TICK);
    run(|| fixed(1, 60 * S), 60 * S);
    run(|| counter(1, 60 * S), 120 * S);
}

/// The late thread's request counts in the newest window, whose number does not go back.
#[test]
fn b46_a_late_thread_does_not_roll_the_window_back() {
    let gate = fixed(10, S);
    assert_eq!(gate.many(3, 0), 3);
    let (read, reading) = mpsc::channel();
    let (go, gone_on) = mpsc::channel();
    thread::scope(|scope| {
        let gate = &gate;
        let late = scope.spawn(move || {
            let now = 999 * MS;
            read.send(()).expect("the main thread waits for it");
            gone_on.recv().expect("the main thread sends it");
            gate.ask(now)
        });
        reading.recv().expect("the late thread sends it");
        assert_eq!(gate.many(8, 1_200 * MS), 8);
        go.send(()).expect("the late thread waits for it");
        assert_eq!(late.join().expect("no thread panics"), A(1));
    });
    assert_eq!(gate.ask(1_200 * MS), A(0));
    assert_eq!(gate.ask(1_200 * MS), R(0, 800 * MS));
}

/// In whatever order: no more than the limit once window 1 was seen, whoever is late.
#[test]
fn b46_no_order_admits_more_than_the_limit() {
    let gates: Vec<_> = (0..500).map(|_| fixed(10, S)).collect();
    for gate in &gates {
        assert_eq!(gate.many(1, S), 1);
    }
    let told = race(3, gates.len(), |round| {
        let readings = [999 * MS, 1_200 * MS, 10 * MS, S];
        (0..8).filter(|k| matches!(gates[round].ask(readings[k % 4]), A(_))).count()
    });
    for allowed in told {
        assert_eq!(allowed.iter().sum::<usize>(), 9, "{allowed:?}");
    }
}

#[test]
fn b47_a_thousand_requests_over_ten_gates() {
    let gates: Vec<_> = (0..10).map(|_| log(4, DAY)).collect();
    let told = race(4, 250, |round| gates[round % 10].ask(DAY));
    let allowed = told.iter().flatten().filter(|told| matches!(told, A(_))).count();
    assert_eq!((allowed, told.iter().flatten().count()), (40, 1_000));
    for gate in &gates {
        assert_eq!(gate.peeking(0, DAY), A(0));
    }
}

#[test]
fn b49_two_threads_after_the_window() {
    fn run<G: Algorithm + Sync>(build: impl Fn() -> Gate<G>, at: u64, wait: u64)
    where
        Gate<G>: Sync,
    {
        let gates: Vec<_> = (0..1_000).map(|_| build()).collect();
        for gate in &gates {
            assert_eq!(gate.ask(0), A(0));
        }
        for told in race(2, gates.len(), |round| gates[round].ask(at)) {
            assert_eq!(sorted(told), [A(0), R(0, wait)]);
        }
    }
    run(|| log(1, S), 1_001 * MS, S + TICK);
    run(|| fixed(1, S), 1_001 * MS, 999 * MS);
    run(|| counter(1, S), 2_001 * MS, 1_999 * MS);
}

/// Each caller is told of his own step, not of the last one's.
#[test]
fn b52_ten_requests_at_once() {
    let gates: Vec<_> = (0..300).map(|_| log(3, 60 * S)).collect();
    for told in race(5, gates.len(), |round| [gates[round].ask(0), gates[round].ask(0)]) {
        let told = sorted(told.concat());
        assert_eq!(told[..3], [A(0), A(1), A(2)]);
        assert_eq!(told[3..], [R(0, 60 * S + TICK); 7]);
    }
}
