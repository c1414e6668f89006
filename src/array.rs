//! [`Array`]: the slots of one segment of the table, an open-addressing table of tags and words.
//!
//! A slot is claimed by one exchange on its tag and never given to another client while the array lives. The array is
//! replaced, never changed in size: freezing the word of every slot makes it immutable.

use crate::{
    hazard::Retired,
    sync::{AtomicWord, Ordering::Relaxed, Usage},
};
use core::{fmt, marker::PhantomData, ptr::NonNull};
#[cfg(not(slidegate_loom))]
use std::alloc::dealloc;
use std::alloc::{Layout, alloc};

/// One client: who, and what is remembered of it.
#[repr(C, align(16))]
pub(crate) struct Slot {
    /// 0 while nobody has it.
    pub(crate) tag: AtomicWord,
    pub(crate) word: AtomicWord,
}

/// The head of an array; its slots follow.
#[repr(C)]
struct Header {
    retired: Retired,
    capacity: usize,
    birth: u64,
    /// The slots that were claimed, or are about to be.
    claimed: AtomicWord,
    /// No slot dies before this instant, as far as anybody looked.
    none_dies_before: AtomicWord,
    /// What all clients share that found no slot.
    shared: AtomicWord,
    usage: Usage,
    #[cfg(slidegate_loom)]
    freed: std::sync::atomic::AtomicBool,
}

/// An array that is protected, or private, for as long as `'a`.
#[derive(Clone, Copy)]
pub(crate) struct Array<'a> {
    header: NonNull<Header>,
    protected: PhantomData<&'a Header>,
}

impl fmt::Debug for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Array").field("capacity", &self.capacity()).field("birth", &self.birth()).finish()
    }
}

/// There was no memory for an array.
#[derive(Debug)]
pub(crate) struct NoMemory;

/// An array that no other thread knows yet.
#[derive(Debug)]
pub(crate) struct Private(Array<'static>);

impl Private {
    /// An array of empty slots; a power of two of them.
    pub(crate) fn new(capacity: usize, birth: u64, usage: &Usage) -> Result<Private, NoMemory> {
        let (layout, first) = layout(capacity);
        // SAFETY: the layout has the size of a header at least.
        let start = unsafe { alloc(layout) };
        let header = NonNull::new(start.cast::<Header>()).ok_or(NoMemory)?;
        usage.add(layout.size());
        // SAFETY: the memory is ours, and large and aligned enough for a header.
        unsafe {
            header.write(Header {
                retired: Retired::new(free),
                capacity,
                birth,
                claimed: AtomicWord::new(0),
                none_dies_before: AtomicWord::new(0),
                shared: AtomicWord::new(0),
                usage: usage.clone(),
                #[cfg(slidegate_loom)]
                freed: std::sync::atomic::AtomicBool::new(false),
            });
        }
        // SAFETY: the offset lies within the allocation.
        let slots = unsafe { start.add(first) }.cast::<Slot>();
        for index in 0..capacity {
            // SAFETY: `capacity` slots lie behind the header.
            let slot = unsafe { slots.add(index) };
            // SAFETY: the memory is ours and aligned for a slot.
            unsafe { slot.write(Slot { tag: AtomicWord::new(0), word: AtomicWord::new(0) }) };
        }
        Ok(Private(Array { header, protected: PhantomData }))
    }

    pub(crate) fn array(&self) -> Array<'_> {
        self.0
    }

    /// Puts a client into the first empty slot of its probe.
    pub(crate) fn insert(&self, tag: u64, word: u64) {
        let array = self.0;
        // Relaxed stores: the publication carries them.
        for slot in array.probe(tag) {
            if slot.tag.load(Relaxed) == 0 {
                slot.tag.store(tag, Relaxed);
                slot.word.store(word, Relaxed);
                array.claimed().store(array.claimed().load(Relaxed) + 1, Relaxed);
                return;
            }
        }
        unreachable!("a copy is made with room for all that goes into it");
    }

    /// The address to publish; the array is everybody's then.
    pub(crate) fn into_raw(self) -> *mut Retired {
        let address = self.0.as_raw();
        core::mem::forget(self);
        address.as_ptr()
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        // SAFETY: it was allocated by `new`, and nobody else knows it.
        unsafe { free(self.0.as_raw()) };
    }
}

impl<'a> Array<'a> {
    /// # Safety
    ///
    /// The address came from [`Private::into_raw`], and the array is not freed before `'a` ends.
    pub(crate) unsafe fn from_raw(address: NonNull<Retired>) -> Array<'a> {
        Array { header: address.cast(), protected: PhantomData }
    }

    pub(crate) fn as_raw(self) -> NonNull<Retired> {
        self.header.cast()
    }

    fn header(self) -> &'a Header {
        // SAFETY: an `Array` is made of an initialised header that lives as long as `'a`; what changes in it is atomic or
        // belongs to who retires it.
        let header = unsafe { self.header.as_ref() };
        #[cfg(slidegate_loom)]
        assert!(!header.freed.load(Relaxed), "an array is touched after it was freed");
        header
    }

    #[inline]
    pub(crate) fn capacity(self) -> usize {
        self.header().capacity
    }

    /// No client without a record in this array has an effective now before its birth.
    #[inline]
    pub(crate) fn birth(self) -> u64 {
        self.header().birth
    }

    pub(crate) fn claimed(self) -> &'a AtomicWord {
        &self.header().claimed
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
        &self.header().none_dies_before
    }

    pub(crate) fn shared(self) -> &'a AtomicWord {
        &self.header().shared
    }

    /// The slots that may be a client's, in the order in which they are looked at.
    #[inline]
    pub(crate) fn probe(self, tag: u64) -> impl Iterator<Item = &'a Slot> {
        let mask = self.capacity() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "the low bits choose the slot")]
        let home = tag as usize;
        (0..=mask).map(move |step| self.slot(home.wrapping_add(step) & mask))
    }

    pub(crate) fn slots(self) -> impl Iterator<Item = &'a Slot> {
        (0..self.capacity()).map(move |index| self.slot(index))
    }

    #[inline]
    fn slot(self, index: usize) -> &'a Slot {
        let (_, first) = layout(self.capacity());
        // SAFETY: the slots start `first` bytes behind the header, in the same allocation.
        let slots = unsafe { self.header.as_ptr().cast::<u8>().add(first) }.cast::<Slot>();
        debug_assert!(index < self.capacity(), "a slot outside the array");
        // SAFETY: both callers keep `index` below the capacity.
        let slot = unsafe { slots.add(index) };
        // SAFETY: it was initialised before the array was published, and lives as long as `'a`.
        unsafe { &*slot }
    }
}

/// The layout of an array, and the offset of its first slot.
const fn layout(capacity: usize) -> (Layout, usize) {
    let Ok(slots) = Layout::array::<Slot>(capacity) else { panic!("an array larger than the address space") };
    match Layout::new::<Header>().extend(slots) {
        Ok(layout) => layout,
        Err(_) => panic!("an array larger than the address space"),
    }
}

/// The bytes that an array of so many slots takes.
pub(crate) const fn bytes_of_array(capacity: usize) -> usize {
    layout(capacity).0.size()
}

/// # Safety
///
/// The array came from [`Private::new`], and nobody else can reach it.
pub(crate) unsafe fn free(address: NonNull<Retired>) {
    let header = address.cast::<Header>();
    // SAFETY: `new` initialised it, and nobody reads it any more; neither atomics nor numbers have anything to drop.
    let Header { capacity, usage, .. } = unsafe { header.read() };
    let (layout, _) = layout(capacity);
    usage.remove(layout.size());
    // In the models a freed array stays, so that touching it is seen.
    // SAFETY: as above.
    #[cfg(slidegate_loom)]
    unsafe { header.as_ref() }.freed.store(true, Relaxed);
    // SAFETY: it was allocated with the layout of this capacity.
    #[cfg(not(slidegate_loom))]
    unsafe {
        dealloc(header.as_ptr().cast(), layout);
    }
}
