//! Files: a header, the events, the records, and behind them the features.
//!
//! Events that are known before the first record stand before the records, as perf writes them; if more is known of them at
//! the end, they stand there.

use super::compressor::Compression;
use super::head::{Head, IDS_SECTION, WrittenEvent};
use super::parts::{unwritable, user_record};
use super::run::{AuxtraceAt, Run};
use super::target::Target;
use crate::bytes::Bytes;
use crate::container::header::{BITMAP_SIZE, FileHeader, HEADER_SIZE, MAGIC_2, bitmap};
use crate::error::{Error, Result};
use crate::issue::Issues;
use crate::metadata::Container;
use crate::place::Part;
use crate::wire::attr::{EventAttr, SampleShape};
use crate::wire::encode::Encoder;
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::feature::auxtrace_index::{AuxtraceEntry, AuxtraceIndex};
use crate::wire::feature::{Feature, bit};
use crate::wire::list::List;
use crate::wire::pass::Fields as _;
use crate::wire::record::kind;
use std::io::{Seek, SeekFrom, Write};

/// A file of version 2.
#[derive(Debug)]
pub struct FileTarget<W> {
    run: Run<W>,
    header: FileHeader,
    /// The events as they stand before the records.
    told: Vec<WrittenEvent>,
}

impl<W: Write + Seek> FileTarget<W> {
    /// A file that is written to `out` from where that begins, which must be empty.
    pub fn new(out: W, order: ByteOrder) -> FileTarget<W> {
        FileTarget { run: Run::new(out, order), header: FileHeader::default(), told: Vec::new() }
    }

    /// Writes the ids of the events, and the table of their attrs.
    fn events(&mut self, head: &Head) -> Result<()> {
        let attr_size = head.events.iter().map(|event| event.attr.wire_size()).max();
        let attr_size = attr_size.unwrap_or(EventAttr::MIN_SIZE);
        let mut table = Vec::new();
        for WrittenEvent { attr, ids, .. } in &head.events {
            let (at, size) = (self.run.position(), ids.len() as u64 * 8);
            for id in ids {
                self.run.bytes(&head.order.put_u64(*id))?;
            }
            table.extend(head.attr_bytes(attr, attr_size)?);
            for word in [at, size] {
                table.extend(head.order.put_u64(word));
            }
        }
        self.header.attr_size = u64::from(attr_size) + IDS_SECTION;
        self.header.attrs_offset = self.run.position();
        self.header.attrs_size = table.len() as u64;
        self.told.clone_from(&head.events);
        self.run.bytes(&table)
    }

    /// Writes the table of the features, and behind it their sections.
    fn features(&mut self, head: &Head) -> Result<()> {
        let bits: Vec<u32> = head.features.bits().collect();
        let mut at = self.run.position() + bits.len() as u64 * 16;
        let sections = || bits.iter().map(|bit| head.features.bytes(*bit).unwrap_or_default());
        for section in sections() {
            for word in [at, section.len() as u64] {
                self.run.bytes(&head.order.put_u64(word))?;
            }
            at += section.len() as u64;
        }
        sections().try_for_each(|section| self.run.bytes(section))
    }

    /// The header, and the bits of the features behind it.
    fn header(&self, head: &Head) -> Result<Vec<u8>> {
        let (mut bytes, shape, mut header) = (Vec::new(), SampleShape::default(), self.header);
        with_order!(head.order, O => header.fields(&mut Encoder::<O>::new(&mut bytes, &shape, 0)))
            .map_err(unwritable)?;
        bytes.extend(bitmap(head.features.bits(), head.order));
        Ok(bytes)
    }
}

impl<W: Write + Seek> Target for FileTarget<W> {
    fn container(&self) -> Container {
        Container::File
    }

    fn begin(&mut self, head: &mut Head, _: &mut Issues) -> Result<()> {
        self.header.magic = MAGIC_2;
        self.header.size = (HEADER_SIZE + BITMAP_SIZE) as u64;
        self.run.bytes(&[0; HEADER_SIZE + BITMAP_SIZE])?;
        if !head.events.is_empty() {
            self.events(head)?;
        }
        self.header.data_offset = self.run.position();
        Ok(())
    }

    fn compress(&mut self, how: Option<Compression>) -> Result<()> {
        self.run.compress(how)
    }

    fn record(&mut self, _: Part, record: &[u8], payload: &[u8]) -> Result<()> {
        self.run.record(record, payload)
    }

    fn records(&mut self, _: Part, records: &[u8], _: ByteOrder) -> Result<()> {
        self.run.records(records)
    }

    fn finish(&mut self, head: &mut Head, _: &mut Issues) -> Result<()> {
        self.run.end_piece()?;
        if self.run.position() == self.header.data_offset {
            // Without any records it would look like a file whose recorder was killed.
            self.run.record(
                &with_order!(head.order, O => user_record::<O>(kind::FINISHED_ROUND, 0, &[]))?,
                &[],
            )?;
        }
        self.header.data_size = self.run.position() - self.header.data_offset;
        if let Some(told) = self.run.compression() {
            head.set(bit::COMPRESSED, Feature::Compressed(told))?;
        }
        head.describe_events()?;
        set_auxtrace_index(head, &self.run.auxtrace)?;
        set_hostname(head)?;
        self.features(head)?;
        if self.told != head.events || head.events.is_empty() {
            self.events(head)?;
        }
        self.run.flush()?;
        let header = self.header(head)?;
        let out = self.run.get_mut();
        let rewritten = out.seek(SeekFrom::Start(0)).and_then(|_| out.write_all(&header));
        rewritten.and_then(|()| out.flush()).map_err(|error| Error::io("writing the header", error))
    }
}

/// Says where the AUXTRACE records lie now, in the form in which it was said before.
fn set_auxtrace_index(head: &mut Head, written: &[AuxtraceAt]) -> Result<()> {
    let before = match head.features.feature(bit::AUXTRACE) {
        Some(Ok((Feature::Auxtrace(index), _))) => Some(index),
        _ => None,
    };
    if written.is_empty() && before.is_none_or(|index| index.entries.is_empty()) {
        return Ok(());
    }
    let uncounted = before.is_some_and(|index| index.uncounted);
    let mut entries = Vec::new();
    for AuxtraceAt { offset, size } in written {
        let (mut entry, shape) =
            (AuxtraceEntry { file_offset: *offset, size: *size }, SampleShape::default());
        with_order!(head.order, O => entry.fields(&mut Encoder::<O>::new(&mut entries, &shape, 0)))
            .map_err(unwritable)?;
    }
    let index = AuxtraceIndex { entries: List::new(&entries, head.order), uncounted };
    head.set(bit::AUXTRACE, Feature::Auxtrace(index))
}

/// A big-endian file without HOSTNAME is one whose feature bits perf does not understand: it looks for this one to learn how wide
/// the words of the recorder were.
fn set_hostname(head: &mut Head) -> Result<()> {
    if head.order == ByteOrder::Big
        && head.features.bits().next().is_some()
        && !head.features.has(bit::HOSTNAME)
    {
        let empty = [0; 4 + 64];
        let mut section = empty.to_vec();
        section.iter_mut().zip(64u32.to_be_bytes()).for_each(|(byte, said)| *byte = said);
        head.features.insert(bit::HOSTNAME, Bytes::new(section), 0);
    }
    Ok(())
}
