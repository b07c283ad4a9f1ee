//! Compressed records: a zstd stream that goes on from record to record, as perf writes it.

use crate::error::{Error, Result};
use crate::wire::endian::Order;
use crate::wire::feature::compressed::{Compression as Told, CompressionType};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;
use std::fmt;
use zstd::stream::raw::{Encoder, InBuffer, Operation as _, OutBuffer};

/// How much goes into one record: so little that it fits even if it does not become smaller, and is a piece that every reader
/// can hold.
const PIECE_BYTES: usize = 60 << 10;

/// What COMPRESSED says a record expands to at most: what the compressor holds back of one piece comes with the next.
const MOST_IN_A_RECORD: u32 = 128 << 10;

/// Room for what a piece becomes at worst: zstd adds less than a hundredth, and the end of a block.
const MOST_COMPRESSED: usize = 64 << 10;

/// Which records hold what is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompressedRecords {
    /// COMPRESSED, which perf reads since 5.2.
    #[default]
    Compressed,
    /// COMPRESSED2, which is padded to eight bytes, and which perf reads since 6.16.
    Compressed2,
}

/// How records are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compression {
    /// Level of zstd: 1 to 22, and negative ones, which are faster.
    pub level: i32,
    /// Which records hold it.
    pub records: CompressedRecords,
}

impl Default for Compression {
    fn default() -> Self {
        Compression { level: 1, records: CompressedRecords::default() }
    }
}

/// Records on their way into compressed ones.
pub(super) struct Compressor {
    encoder: Encoder<'static>,
    how: Compression,
    /// Records that wait for more of them.
    piece: Vec<u8>,
    out: Vec<u8>,
    taken: u64,
    given: u64,
}

impl fmt::Debug for Compressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Compressor({:?}, {} bytes wait)", self.how, self.piece.len())
    }
}

impl Compressor {
    pub(super) fn new(how: Compression) -> Result<Compressor> {
        let encoder = Encoder::new(how.level).map_err(|error| Error::io("compressing", error))?;
        let out = vec![0; MOST_COMPRESSED];
        Ok(Compressor { encoder, how, piece: Vec::with_capacity(PIECE_BYTES), out, taken: 0, given: 0 })
    }

    /// Takes the bytes of a record; gives those that become full to `put`.
    pub(super) fn push<O: Order>(
        &mut self,
        mut record: &[u8],
        put: &mut impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        while !record.is_empty() {
            let room = PIECE_BYTES.saturating_sub(self.piece.len());
            let (now, later) = record.split_at_checked(room).unwrap_or((record, &[]));
            self.piece.extend_from_slice(now);
            record = later;
            if self.piece.len() == PIECE_BYTES {
                self.flush::<O>(put)?;
            }
        }
        Ok(())
    }

    /// Makes a record of what waits.
    pub(super) fn flush<O: Order>(&mut self, put: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let size = self.compress().map_err(|error| Error::io("compressing", error))?;
        let data = self.out.get(..size).unwrap_or_default();
        let mut record = Vec::with_capacity(HEAD_SIZE + 8 + size);
        match self.how.records {
            CompressedRecords::Compressed => {
                head::<O>(kind::COMPRESSED, HEAD_SIZE + size, &mut record);
                record.extend_from_slice(data);
            }
            CompressedRecords::Compressed2 => {
                let whole = (HEAD_SIZE + 8 + size).next_multiple_of(8);
                head::<O>(kind::COMPRESSED2, whole, &mut record);
                record.extend_from_slice(&O::put_u64(size as u64));
                record.extend_from_slice(data);
                record.resize(whole, 0);
            }
        }
        self.taken += self.piece.len() as u64;
        self.given += record.len() as u64;
        self.piece.clear();
        put(&record)
    }

    /// Compresses the piece as far as its last byte; how much that makes.
    fn compress(&mut self) -> std::io::Result<usize> {
        let mut output = OutBuffer::around(self.out.as_mut_slice());
        let mut input = InBuffer::around(self.piece.as_slice());
        while input.pos() < self.piece.len() {
            let before = (input.pos(), output.pos());
            self.encoder.run(&mut input, &mut output)?;
            if (input.pos(), output.pos()) == before {
                return Err(std::io::Error::other("zstd takes no more"));
            }
        }
        if self.encoder.flush(&mut output)? > 0 {
            return Err(std::io::Error::other("zstd has made more of it than can be"));
        }
        Ok(output.pos())
    }

    /// What the feature COMPRESSED says. Before the end the ratio is not known, and is 0, as perf has it.
    pub(super) fn told(&self) -> Told {
        let ratio = self.taken.checked_div(self.given).unwrap_or(0);
        Told {
            version: 1,
            kind: CompressionType::ZSTD,
            level: self.how.level.cast_unsigned(),
            ratio: u32::try_from(ratio).unwrap_or(u32::MAX),
            mmap_len: MOST_IN_A_RECORD,
        }
    }
}

fn head<O: Order>(kind: u32, size: usize, out: &mut Vec<u8>) {
    // A piece is so small that its record is no larger than one can be.
    RecordHead { kind, misc: 0, size: u16::try_from(size).unwrap_or(u16::MAX) }.put::<O>(out);
}
