//! Records on their way: batches of them, and one by one.

use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::order::Entry;
use crate::payload::payload_size;
use crate::place::{Part, Place};
use crate::schema::{EventDescription, Schema};
use crate::wire::attr::SampleShape;
use crate::wire::decode::Decoder;
use crate::wire::endian::with_order;
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::{Record, USER_RECORDS, kind};
use crate::wire::sample::{SampleId, SampleView};
use std::sync::Arc;

/// Bytes of a recording in which records lie, and where they come from.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    pub(crate) bytes: Bytes,
    pub(crate) part: Part,
    /// File offset of the first byte; of bytes that were compressed, the offset of the compressed record.
    pub(crate) offset: u64,
    /// Whether the bytes were compressed in the file.
    pub(crate) compressed: bool,
    /// Whether it is one record, made of two: a sample and the user part of its chain. The offset is that of the sample.
    pub(crate) joined: bool,
}

/// Some records in order. Owns what it shows, so that it can be collected, and sent to another thread.
#[derive(Clone, Debug)]
pub struct Batch {
    pub(crate) schema: Arc<Schema>,
    pub(crate) first_chunk: u32,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) entries: Vec<Entry>,
}

impl Batch {
    /// How many records.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The events of the recording, as known when this batch was made.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The records, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Event<'_>> {
        let chunks = self.chunks.iter().map(|chunk| (chunk, &*chunk.bytes)).collect();
        Iter { batch: self, entries: self.entries.iter(), chunks }
    }

    /// The record at this place among them.
    pub fn get(&self, index: usize) -> Option<Event<'_>> {
        self.event_at(*self.entries.get(index)?)
    }

    /// The record that an entry of this batch is of.
    pub(crate) fn event_at(&self, entry: Entry) -> Option<Event<'_>> {
        Event::new(entry, self.chunk_of(entry)?, &self.schema)
    }

    /// The chunk that an entry of this batch lies in.
    pub(crate) fn chunk_of(&self, entry: Entry) -> Option<&Chunk> {
        self.chunks.get(entry.chunk.checked_sub(self.first_chunk)? as usize)
    }
}

/// The records of a batch.
struct Iter<'b> {
    batch: &'b Batch,
    entries: std::slice::Iter<'b, Entry>,
    /// The chunks, with their bytes, which are not asked for each time. In order of time, records of several buffers take turns.
    chunks: Vec<(&'b Chunk, &'b [u8])>,
}

impl<'b> Iterator for Iter<'b> {
    type Item = Event<'b>;

    #[inline(always)]
    fn next(&mut self) -> Option<Event<'b>> {
        loop {
            let entry = *self.entries.next()?;
            let number = entry.chunk.wrapping_sub(self.batch.first_chunk);
            let found = self.chunks.get(number as usize);
            let event =
                found.and_then(|(chunk, bytes)| Event::in_bytes(entry, chunk, bytes, &self.batch.schema));
            if event.is_some() {
                return event;
            }
        }
    }
}

/// One record, half parsed: its head, its bytes and its place. The rest is decoded when asked for.
#[derive(Clone, Copy, Debug)]
pub struct Event<'b> {
    head: RecordHead,
    /// From the head to the end of the chunk.
    bytes: &'b [u8],
    entry: Entry,
    chunk: &'b Chunk,
    schema: &'b Schema,
}

impl<'b> Event<'b> {
    /// The record at a position of a chunk.
    pub(crate) fn new(entry: Entry, chunk: &'b Chunk, schema: &'b Schema) -> Option<Self> {
        Event::in_bytes(entry, chunk, &chunk.bytes, schema)
    }

    #[inline(always)]
    fn in_bytes(entry: Entry, chunk: &'b Chunk, bytes: &'b [u8], schema: &'b Schema) -> Option<Self> {
        let bytes = bytes.get(entry.pos as usize..)?;
        let head = with_order!(schema.order(), O => RecordHead::read::<O>(bytes))?;
        Some(Event { head, bytes, entry, chunk, schema })
    }

    /// Type, `misc`, size.
    #[inline]
    pub fn head(&self) -> RecordHead {
        self.head
    }

    /// Name of its type, without `PERF_RECORD_`.
    pub fn type_name(&self) -> std::borrow::Cow<'static, str> {
        self.schema.dialect().record_name(self.head.kind)
    }

    /// Its number in the recording, from 0, in the order of the file. Records inside compressed ones count too.
    #[inline]
    pub fn index(&self) -> u64 {
        self.entry.index
    }

    /// Which part of the recording it lies in.
    pub fn part(&self) -> Part {
        self.chunk.part
    }

    /// Its offset in the file, in bytes; of a record that was compressed, that of the compressed record.
    pub fn offset(&self) -> u64 {
        let inside = if self.chunk.compressed { 0 } else { self.entry.pos };
        self.chunk.offset + u64::from(inside)
    }

    /// Whether it was compressed in the file.
    pub fn was_compressed(&self) -> bool {
        self.chunk.compressed
    }

    /// Whether it is a sample to whose chain the user part has been joined that came later, in a CALLCHAIN_DEFERRED record:
    /// so it is longer than in the file. Only in order of time; see [`crate::deferred`].
    pub fn was_joined(&self) -> bool {
        self.chunk.joined
    }

    /// Its place, for errors and issues.
    pub fn place(&self) -> Place {
        Place::new(self.part(), self.offset()).record(self.index(), self.head.kind)
    }

    pub(crate) fn entry(&self) -> Entry {
        self.entry
    }

    pub(crate) fn chunk(&self) -> &'b Chunk {
        self.chunk
    }

    /// The whole record as it lies in the recording.
    #[inline]
    pub fn raw(&self) -> &'b [u8] {
        self.bytes.get(..usize::from(self.head.size).max(HEAD_SIZE)).unwrap_or(self.bytes)
    }

    /// The record and what lies behind it in memory.
    pub(crate) fn bytes_from_here(&self) -> &'b [u8] {
        self.bytes
    }

    /// The record without its head; a trailer included.
    #[inline]
    pub fn body(&self) -> &'b [u8] {
        self.raw().get(HEAD_SIZE..).unwrap_or_default()
    }

    /// The bytes behind the record that belong to it without being counted in its size: the data of AUXTRACE and
    /// HEADER_TRACING_DATA records.
    pub fn payload(&self) -> &'b [u8] {
        let size = payload_size(self.head, self.bytes, self.schema.order(), self.schema.dialect());
        let rest = self.bytes.get(usize::from(self.head.size).max(HEAD_SIZE)..).unwrap_or_default();
        rest.get(..usize::try_from(size).unwrap_or(usize::MAX)).unwrap_or(rest)
    }

    /// Whether the bytes behind the record that belong to it are all there.
    pub(crate) fn is_whole(&self) -> bool {
        let size = payload_size(self.head, self.bytes, self.schema.order(), self.schema.dialect());
        size == 0 || self.payload().len() as u64 == size
    }

    /// The events of the recording.
    pub fn schema(&self) -> &'b Schema {
        self.schema
    }

    /// Whether it is one of perf's own records, without trailer.
    #[inline]
    pub fn is_user_record(&self) -> bool {
        self.head.kind >= USER_RECORDS
    }

    /// Its time in ns of the recording's clock, if it has one; 0 in records that perf made up itself.
    #[inline]
    pub fn time(&self) -> Option<u64> {
        match self.head.kind {
            kind::SAMPLE => self.schema.time_of_sample(self.body()),
            USER_RECORDS.. => None,
            _ => self.schema.time_of_trailer(self.body()),
        }
    }

    /// Whether it is a sample with an impossible time: far outside the range of times in the header (SAMPLE_TIME).
    #[inline]
    pub fn has_stray_time(&self) -> bool {
        self.head.kind == kind::SAMPLE && self.entry.time == Entry::STRAY
    }

    /// Index of the event it belongs to; `None` where its id belongs to none, and for perf's own records.
    #[inline(always)]
    pub fn event_index(&self) -> Option<usize> {
        match self.head.kind {
            kind::SAMPLE => self.schema.event_of_sample(self.body()),
            USER_RECORDS.. => None,
            _ => self.schema.event_of_trailer(self.body()),
        }
    }

    /// The event it belongs to.
    #[inline]
    pub fn event(&self) -> Option<&'b EventDescription> {
        self.schema.event(self.event_index()?)
    }

    /// The sample, if it is one whose layout is known: that of its event, or that of all events.
    #[inline]
    pub fn sample(&self) -> Option<SampleView<'b>> {
        if self.head.kind != kind::SAMPLE {
            return None;
        }
        let body = self.body();
        Some(SampleView::new(body, self.schema.layout_of_sample(body)?, self.head.misc))
    }

    /// The sample as one of the event with this index, as [`Event::event_index`] has told it.
    #[inline]
    pub fn sample_of(&self, index: usize) -> Option<SampleView<'b>> {
        Some(SampleView::new(self.body(), &self.schema.event(index)?.layout, self.head.misc))
    }

    /// The trailer: who, when, where; `None` for samples, for perf's own records, and where it is missing.
    pub fn sample_id(&self) -> Option<SampleId> {
        if self.head.kind == kind::SAMPLE || self.is_user_record() {
            return None;
        }
        let body = self.body();
        let (trailer, shape) = self.schema.trailer_of(body)?;
        let bytes = body.get(body.len().checked_sub(trailer.size())?..)?;
        if bytes.is_empty() {
            return None;
        }
        with_order!(self.schema.order(), O => Decoder::<O, _>::new(bytes, shape, 0).value().ok())
    }

    /// The record with all its fields, and what its body holds behind the fields known here.
    ///
    /// # Errors
    /// [`ErrorKind::Record`] with the place of the field at which the bytes end.
    pub fn record(&self) -> Result<(Record<'b>, &'b [u8])> {
        let (body, shape) = self.body_and_shape();
        let number = self.schema.dialect().decoded_as(self.head.kind);
        with_order!(self.schema.order(), O => Record::decode::<O>(number, body, &shape, self.head.misc))
            .map_err(|error| Error::new(ErrorKind::Record(error), Some(self.place().field(error.field))))
    }

    /// The body without the trailer, and what decides its layout.
    pub fn body_and_shape(&self) -> (&'b [u8], SampleShape) {
        let body = self.body();
        if self.is_user_record() {
            return (body, SampleShape::default());
        }
        if self.head.kind == kind::SAMPLE {
            let layout = self.schema.layout_of_sample(body);
            return (body, layout.map_or_else(SampleShape::default, |layout| *layout.shape()));
        }
        let Some((trailer, shape)) = self.schema.trailer_of(body) else {
            return (body, SampleShape::default());
        };
        (body.get(..body.len().saturating_sub(trailer.size())).unwrap_or_default(), *shape)
    }
}
