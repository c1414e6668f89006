//! [`Array`]: the slots of one segment of the table, an open-addressing table of tags and what is remembered.
//!
//! A slot is claimed by one exchange on its tag and never given to another client while the array lives. The array is
//! replaced, never changed in size: freezing every slot makes it immutable.

use crate::{
    block::{Block, NoMemory, free_down_to},
    hazard::Retired,
    sync::{
        AtomicWord,
        Ordering::{Acquire, Relaxed},
        Usage,
    },
    word::FROZEN,
};
use core::{
    fmt,
    ptr::{NonNull, null_mut},
};

/// What a slot holds beside the word.
pub trait Cells: fmt::Debug + Send + Sync + core::panic::RefUnwindSafe {
    /// Nothing, with the alignment that keeps a slot within a line.
    type Align: fmt::Debug + Send + Sync + core::panic::RefUnwindSafe;

    /// None so far.
    fn new() -> Self;

    /// What the cells start with; whoever sees it sees them.
    fn first(&self) -> *mut Retired;

    /// Makes what they start with final, and tells it.
    fn freeze(&self) -> *mut Retired;

    /// Starts with these instead, where nobody else can reach the slot.
    fn start_with(&self, first: *mut Retired);
}

/// The algorithms of one word need no cells.
#[derive(Debug)]
pub struct NoCells;

#[derive(Debug)]
#[repr(align(16))]
pub struct Align16;

impl Cells for NoCells {
    type Align = Align16;

    fn new() -> NoCells {
        NoCells
    }

    fn first(&self) -> *mut Retired {
        null_mut()
    }

    fn freeze(&self) -> *mut Retired {
        null_mut()
    }

    fn start_with(&self, _: *mut Retired) {}
}

/// One client: who, and what is remembered of it.
#[derive(Debug)]
#[repr(C)]
pub struct Slot<L: Cells> {
    align: [L::Align; 0],
    /// 0 while nobody has it.
    pub(crate) tag: AtomicWord,
    pub(crate) word: AtomicWord,
    pub(crate) cells: L,
}

impl<L: Cells> Slot<L> {
    pub(crate) fn new() -> Slot<L> {
        Slot { align: [], tag: AtomicWord::new(0), word: AtomicWord::new(0), cells: L::new() }
    }

    /// What is remembered, from now on for ever: the word, then the cells, and only then may the tag be read, so that a
    /// late claim finds a frozen word.
    pub(crate) fn freeze(&self) -> Remembered {
        // Acquire: pairs with the Release in `decide`; carries the tag of the client that made the record.
        let word = self.word.fetch_or(FROZEN, Acquire) & !FROZEN;
        Remembered { word, cells: self.cells.freeze() }
    }

    /// What is remembered in a slot that is frozen.
    pub(crate) fn frozen(&self) -> Remembered {
        Remembered { word: self.word.load(Relaxed) & !FROZEN, cells: self.cells.first() }
    }

    /// Relaxed stores: the publication carries them.
    fn set(&self, remembered: Remembered) {
        self.word.store(remembered.word, Relaxed);
        self.cells.start_with(remembered.cells);
    }
}

/// What is remembered of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remembered {
    pub(crate) word: u64,
    pub(crate) cells: *mut Retired,
}

/// The head of an array; its slots follow.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Head<L: Cells> {
    birth: u64,
    /// The slots that were claimed, or are about to be.
    claimed: AtomicWord,
    /// No slot dies before this instant, as far as anybody looked.
    none_dies_before: AtomicWord,
    /// What all clients share that found no slot.
    shared: Slot<L>,
}

/// An array that is protected, or private, for as long as `'a`; a power of two of slots.
pub(crate) type Array<'a, L> = Block<'a, Head<L>, Slot<L>>;

impl<'a, L: Cells> Array<'a, L> {
    #[inline]
    pub(crate) fn capacity(self) -> usize {
        self.len()
    }

    /// No client without a record in this array has an effective now before its birth.
    #[inline]
    pub(crate) fn birth(self) -> &'a u64 {
        &self.head().birth
    }

    pub(crate) fn claimed(self) -> &'a AtomicWord {
        &self.head().claimed
    }

    /// Sets a slot aside for a claim, if fewer than so many are claimed.
    pub(crate) fn reserve(self, most: usize) -> bool {
        let claimed = self.claimed();
        let mut seen = claimed.load(Relaxed);
        while seen < most as u64 {
            match claimed.compare_exchange_weak(seen, seen + 1, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(newer) => seen = newer,
            }
        }
        false
    }

    pub(crate) fn none_dies_before(self) -> &'a AtomicWord {
        &self.head().none_dies_before
    }

    pub(crate) fn shared(self) -> &'a Slot<L> {
        &self.head().shared
    }

    /// The slot of a client that has one.
    #[inline]
    pub(crate) fn find(self, tag: u64) -> Option<&'a Slot<L>> {
        for slot in self.probe(tag) {
            match slot.tag.load(Relaxed) {
                0 => break,
                found if found == tag => return Some(slot),
                _ => {}
            }
        }
        None
    }

    /// The slots that may be a client's, in the order in which they are looked at.
    #[inline]
    pub(crate) fn probe(self, tag: u64) -> impl Iterator<Item = &'a Slot<L>> {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits choose the slot")]
        let home = tag as usize;
        (0..self.capacity()).map(move |step| self.item(home.wrapping_add(step)))
    }

    /// Has the slot fetched where a client's probe starts.
    #[inline]
    pub(crate) fn prefetch_slot(self, tag: u64) {
        if let Some(slot) = self.probe(tag).next() {
            prefetch(slot);
        }
    }

    pub(crate) fn slots(self) -> impl Iterator<Item = &'a Slot<L>> {
        (0..self.capacity()).map(move |index| self.item(index))
    }
}

/// An array that no other thread knows yet. The cells in it belong to the array that it is to replace, but for those that
/// came while it was private.
#[derive(Debug)]
pub(crate) struct Private<L: Cells + 'static> {
    array: Array<'static, L>,
    /// Where cells may come, and what they started with.
    open: Option<(&'static Slot<L>, *mut Retired)>,
}

impl<L: Cells> Private<L> {
    /// An array of empty slots; a power of two of them.
    pub(crate) fn new(capacity: usize, birth: u64, usage: &Usage) -> Result<Private<L>, NoMemory> {
        let head =
            Head { birth, claimed: AtomicWord::new(0), none_dies_before: AtomicWord::new(0), shared: Slot::new() };
        let array = Block::allocate(head, capacity, Slot::new, null_mut(), usage)?;
        Ok(Private { array, open: None })
    }

    /// Puts a client into the first empty slot of its probe.
    pub(crate) fn insert(&self, tag: u64, remembered: Remembered) {
        let free = self.array.probe(tag).find(|slot| slot.tag.load(Relaxed) == 0);
        let slot = free.unwrap_or_else(|| unreachable!("a copy is made with room for all that goes into it"));
        // Relaxed stores: the publication carries them.
        slot.tag.store(tag, Relaxed);
        slot.set(remembered);
        self.array.claimed().store(self.array.claimed().load(Relaxed) + 1, Relaxed);
    }

    /// What all clients share that find no slot.
    pub(crate) fn share(&self, remembered: Remembered) {
        self.array.shared().set(remembered);
    }

    /// The slot in which the mover decides his own request, with the array it is in: that of a client that was inserted,
    /// or the shared one. Cells may come to it.
    pub(crate) fn open(&mut self, tag: Option<u64>) -> &Slot<L> {
        let client = |tag| self.array.probe(tag).find(|slot| slot.tag.load(Relaxed) == tag);
        let slot = tag.and_then(client).unwrap_or(self.array.shared());
        self.open = Some((slot, slot.cells.first()));
        slot
    }

    pub(crate) fn as_raw(&self) -> NonNull<Retired> {
        self.array.as_raw()
    }

    /// The array is everybody's from now on.
    pub(crate) fn published(self) {
        core::mem::forget(self);
    }
}

impl<L: Cells> Drop for Private<L> {
    fn drop(&mut self) {
        if let Some((slot, carried)) = self.open {
            // SAFETY: what came since then nobody else knows.
            unsafe { free_down_to(slot.cells.first(), carried) };
        }
        // SAFETY: nobody else knows the array.
        unsafe { free_down_to(self.array.as_raw().as_ptr(), null_mut()) };
    }
}

/// Frees an array with the cells of its clients.
///
/// # Safety
///
/// Nobody else can reach it, or will.
pub(crate) unsafe fn free_with_cells<L: Cells>(address: NonNull<Retired>) {
    // SAFETY: the caller's promise.
    let array: Array<'_, L> = unsafe { Block::from_raw(address) };
    for slot in array.slots().chain([array.shared()]) {
        // SAFETY: a chain of cells belongs to one slot of the present array.
        unsafe { free_down_to(slot.cells.first(), null_mut()) };
    }
    // SAFETY: as above.
    unsafe { free_down_to(address.as_ptr(), null_mut()) };
}

/// Has the line fetched, on processors where that can be said.
#[inline]
fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads and writes nothing.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(place).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
