//! Where the walk is.

use super::decompress::Decompressor;
use crate::bytes::Bytes;
use crate::container::stream::{Feed, Stream};
use crate::place::Place;

/// Where the walk is in a stream.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) stream: Stream,
    pub(super) feed: Feed,
    /// Offset in the stream of the chunk at hand; inside a compressed record, of what follows that.
    pub(super) chunk_start: u64,
    /// Offset in the chunk of the next record.
    pub(super) pos: usize,
    /// Whether the chunk at hand is what a compressed record expanded to.
    pub(super) inside: bool,
    pub(super) decompressor: Decompressor,
    /// Offset in the chunk of the kernel's record before the next one: where to look again if that turns out to be none.
    pub(super) previous: Option<usize>,
    /// Where stray bytes began whose end is not found yet, and how many there are so far.
    pub(super) astray: Option<(Place, u64)>,
}

/// A compressed record whose content is being walked.
#[derive(Debug)]
pub(super) struct Outer {
    /// The chunk that holds it, and where it ends there.
    pub(super) bytes: Bytes,
    pub(super) end: usize,
    pub(super) place: Place,
    /// How much it may still expand to.
    pub(super) room: u64,
}
