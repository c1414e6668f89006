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
    for when_full in [WhenFull::Refuse, WhenFull::AllowUntracked, WhenFull::Share] {
        let limiter: Windows = filled(2, 100, when_full, 0);
        for key in [5_000, 5_001, 5_002] {
            let (peek, check) = (limiter.peek(key, 0, 1), limiter.check(key, 0, 1));
            let told = |decision: Decision| match decision {
                Decision::Allowed(allowed) => (Answer::from(decision), allowed.is_tracked()),
                _ => (Answer::from(decision), true),
            };
            assert_eq!(told(peek), told(check), "{when_full:?}");
        }
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
    let limiter = Counters::build(quota(2, 100), 1, WhenFull::Refuse);
    for key in 0..5_000 {
        assert!(limiter.peek(key, 0, 1).is_allowed());
        assert!(limiter.check(key, 0, 0).is_allowed());
        assert!(matches!(limiter.check(key, 0, 3), Decision::Never(_)));
    }
    assert_eq!(limiter.tracked_at(0), 0);
    let (_, bytes, _) = limiter.sizes();
    assert!(bytes < 200, "{bytes}");
    for key in 0..SEGMENT as u64 {
        assert!(limiter.check(key, 0, 1).is_allowed());
    }
    assert!(is_full(&limiter.check(9_999, 0, 1)));
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
