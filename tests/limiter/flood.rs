//! Many more keys than the table holds.

use super::*;

/// Keys of an ordinary run; the 50 million fit a table of 1,000,000 clients.
const ORDINARY: u64 = 2_000_000;

const SPENT: u64 = u64::MAX;
const ROOMY: u64 = u64::MAX - 1;

fn flood<L: Clients>(lives: u64) {
    let keys = random::number_from("SLIDEGATE_FLOOD").unwrap_or(ORDINARY);
    let max_clients = if keys > ORDINARY { 1_000_000 } else { 100_000 };
    let limit = 100_000;
    let limiter = L::build(quota(limit, 60 * S), max_clients, WhenFull::Refuse);
    let (capacity, empty, most) = limiter.sizes();
    assert!((max_clients..=max_clients * 132 / 100).contains(&capacity), "{capacity} for {max_clients}");
    let (window, now) = (600 * S, 630 * S);
    assert!(limiter.check(SPENT, now, limit).is_allowed());
    let mut asked = 0;
    let (mut allowed, mut full, mut highest) = (0, 0, 0);
    for key in 0..keys {
        // Half of it comes with a reading that is a little late.
        let decision = limiter.check(key, now - (key & 1), 1);
        allowed += usize::from(decision.is_allowed());
        full += u64::from(is_full(&decision));
        if key % 128 == 0 {
            highest = highest.max(limiter.sizes().1);
            assert!(!limiter.check(SPENT, now, 1).is_allowed(), "after {key} keys");
            if asked < limit {
                asked += 1;
                let decision = limiter.check(ROOMY, now, 1);
                assert!(decision.is_allowed(), "after {key} keys");
                assert_eq!(decision.remaining(), limit - asked, "after {key} keys");
            }
        }
    }
    assert!(highest <= most, "{highest} of {most} bytes");
    // The keys are enough to fill every segment, to the last slot.
    assert_eq!((allowed + 2, limiter.tracked_at(now)), (capacity, capacity));
    assert_eq!(full, keys - allowed as u64, "all others found no room");
    assert_eq!(limiter.sizes().1, most, "a full table takes what it may");

    // Once the window is over the table takes new clients, and needs no sweep for it.
    let later = window + lives * 60 * S;
    assert_eq!(limiter.tracked_at(later), 0);
    let again = (keys..2 * keys).filter(|&key| limiter.check(key, later, 1).is_allowed()).count();
    assert_eq!((again, limiter.tracked_at(later)), (capacity, capacity));
    assert!(limiter.sizes().1 <= most);
    let end = later + lives * 60 * S;
    limiter.sweep_at(end - 1);
    assert_eq!(limiter.tracked_at(end - 1), capacity, "nothing has expired yet");
    limiter.sweep_at(end);
    let (_, swept, _) = limiter.sizes();
    assert_eq!(limiter.tracked_at(end), 0);
    assert!(swept < most / 50, "{swept} of {most} bytes after a sweep");
    println!(
        "{:?}: {keys} keys, {max_clients} clients, capacity {capacity}, {full} full; bytes {empty} empty, {highest} most, \
         {most} allowed, {swept} swept",
        L::RULE
    );
}

#[test]
fn counters_under_a_flood() {
    flood::<Counters>(2);
}

#[test]
fn fixed_windows_under_a_flood() {
    flood::<Windows>(1);
}
