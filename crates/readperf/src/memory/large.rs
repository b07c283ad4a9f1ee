//! Large blocks: mappings of the system that begin where a large page does, with large pages where the system has them.
//!
//! Tables are used all over, so that small pages cost a tenth of a report, to be made and to be found. The system puts a large page only where
//! one begins, and where a block begins anywhere, that is lost at both ends of it.

use std::alloc::Layout;
use std::ptr::null_mut;

/// Blocks from this size on, which is that of a large page where pages have 4 KiB.
pub(super) const LARGE: usize = 2 << 20;

/// Whether a block of this layout is a large one. Other systems move no mappings.
#[inline]
pub(super) fn is_large(layout: Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= LARGE && layout.align() <= page_bytes()
}

/// Zeros; null if there are none.
pub(super) fn map(bytes: usize) -> *mut u8 {
    let Some(bytes) = whole_pages(bytes) else { return null_mut() };
    let start = room(bytes);
    if !start.is_null() {
        advise(start, bytes);
    }
    start
}

/// Gives a block back.
///
/// # Safety
/// It is one of [`map`] or [`remap`], of this size, and is not used any more.
pub(super) unsafe fn unmap(block: *mut u8, bytes: usize) {
    if let Some(bytes) = whole_pages(bytes) {
        // SAFETY: as the caller promised, nobody uses it.
        unsafe { libc::munmap(block.cast(), bytes) };
    }
}

/// Makes a block longer or shorter, without copying; null, and the block stays, if there is no room for it.
///
/// # Safety
/// It is one of [`map`] or [`remap`], of this size, and is used only under the new address from now on.
#[cfg(target_os = "linux")]
pub(super) unsafe fn remap(block: *mut u8, before: usize, now: usize) -> *mut u8 {
    let (Some(before), Some(now)) = (whole_pages(before), whole_pages(now)) else { return null_mut() };
    // SAFETY: as the caller promised, it is a mapping of this size.
    let here = unsafe { libc::mremap(block.cast(), before, now, 0) };
    if here != libc::MAP_FAILED {
        return here.cast();
    }
    // To where a large page begins: these are moved as they are.
    let start = room(now);
    if start.is_null() {
        return null_mut();
    }
    let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: it is a mapping of this size, and what lies at the new place was made for it.
    let moved = unsafe { libc::mremap(block.cast(), before, now, flags, start.cast::<libc::c_void>()) };
    if moved == libc::MAP_FAILED {
        // SAFETY: nobody has it.
        unsafe { libc::munmap(start.cast(), now) };
        return null_mut();
    }
    moved.cast()
}

/// Other systems have no large blocks.
#[cfg(not(target_os = "linux"))]
pub(super) unsafe fn remap(_: *mut u8, _: usize, _: usize) -> *mut u8 {
    null_mut()
}

/// Room that begins where a large page does, if there is so much, else anywhere.
fn room(bytes: usize) -> *mut u8 {
    let Some(more) = bytes.checked_add(LARGE) else { return null_mut() };
    let any = new_mapping(more);
    if any.is_null() {
        return new_mapping(bytes);
    }
    let before = any.addr().wrapping_neg() & (LARGE - 1);
    let start = any.wrapping_add(before);
    // SAFETY: both are parts of the mapping that was made above, of which nobody knows.
    unsafe {
        if before > 0 {
            libc::munmap(any.cast(), before);
        }
        libc::munmap(start.wrapping_add(bytes).cast(), LARGE - before);
    }
    start
}

fn new_mapping(bytes: usize) -> *mut u8 {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a mapping of its own, at a place that the system chooses.
    let made = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
    if made == libc::MAP_FAILED { null_mut() } else { made.cast() }
}

/// Asks for large pages.
fn advise(start: *mut u8, bytes: usize) {
    // SAFETY: it is advice about a mapping of this size. That it is not taken changes nothing else.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE)
    };
}

fn whole_pages(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(page_bytes())
}

/// Bytes of a page, a power of two.
fn page_bytes() -> usize {
    // SAFETY: it only asks for a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).unwrap_or(1 << 16)
}
