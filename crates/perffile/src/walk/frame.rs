//! Where one record ends and the next begins, and how to find that again when it is lost.

use crate::dialect::Dialect;
use crate::wire::endian::{ByteOrder, Order};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;

/// Highest type of simpleperf's own records, which begin at 32768.
const SIMPLEPERF: std::ops::RangeInclusive<u32> = 32_768..=32_800;

/// Most data that a COMPRESSED2 record can hold: 65,535 less its head and size.
const MOST_COMPRESSED2: u64 = 65_519;

/// How many plausible records in a row make a place where records begin again.
const RESYNC_RECORDS: usize = 4;

/// Bytes behind a record that belong to it without being counted in its size. `record` begins with its head and goes on
/// behind it.
#[inline]
pub(crate) fn payload_size(head: RecordHead, record: &[u8], order: ByteOrder, dialect: Dialect) -> u64 {
    if !dialect.may_have_payload(head.kind) {
        return 0;
    }
    match head.kind {
        kind::AUXTRACE => order.u64_at(record, HEAD_SIZE).unwrap_or(0),
        // The size of the data, padded to eight bytes in the stream. simpleperf puts the data inside the record.
        kind::HEADER_TRACING_DATA if head.size > 16 => 0,
        kind::HEADER_TRACING_DATA => {
            order.u32_at(record, HEAD_SIZE).map_or(0, |size| u64::from(size).next_multiple_of(8))
        }
        // perf 6.16 rounds the size up to a multiple of eight in 16 bits: a full record wraps to 0. Its data tells.
        kind::COMPRESSED2 => match order.u64_at(record, HEAD_SIZE) {
            Some(data) if data <= MOST_COMPRESSED2 => {
                (16 + data).next_multiple_of(8).saturating_sub(u64::from(head.size).max(HEAD_SIZE as u64))
            }
            _ => 0,
        },
        _ => 0,
    }
}

/// The compressed bytes in a record that begins at the start of `record`.
pub(crate) fn compressed_piece<O: Order>(head: RecordHead, record: &[u8]) -> &[u8] {
    if head.kind == kind::COMPRESSED {
        return record.get(HEAD_SIZE..usize::from(head.size)).unwrap_or_default();
    }
    let data = O::ORDER.u64_at(record, HEAD_SIZE).and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
    let rest = record.get(16..).unwrap_or_default();
    rest.get(..data).unwrap_or(rest)
}

/// Whether a head could be one: its size holds it, and its type is one that somebody has ever written.
#[inline]
pub(crate) fn is_plausible(head: RecordHead) -> bool {
    usize::from(head.size) >= HEAD_SIZE
        && (head.kind < 256 && head.kind != 0 || SIMPLEPERF.contains(&head.kind))
}

/// The next place at or behind `from` where some plausible records follow each other, or all the bytes end with one.
pub(crate) fn resync<O: Order>(bytes: &[u8], from: usize, dialect: Dialect) -> Option<usize> {
    let mut at = from;
    while at + HEAD_SIZE <= bytes.len() {
        if begins::<O>(bytes, at, dialect) {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn begins<O: Order>(bytes: &[u8], mut at: usize, dialect: Dialect) -> bool {
    for _ in 0..RESYNC_RECORDS {
        if at == bytes.len() {
            return true;
        }
        let Some(head) = bytes.get(at..).and_then(RecordHead::read::<O>) else { return false };
        if !is_plausible(head) {
            return false;
        }
        let payload = payload_size(head, bytes.get(at..).unwrap_or_default(), O::ORDER, dialect);
        let Some(next) =
            usize::try_from(payload).ok().and_then(|p| p.checked_add(at + usize::from(head.size)))
        else {
            return false;
        };
        if next > bytes.len() {
            return false;
        }
        at = next;
    }
    true
}
