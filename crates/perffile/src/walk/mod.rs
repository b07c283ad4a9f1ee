//! The one path from streams of bytes to batches of records, for every kind of recording.

mod apply;
mod decompress;
pub(crate) mod frame;

use crate::bytes::Bytes;
use crate::container::Container;
use crate::container::stream::{Feed, Stream};
use crate::dialect::Dialect;
use crate::error::Result;
use crate::event::{Batch, Chunk};
use crate::issue::{IssueKind, Issues};
use crate::limits::Limits;
use crate::order::{Entry, Ordering, Queue};
use crate::place::Place;
use crate::recording::Metadata;
use crate::schema::Schema;
use crate::simpleperf::SplitRecords;
use crate::wire::endian::{Order, with_order};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::{USER_RECORDS, kind};
use decompress::Decompressor;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many records make a batch where no round ends it before.
const BATCH_RECORDS: usize = 64 * 1024;

/// The records of a recording, in batches. An iterator; what was wrong on the way is in [`Batches::issues`].
#[derive(Debug)]
pub struct Batches {
    metadata: Metadata,
    streams: VecDeque<(Stream, Feed)>,
    current: Option<Cursor>,
    ordering: Ordering,
    /// Whether records with time wait for their round.
    sorting: bool,
    queue: Queue,
    ready: Vec<Entry>,
    /// A round has ended: what is ready is a batch.
    round_ended: bool,
    finished: bool,
    first_chunk: u32,
    chunks: VecDeque<Chunk>,
    /// While inside a compressed record: the chunk that holds it, and where it ends there.
    outer: Option<(Bytes, usize)>,
    /// simpleperf's records that lie in parts.
    split: SplitRecords,
    limits: Limits,
    index: u64,
    done_bytes: u64,
    total_bytes: u64,
}

/// Where the walk is in a stream.
#[derive(Debug)]
struct Cursor {
    stream: Stream,
    feed: Feed,
    /// Offset in the stream of the chunk at hand; inside a compressed record, of what follows that.
    chunk_start: u64,
    /// Offset in the chunk of the next record.
    pos: usize,
    /// Whether the chunk at hand is what a compressed record expanded to.
    inside: bool,
    decompressor: Decompressor,
}

/// Why the scan of a chunk stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// At the end of the chunk, between two records.
    End,
    /// At one of perf's own records, which may mean something to the walk.
    User(RecordHead),
    /// The next record ends behind the chunk.
    Partial,
    /// What comes next cannot be a record.
    Bad(RecordHead),
    /// Enough for a batch.
    Enough,
}

impl Batches {
    pub(crate) fn new(metadata: Metadata, streams: &[Stream], ordering: Ordering) -> Result<Self> {
        let total_bytes = streams.iter().map(|stream| stream.source.len()).sum();
        let streams: Result<_> =
            streams.iter().map(|stream| Ok((stream.clone(), stream.source.feed()?))).collect();
        let mut batches = Batches {
            metadata,
            streams: streams?,
            current: None,
            ordering,
            sorting: false,
            queue: Queue::default(),
            ready: Vec::new(),
            round_ended: false,
            finished: false,
            first_chunk: 0,
            chunks: VecDeque::new(),
            outer: None,
            split: SplitRecords::default(),
            limits: Limits::default(),
            index: 0,
            done_bytes: 0,
            total_bytes,
        };
        batches.schema_changed();
        Ok(batches)
    }

    /// Events and features, as far as they are known by now.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What was wrong so far, opening the recording included.
    pub fn issues(&self) -> &Issues {
        &self.metadata.issues
    }

    /// Bytes walked, and bytes in all: 0 where that is not known.
    pub fn progress(&self) -> (u64, u64) {
        let here = self.current.as_ref().map_or(0, |cursor| cursor.chunk_start + cursor.pos as u64);
        (self.done_bytes + here, self.total_bytes)
    }

    /// Without `sample_id_all` only samples have a time: then the order of the file is the best there is.
    fn schema_changed(&mut self) {
        let first = self.metadata.schema.events().first();
        let ordered = first.is_some_and(|event| event.layout.shape().sample_id_all);
        self.sorting = ordered && self.ordering == Ordering::Time;
    }

    /// Walks on until there is a batch, or nothing is left.
    fn fill(&mut self) {
        while !self.finished && !self.round_ended && self.ready.len() < BATCH_RECORDS {
            if self.current.is_none() && !self.next_stream() {
                self.finish();
                return;
            }
            let order = self.metadata.order;
            with_order!(order, O => self.step::<O>());
        }
    }

    fn next_stream(&mut self) -> bool {
        let Some((stream, feed)) = self.streams.pop_front() else { return false };
        let decompressor = Decompressor::default();
        self.current = Some(Cursor { stream, feed, chunk_start: 0, pos: 0, inside: false, decompressor });
        self.next_chunk(0, &[]);
        true
    }

    fn end_stream(&mut self) {
        let Some(mut cursor) = self.current.take() else { return };
        self.done_bytes += cursor.stream.source.len();
        if let Some(error) = cursor.feed.failure() {
            let place = Place::new(cursor.stream.part, cursor.stream.offset + cursor.chunk_start);
            self.metadata.issues.add(IssueKind::ReadFailed, place, || format!("reading stopped: {error}"));
        }
        if !cursor.decompressor.left.is_empty() {
            let place = Place::new(cursor.stream.part, cursor.stream.offset + cursor.chunk_start);
            let left = cursor.decompressor.left.len();
            let message = || format!("the last compressed record is cut: {left} bytes of it are there");
            self.metadata.issues.add(IssueKind::CutData, place, message);
        }
    }

    fn finish(&mut self) {
        self.finished = true;
        self.queue.finish(&mut self.ready);
        let unordered = self.queue.unordered;
        if unordered > 0 {
            let place = Place::default();
            let message = || format!("{unordered} records are older than what came before their round");
            self.metadata.issues.add_many(IssueKind::Unordered, place, unordered, message);
        }
    }

    /// The next chunk of the stream: from this offset on, beginning with what is left of the one before.
    fn next_chunk(&mut self, start: u64, left: &[u8]) {
        let Some(cursor) = &mut self.current else { return };
        let bytes = cursor.feed.chunk(start, left);
        cursor.chunk_start = start;
        cursor.pos = 0;
        cursor.inside = false;
        let offset = cursor.stream.offset.saturating_add(start);
        self.chunks.push_back(Chunk { bytes, part: cursor.stream.part, offset, compressed: false });
    }

    /// Number of the newest chunk.
    fn chunk_number(&self) -> u32 {
        let newest = self.chunks.len().saturating_sub(1);
        self.first_chunk.saturating_add(u32::try_from(newest).unwrap_or(u32::MAX))
    }

    /// Scans the chunk at hand up to the next thing to decide, and decides it.
    fn step<O: Order>(&mut self) {
        let (Some(cursor), Some(chunk)) = (&self.current, self.chunks.back()) else { return };
        let (bytes, start) = (chunk.bytes.clone(), cursor.pos);
        let (pos, stop) = self.scan::<O>(&bytes, start);
        self.move_to(pos);
        match stop {
            Stop::Enough => {}
            Stop::User(head) => self.user_record::<O>(&bytes, pos, head),
            Stop::End | Stop::Partial => self.at_chunk_end(&bytes, pos),
            Stop::Bad(head) => self.bad_record(&bytes, pos, head),
        }
    }

    fn move_to(&mut self, pos: usize) {
        if let Some(cursor) = &mut self.current {
            cursor.pos = pos;
        }
    }

    /// The hot loop: from head to head, noting where each record lies and when it happened.
    fn scan<O: Order>(&mut self, bytes: &[u8], start: usize) -> (usize, Stop) {
        let schema = Arc::clone(&self.metadata.schema);
        let chunk = self.chunk_number();
        let mut pos = start;
        while self.ready.len() < BATCH_RECORDS {
            let rest = bytes.get(pos..).unwrap_or_default();
            let Some(head) = RecordHead::read::<O>(rest) else {
                return (pos, if rest.is_empty() { Stop::End } else { Stop::Partial });
            };
            if usize::from(head.size) < HEAD_SIZE {
                let stop = if head.kind == kind::COMPRESSED2 { Stop::User(head) } else { Stop::Bad(head) };
                return (pos, stop);
            }
            let Some(record) = rest.get(..usize::from(head.size)) else {
                return (pos, Stop::Partial);
            };
            if head.kind >= USER_RECORDS {
                return (pos, Stop::User(head));
            }
            let time = if self.sorting { time_of(&schema, head, record) } else { 0 };
            // A chunk is at most CHUNK_BYTES long.
            let entry = Entry { time, index: self.index, chunk, pos: u32::try_from(pos).unwrap_or(u32::MAX) };
            if Queue::has_to_wait(time) {
                self.queue.push(entry);
            } else {
                self.ready.push(entry);
            }
            self.index += 1;
            pos += usize::from(head.size);
        }
        (pos, Stop::Enough)
    }

    /// One of perf's own records: delivered where it stands; some mean something to the walk.
    fn user_record<O: Order>(&mut self, bytes: &Bytes, pos: usize, head: RecordHead) {
        let size = usize::from(head.size).max(HEAD_SIZE);
        let body = bytes.get(pos + HEAD_SIZE..pos + size).unwrap_or_default();
        if head.kind >= 256 && !frame::is_plausible(head) {
            return self.bad_record(bytes, pos, head);
        }
        if self.index == 0 && self.metadata.container == Container::Pipe {
            let record = bytes.get(pos..pos + size).unwrap_or_default();
            let dialect = Dialect::of_first_record(head.kind, record, O::ORDER);
            self.schema().set_dialect(dialect);
        }
        let rest = bytes.get(pos..).unwrap_or_default();
        let payload =
            usize::try_from(frame::payload_size(head, rest, O::ORDER, self.metadata.schema.dialect()))
                .unwrap_or(usize::MAX);
        let behind = bytes.get(pos + size..).unwrap_or_default();
        if behind.len() < payload {
            if self.nothing_follows() {
                let place = self.place(pos, head);
                let message =
                    || format!("the file is cut: {} of {payload} bytes of a payload are there", behind.len());
                self.metadata.issues.add(IssueKind::CutData, place, message);
            } else {
                return self.at_chunk_end(bytes, pos);
            }
        }
        let entry = Entry {
            time: 0,
            index: self.index,
            chunk: self.chunk_number(),
            pos: u32::try_from(pos).unwrap_or(u32::MAX),
        };
        self.ready.push(entry);
        let payload = payload.min(behind.len());
        self.apply::<O>(head, body, bytes, pos + size..pos + size + payload);
        self.index += 1;
        self.move_to(pos + size + payload);
        match self.metadata.schema.dialect().decoded_as(head.kind) {
            kind::FINISHED_ROUND if self.sorting => {
                self.queue.finish_round(&mut self.ready);
                self.round_ended = true;
            }
            kind::COMPRESSED | kind::COMPRESSED2 => {
                let piece = frame::compressed_piece::<O>(head, bytes.get(pos..).unwrap_or_default());
                self.metadata.compressed = true;
                self.enter_compressed(pos, piece, bytes);
            }
            _ => {}
        }
    }

    /// Whether the chunk at hand is the last of its stream.
    fn nothing_follows(&self) -> bool {
        let chunk = self.chunks.back().map_or(0, |chunk| chunk.bytes.len() as u64);
        self.current
            .as_ref()
            .is_none_or(|cursor| !cursor.inside && cursor.feed.ends_at(cursor.chunk_start + chunk))
    }

    /// The chunk is used up, or what is left of it is less than a record.
    fn at_chunk_end(&mut self, bytes: &Bytes, pos: usize) {
        let left = bytes.get(pos..).unwrap_or_default();
        if let Some(cursor) = self.current.as_mut().filter(|cursor| cursor.inside) {
            cursor.decompressor.left = left.to_vec();
            return self.leave_compressed();
        }
        if !self.nothing_follows() {
            let next = self.current.as_ref().map_or(0, |cursor| cursor.chunk_start + pos as u64);
            return self.next_chunk(next, left);
        }
        if !left.is_empty() {
            let head = with_order!(self.metadata.order, O => RecordHead::read::<O>(left));
            match head {
                Some(head) if !frame::is_plausible(head) => return self.stray(bytes, pos),
                _ => self.cut_record(pos, left.len(), head),
            }
        }
        self.end_stream();
    }

    /// A piece of compressed records: what it expands to is the next chunk.
    fn enter_compressed(&mut self, pos: usize, piece: &[u8], outer: &Bytes) {
        let (place, most) = (
            self.place(pos, RecordHead { kind: kind::COMPRESSED, ..Default::default() }),
            self.limits.decompressed_bytes,
        );
        let Some(cursor) = &mut self.current else { return };
        match cursor.decompressor.expand(piece, most) {
            Ok(expanded) => {
                // What follows the record is a chunk of its own, once all inside is done.
                self.outer = Some((outer.clone(), cursor.pos));
                cursor.chunk_start += cursor.pos as u64;
                cursor.pos = 0;
                cursor.inside = true;
                let part = cursor.stream.part;
                let bytes = Bytes::new(expanded);
                self.chunks.push_back(Chunk { bytes, part, offset: place.offset, compressed: true });
            }
            Err(error) => {
                let message = || format!("a compressed record cannot be decompressed: {error}");
                self.metadata.issues.add(IssueKind::BadCompression, place, message);
            }
        }
    }

    /// Back to what follows a compressed record.
    fn leave_compressed(&mut self) {
        let Some(cursor) = &mut self.current else { return };
        let Some((outer, pos)) = self.outer.take() else { return };
        cursor.inside = false;
        cursor.pos = 0;
        let offset = cursor.stream.offset.saturating_add(cursor.chunk_start);
        let bytes = outer.slice(pos..outer.len());
        self.chunks.push_back(Chunk { bytes, part: cursor.stream.part, offset, compressed: false });
    }

    /// The last record is not all there.
    fn cut_record(&mut self, pos: usize, left: usize, head: Option<RecordHead>) {
        let whole = match head {
            Some(head) => format!("{} bytes", head.size),
            None => "a record's head".to_owned(),
        };
        let place = self.place(pos, head.unwrap_or_default());
        let message = || format!("the last record is cut: {left} bytes of {whole} are there");
        self.metadata.issues.add(IssueKind::CutData, place, message);
    }

    /// A head that cannot be one: goes on where records begin again.
    fn bad_record(&mut self, bytes: &Bytes, pos: usize, head: RecordHead) {
        if frame::is_plausible(RecordHead { size: 8, ..head }) {
            let place = self.place(pos, head);
            let message = || format!("a record of {} bytes cannot be", head.size);
            self.metadata.issues.add(IssueKind::BadRecordSize, place, message);
        }
        self.stray(bytes, pos);
    }

    /// Bytes that are no record: counted and passed over.
    fn stray(&mut self, bytes: &Bytes, pos: usize) {
        let dialect = self.metadata.schema.dialect();
        let next = with_order!(self.metadata.order, O => frame::resync::<O>(bytes, pos + 1, dialect))
            .unwrap_or(bytes.len());
        let place = self.place(pos, RecordHead::default());
        let skipped = (next - pos) as u64;
        let message = || format!("{skipped} bytes are no records and are passed over");
        self.metadata.issues.add(IssueKind::StrayBytes, Place { record: None, ..place }, message);
        self.move_to(next);
    }

    fn place(&self, pos: usize, head: RecordHead) -> Place {
        let chunk = self.chunks.back();
        let offset =
            chunk.map_or(0, |chunk| if chunk.compressed { chunk.offset } else { chunk.offset + pos as u64 });
        Place::new(chunk.map_or_else(Default::default, |chunk| chunk.part), offset)
            .record(self.index, head.kind)
    }

    fn take_batch(&mut self) -> Option<Batch> {
        self.round_ended = false;
        if self.ready.is_empty() {
            return None;
        }
        let batch = Batch {
            schema: Arc::clone(&self.metadata.schema),
            first_chunk: self.first_chunk,
            chunks: self.chunks.iter().cloned().collect(),
            entries: std::mem::take(&mut self.ready),
        };
        self.ready.reserve(batch.entries.len().min(BATCH_RECORDS));
        self.drop_chunks();
        Some(batch)
    }

    /// Lets go of chunks in which nothing waits any more.
    fn drop_chunks(&mut self) {
        if self.chunks.len() < 2 {
            return;
        }
        let needed = self.queue.first_chunk().unwrap_or(u32::MAX);
        while self.chunks.len() > 1 && self.first_chunk < needed {
            self.chunks.pop_front();
            self.first_chunk += 1;
        }
    }
}

#[inline(always)]
fn time_of(schema: &Schema, head: RecordHead, record: &[u8]) -> u64 {
    let body = record.get(HEAD_SIZE..).unwrap_or_default();
    let time =
        if head.kind == kind::SAMPLE { schema.time_of_sample(body) } else { schema.time_of_trailer(body) };
    time.unwrap_or(0)
}

impl Iterator for Batches {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        loop {
            self.fill();
            if let Some(batch) = self.take_batch() {
                return Some(batch);
            }
            if self.finished {
                return None;
            }
        }
    }
}
