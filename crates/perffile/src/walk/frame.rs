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

/// Longest payload of a record inside a compressed one, in bytes.
pub(crate) const MOST_INSIDE: usize = 1 << 20;

/// How far those may reach: a long payload is as good as never what some stray bytes mean.
const RESYNC_BYTES: usize = 16 << 20;

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

/// Whether the kernel writes records of this type, or may do so soon.
#[inline]
pub(crate) fn is_kernels(number: u32) -> bool {
    matches!(number, 1..=31)
}

/// Whether a head has a type that somebody has written or may write soon.
pub(crate) fn is_of_known_kind(head: RecordHead) -> bool {
    let known = is_kernels(head.kind) || matches!(head.kind, 64..=95) || SIMPLEPERF.contains(&head.kind);
    known && usize::from(head.size) >= HEAD_SIZE
}

/// Whether a head is quite like those that the kernel and perf write: the kernel's sizes are multiples of eight. For places
/// where nothing else tells that a record begins.
fn is_likely(head: RecordHead) -> bool {
    is_of_known_kind(head) && (!is_kernels(head.kind) || head.size.is_multiple_of(8))
}

/// Where records begin again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resync {
    /// Here.
    At(usize),
    /// Perhaps here: what follows these bytes will tell.
    Perhaps(usize),
    /// Nowhere.
    Nowhere,
}

/// The next place at or behind `from` where some plausible records follow each other, or all the bytes end with one.
/// `last` says that nothing follows the bytes. The answer is the same in whatever pieces they come.
pub(crate) fn resync<O: Order>(bytes: &[u8], from: usize, dialect: Dialect, last: bool) -> Resync {
    let mut at = from;
    while at + HEAD_SIZE <= bytes.len() {
        match begins::<O>(bytes, at, dialect, last) {
            Some(true) => return Resync::At(at),
            Some(false) => at += 1,
            None => return Resync::Perhaps(at),
        }
    }
    if last { Resync::Nowhere } else { Resync::Perhaps(at.min(bytes.len())) }
}

/// Whether records begin here; `None` where it takes more bytes to tell.
fn begins<O: Order>(bytes: &[u8], start: usize, dialect: Dialect, last: bool) -> Option<bool> {
    let mut at = start;
    let short = if last { Some(false) } else { None };
    for _ in 0..RESYNC_RECORDS {
        if at == bytes.len() && last {
            return Some(true);
        }
        let Some(head) = bytes.get(at..).and_then(RecordHead::read::<O>) else { return short };
        if !is_likely(head) {
            return Some(false);
        }
        let rest = bytes.get(at..).unwrap_or_default();
        if !last && rest.len() < HEAD_SIZE + 8 && dialect.may_have_payload(head.kind) {
            return None;
        }
        let payload = payload_size(head, rest, O::ORDER, dialect);
        let next = usize::try_from(payload).ok().and_then(|p| p.checked_add(at + usize::from(head.size)));
        let Some(next) = next.filter(|next| next - start <= RESYNC_BYTES) else { return Some(false) };
        if next > bytes.len() {
            return short;
        }
        at = next;
    }
    Some(true)
}
