//! An allocator that counts, so that a test can say how much memory something took at its peak.
//!
//! One test at a time: a measurement holds a lock, since the counts are of the whole process.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static ALL: AtomicUsize = AtomicUsize::new(0);
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Counts what the system's allocator gives out.
#[derive(Debug)]
pub struct Counting;

fn more(size: usize) {
    let now = NOW.fetch_add(size, Relaxed).wrapping_add(size);
    PEAK.fetch_max(now, Relaxed);
    ALL.fetch_add(size, Relaxed);
}

// SAFETY: every call goes to the system's allocator unchanged; beside it only numbers are added up.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as the caller promised.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be there for a moment.
        more(size);
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promised.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Keeps other measurements from starting.
pub fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What `work` returns, and how many bytes it allocated in all, given back or not: a measure of the work.
pub fn allocated<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALL.load(Relaxed);
    let result = work();
    (result, ALL.load(Relaxed).wrapping_sub(before))
}

/// What `work` returns, and how many bytes more than before were allocated at its peak.
pub fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = work();
    (result, PEAK.load(Relaxed).saturating_sub(before))
}
