//! Where one record ends and the next begins, and how to find that again when it is lost.

use crate::dialect::Dialect;
use crate::payload::payload_size;
use crate::wire::endian::Order;
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;
use std::ops::Range;

/// Highest type of simpleperf's own records, which begin at 32768.
const SIMPLEPERF: std::ops::RangeInclusive<u32> = 32_768..=32_800;

/// How many plausible records in a row make a place where records begin again.
const RESYNC_RECORDS: usize = 4;

/// Longest payload of a record inside a compressed one, in bytes.
pub(crate) const MOST_INSIDE: usize = 1 << 20;

/// How far those may reach: a long payload is as good as never what some stray bytes mean.
const RESYNC_BYTES: usize = 16 << 20;

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
