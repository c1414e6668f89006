//! [`Record`]: what one thread is reading, so that nobody frees it.
//!
//! A thread publishes the address of the array that it is about to read in its record (the hazard), and looks again
//! whether the array is still the present one. Whoever replaced an array looks through all records before he frees it;
//! what somebody still reads he keeps for his next move. So a thread that is stopped for ever keeps one array, and
//! nobody waits for it.
//!
//! Records are never freed: that of a thread that ended passes, with what it keeps, to the next new thread.
//!
//! # Orderings
//!
//! * Hazard: store, `fence(SeqCst)`, reload of the pointer; replacer: exchange of the pointer, `fence(SeqCst)`, loads of
//!   the hazards. One of the two fences comes first, so either the replacer sees the hazard or the reader the new pointer.
//! * `taken`: Acquire where a record is taken, Release where it is given back; carries the list of what it keeps.
//! * the list of records: Release where one is added, Acquire where it is walked; carries the record.

use crate::sync::{
    AtomicPtr, AtomicWord,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    OwnedCell, fence, global, per_thread,
};
use core::{
    cell::{Cell, OnceCell},
    fmt,
    ptr::{NonNull, null_mut},
};
use std::alloc::{Layout, alloc};

/// What is protected, kept and freed: the head of an array.
#[repr(C)]
pub(crate) struct Retired {
    next: Cell<*mut Retired>,
    free: unsafe fn(NonNull<Retired>),
}

/// Only who retires an array touches its link, so no panic can leave it half done for anybody.
impl core::panic::RefUnwindSafe for Retired {}

impl Retired {
    pub(crate) fn new(free: unsafe fn(NonNull<Retired>)) -> Retired {
        Retired { next: Cell::new(null_mut()), free }
    }
}

/// The record of a thread.
pub(crate) struct Record {
    /// What the thread is reading; null where nothing.
    hazard: AtomicPtr<Retired>,
    /// 1 while a thread has it.
    taken: AtomicWord,
    /// Replaced arrays that somebody was still reading. Only the thread that has the record touches it.
    kept: OwnedCell<*mut Retired>,
    next: *mut Record,
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Record")
    }
}

/// There was no memory for a record.
#[derive(Debug)]
pub(crate) struct NoRecord;

/// The record of this thread, for as long as it lives or this value does.
#[derive(Debug)]
pub(crate) struct Taken(
    &'static Record,
    /// Whether a model has stopped the thread.
    #[cfg(slidegate_loom)]
    Cell<bool>,
);

impl Taken {
    fn new(record: &'static Record) -> Taken {
        Taken(
            record,
            #[cfg(slidegate_loom)]
            Cell::new(false),
        )
    }

    /// A record that nobody has, or a new one.
    pub(crate) fn take() -> Result<Taken, NoRecord> {
        let mut next = records().load(Acquire);
        while let Some(record) = NonNull::new(next) {
            // SAFETY: a record in the list is never freed, and only its atomics and its owner's cell change.
            let record: &'static Record = unsafe { record.as_ref() };
            if record.taken.load(Relaxed) == 0 && record.taken.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                return Ok(Taken::new(record));
            }
            next = record.next;
        }
        Taken::add()
    }

    fn add() -> Result<Taken, NoRecord> {
        // SAFETY: a record has a size.
        let memory = unsafe { alloc(Layout::new::<Record>()) };
        let new = NonNull::new(memory.cast::<Record>()).ok_or(NoRecord)?;
        let mut first = records().load(Relaxed);
        loop {
            let record = Record {
                hazard: AtomicPtr::new(null_mut()),
                taken: AtomicWord::new(1),
                kept: OwnedCell::new(null_mut()),
                next: first,
            };
            // SAFETY: the memory is ours until it is in the list.
            unsafe { new.write(record) };
            // Release: pairs with the Acquire in `take` and in `is_read`; carries the record.
            match records().compare_exchange(first, new.as_ptr(), Release, Relaxed) {
                // SAFETY: initialised above, and never freed.
                Ok(_) => return Ok(Taken::new(unsafe { new.as_ref() })),
                Err(newer) => first = newer,
            }
        }
    }

    pub(crate) fn record(&self) -> &Record {
        self.0
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        #[cfg(slidegate_loom)]
        if self.1.get() || std::thread::panicking() {
            return;
        }
        self.0.hazard.store(null_mut(), Release);
        // Release: pairs with the Acquire in `take`; carries `kept`.
        self.0.taken.store(0, Release);
    }
}

global!(records: AtomicPtr<Record> = AtomicPtr::new(null_mut()));

per_thread!(OWN: OnceCell<Taken> = OnceCell::new());

/// Calls `body` with the record of this thread.
#[inline]
pub(crate) fn with_record<R>(body: impl FnOnce(&Record) -> R) -> Result<R, NoRecord> {
    let mut body = Some(body);
    let mut call = |record: &Record| body.take().map(|body| body(record)).ok_or(NoRecord);
    let usual = OWN.try_with(|own| match own.get() {
        Some(taken) => call(taken.record()),
        None => first_use(own).and_then(&mut call),
    });
    match usual {
        Ok(result) => result,
        // The thread is ending and its record is given back already.
        Err(_) => call(Taken::take()?.record()),
    }
}

/// For the models: the thread stops for ever, with what it protects.
#[cfg(slidegate_loom)]
pub(crate) fn hold_for_ever() {
    OWN.with(|own| own.get().map(|taken| taken.1.set(true)));
}

#[cold]
fn first_use(own: &OnceCell<Taken>) -> Result<&Record, NoRecord> {
    let taken = Taken::take()?;
    Ok(own.get_or_init(|| taken).record())
}

impl Record {
    /// The present value of a pointer, protected until the record protects something else; null is null.
    #[inline]
    pub(crate) fn protect(&self, pointer: &AtomicPtr<Retired>) -> *mut Retired {
        let mut seen = pointer.load(Relaxed);
        loop {
            self.hazard.store(seen, Relaxed);
            // SeqCst: pairs with the fence in `retire`.
            fence(SeqCst);
            // Acquire: pairs with the Release of the publication; carries the array.
            let present = pointer.load(Acquire);
            if present == seen {
                return seen;
            }
            seen = present;
        }
    }

    /// Protects nothing any more.
    #[inline]
    pub(crate) fn release(&self) {
        // Release: what was read of the array was read before; pairs with the Acquire in `is_read`.
        self.hazard.store(null_mut(), Release);
    }

    /// Takes over an array that this thread has just replaced, and frees what it keeps and nobody reads.
    ///
    /// # Safety
    ///
    /// No pointer leads to the array any more, it was not retired before, and this thread has the record.
    pub(crate) unsafe fn retire(&self, replaced: NonNull<Retired>) {
        // SAFETY: the caller's promise: it is not freed yet.
        unsafe { replaced.as_ref() }.next.set(self.kept.get());
        // SeqCst: pairs with the fence in `protect`. It comes after the exchange that took the pointer away.
        fence(SeqCst);
        let (mut next, mut kept) = (replaced.as_ptr(), null_mut());
        while let Some(retired) = NonNull::new(next) {
            // SAFETY: what is kept is freed only here, by the thread that has the record.
            let head = unsafe { retired.as_ref() };
            next = head.next.get();
            let free = head.free;
            if self.is_read(retired.as_ptr()) {
                head.next.set(kept);
                kept = retired.as_ptr();
            } else {
                // SAFETY: no pointer leads to it, and no record protects it.
                unsafe { free(retired) };
            }
        }
        self.kept.set(kept);
    }

    /// Whether any other thread reads it. This thread is done with what it retires.
    fn is_read(&self, array: *mut Retired) -> bool {
        let mut next = records().load(Acquire);
        while let Some(record) = NonNull::new(next) {
            // SAFETY: as in `take`.
            let record: &'static Record = unsafe { record.as_ref() };
            // Acquire: pairs with the Release in `release`; what its owner read is read before we free.
            if !core::ptr::eq(record, self) && record.hazard.load(Acquire) == array {
                return true;
            }
            next = record.next;
        }
        false
    }
}
