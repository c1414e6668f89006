//! What a check asks of the allocator, and what it answers where there is no memory.

use slidegate::{__tool::log_gate, Decision, Gate, Nanos, Quota};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    time::Duration,
};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
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
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
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
