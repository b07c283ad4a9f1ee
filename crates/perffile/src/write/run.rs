//! Records one behind the other: what a file has between its tables, all of a pipe, and each stream of a directory.

use super::compressor::{Compression, Compressor};
use crate::error::{Error, Result};
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::feature::compressed::Compression as Told;
use crate::wire::head::RecordHead;
use crate::wire::record::{USER_RECORDS, kind};
use std::io::{self, Write};

/// How much is gathered before it is written.
const BUFFER_BYTES: usize = 256 << 10;

/// An AUXTRACE record that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AuxtraceAt {
    /// Its offset in the file, in bytes.
    pub(super) offset: u64,
    /// Its size in bytes, without the data behind it.
    pub(super) size: u64,
}

/// A run of records on its way to `W`. It counts what was written, so that nothing has to be asked of `W`.
#[derive(Debug)]
pub(super) struct Run<W> {
    out: W,
    /// What was gathered and not written yet.
    gathered: Vec<u8>,
    /// Bytes that were written or gathered.
    position: u64,
    order: ByteOrder,
    compressor: Option<Compressor>,
    /// Where the AUXTRACE records lie.
    pub(super) auxtrace: Vec<AuxtraceAt>,
}

fn failed(error: io::Error) -> Error {
    Error::io("writing", error)
}

impl<W: Write> Run<W> {
    pub(super) fn new(out: W, order: ByteOrder) -> Run<W> {
        Run { out, gathered: Vec::new(), position: 0, order, compressor: None, auxtrace: Vec::new() }
    }

    /// Compresses what comes from now on; what it was before goes out first.
    pub(super) fn compress(&mut self, how: Option<Compression>) -> Result<()> {
        self.end_piece()?;
        self.compressor = how.map(Compressor::new).transpose()?;
        Ok(())
    }

    /// What the feature COMPRESSED says, if records are compressed.
    pub(super) fn compression(&self) -> Option<Told> {
        self.compressor.as_ref().map(Compressor::told)
    }

    /// Bytes so far: offset of what comes next.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Writes a record, and what lies behind it. Of perf's own records none is compressed: what they say is for the reader of the
    /// stream, and perf does not compress them either.
    pub(super) fn record(&mut self, record: &[u8], payload: &[u8]) -> Result<()> {
        let head = with_order!(self.order, O => RecordHead::read::<O>(record)).unwrap_or_default();
        let Run { compressor, gathered, out, position, order, .. } = self;
        if let Some(compressor) = compressor {
            let mut put = |bytes: &[u8]| put(out, gathered, position, bytes);
            if head.kind < USER_RECORDS {
                return with_order!(*order, O => compressor.push::<O>(record, &mut put));
            }
            with_order!(*order, O => compressor.flush::<O>(&mut put))?;
        }
        if head.kind == kind::AUXTRACE {
            self.auxtrace.push(AuxtraceAt { offset: self.position, size: u64::from(head.size) });
        }
        self.bytes(record)?;
        self.bytes(payload)
    }

    /// Writes records of the kernel that lie behind each other.
    pub(super) fn records(&mut self, records: &[u8]) -> Result<()> {
        let Run { compressor: Some(compressor), gathered, out, position, order, .. } = self else {
            return self.bytes(records);
        };
        let mut put = |bytes: &[u8]| put(out, gathered, position, bytes);
        with_order!(*order, O => compressor.push::<O>(records, &mut put))
    }

    /// Writes bytes that are no record.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        put(&mut self.out, &mut self.gathered, &mut self.position, bytes)
    }

    /// Ends the record that waits for more to compress.
    pub(super) fn end_piece(&mut self) -> Result<()> {
        let Run { compressor: Some(compressor), gathered, out, position, order, .. } = self else {
            return Ok(());
        };
        let mut put = |bytes: &[u8]| put(out, gathered, position, bytes);
        with_order!(*order, O => compressor.flush::<O>(&mut put))
    }

    /// Writes all that was gathered.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.end_piece()?;
        self.out.write_all(&self.gathered).map_err(failed)?;
        self.gathered.clear();
        self.out.flush().map_err(failed)
    }

    /// What it writes to, after [`Run::flush`].
    pub(super) fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }
}

/// Gathers what is small, and passes on what is large.
#[inline]
fn put(out: &mut impl Write, gathered: &mut Vec<u8>, position: &mut u64, bytes: &[u8]) -> Result<()> {
    *position += bytes.len() as u64;
    if gathered.len() + bytes.len() > BUFFER_BYTES {
        out.write_all(gathered).map_err(failed)?;
        gathered.clear();
        if bytes.len() > BUFFER_BYTES {
            return out.write_all(bytes).map_err(failed);
        }
    }
    gathered.extend_from_slice(bytes);
    Ok(())
}
