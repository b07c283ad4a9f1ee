//! The heap of the system's allocator with large pages.
//!
//! Pages of blocks that are too small for a mapping of their own were most page faults of a report (BENCHMARKS.md). The C library asks for
//! large pages only where a variable of the environment tells it to, and tells nobody when its heap grows: so it is asked here, when a block
//! lies where none has lain yet.

use super::large::LARGE;
use std::ptr::without_provenance_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The heaps of threads begin at multiples of this, and are no longer.
const HEAP_PAGES: usize = (64 << 20) / LARGE;

/// Large pages that the system has been asked for, by the lowest bits of their numbers. To ask twice does no harm.
static ASKED: [AtomicUsize; 1024] = [const { AtomicUsize::new(0) }; 1024];

/// Sees to it that what lies around and behind a block of the heap has large pages.
#[inline]
pub(super) fn in_large_pages(block: *mut u8) {
    let page = block.addr() / LARGE;
    if let Some(asked) = ASKED.get(page % ASKED.len()).filter(|asked| asked.load(Relaxed) != page) {
        asked.store(page, Relaxed);
        ask(page);
    }
}

/// All of the heap from there on: what comes next must be asked for before it is touched. The heap of a thread has small pages where it begins:
/// most threads do with less than a large one, which the system has to clear and may have to get from its host first.
#[cold]
fn ask(page: usize) {
    let before = page % HEAP_PAGES;
    if before > 0 {
        let bytes = (HEAP_PAGES - before) * LARGE;
        // SAFETY: it is advice, which changes nothing of what is there. Where nothing is, it is not taken.
        unsafe { libc::madvise(without_provenance_mut(page * LARGE), bytes, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(test)]
mod tests {
    use std::fs::read_to_string;

    /// What `/proc/self/smaps` says of the mapping that an address is in: `hg` where large pages have been asked for.
    fn flags_at(address: usize) -> Option<String> {
        let mut is_here = false;
        for line in read_to_string("/proc/self/smaps").ok()?.lines() {
            let range = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
            let bounds = range.map(|(start, end)| [start, end].map(|bound| usize::from_str_radix(bound, 16)));
            if let Some([Ok(start), Ok(end)]) = bounds {
                is_here = (start..end).contains(&address);
            }
            if let (true, Some(flags)) = (is_here, line.strip_prefix("VmFlags:")) {
                return Some(flags.to_owned());
            }
        }
        None
    }

    #[test]
    fn what_all_threads_have_much_of_lies_in_large_pages() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        let check = || {
            let blocks: Vec<Vec<u8>> = (1..200).map(|nr| vec![1; nr * 500]).collect();
            // The first ones are where a heap begins.
            if let Some(block) = blocks.last() {
                let flags = flags_at(block.as_ptr().addr()).unwrap_or_default();
                assert!(flags.split(' ').any(|flag| flag == "hg"), "{} bytes: {flags}", block.len());
            }
        };
        check();
        std::thread::scope(|scope| (0..3).for_each(|_| drop(scope.spawn(check))));
    }
}
