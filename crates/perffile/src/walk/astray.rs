//! Bytes that are no records: counted, and passed over up to where records begin again.

use super::Batches;
use super::frame::{self, Resync};
use crate::bytes::Bytes;
use crate::issue::IssueKind;
use crate::place::Place;
use crate::wire::endian::with_order;
use crate::wire::head::RecordHead;

impl Batches {
    /// A head that cannot be one: goes on where records begin again.
    pub(super) fn bad_record(&mut self, bytes: &Bytes, pos: usize, head: RecordHead) {
        if frame::is_plausible(RecordHead { size: 8, ..head }) {
            let place = self.place(pos, head);
            let message = || format!("a record of {} bytes cannot be", head.size);
            self.metadata.issues.add(IssueKind::BadRecordSize, place, message);
        }
        self.stray(bytes, pos, pos + 1);
    }

    /// Stray bytes begin at `pos`, or go on there since the chunk before; records may begin again at `from`. Where that is
    /// does not depend on the chunks: if what is there does not suffice to tell, it is taken over into the next one.
    pub(super) fn stray(&mut self, bytes: &Bytes, pos: usize, from: usize) {
        let dialect = self.metadata.schema.dialect();
        let begin = Place { record: None, ..self.place(pos, RecordHead::default()) };
        let last = self.nothing_follows() || self.current.as_ref().is_some_and(|cursor| cursor.inside);
        let found = with_order!(self.metadata.order, O => frame::resync::<O>(bytes, from, dialect, last));
        let (next, certain) = match found {
            Resync::At(next) => (next, true),
            Resync::Nowhere => (bytes.len(), true),
            Resync::Perhaps(next) => (next, false),
        };
        let Some(cursor) = &mut self.current else { return };
        let (place, before) = cursor.astray.take().unwrap_or((begin, 0));
        let skipped = before + next.saturating_sub(pos) as u64;
        if !certain {
            cursor.astray = Some((place, skipped));
            let left = bytes.slice(next..bytes.len());
            return self.next_chunk(self.offset_in_stream(next), &left);
        }
        let message = || format!("{skipped} bytes are no records and are passed over");
        self.metadata.issues.add(IssueKind::StrayBytes, place, message);
        self.move_to(next);
    }
}
