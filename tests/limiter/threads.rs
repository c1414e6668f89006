//! Real threads on one segment that is moved all the time; `tests/histories` asks more of them.

use super::*;
use std::{sync::Barrier, thread};

/// Ten clients at one instant, while others force moves: 40 of 1,000 are allowed.
#[test]
fn b47_a_thousand_requests_over_ten_clients() {
    fn run<L: Clients>() {
        for _ in 0..20 {
            let limiter = L::build(quota(4, 86_400 * S), 1, WhenFull::Refuse);
            let start = Barrier::new(4);
            let (limiter, start) = (&limiter, &start);
            let runner = |thread: u64| {
                start.wait();
                let one = |nth: u64| {
                    let stranger = 1_000 + thread * 250 + nth;
                    let _ = limiter.check(stranger, S, 1);
                    if nth.is_multiple_of(3) {
                        limiter.forget(stranger, S);
                    }
                    u64::from(limiter.check(nth % 10, S, 1).is_allowed())
                };
                (0..250).map(one).sum::<u64>()
            };
            let runner = &runner;
            let allowed: u64 = thread::scope(|scope| {
                let runners: Vec<_> = (0..4).map(|thread| scope.spawn(move || runner(thread))).collect();
                runners.into_iter().map(|runner| runner.join().expect("no thread panics")).sum()
            });
            assert_eq!(allowed, 40);
            for client in 0..10 {
                assert_eq!(limiter.peek(client, S, 0).remaining(), 0);
            }
        }
    }
    run::<Counters>();
    run::<Windows>();
    run::<Logs>();
}

/// Threads come and go, and each leaves its record to another: nothing that was replaced stays for good.
#[test]
fn short_lived_threads_leave_nothing_behind() {
    nothing_is_left_behind::<Windows>();
    nothing_is_left_behind::<Logs>();
}

fn nothing_is_left_behind<L: Clients>() {
    let limiter = L::build(quota(4, S), 1, WhenFull::Refuse);
    let twin = L::build(quota(4, S), 1, WhenFull::Refuse);
    let limiter = &limiter;
    for round in 0..50 {
        thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    let first = 1 + 100 * thread;
                    for (tick, key) in (0..3).flat_map(|tick| (first..first + 50).map(move |key| (tick, key))) {
                        assert!(limiter.check(key, 2 * round * S + tick, 1).is_allowed());
                    }
                    limiter.forget(first, 2 * round * S);
                });
            }
        });
        let (_, bytes, most) = limiter.sizes();
        // Each of the four may keep what another was reading when it replaced it.
        assert!(bytes <= 5 * most, "{bytes} of {most} after {round} rounds");
    }
    all_comes_back(limiter, &twin, 200 * S);
}

/// Two threads start or double the ring of one client at once, some of them in copies of which one is published: what
/// loses is given back.
#[test]
fn rings_that_lose_a_race_are_given_back() {
    let limiter = Logs::build(quota(40, S), 1, WhenFull::Refuse);
    let twin = Logs::build(quota(40, S), 1, WhenFull::Refuse);
    let limiter = &limiter;
    for round in 0..150 {
        let start = &Barrier::new(3);
        thread::scope(|scope| {
            for thread in 1..=3 {
                scope.spawn(move || {
                    start.wait();
                    for (tick, key) in (0..10).flat_map(|tick| (0..30).map(move |key| (tick, key))) {
                        let now = 2 * round * S + tick;
                        let _ = limiter.check(key, now, 1);
                        if (key + tick) % 5 == 0 {
                            // All slots are frozen on the way.
                            assert!(limiter.check(1_000 * thread, now, 1).is_allowed());
                            limiter.forget(1_000 * thread, now);
                        }
                    }
                });
            }
        });
    }
    all_comes_back(limiter, &twin, 400 * S);
}

/// In the end a limiter takes as many bytes as another that knows one client.
fn all_comes_back<L: Clients>(limiter: &L, twin: &L, now: u64) {
    assert!(twin.check(1, now, 1).is_allowed());
    // Records pass on to whoever comes next, and a move frees what its record keeps.
    let mut bytes = 0;
    for round in 0..200 {
        let all = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    all.wait();
                    limiter.forget_all_at(now);
                    all.wait();
                });
            }
        });
        limiter.forget_all_at(now);
        assert!(limiter.check(1, now, 1).is_allowed());
        (_, bytes, _) = limiter.sizes();
        if bytes == twin.sizes().1 {
            println!("{bytes} bytes after {} rounds", round + 1);
            return;
        }
    }
    panic!("{bytes} bytes, where one array takes {}", twin.sizes().1);
}
