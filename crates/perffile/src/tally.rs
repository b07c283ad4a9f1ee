//! Records that are only counted: samples in a row are added up where they lie, and what says more comes one by one.
//!
//! Of a sample that has nothing but fields of fixed size and perhaps a call chain, all that counts is known from a few words:
//! its event, its period, its time. That takes half of the instructions of asking sample by sample.

use crate::event::{Batch, Event};
use crate::order::Entry;
use crate::schema::{EventDescription, Schema};
use crate::wire::endian::{Order, with_order};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::kind;
use crate::wire::sample::layout::SimpleSize;

/// What comes next in a batch, for one who counts.
#[derive(Clone, Copy, Debug)]
pub enum Tally<'b> {
    /// Samples in a row.
    Samples(SampleRun),
    /// A record that has to be asked what it is.
    Record(Event<'b>),
}

/// Samples in a row of one event, added up. None of them is damaged, has an impossible time, or has counter values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleRun {
    /// Index of the event.
    pub event: usize,
    /// How many samples.
    pub samples: u64,
    /// Sum of the sizes of their records, in bytes.
    pub bytes: u64,
    /// Sum of their periods, as far as 64 bits have it.
    pub period: u64,
    /// The least and the greatest of their times, ns of the recording's clock.
    pub times_ns: (u64, u64),
}

impl Batch {
    /// The records, in order, for one who counts them.
    pub fn tallies(&self) -> impl Iterator<Item = Tally<'_>> {
        let mut entries = self.entries.as_slice();
        std::iter::from_fn(move || {
            loop {
                let run = with_order!(self.schema.order(), O => self.run::<O>(entries));
                if let Some((run, behind)) = run {
                    entries = behind;
                    return Some(Tally::Samples(run));
                }
                let (entry, behind) = entries.split_first()?;
                entries = behind;
                if let Some(event) = self.event_at(*entry) {
                    return Some(Tally::Record(event));
                }
            }
        })
    }

    /// The samples at the front, as far as they are of one event and lie in one chunk, and what is behind them.
    fn run<'e, O: Order>(&self, entries: &'e [Entry]) -> Option<(SampleRun, &'e [Entry])> {
        let first = entries.first()?;
        let bytes = &*self.chunk_of(*first)?.bytes;
        let event = self.schema.event_of_sample(sample_body::<O>(bytes, first)?)?;
        let mut plain = PlainSamples::of(&self.schema, event)?;
        let mut run =
            SampleRun { event, samples: 0, bytes: 0, period: 0, times_ns: (first.time, first.time) };
        for entry in entries.iter().take_while(|entry| entry.chunk == first.chunk) {
            let Some(body) = sample_body::<O>(bytes, entry) else { break };
            let Some(period) = plain.period::<O>(body, entry.time) else { break };
            run.samples += 1;
            run.bytes += (HEAD_SIZE + body.len()) as u64;
            run.period = run.period.wrapping_add(period);
            run.times_ns = (run.times_ns.0.min(entry.time), run.times_ns.1.max(entry.time));
        }
        let behind = entries.get(usize::try_from(run.samples).ok()?..)?;
        (run.samples > 0).then_some((run, behind))
    }
}

/// The body of a record, if it is a sample and all there.
#[inline(always)]
fn sample_body<'b, O: Order>(bytes: &'b [u8], entry: &Entry) -> Option<&'b [u8]> {
    let rest = bytes.get(entry.pos as usize..)?;
    let head = RecordHead::read::<O>(rest)?;
    if head.kind != kind::SAMPLE {
        return None;
    }
    rest.get(HEAD_SIZE..usize::from(head.size))
}

/// How samples of an event are taken that need not be decoded.
struct PlainSamples<'b> {
    schema: &'b Schema,
    event: usize,
    /// Where all samples have their id, and the last one that was of this event.
    id_at: Option<usize>,
    id: Option<u64>,
    size: SimpleSize,
    period_at: Option<usize>,
    default_period: u64,
}

impl<'b> PlainSamples<'b> {
    /// Those of an event, unless its samples have to be decoded.
    fn of(schema: &'b Schema, event: usize) -> Option<Self> {
        let EventDescription { attr, layout, .. } = schema.event(event)?;
        Some(PlainSamples {
            schema,
            event,
            id_at: schema.sample_id_at(),
            id: None,
            size: layout.simple?,
            period_at: layout.period_offset(),
            default_period: attr.default_period(),
        })
    }

    /// The period of a sample, if it is of the event and needs no decoding. Without a time, or with one that cannot be, it does.
    #[inline(always)]
    fn period<O: Order>(&mut self, body: &[u8], time_ns: u64) -> Option<u64> {
        let word = |at| O::ORDER.u64_at(body, at);
        let id = self.id_at.and_then(word);
        if id.is_none() || id != self.id {
            if self.schema.event_of_sample(body) != Some(self.event) {
                return None;
            }
            self.id = id;
        }
        if !self.size.is_of::<O>(body) || time_ns == 0 || time_ns == Entry::STRAY {
            return None;
        }
        match self.period_at {
            Some(at) => word(at),
            None => Some(self.default_period),
        }
    }
}
