//! A file read in pieces, into memory that is used again.
//!
//! A file that is mapped costs a page fault for every few pages, and as much again when the mapping goes, and whoever looks at what another
//! process has cut off meanwhile is ended by a signal. Pieces that fit into the caches of a CPU cost a copy, and what is walked there next
//! is near.

use super::opened_file::OpenedFile;
use crate::bytes::Bytes;
use std::sync::{Arc, Mutex};

/// How many bytes are read at a time. Tests are to have records that lie in two pieces.
pub(super) const PIECE_BYTES: usize = if cfg!(debug_assertions) { 4 << 10 } else { 256 << 10 };

/// How many pieces may be in use at a time. Rounds of perf are a few of them; who keeps more than that gets the others as parts of the
/// mapping, which take no memory of their own.
const MOST_IN_USE: usize = 64;

/// Where pieces of a stream come from.
pub(crate) struct Pieces {
    file: Arc<OpenedFile>,
    /// File offset of the first record.
    offset: u64,
    /// Bytes in all.
    size: u64,
    /// Pieces that nobody uses any more.
    free: Arc<Free>,
    /// Where the file turned out to end, if that is before `size`.
    pub(super) end: u64,
}

type Free = Mutex<Vec<Vec<u8>>>;

impl Pieces {
    /// Of a stream that lies at an offset of a file.
    pub(super) fn new(file: Arc<OpenedFile>, offset: u64, size: u64) -> Self {
        Pieces { file, offset, size, free: Arc::default(), end: size }
    }

    /// The bytes at an offset of the stream. `None` if they are better taken from the mapping: too many are in use, a record is longer than
    /// a piece, or the file cannot be read.
    pub(super) fn read(&mut self, start: u64, left: usize) -> Option<Bytes> {
        // Each piece that is in use shares the list.
        if left > PIECE_BYTES / 2 || Arc::strong_count(&self.free) > MOST_IN_USE {
            return None;
        }
        let want = usize::try_from(self.size.saturating_sub(start)).unwrap_or(usize::MAX).min(PIECE_BYTES);
        let used = self.free.lock().ok().and_then(|mut free| free.pop());
        let mut memory = used.unwrap_or_else(|| vec![0; want]);
        let room = memory.get_mut(..want)?;
        let count = self.file.read_at(room, self.offset.checked_add(start)?).ok()?;
        if count < want {
            self.end = start + count as u64;
        }
        Some(Bytes::new(Piece { memory, count, free: Arc::clone(&self.free) }))
    }
}

/// Some bytes of a file. The memory goes back where it came from.
struct Piece {
    memory: Vec<u8>,
    count: usize,
    free: Arc<Free>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        self.memory.get(..self.count).unwrap_or_default()
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if let Ok(mut free) = self.free.lock() {
            free.push(std::mem::take(&mut self.memory));
        }
    }
}
