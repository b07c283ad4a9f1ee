//! A recording that was read, written again: as it is, or with records chosen and changed on the way.
//!
//! What goes over is the stream of records in the order of the file, byte by byte. What a kind of recording has its own place for,
//! as a file has for events and features, moves there: so a file that goes through a pipe comes back as it was.

use super::compressor::Compression;
use super::directory::MOST_STREAMS;
use super::edit::{Compressed, Copied, Edit, Fate};
use super::parts::RecordParts;
use super::stretch::Stretch;
use super::target::{Target, tell_left_out};
use super::told::{Told, is_told_by_file};
use super::writer::Writer;
use crate::error::Result;
use crate::event::{Batch, Event};
use crate::issue::Issues;
use crate::metadata::{Container, Metadata};
use crate::order::Ordering;
use crate::place::Part;
use crate::recording::Recording;
use crate::wire::endian::{ByteOrder, Order, with_order};
use crate::wire::feature::bit;
use crate::wire::record::header_attr::HeaderAttr;
use crate::wire::record::{Record, kind};
use std::sync::Arc;

/// Copies a recording, its records in this order, to a writer to which nothing has been written yet.
///
/// # Errors
/// A stream that has been read already; what the operating system says of the target.
pub fn copy<T: Target>(
    recording: &Recording,
    ordering: Ordering,
    writer: Writer<T>,
    compressed: Compressed,
    edit: &mut impl Edit,
) -> Result<Copied> {
    let from = recording.metadata();
    let to = writer.target().container();
    let mut copy = Copy {
        is_same_order: writer.head().order == from.order,
        is_pipe_to_pipe: from.container == Container::Pipe && to == Container::Pipe,
        by_cpu: from.container != Container::Directory && to == Container::Directory,
        // The streams of a directory are compressed each by itself.
        may_stay_compressed: compressed == Compressed::Kept
            && ordering == Ordering::File
            && writer.head().order == from.order
            && (from.container == Container::Directory) == (to == Container::Directory)
            && edit.is_idle(),
        compressed,
        is_beginning: true,
        told: Told::default(),
        has_met_compressed: false,
        stays_compressed: false,
        copied: Copied::default(),
        left_out: Issues::default(),
        bytes: Vec::new(),
        writer,
        edit,
    };
    let mut batches = recording.batches(ordering)?.keep_chains_apart();
    if from.container != Container::Pipe {
        copy.begin(from)?;
    }
    while let Some(batch) = batches.next() {
        copy.batch(&batch, batches.metadata())?;
        copy.edit.progress(batches.progress());
    }
    copy.finish(batches.metadata())
}

/// A copy on its way.
struct Copy<'e, T, E> {
    writer: Writer<T>,
    edit: &'e mut E,
    is_same_order: bool,
    is_pipe_to_pipe: bool,
    /// Whether records are put into the streams of a directory by their CPU.
    by_cpu: bool,
    compressed: Compressed,
    may_stay_compressed: bool,
    has_met_compressed: bool,
    /// Whether compressed records are written as they are, and those that they hold are not.
    stays_compressed: bool,
    /// Of a pipe: whether no record has come yet but those that are about the recording as a whole.
    is_beginning: bool,
    /// What the records of a pipe have told that has a place of its own in a file.
    told: Told,
    copied: Copied,
    left_out: Issues,
    /// The bytes of a record that is written anew.
    bytes: Vec<u8>,
}

impl<T: Target, E: Edit> Copy<'_, T, E> {
    /// Says what a file or directory says of itself.
    fn begin(&mut self, from: &Metadata) -> Result<()> {
        if from.features.has(bit::COMPRESSED) {
            self.meet_compressed(from)?;
        }
        self.head(from)
    }

    /// Says what is known of the whole recording.
    fn head(&mut self, from: &Metadata) -> Result<()> {
        let to = self.writer.target().container();
        let head = self.writer.head_mut();
        self.told.put(from, head, self.edit, &mut self.left_out)?;
        if !self.stays_compressed {
            head.features.remove(bit::COMPRESSED);
        }
        if from.container == Container::Directory && to != Container::Directory {
            head.features.remove(bit::DIR_FORMAT);
        }
        Ok(())
    }

    /// Decides what becomes of compressed records, now that there are some.
    fn meet_compressed(&mut self, from: &Metadata) -> Result<()> {
        if std::mem::replace(&mut self.has_met_compressed, true) {
            return Ok(());
        }
        // Without the feature nobody could read them: perf does not know how large they become.
        self.stays_compressed = self.may_stay_compressed && from.features.has(bit::COMPRESSED);
        if self.stays_compressed || self.compressed == Compressed::Anew {
            return Ok(());
        }
        let told = from.features.compression();
        let level = told.map_or(Compression::default().level, |told| told.level.cast_signed());
        self.writer.compress(Some(Compression { level, ..Compression::default() }))
    }

    /// Some records. Those that stay as they are and lie behind each other go over at once.
    fn batch(&mut self, batch: &Batch, from: &Metadata) -> Result<()> {
        let mut stretch = Stretch::default();
        for event in batch.iter() {
            if event.is_user_record() {
                stretch.write(&mut self.writer)?;
                self.own_record(&event, from)?;
                continue;
            }
            self.is_beginning = false;
            if self.edit.adds_before(&event) {
                stretch.write(&mut self.writer)?;
                self.added(Some(&event))?;
            }
            match self.edit.fate(&event) {
                Fate::Drop => self.copied.dropped += 1,
                _ if self.stays_compressed && event.was_compressed() => self.copied.records += 1,
                Fate::Keep if self.is_same_order => {
                    self.copied.records += 1;
                    let part = self.part(&event);
                    if !stretch.takes(part, &event) {
                        stretch.write(&mut self.writer)?;
                        stretch = Stretch::of(part, &event);
                    }
                }
                fate => {
                    stretch.write(&mut self.writer)?;
                    self.anew(&event, fate)?;
                }
            }
        }
        stretch.write(&mut self.writer)
    }

    /// Writes the records that are added before this one, or at the end. They are told of the whole recording.
    fn added(&mut self, event: Option<&Event<'_>>) -> Result<()> {
        let (order, mut bytes) = (self.writer.head().order, std::mem::take(&mut self.bytes));
        loop {
            match self.edit.next_before(event, order, &mut bytes) {
                Ok(false) => break,
                Ok(true) => {
                    self.copied.records += 1;
                    self.writer.raw(Part::Data, &bytes, &[])?;
                }
                Err(error) => {
                    let message = || format!("a record cannot be added: {}", error.kind());
                    let place = event.map(Event::place).unwrap_or_default();
                    tell_left_out(&mut self.left_out, place, 1, message);
                }
            }
        }
        self.bytes = bytes;
        Ok(())
    }

    /// A record of perf's own.
    fn own_record(&mut self, event: &Event<'_>, from: &Metadata) -> Result<()> {
        if !event.is_whole() {
            let message = || "the data behind a record is not all there: the record is left out".to_owned();
            tell_left_out(&mut self.left_out, event.place(), 1, message);
            return Ok(());
        }
        let number = event.schema().dialect().decoded_as(event.head().kind);
        if matches!(number, kind::COMPRESSED | kind::COMPRESSED2) && !event.was_compressed() {
            self.meet_compressed(from)?;
            if !self.stays_compressed {
                return Ok(());
            }
            return self.writer.raw(event.part(), event.raw(), event.payload());
        }
        if from.container == Container::Pipe {
            if !self.is_pipe_to_pipe && is_told_by_file(event, self.is_beginning) {
                self.told.learn(event);
                return Ok(());
            }
            self.is_beginning = false;
            if self.is_pipe_to_pipe && matches!(number, kind::HEADER_ATTR | kind::HEADER_FEATURE) {
                return self.told_on_the_way(event, number, from);
            }
        }
        match self.edit.fate(event) {
            Fate::Drop => self.copied.dropped += 1,
            _ if self.stays_compressed && event.was_compressed() => self.copied.records += 1,
            Fate::Keep if self.is_same_order => {
                self.copied.records += 1;
                return self.writer.raw(self.part(event), event.raw(), event.payload());
            }
            fate => return self.anew(event, fate),
        }
        Ok(())
    }

    /// Writes a record anew: from its fields, unless only some of its bytes change.
    fn anew(&mut self, event: &Event<'_>, fate: Fate) -> Result<()> {
        let (order, mut bytes) = (self.writer.head().order, std::mem::take(&mut self.bytes));
        let outcome = self.anew_in(event, fate, order, &mut bytes);
        self.bytes = bytes;
        outcome
    }

    fn anew_in(
        &mut self,
        event: &Event<'_>,
        fate: Fate,
        order: ByteOrder,
        bytes: &mut Vec<u8>,
    ) -> Result<()> {
        let written = if fate == Fate::Rewrite {
            self.edit.rewrite(event, order, bytes)
        } else if fate == Fate::Patch && self.is_same_order {
            bytes.clear();
            bytes.extend_from_slice(event.raw());
            Ok(())
        } else {
            RecordParts::of(event).and_then(|mut parts| {
                if fate == Fate::Change {
                    self.edit.change(&mut parts);
                }
                parts.encode(order, bytes)
            })
        };
        if let Err(error) = written {
            let message = || format!("a record cannot be written anew and is left out: {}", error.kind());
            tell_left_out(&mut self.left_out, event.place(), 1, message);
            return Ok(());
        }
        if matches!(fate, Fate::Patch | Fate::Change) {
            self.edit.patch(event, order, bytes);
        }
        self.copied.records += 1;
        self.writer.raw(self.part(event), bytes, event.payload())
    }

    /// An event or a feature, from pipe to pipe.
    fn told_on_the_way(&mut self, event: &Event<'_>, number: u32, from: &Metadata) -> Result<()> {
        let order = self.writer.head().order;
        let mut bytes = Vec::new();
        if number == kind::HEADER_ATTR {
            if let Ok(mut parts) = RecordParts::of(event) {
                let is_changed = match &mut parts.record {
                    Record::HeaderAttr(HeaderAttr { attr, .. }) => self.edit.attr(attr),
                    _ => false,
                };
                if is_changed || !self.is_same_order {
                    parts.encode(order, &mut bytes)?;
                }
            }
        } else {
            let Some(feature) = with_order!(from.order, O => feature_of::<O>(event.body())) else {
                return self.end_of_features(event);
            };
            if feature == bit::COMPRESSED {
                // The writer tells it itself, where it is not that of the stream.
                self.meet_compressed(from)?;
                if !self.stays_compressed {
                    return Ok(());
                }
            }
            if !self.edit.keeps_feature(&from.features, feature) {
                return Ok(());
            }
            match self.told.feature_record(from, feature, order, self.edit, &mut self.left_out)? {
                Some(anew) => bytes = anew,
                None if self.is_same_order => {}
                None => return Ok(()),
            }
        }
        self.copied.records += 1;
        let record = if bytes.is_empty() { event.raw() } else { bytes.as_slice() };
        self.writer.raw(event.part(), record, &[])
    }

    /// The mark behind the last feature of a pipe.
    fn end_of_features(&mut self, event: &Event<'_>) -> Result<()> {
        if self.is_same_order {
            self.copied.records += 1;
            return self.writer.raw(event.part(), event.raw(), &[]);
        }
        self.anew(event, Fate::Keep)
    }

    /// Where a record goes in a directory.
    fn part(&self, event: &Event<'_>) -> Part {
        if !self.by_cpu {
            return event.part();
        }
        // What perf has made up itself stands beside what is said of the whole recording, as perf has it.
        if event.is_user_record() || event.time().is_none_or(|time| time == 0) {
            return Part::Data;
        }
        let cpu = match event.sample() {
            Some(sample) => sample.cpu(),
            None => event.sample_id().and_then(|id| id.cpu),
        };
        Part::Stream(cpu.filter(|cpu| *cpu < MOST_STREAMS).unwrap_or(0))
    }

    fn finish(mut self, from: &Metadata) -> Result<Copied> {
        if from.container == Container::Pipe && !self.is_pipe_to_pipe {
            self.head(from)?;
        }
        self.added(None)?;
        self.edit.finish(self.writer.head_mut());
        self.copied.schema = Arc::clone(&from.schema);
        self.copied.issues = from.issues.clone();
        self.copied.left_out = self.left_out;
        self.copied.left_out.extend(&self.writer.finish()?);
        Ok(self.copied)
    }
}

/// Which feature a HEADER_FEATURE record holds; `None` for the mark behind the last one.
fn feature_of<O: Order>(body: &[u8]) -> Option<u32> {
    super::pipe::feature_of::<O>(body).map(|(feature, _)| feature)
}
