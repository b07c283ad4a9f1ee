//! Recordings without EVENT_DESC, made of ones that have it.

const EVENT_DESC: usize = 12;
const HOSTNAME: usize = 3;

/// A copy of a file of version 2 without its event names; `None` if it is none or has no EVENT_DESC.
///
/// The feature table has an entry per set bit, so without the bit those behind move up by one; the slot that is left
/// over at the end is what perf itself leaves when the writer of a feature fails.
pub(crate) fn without_event_desc(file: &[u8]) -> Option<Vec<u8>> {
    let big = match file.get(..8)? {
        b"PERFILE2" => false,
        b"2ELIFREP" => true,
        _ => return None,
    };
    let u64_at = |at: usize| -> Option<usize> {
        let raw = file.get(at..at + 8)?.try_into().ok()?;
        usize::try_from(if big { u64::from_be_bytes(raw) } else { u64::from_le_bytes(raw) }).ok()
    };
    if u64_at(8)? != 104 || u64_at(48)? == 0 {
        return None;
    }
    let byte_of = |bit: usize, word: usize| {
        let byte = bit / 8;
        72 + if big { byte / word * word + (word - 1 - byte % word) } else { byte }
    };
    let is_set =
        |bit: usize, word: usize| file.get(byte_of(bit, word)).is_some_and(|b| b >> (bit % 8) & 1 == 1);
    // The words of the bitmap are the recorder's longs; perf always sets HOSTNAME.
    let word = [8, 4].into_iter().find(|word| is_set(HOSTNAME, *word))?;
    if !is_set(EVENT_DESC, word) {
        return None;
    }
    let count = (0..256).filter(|bit| is_set(*bit, word)).count();
    let before = (0..EVENT_DESC).filter(|bit| is_set(*bit, word)).count();
    let table = u64_at(40)? + u64_at(48)?;
    let (gone, end) = (table + before * 16, table + count * 16);
    file.get(gone..end)?;
    let mut out = file.to_vec();
    out[byte_of(EVENT_DESC, word)] &= !(1 << (EVENT_DESC % 8));
    out.copy_within(gone + 16..end, gone);
    out[end - 16..end].fill(0);
    Some(out)
}
