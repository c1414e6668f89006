//! Limits so large that a few bits are left for the number of the window, or the stamp, which wraps again and again: at
//! the largest a counter's horizon is 32 windows, a log's little more than four.

use super::*;

const MS: u64 = 1_000_000;

/// After any idle time, across several horizons, a client has what the definition says and no more.
fn idle_times<L: Clients>(length: u64) {
    let limit = largest_limit::<L>(length);
    let span = span::<L>(limit, length);
    for start in [0, 1, 15, 16, 31, 32, 33, 1_000_003] {
        for idle in 0..200 {
            for others in [false, true] {
                let limiter = L::build(quota(limit, length), 1, WhenFull::Refuse);
                let (then, now) = (start * length, (start + idle) * length);
                let is_over = now - then >= span;
                assert!(limiter.check(1, then, limit).is_allowed());
                if others {
                    // Another client's moves in between, some of them late.
                    for window in start..start + idle {
                        let _ = limiter.check(2 + window, window * length, 1);
                        limiter.forget(2 + window, then);
                    }
                }
                let due = format!("{limit} spent in window {start}, asked {idle} later, others {others}");
                assert_eq!(limiter.peek(1, now, 1).is_allowed(), is_over, "{due}");
                assert_eq!(limiter.check(1, now, limit).is_allowed(), is_over, "{due}");
                assert!(!limiter.check(1, now, 1).is_allowed(), "{due}: now it is spent");
            }
        }
    }
}

#[test]
fn no_stale_count_is_charged_and_no_live_one_lost() {
    idle_times::<Counters>(MS);
    idle_times::<Windows>(MS);
    idle_times::<Logs>(MS);
    // Ticks of 512 ns.
    idle_times::<Logs>(S);
}

/// A thread that was held up for many horizons neither erases a count nor is charged with one of another time.
fn late_readings<L: Clients>(length: u64) {
    let limit = largest_limit::<L>(length);
    for late in 0..200 {
        let limiter = L::build(quota(limit, length), 1, WhenFull::Refuse);
        let now = 1_000 * length;
        assert!(limiter.check(1, now, limit).is_allowed());
        let then = now - late * length;
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
    late_readings::<Counters>(MS);
    late_readings::<Windows>(MS);
    late_readings::<Logs>(MS);
    late_readings::<Logs>(S);
}

/// A client that comes as seldom as its log lets it, for many horizons, and then spends all of its limit at once, one by
/// one or in steps: nothing of the old stamps is charged, in the ring that it had and in those that it grows.
#[test]
fn a_log_that_was_sparse_for_many_horizons_is_exact() {
    let length = S;
    let limit = largest_limit::<Logs>(length);
    for step in [1, length / 50, length + 600, 3 * length / 2, 2 * length + 77] {
        let limiter = Logs::build(quota(limit, length), 1, WhenFull::Refuse);
        let mut now = 0;
        // Twelve ticks in a window first, so that there is a ring.
        for nth in 1..=12 {
            assert_eq!(limiter.check(1, now, 1).remaining(), limit - nth);
            now += length / 20;
        }
        for nth in 0..200 {
            now += step;
            assert!(limiter.check(1, now, 1).is_allowed(), "{nth} times every {step} ns");
            // Another client, whose array it is in, is renewed with it.
            assert!(limiter.check(2, now - step / 2, 1).is_allowed(), "{nth} times every {step} ns");
        }
        now += span::<Logs>(limit, length);
        for nth in 1..=40 {
            assert_eq!(limiter.check(1, now, 1).remaining(), limit - nth, "{nth} after all, every {step} ns");
            now += length / 50;
        }
        assert!(limiter.check(1, now, limit - 40).is_allowed(), "every {step} ns");
        assert!(!limiter.check(1, now, 1).is_allowed(), "every {step} ns");
    }
}
