//! Memory: large tables return to the system when they are let go, tables and heap have large pages, and the end of memory is told. What
//! grows with the input is all over the program, and in its libraries: so it is the allocator that says in one line that there is no more,
//! and ends the program, where the standard library would abort with a backtrace.
//!
//! It needs `unsafe`: there is no other way to have a word in it.
#![allow(unsafe_code)]

#[cfg(target_env = "gnu")]
mod heap;
mod large;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write as _};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The system's allocator, whose refusal is the end; large blocks are mappings of the system.
pub(crate) struct OrEnd;

// SAFETY: small blocks are those of the system's allocator, unchanged, and large ones are mappings, which nobody else has; which of both a
// block is follows from its layout, which the caller keeps. Null is never given: then this process ends.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if large::is_large(layout) {
            return or_end(large::map(layout.size()), layout.size());
        }
        // SAFETY: as the caller promised.
        of_heap(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if large::is_large(layout) {
            // The system's pages are zeros.
            return or_end(large::map(layout.size()), layout.size());
        }
        // SAFETY: as the caller promised.
        of_heap(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised, it is a block of this layout, which was made here or there.
        match large::is_large(layout) {
            true => unsafe { large::unmap(pointer, layout.size()) },
            false => unsafe { System.dealloc(pointer, layout) },
        }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promised that the size is one of a layout.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (large::is_large(layout), large::is_large(wanted)) {
            // SAFETY: as the caller promised.
            (false, false) => of_heap(unsafe { System.realloc(pointer, layout, size) }, size),
            // SAFETY: it is a large block of this size.
            (true, true) => or_end(unsafe { large::remap(pointer, layout.size(), size) }, size),
            // SAFETY: both blocks are at least as long as what is copied, and the old one is not used after this.
            _ => unsafe {
                let new = self.alloc(wanted);
                std::ptr::copy_nonoverlapping(pointer, new, size.min(layout.size()));
                self.dealloc(pointer, layout);
                new
            },
        }
    }
}

/// Blocks of this size and above are mappings of their own where the heap has no room for them without growing. What is read of binaries
/// lies between names that stay, and of the heap such gaps do not return: with 4 MiB here, a report held 187 MiB instead of 159.
#[cfg(target_env = "gnu")]
const OWN_MAPPING: libc::c_int = 512 << 10;

/// The heap grows by so much at a time: large pages lie only in what is there as a whole, and the heaps of threads, which are no longer than
/// this, would grow page by page otherwise. What is not used of it takes no memory. So much that was let go at the end of the heap is kept for
/// what comes next, too, and all of the heaps of threads: the most that small blocks took stays with the process.
#[cfg(target_env = "gnu")]
const GROWTH: libc::c_int = 64 << 20;

/// Sees to it that large tables return to the system when they are let go. Of its own accord glibc takes the size of each for the
/// limit up to which blocks come from its heap, so that after the first large one the heap holds all others, and keeps the gaps:
/// a third of all memory in reports.
pub(crate) fn prepare() {
    // SAFETY: it only sets a number, and no other thread runs yet.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING);
        libc::mallopt(libc::M_TRIM_THRESHOLD, GROWTH);
        libc::mallopt(libc::M_TOP_PAD, GROWTH);
    }
}

/// A block of the system's allocator, unless it gives none. The longest may have mappings of their own.
#[inline]
fn of_heap(block: *mut u8, bytes: usize) -> *mut u8 {
    #[cfg(target_env = "gnu")]
    if bytes < OWN_MAPPING.cast_unsigned() as usize && !block.is_null() {
        heap::in_large_pages(block);
    }
    or_end(block, bytes)
}

#[inline]
fn or_end(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        end(bytes);
    }
    pointer
}

/// Ends the program if the system gives not even a page. The C library needs memory of its own, for a thread that begins, and ends the
/// program where there is none. For a handler of signals: it asks the system, not the heap.
pub(crate) fn end_if_none_is_left() {
    const PAGE: usize = 4096;
    let page = large::map(PAGE);
    if page.is_null() {
        end(PAGE);
    }
    // SAFETY: it is a block of this size, and nobody uses it.
    unsafe { large::unmap(page, PAGE) };
}

/// Says why, once, and ends the program: whatever is done on a usual way out may need memory.
#[cold]
fn end(bytes: usize) -> ! {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    if !IS_TOLD.swap(true, Relaxed) {
        let mut line = [0_u8; 160];
        let mut to = Cursor::new(line.as_mut_slice());
        // It fits.
        let _ = writeln!(
            to,
            "readperf: error: out of memory: {bytes} more bytes are needed, and the system or a limit (ulimit -v) does not give them"
        );
        let len = usize::try_from(to.position()).unwrap_or(0);
        // SAFETY: the pointer and the length are those of a local array, of which so much has been written.
        unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), len) };
    }
    crate::leaving::without_memory()
}
