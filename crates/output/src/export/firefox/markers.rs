//! Markers: what else happened to a thread. Times without a CPU, tracepoints with their texts, samples of other events.

use super::categories::{Categories, Category};
use super::libraries::Shared;
use super::meta;
use super::off_cpu::{TimeOff, reason};
use super::tables::Tables;
use crate::export::Export;
use crate::export::json::JsonWriter;
use crate::text::printable;
use readperf_profile::marks::MarkTextId;
use readperf_profile::{Mark, MarkKind, SampleRow, ScheduleSpan};
use readperf_session::{LostMoment, ThreadId};
use rustc_hash::FxHashMap;

/// When a marker was.
#[derive(Clone, Copy, Debug)]
enum Span {
    At(u64),
    FromTo(u64, u64),
    /// To the end of the recording.
    From(u64),
    /// From the beginning of the recording.
    To(u64),
}

impl Span {
    fn of(span: &ScheduleSpan) -> Span {
        match (span.from_ns, span.to_ns) {
            (Some(from), Some(to)) => Span::FromTo(from, to),
            (Some(from), None) => Span::From(from),
            (None, to) => Span::To(to.unwrap_or(u64::MAX)),
        }
    }

    /// Its number in the format.
    fn phase(self) -> u32 {
        match self {
            Span::At(_) => 0,
            Span::FromTo(..) => 1,
            Span::From(_) => 2,
            Span::To(_) => 3,
        }
    }

    fn start(self) -> Option<u64> {
        match self {
            Span::At(at) | Span::FromTo(at, _) | Span::From(at) => Some(at),
            Span::To(_) => None,
        }
    }

    fn end(self) -> Option<u64> {
        match self {
            Span::At(_) | Span::From(_) => None,
            Span::FromTo(_, end) | Span::To(end) => Some(end),
        }
    }
}

/// What a marker tells.
#[derive(Clone, Copy, Debug)]
enum Data {
    OffCpu { why: &'static str, stack: Option<u32>, time_ns: u64 },
    Running,
    Tracepoint { text: Option<u32>, stack: Option<u32> },
    Event { period: u64, stack: Option<u32> },
    Lost { count: u64 },
}

/// A marker.
#[derive(Clone, Copy, Debug)]
struct Marker {
    name: u32,
    span: Span,
    data: Data,
    category: u32,
}

/// The markers of the thread at hand.
#[derive(Debug)]
pub(super) struct Markers<'c> {
    categories: &'c Categories,
    list: Vec<Marker>,
}

impl<'c> Markers<'c> {
    /// None yet.
    pub(super) fn new(categories: &'c Categories) -> Self {
        Markers { categories, list: Vec::new() }
    }

    /// Adds what happened to a thread: `rows` are its samples of other events, `marks` what else there was.
    pub(super) fn samples_and_marks<'m>(
        &mut self,
        export: &Export<'_>,
        rows: impl Iterator<Item = SampleRow>,
        marks: impl Iterator<Item = &'m Mark>,
        tables: &mut Tables<'_>,
        shared: &mut Shared,
    ) {
        let mut stacks = FxHashMap::default();
        for row in rows {
            let stack = tables.stack(&row, shared);
            match export.is_tracepoint(row.event as usize) {
                // These come with their texts among the marks.
                true => _ = stacks.insert((row.event, row.time_ns), stack),
                false => {
                    let data = Data::Event { period: row.period, stack };
                    self.event(export, row.event, row.time_ns, data, shared);
                }
            }
        }
        for mark in marks {
            match mark.kind {
                // They are shown as times.
                MarkKind::SwitchIn | MarkKind::SwitchOut { .. } => {}
                MarkKind::Tracepoint { event, text } => {
                    let stack = stacks.remove(&(event, mark.time_ns)).flatten();
                    let text = text.and_then(|text| shared.text(export, text));
                    self.event(export, event, mark.time_ns, Data::Tracepoint { text, stack }, shared);
                }
                MarkKind::Lost(lost) => self.lost(lost, mark.time_ns, shared),
            }
        }
    }

    /// Adds the times of a thread off the CPU, with the stacks of the switches.
    pub(super) fn times_off(&mut self, times: &[TimeOff], tables: &mut Tables<'_>, shared: &mut Shared) {
        for time in times {
            let name = shared.strings.number("Off CPU");
            let stack = time.switch.and_then(|switch| tables.stack(&switch, shared));
            let time_ns = time.switch.map_or(0, |switch| switch.time_ns);
            let data = Data::OffCpu { why: reason(time.why), stack, time_ns };
            self.push(name, Span::of(&time.span), data, Category::OffCpu.index());
        }
    }

    /// Adds when threads had a CPU, by their names.
    pub(super) fn runs<'s>(
        &mut self,
        runs: impl IntoIterator<Item = &'s ScheduleSpan>,
        name: impl Fn(ThreadId) -> String,
        shared: &mut Shared,
    ) {
        for run in runs {
            let name = shared.strings.number(&name(run.thread));
            self.push(name, Span::of(run), Data::Running, Category::Other.index());
        }
    }

    fn push(&mut self, name: u32, span: Span, data: Data, category: u32) {
        self.list.push(Marker { name, span, data, category });
    }

    fn event(&mut self, export: &Export<'_>, event: u32, time_ns: u64, data: Data, shared: &mut Shared) {
        let name = shared.strings.number(&printable(export.event_name(event as usize)));
        self.push(name, Span::At(time_ns), data, self.categories.of_event(event));
    }

    fn lost(&mut self, lost: LostMoment, time_ns: u64, shared: &mut Shared) {
        let (name, count) = match lost {
            LostMoment::Records(count) => ("Lost records", count),
            LostMoment::Samples(count) => ("Lost samples", count),
        };
        let name = shared.strings.number(name);
        self.push(name, Span::At(time_ns), Data::Lost { count }, Category::Lost.index());
    }

    /// Writes the table.
    pub(super) fn write(mut self, origin_ns: u64, json: &mut JsonWriter<'_>) {
        let time = |json: &mut JsonWriter<'_>, time_ns: Option<u64>| match time_ns {
            Some(time_ns) => json.milliseconds(time_ns.saturating_sub(origin_ns)),
            None => json.value(None::<u32>),
        };
        self.list.sort_by_key(|marker| marker.span.start());
        json.key("data").array(|json| {
            self.list.iter().for_each(|marker| marker.data.write(origin_ns, json));
        });
        json.list("name", self.list.iter().map(|marker| marker.name));
        json.key("startTime").array(|json| {
            self.list.iter().for_each(|marker| time(json, marker.span.start()));
        });
        json.key("endTime").array(|json| self.list.iter().for_each(|marker| time(json, marker.span.end())));
        json.list("phase", self.list.iter().map(|marker| marker.span.phase()));
        json.list("category", self.list.iter().map(|marker| marker.category));
        json.field("length", self.list.len());
    }
}

impl Data {
    fn write(self, origin_ns: u64, json: &mut JsonWriter<'_>) {
        let cause = |json: &mut JsonWriter<'_>, stack: Option<u32>| {
            if let Some(stack) = stack {
                json.key("cause").object(|json| json.field("stack", stack));
            }
        };
        json.object(|json| match self {
            Data::OffCpu { why, stack, time_ns } => {
                json.field("type", meta::OFF_CPU.name);
                json.field("why", why);
                if let Some(stack) = stack {
                    json.key("cause").object(|json| {
                        json.key("time").milliseconds(time_ns.saturating_sub(origin_ns));
                        json.field("stack", stack);
                    });
                }
            }
            Data::Running => json.field("type", meta::RUNNING.name),
            Data::Tracepoint { text, stack } => {
                json.field("type", meta::TRACEPOINT.name);
                if let Some(text) = text {
                    json.field("text", text);
                }
                cause(json, stack);
            }
            Data::Event { period, stack } => {
                json.field("type", meta::EVENT.name);
                json.field("period", period);
                cause(json, stack);
            }
            Data::Lost { count } => {
                json.field("type", meta::LOST.name);
                json.field("count", count);
            }
        });
    }
}

impl Shared {
    /// The number of a mark's text.
    fn text(&mut self, export: &Export<'_>, text: MarkTextId) -> Option<u32> {
        Some(self.strings.number(&printable(export.marks.text(text)?)))
    }
}
