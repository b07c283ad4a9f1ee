//! Compressed records: what they expand to is a chunk of its own, and what follows them another.

use super::{Batches, frame};
use crate::bytes::Bytes;
use crate::event::Chunk;
use crate::issue::IssueKind;
use crate::wire::endian::Order;
use crate::wire::head::RecordHead;

impl Batches {
    /// A piece of compressed records: what it expands to is the next chunk.
    pub(super) fn enter_compressed<O: Order>(&mut self, pos: usize, head: RecordHead, outer: &Bytes) {
        let place = self.place(pos, head);
        let most = self.limits.decompressed_bytes;
        self.metadata.compressed = true;
        let Some(cursor) = &mut self.current else { return };
        if cursor.inside {
            let message = || "a compressed record inside a compressed record".to_owned();
            return self.metadata.issues.add(IssueKind::BadCompression, place, message);
        }
        let pieces = frame::compressed_pieces(head, outer.get(pos..).unwrap_or_default(), O::ORDER);
        let (expanded, error) = cursor.decompressor.expand(pieces, most);
        if let Some(error) = error {
            let message = || format!("a compressed record cannot be decompressed: {error}");
            self.metadata.issues.add(IssueKind::BadCompression, place, message);
        }
        // Also what came before an error: the records in it are whole.
        let Some(expanded) = expanded else { return };
        // What follows the record is a chunk of its own, once all inside is done.
        self.outer = Some((outer.clone(), cursor.pos));
        cursor.chunk_start += cursor.pos as u64;
        cursor.pos = 0;
        cursor.previous = None;
        cursor.inside = true;
        let (part, held) = (cursor.stream.part, expanded.capacity());
        let bytes = Bytes::new(expanded);
        self.add_chunk(Chunk { bytes, part, offset: place.offset, compressed: true, joined: false }, held);
    }

    /// Back to what follows a compressed record; what is left of it waits for the next one.
    pub(super) fn leave_compressed(&mut self, left: &[u8]) {
        let Some(cursor) = &mut self.current else { return };
        cursor.decompressor.left = left.to_vec();
        let Some((outer, pos)) = self.outer.take() else { return };
        cursor.inside = false;
        cursor.pos = 0;
        cursor.previous = None;
        let offset = cursor.stream.offset.saturating_add(cursor.chunk_start);
        let part = cursor.stream.part;
        let bytes = outer.slice(pos..outer.len());
        self.add_chunk(Chunk { bytes, part, offset, compressed: false, joined: false }, 0);
    }
}
