//! What writes a recording, record by record.

use super::compressor::Compression;
use super::directory::DirectoryTarget;
use super::file::FileTarget;
use super::head::{Head, WrittenEvent};
use super::parts::{RecordParts, unwritable};
use super::pipe::PipeTarget;
use super::target::Target;
use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::issue::Issues;
use crate::place::Part;
use crate::wire::attr::{EventAttr, SampleShape, SampleType};
use crate::wire::endian::ByteOrder;
use crate::wire::feature::Feature;
use crate::wire::head::RecordHead;
use crate::wire::record::{Record, USER_RECORDS};
use crate::wire::sample::SampleId;
use std::io::{Seek, Write};
use std::path::Path;

/// How a recording is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The byte order of all numbers.
    pub order: ByteOrder,
    /// Whether and how records are compressed.
    pub compression: Option<Compression>,
}

/// Writes a recording. Nothing of it is complete before [`Writer::finish`].
#[derive(Debug)]
pub struct Writer<T> {
    head: Head,
    target: T,
    compression: Option<Compression>,
    has_begun: bool,
    issues: Issues,
    /// The bytes of the record at hand.
    bytes: Vec<u8>,
}

impl<W: Write + Seek> Writer<FileTarget<W>> {
    /// Writes a file of version 2 to `out`, which must be empty.
    pub fn file(out: W, options: Options) -> Self {
        Writer::to(FileTarget::new(out, options.order), options)
    }
}

impl<W: Write> Writer<PipeTarget<W>> {
    /// Writes a pipe stream to `out`: events have to be told before the first record.
    pub fn pipe(out: W, options: Options) -> Self {
        Writer::to(PipeTarget::new(out, options.order), options)
    }
}

impl Writer<DirectoryTarget> {
    /// Writes a directory, which must be there and empty: a file `data`, and a file for each stream of records.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn directory(path: &Path, options: Options) -> Result<Self> {
        Ok(Writer::to(DirectoryTarget::new(path, options.order)?, options))
    }
}

impl<T: Target> Writer<T> {
    /// Writes to a target, whose byte order is that of the options.
    pub fn to(target: T, options: Options) -> Self {
        Writer {
            head: Head::new(options.order),
            target,
            compression: options.compression,
            has_begun: false,
            issues: Issues::default(),
            bytes: Vec::new(),
        }
    }

    /// What is said of the recording as a whole.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The same to be changed.
    pub fn head_mut(&mut self) -> &mut Head {
        &mut self.head
    }

    /// Where it is written to.
    pub fn target(&self) -> &T {
        &self.target
    }

    /// Adds an event, the ids of its counters, and its name; its index among the events. An attr of size 0 gets the least size
    /// that has room for all that it says.
    pub fn event(&mut self, mut attr: EventAttr, ids: &[u64], name: &str) -> usize {
        if attr.size == 0 {
            attr.size = attr.least_size();
        }
        self.head.events.push(WrittenEvent { attr, ids: ids.to_vec(), name: Some(name.to_owned()) });
        self.head.events.len() - 1
    }

    /// Says a feature.
    ///
    /// # Errors
    /// A count that does not fit its wire type; [`Feature::Raw`], which does not say which one it is
    /// ([`Writer::feature_bytes`] takes it).
    pub fn feature(&mut self, feature: Feature<'_>) -> Result<()> {
        let Some(bit) = feature.bit() else {
            let what = "nothing says which feature these bytes are".to_owned();
            return Err(Error::new(ErrorKind::Unwritable(what), None));
        };
        self.head.features.set(bit, feature).map_err(unwritable)
    }

    /// Says a feature whose bytes are there, in the byte order of the recording.
    pub fn feature_bytes(&mut self, bit: u32, section: Bytes) {
        self.head.features.insert(bit, section, 0);
    }

    /// Compresses the records that come from now on, or no longer.
    ///
    /// # Errors
    /// A level that zstd does not have; what the operating system says.
    pub fn compress(&mut self, how: Option<Compression>) -> Result<()> {
        self.compression = how;
        if self.has_begun { self.target.compress(how) } else { Ok(()) }
    }

    /// Writes a record of the event with this index. `id` is its trailer, where the event has one (`sample_id_all`). Of a
    /// sample and a trailer those fields are written that the event records; what is not given is 0, but for the id of the
    /// event, which is its first.
    ///
    /// # Errors
    /// No such event; a record that is longer than one can be; what the operating system says.
    pub fn record(&mut self, event: usize, misc: u16, mut record: Record<'_>, id: &SampleId) -> Result<()> {
        let Some(described) = self.head.events.get(event) else {
            let what = format!("there is no event {event}");
            return Err(Error::new(ErrorKind::Unwritable(what), None));
        };
        let kind = record.number().unwrap_or_default();
        let (shape, first) = (described.attr.shape(), described.ids.first().copied());
        let (mut id, told) = (*id, |field: &mut Option<u64>| *field = field.or(first));
        match &mut record {
            Record::Sample(sample) => [&mut sample.id, &mut sample.identifier].into_iter().for_each(told),
            _ => [&mut id.id, &mut id.identifier].into_iter().for_each(told),
        }
        let has_trailer = shape.sample_id_all && kind < USER_RECORDS && !matches!(record, Record::Sample(_));
        let shape = if kind < USER_RECORDS { shape } else { SampleShape::default() };
        let head = RecordHead { kind, misc, size: 0 };
        let id = has_trailer.then_some(id).filter(|_| shape.sample_type != SampleType::default());
        let mut bytes = std::mem::take(&mut self.bytes);
        let outcome = RecordParts { head, record, rest: &[], id, shape }
            .encode(self.head.order, &mut bytes)
            .and_then(|()| self.raw(Part::Data, &bytes, &[]));
        self.bytes = bytes;
        outcome
    }

    /// Writes the bytes of a record, in the byte order of the recording, and what lies behind it without being counted in its
    /// size. `part` says in which stream of a directory it lies.
    ///
    /// # Errors
    /// What the operating system says, and what does not fit.
    pub fn raw(&mut self, part: Part, record: &[u8], payload: &[u8]) -> Result<()> {
        self.begin()?;
        self.target.record(part, record, payload)
    }

    /// Writes the bytes of records of the kernel that lie behind each other, in the byte order of the recording.
    ///
    /// # Errors
    /// As [`Writer::raw`].
    pub(super) fn raw_records(&mut self, part: Part, records: &[u8]) -> Result<()> {
        self.begin()?;
        self.target.records(part, records, self.head.order)
    }

    /// Writes what stands before the first record, unless that is done.
    pub(super) fn begin(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.target.compress(self.compression)?;
            self.target.begin(&mut self.head, &mut self.issues)?;
        }
        Ok(())
    }

    /// Ends the recording. Says what had no place in it.
    ///
    /// # Errors
    /// What the operating system says, and what does not fit.
    pub fn finish(mut self) -> Result<Issues> {
        self.begin()?;
        self.target.finish(&mut self.head, &mut self.issues)?;
        Ok(self.issues)
    }
}
