//! Records of simpleperf that are longer than a head can say: put together from SPLIT records.
//!
//! The bytes of all SPLIT records up to a SPLIT_END are one record, whose head has the size in 32 bits: the high half where
//! others have `misc`.

use crate::wire::WireError;
use crate::wire::attr::SampleShape;
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::{Record, kind};

/// Most bytes of one record.
const MOST_BYTES: usize = 256 << 20;

/// A record that was split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeRecord {
    /// Its type.
    pub number: u32,
    /// Its body; cut where parts are missing.
    pub body: Vec<u8>,
    /// The size its head tells, in bytes, the head included.
    pub size: u32,
    order: ByteOrder,
}

impl WholeRecord {
    /// The record with all its fields, and what its body holds behind the fields known here.
    ///
    /// # Errors
    /// The field at which the bytes end.
    pub fn record(&self) -> Result<(Record<'_>, &[u8]), WireError> {
        let shape = SampleShape::default();
        with_order!(self.order, O => Record::decode::<O>(self.number, &self.body, &shape, 0))
    }
}

/// Puts split records together.
#[derive(Clone, Debug, Default)]
pub struct SplitRecords {
    parts: Vec<u8>,
}

impl SplitRecords {
    /// Takes the next record of the recording, its type and body; records that are no parts are passed over. Returns the
    /// whole record at its end.
    pub fn push(&mut self, number: u32, body: &[u8], order: ByteOrder) -> Option<WholeRecord> {
        match number {
            kind::SPLIT => {
                let room = MOST_BYTES.saturating_sub(self.parts.len());
                self.parts.extend_from_slice(body.get(..room).unwrap_or(body));
                None
            }
            kind::SPLIT_END => whole(std::mem::take(&mut self.parts), order),
            _ => None,
        }
    }
}

fn whole(mut parts: Vec<u8>, order: ByteOrder) -> Option<WholeRecord> {
    let head = with_order!(order, O => RecordHead::read::<O>(&parts))?;
    let size = u32::from(head.misc) << 16 | u32::from(head.size);
    parts.truncate(usize::try_from(size).unwrap_or(usize::MAX));
    parts.drain(..HEAD_SIZE.min(parts.len()));
    Some(WholeRecord { number: head.kind, body: parts, size, order })
}

/// Where the data lies in the body of a TRACING_DATA record: behind its size.
pub(crate) fn tracing_data(body: &[u8], order: ByteOrder) -> std::ops::Range<usize> {
    let size = order.u32_at(body, 0).and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
    let start = body.len().min(4);
    start..size.saturating_add(4).clamp(start, body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(bytes: &[u8], records: &mut SplitRecords) {
        assert_eq!(records.push(kind::SPLIT, bytes, ByteOrder::Little), None);
    }

    /// A head as in a recording of simpleperf: type 32777, high half of the size 2, low half 0x1a0c.
    #[test]
    fn the_size_has_its_high_half_where_others_have_misc() {
        let mut records = SplitRecords::default();
        part(&[0x09, 0x80, 0, 0, 2, 0, 0x0c, 0x1a, 0xd7, 0x19, 2, 0], &mut records);
        part(&[0x17; 70_000], &mut records);
        // Records of other types may lie in between.
        assert_eq!(records.push(kind::COMM, &[1; 8], ByteOrder::Little), None);
        part(&[0x18; 70_000], &mut records);
        let whole = records.push(kind::SPLIT_END, &[], ByteOrder::Little).unwrap();
        assert_eq!((whole.number, whole.size), (32_777, 0x21a0c));
        assert_eq!(whole.body.len(), 0x21a0c - 8);
        assert_eq!(tracing_data(&whole.body, ByteOrder::Little), 4..0x219d7 + 4);
        assert!(matches!(whole.record(), Ok((Record::TracingDataInside(_), _))));
        // What was put together is gone.
        assert_eq!(records.push(kind::SPLIT_END, &[], ByteOrder::Little), None);
    }

    #[test]
    fn a_record_that_lacks_parts_is_cut() {
        let mut records = SplitRecords::default();
        part(&[0x09, 0x80, 0, 0, 2, 0, 0x0c, 0x1a, 0xff, 0xff, 0xff, 0xff, 7], &mut records);
        let whole = records.push(kind::SPLIT_END, &[], ByteOrder::Little).unwrap();
        assert_eq!(whole.body.len(), 5);
        assert_eq!(tracing_data(&whole.body, ByteOrder::Little), 4..5);
        assert!(whole.record().is_err());
        assert_eq!(tracing_data(&[1, 2], ByteOrder::Little), 2..2);
    }
}
