//! Compressed records: each part of what they expand to is a chunk of its own, and what follows them another.

use super::batches::Batches;
use super::cursor::Outer;
use super::decompress;
use crate::bytes::Bytes;
use crate::event::Chunk;
use crate::issue::IssueKind;
use crate::payload::compressed_pieces;
use crate::place::Place;
use crate::wire::endian::Order;
use crate::wire::feature::{Feature, bit};
use crate::wire::head::RecordHead;

/// The smallest ring buffer there is, in bytes: a page of records, and one that tells where they are.
const SMALLEST_BUFFER: u32 = 2 << 12;

impl Batches {
    /// A piece of compressed records: what it expands to is the next chunks.
    pub(super) fn enter_compressed<O: Order>(&mut self, pos: usize, head: RecordHead, chunk: &Bytes) {
        let place = self.place(pos, head);
        let room = self.most_in_a_record();
        self.metadata.compressed = true;
        let Some(cursor) = &mut self.current else { return };
        if cursor.inside {
            let message = || "a compressed record inside a compressed record".to_owned();
            return self.metadata.issues.add(IssueKind::BadCompression, place, message);
        }
        let record = chunk.slice(pos..chunk.len());
        let pieces = compressed_pieces(head, &record, O::ORDER).map(|piece| record.slice(piece));
        let compressed = cursor.decompressor.take(pieces);
        self.expansion.compressed(compressed);
        let end = cursor.pos;
        let mut outer = Outer { bytes: chunk.clone(), end, place, room };
        // Where it expands to nothing, the walk is where it was.
        let Some(part) = self.expand(&mut outer) else { return };
        if let Some(cursor) = &mut self.current {
            cursor.chunk_start += end as u64;
        }
        self.walk_part(outer, part);
    }

    /// How much a compressed record may expand to: perf compresses what is in a ring buffer, and tells how large those are. What
    /// the compressor held back of one record comes with the next: never as much as another buffer.
    fn most_in_a_record(&self) -> u64 {
        match self.metadata.features.feature(bit::COMPRESSED) {
            Some(Ok((Feature::Compressed(told), _))) if told.mmap_len >= SMALLEST_BUFFER => {
                u64::from(told.mmap_len) * 2
            }
            _ => self.limits.decompressed_bytes,
        }
    }

    /// The next part of what a compressed record expands to, if there is any.
    fn expand(&mut self, outer: &mut Outer) -> Option<Vec<u8>> {
        let decompressor = &mut self.current.as_mut()?.decompressor;
        if !decompressor.has_more() {
            return None;
        }
        if self.expansion.left() == 0 {
            decompressor.give_up();
            decompressor.left.clear();
            self.tell_limit(outer.place);
            return None;
        }
        let most = outer.room.min(self.expansion.left()).min(decompress::PART_BYTES);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let left = decompressor.left.len();
        let (part, mut error) = decompressor.expand(most);
        let size = part.as_ref().map_or(0, Vec::len);
        self.expansion.expanded(size);
        outer.room = outer.room.saturating_sub(size.saturating_sub(left) as u64);
        if outer.room == 0 && decompressor.has_more() {
            decompressor.give_up();
            error = Some(std::io::Error::other("it expands to more than the buffer it was taken from held"));
        }
        if let Some(error) = error {
            let message = || format!("a compressed record cannot be decompressed: {error}");
            self.metadata.issues.add(IssueKind::BadCompression, outer.place, message);
        }
        // Also what came before an error: the records in it are whole.
        part
    }

    /// Goes on in a part of what a compressed record expands to.
    fn walk_part(&mut self, outer: Outer, part: Vec<u8>) {
        let Some(cursor) = &mut self.current else { return };
        cursor.pos = 0;
        cursor.previous = None;
        cursor.inside = true;
        self.expansion.at_record(self.index, false);
        let (part_of, offset, held) = (cursor.stream.part, outer.place.offset, part.capacity());
        self.outer = Some(outer);
        let bytes = Bytes::new(part);
        self.window.push(Chunk { bytes, part: part_of, offset, compressed: true, joined: false }, held);
    }

    /// On to the next part of a compressed record, or back to what follows it; what is left of this one comes first in the next.
    pub(super) fn leave_part(&mut self, left: &[u8]) {
        let Some(mut outer) = self.outer.take() else { return };
        self.expansion.at_record(self.index, true);
        if let Some(cursor) = &mut self.current {
            cursor.decompressor.left = left.to_vec();
        }
        if let Some(part) = self.expand(&mut outer) {
            return self.walk_part(outer, part);
        }
        let Some(cursor) = &mut self.current else { return };
        if let Some((place, skipped)) = cursor.astray.take() {
            self.metadata.tell_stray(place, skipped);
        }
        cursor.inside = false;
        cursor.pos = 0;
        cursor.previous = None;
        let offset = cursor.stream.offset.saturating_add(cursor.chunk_start);
        let part = cursor.stream.part;
        let bytes = outer.bytes.slice(outer.end..outer.bytes.len());
        self.window.push(Chunk { bytes, part, offset, compressed: false, joined: false }, 0);
    }

    /// Whether the chunk at hand is the last part of a compressed record: what is cut there goes on in another record.
    pub(super) fn is_last_part(&self) -> bool {
        self.current.as_ref().is_some_and(|cursor| cursor.inside && !cursor.decompressor.has_more())
    }

    /// Where all of a recording was in a wrapper, the limit is the end of it.
    pub(super) fn end_at_limit(&mut self) {
        let Some(cursor) = self.current.as_ref().filter(|_| self.expansion.is_wrapped) else { return };
        self.expansion.at_record(self.index, true);
        if self.expansion.left() > 0 {
            return;
        }
        let place = self.place(cursor.pos, RecordHead::default());
        self.tell_limit(place);
        self.streams.clear();
        self.current = None;
    }

    /// Tells that what comes here is left out.
    pub(super) fn tell_limit(&mut self, place: Place) {
        let most = self.expansion.most();
        let message = || {
            format!(
                "what was compressed expands to more than {most} bytes, with 512 more for each record: the rest is \
                 left out"
            )
        };
        self.metadata.issues.add(IssueKind::ExpandsTooFar, place, message);
    }
}
