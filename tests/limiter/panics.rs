//! User code that panics: nothing is recorded, and the limiter goes on.

use super::*;
use slidegate::{Builder, Client, Clock, Handle, KeyHash};
use std::{
    cell::Cell,
    hash::{Hash, Hasher},
    marker::PhantomData,
    panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind},
    rc::Rc,
    sync::Mutex,
};

/// Keys are not kept, so what they are does not matter.
const fn is_shared<T: Send + Sync>() {}
const _: () = is_shared::<Limiter<Rc<str>, Counter>>();
const _: () = is_shared::<Limiter<Cell<u8>, FixedWindow>>();
const _: () = is_shared::<Limiter<*mut u8, Counter, ManualClock>>();
const _: () = is_shared::<Limiter<Rc<str>, Log>>();
const _: () = is_shared::<Client<'static, Counter, ManualClock>>();

/// Answers whether a type is unwind-safe by value and by reference: the inherent constant goes before the trait's.
struct Probe<T: ?Sized>(PhantomData<T>);

impl<T: UnwindSafe + RefUnwindSafe + ?Sized> Probe<T> {
    const UNWIND_SAFE: bool = true;
}

trait Otherwise {
    const UNWIND_SAFE: bool = false;
}

impl<T: ?Sized> Otherwise for Probe<T> {}

#[test]
fn a_limiter_is_unwind_safe() {
    let found = [
        // The probe itself.
        Probe::<Mutex<Rc<str>>>::UNWIND_SAFE,
        !Probe::<Cell<u8>>::UNWIND_SAFE,
        Probe::<Limiter<Rc<str>>>::UNWIND_SAFE,
        Probe::<Limiter<Cell<u8>, FixedWindow, ManualClock>>::UNWIND_SAFE,
        Probe::<Limiter<Rc<str>, Log>>::UNWIND_SAFE,
        Probe::<Client<'static, Counter, ManualClock>>::UNWIND_SAFE,
        Probe::<Handle<'static, Rc<str>, Log, ManualClock, KeyHash>>::UNWIND_SAFE,
    ];
    assert_eq!(found, [true; 7]);
}

#[derive(Clone, Copy)]
struct Key {
    name: u32,
    panics: bool,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
        if self.panics {
            // Without the message of the hook, thousands of times.
            resume_unwind(Box::new("a hash that panics"));
        }
    }
}

/// Panics at a reading of 13.
struct Superstitious(ManualClock);

impl Clock for Superstitious {
    fn now(&self) -> Nanos {
        let now = self.0.now();
        if now.as_nanos() == 13 {
            resume_unwind(Box::new("a clock that panics"));
        }
        now
    }
}

#[test]
fn a_panic_records_nothing() {
    panics_record_nothing(Limiter::fixed_window(quota(2, 100)));
    panics_record_nothing(Limiter::log(quota(2, 100)));
}

fn panics_record_nothing<A: Algorithm>(builder: Builder<Key, A>) {
    let clock = ManualClock::new();
    let limiter = builder.max_clients(1).clock(Superstitious(clock.clone())).build().unwrap();
    let handle = &limiter.handle();
    let key = |name| Key { name, panics: false };
    let at = |now| clock.set(Nanos::from_nanos(now));
    let limiter = &limiter;
    let panics = |body: &dyn Fn()| catch_unwind(AssertUnwindSafe(body)).is_err();
    let bad = |name| {
        let bad = Key { name, panics: true };
        panics(&|| assert!(limiter.check(&bad).is_allowed()))
            & panics(&|| assert!(handle.check(&bad).is_allowed()))
            & panics(&|| limiter.check_many(&[&bad, &key(name)], |_, _| unreachable!("it panics before")))
    };
    let bad_time = |name| {
        clock.set(Nanos::from_nanos(13));
        let panicked = panics(&|| assert!(limiter.check(&key(name)).is_allowed()))
            & panics(&|| assert!(handle.check(&key(name)).is_allowed()))
            & panics(&|| limiter.check_many(&[&key(name)], |_, _| unreachable!("it panics before")))
            & panics(&|| limiter.client(&key(name)).forget())
            & panics(&|| limiter.forget_all())
            & panics(&|| limiter.sweep())
            & panics(&|| assert_eq!(limiter.tracked(), 0));
        clock.set(Nanos::from_nanos(14));
        panicked
    };
    at(14);
    // Before the first client, between those that fit and those that make it grow, and with a full table.
    assert!(bad(0) && bad_time(0));
    assert_eq!((limiter.tracked(), limiter.bytes_in_use()), (0, size_of::<usize>()), "not even an array");
    for name in 0..SEGMENT {
        let name = u32::try_from(name).unwrap();
        assert_eq!(limiter.check(&key(name)).remaining(), 1);
        let bytes = limiter.bytes_in_use();
        assert!(bad(name) && bad(name + 1) && bad_time(name) && bad_time(name + 1));
        assert_eq!(limiter.client(&key(name)).cost(0).peek().remaining(), 1);
        assert_eq!((limiter.tracked(), limiter.bytes_in_use()), (name as usize + 1, bytes));
    }
    assert!(bad(u32::MAX) && bad_time(u32::MAX));
    assert!(is_full(&limiter.check(&key(u32::MAX))));
    // A panicking check left nothing protected: what moves replace is freed.
    let full = limiter.bytes_in_use();
    for round in 1..50 {
        assert!(bad(0) && bad_time(1));
        at(1_000 * round);
        limiter.sweep();
        assert!(limiter.check(&key(0)).is_allowed());
        assert!(limiter.bytes_in_use() < full / 10);
    }
}

/// What is told the answers of many clients is the user's code, too: it may panic, and ask the limiter itself.
#[test]
fn who_is_told_of_many_clients_may_panic_and_ask() {
    let limiter = &Logs::build(quota(2, 100), 1, WhenFull::Refuse).limiter;
    let mut told = 0;
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        limiter.check_many(&[&1, &2, &3], |index, decision| {
            assert!(decision.is_allowed());
            told += 1;
            if index == 1 {
                resume_unwind(Box::new("an answer that panics"));
            }
        });
    }));
    assert!(panicked.is_err() && told == 2);
    // All three were decided before the first was told.
    assert_eq!([1, 2, 3].map(|key| limiter.client(&key).cost(0).peek().remaining()), [1; 3]);
    let bytes = limiter.bytes_in_use();
    limiter.check_many(&[&1, &2], |_, decision| {
        assert_eq!(decision.remaining(), 0);
        limiter.forget_all();
        limiter.check_many(&[&3], |_, decision| assert_eq!(decision.remaining(), 1));
    });
    assert_eq!(limiter.bytes_in_use(), bytes, "what the moves replaced is freed");
}
