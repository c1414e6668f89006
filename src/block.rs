//! [`Block`]: a head and the items behind it in one allocation, which hazard records protect.

use crate::{hazard::Retired, sync::Usage};
use core::{fmt, marker::PhantomData, ptr::NonNull};
use std::alloc::{Layout, alloc};

/// What stands before the items.
#[repr(C)]
struct Head<H> {
    /// First, so that a block's address is its own.
    retired: Retired,
    usage: Usage,
    len: usize,
    own: H,
}

/// A block that lives at least as long as `'a`: it is protected, or private, or who owns it is borrowed.
pub(crate) struct Block<'a, H, T> {
    head: NonNull<Head<H>>,
    lives: PhantomData<&'a (H, T)>,
}

impl<H, T> Clone for Block<'_, H, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H, T> Copy for Block<'_, H, T> {}

impl<H, T> fmt::Debug for Block<'_, H, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// There was no memory for a block.
#[derive(Debug)]
pub(crate) struct NoMemory;

impl<'a, H, T> Block<'a, H, T> {
    /// A new block that nobody else knows, linked before the one `behind`. Nothing in it may need to be dropped.
    pub(crate) fn allocate(
        own: H,
        len: usize,
        item: impl Fn() -> T,
        behind: *mut Retired,
        usage: &Usage,
    ) -> Result<Block<'a, H, T>, NoMemory> {
        const { assert!(!core::mem::needs_drop::<H>() && !core::mem::needs_drop::<T>() || cfg!(slidegate_loom)) };
        let layout = Self::layout(len);
        // SAFETY: the layout has the size of a head at least.
        let start = unsafe { alloc(layout) };
        let head = NonNull::new(start.cast::<Head<H>>()).ok_or(NoMemory)?;
        usage.add(layout.size());
        #[cfg(slidegate_loom)]
        crate::sync::ending::note_block(1);
        let retired = Retired::new(behind, free::<H, T>);
        // SAFETY: the memory is ours, and large and aligned enough for a head.
        unsafe { head.write(Head { retired, usage: usage.clone(), len, own }) };
        // SAFETY: the offset lies within the allocation.
        let items = unsafe { start.add(Self::FIRST) }.cast::<T>();
        for index in 0..len {
            // SAFETY: `len` items lie behind the head.
            let place = unsafe { items.add(index) };
            // SAFETY: the memory is ours and aligned for an item.
            unsafe { place.write(item()) };
        }
        Ok(Block { head, lives: PhantomData })
    }

    /// # Safety
    ///
    /// The address came from [`as_raw`](Self::as_raw) of a block of these types, which is not freed before `'a` ends.
    #[inline]
    pub(crate) unsafe fn from_raw(address: NonNull<Retired>) -> Self {
        Block { head: address.cast(), lives: PhantomData }
    }

    #[inline]
    pub(crate) fn as_raw(self) -> NonNull<Retired> {
        self.head.cast()
    }

    #[inline]
    fn whole(self) -> &'a Head<H> {
        // SAFETY: a block is initialised, and lives as long as `'a`; what changes in it is atomic, or belongs to who
        // retires it.
        let head = unsafe { self.head.as_ref() };
        #[cfg(slidegate_loom)]
        head.retired.assert_not_freed();
        head
    }

    #[inline]
    pub(crate) fn head(self) -> &'a H {
        &self.whole().own
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.whole().len
    }

    /// What was linked behind it.
    pub(crate) fn behind(self) -> *mut Retired {
        self.whole().retired.behind()
    }

    /// The item at an index, counted round a length that is a power of two.
    #[inline]
    pub(crate) fn item(self, index: usize) -> &'a T {
        let index = index & (self.len() - 1);
        // SAFETY: the items start so many bytes behind the head's start, in the same allocation.
        let items = unsafe { self.head.as_ptr().cast::<u8>().add(Self::FIRST) }.cast::<T>();
        // SAFETY: `index` is less than the number of items.
        let item = unsafe { items.add(index) };
        // SAFETY: the items were initialised before anybody got the block, and live as long as `'a`.
        unsafe { &*item }
    }

    /// The offset of the first item.
    const FIRST: usize = size_of::<Head<H>>().next_multiple_of(align_of::<T>());

    const fn layout(len: usize) -> Layout {
        let size = match size_of::<T>().checked_mul(len) {
            Some(size) => Self::FIRST + size,
            None => panic!("a block larger than the address space"),
        };
        let align = if align_of::<T>() > align_of::<Head<H>>() { align_of::<T>() } else { align_of::<Head<H>>() };
        match Layout::from_size_align(size, align) {
            Ok(layout) => layout,
            Err(_) => panic!("a block larger than the address space"),
        }
    }

    /// The bytes that a block of so many items takes.
    pub(crate) const fn bytes(len: usize) -> usize {
        Self::layout(len).size()
    }
}

/// # Safety
///
/// The address is that of a block of these types that nobody else can reach, or will.
unsafe fn free<H, T>(address: NonNull<Retired>) {
    let head = address.cast::<Head<H>>();
    // SAFETY: `allocate` initialised it, nobody reads it any more, and it is read out once.
    let Head { usage, len, .. } = unsafe { head.read() };
    let layout = Block::<H, T>::layout(len);
    usage.remove(layout.size());
    // In the models a freed block stays, so that touching it is seen.
    // SAFETY: as above; the mark is atomic.
    #[cfg(slidegate_loom)]
    unsafe { address.as_ref() }.mark_as_freed();
    #[cfg(slidegate_loom)]
    crate::sync::ending::note_block(-1);
    // SAFETY: it was allocated with the layout of this length.
    #[cfg(not(slidegate_loom))]
    unsafe {
        std::alloc::dealloc(head.as_ptr().cast(), layout);
    }
}

/// Frees a block and what is linked behind it, down to `last`, which stays.
///
/// # Safety
///
/// Nobody else can reach them, or will; `last` is null or one of them.
pub(crate) unsafe fn free_down_to(first: *mut Retired, last: *mut Retired) {
    let mut next = first;
    while let Some(block) = NonNull::new(next).filter(|block| block.as_ptr() != last) {
        // SAFETY: the caller's promise; it is not freed yet.
        let retired = unsafe { block.as_ref() };
        next = retired.behind();
        // SAFETY: the caller's promise; what frees a block stands in it since it was allocated.
        unsafe { retired.free(block) };
    }
}
