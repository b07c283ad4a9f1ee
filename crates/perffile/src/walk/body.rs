//! Whether a record is as long as its type can be. The kernel never adds fields to a type of record, so that what is longer was
//! no record of that type.

use super::batches::Batches;
use crate::issue::IssueKind;
use crate::schema::Schema;
use crate::wire::WireError;
use crate::wire::attr::SampleShape;
use crate::wire::endian::Order;
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::{Record, USER_RECORDS, kind, record_name};

/// Less than this is what fills a record up.
const PADDING: usize = 8;

/// Whether the walk tells when the body of a record of this type is too short: then nobody who decodes it later needs to.
pub(crate) fn is_checked(number: u32) -> bool {
    match number {
        kind::SAMPLE => false,
        kind::STAT | kind::STAT_ROUND | kind::ID_INDEX | kind::AUXTRACE => true,
        _ => number < USER_RECORDS,
    }
}

impl Batches {
    /// Checks a record of the kernel that is no sample.
    pub(super) fn check_body<O: Order>(
        &mut self,
        schema: &Schema,
        record: &[u8],
        pos: usize,
        head: RecordHead,
    ) {
        let body = record.get(HEAD_SIZE..).unwrap_or_default();
        let (trailer, shape) = match schema.trailer_of(body) {
            Some((trailer, shape)) => (trailer.size(), *shape),
            None => (0, SampleShape::default()),
        };
        let body = body.get(..body.len().saturating_sub(trailer)).unwrap_or_default();
        let (mut decoded, rest) = match Record::decode::<O>(head.kind, body, &shape, head.misc) {
            Ok(decoded) => decoded,
            Err(error) => return self.tell_too_short(&error, pos, head),
        };
        let mut behind_name = 0;
        decoded.each_name(&shape, head.misc, |name| behind_name += name.left_over());
        // A name ends a record: the kernel and perf fill up to eight bytes with NULs behind it.
        if behind_name > 0 {
            let message = || {
                format!("a record has {behind_name} bytes behind the name it ends with: its size is wrong")
            };
            self.metadata.issues.add(IssueKind::BadRecordSize, self.place(pos, head), message);
        } else if rest.len() >= PADDING {
            self.tell_too_long(rest.len(), pos, head);
        }
    }

    /// Whether one of perf's own records can be as long as it is; says so if not. Most of them may have more fields one day.
    pub(super) fn check_own_body<O: Order>(&mut self, body: &[u8], pos: usize, head: RecordHead) -> bool {
        let rest = match self.metadata.schema.dialect().decoded_as(head.kind) {
            kind::FINISHED_ROUND | kind::FINISHED_INIT => body.len(),
            kind::STAT | kind::STAT_ROUND | kind::ID_INDEX | kind::AUXTRACE => {
                match Record::decode::<O>(head.kind, body, &SampleShape::default(), head.misc) {
                    Ok((_, rest)) => rest.len(),
                    Err(error) => {
                        let place = self.place(pos, head).field(error.field);
                        let name = record_name(head.kind);
                        let message =
                            || format!("a {name} record of {} bytes is too short: {error}", head.size);
                        self.metadata.issues.add(IssueKind::BadRecordSize, place, message);
                        return false;
                    }
                }
            }
            _ => 0,
        };
        if rest >= PADDING || rest > 0 && body.len() == rest {
            self.tell_too_long(rest, pos, head);
            return false;
        }
        true
    }

    fn tell_too_short(&mut self, error: &WireError, pos: usize, head: RecordHead) {
        let place = self.place(pos, head).field(error.field);
        let name = record_name(head.kind);
        let message = || format!("{} bytes are too few for a record of type {name}: {error}", head.size);
        self.metadata.issues.add(IssueKind::BadRecordSize, place, message);
    }

    fn tell_too_long(&mut self, rest: usize, pos: usize, head: RecordHead) {
        let place = self.place(pos, head);
        let message = || {
            let name = record_name(head.kind);
            format!(
                "{} bytes are too many for a record of type {name}: {rest} are behind its fields",
                head.size
            )
        };
        self.metadata.issues.add(IssueKind::BadRecordSize, place, message);
    }
}
