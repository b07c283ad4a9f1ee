//! The records of a recording, in batches.

use super::census::Census;
use super::cursor::{Cursor, Outer};
use super::event_names::EventNames;
use super::expansion::Expansion;
use super::joined::Deferred;
use super::rounds::Rounds;
use super::stray_times::StrayTimes;
use super::touched::Touched;
use super::window::Window;
use crate::container::opened::Opened;
use crate::container::stream::{Feed, Stream};
use crate::error::Result;
use crate::event::Batch;
use crate::issue::{IssueKind, Issues};
use crate::limits::Limits;
use crate::metadata::{Container, Metadata};
use crate::order::Ordering;
use crate::place::Place;
use crate::simpleperf::SplitRecords;
use crate::wire::endian::with_order;
use crate::wire::feature::{Feature, bit};
use std::collections::VecDeque;
use std::sync::Arc;

/// How many bytes in memory make a batch.
const BATCH_BYTES: u64 = 16 << 20;

/// How many times its size a compressed recording may expand to while it waits to be put in order.
const MOST_EXPANSION: u64 = 64;

/// The records of a recording, in batches. An iterator; what was wrong on the way is in [`Batches::issues`].
#[derive(Debug)]
pub struct Batches {
    pub(super) metadata: Metadata,
    pub(super) limits: Limits,
    /// Number of the next record.
    pub(super) index: u64,
    /// Streams that are still to be walked, and where the walk is in the one at hand.
    pub(super) streams: VecDeque<(Stream, Feed)>,
    pub(super) current: Option<Cursor>,
    /// While inside a compressed record: that record.
    pub(super) outer: Option<Outer>,
    pub(super) window: Window,
    pub(super) rounds: Rounds,
    /// What has been brought near.
    pub(super) touched: Touched,
    /// Which samples have impossible times.
    pub(super) strays: StrayTimes,
    /// Samples whose call chain is not whole yet.
    deferred: Deferred,
    /// Whether they are put together.
    joins_chains: bool,
    pub(super) names: EventNames,
    /// Of a directory: which of its files are there.
    pub(super) census: Option<Census>,
    /// What compressed records have expanded to.
    pub(super) expansion: Expansion,
    /// simpleperf's records that lie in parts.
    pub(super) split: SplitRecords,
    /// Of [`Limits::ids`], how many are left.
    pub(super) ids_left: usize,
    /// Where AUXTRACE records lie by the file's own index.
    pub(super) auxtrace_offsets: Vec<u64>,
    pub(super) done_bytes: u64,
    total_bytes: u64,
    /// Size of the input in bytes: of the compressed file, if the recording was in one.
    given_bytes: u64,
    finished: bool,
}

impl Batches {
    /// Whoever keeps batches (`keeps`) gets parts of the mapping of a file, which take no memory.
    pub(crate) fn new(opened: &Opened, ordering: Ordering, limits: &Limits, keeps: bool) -> Result<Self> {
        let Opened { metadata, streams, wrapper_bytes } = opened.clone();
        let total_bytes = streams.iter().map(|stream| stream.source.len()).sum();
        let census = (metadata.container == Container::Directory).then(|| Census::of(&streams));
        let memory = (!keeps).then(Arc::default);
        let streams: Result<_> = streams
            .into_iter()
            .map(|stream| stream.feed(memory.as_ref()).map(|feed| (stream, feed)))
            .collect();
        let mut batches = Batches {
            auxtrace_offsets: auxtrace_offsets(&metadata),
            metadata,
            limits: limits.clone(),
            index: 0,
            streams: streams?,
            current: None,
            outer: None,
            window: Window::default(),
            rounds: Rounds::new(ordering),
            touched: Touched::default(),
            strays: StrayTimes::default(),
            deferred: Deferred::default(),
            joins_chains: ordering == Ordering::Time,
            names: EventNames::default(),
            census,
            expansion: Expansion::new(limits, wrapper_bytes),
            split: SplitRecords::default(),
            ids_left: limits.ids,
            done_bytes: 0,
            total_bytes,
            given_bytes: wrapper_bytes.unwrap_or(total_bytes),
            finished: false,
        };
        batches.strays.learn(&batches.metadata.features);
        batches.schema_changed();
        Ok(batches)
    }

    /// The same records as they lie in the recording, also in order of time: call chains whose user part comes later stay in two
    /// parts ([`crate::deferred`]).
    #[must_use]
    pub fn keep_chains_apart(mut self) -> Batches {
        self.joins_chains = false;
        self
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
    pub(super) fn schema_changed(&mut self) {
        let first = self.metadata.schema.events().first();
        let ordered = first.is_some_and(|event| event.layout.shape().sample_id_all);
        self.rounds.sorting = ordered && self.rounds.ordering == Ordering::Time;
    }

    /// Walks on until there is a batch, or nothing is left.
    fn fill(&mut self) {
        while !self.finished && !self.rounds.ended && !self.rounds.is_enough() {
            self.let_go();
            if self.rounds.ended {
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
        let most_waiting = self.most_waiting();
        let rounds = &mut self.rounds;
        if rounds.sorting && self.window.held_bytes + rounds.queue.held_bytes() > most_waiting {
            rounds.finish();
            rounds.cut();
        }
        if self.window.new_bytes > BATCH_BYTES {
            rounds.cut();
            if rounds.ready.is_empty() {
                self.window.new_bytes = 0;
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
        self.rounds.finish();
        let unordered = self.rounds.queue.unordered;
        if unordered > 0 {
            let place = Place::default();
            let message = || format!("{unordered} records are older than what came before their round");
            self.metadata.issues.add_many(IssueKind::Unordered, place, unordered, message);
        }
    }

    fn take_batch(&mut self) -> Option<Batch> {
        self.rounds.ended = false;
        self.window.new_bytes = 0;
        if self.rounds.ready.is_empty() && !self.finished {
            return None;
        }
        self.names.give(&mut self.metadata, self.index, self.finished);
        let entries = self.rounds.take();
        let (first_chunk, chunks) = self.window.of(&entries);
        let mut batch = Batch { schema: Arc::clone(&self.metadata.schema), first_chunk, chunks, entries };
        self.drop_chunks();
        if self.joins_chains && self.metadata.schema.is_deferring() {
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
        self.window.drop_before(|| self.rounds.queue.first_chunk().unwrap_or(u32::MAX));
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

/// Offsets in the file of the AUXTRACE records that its index names, sorted, each once.
fn auxtrace_offsets(metadata: &Metadata) -> Vec<u64> {
    if metadata.container == Container::Pipe {
        return Vec::new();
    }
    let Some(Ok((Feature::Auxtrace(index), _))) = metadata.features.feature(bit::AUXTRACE) else {
        return Vec::new();
    };
    let mut offsets: Vec<u64> = index.entries.iter().map(|entry| entry.file_offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}
