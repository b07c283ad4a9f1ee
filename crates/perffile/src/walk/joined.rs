//! Call chains in two parts: samples are held back until the user part comes, and delivered with the chain whole.

use crate::bytes::Bytes;
use crate::deferred::{Joiner, Released, Role, joined_chain};
use crate::event::{Batch, Chunk, Event};
use crate::order::Entry;
use crate::schema::Schema;
use crate::wire::encode::Encoder;
use crate::wire::endian::{Order, with_order};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::pass::Fields;
use crate::wire::sample::SampleView;
use crate::wire::words::U64s;

/// Most bytes of samples that are held back; the oldest is given up first.
const MOST_BYTES: usize = 32 << 20;

/// The samples that are held back, and what became of those before them.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    joiner: Joiner<HeldRecord>,
    held_bytes: usize,
    /// Samples that were delivered without user part.
    pub(super) missing: u64,
}

/// A sample with a copy of its bytes: it may wait for long, and the chunk that it lay in is freed meanwhile.
#[derive(Debug)]
struct HeldRecord {
    entry: Entry,
    chunk: Chunk,
}

/// What takes the place of the records of a batch.
#[derive(Default)]
struct JoinedBatch {
    entries: Vec<Entry>,
    /// A chunk for every sample that was held back.
    chunks: Vec<Chunk>,
    first_chunk: u32,
}

impl Deferred {
    /// Takes the samples out of a batch whose user part comes later, and puts those in that need not wait any more. In the last
    /// batch nothing waits.
    pub(super) fn join(&mut self, batch: &mut Batch, last: bool) {
        let count = u32::try_from(batch.chunks.len()).unwrap_or(u32::MAX);
        let first_chunk = batch.first_chunk.saturating_add(count);
        let mut out =
            JoinedBatch { entries: Vec::with_capacity(batch.len()), chunks: Vec::new(), first_chunk };
        for event in batch.iter() {
            let schema = event.schema();
            match Role::of(&event) {
                Role::Waits { tid, cookie } => {
                    self.held_bytes += event.raw().len();
                    let given_up = self.joiner.hold(tid, cookie, HeldRecord::new(&event));
                    self.deliver(given_up, schema, &mut out);
                    while self.held_bytes > MOST_BYTES && !self.joiner.is_empty() {
                        let given_up = self.joiner.give_up_oldest();
                        self.deliver(given_up, schema, &mut out);
                    }
                    continue;
                }
                Role::Brings { tid, cookie, user } => {
                    let released = self.joiner.release(tid, cookie, user);
                    self.deliver(released, schema, &mut out);
                }
                Role::Ends { tid } => {
                    let released = self.joiner.end(tid);
                    self.deliver(released, schema, &mut out);
                }
                Role::Other => {}
            }
            out.entries.push(event.entry());
        }
        if last {
            let released = self.joiner.finish();
            self.deliver(released, &batch.schema, &mut out);
        }
        batch.entries = out.entries;
        batch.chunks.extend(out.chunks);
    }

    fn deliver<'u>(
        &mut self,
        released: impl IntoIterator<Item = Released<'u, HeldRecord>>,
        schema: &Schema,
        out: &mut JoinedBatch,
    ) {
        for Released { item: HeldRecord { entry, mut chunk }, user } in released {
            self.held_bytes -= chunk.bytes.len();
            match user
                .and_then(|user| with_order!(schema.order(), O => joined::<O>(&chunk.bytes, schema, user)))
            {
                Some(whole) => {
                    chunk.bytes = Bytes::new(whole);
                    chunk.joined = true;
                }
                None => self.missing += 1,
            }
            out.push(entry, chunk);
        }
    }
}

impl HeldRecord {
    fn new(event: &Event<'_>) -> HeldRecord {
        let bytes = Bytes::new(event.raw().to_vec());
        let compressed = event.was_compressed();
        let chunk = Chunk { bytes, part: event.part(), offset: event.offset(), compressed, joined: false };
        HeldRecord { entry: event.entry(), chunk }
    }
}

impl JoinedBatch {
    fn push(&mut self, entry: Entry, chunk: Chunk) {
        let number = u32::try_from(self.chunks.len()).unwrap_or(u32::MAX);
        self.entries.push(Entry { chunk: self.first_chunk.saturating_add(number), pos: 0, ..entry });
        self.chunks.push(chunk);
    }
}

/// The record of a sample with its whole chain; `None` if that does not fit into a record.
fn joined<O: Order>(record: &[u8], schema: &Schema, user: U64s<'_>) -> Option<Vec<u8>> {
    let head = RecordHead::read::<O>(record)?;
    let body = record.get(HEAD_SIZE..)?;
    let (mut sample, rest) =
        SampleView::new(body, schema.layout_of_sample(body)?, head.misc).decode().ok()?;
    let chain: Vec<u8> = joined_chain(sample.callchain?, Some(user)).flat_map(O::put_u64).collect();
    sample.callchain = Some(U64s::new(&chain, O::ORDER));
    let mut fields = Vec::with_capacity(record.len() + chain.len());
    let shape = schema.layout_of_sample(body)?.shape();
    sample.fields(&mut Encoder::<O>::new(&mut fields, shape, head.misc)).ok()?;
    fields.extend_from_slice(rest);
    let size = u16::try_from(HEAD_SIZE + fields.len()).ok()?;
    let mut whole = Vec::with_capacity(usize::from(size));
    RecordHead { size, ..head }.put::<O>(&mut whole);
    whole.append(&mut fields);
    Some(whole)
}
