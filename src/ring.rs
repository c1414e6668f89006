//! [`Rings`]: the cells of one client's log, a ring that doubles.
//!
//! A ring that a larger one replaced stays linked behind it, since a stopped thread may still read it, and is freed
//! with the client. All rings together take less than twice the largest.

use crate::sync::{
    AtomicPtr, AtomicWord,
    Ordering::{Acquire, Relaxed, Release},
    exclusive,
};
use core::{fmt, marker::PhantomData, ptr::NonNull, ptr::null_mut};
use std::alloc::{Layout, alloc, dealloc};

/// The rings of one client, the largest first; none at the start.
pub(crate) struct Rings {
    largest: AtomicPtr<Header>,
    owned: PhantomData<Box<Header>>,
}

// SAFETY: what is reached through the pointer is atomics, and two fields that nobody writes after their publication.
unsafe impl Send for Rings {}
// SAFETY: as above.
unsafe impl Sync for Rings {}

/// The start of a ring; its cells follow.
struct Header {
    smaller: *mut Header,
    capacity: usize,
    base: AtomicWord,
}

/// A ring that lives at least as long as the borrow of its [`Rings`].
#[derive(Clone, Copy)]
pub(crate) struct Ring<'a> {
    header: NonNull<Header>,
    rings: PhantomData<&'a Rings>,
}

/// There was no memory for a ring.
#[derive(Debug)]
pub(crate) struct NoMemory;

impl Rings {
    const_fn! {
        pub(crate) const fn new() -> Rings {
            Rings { largest: AtomicPtr::new(null_mut()), owned: PhantomData }
        }
    }

    /// The ring of this capacity; `None` before [`with_capacity`](Self::with_capacity) made it.
    #[inline]
    pub(crate) fn get(&self, capacity: usize) -> Option<Ring<'_>> {
        self.find(self.largest(), capacity)
    }

    fn largest(&self) -> *mut Header {
        // Acquire: pairs with the Release in `with_capacity`; carries the header and the cells.
        // Models: log_ring_starts, log_grows.
        self.largest.load(Acquire)
    }

    /// The ring of this capacity among those from `header` down, all of them published.
    #[inline]
    fn find(&self, mut header: *mut Header, capacity: usize) -> Option<Ring<'_>> {
        while let Some(published) = NonNull::new(header) {
            let ring = Ring { header: published, rings: PhantomData };
            if ring.capacity() == capacity {
                return Some(ring);
            }
            header = ring.smaller();
        }
        None
    }

    /// The ring of this capacity, twice that of the largest so far, all its cells 0 if it is new.
    pub(crate) fn with_capacity(&self, capacity: usize) -> Result<Ring<'_>, NoMemory> {
        loop {
            let largest = self.largest();
            if let Some(ring) = self.find(largest, capacity) {
                return Ok(ring);
            }
            let header = allocate(largest, capacity)?;
            // Release: pairs with the Acquire in `largest`, which is where a loser finds the winner's ring.
            match self.largest.compare_exchange(largest, header.as_ptr(), Release, Relaxed) {
                Ok(_) => return Ok(Ring { header, rings: PhantomData }),
                // SAFETY: `allocate` made it for us, and its address was not published.
                Err(_) => unsafe { free(header) },
            }
        }
    }
}

impl Drop for Rings {
    fn drop(&mut self) {
        let mut next = exclusive(&mut self.largest);
        while let Some(header) = NonNull::new(next) {
            next = Ring { header, rings: PhantomData }.smaller();
            // SAFETY: every published ring came from `allocate`, is linked once, and the borrow of `self` is exclusive,
            // so no `Ring` of it is left.
            unsafe { free(header) };
        }
    }
}

impl fmt::Debug for Rings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rings")
    }
}

impl<'a> Ring<'a> {
    pub(crate) fn capacity(self) -> usize {
        // SAFETY: a `Ring` is made of a published header only, which lives as long as the borrow of its rings.
        unsafe { self.header.as_ref().capacity }
    }

    fn smaller(self) -> *mut Header {
        // SAFETY: as in `capacity`.
        unsafe { self.header.as_ref().smaller }
    }

    /// Where a reader finds the newest expired cell, or not far from it.
    #[inline]
    pub(crate) fn base(self) -> &'a AtomicWord {
        // SAFETY: as in `capacity`; the header lives as long as the borrow of the rings.
        let header = unsafe { self.header.as_ref() };
        &header.base
    }

    /// The cell at a position, counted round the ring.
    #[inline]
    pub(crate) fn cell(self, position: u64) -> &'a AtomicWord {
        // The capacity is a power of two, so the cut to `usize` loses nothing of the remainder.
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let index = position as usize & (self.capacity() - 1);
        let (_, first) = layout(self.capacity());
        // SAFETY: the cells start `first` bytes behind the header, in the same allocation.
        let cells = unsafe { self.header.as_ptr().cast::<u8>().add(first) }.cast::<AtomicWord>();
        // SAFETY: `index` is less than the number of cells.
        let cell = unsafe { cells.add(index) };
        // SAFETY: the cells were initialised before the ring was published and live as long as the borrow of the rings.
        unsafe { &*cell }
    }
}

/// The layout of a ring, and the offset of its first cell.
const fn layout(capacity: usize) -> (Layout, usize) {
    // A ring has at most 2^18 cells.
    let Ok(cells) = Layout::array::<AtomicWord>(capacity) else { panic!("a ring larger than the address space") };
    match Layout::new::<Header>().extend(cells) {
        Ok(layout) => layout,
        Err(_) => panic!("a ring larger than the address space"),
    }
}

fn allocate(smaller: *mut Header, capacity: usize) -> Result<NonNull<Header>, NoMemory> {
    let (layout, first) = layout(capacity);
    // SAFETY: the layout has the size of a header at least.
    let start = unsafe { alloc(layout) };
    let header = NonNull::new(start.cast::<Header>()).ok_or(NoMemory)?;
    // SAFETY: the memory is ours, and large and aligned enough for a header.
    unsafe { header.write(Header { smaller, capacity, base: AtomicWord::new(0) }) };
    // SAFETY: the offset lies within the allocation.
    let cells = unsafe { start.add(first) }.cast::<AtomicWord>();
    for index in 0..capacity {
        // SAFETY: `capacity` cells lie behind the header.
        let cell = unsafe { cells.add(index) };
        // SAFETY: the memory is ours and aligned for a cell.
        unsafe { cell.write(AtomicWord::new(0)) };
    }
    Ok(header)
}

/// # Safety
///
/// The header must come from [`allocate`], and nobody else may know it.
unsafe fn free(header: NonNull<Header>) {
    // SAFETY: `allocate` initialised it.
    let (layout, _) = layout(unsafe { header.as_ref().capacity });
    // Neither a header nor an atomic has anything to drop.
    // SAFETY: it was allocated with the layout of this capacity.
    unsafe { dealloc(header.as_ptr().cast(), layout) };
}
