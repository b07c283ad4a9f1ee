//! Where the records of a recording lie, so that any of them is found without walking from the first.
//!
//! Kept are runs of records that follow each other without a gap, with what is needed to choose among them: 200 bytes for a thousand
//! records. What was compressed is expanded once, into a file without a name, and looked at there.

use crate::bytes::{Bytes, map_file};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Batch, Chunk, Event};
use crate::metadata::Metadata;
use crate::order::{Entry, Ordering};
use crate::recording::Recording;
use crate::schema::Schema;
use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;

/// Most records of a run: so many heads are read to find one.
const MOST: u32 = 1024;

/// Where records lie.
#[derive(Debug)]
pub struct RecordIndex {
    metadata: Metadata,
    runs: Vec<Run>,
    count: u64,
    last_ns: u64,
}

/// Records that follow each other without a gap.
#[derive(Debug)]
pub struct Run {
    schema: Arc<Schema>,
    chunk: Chunk,
    pos: u32,
    first: u64,
    count: u32,
    /// Bytes before the first record that are no record.
    stray: u64,
    /// The latest time of its records that is possible.
    latest_ns: Option<u64>,
    /// How many records it has of each type.
    types: Vec<(u32, u32)>,
}

impl RecordIndex {
    /// Reads a recording once, in the order of the file.
    ///
    /// # Errors
    /// A stream, which can be read only once and is not kept; what the system says of a temporary file, and
    /// [`ErrorKind::Unsupported`] if more was compressed than [`crate::Limits::spooled_bytes`].
    pub fn of(recording: &Recording) -> Result<RecordIndex> {
        if recording.is_stream() {
            return Err(Error::new(ErrorKind::Consumed, None));
        }
        let spool = Spool { most: recording.limits().spooled_bytes, ..Spool::default() };
        let mut builder = Builder { spool, ..Builder::default() };
        let mut batches = recording.kept_batches(Ordering::File)?;
        for batch in batches.by_ref() {
            builder.take(&batch)?;
        }
        builder.finish(batches.metadata().clone())
    }

    /// What is known when all records have been seen.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// How many records there are, those inside compressed ones included.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The runs in the order of the file. The last may have no records: then it is what is left at the end.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// How many records there are of each type, by number.
    pub fn types(&self) -> std::collections::BTreeMap<u32, u64> {
        let mut types = std::collections::BTreeMap::new();
        for (kind, count) in self.runs.iter().flat_map(|run| &run.types) {
            *types.entry(*kind).or_default() += u64::from(*count);
        }
        types
    }

    /// The records from this number on, in the order of the file.
    pub fn from(&self, number: u64) -> impl Iterator<Item = Event<'_>> {
        let at = self.runs.partition_point(|run| run.numbers().end <= number);
        let runs = self.runs.get(at..).unwrap_or_default();
        runs.iter().flat_map(Run::events).skip_while(move |event| event.index() < number)
    }

    /// The first record in the order of the file that has this time or a later one, in ns of the recording's clock. Impossible times
    /// ([`Event::has_stray_time`]) do not count.
    pub fn at_time(&self, ns: u64) -> Option<Event<'_>> {
        let run = self.runs.iter().find(|run| run.latest_ns.is_some_and(|latest| latest >= ns))?;
        run.events().find(|event| event.time().is_some_and(|time| (ns..=self.last_ns).contains(&time)))
    }

    /// The first record that begins at this offset of the file or behind it, by the parts of the recording in their order. What was
    /// compressed is at the offset of its compressed record.
    pub fn at_offset(&self, offset: u64) -> Option<Event<'_>> {
        // A run may begin before the offset and reach behind it.
        let behind = self.runs.iter().position(|run| run.offset() >= offset).unwrap_or(self.runs.len());
        let runs = self.runs.get(behind.saturating_sub(1)..).unwrap_or_default();
        runs.iter().flat_map(Run::events).find(|event| event.offset() >= offset)
    }
}

impl Run {
    fn beginning(chunk: Chunk, schema: Arc<Schema>, entry: Entry, stray: u64) -> Run {
        let Entry { index: first, pos, .. } = entry;
        Run { schema, chunk, pos, first, count: 0, stray, latest_ns: None, types: Vec::new() }
    }

    fn add(&mut self, event: &Event<'_>) {
        self.count += 1;
        let kind = event.head().kind;
        match self.types.iter_mut().find(|(number, _)| *number == kind) {
            Some((_, count)) => *count += 1,
            None => self.types.push((kind, 1)),
        }
        if !event.has_stray_time() {
            self.latest_ns = self.latest_ns.max(event.time());
        }
    }

    /// Numbers of its records, from 0 for the first of the recording.
    pub fn numbers(&self) -> Range<u64> {
        self.first..self.first + u64::from(self.count)
    }

    /// How many of its records have a type.
    pub fn count_of(&self, kind: u32) -> u64 {
        self.types.iter().find(|(number, _)| *number == kind).map_or(0, |(_, count)| u64::from(*count))
    }

    /// How many bytes before its first record are no record.
    pub fn stray_bytes(&self) -> u64 {
        self.stray
    }

    /// Those bytes, as far as they lie in one piece.
    pub fn stray(&self) -> &[u8] {
        let end = self.pos as usize;
        let start = end.saturating_sub(usize::try_from(self.stray).unwrap_or(usize::MAX));
        self.chunk.bytes.get(start..end).unwrap_or_default()
    }

    /// File offset of its first record.
    pub fn offset(&self) -> u64 {
        self.chunk.offset + if self.chunk.compressed { 0 } else { u64::from(self.pos) }
    }

    /// Its records.
    pub fn events(&self) -> impl Iterator<Item = Event<'_>> {
        let mut pos = self.pos;
        self.numbers().map_while(move |index| {
            let entry = Entry { time: 0, index, chunk: 0, pos };
            let event = Event::new(entry, &self.chunk, &self.schema)?;
            pos = end_of(&event)?;
            Some(event)
        })
    }
}

/// Where a record ends in its chunk, with what lies behind it and belongs to it.
fn end_of(event: &Event<'_>) -> Option<u32> {
    let size = u32::try_from(event.raw().len() + event.payload().len()).ok()?;
    event.entry().pos.checked_add(size)
}

/// An index as it is made.
#[derive(Debug, Default)]
struct Builder {
    runs: Vec<Run>,
    /// Where the bytes of each run are in the temporary file; empty for those that were not compressed.
    places: Vec<Range<u64>>,
    /// Number of the chunk in which the last run lies, and the position where its next record would be.
    last: Option<(u32, u32)>,
    /// The last run that was not compressed, and where it ends.
    plain: Option<(usize, u32)>,
    spool: Spool,
}

impl Builder {
    fn take(&mut self, batch: &Batch) -> Result<()> {
        for event in batch.iter() {
            let Entry { chunk, pos, .. } = event.entry();
            let is_full = self.runs.last().is_none_or(|run| run.count == MOST);
            if is_full || self.last != Some((chunk, pos)) {
                self.begin(&event, batch)?;
            }
            let end = end_of(&event).unwrap_or(u32::MAX);
            self.last = Some((chunk, end));
            if !event.was_compressed() {
                self.plain = Some((self.runs.len().saturating_sub(1), end));
            }
            if let Some(run) = self.runs.last_mut() {
                run.add(&event);
            }
        }
        Ok(())
    }

    /// A run begins with this record.
    fn begin(&mut self, event: &Event<'_>, batch: &Batch) -> Result<()> {
        let mut chunk = event.chunk().clone();
        let number = event.entry().chunk;
        let is_same = self.last.is_some_and(|(last, _)| last == number);
        let stray = self.stray_before(event);
        let place = match self.places.last() {
            _ if !chunk.compressed => 0..0,
            Some(place) if is_same => place.clone(),
            _ => self.spool.take(&chunk.bytes)?,
        };
        if chunk.compressed {
            chunk.bytes = Bytes::default();
        }
        self.places.push(place);
        self.runs.push(Run::beginning(chunk, Arc::clone(batch.schema()), event.entry(), stray));
        Ok(())
    }

    /// How many bytes lie between the record before and this one.
    fn stray_before(&mut self, event: &Event<'_>) -> u64 {
        let Entry { chunk, pos, .. } = event.entry();
        match self.last {
            Some((last, end)) if last == chunk => return u64::from(pos.saturating_sub(end)),
            _ if event.was_compressed() => return u64::from(pos),
            _ => {}
        }
        match self.plain.and_then(|(run, end)| Some((self.runs.get(run)?, end))) {
            Some((run, end)) if run.chunk.part == event.part() => {
                event.offset().saturating_sub(run.chunk.offset + u64::from(end))
            }
            _ => {
                self.end_part(event.index());
                u64::from(pos)
            }
        }
    }

    /// What is left behind the last record of a part is a run without records.
    fn end_part(&mut self, next: u64) {
        let Some((run, end)) = self.plain.take().and_then(|(run, end)| Some((self.runs.get(run)?, end)))
        else {
            return;
        };
        let all = run.chunk.bytes.len();
        let Some(left) = all.checked_sub(end as usize).filter(|left| *left > 0) else { return };
        let entry = Entry { time: 0, index: next, chunk: 0, pos: u32::try_from(all).unwrap_or(u32::MAX) };
        let rest = Run::beginning(run.chunk.clone(), Arc::clone(&run.schema), entry, left as u64);
        self.runs.push(rest);
        self.places.push(0..0);
    }

    fn finish(mut self, metadata: Metadata) -> Result<RecordIndex> {
        let count = self.runs.last().map_or(0, |run| run.numbers().end);
        self.end_part(count);
        let expanded = self.spool.finish()?;
        for (run, place) in self.runs.iter_mut().zip(&self.places) {
            if run.chunk.compressed {
                run.chunk.bytes = expanded.section(place.start, place.end - place.start);
            }
        }
        let last_ns = self.runs.iter().filter_map(|run| run.latest_ns).max().unwrap_or(0);
        Ok(RecordIndex { metadata, runs: self.runs, count, last_ns })
    }
}

/// What was compressed, in a file without a name.
#[derive(Debug, Default)]
struct Spool {
    file: Option<File>,
    size: u64,
    most: u64,
}

impl Spool {
    fn take(&mut self, bytes: &[u8]) -> Result<Range<u64>> {
        let place = self.size..self.size + bytes.len() as u64;
        if place.end > self.most {
            let what = format!("compressed records that expand to more than {} bytes", self.most);
            return Err(Error::new(ErrorKind::Unsupported(what), None));
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(of_file)?),
        };
        file.write_all(bytes).map_err(of_file)?;
        self.size = place.end;
        Ok(place)
    }

    fn finish(self) -> Result<Bytes> {
        self.file
            .filter(|_| self.size > 0)
            .map_or(Ok(Bytes::default()), |file| map_file(&file).map_err(of_file))
    }
}

fn of_file(error: std::io::Error) -> Error {
    Error::io("a temporary file", error)
}
