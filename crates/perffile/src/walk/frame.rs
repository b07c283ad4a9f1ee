//! Where one record ends and the next begins, and how to find that again when it is lost.

use crate::dialect::Dialect;
use crate::wire::endian::{ByteOrder, Order};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;
use std::ops::Range;

/// Highest type of simpleperf's own records, which begin at 32768.
const SIMPLEPERF: std::ops::RangeInclusive<u32> = 32_768..=32_800;

/// Most data that a COMPRESSED2 record can hold: 65,535 less its head and size.
const MOST_COMPRESSED2: u64 = 65_519;

/// Where the data of a COMPRESSED2 record begins.
const COMPRESSED2_HEAD: usize = 16;

/// Most data that several COMPRESSED2 records in one may hold together: more is rather a size that was never written.
const MOST_CHAINED: u64 = 16 << 20;

/// Most records of them. All but the last are full in what perf writes; this is so that a search for records among hostile
/// bytes does not follow many small ones from every place.
const MOST_LINKS: usize = 512;

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
pub(crate) fn is_likely(head: RecordHead) -> bool {
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

/// The first of these places where some plausible records follow each other, or all the bytes end with one.
/// `last` says that nothing follows the bytes. The answer is the same in whatever pieces they come.
pub(crate) fn resync_within<O: Order>(
    bytes: &[u8],
    places: Range<usize>,
    dialect: Dialect,
    last: bool,
) -> Resync {
    let mut at = places.start;
    while at < places.end && at + HEAD_SIZE <= bytes.len() {
        match begins::<O>(bytes, at, dialect, last) {
            Some(true) => return Resync::At(at),
            Some(false) => at += step(bytes, at),
            None => return Resync::Perhaps(at),
        }
    }
    if last || at >= places.end { Resync::Nowhere } else { Resync::Perhaps(at.min(bytes.len())) }
}

/// How far it is to the next place where records might begin, from one where they do not. No head is the same byte eight times
/// over, so a run of one byte, which may be long where somebody compressed nothing but zeros, is passed over at once.
#[inline]
fn step(bytes: &[u8], at: usize) -> usize {
    let Some(rest) = bytes.get(at..) else { return 1 };
    let Some((head, _)) = rest.split_first_chunk::<HEAD_SIZE>() else { return 1 };
    let one = u64::from_ne_bytes([head[0]; HEAD_SIZE]);
    if u64::from_ne_bytes(*head) != one {
        return 1;
    }
    let words = rest
        .chunks_exact(HEAD_SIZE)
        .take_while(|word| word.first_chunk().is_some_and(|word| u64::from_ne_bytes(*word) == one));
    // The last one may end the run; the places inside it and behind are looked at one by one.
    (words.count() - 1) * HEAD_SIZE + 1
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
        let Some(next) = next else { return Some(false) };
        // How long several COMPRESSED2 records are is certain only when they are all there.
        let certain = next <= bytes.len() || head.kind != kind::COMPRESSED2;
        if certain && next - start > RESYNC_BYTES {
            return Some(false);
        }
        if next > bytes.len() {
            return short;
        }
        at = next;
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::endian::Le;

    /// Every place is looked at, one after the other.
    fn slowly(bytes: &[u8], last: bool) -> Resync {
        for at in 0..bytes.len().saturating_sub(HEAD_SIZE - 1) {
            match begins::<Le>(bytes, at, Dialect::default(), last) {
                Some(true) => return Resync::At(at),
                Some(false) => {}
                None => return Resync::Perhaps(at),
            }
        }
        let behind = bytes.len().saturating_sub(HEAD_SIZE - 1);
        if last { Resync::Nowhere } else { Resync::Perhaps(behind) }
    }

    #[test]
    fn a_run_of_one_byte_is_passed_over_at_once() {
        assert_eq!(step(&[0; 8000], 0), 7993);
        assert_eq!(step(&[0; 8007], 3), 7993);
        assert_eq!(step(&[0xff; 15], 0), 1);
        assert_eq!(step(&[1, 2, 3, 4, 5, 6, 7, 8], 0), 1);
        assert_eq!(step(&[0; 7], 0), 1);
    }

    #[test]
    fn records_are_found_wherever_a_run_ends() {
        // A sample without fields, as the kernel writes its head.
        let record = [9, 0, 0, 0, 2, 0, 8, 0];
        for byte in [0, 9, 0xff] {
            for run in 0..40 {
                for records in 0..6 {
                    for cut in 0..4 {
                        let mut bytes = vec![byte; run];
                        bytes.extend(record.repeat(records));
                        bytes.truncate(bytes.len().saturating_sub(cut));
                        for last in [false, true] {
                            let found = resync_within::<Le>(&bytes, 0..usize::MAX, Dialect::default(), last);
                            assert_eq!(
                                found,
                                slowly(&bytes, last),
                                "{run} of {byte}, {records} records less {cut}"
                            );
                        }
                    }
                }
            }
        }
    }
}
