//! Limits so large that a few bits are left for the number of the window, which wraps again and again.

use super::*;

const MS: u64 = 1_000_000;
/// Five bits of the counter's word are left: a horizon of 32 windows.
const COUNTER: u64 = (1 << 29) - 1;
/// The same of the fixed window's.
const FIXED: u64 = (1 << 58) - 1;

/// After any idle time, across several horizons, a client has what the definition says and no more.
fn idle_times<L: Clients>(limit: u64, lives: u64) {
    for start in [0, 1, 15, 16, 31, 32, 33, 1_000_003] {
        for idle in 0..200 {
            for others in [false, true] {
                let limiter = L::build(quota(limit, MS), 1, WhenFull::Refuse);
                let (then, now) = (start * MS, (start + idle) * MS);
                assert!(limiter.check(1, then, limit).is_allowed());
                if others {
                    // Another client's moves in between, some of them late.
                    for window in start..start + idle {
                        let _ = limiter.check(2 + window, window * MS, 1);
                        limiter.forget(2 + window, then);
                    }
                }
                let due = format!("{limit} spent in window {start}, asked {idle} later, others {others}");
                assert_eq!(limiter.peek(1, now, 1).is_allowed(), idle >= lives, "{due}");
                assert_eq!(limiter.check(1, now, limit).is_allowed(), idle >= lives, "{due}");
                assert!(!limiter.check(1, now, 1).is_allowed(), "{due}: now it is spent");
            }
        }
    }
}

#[test]
fn no_stale_count_is_charged_and_no_live_one_lost() {
    idle_times::<Counters>(COUNTER, 2);
    idle_times::<Windows>(FIXED, 1);
}

/// A thread that was held up for many horizons neither erases a count nor is charged with one of another time.
fn late_readings<L: Clients>(limit: u64) {
    for late in 0..200 {
        let limiter = L::build(quota(limit, MS), 1, WhenFull::Refuse);
        let now = 1_000 * MS;
        assert!(limiter.check(1, now, limit).is_allowed());
        let then = now - late * MS;
        assert!(!limiter.check(1, then, 1).is_allowed(), "{late} windows late");
        // A move by a late reading keeps it.
        for other in 2..20 {
            assert!(limiter.check(other, then, limit).is_allowed(), "{late} windows late: a new client");
            assert!(!limiter.check(other, then, 1).is_allowed(), "{late} windows late: it is spent");
        }
        limiter.forget(2, then);
        limiter.sweep_at(then);
        for client in [1, 3, 19] {
            assert!(!limiter.check(client, then, 1).is_allowed(), "{late} windows late, after moves: {client}");
            assert!(!limiter.check(client, now, 1).is_allowed(), "{late} windows late, after moves: {client}");
        }
        assert_eq!(limiter.tracked_at(now), 18, "all but the one that was forgotten");
    }
}

#[test]
fn late_threads_change_nothing() {
    late_readings::<Counters>(COUNTER);
    late_readings::<Windows>(FIXED);
}
