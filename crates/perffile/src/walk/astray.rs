//! Bytes that are no records: counted, and passed over up to where records begin again.

use super::batches::Batches;
use super::frame::{self, Resync};
use crate::bytes::Bytes;
use crate::issue::IssueKind;
use crate::metadata::Metadata;
use crate::place::Place;
use crate::wire::endian::with_order;
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;
use std::ops::Range;

impl Batches {
    /// A head that cannot be one. If records begin inside what was taken for the record before it, that one's size is
    /// wrong, and they are the ones to go on with. Else it goes on where records begin again.
    pub(super) fn bad_record(&mut self, bytes: &Bytes, pos: usize, head: RecordHead) {
        let previous = self.current.as_mut().and_then(|cursor| cursor.previous.take());
        if let Some(previous) = previous {
            match self.resync_within(bytes, previous + HEAD_SIZE..pos) {
                Resync::At(next) => return self.wrong_size(bytes, previous, next),
                Resync::Perhaps(_) => {
                    if let Some(cursor) = &mut self.current {
                        cursor.previous = Some(previous);
                    }
                    return self.next_chunk_from_previous(bytes, pos);
                }
                Resync::Nowhere => {}
            }
        }
        let fits = bytes.len() - pos >= usize::from(head.size);
        if frame::is_plausible(RecordHead { size: 8, ..head })
            && (usize::from(head.size) < HEAD_SIZE || !fits)
        {
            let place = self.place(pos, head);
            let message = || format!("a record of {} bytes cannot be", head.size);
            self.metadata.issues.add(IssueKind::BadRecordSize, place, message);
        }
        self.stray(bytes, pos, pos + 1);
    }

    /// The record at `previous`, which has been delivered, goes too far: other records begin inside it, at `next`.
    fn wrong_size(&mut self, bytes: &Bytes, previous: usize, next: usize) {
        let head = with_order!(self.metadata.order, O => RecordHead::read::<O>(bytes.get(previous..).unwrap_or_default()));
        let head = head.unwrap_or_default();
        let mut place = self.place(previous, head);
        if let Some(record) = &mut place.record {
            record.index = record.index.saturating_sub(1);
        }
        let message = || {
            format!(
                "a record claims {} bytes, but others begin behind its first {}",
                head.size,
                next - previous
            )
        };
        self.metadata.issues.add(IssueKind::BadRecordSize, place, message);
        self.move_to(next);
    }

    /// Whether some records, more than one, follow each other from somewhere behind `from` on.
    pub(super) fn records_follow(&self, bytes: &Bytes, from: usize) -> bool {
        let Resync::At(next) = self.resync(bytes, from) else { return false };
        let head = with_order!(self.metadata.order, O => RecordHead::read::<O>(bytes.get(next..).unwrap_or_default()));
        head.is_some_and(|head| next + usize::from(head.size) < bytes.len())
    }

    /// Where records begin at or behind `from`.
    fn resync(&self, bytes: &Bytes, from: usize) -> Resync {
        self.resync_within(bytes, from..usize::MAX)
    }

    /// Where records begin in a range of places.
    fn resync_within(&self, bytes: &Bytes, places: Range<usize>) -> Resync {
        let dialect = self.metadata.schema.dialect();
        let last = self.nothing_follows() || self.is_last_part();
        with_order!(self.metadata.order, O => frame::resync_within::<O>(bytes, places, dialect, last))
    }

    /// Where records begin inside a payload that is all there, if no record follows it: then its size is wrong, and it swallows
    /// them. Any bytes may be trace data, records too; but then one follows them.
    pub(super) fn swallowed(&self, bytes: &Bytes, number: u32, start: usize, payload: usize) -> Resync {
        let there = bytes.len().saturating_sub(start);
        let is_inside = self.current.as_ref().is_some_and(|cursor| cursor.inside);
        // What COMPRESSED2 claims is looked at where it is taken apart. Longer payloads are not kept of streams that arrive.
        let most = there.min(self.limits.payload_bytes);
        if payload == 0 || payload > most || number == kind::COMPRESSED2 || is_inside {
            return Resync::Nowhere;
        }
        let behind = bytes.get(start + payload..).unwrap_or_default();
        let last = self.nothing_follows();
        match with_order!(self.metadata.order, O => RecordHead::read::<O>(behind)) {
            Some(head) if frame::is_likely(head) => return Resync::Nowhere,
            None if !last => return Resync::Perhaps(start),
            None if behind.is_empty() => return Resync::Nowhere,
            _ => {}
        }
        let (dialect, places) = (self.metadata.schema.dialect(), start..start + payload);
        with_order!(self.metadata.order, O => frame::resync_within::<O>(bytes, places, dialect, last))
    }

    /// Stray bytes begin at `pos`, or go on there since the chunk before; records may begin again at `from`. Where that is
    /// does not depend on the chunks: if what is there does not suffice to tell, it is taken over into the next one.
    pub(super) fn stray(&mut self, bytes: &Bytes, pos: usize, from: usize) {
        let begin = Place { record: None, ..self.place(pos, RecordHead::default()) };
        let (next, certain) = match self.resync(bytes, from) {
            Resync::At(next) => (next, true),
            Resync::Nowhere => (bytes.len(), true),
            Resync::Perhaps(next) => (next, false),
        };
        let Some(cursor) = &mut self.current else { return };
        let (place, before) = cursor.astray.take().unwrap_or((begin, 0));
        let here = next.saturating_sub(pos) as u64;
        let skipped = before + here;
        self.expansion.stray(here, cursor.inside);
        if !certain {
            cursor.astray = Some((place, skipped));
            let left = bytes.slice(next..bytes.len());
            if cursor.inside {
                return self.leave_part(&left);
            }
            return self.next_chunk(self.offset_in_stream(next), &left);
        }
        self.metadata.tell_stray(place, skipped);
        self.move_to(next);
    }
}

impl Metadata {
    /// Tells of bytes that are no records.
    pub(super) fn tell_stray(&mut self, place: Place, skipped: u64) {
        let message = || format!("{skipped} bytes are no records and are passed over");
        self.issues.add(IssueKind::StrayBytes, place, message);
    }
}
