//! The bytes of files, kept for as long as anything may borrow them.

use std::sync::{Arc, OnceLock};

/// The bytes of a file, shared between threads: read, mapped or made up.
pub type FileBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Files in the first block; each block has twice as many as the one before.
const FIRST_BLOCK: usize = 16;

/// Blocks: more files than this allows for do not fit in memory.
const BLOCKS: usize = 40;

/// The files that a [`Resolver`](crate::Resolver) has opened. It borrows them, so they are made first and outlive it:
///
/// ```
/// use readperf_symbols::{Files, Options, Resolver};
///
/// let files = Files::new();
/// let mut resolver = Resolver::new(&files, Options::default());
/// assert!(resolver.resolve(Vec::new()).is_empty());
/// ```
///
/// Nothing is let go before the whole is. What is kept are mappings, if the caller's loader maps files, and
/// decompressed sections.
pub struct Files {
    /// Slots are filled once and never moved: that is what makes it sound to lend them while others are added.
    blocks: [OnceLock<Box<[OnceLock<FileBytes>]>>; BLOCKS],
}

impl Files {
    /// No files yet.
    pub fn new() -> Files {
        Files { blocks: [const { OnceLock::new() }; BLOCKS] }
    }

    /// Keeps some bytes.
    pub(crate) fn keep(&self, bytes: FileBytes) -> &[u8] {
        let mut waiting = bytes;
        let mut len = FIRST_BLOCK;
        for block in &self.blocks {
            let slots = block.get_or_init(|| (0..len).map(|_| OnceLock::new()).collect());
            // The last slot of a full block is filled.
            if slots.last().is_some_and(|slot| slot.get().is_none()) {
                let free = slots.partition_point(|slot| slot.get().is_some());
                for slot in slots.get(free..).unwrap_or(&[]) {
                    match slot.set(waiting) {
                        Ok(()) => return slot.get().map_or(&[], |bytes| (**bytes).as_ref()),
                        // Another thread was faster.
                        Err(back) => waiting = back,
                    }
                }
            }
            len = len.saturating_mul(2);
        }
        &[]
    }

    /// How many files and decompressed sections are kept.
    pub fn len(&self) -> usize {
        let blocks = self.blocks.iter().map_while(OnceLock::get);
        blocks.map(|slots| slots.partition_point(|slot| slot.get().is_some())).sum()
    }

    /// Whether nothing was opened yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for Files {
    fn default() -> Files {
        Files::new()
    }
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Files").field("len", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn nothing_moves_and_nothing_is_lost() {
        let files = Files::new();
        let kept: Vec<Vec<(u32, &[u8])>> = std::thread::scope(|scope| {
            let keep = |thread: u32| {
                let files = &files;
                move || {
                    let numbers = (0..500).map(|number| thread * 500 + number);
                    numbers.map(|n| (n, files.keep(Arc::new(n.to_le_bytes())))).collect()
                }
            };
            let threads: Vec<_> = (0..4).map(|thread| scope.spawn(keep(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(files.len(), 2000);
        for (number, bytes) in kept.into_iter().flatten() {
            assert_eq!(bytes, number.to_le_bytes());
        }
    }
}
