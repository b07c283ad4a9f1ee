//! An allocator that adds up what it gives out, so that a test can say what something cost without a clock.
//!
//! One test at a time: the sum is of the whole process.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

static TOTAL: AtomicUsize = AtomicUsize::new(0);
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[derive(Debug)]
pub(crate) struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; beside it only numbers are added up.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TOTAL.fetch_add(layout.size(), Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        TOTAL.fetch_add(size, Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Keeps other tests from asking for memory meanwhile.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `work` returns, and how many bytes it has asked for in all, whether it gave them back or not.
pub(crate) fn total<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = TOTAL.load(Relaxed);
    let result = work();
    (result, TOTAL.load(Relaxed) - before)
}
