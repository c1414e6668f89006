//! What a check asks of the allocator, and what it answers where there is no memory.

use slidegate::{__tool::log_gate, Counter, Decision, Gate, Limiter, ManualClock, Nanos, Quota};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    time::Duration,
};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes allocated and not freed; those that another thread frees are missing.
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static NO_MEMORY: Cell<bool> = const { Cell::new(false) };
}

/// Counts the allocations of each thread, and fails them where the thread asks for that.
struct Counting;

// SAFETY: what is not refused is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        if NO_MEMORY.get() {
            return std::ptr::null_mut();
        }
        BYTES.set(BYTES.get().wrapping_add_unsigned(layout.size()));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get().wrapping_sub_unsigned(layout.size()));
        // SAFETY: as above; it came from the system allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations that `body` makes in this thread.
fn allocations(body: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    body();
    ALLOCATIONS.get() - before
}

fn at(nanos: u64) -> Nanos {
    Nanos::from_nanos(nanos)
}

#[test]
fn words_never_allocate() {
    let counter = Gate::try_counter(Quota::per_second(3)).unwrap();
    let fixed = Gate::try_fixed_window(Quota::per_second(3)).unwrap();
    let made = allocations(|| {
        for now in 0..1_000 {
            let _ = counter.at(at(now * 100_000_000)).check();
            let _ = fixed.at(at(now * 100_000_000)).check();
        }
        counter.forget();
        fixed.forget();
    });
    assert_eq!(made, 0);
}

/// A ring for the second tick, and one for each doubling: 4, 8, 16, 32, 64 and 128 cells for 100 live ticks.
#[test]
fn a_log_allocates_where_its_ring_starts_and_doubles() {
    let gate = log_gate(Quota::new(100, Duration::from_nanos(1_000))).unwrap();
    let checks = |from: u64, step: u64| {
        allocations(|| (0..10_000).for_each(|nth| assert!(gate.at(at(from + nth * step)).check().is_allowed())))
    };
    assert_eq!(allocations(|| assert!(gate.at(at(0)).check().is_allowed())), 0, "one tick needs no ring");
    assert_eq!(checks(5_000, 400), 1, "at most 3 live ticks and the base");
    assert_eq!(checks(10_000_000, 11), 5, "from 8 cells to 128");
    assert_eq!(checks(20_000_000, 11), 0, "a ring that is large enough stays");
    let one_tick = log_gate(Quota::per_minute(100)).unwrap();
    let made = allocations(|| {
        for now in 0..1_000 {
            assert!(one_tick.at(at(now * 61_000_000_000)).check().is_allowed());
        }
    });
    assert_eq!(made, 0, "a client that comes once in a window never has two ticks");
}

#[test]
fn without_memory_the_answer_is_full_and_nothing_is_lost() {
    let gate = log_gate(Quota::new(6, Duration::from_nanos(1_000))).unwrap();
    let check = |now, cost| gate.at(at(now)).cost(cost).check();
    let starved = |now, cost| {
        NO_MEMORY.set(true);
        let decision = check(now, cost);
        NO_MEMORY.set(false);
        decision
    };
    // The first tick needs none, the second a ring, the fourth its double.
    assert_eq!(starved(0, 2).remaining(), 4);
    for now in [1, 2, 3] {
        let decision = starved(now, 1);
        if now != 2 {
            assert!(matches!(decision, Decision::Full(_)), "{decision:?} at {now}");
            assert_eq!((decision.limit(), decision.remaining(), decision.retry_after()), (6, 0, None));
            assert!(check(now, 1).is_allowed(), "the limiter stays usable at {now}");
        } else {
            assert!(decision.is_allowed(), "{decision:?}: the ring has room");
        }
        assert_eq!(check(now, 0).remaining(), 4 - now);
    }
    // What needs no memory is answered without it: the same tick, a refusal, a cost above the limit.
    assert!(starved(3, 1).is_allowed());
    assert!(matches!(starved(4, 1), Decision::Refused(refused) if refused.retry_after().as_nanos() == 997));
    assert!(matches!(starved(4, 7), Decision::Never(_)));
}

/// A limiter on one segment, at its origin.
fn limiter(limit: u64, clients: usize) -> Limiter<u64, Counter, ManualClock> {
    let quota = Quota::new(limit, Duration::from_nanos(1_000));
    Limiter::counter(quota).max_clients(clients).clock(ManualClock::new()).build().unwrap()
}

/// What the thread's own record takes is allocated before anything is counted.
fn with_a_record() {
    let _ = limiter(1, 1).check(&0);
}

#[test]
fn a_check_of_a_known_client_never_allocates() {
    let limiter = limiter(3, 1);
    for key in 0..100 {
        assert!(limiter.check(&key).is_allowed());
    }
    let made = allocations(|| {
        // Allowed, refused, never, peeked, in this window and the following; and those without a slot that need none.
        for now in (0..20_000).step_by(250) {
            for key in 0..100 {
                let client = limiter.client(&key).at(at(now));
                let _ = (client.check(), client.cost(4).check(), client.cost(0).check(), client.peek());
                let stranger = limiter.client(&(1_000 + key)).at(at(now));
                let _ = (stranger.peek(), stranger.cost(4).check(), stranger.cost(0).check());
            }
        }
        assert_eq!(limiter.tracked(), 100);
    });
    assert_eq!(made, 0);
    // Many clients make the table double a few times, not once for each.
    let made = allocations(|| {
        (1_000..1_796).for_each(|key| assert!(limiter.client(&key).at(at(20_000)).check().is_allowed()))
    });
    assert!((3..=4).contains(&made), "{made} arrays on the way from 128 slots to 1,024");
    // A full table says so without one.
    assert_eq!(allocations(|| assert!(matches!(limiter.client(&5_000).at(at(20_000)).check(), Decision::Full(_)))), 0);
}

/// The sizes that the README names.
#[test]
fn a_limiter_of_a_million_clients_is_small() {
    with_a_record();
    let before = BYTES.get();
    let limiter = limiter(1_000, 1_000_000);
    let bytes = |since: isize| usize::try_from(BYTES.get() - since).unwrap();
    let empty = bytes(before);
    assert!(empty < 64 << 10, "{empty} bytes");
    let capacity = limiter.capacity();
    assert!((1_000_000..=1_320_000).contains(&capacity), "{capacity}");
    let mut key = 0;
    let mut allowed = 0;
    // Segments fill unevenly: a hundredth of the slots is given up on.
    while allowed < capacity * 99 / 100 {
        allowed += usize::from(limiter.check(&key).is_allowed());
        key += 1;
    }
    let full = bytes(before);
    assert!(full <= 25 * capacity && full <= 25_000_000, "{full} bytes for {capacity}");
    assert_eq!(limiter.tracked(), allowed);
    // What it says of itself is what was allocated, but for the two words of the number it counts with.
    assert!(limiter.bytes_in_use().abs_diff(full) < 64, "{} of {full}", limiter.bytes_in_use());
    assert!(limiter.bytes_in_use() <= limiter.max_bytes());
    drop(limiter);
    assert_eq!(BYTES.get(), before, "all of it is given back");
    println!(
        "{empty} bytes empty, {full} full: {:.2} a client of {capacity}, {:.2} of 1,000,000",
        full as f64 / capacity as f64,
        full as f64 / 1e6
    );
}

#[test]
fn a_move_without_memory_answers_full_and_loses_nothing() {
    let limiter = limiter(3, 1);
    let starved = |body: &dyn Fn() -> Decision| {
        NO_MEMORY.set(true);
        let decision = body();
        NO_MEMORY.set(false);
        decision
    };
    let is_full = |decision: Decision| matches!(decision, Decision::Full(_));
    let empty = limiter.bytes_in_use();
    // The first touch.
    assert!(is_full(starved(&|| limiter.check(&0))));
    assert_eq!((limiter.bytes_in_use(), limiter.tracked()), (empty, 0));
    // Growth from each size of an array.
    let mut refused = 0;
    for key in 0..896 {
        if is_full(starved(&|| limiter.check(&key))) {
            refused += 1;
            let known = usize::try_from(key).unwrap();
            assert_eq!(limiter.tracked(), known, "nothing is lost");
            for known in 0..key {
                // In the array that a move gave up: a peek and a refusal need no memory.
                let client = limiter.client(&known);
                assert_eq!(starved(&|| client.cost(0).peek()).remaining(), 2, "{known} of {key}");
                assert!(matches!(starved(&|| client.cost(3).check()), Decision::Refused(_)), "{known} of {key}");
            }
            assert!(limiter.check(&key).is_allowed(), "it stays usable");
        }
        assert_eq!(limiter.tracked(), usize::try_from(key).unwrap() + 1);
    }
    assert_eq!(refused, 9, "the first touch and eight doublings");
    for key in 0..896 {
        assert_eq!(limiter.check(&key).remaining(), 1);
    }
    // Without memory nothing is forgotten, with it everything is.
    let forget = |starved: bool| {
        NO_MEMORY.set(starved);
        limiter.client(&1).forget();
        limiter.forget_all();
        NO_MEMORY.set(false);
        limiter.tracked()
    };
    assert_eq!((forget(true), forget(false)), (896, 0));
    assert!(limiter.bytes_in_use() < 1_000, "{}", limiter.bytes_in_use());
}
