//! Streams and their chunks: what is taken over from one to the next, and how they end.

use super::batches::Batches;
use super::cursor::Cursor;
use super::decompress::Decompressor;
use super::frame;
use super::touched::Touched;
use crate::bytes::Bytes;
use crate::container::stream::Fed;
use crate::event::Chunk;
use crate::issue::IssueKind;
use crate::place::Place;
use crate::wire::endian::with_order;
use crate::wire::head::{HEAD_SIZE, RecordHead};

impl Batches {
    pub(super) fn next_stream(&mut self) -> bool {
        let Some((stream, feed)) = self.streams.pop_front() else { return false };
        let decompressor = Decompressor::default();
        self.current = Some(Cursor {
            stream,
            feed,
            chunk_start: 0,
            pos: 0,
            inside: false,
            decompressor,
            previous: None,
            astray: None,
        });
        self.next_chunk(0, &[]);
        true
    }

    pub(super) fn end_stream(&mut self) {
        let Some(mut cursor) = self.current.take() else { return };
        self.done_bytes += cursor.stream.source.len();
        if let Some(error) = cursor.feed.failure() {
            let place = Place::new(cursor.stream.part, cursor.stream.offset + cursor.chunk_start);
            self.metadata.issues.add(IssueKind::ReadFailed, place, || format!("reading stopped: {error}"));
        }
        if let Some((file, change)) =
            cursor.stream.file.as_ref().and_then(|file| Some((file, file.change()?)))
        {
            let place = Place::new(cursor.stream.part, file.bytes);
            self.metadata.issues.add(IssueKind::SizeChanged, place, || change);
        }
        if !cursor.decompressor.left.is_empty() {
            let place = Place::new(cursor.stream.part, cursor.stream.offset + cursor.chunk_start);
            let left = cursor.decompressor.left.len();
            let message = || format!("the last compressed record is cut: {left} bytes of it are there");
            self.metadata.issues.add(IssueKind::CutData, place, message);
        }
    }

    /// The next chunk of the stream: from this offset on, beginning with what is left of the one before.
    pub(super) fn next_chunk(&mut self, start: u64, left: &[u8]) {
        let Some(cursor) = &mut self.current else { return };
        let Fed { bytes, is_near } = cursor.feed.chunk(start, left);
        cursor.chunk_start = start;
        cursor.pos = 0;
        cursor.previous = None;
        cursor.inside = false;
        let offset = cursor.stream.offset.saturating_add(start);
        let held = if cursor.feed.is_reader() { bytes.len() } else { 0 };
        let chunk = Chunk { bytes, part: cursor.stream.part, offset, compressed: false, joined: false };
        self.window.push(chunk, held);
        if is_near {
            self.touched = Touched::all_of(self.window.newest_number());
        }
    }

    /// The next chunk, beginning with the record before the one at `pos`: so that what is made of damage does not depend on
    /// where a chunk ends.
    pub(super) fn next_chunk_from_previous(&mut self, bytes: &Bytes, pos: usize) {
        let previous = self.current.as_ref().and_then(|cursor| cursor.previous).unwrap_or(pos);
        self.next_chunk(self.offset_in_stream(previous), bytes.get(previous..).unwrap_or_default());
        if let Some(cursor) = &mut self.current {
            cursor.pos = pos - previous;
            cursor.previous = (previous < pos).then_some(0);
        }
    }

    /// The chunk is used up, or what is left of it is less than a record.
    pub(super) fn at_chunk_end(&mut self, bytes: &Bytes, pos: usize) {
        let left = bytes.get(pos..).unwrap_or_default();
        if self.current.as_ref().is_some_and(|cursor| cursor.inside) {
            return self.leave_part(left);
        }
        if !self.nothing_follows() {
            return self.next_chunk_from_previous(bytes, pos);
        }
        if !left.is_empty() {
            let head = with_order!(self.metadata.order, O => RecordHead::read::<O>(left));
            match head {
                Some(head) if !frame::is_plausible(head) => return self.bad_record(bytes, pos, head),
                Some(head) if self.records_follow(bytes, pos + HEAD_SIZE) => {
                    return self.bad_record(bytes, pos, head);
                }
                _ => self.cut_record(pos, left.len(), head),
            }
        }
        self.end_stream();
    }

    /// The last record is not all there.
    pub(super) fn cut_record(&mut self, pos: usize, left: usize, head: Option<RecordHead>) {
        let whole = match head {
            Some(head) => format!("{} bytes", head.size),
            None => "a record's head".to_owned(),
        };
        let place = self.place(pos, head.unwrap_or_default());
        let message = || format!("the last record is cut: {left} bytes of {whole} are there");
        self.metadata.issues.add(IssueKind::CutData, place, message);
    }

    /// Whether the chunk at hand is the last of its stream.
    pub(super) fn nothing_follows(&self) -> bool {
        let chunk = self.window.newest().map_or(0, |chunk| chunk.bytes.len() as u64);
        self.current
            .as_ref()
            .is_none_or(|cursor| !cursor.inside && cursor.feed.ends_at(cursor.chunk_start + chunk))
    }

    /// Passes over bytes that have not arrived yet; how many there were.
    pub(super) fn pass_over(&mut self, count: usize) -> u64 {
        let cursor = self.current.as_mut().filter(|cursor| !cursor.inside);
        cursor.map_or(0, |cursor| cursor.feed.pass_over(count as u64))
    }

    /// Offset in the stream of a position in the chunk at hand.
    pub(super) fn offset_in_stream(&self, pos: usize) -> u64 {
        self.current.as_ref().map_or(0, |cursor| cursor.chunk_start.saturating_add(pos as u64))
    }

    pub(super) fn place(&self, pos: usize, head: RecordHead) -> Place {
        let chunk = self.window.newest();
        let offset =
            chunk.map_or(0, |chunk| if chunk.compressed { chunk.offset } else { chunk.offset + pos as u64 });
        Place::new(chunk.map_or_else(Default::default, |chunk| chunk.part), offset)
            .record(self.index, head.kind)
    }

    /// Goes on at an offset in the chunk; nothing is known of what lies before it.
    pub(super) fn move_to(&mut self, pos: usize) {
        if let Some(cursor) = &mut self.current {
            cursor.pos = pos;
            cursor.previous = None;
        }
    }
}
