//! Faults of memory that users reported of other rate limiters; the numbers are those of the collection.

use super::*;
use std::{
    sync::{
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

fn spent_clients_stay_spent<L: Clients>(when_full: WhenFull) {
    let limiter = L::build(quota(5, 60 * S), 10_000, when_full);
    let allowed = (0..6).filter(|_| limiter.check(0, 0, 1).is_allowed()).count();
    assert_eq!(allowed, 5);
    for key in 1..=10_001 {
        let _ = limiter.check(key, S, 1);
    }
    let told = limiter.check(0, 2 * S, 1);
    // The counter lets one through as soon as a fifth of the next window is over; a unit of the log stays a tick longer.
    let wait = match L::rule(5, 60 * S) {
        Rule::Counter => (60 + 12 - 2) * S,
        Rule::Fixed => (60 - 2) * S,
        Rule::Log { tick } => (60 - 2) * S + tick,
    };
    let exact = Duration::from_nanos(wait);
    assert_eq!((told.remaining(), told.retry_after()), (0, Some(exact)), "{told:?}");
    let (capacity, bytes, most) = limiter.sizes();
    assert!(limiter.tracked_at(2 * S) <= capacity && bytes <= most);
}

#[test]
fn b73_other_keys_do_not_push_a_client_out() {
    for when_full in [WhenFull::Refuse, WhenFull::AllowUntracked, WhenFull::Share] {
        spent_clients_stay_spent::<Counters>(when_full);
        spent_clients_stay_spent::<Windows>(when_full);
        spent_clients_stay_spent::<Logs>(when_full);
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
    fn run<L: Clients>() {
        let limiter = L::build(quota(5, 10 * S), 100, WhenFull::Refuse);
        assert!(limiter.check(1, 0, 1).is_allowed());
        let dead = span::<L>(5, 10 * S);
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
    run::<Counters>();
    run::<Windows>();
    run::<Logs>();
}

#[test]
fn a_table_larger_than_max_bytes_is_an_error_that_names_what_fits() {
    let builder = |clients| Limiter::<u64>::counter(quota(1, S)).max_clients(clients).max_bytes(1 << 20);
    let Err(error) = builder(1_000_000).build() else { panic!("25 MB in 1 MiB") };
    let BuildError::TooManyClients { asked: 1_000_000, max_clients, bytes: Some(bytes), cells: false } = error else {
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

/// What an error names works, for logs, too: fewer clients, more bytes, or the counter.
#[test]
fn logs_larger_than_max_bytes_are_an_error_that_names_the_ways_out() {
    let quota = quota(1_000, S);
    let log = |clients, bytes| Limiter::<u64>::log(quota).max_clients(clients).max_bytes(bytes).build();
    let Err(error) = log(1_000_000, 4 << 30) else { panic!("16 KiB and more for each of a million") };
    let BuildError::TooManyClients { asked: 1_000_000, max_clients, bytes: Some(bytes), cells: true } = error else {
        panic!("{error:?}")
    };
    for way_out in [&format!("at most {max_clients} clients"), "raise `max_bytes`", "use the counter"] {
        assert!(error.to_string().contains(way_out), "{error}");
    }
    // Of the 1,024 cells of the largest ring, and as many of those before it, and some slots to spare.
    assert!((16_000..23_000).contains(&(bytes / 1_000_000)), "{bytes}");
    assert!((4_usize << 30) / 23_000 < max_clients && max_clients < (4 << 30) / 16_000, "{max_clients}");
    let fewer = log(max_clients, 4 << 30).expect("the error said so");
    assert!(fewer.max_bytes() <= 4 << 30 && fewer.capacity() >= max_clients);
    assert!(log(max_clients + 1, 4 << 30).is_err());
    assert!(log(1_000_000, bytes).is_ok_and(|more| more.max_bytes() == bytes));
    assert!(log(1_000_000, bytes - 1).is_err());
    assert!(Limiter::<u64>::counter(quota).max_clients(1_000_000).max_bytes(4 << 30).build().is_ok());
    // Where nothing but more bytes helps, no number of clients is named.
    let Err(error) = log(1, 1_000_000) else { panic!("a segment in a megabyte") };
    assert!(matches!(error, BuildError::TooManyClients { max_clients: 0, .. }), "{error:?}");
    assert!(!error.to_string().contains("at most"), "{error}");
    assert!(matches!(log(usize::MAX, usize::MAX), Err(BuildError::TooManyClients { bytes: None, cells: true, .. })));
    // With the largest ring at once, and no smaller ones, a client takes half as much.
    let whole = Limiter::<u64>::log(quota).preallocate().max_clients(100_000).build().unwrap().max_bytes();
    let doubling = log(100_000, 4 << 30).unwrap().max_bytes();
    assert!(whole * 100 < doubling * 55, "{whole} and {doubling} bytes");
}

/// All the clients that there is room for, each with all the cells that it can need: as many bytes as there may be, and
/// none of them after the clients have expired or were forgotten.
#[test]
fn the_cells_of_clients_left_out_are_given_back() {
    for preallocates in [false, true] {
        let clock = ManualClock::new();
        let builder = Limiter::<u64>::log(quota(40, 1_000)).max_clients(1).clock(clock.clone());
        let limiter = if preallocates { builder.preallocate() } else { builder }.build().unwrap();
        let at = |now| clock.set(Nanos::from_nanos(now));
        let empty = {
            assert!(limiter.check(&0).is_allowed());
            limiter.forget_all();
            limiter.bytes_in_use()
        };
        let mut start = 10_000;
        for way in 0..3 {
            for step in 0..40 {
                at(start + step);
                for key in 0..SEGMENT as u64 {
                    assert!(limiter.check(&key).is_allowed());
                }
            }
            let full = limiter.bytes_in_use();
            // All that there may be, but for the cells of those who share a count: nobody does here.
            let cells = if preallocates { 64 } else { 4 + 8 + 16 + 32 + 64 };
            let shared = limiter.max_bytes() - full;
            assert!((8 * cells..=8 * cells + 5 * 64).contains(&shared), "{full} of {} bytes", limiter.max_bytes());
            assert!(full > SEGMENT * shared, "{full} bytes");
            match way {
                0 => {
                    at(start + 39 + 1_001);
                    limiter.sweep();
                }
                1 => limiter.forget_all(),
                _ => (0..SEGMENT as u64).for_each(|key| limiter.client(&key).forget()),
            }
            assert_eq!((limiter.tracked(), limiter.bytes_in_use()), (0, empty), "{way}");
            start += 10_000;
        }
    }
}

/// Two threads sweep, one of them between the requests that another sends: all return.
#[test]
fn b50_sweeps_and_requests_at_once() {
    sweeps_and_requests_at_once::<Counter>();
    sweeps_and_requests_at_once::<Log>();
}

fn sweeps_and_requests_at_once<A: Algorithm + Sync>()
where
    Timed<A>: Clients + Send + 'static,
{
    let (done, finished) = mpsc::channel();
    // Not a scope, which would wait for threads that hang.
    thread::spawn(move || {
        let limiter = Timed::<A>::build(quota(5, S), 1_000, WhenFull::Refuse);
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
