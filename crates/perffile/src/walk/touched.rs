//! What the walk will need is brought into the cache of the CPU a block at a time.
//!
//! From head to head each record is waited for, since the one before says where it is. The places in a block are known: they
//! come together, as fast as memory can.

use std::hint::black_box;

/// How many bytes are fetched at once.
const BLOCK: usize = 16 << 10;

/// What a CPU fetches ahead by itself lies in one of these.
const PAGE: usize = 4 << 10;

/// What a CPU fetches by one touch.
const LINE: usize = 64;

/// Where records are longer than this in the mean, it is not worth it to fetch what is between their heads.
const LONGEST_RECORDS: usize = 512;

/// How far the bytes have been touched.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touched {
    chunk: u32,
    start: usize,
    end: usize,
    records: usize,
}

impl Touched {
    /// All of a chunk: there is nothing to fetch.
    pub(super) fn all_of(chunk: u32) -> Self {
        Touched { chunk, start: 0, end: usize::MAX, records: 0 }
    }

    /// The same, if the walk goes on from here in this chunk; else nothing.
    pub(super) fn at(self, chunk: u32, pos: usize) -> Self {
        if self.chunk == chunk && (self.start..=self.end).contains(&pos) {
            return self;
        }
        Touched { chunk, start: pos, end: pos, records: usize::MAX }
    }

    /// Before a record is looked at: touches the next block if it begins here.
    #[inline(always)]
    pub(super) fn before(&mut self, bytes: &[u8], pos: usize) {
        self.records = self.records.saturating_add(1);
        if pos >= self.end {
            self.touch(bytes, pos);
        }
    }

    #[cold]
    fn touch(&mut self, bytes: &[u8], pos: usize) {
        let is_dense = (pos - self.start) / LONGEST_RECORDS <= self.records;
        (self.start, self.end, self.records) = (pos, pos + BLOCK, 0);
        if is_dense {
            let block = bytes.get(pos..).unwrap_or_default();
            let block = block.get(..BLOCK).unwrap_or(block);
            let mut sum = 0;
            // Several pages in turn: a CPU follows each by itself.
            for at in (0..PAGE).step_by(LINE) {
                for page in block.chunks(PAGE) {
                    sum ^= page.get(at).copied().unwrap_or(0);
                }
            }
            black_box(sum);
        }
    }
}
