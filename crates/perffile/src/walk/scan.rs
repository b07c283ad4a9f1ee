//! From head to head through the chunk at hand.

use super::batches::Batches;
use super::frame;
use super::stray_times::StrayTimes;
use crate::order::Entry;
use crate::schema::Schema;
use crate::wire::endian::Order;
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::{USER_RECORDS, kind};
use std::sync::Arc;

/// How many records are scanned before it is looked at how many of them wait.
const MOST_AT_ONCE: u64 = 1 << 16;

/// Why the scan of a chunk stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// At the end of the chunk, between two records.
    End,
    /// At one of perf's own records, which may mean something to the walk.
    User(RecordHead),
    /// The next record ends behind the chunk.
    Partial,
    /// What comes next is no record.
    Bad(RecordHead),
    /// Enough for a batch, or to look at what waits.
    Enough,
    /// Positions in the chunk would need more than 32 bits: a new chunk begins here.
    Far,
}

impl Batches {
    /// Scans the chunk at hand up to the next thing to decide, and decides it.
    pub(super) fn step<O: Order>(&mut self) {
        let (Some(cursor), Some(chunk)) = (&self.current, self.window.newest()) else { return };
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

    /// The hot loop: from head to head, noting where each record lies and when it happened.
    pub(super) fn scan<O: Order>(&mut self, bytes: &[u8], start: usize) -> (usize, Stop) {
        let schema = Arc::clone(&self.metadata.schema);
        let chunk = self.window.newest_number();
        let time_at = schema.sample_time_at();
        let mut previous = self.current.as_ref().and_then(|cursor| cursor.previous);
        let mut pos = start;
        let enough = self.index + MOST_AT_ONCE;
        let mut touched = self.touched.at(chunk, start);
        let stop = loop {
            if self.census.is_none()
                && let Some(at) = time_at
            {
                let behind = self.samples::<O>(bytes, pos, at, chunk, &mut touched);
                if behind.pos > pos {
                    (pos, previous) = (behind.pos, Some(behind.last));
                }
            }
            if self.rounds.is_enough() || self.index >= enough {
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
            if head.kind != kind::SAMPLE {
                self.check_body::<O>(&schema, record, pos, head);
                if let Some(census) = &mut self.census {
                    census.record::<O>(head.kind, record.get(HEAD_SIZE..).unwrap_or_default());
                }
            } else if let Some(census) = &mut self.census {
                census.sample(schema.time_of_sample(record.get(HEAD_SIZE..).unwrap_or_default()));
            }
            let time = match head.kind {
                kind::SAMPLE => time_of_sample::<O>(&schema, time_at, &mut self.strays, record),
                _ if self.rounds.sorting => {
                    schema.time_of_trailer(record.get(HEAD_SIZE..).unwrap_or_default())
                }
                _ => None,
            };
            let time = time.unwrap_or(0);
            let entry = Entry { time, index: self.index, chunk, pos: at };
            self.rounds.push(entry);
            self.index += 1;
            previous = Some(pos);
            pos += usize::from(head.size);
        };
        self.touched = touched;
        self.move_to(pos);
        if let Some(cursor) = &mut self.current {
            cursor.previous = previous;
        }
        (pos, stop)
    }

    /// Whether a head whose type or size no kernel has written is one all the same: if what follows it begins like a record.
    /// `None` where that is not in the chunk.
    #[cold]
    pub(super) fn is_odd_record<O: Order>(&self, bytes: &[u8], pos: usize, head: RecordHead) -> Option<bool> {
        let rest = bytes.get(pos + usize::from(head.size)..).unwrap_or_default();
        match RecordHead::read::<O>(rest) {
            Some(next) => Some(frame::is_of_known_kind(next)),
            None if self.nothing_follows() => Some(rest.is_empty()),
            None if self.is_last_part() => Some(true),
            None => None,
        }
    }
}

/// The time that a sample is ordered by. An impossible one would spoil the order of all rounds: it is marked as a stray.
/// `time_at` is where samples have theirs, if that is the same in all.
#[inline(always)]
fn time_of_sample<O: Order>(
    schema: &Schema,
    time_at: Option<usize>,
    strays: &mut StrayTimes,
    record: &[u8],
) -> Option<u64> {
    let body = record.get(HEAD_SIZE..).unwrap_or_default();
    let time = match time_at {
        Some(at) => O::ORDER.u64_at(body, at),
        None => schema.time_of_sample(body),
    }?;
    match time {
        _ if strays.is_stray(time) => Some(Entry::STRAY),
        // The highest time is none either, but it is not far from a range that is not told.
        Entry::STRAY => None,
        _ => Some(time),
    }
}
