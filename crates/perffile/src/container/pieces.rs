//! A file read in pieces, into memory that is used again.
//!
//! A file that is mapped costs a page fault for every few pages, and as much again when the mapping goes, and whoever looks at what another
//! process has cut off meanwhile is ended by a signal. Pieces that fit into the caches of a CPU cost a copy, and what is walked there next
//! is near.

use super::opened_file::OpenedFile;
use crate::bytes::Bytes;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// How many bytes are read at a time. Tests are to have records that lie in two pieces.
const PIECE_BYTES: usize = if cfg!(debug_assertions) { 4 << 10 } else { 256 << 10 };

/// How many pieces of a recording may be in use at a time. Rounds of perf are a few of them; who keeps more than that gets the others as parts of
/// the mapping, which take no memory of their own.
const MOST_IN_USE: usize = 64;

/// How long these parts are.
pub(super) const MAPPED_BYTES: usize = PIECE_BYTES * MOST_IN_USE;

/// The memory for the pieces of all streams of a recording.
#[derive(Debug, Default)]
pub(crate) struct PieceMemory {
    /// That of pieces that nobody uses any more.
    free: Mutex<Vec<Vec<u8>>>,
    in_use: AtomicUsize,
}

/// Where pieces of a stream come from.
pub(crate) struct Pieces {
    file: Arc<OpenedFile>,
    /// File offset of the first record.
    offset: u64,
    /// Bytes in all.
    size: u64,
    memory: Arc<PieceMemory>,
    /// Where the file turned out to end, if that is before `size`.
    pub(super) end: u64,
}

impl Pieces {
    /// Of a stream that lies at an offset of a file.
    pub(super) fn new(file: Arc<OpenedFile>, offset: u64, size: u64, memory: Arc<PieceMemory>) -> Self {
        Pieces { file, offset, size, memory, end: size }
    }

    /// The bytes at an offset of the stream. `None` if they are better taken from the mapping: too many pieces are in use, what is left of the
    /// one before is most of one, or the file cannot be read.
    pub(super) fn read(&mut self, start: u64, left: usize) -> Option<Bytes> {
        if left > PIECE_BYTES / 2 || self.memory.in_use.load(Relaxed) >= MOST_IN_USE {
            return None;
        }
        let want = usize::try_from(self.size.saturating_sub(start)).unwrap_or(usize::MAX).min(PIECE_BYTES);
        let mut piece = Piece::taken_from(&self.memory);
        if piece.bytes.len() < want {
            piece.bytes.resize(want, 0);
        }
        piece.count =
            self.file.read_at(piece.bytes.get_mut(..want)?, self.offset.checked_add(start)?).ok()?;
        if piece.count < want {
            self.end = start + piece.count as u64;
        }
        Some(Bytes::new(piece))
    }
}

/// Some bytes of a file. Their memory goes back where it came from.
struct Piece {
    bytes: Vec<u8>,
    count: usize,
    memory: Arc<PieceMemory>,
}

impl Piece {
    fn taken_from(memory: &Arc<PieceMemory>) -> Piece {
        memory.in_use.fetch_add(1, Relaxed);
        let used = memory.free.lock().ok().and_then(|mut free| free.pop());
        Piece { bytes: used.unwrap_or_default(), count: 0, memory: Arc::clone(memory) }
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        self.bytes.get(..self.count).unwrap_or_default()
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if let Ok(mut free) = self.memory.free.lock() {
            free.push(std::mem::take(&mut self.bytes));
        }
        self.memory.in_use.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::io::Write as _;
    use std::path::Path;

    const PIECE: u64 = PIECE_BYTES as u64;

    fn file(bytes: &[u8]) -> Arc<OpenedFile> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        let kind = file.metadata().unwrap();
        Arc::new(OpenedFile::new(file, Path::new("data"), &kind, bytes.len()))
    }

    #[test]
    fn all_streams_together_use_so_many_pieces() {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(PIECE_BYTES * (MOST_IN_USE + 2)).collect();
        let (memory, size) = (Arc::default(), bytes.len() as u64 - 7);
        let mut one = Pieces::new(file(&bytes), 7, size, Arc::clone(&memory));
        let mut other = Pieces::new(file(&bytes), 0, 10, memory);
        // A short piece is the first to go back.
        assert_eq!(*other.read(4, 0).unwrap(), bytes[4..10]);
        let mut held: Vec<Bytes> =
            (0..MOST_IN_USE as u64 - 1).map(|nr| one.read(nr * PIECE, 0).unwrap()).collect();
        held.push(other.read(0, 0).unwrap());
        assert!(one.read(0, 0).is_none() && other.read(0, 0).is_none());
        assert!(
            held.iter()
                .take(MOST_IN_USE - 1)
                .map(|piece| &**piece)
                .eq(bytes[7..].chunks(PIECE_BYTES).take(MOST_IN_USE - 1))
        );
        held.truncate(3);
        assert_eq!(*one.read(size - 5, 0).unwrap(), bytes[bytes.len() - 5..]);
        assert!(one.read(0, PIECE_BYTES).is_none(), "a record is longer than a piece");
        assert_eq!((one.end, other.end), (size, 10));
    }

    #[test]
    fn a_piece_ends_where_the_file_does() {
        let mut pieces = Pieces::new(file(&[1; 100]), 40, 80, Arc::default());
        assert_eq!(*pieces.read(20, 0).unwrap(), [1; 40]);
        assert_eq!(pieces.end, 60);
        assert!(pieces.read(60, 0).unwrap().is_empty());
    }
}
