//! perf's own records, from type 64 on: delivered where they stand, with the bytes that follow some of them.

use super::batches::Batches;
use super::frame::{self, Resync};
use crate::bytes::Bytes;
use crate::dialect::Dialect;
use crate::issue::IssueKind;
use crate::metadata::Container;
use crate::order::Entry;
use crate::payload::payload_size;
use crate::place::{Part, Place};
use crate::wire::endian::Order;
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;

impl Batches {
    /// One of perf's own records: delivered where it stands; some mean something to the walk.
    pub(super) fn user_record<O: Order>(&mut self, bytes: &Bytes, pos: usize, head: RecordHead) {
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
        let payload = usize::try_from(payload_size(head, rest, O::ORDER, self.metadata.schema.dialect()))
            .unwrap_or(usize::MAX);
        let behind = bytes.get(pos + size..).unwrap_or_default();
        if self.is_claim_refused::<O>(bytes, pos, head, payload) {
            return;
        }
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
            chunk: self.window.newest_number(),
            pos: u32::try_from(pos).unwrap_or(u32::MAX),
        };
        self.rounds.push(entry);
        let payload = payload.min(behind.len());
        let fits = self.check_own_body::<O>(body, pos, head);
        self.apply::<O>(head, body, bytes, pos + size..pos + size + payload);
        self.index += 1;
        self.move_to(pos + size + payload);
        if passed_over > 0 {
            let next = self.offset_in_stream(pos + size + payload).saturating_add(passed_over);
            return self.next_chunk(next, &[]);
        }
        match self.metadata.schema.dialect().decoded_as(head.kind) {
            kind::FINISHED_ROUND if self.rounds.sorting && fits => self.rounds.finish_round(self.index),
            kind::COMPRESSED | kind::COMPRESSED2 => self.enter_compressed::<O>(pos, head, bytes),
            _ => {}
        }
    }

    /// Whether the payload that a record claims is impossible: then the walk goes on where records begin. Or that cannot be told
    /// yet: then with more bytes.
    fn is_claim_refused<O: Order>(
        &mut self,
        bytes: &Bytes,
        pos: usize,
        head: RecordHead,
        payload: usize,
    ) -> bool {
        let start = pos + usize::from(head.size).max(HEAD_SIZE);
        let message = if head.kind == kind::AUXTRACE
            && self.covers_another::<O>(bytes, pos, start.saturating_add(payload) - pos)
        {
            format!("a payload of {payload} bytes cannot be: the next AUXTRACE record is inside")
        } else {
            match self.swallowed(bytes, head.kind, start, payload) {
                Resync::Nowhere => return false,
                Resync::Perhaps(_) => {
                    self.at_chunk_end(bytes, pos);
                    return true;
                }
                Resync::At(next) => {
                    let first = next - start;
                    format!("a payload of {payload} bytes cannot be: records begin behind its first {first}")
                }
            }
        };
        self.metadata.issues.add(IssueKind::BadRecordSize, self.place(pos, head), || message);
        self.stray(bytes, pos, start);
        true
    }

    /// Whether what an AUXTRACE record claims covers another one. Any bytes may be trace data, records too; so only where the
    /// index of the file names both of them, and the other one is there.
    fn covers_another<O: Order>(&self, bytes: &[u8], pos: usize, claimed: usize) -> bool {
        let Place { part: Part::Data, offset: begin, .. } = self.place(pos, RecordHead::default()) else {
            return false;
        };
        let Ok(own) = self.auxtrace_offsets.binary_search(&begin) else { return false };
        let Some(next) = self.auxtrace_offsets.get(own + 1) else { return false };
        let Ok(distance) = usize::try_from(next - begin) else { return false };
        let there = bytes.get(pos.saturating_add(distance)..).and_then(RecordHead::read::<O>);
        distance < claimed && there.is_some_and(|head| head.kind == kind::AUXTRACE)
    }

    /// Whether a payload is more than is kept of bytes that are not all there anyway.
    pub(super) fn is_too_long(&self, payload: usize) -> bool {
        let Some(cursor) = &self.current else { return true };
        // perf compresses samples, never what lies behind records: waiting for it would only gather pieces.
        let most = if cursor.inside { frame::MOST_INSIDE } else { self.limits.payload_bytes };
        payload > most && (cursor.inside || cursor.feed.is_reader())
    }
}
