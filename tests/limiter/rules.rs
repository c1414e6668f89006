//! Rules of the table, each as the smallest input that shows it.

use super::*;

/// Fills a segment with clients that are live for the window of `at`.
fn filled<L: Clients>(limit: u64, window: u64, when_full: WhenFull, at: u64) -> L {
    let limiter = L::build(quota(limit, window), 1, when_full);
    for key in 0..SEGMENT as u64 {
        assert!(limiter.check(key, at, 1).is_allowed());
    }
    limiter
}

/// A client that was left out of a copy does not go back in time: its effective now is the birth at least.
#[test]
fn a_client_left_out_reads_the_birth() {
    let limiter = Windows::build(quota(2, 100), 1, WhenFull::Refuse);
    assert!(limiter.check(1, 0, 2).is_allowed());
    // Three fit the first array; the fourth moves it, at a time when the first client has expired.
    for key in 2..5 {
        assert!(limiter.check(key, 150, 1).is_allowed());
    }
    assert!(limiter.check(1, 50, 2).is_allowed(), "its old count is over at the birth");
    let told = limiter.check(1, 50, 1);
    // Its record is of the window that starts at 100.
    assert_eq!(told.retry_after(), Some(Duration::from_nanos(100)), "counted at 150, not at 50: {told:?}");
}

/// Forgetting gives back the units, not the time.
#[test]
fn a_forgotten_client_does_not_go_back_in_time() {
    let limiter = Windows::build(quota(2, 100), 1, WhenFull::Refuse);
    assert!(limiter.check(1, 350, 2).is_allowed());
    limiter.forget(1, 0);
    assert!(limiter.check(1, 0, 2).is_allowed());
    assert!(!limiter.check(1, 299, 1).is_allowed(), "it was counted in the window of 300");
    assert!(limiter.check(1, 400, 1).is_allowed());
    limiter.forget_all_at(0);
    assert!(!limiter.check(1, 0, 3).is_allowed() && limiter.check(1, 0, 2).is_allowed());
    assert!(!limiter.check(1, 399, 1).is_allowed(), "it was counted in the window of 400");
}

/// A client with a record is bounded by that record alone: what other clients read does not move its time.
#[test]
fn a_known_client_is_bounded_by_its_own_record() {
    let limiter = Counters::build(quota(2, 100), 1, WhenFull::Refuse);
    assert!(limiter.check(1, 100, 1).is_allowed());
    for key in 2..6 {
        // The move is at 190.
        assert!(limiter.check(key, 190, 1).is_allowed());
    }
    let Decision::Allowed(allowed) = limiter.peek(1, 110, 0) else { panic!("one of two is used") };
    assert_eq!(allowed.full_reset(), Duration::from_nanos(190), "from 110, as a limiter of its own answers");
}

/// A peek answers what a check would: at a full table that is `Full`.
#[test]
fn a_peek_at_a_full_table_answers_as_the_check() {
    fn run<L: Clients>(when_full: WhenFull) {
        let limiter: L = filled(2, 100, when_full, 0);
        for key in [5_000, 5_001, 5_002] {
            let (peek, check) = (limiter.peek(key, 0, 1), limiter.check(key, 0, 1));
            let told = |decision: Decision| match decision {
                Decision::Allowed(allowed) => (Answer::from(decision), allowed.is_tracked()),
                _ => (Answer::from(decision), true),
            };
            assert_eq!(told(peek), told(check), "{when_full:?}");
        }
    }
    for when_full in [WhenFull::Refuse, WhenFull::AllowUntracked, WhenFull::Share] {
        run::<Windows>(when_full);
        run::<Logs>(when_full);
    }
}

/// Those who share a count are forgotten with the others, and their time does not go back either.
#[test]
fn who_shares_does_not_go_back_in_time() {
    let limiter: Counters = filled(2, 100, WhenFull::Share, 0);
    assert!(limiter.check(5_000, 150, 2).is_allowed());
    assert!(!limiter.check(5_001, 150, 1).is_allowed(), "they share one count");
    limiter.forget_all_at(0);
    assert!(limiter.check(5_000, 0, 2).is_allowed(), "it was forgotten");
    // The record that was left out was made in the window of 100, so this one was too and nothing of it fades at 199.
    assert_eq!(limiter.peek(5_000, 199, 0).remaining(), 0);
}

/// A peek, a `never` and a cost of 0 take no slot.
#[test]
fn only_what_is_recorded_takes_a_slot() {
    fn run<L: Clients>() {
        let limiter = L::build(quota(2, 100), 1, WhenFull::Refuse);
        for key in 0..5_000 {
            assert!(limiter.peek(key, 0, 1).is_allowed());
            assert!(limiter.check(key, 0, 0).is_allowed());
            assert!(matches!(limiter.check(key, 0, 3), Decision::Never(_)));
        }
        assert_eq!(limiter.tracked_at(0), 0);
        assert_eq!(limiter.sizes().1, size_of::<usize>(), "not even an array");
        for key in 0..SEGMENT as u64 {
            assert!(limiter.check(key, 0, 1).is_allowed());
        }
        assert!(is_full(&limiter.check(9_999, 0, 1)));
    }
    run::<Counters>();
    run::<Windows>();
    run::<Logs>();
}

/// Room is there again at the first death, not a nanosecond before.
#[test]
fn a_full_table_has_room_from_the_first_death_on() {
    let limiter = Windows::build(quota(2, 100), 1, WhenFull::Refuse);
    assert!(limiter.check(0, 99, 1).is_allowed());
    for key in 1..SEGMENT as u64 {
        assert!(limiter.check(key, 100 + key % 7, 1).is_allowed());
    }
    // The first client's slot is free at 100: the table was never full.
    assert!(limiter.check(5_000, 100, 1).is_allowed());
    assert!(is_full(&limiter.check(5_001, 199, 1)));
    assert_eq!(limiter.tracked_at(199), SEGMENT);
    assert!(limiter.check(5_001, 200, 1).is_allowed());
    assert_eq!(limiter.tracked_at(200), 1);
}

/// The same of logs: whoever was left out, forgotten, or has never been there reads the birth, and so do the others,
/// whose stamps can only be read near it.
#[test]
fn clients_of_a_log_read_the_birth() {
    let limiter = Logs::build(quota(2, 100), 1, WhenFull::Refuse);
    assert!(limiter.check(1, 0, 2).is_allowed());
    for key in 2..5 {
        assert!(limiter.check(key, 150, 1).is_allowed());
    }
    // The move was at 150; the first client has expired at 101.
    assert!(limiter.check(1, 50, 2).is_allowed(), "its old units are over at the birth");
    let told = limiter.check(1, 50, 1);
    assert_eq!(told.retry_after(), Some(Duration::from_nanos(101)), "counted at 150, not at 50: {told:?}");
    let Decision::Refused(refused) = told else { panic!("it is spent") };
    assert_eq!(refused.retry_at().as_nanos(), 251);

    // Forgetting gives back the units, not the time: the record was made at 150.
    limiter.forget(1, 0);
    assert!(limiter.check(1, 0, 2).is_allowed());
    assert!(!limiter.check(1, 250, 1).is_allowed() && limiter.check(1, 251, 1).is_allowed());
    limiter.forget_all_at(0);
    assert!(limiter.check(1, 0, 2).is_allowed());
    assert!(!limiter.check(1, 351, 1).is_allowed() && limiter.check(1, 352, 1).is_allowed());

    // Known clients, too: a late reading of this one counts at the birth, where another client moved the segment.
    let limiter = Logs::build(quota(2, 100), 1, WhenFull::Refuse);
    assert!(limiter.check(1, 100, 1).is_allowed());
    for key in 2..6 {
        assert!(limiter.check(key, 190, 1).is_allowed());
    }
    let Decision::Allowed(allowed) = limiter.peek(1, 110, 0) else { panic!("one of two is used") };
    assert_eq!(allowed.full_reset(), Duration::from_nanos(11), "from 190 to 201");
}

/// A log's unit is over a tick after the window, and room is there again from then on, not a nanosecond before.
#[test]
fn a_full_table_of_logs_has_room_from_the_first_death_on() {
    let limiter: Logs = filled(2, 100, WhenFull::Refuse, 0);
    assert!(is_full(&limiter.check(5_000, 100, 1)));
    assert!(limiter.check(5_000, 101, 1).is_allowed());
    assert_eq!(limiter.tracked_at(101), 1);
}

/// Many clients at one reading are answered like one after the other: in their order, the same one twice, in batches of
/// more than a limiter reads at a time, while the segment grows on the way and fills up.
#[test]
fn many_at_once_are_answered_in_their_order() {
    fn run<L: Clients>() {
        for way in [Way::Client, Way::Handle] {
            let limiter = L::build(quota(2, 100), 1, WhenFull::Refuse);
            assert!(limiter.check_many(way, &[], 0).is_empty());
            let told = limiter.check_many(way, &[7, 7, 8, 7, 8], 0);
            assert_eq!(told.iter().map(Decision::remaining).collect::<Vec<_>>(), [1, 0, 1, 0, 0]);
            assert_eq!(told.iter().filter(|decision| decision.is_allowed()).count(), 4);
            let keys: Vec<_> = (100..2_000).flat_map(|key| [key, key]).collect();
            let told = limiter.check_many(way, &keys, 0);
            for (nth, decision) in told.iter().enumerate() {
                let has_room = nth / 2 < SEGMENT - 2;
                assert_eq!((decision.is_allowed(), is_full(decision)), (has_room, !has_room), "{nth}: {decision:?}");
                assert!(!has_room || (decision.remaining() == 0) == (nth % 2 == 1), "{nth}: {decision:?}");
            }
            assert_eq!(limiter.tracked_at(0), SEGMENT);
        }
    }
    run::<Counters>();
    run::<Windows>();
    run::<Logs>();
}

/// A handle that is kept, idle or busy, holds up nobody and nothing: what others replace meanwhile is freed.
#[test]
fn an_idle_handle_keeps_nothing() {
    fn run<L: Clients>(limiter: &L, keep: impl Fn(&L)) {
        let twin = L::build(quota(2, 100), 1, WhenFull::Refuse);
        for round in 0..20 {
            let now = 1_000 * round;
            for limiter in [limiter, &twin] {
                for key in 0..100 {
                    assert!(limiter.check(key, now, 1).is_allowed() && limiter.check(key, now + 1, 1).is_allowed());
                }
            }
            keep(limiter);
            assert_eq!(limiter.sizes().1, twin.sizes().1, "{round}");
        }
    }
    let logs = Logs::build(quota(2, 100), 1, WhenFull::Refuse);
    let handle = logs.limiter.handle();
    run(&logs, |_| assert!(!handle.client(&0).at(Nanos::ZERO).check().is_allowed()));
    let windows = Windows::build(quota(2, 100), 1, WhenFull::Refuse);
    let handle = windows.limiter.handle();
    run(&windows, |_| assert!(!handle.client(&0).at(Nanos::ZERO).check().is_allowed()));
}

/// A peek or a request that is never allowed, however far ahead, changes nothing: not for its client, nor for another of its
/// segment, though their array has grown too old by then to record anything in.
#[test]
fn a_look_ahead_changes_nothing() {
    fn run<L: Clients>(limit: u64) {
        let limiter = L::build(quota(limit, S), 1, WhenFull::Refuse);
        for client in [1, 2] {
            assert!(limiter.check(client, 0, limit).is_allowed());
        }
        for ahead in [S + S / 2, 2 * S, 20 * S, 3_600 * S] {
            for client in [1, 3] {
                assert!(limiter.peek(client, ahead + S, limit).is_allowed(), "limit {limit}, at {ahead}");
                assert!(limiter.peek(client, ahead, 0).is_allowed(), "limit {limit}, at {ahead}");
                assert!(!limiter.check(client, ahead, limit + 1).is_allowed());
            }
            for client in [1, 2] {
                assert!(!limiter.check(client, S / 2, 1).is_allowed(), "limit {limit}, after a look at {ahead}");
            }
            assert!(limiter.check(ahead, S / 2, limit).is_allowed(), "limit {limit}: a new client");
            assert!(!limiter.check(ahead, S / 2 + 1, 1).is_allowed(), "limit {limit}: it was recorded at its time");
        }
    }
    run::<Logs>(131_071);
    run::<Counters>((1 << 29) - 1);
    run::<Windows>((1 << 58) - 1);
}
