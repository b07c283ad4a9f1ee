//! What is known of a recording as a whole, for formats that have a place for it.

use crate::export::Export;
use perffile::wire::attr::{AttrFlags, EventAttr, SampleType};
use perffile::wire::clock::ClockId;
use perffile::wire::event_type::SoftwareEvent;
use std::borrow::Cow;

/// They count ns.
const CLOCKS: [SoftwareEvent; 2] = [SoftwareEvent::CPU_CLOCK, SoftwareEvent::TASK_CLOCK];

/// In what the periods of an event are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The event counts ns.
    Nanoseconds,
    /// The event counts how often something happened.
    Count,
}

impl Unit {
    /// Its name in the formats of others.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "nanoseconds",
            Unit::Count => "count",
        }
    }

    fn of(attr: &EventAttr) -> Unit {
        match attr.software().is_some_and(|event| CLOCKS.contains(&event)) && tells_period(attr) {
            true => Unit::Nanoseconds,
            false => Unit::Count,
        }
    }
}

/// Whether a sample or its event tells the period. Where neither does, every sample stands for 1 of whatever it is.
pub(super) fn tells_period(attr: &EventAttr) -> bool {
    attr.sample_type.has(SampleType::PERIOD) || !attr.flags.has(AttrFlags::freq)
}

impl<'x> Export<'x> {
    /// In what the periods of an event are counted.
    pub fn unit(&self, event: usize) -> Unit {
        self.metadata.schema.event(event).map_or(Unit::Count, |event| Unit::of(&event.attr))
    }

    /// The name of an event.
    pub fn event_name(&self, event: usize) -> &'x str {
        self.profile.events().get(event).map_or("", |event| &event.name)
    }

    /// Whether an event is a tracepoint.
    pub fn is_tracepoint(&self, event: usize) -> bool {
        self.metadata.schema.event(event).is_some_and(|event| event.attr.tracepoint().is_some())
    }

    /// The events that have samples, by index; all if none has.
    pub fn shown_events(&self) -> Vec<usize> {
        let events = self.profile.events();
        let all = 0..events.len();
        let counted = |nr: &usize| events.get(*nr).is_some_and(|event| event.samples > 0);
        match events.iter().any(|event| event.samples > 0) {
            true => all.filter(counted).collect(),
            false => all.collect(),
        }
    }

    /// The time of day at a time of the recording, in ns since 1970, if the recording tells how its clock stands to that.
    pub fn time_of_day(&self, time_ns: u64) -> Option<u64> {
        self.metadata.features.clock_data()?.wall_clock_of(time_ns)
    }

    /// Whether the recording's clock is `CLOCK_MONOTONIC`, as it tells.
    pub fn clock_is_monotonic(&self) -> bool {
        self.metadata.features.clock_data().is_some_and(|clock| clock.clockid == ClockId::MONOTONIC)
    }

    /// The command that made the recording, as one line: the path of the recorder, then what it was told.
    pub fn command_line(&self) -> Option<String> {
        let words = self.metadata.features.cmdline()?;
        Some(words.iter().map(|word| &**word).collect::<Vec<_>>().join(" "))
    }

    /// What to tell people of the machine and the recording, as names and texts. What was lost is among it.
    pub fn facts(&self) -> Vec<(&'static str, Cow<'x, str>)> {
        let features = &self.metadata.features;
        let mut facts = Vec::new();
        let mut told = |name, fact: Option<Cow<'x, str>>| facts.extend(fact.map(|fact| (name, fact)));
        told("title", self.options.title.as_deref().map(Cow::Borrowed));
        told("host", features.hostname());
        told("kernel", features.osrelease());
        told("architecture", features.arch());
        told("processor", features.cpudesc());
        told("perf", features.version());
        told("command", self.command_line().map(Cow::Owned));
        told("running times", self.schedule_note().map(Cow::Owned));
        let summary = self.session.summary();
        let counts = [
            ("lost records", summary.lost_records),
            ("lost samples", summary.lost_samples),
            ("samples of an unknown event", summary.unknown_event),
            ("damaged samples", summary.undecodable_samples),
        ];
        for (name, count) in counts {
            told(name, (count > 0).then(|| Cow::Owned(count.to_string())));
        }
        facts
    }
}
