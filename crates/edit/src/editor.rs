//! What chooses and changes the records while they are copied.

use crate::build_ids;
use crate::chosen::Chosen;
use crate::counts::{Counts, has_values};
use crate::generated::Generated;
use crate::marks;
use crate::plan::Plan;
use perffile::tracepoint::TracingData;
use perffile::wire::attr::EventAttr;
use perffile::wire::feature::sample_time::SampleTime;
use perffile::wire::feature::{Feature, bit, is_flag};
use perffile::wire::record::{Record, kind};
use perffile::write::{Edit, Fate, Head, RecordParts};
use perffile::{ByteOrder, Event, EventDescription, Features};
use std::fmt;

/// What became of the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Samples that stay.
    pub samples: u64,
    /// Samples that go because they were not chosen.
    pub samples_gone: u64,
    /// Other records that stay.
    pub others: u64,
    /// Other records that go because of their time, CPU or thread, or because no sample that stays needs them.
    pub others_gone: u64,
    /// Records and features that go because they cannot be what they claim to be.
    pub unsound: u64,
    /// Mappings of generated code that were added.
    pub mappings_added: u64,
    /// Mappings that go because what was added has taken their place.
    pub mappings_replaced: u64,
}

/// What is known of an event.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Whether its samples pass by its name.
    is_wanted: bool,
    /// Whether they stand for what its counters have counted.
    has_values: bool,
}

/// Does what a [`Plan`] says, and tells `P` how many bytes were walked of how many.
pub struct Editor<'p, P> {
    plan: &'p Plan,
    /// Whether all records stay as they are.
    is_idle: bool,
    /// Whether all samples pass, but for every so many-th.
    chooses_all: bool,
    /// Whether fields are taken out.
    strips: bool,
    /// Of each event, as far as its records have come; anew with each batch, as a pipe tells its events on the way.
    known: Vec<Known>,
    /// Those that were chosen by names, if they were.
    chosen: Option<&'p Chosen>,
    tally: Tally,
    counts: Counts,
    generated: Generated<'p>,
    /// By event: how many samples were met that pass.
    passed: Vec<u64>,
    /// First and last time of a sample that stays, ns.
    times_ns: Option<(u64, u64)>,
    progress: P,
}

impl<P> fmt::Debug for Editor<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Editor").field("plan", self.plan).field("tally", &self.tally).finish_non_exhaustive()
    }
}

impl<'p, P: FnMut((u64, u64))> Editor<'p, P> {
    /// An editor for one recording; `chosen` are the samples that pass by their names, if these matter.
    pub fn new(plan: &'p Plan, chosen: Option<&'p Chosen>, progress: P) -> Editor<'p, P> {
        let (counts, tally, generated) = (Counts::default(), Tally::default(), Generated::new(&plan.dumps));
        let is_idle = plan.is_idle() && chosen.is_none();
        let chooses_all = plan.samples.is_open() && plan.every.is_none() && chosen.is_none();
        let (strips, known, passed) = (!plan.strip.is_idle(), Vec::new(), Vec::new());
        Editor {
            plan,
            is_idle,
            chooses_all,
            strips,
            known,
            chosen,
            tally,
            counts,
            generated,
            passed,
            times_ns: None,
            progress,
        }
    }

    /// What became of the records so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    fn sample(&mut self, event: &Event<'_>) -> Fate {
        let index = event.event_index();
        let known = self.known(event, index);
        let is_chosen = self.chooses_all || self.is_chosen(event, index, known);
        if !is_chosen || !self.is_next(index) {
            self.tally.samples_gone += 1;
            // What is skipped over counts for the next one that is not.
            let counts_for_next = is_chosen && !self.plan.keep_period;
            if let Some(description) = event.event().filter(|_| known.has_values && !counts_for_next) {
                self.counts.goes(event, description);
            }
            return Fate::Drop;
        }
        self.tally.samples += 1;
        if let Some(time) = event.time().filter(|_| !event.has_stray_time()) {
            let (first, last) = self.times_ns.unwrap_or((time, time));
            self.times_ns = Some((first.min(time), last.max(time)));
        }
        if self.strips {
            Fate::Change
        } else if self.plan.factor() > 1 || known.has_values && !self.chooses_all {
            Fate::Patch
        } else {
            Fate::Keep
        }
    }

    /// What is known of an event, worked out once a batch.
    #[inline]
    fn known(&mut self, event: &Event<'_>, index: Option<usize>) -> Known {
        let Some(index) = index else {
            return Known { is_wanted: self.plan.samples.events.is_empty(), has_values: false };
        };
        match self.known.get(index) {
            Some(known) => *known,
            None => self.learn(event, index),
        }
    }

    #[cold]
    fn learn(&mut self, event: &Event<'_>, index: usize) -> Known {
        let wanted = &self.plan.samples.events;
        let of = |event: &EventDescription| Known {
            is_wanted: wanted.is_empty() || wanted.contains(&event.name),
            has_values: has_values(event),
        };
        self.known.clear();
        self.known.extend(event.schema().events().iter().map(of));
        // An event of a record is one of those that there are.
        self.known.get(index).copied().unwrap_or(Known { is_wanted: false, has_values: false })
    }

    /// Whether a sample passes by what it says, and by its names.
    #[inline]
    fn is_chosen(&self, event: &Event<'_>, index: Option<usize>, known: Known) -> bool {
        let samples = &self.plan.samples;
        known.is_wanted
            && self.chosen.is_none_or(|chosen| chosen.has(event.index()))
            && index.map_or_else(|| event.sample(), |index| event.sample_of(index)).is_some_and(|sample| {
                let needs_time = !samples.times_ns.is_empty() && !event.has_stray_time();
                let time = if needs_time { sample.time() } else { None };
                samples.passes_place(sample.cpu(), time) && samples.passes_thread(sample.pid(), sample.tid())
            })
    }

    /// Whether a sample that was chosen is the next one of its event to stay.
    fn is_next(&mut self, index: Option<usize>) -> bool {
        let Some(every) = self.plan.every else { return true };
        let index = index.unwrap_or(0);
        if self.passed.len() <= index {
            self.passed.resize(index + 1, 0);
        }
        let Some(passed) = self.passed.get_mut(index) else { return false };
        *passed += 1;
        (*passed - 1).is_multiple_of(u64::from(every.get()))
    }

    /// Whether a record is what it claims to be.
    fn is_sound(event: &Event<'_>) -> bool {
        /// As many bytes may fill a record up.
        const FILL: usize = 8;
        if event.head().kind == kind::SAMPLE && event.event_index().is_none() {
            return false;
        }
        let Ok(mut parts) = RecordParts::of(event) else { return false };
        let (mut behind_name, shape, misc) = (0, parts.shape, event.head().misc);
        parts.record.each_name(&shape, misc, |name| behind_name += name.left_over());
        behind_name == 0 && (event.is_user_record() || parts.rest.len() < FILL)
    }
}

impl<P: FnMut((u64, u64))> Edit for Editor<'_, P> {
    fn attr(&mut self, attr: &mut EventAttr) -> bool {
        self.plan.attr(attr)
    }

    fn keeps_feature(&mut self, features: &Features, bit: u32) -> bool {
        let is_sound = !self.plan.repair || is_sound_feature(features, bit);
        self.tally.unsound += u64::from(!is_sound);
        is_sound
    }

    #[inline]
    fn adds_before(&self, event: &Event<'_>) -> bool {
        self.generated.is_due(event)
    }

    fn next_before(
        &mut self,
        event: Option<&Event<'_>>,
        order: ByteOrder,
        out: &mut Vec<u8>,
    ) -> perffile::Result<bool> {
        let is_added = self.generated.next_before(event, order, out)?;
        self.tally.mappings_added += u64::from(is_added);
        Ok(is_added)
    }

    fn fate(&mut self, event: &Event<'_>) -> Fate {
        if self.is_idle {
            let is_sample = event.head().kind == kind::SAMPLE;
            *if is_sample { &mut self.tally.samples } else { &mut self.tally.others } += 1;
            return Fate::Keep;
        }
        if self.plan.repair && !Self::is_sound(event) {
            self.tally.unsound += 1;
            return Fate::Drop;
        }
        if event.head().kind == kind::SAMPLE {
            return self.sample(event);
        }
        let is_needless = self.chosen.is_some_and(|chosen| chosen.has_no_need_of(event));
        if is_needless || !self.plan.samples.is_open() && !marks::stays(&self.plan.samples, event) {
            self.tally.others_gone += 1;
            return Fate::Drop;
        }
        if self.generated.replaces(event) {
            self.tally.mappings_replaced += 1;
            return Fate::Drop;
        }
        self.tally.others += 1;
        Fate::Keep
    }

    fn change(&mut self, parts: &mut RecordParts<'_>) {
        if let Record::Sample(sample) = &mut parts.record {
            self.plan.strip.sample(sample);
            self.plan.strip.shape(&mut parts.shape);
        }
    }

    /// Periods and counter values lie before all that is ever taken out, so that they are where they were.
    fn patch(&mut self, event: &Event<'_>, order: ByteOrder, bytes: &mut [u8]) {
        /// Size of the head of a record in bytes.
        const HEAD: usize = 8;
        let Some(description) = event.event() else { return };
        if has_values(description) {
            return self.counts.stays(0, event, description, order, bytes);
        }
        let period = event.sample().and_then(|sample| sample.period());
        if let (Some(at), Some(period)) = (description.layout.period_offset(), period) {
            let said = order.put_u64(period.saturating_mul(self.plan.factor()));
            bytes.iter_mut().skip(HEAD + at).zip(said).for_each(|(byte, said)| *byte = said);
        }
    }

    fn is_idle(&self) -> bool {
        self.is_idle
    }

    fn progress(&mut self, bytes: (u64, u64)) {
        self.known.clear();
        (self.progress)(bytes);
    }

    /// The times of the samples that are left, where they were told, or all that can be told has to be. Without any they are 0,
    /// which says that nobody looked.
    fn finish(&mut self, head: &mut Head) {
        if !self.plan.build_ids.is_empty() {
            build_ids::add(head, &self.plan.build_ids);
        }
        if !self.is_idle && (self.plan.repair || head.features.has(bit::SAMPLE_TIME)) {
            let (first, last) = self.times_ns.unwrap_or_default();
            // Two numbers always fit.
            let _ = head.features.set(bit::SAMPLE_TIME, Feature::SampleTime(SampleTime { first, last }));
        }
    }
}

/// Whether a feature is there as a whole. One without bytes says nothing, unless it never has any: its section may lie behind the
/// end of a file that was cut.
fn is_sound_feature(features: &Features, bit: u32) -> bool {
    let bytes = features.bytes(bit).unwrap_or_default();
    if bytes.is_empty() {
        return is_flag(bit);
    }
    match features.feature(bit) {
        Some(Ok(_)) if bit == bit::TRACING_DATA => TracingData::parse(bytes).is_ok(),
        Some(decoded) => decoded.is_ok(),
        None => false,
    }
}
