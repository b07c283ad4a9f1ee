//! How much of which event a sample stands for.
//!
//! Usually for its period, of its own event. With `PERF_SAMPLE_READ` it carries counter values, its own or those of the
//! whole group: then it stands for what each counter has counted since the last sample that told its value, and a counter
//! that has not moved is left out. That makes one sample of a group leader several samples, one an event, as perf has it.

use crate::schema::Schema;
use crate::wire::attr::{AttrFlags, SampleType};
use crate::wire::sample::SampleView;
use rustc_hash::FxHashMap;

/// A share of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Index of the event.
    pub event: usize,
    /// How many of that event.
    pub period: u64,
}

/// Last known values of the counters of a recording. Samples have to come in the order of the recording.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// By event id and, for events that children inherit, thread.
    values: FxHashMap<(u64, u32), u64>,
    shares: Vec<Share>,
}

impl Delivery {
    /// The shares of a sample of the event with this index. A sample whose values cannot be read has its own period.
    #[inline]
    pub fn shares(&mut self, schema: &Schema, event: usize, sample: &SampleView<'_>) -> &[Share] {
        let Some(description) = schema.event(event) else {
            self.shares.clear();
            return &[];
        };
        self.shares_of(schema, Share { event, period: description.period(sample.period()) }, sample)
    }

    /// The same of a sample whose event and period are known.
    #[inline]
    pub fn shares_of(&mut self, schema: &Schema, own: Share, sample: &SampleView<'_>) -> &[Share] {
        self.shares.clear();
        if !sample.layout().shape().sample_type.has(SampleType::READ)
            || !self.read(schema, own.event, *sample)
        {
            self.shares.push(own);
        }
        &self.shares
    }

    /// The shares of the sample that was asked about last.
    pub fn last(&self) -> &[Share] {
        &self.shares
    }

    /// Splits by the counter values; says whether there were any.
    fn read(&mut self, schema: &Schema, event: usize, sample: SampleView<'_>) -> bool {
        let Some(read) = sample.decode().ok().and_then(|(sample, _)| sample.read) else { return false };
        let inherited = schema.event(event).is_some_and(|event| event.attr.flags.has(AttrFlags::inherit));
        let thread = if inherited { sample.tid().unwrap_or(0) } else { 0 };
        let mut any = false;
        for counter in read.values() {
            let Some(id) = counter.id else { continue };
            any = true;
            let last = self.values.insert((id, thread), counter.value).unwrap_or(0);
            let period = counter.value.wrapping_sub(last);
            if let (Some(event), true) = (schema.event_of_id(id), period != 0) {
                self.shares.push(Share { event, period });
            }
        }
        any
    }
}
