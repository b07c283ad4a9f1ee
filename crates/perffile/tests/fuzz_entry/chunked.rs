//! The same bytes as a whole and as they arrive: nothing of what is read may depend on how they come.

use perffile::bytes::Bytes;
use perffile::{Issues, Ordering, Recording};
use std::io::{self, Read};

/// A reader that gives a few bytes at a time: how many is made up anew each time, in the same way for the same seed.
#[derive(Debug)]
pub struct Chunked {
    bytes: Vec<u8>,
    at: usize,
    most: usize,
    state: u64,
}

impl Chunked {
    /// Gives 1 to `most` bytes at a time.
    pub fn new(bytes: Vec<u8>, most: usize, seed: u64) -> Chunked {
        Chunked { bytes, at: 0, most: most.max(1), state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 }
    }
}

impl Read for Chunked {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        if self.state.is_multiple_of(64) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let most = usize::try_from(self.state % self.most as u64).unwrap_or(0) + 1;
        let left = self.bytes.get(self.at..).unwrap_or_default();
        let count = most.min(left.len()).min(out.len());
        out[..count].copy_from_slice(&left[..count]);
        self.at += count;
        Ok(count)
    }
}

/// One record: its number, its head and its bytes, those behind it too.
type Whole = (u64, u64, Vec<u8>, Vec<u8>);

/// Everything that a recording delivers, and what was wrong with it.
fn delivered(recording: &Recording, ordering: Ordering) -> (Vec<Whole>, Issues) {
    let mut batches = recording.batches(ordering).expect("read once");
    let mut records = Vec::new();
    for batch in batches.by_ref() {
        records.extend(
            batch
                .iter()
                .map(|event| (event.index(), event.offset(), event.raw().to_vec(), event.payload().to_vec())),
        );
    }
    (records, batches.issues().clone())
}

/// Compares both ways, in both orders; how many records there are.
pub fn same_by_mapping_and_by_reading(bytes: &[u8], most: usize, seed: u64) -> usize {
    let mut count = 0;
    for ordering in [Ordering::File, Ordering::Time] {
        let whole = Recording::from_bytes(Bytes::new(bytes.to_vec()));
        let chunked = Recording::from_reader(Chunked::new(bytes.to_vec(), most, seed));
        let (whole, chunked) = match (whole, chunked) {
            (Ok(whole), Ok(chunked)) => (whole, chunked),
            (Err(whole), Err(chunked)) => {
                assert_eq!(whole.to_string(), chunked.to_string());
                return 0;
            }
            (whole, chunked) => panic!("mapped {whole:?}, read {chunked:?}"),
        };
        let (expected, expected_issues) = delivered(&whole, ordering);
        let (found, found_issues) = delivered(&chunked, ordering);
        assert_eq!(expected.len(), found.len(), "records: {expected_issues:?} / {found_issues:?}");
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(expected, found);
        }
        assert_eq!(expected_issues, found_issues);
        count = expected.len();
    }
    count
}

/// Bytes as a stream, in pieces of a size that the first byte tells.
pub fn chunking(bytes: &[u8]) {
    let Some((first, bytes)) = bytes.split_first() else { return };
    same_by_mapping_and_by_reading(bytes, usize::from(*first), u64::from(*first));
}
