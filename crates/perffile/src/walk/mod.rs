//! The one path from streams of bytes to batches of records, for every kind of recording.

mod apply;
mod astray;
mod compressed;
mod decompress;
pub(crate) mod frame;
mod joined;

use crate::bytes::Bytes;
use crate::container::Container;
use crate::container::event_name::NameSources;
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
use joined::Deferred;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many records make a batch where no round ends it before.
const BATCH_RECORDS: usize = 64 * 1024;

/// How many bytes in memory make a batch.
const BATCH_BYTES: u64 = 16 << 20;

/// How many times its size a compressed recording may expand to while it waits to be put in order.
const MOST_EXPANSION: u64 = 64;

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
    /// How many bytes each of the chunks keeps in memory, their sum, and the sum since the last batch.
    held: VecDeque<u64>,
    held_bytes: u64,
    new_bytes: u64,
    /// While inside a compressed record: the chunk that holds it, and where it ends there.
    outer: Option<(Bytes, usize)>,
    /// simpleperf's records that lie in parts.
    split: SplitRecords,
    /// Samples whose call chain is not whole yet.
    deferred: Deferred,
    limits: Limits,
    /// What names are made of, once it was needed; nothing when the features have changed since.
    name_sources: Option<NameSources>,
    /// Whether events or features have come that fallback names depend on.
    names_stale: bool,
    /// Names by `config` that HEADER_EVENT_TYPE records have told.
    config_names: FxHashMap<u64, String>,
    /// How often what names are made of has changed.
    renamings: u32,
    /// Of [`Limits::ids`], how many are left.
    ids_left: usize,
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
    /// Offset in the chunk of the kernel's record before the next one: where to look again if that turns out to be none.
    previous: Option<usize>,
    /// Where stray bytes began whose end is not found yet, and how many there are so far.
    astray: Option<(Place, u64)>,
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
    /// Positions in the chunk are at their end: a chunk of its own begins here.
    Far,
}

impl Batches {
    pub(crate) fn new(metadata: Metadata, streams: &[Stream], ordering: Ordering) -> Result<Self> {
        let total_bytes = streams.iter().map(|stream| stream.source.len()).sum();
        let limits = Limits::default();
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
            held: VecDeque::new(),
            held_bytes: 0,
            new_bytes: 0,
            outer: None,
            split: SplitRecords::default(),
            deferred: Deferred::default(),
            name_sources: None,
            names_stale: false,
            config_names: FxHashMap::default(),
            renamings: 0,
            ids_left: limits.ids,
            limits,
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
            self.let_go();
            if self.round_ended {
                return;
            }
            if self.current.is_none() && !self.next_stream() {
                self.finish();
                return;
            }
            let order = self.metadata.order;
            with_order!(order, O => self.step::<O>());
        }
    }

    /// Chunks of a mapped file cost nothing; others fill the memory. So many of them make a batch whatever they hold; and
    /// where no mark of a finished round comes, from some point on the order is only as good as can be.
    fn let_go(&mut self) {
        if self.sorting && self.held_bytes > self.most_waiting() {
            self.queue.finish(&mut self.ready);
            self.round_ended = !self.ready.is_empty();
        }
        if self.new_bytes > BATCH_BYTES && !self.ready.is_empty() {
            self.round_ended = true;
        }
    }

    /// How many bytes may wait for their round: of what was compressed, more in a large file than in a small one, so that
    /// only what expands beyond reason is cut short.
    fn most_waiting(&self) -> u64 {
        let in_proportion = self.total_bytes.saturating_mul(MOST_EXPANSION);
        self.limits.waiting_bytes.max(in_proportion)
    }

    /// Adds a chunk; `held` bytes of it are in memory for its sake.
    fn add_chunk(&mut self, chunk: Chunk, held: usize) {
        self.held_bytes += held as u64;
        self.new_bytes += held as u64;
        self.held.push_back(held as u64);
        self.chunks.push_back(chunk);
    }

    fn next_stream(&mut self) -> bool {
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
        if self.metadata.schema.is_ambiguous() {
            let events = self.metadata.schema.events().len();
            let message = || {
                format!(
                    "samples do not say which of the {events} events they belong to: all count for the first"
                )
            };
            self.metadata.issues.add(IssueKind::AmbiguousEvents, Place::default(), message);
        }
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
        cursor.previous = None;
        cursor.inside = false;
        let offset = cursor.stream.offset.saturating_add(start);
        let held = if cursor.feed.is_reader() { bytes.len() } else { 0 };
        let chunk = Chunk { bytes, part: cursor.stream.part, offset, compressed: false, joined: false };
        self.add_chunk(chunk, held);
    }

    /// The next chunk, beginning with the record before the one at `pos`: so that what is made of damage does not depend on
    /// where a chunk ends.
    fn next_chunk_from_previous(&mut self, bytes: &Bytes, pos: usize) {
        let previous = self.current.as_ref().and_then(|cursor| cursor.previous).unwrap_or(pos);
        self.next_chunk(self.offset_in_stream(previous), bytes.get(previous..).unwrap_or_default());
        if let Some(cursor) = &mut self.current {
            cursor.pos = pos - previous;
            cursor.previous = (previous < pos).then_some(0);
        }
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
        if cursor.astray.is_some() {
            return self.stray(&bytes, start, start);
        }
        let (pos, stop) = self.scan::<O>(&bytes, start);
        match stop {
            Stop::Enough => {}
            Stop::User(head) => self.user_record::<O>(&bytes, pos, head),
            Stop::End | Stop::Partial => self.at_chunk_end(&bytes, pos),
            Stop::Bad(head) => self.bad_record(&bytes, pos, head),
            Stop::Far => self.next_chunk(self.offset_in_stream(pos), &[]),
        }
    }

    /// Goes on at an offset in the chunk; nothing is known of what lies before it.
    fn move_to(&mut self, pos: usize) {
        if let Some(cursor) = &mut self.current {
            cursor.pos = pos;
            cursor.previous = None;
        }
    }

    /// The hot loop: from head to head, noting where each record lies and when it happened.
    fn scan<O: Order>(&mut self, bytes: &[u8], start: usize) -> (usize, Stop) {
        let schema = Arc::clone(&self.metadata.schema);
        let chunk = self.chunk_number();
        let mut previous = self.current.as_ref().and_then(|cursor| cursor.previous);
        let mut pos = start;
        let stop = loop {
            if self.ready.len() >= BATCH_RECORDS {
                break Stop::Enough;
            }
            let Ok(at) = u32::try_from(pos) else { break Stop::Far };
            let rest = bytes.get(pos..).unwrap_or_default();
            let Some(head) = RecordHead::read::<O>(rest) else {
                break if rest.is_empty() { Stop::End } else { Stop::Partial };
            };
            if usize::from(head.size) < HEAD_SIZE {
                break if head.kind == kind::COMPRESSED2 { Stop::User(head) } else { Stop::Bad(head) };
            }
            let Some(record) = rest.get(..usize::from(head.size)) else { break Stop::Partial };
            if head.kind >= USER_RECORDS {
                break Stop::User(head);
            }
            if !frame::is_kernels(head.kind) || !head.size.is_multiple_of(8) {
                match self.is_odd_record::<O>(bytes, pos, head) {
                    Some(true) => {}
                    Some(false) => break Stop::Bad(head),
                    None => break Stop::Partial,
                }
            }
            let time = if self.sorting { time_of(&schema, head, record) } else { 0 };
            let entry = Entry { time, index: self.index, chunk, pos: at };
            if Queue::has_to_wait(time) {
                self.queue.push(entry);
            } else {
                self.ready.push(entry);
            }
            self.index += 1;
            previous = Some(pos);
            pos += usize::from(head.size);
        };
        self.move_to(pos);
        if let Some(cursor) = &mut self.current {
            cursor.previous = previous;
        }
        (pos, stop)
    }

    /// Whether a head whose type or size no kernel has written is one all the same: if what follows it begins like a record.
    /// `None` where that is not in the chunk.
    #[cold]
    fn is_odd_record<O: Order>(&self, bytes: &[u8], pos: usize, head: RecordHead) -> Option<bool> {
        let rest = bytes.get(pos + usize::from(head.size)..).unwrap_or_default();
        match RecordHead::read::<O>(rest) {
            Some(next) => Some(frame::is_of_known_kind(next)),
            None if self.nothing_follows() => Some(rest.is_empty()),
            None if self.current.as_ref().is_some_and(|cursor| cursor.inside) => Some(true),
            None => None,
        }
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
        let mut passed_over = 0;
        if behind.len() < payload {
            if !self.nothing_follows() && !self.is_too_long(payload) {
                return self.at_chunk_end(bytes, pos);
            }
            if self.nothing_follows() && self.records_follow(bytes, pos + size) {
                // What claims to be its payload are records: the claim is wrong.
                let place = self.place(pos, head);
                let message = || format!("a payload of {payload} bytes cannot be: records follow");
                self.metadata.issues.add(IssueKind::BadRecordSize, place, message);
                return self.stray(bytes, pos, pos + size);
            }
            passed_over = self.pass_over(payload - behind.len());
            let there = behind.len() as u64 + passed_over;
            if there < payload as u64 {
                let message =
                    || format!("the file is cut: {there} of {payload} bytes of a payload are there");
                self.metadata.issues.add(IssueKind::CutData, self.place(pos, head), message);
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
        if passed_over > 0 {
            let next = self.offset_in_stream(pos + size + payload).saturating_add(passed_over);
            return self.next_chunk(next, &[]);
        }
        match self.metadata.schema.dialect().decoded_as(head.kind) {
            kind::FINISHED_ROUND if self.sorting => {
                self.queue.finish_round(&mut self.ready);
                self.round_ended = true;
            }
            kind::COMPRESSED | kind::COMPRESSED2 => self.enter_compressed::<O>(pos, head, bytes),
            _ => {}
        }
    }

    /// Whether a payload is more than is kept of bytes that are not all there anyway.
    fn is_too_long(&self, payload: usize) -> bool {
        let Some(cursor) = &self.current else { return true };
        // perf compresses samples, never what lies behind records: waiting for it would only gather pieces.
        let most = if cursor.inside { frame::MOST_INSIDE } else { self.limits.payload_bytes };
        payload > most && (cursor.inside || cursor.feed.is_reader())
    }

    /// Passes over bytes that have not arrived yet; how many there were.
    fn pass_over(&mut self, count: usize) -> u64 {
        let cursor = self.current.as_mut().filter(|cursor| !cursor.inside);
        cursor.map_or(0, |cursor| cursor.feed.pass_over(count as u64))
    }

    /// Offset in the stream of a position in the chunk at hand.
    fn offset_in_stream(&self, pos: usize) -> u64 {
        self.current.as_ref().map_or(0, |cursor| cursor.chunk_start.saturating_add(pos as u64))
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
        if self.current.as_ref().is_some_and(|cursor| cursor.inside) {
            return self.leave_compressed(left);
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
    fn cut_record(&mut self, pos: usize, left: usize, head: Option<RecordHead>) {
        let whole = match head {
            Some(head) => format!("{} bytes", head.size),
            None => "a record's head".to_owned(),
        };
        let place = self.place(pos, head.unwrap_or_default());
        let message = || format!("the last record is cut: {left} bytes of {whole} are there");
        self.metadata.issues.add(IssueKind::CutData, place, message);
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
        self.new_bytes = 0;
        if self.ready.is_empty() && !self.finished {
            return None;
        }
        self.name_events();
        let mut batch = Batch {
            schema: Arc::clone(&self.metadata.schema),
            first_chunk: self.first_chunk,
            chunks: self.chunks.iter().cloned().collect(),
            entries: std::mem::take(&mut self.ready),
        };
        self.ready.reserve(batch.entries.len().min(BATCH_RECORDS));
        self.drop_chunks();
        if self.metadata.schema.is_deferring() && self.ordering == Ordering::Time {
            self.join_chains(&mut batch);
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// Puts call chains together of which the user part comes later.
    fn join_chains(&mut self, batch: &mut Batch) {
        self.deferred.join(batch, self.finished);
        let missing = std::mem::take(&mut self.deferred.missing);
        if missing > 0 {
            let message = || "call chains end where the user's part begins: it never came".to_owned();
            self.metadata.issues.add_many(IssueKind::UserPartMissing, Place::default(), missing, message);
        }
    }

    /// Lets go of chunks in which nothing waits any more.
    fn drop_chunks(&mut self) {
        if self.chunks.len() < 2 {
            return;
        }
        let needed = self.queue.first_chunk().unwrap_or(u32::MAX);
        while self.chunks.len() > 1 && self.first_chunk < needed {
            self.chunks.pop_front();
            self.held_bytes -= self.held.pop_front().unwrap_or(0);
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
