//! Faults of memory that users reported of other rate limiters; the numbers are those of the collection.

use super::*;
use slidegate::BuildError;
use std::{
    sync::{
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

fn spent_clients_stay_spent<L: Clients>(when_full: WhenFull, lives: u64) {
    let limiter = L::build(quota(5, 60 * S), 10_000, when_full);
    let allowed = (0..6).filter(|_| limiter.check(0, 0, 1).is_allowed()).count();
    assert_eq!(allowed, 5);
    for key in 1..=10_001 {
        let _ = limiter.check(key, S, 1);
    }
    let wait = Duration::from_secs(lives * 60 - 2);
    let told = limiter.check(0, 2 * S, 1);
    // The counter lets one through as soon as a fifth of the next window is over.
    let exact = if L::RULE == Rule::Counter { Duration::from_secs(60 + 12 - 2) } else { wait };
    assert_eq!((told.remaining(), told.retry_after()), (0, Some(exact)), "{told:?}");
    let (capacity, bytes, most) = limiter.sizes();
    assert!(limiter.tracked_at(2 * S) <= capacity && bytes <= most);
}

#[test]
fn b73_other_keys_do_not_push_a_client_out() {
    for when_full in [WhenFull::Refuse, WhenFull::AllowUntracked, WhenFull::Share] {
        spent_clients_stay_spent::<Counters>(when_full, 2);
        spent_clients_stay_spent::<Windows>(when_full, 1);
    }
}

/// A table of no clients is an error, never a limiter that lets all through.
#[test]
fn b74_a_capacity_of_nothing() {
    let built = Limiter::<u64>::counter(quota(1, S)).max_clients(0).build();
    assert!(built.is_err(), "built with {} slots", built.map_or(0, |limiter| limiter.capacity()));
}

#[test]
fn b76_a_client_is_tracked_until_nothing_of_it_counts() {
    fn run<L: Clients>(lives: u64) {
        let limiter = L::build(quota(5, 10 * S), 100, WhenFull::Refuse);
        assert!(limiter.check(1, 0, 1).is_allowed());
        let dead = lives * 10 * S;
        for (at, tracked) in [(5 * S, 1), (dead - 1, 1), (dead, 0)] {
            let twin = L::build(quota(5, 10 * S), 100, WhenFull::Refuse);
            assert!(twin.check(1, 0, 1).is_allowed());
            limiter.sweep_at(at);
            assert_eq!((limiter.tracked_at(at), twin.tracked_at(at)), (tracked, tracked), "at {at}");
            for cost in [1, 5] {
                let (swept, not) = (limiter.peek(1, at, cost), twin.peek(1, at, cost));
                assert_eq!(Answer::from(swept), Answer::from(not), "at {at}: a sweep changes no answer");
            }
        }
    }
    run::<Counters>(2);
    run::<Windows>(1);
}

#[test]
fn a_table_larger_than_max_bytes_is_an_error_that_names_what_fits() {
    let builder = |clients| Limiter::<u64>::counter(quota(1, S)).max_clients(clients).max_bytes(1 << 20);
    let Err(error) = builder(1_000_000).build() else { panic!("25 MB in 1 MiB") };
    let BuildError::TooManyClients { asked: 1_000_000, max_clients, bytes: Some(bytes) } = error else {
        panic!("{error:?}")
    };
    assert!(bytes > 1 << 20 && error.to_string().contains(&max_clients.to_string()), "{error}");
    let limiter = builder(max_clients).build().expect("the error said so");
    assert!(limiter.max_bytes() <= 1 << 20 && limiter.capacity() >= max_clients);
    assert!(builder(max_clients + 1).build().is_err());
    assert!(builder(usize::MAX).build().is_err());
    for clients in [1, 682, 683, 684, 1_000, 99_999, 1_000_000] {
        let limiter = Limiter::<u64>::counter(quota(1, S)).max_clients(clients).build().unwrap();
        let capacity = limiter.capacity();
        assert!(capacity >= clients && capacity <= (clients * 132 / 100).max(2 * SEGMENT), "{capacity} for {clients}");
        assert!(clients < 100_000 || capacity <= clients * 132 / 100, "{capacity} for {clients}");
    }
}

/// Two threads sweep, one of them between the requests that another sends: all return.
#[test]
fn b50_sweeps_and_requests_at_once() {
    let (done, finished) = mpsc::channel();
    // Not a scope, which would wait for threads that hang.
    thread::spawn(move || {
        let limiter = Counters::build(quota(5, S), 1_000, WhenFull::Refuse);
        for key in 0..1_000 {
            assert!(limiter.check(key, 0, 1).is_allowed());
        }
        limiter.clock.set(Nanos::from_nanos(10 * S));
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let (limiter, over) = (&limiter.limiter, &over);
            for _ in 0..2 {
                scope.spawn(move || {
                    while !over.load(SeqCst) {
                        limiter.sweep();
                        let _ = limiter.tracked();
                    }
                });
            }
            let requests = scope.spawn(move || {
                for round in 0..200 {
                    for key in 5_000..5_100 {
                        assert_eq!(limiter.check(&key).is_allowed(), round < 5, "{key}, {round}");
                    }
                    limiter.sweep();
                }
            });
            let sent = requests.join();
            over.store(true, SeqCst);
            sent.expect("every request is answered as it should be");
        });
        limiter.limiter.sweep();
        done.send(limiter.limiter.tracked()).expect("the test waits for it");
    });
    let tracked = finished.recv_timeout(Duration::from_secs(5)).expect("all return within 5 s");
    assert_eq!(tracked, 100, "those of the second thread only");
}
