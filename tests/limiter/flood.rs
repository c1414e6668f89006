//! Many more keys than the table holds.

use super::*;

/// Keys of an ordinary run; the 50 million fit a table of 1,000,000 clients.
const ORDINARY: u64 = 2_000_000;

const SPENT: u64 = u64::MAX;
const ROOMY: u64 = u64::MAX - 1;

fn flood<L: Clients>(limit: u64, ordinary: u64) {
    let keys = random::number_from("SLIDEGATE_FLOOD").unwrap_or(ordinary);
    let max_clients = if keys > ORDINARY { 1_000_000 } else { 100_000 };
    let span = span::<L>(limit, 60 * S);
    let limiter = L::build(quota(limit, 60 * S), max_clients, WhenFull::Refuse);
    let (capacity, empty, most) = limiter.sizes();
    assert!((max_clients..=max_clients * 132 / 100).contains(&capacity), "{capacity} for {max_clients}");
    let (window, now) = (600 * S, 630 * S);
    assert!(limiter.check(SPENT, now, limit).is_allowed());
    let mut asked = 0;
    let (mut allowed, mut full, mut highest) = (Vec::new(), 0, 0);
    for key in 0..keys {
        // Half of it comes with a reading that is a little late.
        let decision = limiter.check(key, now - (key & 1), 1);
        allowed.extend(decision.is_allowed().then_some(key));
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
    assert_eq!((allowed.len() + 2, limiter.tracked_at(now)), (capacity, capacity));
    assert_eq!(full, keys - allowed.len() as u64, "all others found no room");
    let last = if L::NAME == "log" {
        fill_the_rings(&limiter, &allowed, now, limit)
    } else {
        assert_eq!(limiter.sizes().1, most, "a full table takes what it may");
        window
    };

    // Once the window is over the table takes new clients, and needs no sweep for it.
    let later = last + span;
    assert_eq!(limiter.tracked_at(later), 0);
    let again = (keys..2 * keys).filter(|&key| limiter.check(key, later, 1).is_allowed()).count();
    assert_eq!((again, limiter.tracked_at(later)), (capacity, capacity));
    assert!(limiter.sizes().1 <= most);
    let end = later + span;
    limiter.sweep_at(end - 1);
    assert_eq!(limiter.tracked_at(end - 1), capacity, "nothing has expired yet");
    limiter.sweep_at(end);
    let (_, swept, _) = limiter.sizes();
    assert_eq!(limiter.tracked_at(end), 0);
    assert!(swept < most / 50, "{swept} of {most} bytes after a sweep");
    println!(
        "{}: {keys} keys, {max_clients} clients, capacity {capacity}, {full} full; bytes {empty} empty, {highest} most, \
         {most} allowed, {swept} swept",
        L::NAME
    );
}

/// Has the clients spend the rest of their limits, in a tick each; the last one.
fn fill_the_rings<L: Clients>(limiter: &L, clients: &[u64], now: u64, limit: u64) -> u64 {
    let (capacity, without, most) = limiter.sizes();
    for tick in 1..limit {
        for &client in clients {
            assert_eq!(limiter.check(client, now + tick, 1).remaining(), limit - 1 - tick, "{client}");
        }
    }
    // The client that spent its limit at once has no ring, and of those who share a count there are none.
    assert!(!limiter.check(ROOMY, now, 1).is_allowed(), "the fourth of its units was the last");
    let (_, full, most_ever) = limiter.sizes();
    let (segments, clients) = (capacity / SEGMENT, clients.len());
    let cells = (most - full) / (segments + 2);
    assert_eq!((full - without, most), (clients * cells, most_ever), "{full} of {most} bytes, {cells} for each ring");
    assert_eq!(most - full, (segments + 2) * cells);
    now + limit - 1
}

#[test]
fn counters_under_a_flood() {
    flood::<Counters>(100_000, ORDINARY);
}

#[test]
fn fixed_windows_under_a_flood() {
    flood::<Windows>(100_000, ORDINARY);
}

/// Four units each, so that all may have all their cells.
#[test]
fn logs_under_a_flood() {
    flood::<Logs>(4, 500_000);
}
