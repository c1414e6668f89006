//! The one file that names atomics: std and `atomic` in a build, loom in the models.
//!
//! The types have the same names on both sides, so the code above this file is the code that loom runs.

#[cfg(all(slidegate_loom, not(feature = "loom")))]
compile_error!("--cfg slidegate_loom needs the feature `loom`: run the models from loom-tests/");

#[cfg(not(target_has_atomic = "64"))]
compile_error!("slidegate keeps a client in one 64-bit atomic word, which this target does not have");

pub(crate) use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64 as ClockReading, Ordering},
};

#[cfg(not(slidegate_loom))]
mod imp {
    pub(crate) use std::sync::atomic::AtomicPtr;

    /// The word of a client.
    pub(crate) type AtomicWord = atomic::Atomic<u64>;

    /// The pointer, where nobody else can hold it.
    pub(crate) fn exclusive<T>(pointer: &mut AtomicPtr<T>) -> *mut T {
        *pointer.get_mut()
    }

    // Without its `fallback` the crate would panic where it cannot be lock-free; better not to compile.
    const _: () = assert!(AtomicWord::is_lock_free(), "slidegate needs 64-bit atomics on words of 8 bytes' alignment");
}

/// The same under loom, with what loom lacks: weak exchanges that fail for no reason, and threads that stop for ever.
#[cfg(slidegate_loom)]
mod imp {
    use super::{Ordering, ending};
    use core::fmt;
    use loom::sync::atomic;

    pub(crate) struct AtomicWord {
        word: atomic::AtomicU64,
        /// The weak exchanges so far: every other one fails where the models ask for it.
        weak: std::sync::atomic::AtomicU32,
    }

    impl AtomicWord {
        pub(crate) fn new(word: u64) -> AtomicWord {
            AtomicWord { word: atomic::AtomicU64::new(word), weak: std::sync::atomic::AtomicU32::new(0) }
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            ending::before_a_step();
            self.word.load(order)
        }

        /// Only for the mutants that make an exchange a store.
        #[allow(dead_code)]
        pub(crate) fn store(&self, word: u64, order: Ordering) {
            ending::before_a_step();
            self.word.store(word, order);
        }

        pub(crate) fn compare_exchange_weak(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            ending::before_a_step();
            if ending::spurious() && self.weak.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
                return Err(self.word.load(failure));
            }
            self.word.compare_exchange(current, new, success, failure)
        }
    }

    impl fmt::Debug for AtomicWord {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("AtomicWord")
        }
    }

    pub(crate) struct AtomicPtr<T>(atomic::AtomicPtr<T>);

    impl<T> AtomicPtr<T> {
        pub(crate) fn new(pointer: *mut T) -> AtomicPtr<T> {
            AtomicPtr(atomic::AtomicPtr::new(pointer))
        }

        pub(crate) fn load(&self, order: Ordering) -> *mut T {
            ending::before_a_step();
            self.0.load(order)
        }

        /// Only for the mutants that make an exchange a store.
        #[allow(dead_code)]
        pub(crate) fn store(&self, pointer: *mut T, order: Ordering) {
            ending::before_a_step();
            self.0.store(pointer, order);
        }

        pub(crate) fn compare_exchange(
            &self,
            current: *mut T,
            new: *mut T,
            success: Ordering,
            failure: Ordering,
        ) -> Result<*mut T, *mut T> {
            ending::before_a_step();
            self.0.compare_exchange(current, new, success, failure)
        }
    }

    pub(crate) fn exclusive<T>(pointer: &mut AtomicPtr<T>) -> *mut T {
        pointer.0.with_mut(|pointer| *pointer)
    }
}

/// Threads that stop for ever before an atomic operation, and the switch for exchanges that fail for no reason.
#[cfg(slidegate_loom)]
pub(crate) mod ending {
    use core::cell::Cell;
    use std::{
        panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
        sync::OnceLock,
    };

    loom::thread_local! {
        /// The operations that this thread may still do, where it is one that is to stop.
        static LEFT: Cell<Option<u32>> = Cell::new(None);
    }

    struct Stopped;

    pub(super) fn before_a_step() {
        let stops = LEFT.with(|left| match left.get() {
            Some(0) => {
                // Whatever unwinds may use atomics again.
                left.set(None);
                true
            }
            some => {
                left.set(some.map(|left| left - 1));
                false
            }
        });
        if stops {
            resume_unwind(Box::new(Stopped));
        }
    }

    /// Runs `body` for at most `steps` atomic operations; `None` if it was stopped before the next one.
    pub fn after_steps<R>(steps: u32, body: impl FnOnce() -> R) -> Option<R> {
        LEFT.with(|left| left.set(Some(steps)));
        let result = catch_unwind(AssertUnwindSafe(body));
        LEFT.with(|left| left.set(None));
        match result {
            Ok(value) => Some(value),
            Err(payload) if payload.is::<Stopped>() => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Whether every other weak exchange is to fail.
    pub fn spurious() -> bool {
        static SPURIOUS: OnceLock<bool> = OnceLock::new();
        *SPURIOUS.get_or_init(|| std::env::var_os("SLIDEGATE_LOOM_SPURIOUS").is_some())
    }
}

pub(crate) use imp::{AtomicPtr, AtomicWord, exclusive};
