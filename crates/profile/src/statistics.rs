//! What a recording consists of: records by type, samples and periods by event, times, losses.

use crate::counters::Counters;
use perffile::wire::record::kind;
use perffile::{Batch, Delivery, Event, IssueKind, Issues, SampleRun, Schema, Share, Tally};
use readperf_session::{LostMoment, Moment, Unattributed, is_loss, loss};
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
    /// Counts a batch of records without a session.
    pub fn add_batch(&mut self, batch: &Batch) {
        for tally in batch.tallies() {
            match tally {
                Tally::Samples(run) => self.add_run(&run, batch.schema()),
                Tally::Record(event) => self.add(&event),
            }
        }
    }

    /// Counts samples in a row.
    fn add_run(&mut self, run: &SampleRun, schema: &Schema) {
        self.count_records(kind::SAMPLE, RecordCount { count: run.samples, bytes: run.bytes });
        if let Some(count) = events_of(&mut self.events, schema).get_mut(run.event) {
            count.samples += run.samples;
            count.period = count.period.wrapping_add(run.period);
        }
        let (first, last) = run.times_ns;
        self.widen_times(first, last);
    }

    /// Counts a record without a session: what a sample stands for is worked out here.
    #[inline(always)]
    pub fn add(&mut self, event: &Event<'_>) {
        self.count(event);
        match event.head().kind {
            kind::SAMPLE => self.add_sample(event),
            _ => self.add_other(event),
        }
    }

    /// Takes in what else records tell.
    #[inline(never)]
    fn add_other(&mut self, event: &Event<'_>) {
        if is_loss(event.head().kind) {
            match event.record() {
                Ok((record, _)) => loss(record).into_iter().for_each(|lost| self.lose(lost)),
                Err(error) => event.tell_undecodable(&error, &mut self.issues),
            }
        } else {
            self.counters.add(event);
        }
    }

    /// Counts a record that was applied to a session: its moment, and the shares of a sample.
    #[inline]
    pub fn add_moment(&mut self, event: &Event<'_>, moment: &Moment<'_>, shares: &[Share]) {
        self.count(event);
        match moment {
            Moment::Sample(sample) => {
                count_shares(&mut self.events, event.schema(), shares);
                self.note_time(event, sample.time_ns);
            }
            Moment::Unattributed(why) => self.leave_out(*why),
            Moment::Lost(lost) => self.lose(*lost),
            _ => self.counters.add(event),
        }
    }

    #[inline(always)]
    fn count(&mut self, event: &Event<'_>) {
        let head = event.head();
        self.count_records(head.kind, RecordCount { count: 1, bytes: u64::from(head.size) });
    }

    #[inline(always)]
    fn count_records(&mut self, kind: u32, more: RecordCount) {
        let sum = match self.dense.get_mut(kind as usize) {
            Some(sum) => sum,
            None => self.sparse.entry(kind).or_default(),
        };
        sum.count += more.count;
        sum.bytes += more.bytes;
    }

    #[inline(always)]
    fn add_sample(&mut self, event: &Event<'_>) {
        let known = event.event_index().and_then(|index| Some((index, event.sample_of(index)?)));
        if let Some((index, sample)) = known.filter(|(_, sample)| sample.is_simple()) {
            // Without counter values it stands for its period alone.
            let schema = event.schema();
            let period = schema.event(index).map_or(0, |event| event.period(sample.period()));
            count_shares(&mut self.events, schema, &[Share { event: index, period }]);
            return self.note_time(event, sample.time().unwrap_or(0));
        }
        self.add_other_sample(event);
    }

    /// Counts a sample that has to be decoded for it.
    #[inline(never)]
    fn add_other_sample(&mut self, event: &Event<'_>) {
        match event.usable_sample(&mut self.issues) {
            Ok(usable) => {
                let shares = self.delivery.shares(event.schema(), usable.index, &usable.sample);
                count_shares(&mut self.events, event.schema(), shares);
                self.note_time(event, usable.essentials.time);
            }
            Err(why) => self.leave_out(why),
        }
    }

    #[inline(always)]
    fn note_time(&mut self, event: &Event<'_>, time_ns: u64) {
        if event.has_stray_time() {
            return self.tell_stray_time(event, time_ns);
        }
        // 0 is no time.
        if time_ns != 0 {
            self.widen_times(time_ns, time_ns);
        }
    }

    #[inline(always)]
    fn widen_times(&mut self, first_ns: u64, last_ns: u64) {
        let (first, last) = self.times_ns.unwrap_or((first_ns, last_ns));
        self.times_ns = Some((first.min(first_ns), last.max(last_ns)));
    }

    #[cold]
    fn tell_stray_time(&mut self, event: &Event<'_>, time_ns: u64) {
        let message = || {
            format!(
                "a sample's time cannot be: {time_ns} ns is far outside the range that the recorder tells"
            )
        };
        self.issues.add(IssueKind::StrayTime, event.place(), message);
    }

    fn leave_out(&mut self, why: Unattributed) {
        match why {
            Unattributed::UnknownEvent => self.unattributed += 1,
            Unattributed::Undecodable => self.undecodable += 1,
        }
    }

    fn lose(&mut self, lost: LostMoment) {
        let (sum, count) = match lost {
            LostMoment::Records(count) => (&mut self.lost_records, count),
            LostMoment::Samples(count) => (&mut self.lost_samples, count),
        };
        *sum = sum.saturating_add(count);
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

/// Adds what a sample stands for to the counts of its events.
#[inline(always)]
fn count_shares(events: &mut Vec<EventCount>, schema: &Schema, shares: &[Share]) {
    let events = events_of(events, schema);
    for share in shares {
        if let Some(count) = events.get_mut(share.event) {
            count.samples += 1;
            count.period = count.period.wrapping_add(share.period);
        }
    }
}

/// The counts of all events that are known by now.
#[inline(always)]
fn events_of<'c>(events: &'c mut Vec<EventCount>, schema: &Schema) -> &'c mut [EventCount] {
    if events.len() < schema.events().len() {
        events.resize(schema.events().len(), EventCount::default());
    }
    events
}
