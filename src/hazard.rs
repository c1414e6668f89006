//! [`Record`]: what one thread is reading, so that nobody frees it.
//!
//! A thread publishes the addresses of the array and of the cells that it is about to read in its record (the hazards),
//! and looks again whether the array is still the present one. Whoever replaced an array looks through all records before
//! he frees it and the cells that are not in the new one; what somebody still reads he keeps for his next move. So a
//! thread that is stopped for ever keeps what it reads, and nobody waits for it.
//!
//! Records are never freed: that of a thread that ended passes, with what it keeps, to the next new thread.
//!
//! # Orderings
//!
//! * Hazard: store, fence, reload of the pointer; replacer: exchange of the pointer, fence, loads of the hazards, both of
//!   them SeqCst. One of the two comes first, so either the replacer sees the hazard or the reader the new pointer.
//! * a hazard: Release in every store, Acquire where a replacer loads it; what its owner read under the address before
//!   is read before that one is freed.
//! * `taken`: Acquire where a record is taken, Release where it is given back; carries the list of what it keeps.
//! * the list of records: Release where one is added, Acquire where it is walked; carries the record.

use crate::{
    block::free_down_to,
    sync::{
        AtomicPtr, AtomicWord,
        Ordering::{Acquire, Relaxed, Release},
        OwnedCell, global, of_mover, of_reader, per_thread,
    },
};
use core::{
    array,
    cell::{Cell, OnceCell},
    fmt, iter,
    ptr::{NonNull, eq, null_mut},
};
use std::alloc::{Layout, alloc};

/// As many arrays as a thread can read at a time; the models would be larger with more.
pub(crate) const BATCH: usize = if cfg!(slidegate_loom) { 2 } else { 16 };

/// What is protected, kept and freed: the start of a block.
pub struct Retired {
    /// The next of those that a record keeps.
    next: Cell<*mut Retired>,
    /// What is protected, kept and freed with it: the smaller rings of a client.
    behind: *mut Retired,
    free: unsafe fn(NonNull<Retired>),
    #[cfg(slidegate_loom)]
    freed: crate::sync::Watched<bool>,
}

impl fmt::Debug for Retired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Retired")
    }
}

/// Only who retires a block touches its link, so no panic can leave it half done for anybody.
impl core::panic::RefUnwindSafe for Retired {}

impl Retired {
    pub(crate) fn new(behind: *mut Retired, free: unsafe fn(NonNull<Retired>)) -> Retired {
        Retired {
            next: Cell::new(null_mut()),
            behind,
            free,
            #[cfg(slidegate_loom)]
            freed: crate::sync::Watched::new(false),
        }
    }

    pub(crate) fn behind(&self) -> *mut Retired {
        self.behind
    }

    /// # Safety
    ///
    /// The address is that of `self`, and nobody else can reach it, or will.
    pub(crate) unsafe fn free(&self, address: NonNull<Retired>) {
        // SAFETY: the caller's promise; the function came with the block.
        unsafe { (self.free)(address) };
    }

    #[cfg(slidegate_loom)]
    pub(crate) fn mark_as_freed(&self) {
        // SAFETY: the model sees to it that nobody looks at the same time, or without having been told of it.
        self.freed.with_mut(|freed| unsafe { *freed = true });
    }

    #[cfg(slidegate_loom)]
    pub(crate) fn assert_not_freed(&self) {
        // SAFETY: as in `mark_as_freed`.
        let freed = self.freed.with(|freed| unsafe { *freed });
        assert!(!freed, "a block is touched after it was freed");
    }
}

/// The record of a thread; of two lines of its own, so that no two threads write to one.
#[repr(align(128))]
pub struct Record {
    /// The arrays that the thread is reading; null where none.
    arrays: [AtomicPtr<Retired>; BATCH],
    /// The cells that it is reading.
    cells: AtomicPtr<Retired>,
    /// 1 while a thread has it.
    taken: AtomicWord,
    /// Replaced blocks that somebody was still reading. Only the thread that has the record touches it.
    kept: OwnedCell<*mut Retired>,
    next: *mut Record,
    /// For the models: whoever touches it must have been told of the record.
    #[cfg(slidegate_loom)]
    told: crate::sync::Watched<()>,
}

/// What changes in a record is atomic, or whole at any time.
impl core::panic::RefUnwindSafe for Record {}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Record")
    }
}

/// There was no memory for a record.
#[derive(Debug)]
pub struct NoRecord;

/// A record that a thread has, until this value is dropped.
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
        let free = |record: &&Record| {
            record.taken.load(Relaxed) == 0 && record.taken.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
        };
        all_records().find(free).map_or_else(Taken::add, |record| Ok(Taken::new(record)))
    }

    fn add() -> Result<Taken, NoRecord> {
        // SAFETY: a record has a size.
        let memory = unsafe { alloc(Layout::new::<Record>()) };
        let new = NonNull::new(memory.cast::<Record>()).ok_or(NoRecord)?;
        let mut first = records().load(Relaxed);
        loop {
            let record = Record {
                arrays: array::from_fn(|_| AtomicPtr::new(null_mut())),
                cells: AtomicPtr::new(null_mut()),
                taken: AtomicWord::new(1),
                kept: OwnedCell::new(null_mut()),
                next: first,
                #[cfg(slidegate_loom)]
                told: crate::sync::Watched::new(()),
            };
            // SAFETY: the memory is ours until it is in the list.
            unsafe { new.write(record) };
            // Release: pairs with the Acquire in `all_records`; carries the record.
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
        // It may be that of the thread.
        let _ = CURRENT.try_with(|current| current.set(current.get().filter(|current| !eq(*current, self.0))));
        self.0.release();
        // Release: pairs with the Acquire in `take`; carries `kept`.
        self.0.taken.store(0, Release);
    }
}

global!(records: AtomicPtr<Record> = AtomicPtr::new(null_mut()));

fn all_records() -> impl Iterator<Item = &'static Record> {
    // SAFETY: a record in the list is never freed, and only its atomics and its owner's cell change.
    let record = |address: *mut Record| NonNull::new(address).map(|record| unsafe { record.as_ref() });
    // Acquire: pairs with the Release in `add`; carries the record.
    let all = iter::successors(record(records().load(Acquire)), move |before: &&'static Record| record(before.next));
    #[cfg(slidegate_loom)]
    let all = all.inspect(|record| record.told.with(|_| ()));
    all
}

per_thread!(OWN: OnceCell<Taken> = OnceCell::new());

// What `OWN` has, for the hot path: it needs no look whether it was made, and none whether it is gone.
per_thread!(CURRENT: Cell<Option<&'static Record>> = Cell::new(None));

/// Calls `body` with the record of this thread.
#[inline]
pub(crate) fn with_record<R>(body: impl FnOnce(&Record) -> R) -> Result<R, NoRecord> {
    let mut for_this_call = None;
    let record = match CURRENT.with(Cell::get) {
        Some(record) => record,
        None => first_use(&mut for_this_call)?,
    };
    Ok(body(record))
}

/// For the models: the thread stops for ever, with what it protects.
#[cfg(slidegate_loom)]
pub(crate) fn hold_for_ever() {
    OWN.with(|own| own.get().map(|taken| taken.1.set(true)));
}

/// For the models: how many blocks the records keep.
#[cfg(slidegate_loom)]
pub(crate) fn kept_blocks() -> usize {
    // SAFETY: the model calls this where no thread runs any more; what is kept is not freed.
    let next = |block: &NonNull<Retired>| NonNull::new(unsafe { block.as_ref() }.next.get());
    let kept = |record: &Record| iter::successors(NonNull::new(record.kept.get()), next).collect::<Vec<_>>();
    all_records().flat_map(kept).map(|block| chain_of(block.as_ptr())).sum()
}

/// For the models: how many blocks one leads to, itself among them.
#[cfg(slidegate_loom)]
pub(crate) fn chain_of(first: *mut Retired) -> usize {
    // SAFETY: as above.
    let behind = |block: &NonNull<Retired>| NonNull::new(unsafe { block.as_ref() }.behind);
    iter::successors(NonNull::new(first), behind).count()
}

/// A record for this thread; where the thread is ending and its own is given back already, for one call.
#[cold]
fn first_use(for_this_call: &mut Option<Taken>) -> Result<&'static Record, NoRecord> {
    let taken = Taken::take()?;
    let record = taken.0;
    let mut taken = Some(taken);
    let _ = OWN.try_with(|own| {
        taken.take().map(|taken| own.get_or_init(|| taken));
        CURRENT.with(|current| current.set(Some(record)));
    });
    *for_this_call = taken;
    Ok(record)
}

/// What a pointer was seen to lead to, protected as long as the record protects nothing else in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held<'a> {
    record: &'a Record,
    pointer: &'a AtomicPtr<Retired>,
    array: *mut Retired,
}

impl<'a> Held<'a> {
    pub(crate) fn record(self) -> &'a Record {
        self.record
    }

    pub(crate) fn pointer(self) -> &'a AtomicPtr<Retired> {
        self.pointer
    }

    /// Null where nothing was there yet.
    #[inline]
    pub(crate) fn array(self) -> *mut Retired {
        self.array
    }

    /// Whether the array is still the present one. Relaxed: whoever read what was written under a later array sees it.
    #[inline]
    pub(crate) fn is_present(self) -> bool {
        self.pointer.load(Relaxed) == self.array
    }

    /// Protects cells that stand in the array; false where they may be gone, since the array was replaced.
    #[inline]
    pub(crate) fn protect_cells(self, cells: *mut Retired) -> bool {
        self.protect_new_cells(cells);
        // Pairs with the fence in `retire`.
        of_reader();
        self.is_present()
    }

    /// Protects cells before anybody else can know them; the exchange that makes them known carries it.
    pub(crate) fn protect_new_cells(self, cells: *mut Retired) {
        // Release: as in `release`, for the cells of the client before in a batch.
        // Model: a_ring_is_forgotten_that_was_read.
        self.record.cells.store(cells, Release);
    }
}

impl Record {
    /// What a pointer leads to at present, protected until the record protects something else.
    #[inline]
    pub(crate) fn protect<'a>(&'a self, pointer: &'a AtomicPtr<Retired>) -> Held<'a> {
        let mut seen = pointer.load(Relaxed);
        loop {
            // Release: as in `release`, for what the thread read before.
            self.arrays[0].store(seen, Release);
            // Pairs with the fence in `retire`.
            of_reader();
            // Acquire: pairs with the Release of the publication; carries the array.
            let present = pointer.load(Acquire);
            if present == seen {
                return Held { record: self, pointer, array: seen };
            }
            seen = present;
        }
    }

    /// Several at once behind one fence; `None` for those that were replaced meanwhile.
    pub(crate) fn protect_all<'a>(&'a self, pointers: &[&'a AtomicPtr<Retired>]) -> [Option<Held<'a>>; BATCH] {
        let mut seen = [null_mut(); BATCH];
        for ((pointer, seen), hazard) in pointers.iter().zip(&mut seen).zip(&self.arrays) {
            *seen = pointer.load(Relaxed);
            hazard.store(*seen, Release);
        }
        // As in `protect`.
        of_reader();
        let mut held = [None; BATCH];
        for ((&pointer, array), held) in pointers.iter().zip(seen).zip(&mut held) {
            *held = (pointer.load(Acquire) == array).then_some(Held { record: self, pointer, array });
        }
        held
    }

    /// Protects nothing any more.
    #[inline]
    pub(crate) fn release(&self) {
        // Release: what was read was read before; pairs with the Acquire in `retire`.
        self.arrays[0].store(null_mut(), Release);
        self.release_cells();
    }

    /// Most requests protect none.
    #[inline]
    fn release_cells(&self) {
        if !self.cells.load(Relaxed).is_null() {
            self.cells.store(null_mut(), Release);
        }
    }

    /// The same after [`protect_all`](Self::protect_all).
    pub(crate) fn release_all(&self) {
        for hazard in &self.arrays {
            hazard.store(null_mut(), Release);
        }
        self.release_cells();
    }

    /// Takes over what this thread has just replaced, and frees what it keeps and nobody reads.
    ///
    /// # Safety
    ///
    /// No pointer leads to any of it any more, it was not retired before, and this thread has the record.
    pub(crate) unsafe fn retire(&self, replaced: impl Iterator<Item = NonNull<Retired>>) {
        let mut unread = List(self.kept.get());
        replaced.for_each(|block| unread.push(block));
        let mut read = List(null_mut());
        // Pairs with the fence in `protect`. It comes after the exchange that took the pointer away.
        if !of_mover() {
            return self.kept.set(unread.0);
        }
        // This thread is done with what it retires.
        for other in all_records().filter(|record| !eq(*record, self)) {
            for hazard in other.arrays.iter().chain([&other.cells]) {
                // Acquire: pairs with the Release in `release`; what its owner read is read before we free.
                let hazard = hazard.load(Acquire);
                if !hazard.is_null() {
                    unread.move_to(&mut read, hazard);
                }
            }
        }
        while let Some(block) = unread.pop() {
            // SAFETY: no pointer leads to it, and no record protects it.
            unsafe { free_down_to(block.as_ptr(), null_mut()) };
        }
        self.kept.set(read.0);
    }
}

/// Blocks that one thread has for itself, linked by their `next`.
struct List(*mut Retired);

impl List {
    fn push(&mut self, block: NonNull<Retired>) {
        // SAFETY: what is in a list is not freed.
        unsafe { block.as_ref() }.next.set(self.0);
        self.0 = block.as_ptr();
    }

    fn pop(&mut self) -> Option<NonNull<Retired>> {
        let first = NonNull::new(self.0)?;
        // SAFETY: as above.
        self.0 = unsafe { first.as_ref() }.next.get();
        Some(first)
    }

    /// Moves those to another list that are, or have behind them, what a hazard names.
    fn move_to(&mut self, read: &mut List, hazard: *mut Retired) {
        let mut rest = List(null_mut());
        while let Some(block) = self.pop() {
            // SAFETY: what is behind a block is freed with it.
            let behind = |block: &NonNull<Retired>| NonNull::new(unsafe { block.as_ref() }.behind);
            let is_read = iter::successors(Some(block), behind).any(|block| block.as_ptr() == hazard);
            (if is_read { &mut *read } else { &mut rest }).push(block);
        }
        *self = rest;
    }
}
