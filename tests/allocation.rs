//! What a check asks of the allocator, and what it answers where there is no memory.

use slidegate::{Algorithm, BuildError, Builder, Decision, Gate, Limiter, Log, ManualClock, Nanos, Quota};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    time::Duration,
};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    /// Bytes allocated and not freed; those that another thread frees are missing.
    static BYTES: Cell<isize> = const { Cell::new(0) };
    /// Allocations before there is no memory any more.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Counts the allocations of each thread, and fails them where the thread asks for that.
struct Counting;

// SAFETY: what is not refused is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        match LEFT.get() {
            0 => return std::ptr::null_mut(),
            u64::MAX => {}
            left => LEFT.set(left - 1),
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

/// What `body` answers where there is memory for so many allocations only.
fn starved_after<T>(left: u64, body: impl FnOnce() -> T) -> T {
    LEFT.set(left);
    let answer = body();
    LEFT.set(u64::MAX);
    answer
}

fn starved<T>(body: impl FnOnce() -> T) -> T {
    starved_after(0, body)
}

fn is_full(decision: Decision) -> bool {
    matches!(decision, Decision::Full(_))
}

fn at(nanos: u64) -> Nanos {
    Nanos::from_nanos(nanos)
}

fn quota(limit: u64) -> Quota {
    Quota::new(limit, Duration::from_nanos(1_000))
}

/// A limiter whose clock stands at its origin.
fn limiter<A: Algorithm>(builder: Builder<u64, A>, clients: usize) -> Limiter<u64, A, ManualClock> {
    builder.max_clients(clients).clock(ManualClock::new()).build().unwrap()
}

/// What the thread's own record takes is allocated before anything is counted.
fn with_a_record() {
    let _ = limiter(Limiter::counter(quota(1)), 1).check(&0);
}

/// A gate whose stamps span little more than four windows of 4 us, so that it is moved every 4,096 ns.
fn short_log() -> (Gate<Log>, u64) {
    let quota = |limit| Quota::new(limit, Duration::from_nanos(4_000));
    let Err(BuildError::DoesNotFit { largest_limit, .. }) = Gate::try_log(quota(u64::MAX)) else { panic!("64 bits") };
    (Gate::try_log(quota(largest_limit)).unwrap(), largest_limit)
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

/// An array for the first tick, a ring for the second, and one for each doubling: 4, 8, 16, 32, 64 and 128 cells for 100
/// live ticks.
#[test]
fn a_log_allocates_where_its_ring_starts_and_doubles() {
    with_a_record();
    let before = BYTES.get();
    let gate = Gate::try_log(quota(100)).unwrap();
    let checks = |from: u64, step: u64| {
        allocations(|| (0..10_000).for_each(|nth| assert!(gate.at(at(from + nth * step)).check().is_allowed())))
    };
    let asked =
        allocations(|| assert!(gate.at(at(0)).peek().is_allowed() && !gate.at(at(0)).cost(101).check().is_allowed()));
    assert_eq!(asked, 0, "nothing to record");
    assert_eq!(allocations(|| assert!(gate.at(at(0)).check().is_allowed())), 1, "one tick needs no ring");
    assert_eq!(checks(5_000, 400), 1, "at most 3 live ticks and the base");
    assert_eq!(checks(10_000_000, 11), 5, "from 8 cells to 128");
    assert_eq!(checks(20_000_000, 11), 0, "a ring that is large enough stays");
    drop(gate);
    assert_eq!(BYTES.get(), before, "all of it is given back");

    // The stamps of 45 bits span more than nine hours, and a quarter of that is 145 minutes.
    let one_tick = Gate::try_log(Quota::per_minute(100)).unwrap();
    let made = allocations(|| {
        for now in 0..1_000 {
            assert!(one_tick.at(at(now * 61_000_000_000)).check().is_allowed());
        }
    });
    assert_eq!(made, 1 + 1_000 / 145, "the array and its moves; a client that comes once in a window has no ring");
    drop(one_tick);
    assert_eq!(BYTES.get(), before, "what was replaced, too");
}

#[test]
fn without_memory_the_answer_is_full_and_nothing_is_lost() {
    with_a_record();
    let gate = Gate::try_log(quota(6)).unwrap();
    let check = |now, cost| gate.at(at(now)).cost(cost).check();
    let starved = |now, cost| starved(|| check(now, cost));
    // The first tick needs an array, the second a ring, the fourth its double.
    assert!(is_full(starved(0, 2)));
    assert_eq!(check(0, 2).remaining(), 4);
    for now in [1, 2, 3] {
        let decision = starved(now, 1);
        if now != 2 {
            assert!(is_full(decision), "{decision:?} at {now}");
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
    // Nothing is forgotten where that takes memory.
    let gate = gate.with_clock(ManualClock::new());
    self::starved(|| gate.forget());
    assert_eq!(gate.at(at(4)).cost(0).peek().remaining(), 0);
    gate.forget();
    assert_eq!(gate.at(at(4)).cost(0).peek().remaining(), 6);
}

/// A move by age takes an array; the mover's own request may start a ring in it, or double one.
#[test]
fn a_gate_that_cannot_be_renewed_answers_full_and_loses_nothing() {
    with_a_record();
    let before = BYTES.get();
    // One or three live ticks when the array grows too old, and room for no more of them.
    for ticks in [&[0, 4_090][..], &[0, 4_070, 4_080, 4_090]] {
        let made = || {
            let (gate, limit) = short_log();
            for &now in ticks {
                assert!(gate.at(at(now)).check().is_allowed());
            }
            (gate, limit - (ticks.len() as u64 - 1))
        };
        let (gate, left) = made();
        let check = |gate: &Gate<Log>| gate.at(at(8_060)).check();
        let made_by_a_check = allocations(|| assert_eq!(check(&gate).remaining(), left - 1));
        assert_eq!(made_by_a_check, 2, "an array and a ring");

        let (gate, left) = made();
        assert!(is_full(starved(|| check(&gate))));
        // An array, and no ring in it: it is given back.
        assert!(is_full(starved_after(1, || check(&gate))));
        // What records nothing needs none.
        assert_eq!(starved(|| gate.at(at(8_060)).peek()).remaining(), left - 1);
        assert_eq!(starved(|| gate.at(at(8_060)).cost(0).peek()).remaining(), left);
        assert_eq!(allocations(|| assert_eq!(check(&gate).remaining(), left - 1)), 2, "now there are both");
        assert_eq!(starved(|| check(&gate)).remaining(), left - 2);
    }
    assert_eq!(BYTES.get(), before, "all of it is given back");
}

#[test]
fn a_check_of_a_known_client_never_allocates() {
    with_a_record();
    let limiter = limiter(Limiter::counter(quota(3)), 1);
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
        limiter.check_many(&[&0, &1, &2], |_, decision| assert!(!is_full(decision)));
    });
    assert_eq!(made, 0);
    // Many clients make the table double a few times, not once for each.
    let made = allocations(|| {
        (1_000..1_796).for_each(|key| assert!(limiter.client(&key).at(at(20_000)).check().is_allowed()))
    });
    assert!((3..=4).contains(&made), "{made} arrays on the way from 128 slots to 1,024");
    // A full table says so without one.
    assert_eq!(allocations(|| assert!(is_full(limiter.client(&5_000).at(at(20_000)).check()))), 0);
}

/// The clients of a log: six arrays for a hundred of them, and five rings for each, or one from the start.
#[test]
fn a_check_of_a_known_log_allocates_for_its_ring_only() {
    with_a_record();
    for preallocates in [false, true] {
        let before = BYTES.get();
        let builder = Limiter::log(quota(40));
        let limiter = limiter(if preallocates { builder.preallocate() } else { builder }, 1);
        let checks = |now: u64| {
            allocations(|| {
                for key in 0..100 {
                    let client = limiter.client(&key).at(at(now));
                    assert!(client.check().is_allowed());
                    let stranger = limiter.client(&(1_000 + key)).at(at(now));
                    let _ = (client.cost(41).check(), client.cost(0).check(), client.peek(), stranger.peek());
                }
            })
        };
        assert_eq!(checks(0), 6 + if preallocates { 100 } else { 0 }, "4, 8, 16, 32, 64 and 128 slots");
        for nth in 1..200 {
            // The second, fourth, eighth, 16th and 32nd live tick: 4, 8, 16, 32 and 64 cells.
            let rings = if !preallocates && [1, 3, 7, 15, 31].contains(&nth) { 100 } else { 0 };
            assert_eq!(checks(26 * nth), rings, "tick {nth}");
        }
        let without = BYTES.get();
        let handle = limiter.handle();
        let record = BYTES.get() - without;
        let made = allocations(|| {
            let now = at(26 * 199);
            (0..100).for_each(|key| assert!(!is_full(handle.client(&key).at(now).check())));
        });
        assert_eq!(made, 0, "a request through a handle");
        drop(handle);
        drop(limiter);
        assert_eq!(BYTES.get(), before + record, "all but a record is given back, the smaller rings, too");
    }
}

/// The cells of clients that a move leaves out, since they have expired or were forgotten, are freed with the array.
#[test]
fn cells_that_are_left_out_are_freed() {
    with_a_record();
    // What the test itself keeps does not grow.
    let mut bytes = [0; 20];
    let before = BYTES.get();
    let (gate, _) = short_log();
    let gate = gate.with_clock(ManualClock::new());
    for (round, start) in (0..20).zip((0..).step_by(10_000)) {
        // Ten ticks, and all of them over at the next, which moves the array.
        (0..10).for_each(|tick| assert!(gate.at(at(start + tick)).check().is_allowed()));
        bytes[round] = BYTES.get() - before;
        if round % 3 == 2 {
            gate.forget();
        }
    }
    assert!(bytes.iter().all(|bytes_now| *bytes_now == bytes[0]), "{bytes:?}");
    drop(gate);
    assert_eq!(BYTES.get(), before, "a gate gives all of it back");

    let limiter = limiter(Limiter::log(quota(6)), 1);
    for (round, start) in (0..20).zip((0..).step_by(10_000)) {
        for (tick, key) in (0..6).flat_map(|tick| (0..50).map(move |key| (tick, key))) {
            assert!(limiter.client(&key).at(at(start + tick)).check().is_allowed());
        }
        bytes[round] = BYTES.get() - before;
        match round % 3 {
            0 => limiter.forget_all(),
            1 => (0..50).for_each(|key| limiter.client(&key).at(at(start)).forget()),
            // They have expired where the next move comes.
            _ => assert!((50..100).all(|key| limiter.client(&key).at(at(start + 5_000)).check().is_allowed())),
        }
    }
    let most = bytes.iter().max().unwrap();
    assert!(*most < bytes[0] * 3 / 2, "{bytes:?}");
    drop(limiter);
    assert_eq!(BYTES.get(), before, "a limiter gives all of it back");
}

/// Where the cells of a client that were to come with its first tick do not, they come with a later one.
#[test]
fn a_ring_that_was_not_preallocated_comes_later() {
    with_a_record();
    let limiter = limiter(Limiter::log(quota(6)).preallocate(), 1);
    let check = |now| limiter.client(&1).at(at(now)).check();
    assert_eq!(starved_after(1, || check(0)).remaining(), 5, "it is recorded without");
    assert!(starved(|| is_full(check(1))));
    assert_eq!(starved(|| check(0)).remaining(), 4, "in the same tick it needs none");
    assert_eq!(allocations(|| assert_eq!(check(1).remaining(), 3)), 1);
    assert_eq!(starved(|| [check(2), check(3), check(4)]).map(|decision| decision.remaining()), [2, 1, 0]);
}

/// An array that a move gave up is frozen: what a client asks next moves it, and starts its ring there.
#[test]
fn a_ring_that_does_not_start_in_a_copy_loses_nothing() {
    with_a_record();
    let before = BYTES.get();
    // One live tick of the client, or three that fill its ring.
    for ticks in [1, 3] {
        let limiter = limiter(Limiter::log(quota(6)), 1);
        let check = |key: u64, now| limiter.client(&key).at(at(now)).check();
        for key in 1..4 {
            (0..ticks).for_each(|now| assert!(check(key, now).is_allowed()));
        }
        assert!(is_full(starved(|| check(4, 3))), "the fourth client needs a larger array");
        let bytes = limiter.bytes_in_use();
        assert!(is_full(starved_after(1, || check(1, 3))));
        assert_eq!(limiter.bytes_in_use(), bytes, "the array is given back");
        assert_eq!(starved(|| limiter.client(&1).at(at(3)).cost(0).peek()).remaining(), 6 - ticks);
        assert_eq!(allocations(|| assert_eq!(check(1, 3).remaining(), 5 - ticks)), 2);
        assert!(limiter.bytes_in_use() > bytes);
        // The others stand as they stood, with cells of their own.
        for key in [2, 3] {
            assert_eq!(starved(|| limiter.client(&key).at(at(3)).cost(0).peek()).remaining(), 6 - ticks);
            assert_eq!(check(key, 3).remaining(), 5 - ticks);
        }
        drop(limiter);
        assert_eq!(BYTES.get(), before, "all of it is given back");
    }
}

/// Without memory for the record of its thread nobody is let through, and nothing breaks.
#[test]
fn without_a_record_the_answer_is_full() {
    // In a thread that has none. Those that ended threads have left are taken first; one may come back meanwhile.
    let run = || {
        let limiter = limiter(Limiter::log(quota(3)), 1);
        let mut handles = Vec::new();
        let without = loop {
            let taken = allocations(|| handles.push(limiter.handle()));
            let starved_handle = starved(|| limiter.handle());
            if taken > 0 && starved(|| is_full(limiter.check(&1))) {
                break starved_handle;
            }
            handles.push(starved_handle);
            assert!(handles.len() < 10_000, "records without end");
        };
        starved(|| {
            assert!(is_full(without.check(&1)));
            limiter.check_many(&[&1, &2], |_, decision| assert!(is_full(decision)));
            without.check_many(&[&1, &2], |_, decision| assert!(is_full(decision)));
            assert_eq!(limiter.tracked(), 0);
            limiter.sweep();
            limiter.forget_all();
            limiter.client(&1).forget();
        });
        assert_eq!(limiter.bytes_in_use(), size_of::<usize>());
        // With memory for it, the thread's own record comes, also to the handle that found none.
        assert_eq!(without.check(&1).remaining(), 2);
        assert_eq!((limiter.check(&1).remaining(), handles[0].check(&1).remaining()), (1, 0));
        assert!(matches!(without.check(&1), Decision::Refused(_)));
    };
    std::thread::scope(|scope| scope.spawn(run).join().expect("no assertion fails"));
}

/// The sizes that the README names.
#[test]
fn a_limiter_of_a_million_clients_is_small() {
    with_a_record();
    let before = BYTES.get();
    let limiter = limiter(Limiter::counter(quota(1_000)), 1_000_000);
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
    moves_without_memory(limiter(Limiter::counter(quota(3)), 1));
    moves_without_memory(limiter(Limiter::log(quota(3)), 1));
}

fn moves_without_memory<A: Algorithm>(limiter: Limiter<u64, A, ManualClock>) {
    with_a_record();
    let empty = limiter.bytes_in_use();
    // The first touch.
    assert!(is_full(starved(|| limiter.check(&0))));
    assert_eq!((limiter.bytes_in_use(), limiter.tracked()), (empty, 0));
    // Growth from each size of an array.
    let mut refused = 0;
    for key in 0..896 {
        if is_full(starved(|| limiter.check(&key))) {
            refused += 1;
            let known = usize::try_from(key).unwrap();
            assert_eq!(limiter.tracked(), known, "nothing is lost");
            for known in 0..key {
                // In the array that a move gave up: a peek and a refusal need no memory.
                let client = limiter.client(&known);
                assert_eq!(starved(|| client.cost(0).peek()).remaining(), 2, "{known} of {key}");
                assert!(matches!(starved(|| client.cost(3).check()), Decision::Refused(_)), "{known} of {key}");
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
    let forget = || {
        limiter.client(&1).forget();
        limiter.forget_all();
    };
    starved(forget);
    assert_eq!(limiter.tracked(), 896);
    forget();
    assert_eq!(limiter.tracked(), 0);
    assert!(limiter.bytes_in_use() < 1_000, "{}", limiter.bytes_in_use());
}
