//! Memory: what is let go returns to the system, large tables have large pages, and its end is told. What grows with the input is all over the program, and in
//! its libraries: so it is the allocator that says in one line that there is no more, and ends the program, where the standard
//! library would abort with a backtrace.
//!
//! It needs `unsafe`: there is no other way to have a word in it.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{Cursor, Write as _};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The system's allocator, whose refusal is the end.
pub(crate) struct OrEnd;

// SAFETY: every call goes to the system's allocator unchanged, and what it gives is handed on unless it is null; then this
// process ends.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        with_large_pages(or_end(unsafe { System.alloc(layout) }, layout.size()), layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promised.
        with_large_pages(or_end(unsafe { System.alloc_zeroed(layout) }, layout.size()), layout.size())
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promised.
        with_large_pages(or_end(unsafe { System.realloc(pointer, layout, size) }, size), size)
    }
}

/// Blocks of this size and above are mappings of their own. What is read of binaries lies between names that stay, and of the heap such
/// gaps do not return: with 4 MiB here, a report held 187 MiB instead of 159.
#[cfg(target_env = "gnu")]
const OWN_MAPPING: libc::c_int = 512 << 10;

/// So much of the heap is kept for what comes next when it is let go: with little, each of the many batches of records gets its
/// pages anew.
#[cfg(target_env = "gnu")]
const KEPT: libc::c_int = 32 << 20;

/// Sees to it that large tables return to the system when they are let go. Of its own accord glibc takes the size of each for the
/// limit up to which blocks come from its heap, so that after the first large one the heap holds all others, and keeps the gaps:
/// a third of all memory in reports.
pub(crate) fn prepare() {
    // SAFETY: it only sets a number, and no other thread runs yet.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_MAPPING);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}

/// Asks for large pages for a block that is a mapping of its own, where the system has them: tables are used all over, so that small
/// pages cost a tenth of a report, to be made and to be found.
#[inline]
fn with_large_pages(block: *mut u8, size: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if size >= LARGE {
        // From the page on in which the block begins, the first one of its mapping. If only a part of a mapping were advised, it would
        // be two mappings to the system, which are not moved when the block grows: all of it would be copied.
        let before = block.addr() & (page_bytes() - 1);
        let start = block.with_addr(block.addr() - before);
        // SAFETY: it is advice: what is in the pages stays, also in what is before the block. That it is not taken changes nothing else.
        unsafe { libc::madvise(start.cast(), size + before, libc::MADV_HUGEPAGE) };
    }
    block
}

/// Blocks from this size on.
#[cfg(target_os = "linux")]
const LARGE: usize = 2 << 20;

/// Bytes of a page, a power of two.
#[cfg(target_os = "linux")]
fn page_bytes() -> usize {
    // SAFETY: it only asks for a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(1)
}

#[inline]
fn or_end(pointer: *mut u8, bytes: usize) -> *mut u8 {
    if pointer.is_null() {
        end(bytes);
    }
    pointer
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
