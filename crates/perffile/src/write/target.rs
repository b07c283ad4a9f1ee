//! Where a recording is written to.

use super::compressor::Compression;
use super::head::Head;
use crate::error::Result;
use crate::issue::{IssueKind, Issues};
use crate::metadata::Container;
use crate::place::{Part, Place};
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::head::{HEAD_SIZE, RecordHead};

/// A kind of recording that is being written: where its records go, and where what is said of it as a whole.
pub trait Target {
    /// What kind it is.
    fn container(&self) -> Container;

    /// Begins the recording: before its first record. What the head says later is written as far as the kind of recording
    /// allows.
    ///
    /// # Errors
    /// What the operating system says, and what does not fit.
    fn begin(&mut self, head: &mut Head, issues: &mut Issues) -> Result<()>;

    /// Compresses the records of the kernel that come from now on, or no longer.
    ///
    /// # Errors
    /// A level that zstd does not have; what the operating system says.
    fn compress(&mut self, how: Option<Compression>) -> Result<()>;

    /// Writes the bytes of a record, in the byte order of the head, and what lies behind it. `part` says in which stream of a
    /// directory it lies; of other kinds there is only one.
    ///
    /// # Errors
    /// What the operating system says.
    fn record(&mut self, part: Part, record: &[u8], payload: &[u8]) -> Result<()>;

    /// Writes the bytes of several records of the kernel that lie behind each other.
    ///
    /// # Errors
    /// As [`Target::record`].
    fn records(&mut self, part: Part, mut records: &[u8], order: ByteOrder) -> Result<()> {
        while let Some(head) = with_order!(order, O => RecordHead::read::<O>(records)) {
            let size = usize::from(head.size).max(HEAD_SIZE);
            let (record, rest) = records.split_at_checked(size).unwrap_or((records, &[]));
            self.record(part, record, &[])?;
            records = rest;
        }
        Ok(())
    }

    /// Ends the recording.
    ///
    /// # Errors
    /// What the operating system says, and what does not fit.
    fn finish(&mut self, head: &mut Head, issues: &mut Issues) -> Result<()>;
}

impl<T: Target + ?Sized> Target for Box<T> {
    fn container(&self) -> Container {
        (**self).container()
    }
    fn begin(&mut self, head: &mut Head, issues: &mut Issues) -> Result<()> {
        (**self).begin(head, issues)
    }
    fn compress(&mut self, how: Option<Compression>) -> Result<()> {
        (**self).compress(how)
    }
    fn record(&mut self, part: Part, record: &[u8], payload: &[u8]) -> Result<()> {
        (**self).record(part, record, payload)
    }
    fn records(&mut self, part: Part, records: &[u8], order: ByteOrder) -> Result<()> {
        (**self).records(part, records, order)
    }
    fn finish(&mut self, head: &mut Head, issues: &mut Issues) -> Result<()> {
        (**self).finish(head, issues)
    }
}

/// Tells that something has no place in what is written.
pub(super) fn tell_left_out(issues: &mut Issues, place: Place, count: u64, message: impl FnOnce() -> String) {
    issues.add_many(IssueKind::NotWritten, place, count, message);
}
