//! The one path from streams of bytes to batches of records, for every kind of recording.

mod apply;
mod astray;
mod body;
mod census;
mod chunks;
mod compressed;
mod decompress;
mod expansion;
pub(crate) mod frame;
mod joined;
mod own_record;
mod scan;
mod stray_times;

use crate::container::event_name::NameSources;
use crate::container::stream::{Feed, Stream};
use crate::container::{Container, Opened};
use crate::error::Result;
use crate::event::{Batch, Chunk};
use crate::issue::{IssueKind, Issues};
use crate::limits::Limits;
use crate::order::{Entry, Ordering, Queue};
use crate::place::Place;
use crate::recording::Metadata;
use crate::simpleperf::SplitRecords;
use crate::wire::endian::with_order;
pub(crate) use body::is_checked;
use census::Census;
use compressed::Outer;
use decompress::Decompressor;
use expansion::Expansion;
use joined::Deferred;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;
use stray_times::StrayTimes;

/// How many records make a batch where no round ends it before. So few that what was walked is still in the cache of the CPU
/// when it is decoded.
const BATCH_RECORDS: usize = 4 * 1024;

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
    /// Samples with times that cannot be.
    strays: StrayTimes,
    /// What is there of a directory.
    census: Option<Census>,
    ready: Vec<Entry>,
    /// A round has ended: what is ready is a batch.
    round_ended: bool,
    /// Number of the first record of the round at hand.
    round_start: u64,
    finished: bool,
    first_chunk: u32,
    chunks: VecDeque<Chunk>,
    /// How many bytes each of the chunks keeps in memory, their sum, and the sum since the last batch.
    held: VecDeque<u64>,
    held_bytes: u64,
    new_bytes: u64,
    /// While inside a compressed record: that record.
    outer: Option<Outer>,
    /// What compressed records have expanded to.
    expansion: Expansion,
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
    /// How many events were named, those that were named anew included.
    events_named: u64,
    /// How often what names are made of has changed.
    renamings: u32,
    /// How many bytes were read anew for that.
    renaming_bytes: usize,
    /// Of [`Limits::ids`], how many are left.
    ids_left: usize,
    /// Where AUXTRACE records lie by the file's own index.
    auxtrace_offsets: Vec<u64>,
    index: u64,
    done_bytes: u64,
    total_bytes: u64,
    /// The same of what somebody gave: a wrapper, if it was in one.
    given_bytes: u64,
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

impl Batches {
    pub(crate) fn new(opened: &Opened, ordering: Ordering, limits: &Limits) -> Result<Self> {
        let Opened { metadata, streams, wrapper_bytes } = opened.clone();
        let total_bytes = streams.iter().map(|stream| stream.source.len()).sum();
        let census = (metadata.container == Container::Directory).then(|| Census::of(&streams));
        let streams: Result<_> =
            streams.into_iter().map(|stream| stream.source.feed().map(|feed| (stream, feed))).collect();
        let auxtrace_offsets = own_record::auxtrace_offsets(&metadata);
        let mut batches = Batches {
            metadata,
            streams: streams?,
            current: None,
            ordering,
            sorting: false,
            queue: Queue::default(),
            strays: StrayTimes::default(),
            census,
            ready: Vec::new(),
            round_ended: false,
            round_start: 0,
            finished: false,
            first_chunk: 0,
            chunks: VecDeque::new(),
            held: VecDeque::new(),
            held_bytes: 0,
            new_bytes: 0,
            outer: None,
            expansion: Expansion::new(limits, wrapper_bytes),
            split: SplitRecords::default(),
            deferred: Deferred::default(),
            name_sources: None,
            names_stale: false,
            config_names: FxHashMap::default(),
            events_named: 0,
            renamings: 0,
            renaming_bytes: 0,
            ids_left: limits.ids,
            auxtrace_offsets,
            limits: limits.clone(),
            index: 0,
            done_bytes: 0,
            total_bytes,
            given_bytes: wrapper_bytes.unwrap_or(total_bytes),
        };
        batches.strays.learn(&batches.metadata.features);
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
            self.end_at_limit();
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
        if self.sorting && self.held_bytes + self.queue.held_bytes() > self.most_waiting() {
            self.queue.finish(&mut self.ready);
            self.round_ended = !self.ready.is_empty();
        }
        if self.new_bytes > BATCH_BYTES {
            self.round_ended |= !self.ready.is_empty();
            if self.ready.is_empty() {
                self.new_bytes = 0;
                self.drop_chunks();
            }
        }
    }

    /// How many bytes may wait for their round: of what was compressed, more in a large file than in a small one, so that
    /// only what expands beyond reason is cut short.
    fn most_waiting(&self) -> u64 {
        let in_proportion = self.given_bytes.saturating_mul(MOST_EXPANSION);
        self.limits.waiting_bytes.max(in_proportion)
    }

    /// A mark of a finished round: what it allows to deliver is a batch. One mark behind the other makes none.
    fn finish_round(&mut self) {
        let before = self.ready.len();
        self.queue.finish_round(&mut self.ready);
        let records = self.index.saturating_sub(std::mem::replace(&mut self.round_start, self.index));
        self.round_ended |= records > 1 || self.ready.len() > before;
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
        if let Some(census) = self.census.take() {
            census.tell(&mut self.metadata);
        }
        self.queue.finish(&mut self.ready);
        let unordered = self.queue.unordered;
        if unordered > 0 {
            let place = Place::default();
            let message = || format!("{unordered} records are older than what came before their round");
            self.metadata.issues.add_many(IssueKind::Unordered, place, unordered, message);
        }
    }

    fn take_batch(&mut self) -> Option<Batch> {
        self.round_ended = false;
        self.new_bytes = 0;
        if self.ready.is_empty() && !self.finished {
            return None;
        }
        self.name_events();
        let entries = std::mem::take(&mut self.ready);
        let (first_chunk, chunks) = self.chunks_of(&entries);
        let mut batch = Batch { schema: Arc::clone(&self.metadata.schema), first_chunk, chunks, entries };
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

    /// The chunks that these records lie in, and those between; the number of the first. Of those that wait there may be far more.
    fn chunks_of(&self, entries: &[Entry]) -> (u32, Vec<Chunk>) {
        let numbers = || entries.iter().map(|entry| entry.chunk);
        let Some((first, last)) = numbers().min().zip(numbers().max()) else {
            return (self.first_chunk, Vec::new());
        };
        let skipped = first.saturating_sub(self.first_chunk) as usize;
        let count = (last - first) as usize + 1;
        (first, self.chunks.iter().skip(skipped).take(count).cloned().collect())
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
