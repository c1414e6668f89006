//! The one file that names atomics: std and `atomic` in a build, loom in the models.
//!
//! The types have the same names on both sides, so the code above this file is the code that loom runs.

#[cfg(all(slidegate_loom, not(feature = "loom")))]
compile_error!("--cfg slidegate_loom needs the feature `loom`: run the models from loom-tests/");

#[cfg(not(target_has_atomic = "64"))]
compile_error!("slidegate keeps a client in one 64-bit atomic word, which this target does not have");

use std::sync::atomic::AtomicUsize;
pub(crate) use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64 as ClockReading, AtomicU64 as Setting, Ordering},
};

/// The bytes that a limiter has allocated; outlives the limiter where a thread still keeps something of it. Nobody asks
/// for those of a gate.
#[derive(Clone, Debug)]
pub(crate) struct Usage(Option<Arc<AtomicUsize>>);

impl Usage {
    pub(crate) fn counted() -> Usage {
        Usage(Some(Arc::default()))
    }

    pub(crate) const fn uncounted() -> Usage {
        Usage(None)
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.0.iter().for_each(|usage| _ = usage.fetch_add(bytes, Ordering::Relaxed));
    }

    pub(crate) fn remove(&self, bytes: usize) {
        self.0.iter().for_each(|usage| _ = usage.fetch_sub(bytes, Ordering::Relaxed));
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |usage| usage.load(Ordering::Relaxed))
    }
}

#[cfg(not(slidegate_loom))]
mod imp {
    pub(crate) use super::fences::{of_mover, of_reader, prepare_fences};
    pub(crate) use core::cell::Cell as OwnedCell;
    pub(crate) use std::sync::atomic::AtomicPtr;

    /// A static that is made at the start.
    macro_rules! global {
        ($name:ident: $type:ty = $value:expr) => {
            fn $name() -> &'static $type {
                static GLOBAL: $type = $value;
                &GLOBAL
            }
        };
    }
    pub(crate) use global;

    /// A static that each thread has for itself.
    macro_rules! per_thread {
        ($name:ident: $type:ty = $value:expr) => {
            std::thread_local! {
                static $name: $type = const { $value };
            }
        };
    }
    pub(crate) use per_thread;

    /// The word of a client.
    pub(crate) type AtomicWord = atomic::Atomic<u64>;

    // Without its `fallback` the crate would panic where it cannot be lock-free; better not to compile.
    const _: () = assert!(AtomicWord::is_lock_free(), "slidegate needs 64-bit atomics on words of 8 bytes' alignment");
}

/// The fences between who reads and who replaces, each after a write and before a load of what the other one writes. Readers
/// are many and movers few: where the kernel can run a fence in all threads of the process, movers have it do that, and
/// readers only keep their compiler from reordering.
#[cfg(not(slidegate_loom))]
mod fences {
    use std::sync::atomic::{
        AtomicBool,
        Ordering::{Acquire, Release, SeqCst},
        compiler_fence, fence,
    };

    /// Whether movers can rely on the kernel.
    static BY_KERNEL: AtomicBool = AtomicBool::new(false);

    /// Asks the kernel, once in a process; may take some milliseconds where other threads run.
    pub(crate) fn prepare_fences() {
        if !BY_KERNEL.load(Acquire) && kernel::register() {
            // Release, and Acquire below: who sees it loads after the fence in all threads that a registration is. So a
            // mover that came too early for the kernel's fence is seen.
            BY_KERNEL.store(true, Release);
        }
    }

    #[inline]
    pub(crate) fn of_reader() {
        if BY_KERNEL.load(Acquire) { compiler_fence(SeqCst) } else { fence(SeqCst) }
    }

    /// False if there is no telling what others read.
    pub(crate) fn of_mover() -> bool {
        // After a fork the child may have to register again.
        if kernel::fence_in_all_threads() || kernel::register() && kernel::fence_in_all_threads() {
            return true;
        }
        fence(SeqCst);
        !BY_KERNEL.load(Acquire)
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    mod kernel {
        const PRIVATE_EXPEDITED: i64 = 1 << 3;
        const REGISTER_PRIVATE_EXPEDITED: i64 = 1 << 4;

        fn membarrier(command: i64) -> bool {
            // SAFETY: the call takes two numbers more, and touches no memory.
            unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
        }

        pub(super) fn register() -> bool {
            membarrier(REGISTER_PRIVATE_EXPEDITED)
        }

        pub(super) fn fence_in_all_threads() -> bool {
            membarrier(PRIVATE_EXPEDITED)
        }
    }

    #[cfg(not(all(target_os = "linux", not(miri))))]
    mod kernel {
        pub(super) fn register() -> bool {
            false
        }

        pub(super) fn fence_in_all_threads() -> bool {
            false
        }
    }
}

/// The same under loom, with what loom lacks: weak exchanges that fail for no reason, and threads that stop for ever.
#[cfg(slidegate_loom)]
mod imp {
    use super::{Ordering, ending};
    use core::fmt;
    pub(crate) use loom::cell::{Cell as OwnedCell, UnsafeCell as Watched};
    use loom::sync::atomic::{self, fence};

    pub(crate) fn prepare_fences() {}

    pub(crate) fn of_reader() {
        fence(Ordering::SeqCst);
    }

    pub(crate) fn of_mover() -> bool {
        fence(Ordering::SeqCst);
        true
    }

    /// A static that each execution makes anew.
    macro_rules! global {
        ($name:ident: $type:ty = $value:expr) => {
            fn $name() -> &'static $type {
                loom::lazy_static! {
                    static ref GLOBAL: $type = $value;
                }
                &GLOBAL
            }
        };
    }
    pub(crate) use global;

    /// A static that each thread has for itself.
    macro_rules! per_thread {
        ($name:ident: $type:ty = $value:expr) => {
            loom::thread_local! {
                static $name: $type = $value;
            }
        };
    }
    pub(crate) use per_thread;

    pub struct AtomicWord {
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

        pub(crate) fn store(&self, word: u64, order: Ordering) {
            ending::before_a_step();
            self.word.store(word, order);
        }

        pub(crate) fn fetch_or(&self, bits: u64, order: Ordering) -> u64 {
            ending::before_a_step();
            self.word.fetch_or(bits, order)
        }

        pub(crate) fn fetch_sub(&self, less: u64, order: Ordering) -> u64 {
            ending::before_a_step();
            self.word.fetch_sub(less, order)
        }

        pub(crate) fn compare_exchange(
            &self,
            current: u64,
            new: u64,
            success: Ordering,
            failure: Ordering,
        ) -> Result<u64, u64> {
            ending::before_a_step();
            self.word.compare_exchange(current, new, success, failure)
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

    impl<T> fmt::Debug for AtomicPtr<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("AtomicPtr")
        }
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

    loom::thread_local! {
        /// The moves that this thread has published.
        static PUBLISHED: Cell<u32> = Cell::new(0);
    }

    pub(crate) fn note_publication() {
        PUBLISHED.with(|published| published.set(published.get() + 1));
    }

    /// How many moves this thread has published.
    pub fn published() -> u32 {
        PUBLISHED.with(Cell::get)
    }

    std::thread_local! {
        /// The blocks that are not freed, of all threads of a model and of all its executions.
        static BLOCKS: Cell<isize> = const { Cell::new(0) };
    }

    pub(crate) fn note_block(more: isize) {
        BLOCKS.set(BLOCKS.get() + more);
    }

    /// How many blocks were allocated and not freed.
    pub fn blocks() -> isize {
        BLOCKS.get()
    }

    struct Stopped;

    pub(super) fn before_a_step() {
        let stops = LEFT.try_with(|left| match left.get() {
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
        // A thread that is ending is not one that stops.
        if stops.unwrap_or(false) {
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
            Err(payload) if payload.is::<Stopped>() => {
                crate::hazard::hold_for_ever();
                None
            }
            Err(payload) => resume_unwind(payload),
        }
    }

    /// Whether every other weak exchange is to fail.
    pub fn spurious() -> bool {
        static SPURIOUS: OnceLock<bool> = OnceLock::new();
        *SPURIOUS.get_or_init(|| std::env::var_os("SLIDEGATE_LOOM_SPURIOUS").is_some())
    }
}

#[cfg(slidegate_loom)]
pub(crate) use imp::Watched;
pub(crate) use imp::{AtomicPtr, AtomicWord, OwnedCell, global, of_mover, of_reader, per_thread, prepare_fences};
