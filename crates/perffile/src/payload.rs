//! What lies behind a record and belongs to it without being counted in its size, and the compressed bytes of a record.

use crate::dialect::Dialect;
use crate::wire::endian::ByteOrder;
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;
use std::ops::Range;

/// Most data that a COMPRESSED2 record can hold: 65,535 less its head and size.
const MOST_COMPRESSED2: u64 = 65_519;

/// Where the data of a COMPRESSED2 record begins.
const COMPRESSED2_HEAD: usize = 16;

/// Most data that several COMPRESSED2 records in one may hold together: more is rather a size that was never written.
const MOST_CHAINED: u64 = 16 << 20;

/// Most records of them. All but the last are full in what perf writes; this is so that a search for records among hostile
/// bytes does not follow many small ones from every place.
const MOST_LINKS: usize = 512;

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
        kind::COMPRESSED2 => {
            let (end, told) = (compressed2_end(head, record, order), usize::from(head.size).max(HEAD_SIZE));
            if end > told { (end.next_multiple_of(8) - told) as u64 } else { 0 }
        }
        _ => 0,
    }
}

/// Where the data of a COMPRESSED2 record ends, that of the records behind its first data included.
fn compressed2_end(head: RecordHead, record: &[u8], order: ByteOrder) -> usize {
    // Without the size of its data nothing tells; that has to be there first.
    let Some(data) = order.u64_at(record, HEAD_SIZE) else { return COMPRESSED2_HEAD };
    let as_told = usize::from(head.size).max(HEAD_SIZE);
    let Some(end) = usize::try_from(data).ok().filter(|_| data <= MOST_CHAINED) else { return as_told };
    let end = end + COMPRESSED2_HEAD;
    if data <= MOST_COMPRESSED2 || is_chain(head, record, end, order) { end } else { as_told }
}

/// Whether a COMPRESSED2 record is several, as perf 6.16 writes them where one does not suffice: only the first one is given
/// the size of all. As far as can be seen: the answer may change only as long as the bytes up to `end` are not all there.
fn is_chain(head: RecordHead, record: &[u8], end: usize, order: ByteOrder) -> bool {
    if end.next_multiple_of(8) & 0xffff != usize::from(head.size) {
        return false;
    }
    let mut at = first_link().end;
    for _ in 0..MOST_LINKS {
        if at == end || at >= record.len() {
            return true;
        }
        match next_link(record, at, order) {
            Some(link) if link.end <= end => at = link.end,
            _ => return false,
        }
    }
    false
}

/// Where the data of the first of several COMPRESSED2 records lies: it is full.
fn first_link() -> Range<usize> {
    let most = usize::try_from(MOST_COMPRESSED2).unwrap_or(0);
    COMPRESSED2_HEAD..COMPRESSED2_HEAD + most
}

/// Where the data of the one at `at` lies, one that is not the first: its size is exact, and the size of its data was never
/// written. Of a head that is not all there, as far as it goes at least.
fn next_link(record: &[u8], at: usize, order: ByteOrder) -> Option<Range<usize>> {
    let start = at + COMPRESSED2_HEAD;
    let (Some(kind), Some(size)) = (order.u32_at(record, at), order.u16_at(record, at + 6)) else {
        return Some(start..start);
    };
    let end = at + usize::from(size);
    (kind == kind::COMPRESSED2 && end >= start).then_some(start..end)
}

/// Where the compressed bytes of a record lie that begins at the start of `record`: in one piece or in several.
pub(crate) fn compressed_pieces(
    head: RecordHead,
    record: &[u8],
    order: ByteOrder,
) -> impl Iterator<Item = Range<usize>> {
    let (first, end) = if head.kind == kind::COMPRESSED {
        (HEAD_SIZE..usize::from(head.size), usize::from(head.size))
    } else {
        let end = compressed2_end(head, record, order);
        (COMPRESSED2_HEAD..end.min(first_link().end), end)
    };
    let next = move |link: &Range<usize>| {
        (link.end < end && link.end < record.len()).then(|| next_link(record, link.end, order)).flatten()
    };
    // Of a recording that is cut, what is there.
    std::iter::successors(Some(first), next).map(|link| link.start..link.end.min(record.len()))
}
