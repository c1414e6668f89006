//! [`Rings`]: the cells of one client's log, a ring that doubles.
//!
//! A ring that a larger one replaced stays linked behind it, since a stopped thread may still read it, and is freed with
//! the client. All rings together take less than twice the largest. What the client's slot leads to is the largest ring;
//! a move marks the pointer as final, so that no ring starts or doubles in an array that was copied.

use crate::{
    algorithm::Visit,
    array::Cells,
    block::{Block, NoMemory, free_down_to},
    hazard::{Held, Retired},
    sync::{
        AtomicPtr, AtomicWord,
        Ordering::{Acquire, Relaxed, Release},
    },
};
use core::ptr::{NonNull, null_mut};

/// The rings of one client, the largest first; none at the start.
#[derive(Debug)]
pub struct Rings(AtomicPtr<Retired>);

#[derive(Debug)]
#[repr(align(32))]
pub struct Align32;

/// Set in the pointer once it is final; rings lie at even addresses.
const FINAL: usize = 1;

fn is_final(pointer: *mut Retired) -> bool {
    pointer.addr() & FINAL != 0
}

fn address(pointer: *mut Retired) -> *mut Retired {
    pointer.map_addr(|address| address & !FINAL)
}

impl Cells for Rings {
    type Align = Align32;

    fn new() -> Rings {
        Rings(AtomicPtr::new(null_mut()))
    }

    fn first(&self) -> *mut Retired {
        // Acquire: pairs with the Release in `enlarge`, and carries the ring on to a copy (model: a_ring_starts_for_another);
        // pairs with that in `freeze`, and whoever finds the mark finds the word frozen (model: a_ring_starts_in_a_move).
        address(self.0.load(Acquire))
    }

    fn freeze(&self) -> *mut Retired {
        loop {
            let seen = self.0.load(Relaxed);
            let done = seen.map_addr(|address| address | FINAL);
            // Release: pairs with the Acquire in `first`. Model: a_ring_starts_in_a_move.
            if is_final(seen) || self.0.compare_exchange(seen, done, Release, Relaxed).is_ok() {
                return self.first();
            }
        }
    }

    fn start_with(&self, first: *mut Retired) {
        self.0.store(first, Relaxed);
    }
}

/// The largest ring of a client as a request sees it, protected with all those behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Largest<'a>(Option<Ring<'a>>);

impl Rings {
    /// Protects the rings; `None` where they may be gone, since the client's array was replaced.
    #[inline]
    pub(crate) fn protect<'a>(&'a self, held: Held<'a>) -> Option<Largest<'a>> {
        let first = self.first();
        let Some(ring) = NonNull::new(first) else { return Some(Largest(None)) };
        // SAFETY: what a slot of a present array leads to is a ring that was not retired; now that it is protected, it
        // will not be freed before the record protects something else.
        held.protect_cells(first).then(|| Largest(Some(Ring(unsafe { Block::from_raw(ring) }))))
    }

    /// Puts a ring of this capacity before the largest, all its cells 0; `None` where another one came first, or none may
    /// come any more.
    pub(crate) fn enlarge<'a>(
        &self,
        largest: Largest<'a>,
        capacity: usize,
        visit: Visit<'a>,
    ) -> Result<Option<Largest<'a>>, NoMemory> {
        let seen = largest.address();
        let ring = Block::allocate(AtomicWord::new(0), capacity, || AtomicWord::new(0), seen, visit.usage)?;
        let first = ring.as_raw().as_ptr();
        if seen.is_null() {
            // Otherwise the ring that is protected protects this one, which has it behind it.
            visit.held.protect_new_cells(first);
        }
        // Release: pairs with the Acquire in `first`. Model: log_ring_starts.
        if self.0.compare_exchange(seen, first, Release, Relaxed).is_err() {
            // SAFETY: nobody else knows it; the rings behind it stay.
            unsafe { free_down_to(first, seen) };
            return Ok(None);
        }
        Ok(Some(Largest(Some(Ring(ring)))))
    }
}

impl<'a> Largest<'a> {
    fn address(self) -> *mut Retired {
        self.0.map_or(null_mut(), |ring| ring.0.as_raw().as_ptr())
    }

    /// Whether it is the one at this address.
    #[inline]
    pub(crate) fn is(self, address: *mut Retired) -> bool {
        self.address() == address
    }

    /// The ring of this capacity.
    #[inline]
    pub(crate) fn find(self, capacity: usize) -> Option<Ring<'a>> {
        let mut next = self.0;
        while let Some(ring) = next.filter(|ring| ring.capacity() != capacity) {
            // SAFETY: what is behind a protected ring is a ring, and freed with it.
            next = NonNull::new(ring.0.behind()).map(|behind| Ring(unsafe { Block::from_raw(behind) }));
        }
        next
    }
}

/// A ring that is protected for as long as `'a`; a power of two of cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ring<'a>(Block<'a, AtomicWord, AtomicWord>);

impl<'a> Ring<'a> {
    #[inline]
    pub(crate) fn capacity(self) -> usize {
        self.0.len()
    }

    /// Where a reader finds the newest expired cell, or not far from it.
    #[inline]
    pub(crate) fn base(self) -> &'a AtomicWord {
        self.0.head()
    }

    /// The cell at a position, counted round the ring.
    #[inline]
    pub(crate) fn cell(self, position: u64) -> &'a AtomicWord {
        #[expect(clippy::cast_possible_truncation, reason = "the capacity is a power of two: the low bits choose")]
        self.0.item(position as usize)
    }

    /// The bytes of a ring of this capacity.
    pub(crate) const fn bytes(capacity: usize) -> usize {
        Block::<'_, AtomicWord, AtomicWord>::bytes(capacity)
    }
}
