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

    // Without its `fallback` the crate would panic where it cannot be lock-free; better not to compile.
    const _: () = assert!(AtomicWord::is_lock_free());
}

#[cfg(slidegate_loom)]
mod imp {
    use super::Ordering;
    use core::fmt;
    use loom::sync::atomic;

    pub(crate) struct AtomicWord {
        word: atomic::AtomicU64,
        /// Weak exchanges so far, to let every other one fail: loom's never do.
        weak: std::sync::atomic::AtomicU32,
    }

    impl AtomicWord {
        pub(crate) fn new(word: u64) -> AtomicWord {
            AtomicWord { word: atomic::AtomicU64::new(word), weak: std::sync::atomic::AtomicU32::new(0) }
        }

        pub(crate) fn load(&self, order: Ordering) -> u64 {
            super::ending::step();
            self.word.load(order)
        }

        #[cfg_attr(not(slidegate_mutant), expect(dead_code, reason = "for the mutants that make an exchange a store"))]
        pub(crate) fn store(&self, word: u64, order: Ordering) {
            super::ending::step();
            self.word.store(word, order);
        }

        pub(crate) fn compare_exchange_weak(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            super::ending::step();
            let nth = self.weak.fetch_add(1, Ordering::Relaxed);
            if cfg!(slidegate_loom_spurious) && nth % 2 == 0 {
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
            super::ending::step();
            self.0.load(order)
        }

        pub(crate) fn compare_exchange(
            &self,
            current: *mut T,
            new: *mut T,
            success: Ordering,
            failure: Ordering,
        ) -> Result<*mut T, *mut T> {
            super::ending::step();
            self.0.compare_exchange(current, new, success, failure)
        }

        pub(crate) fn get_mut(&mut self) -> &mut *mut T {
            unimplemented!()
        }
    }
}

pub(crate) use imp::{AtomicPtr, AtomicWord};
