//! Where one record ends and the next begins, and how to find that again when it is lost.

use crate::wire::endian::{ByteOrder, Order};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;

/// Highest type of simpleperf's own records, which begin at 32768.
const SIMPLEPERF: std::ops::RangeInclusive<u32> = 32_768..=32_800;

/// How many plausible records in a row make a place where records begin again.
const RESYNC_RECORDS: usize = 4;

/// Bytes behind a record that belong to it without being counted in its size.
#[inline]
pub(crate) fn payload_size(number: u32, body: &[u8], order: ByteOrder) -> u64 {
    match number {
        kind::AUXTRACE => order.u64_at(body, 0).unwrap_or(0),
        // The size of the data, padded to eight bytes in the stream.
        kind::HEADER_TRACING_DATA => {
            order.u32_at(body, 0).map_or(0, |size| u64::from(size).next_multiple_of(8))
        }
        _ => 0,
    }
}

/// Whether a head could be one: its size holds it, and its type is one that somebody has ever written.
#[inline]
pub(crate) fn is_plausible(head: RecordHead) -> bool {
    usize::from(head.size) >= HEAD_SIZE
        && (head.kind < 256 && head.kind != 0 || SIMPLEPERF.contains(&head.kind))
}

/// The next place at or behind `from` where some plausible records follow each other, or all the bytes end with one.
pub(crate) fn resync<O: Order>(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at + HEAD_SIZE <= bytes.len() {
        if begins::<O>(bytes, at) {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn begins<O: Order>(bytes: &[u8], mut at: usize) -> bool {
    for _ in 0..RESYNC_RECORDS {
        if at == bytes.len() {
            return true;
        }
        let Some(head) = bytes.get(at..).and_then(RecordHead::read::<O>) else { return false };
        if !is_plausible(head) {
            return false;
        }
        let rest = bytes.get(at + HEAD_SIZE..).unwrap_or_default();
        let payload = payload_size(head.kind, rest, O::ORDER);
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
