//! What a recording consists of: records by type, samples and periods by event, times, losses.

use crate::counters::Counters;
use perffile::wire::record::{Record, kind};
use perffile::{Delivery, Event, IssueKind, Issues, Schema, StrayTimes};
use std::collections::BTreeMap;

/// Types below this number are counted in an array.
const DENSE: usize = 128;

/// Count and bytes of a record type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCount {
    /// How many.
    pub count: u64,
    /// Sum of their sizes in bytes; what lies outside a record is not counted.
    pub bytes: u64,
}

/// Samples and periods of an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCount {
    /// How many samples.
    pub samples: u64,
    /// Sum of their periods.
    pub period: u64,
}

/// What a recording consists of.
#[derive(Debug)]
pub struct Statistics {
    dense: Vec<RecordCount>,
    sparse: BTreeMap<u32, RecordCount>,
    events: Vec<EventCount>,
    delivery: Delivery,
    strays: StrayTimes,
    /// Times of the first and the last sample, ns.
    pub times_ns: Option<(u64, u64)>,
    /// Records that LOST records tell of.
    pub lost_records: u64,
    /// Samples that LOST_SAMPLES records tell of.
    pub lost_samples: u64,
    /// The counts of perf stat, if it is a recording of that; call [`Counters::finish`] when all records have been seen.
    pub counters: Counters,
    /// Samples that belong to no known event.
    pub unattributed: u64,
    /// Samples whose bytes end before their fields do.
    pub undecodable: u64,
    /// What was wrong with records here.
    pub issues: Issues,
}

impl Default for Statistics {
    fn default() -> Self {
        Statistics {
            dense: vec![RecordCount::default(); DENSE],
            sparse: BTreeMap::new(),
            events: Vec::new(),
            delivery: Delivery::default(),
            strays: StrayTimes::default(),
            times_ns: None,
            lost_records: 0,
            lost_samples: 0,
            counters: Counters::new(),
            unattributed: 0,
            undecodable: 0,
            issues: Issues::default(),
        }
    }
}

impl Statistics {
    /// Counts a record.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>) {
        let head = event.head();
        let count = match self.dense.get_mut(head.kind as usize) {
            Some(count) => count,
            None => self.sparse.entry(head.kind).or_default(),
        };
        count.count += 1;
        count.bytes += u64::from(head.size);
        match head.kind {
            kind::SAMPLE => self.add_sample(event),
            kind::LOST | kind::LOST_SAMPLES => self.add_lost(event),
            kind::THREAD_MAP | kind::STAT_CONFIG | kind::STAT | kind::STAT_ROUND => self.counters.add(event),
            _ => {}
        }
    }

    fn add_sample(&mut self, event: &Event<'_>) {
        let Some(index) = event.event_index() else {
            self.unattributed += 1;
            let message = || "a sample's event id belongs to no event".to_owned();
            return self.issues.add(IssueKind::UnknownEventId, event.place(), message);
        };
        let Some(sample) = event.sample_of(index) else { return };
        match sample.essentials() {
            Ok(fields) => {
                if let Some(message) = sample.too_long(fields.left) {
                    self.issues.add(IssueKind::BadRecordSize, event.place(), || message);
                }
            }
            Err(error) => {
                self.undecodable += 1;
                let message = || format!("a sample cannot be decoded: {error}");
                return self.issues.add(IssueKind::BadRecord, event.place().field(error.field), message);
            }
        }
        let events = event.schema().events().len();
        if self.events.len() < events {
            self.events.resize(events, EventCount::default());
        }
        for share in self.delivery.shares(event.schema(), index, &sample) {
            if let Some(count) = self.events.get_mut(share.event) {
                count.samples += 1;
                count.period = count.period.wrapping_add(share.period);
            }
        }
        if let Some(time) = sample.time() {
            if self.strays.is_stray(event.schema(), time) {
                let message = || {
                    format!(
                        "a sample's time cannot be: {time} ns is far outside the range that the recorder tells"
                    )
                };
                return self.issues.add(IssueKind::StrayTime, event.place(), message);
            }
            // 0 is no time.
            if time != 0 {
                let (first, last) = self.times_ns.unwrap_or((time, time));
                self.times_ns = Some((first.min(time), last.max(time)));
            }
        }
    }

    fn add_lost(&mut self, event: &Event<'_>) {
        match event.record() {
            Ok((Record::Lost(lost), _)) => self.lost_records = self.lost_records.saturating_add(lost.lost),
            Ok((Record::LostSamples(lost), _)) => {
                self.lost_samples = self.lost_samples.saturating_add(lost.lost)
            }
            Ok(_) => {}
            Err(error) => event.tell_undecodable(&error, &mut self.issues),
        }
    }

    /// Every record type met, by number.
    pub fn records(&self) -> impl Iterator<Item = (u32, RecordCount)> + '_ {
        let dense = (0u32..).zip(self.dense.iter().copied()).filter(|(_, count)| count.count > 0);
        dense.chain(self.sparse.iter().map(|(number, count)| (*number, *count)))
    }

    /// Samples and period of each event of the recording, in its order; those without a sample too.
    pub fn events<'s>(&'s self, schema: &'s Schema) -> impl Iterator<Item = (&'s str, EventCount)> + 's {
        let count = |nr: usize| self.events.get(nr).copied().unwrap_or_default();
        schema.events().iter().enumerate().map(move |(nr, event)| (event.name.as_str(), count(nr)))
    }

    /// Samples of all events, those of none included.
    pub fn samples(&self) -> u64 {
        self.dense.get(kind::SAMPLE as usize).map_or(0, |count| count.count)
    }
}
