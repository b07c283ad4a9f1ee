//! Markers: what else happened to a thread. Times without a CPU, tracepoints with their texts, samples of other events.

use super::libraries::Shared;
use super::meta::{self, Category};
use super::tables::Tables;
use crate::export::Export;
use crate::export::json::JsonWriter;
use crate::text::printable;
use readperf_profile::marks::TextId;
use readperf_profile::{Mark, MarkKind, SampleRow};
use readperf_session::LostMoment;
use rustc_hash::FxHashMap;

/// `PERF_TYPE_TRACEPOINT` (linux/perf_event.h).
const TRACEPOINT: u32 = 2;

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
    OffCpu { why: &'static str },
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
}

/// The markers of the thread at hand.
#[derive(Debug, Default)]
pub(super) struct Markers {
    list: Vec<Marker>,
}

impl Markers {
    /// Gathers the markers of a thread: `rows` are its samples of other events, `marks` what else happened.
    pub(super) fn gather<'m>(
        export: &Export<'_>,
        rows: impl Iterator<Item = &'m SampleRow>,
        marks: impl Iterator<Item = &'m Mark>,
        tables: &mut Tables<'_>,
        shared: &mut Shared,
    ) -> Markers {
        let mut markers = Markers::default();
        let mut stacks = FxHashMap::default();
        for row in rows {
            let stack = tables.stack(row, shared);
            match is_tracepoint(export, row.event) {
                // These come with their texts among the marks.
                true => _ = stacks.insert((row.event, row.time_ns), stack),
                false => {
                    let data = Data::Event { period: row.period, stack };
                    markers.push(export, row.event, row.time_ns, data, shared);
                }
            }
        }
        let mut out = None;
        let mut any_switch = false;
        for mark in marks {
            match mark.kind {
                MarkKind::SwitchOut { preempted } => out = Some((mark.time_ns, why(preempted))),
                MarkKind::SwitchIn => {
                    let span = match out.take() {
                        Some((since, why)) => Some((Span::FromTo(since, mark.time_ns), why)),
                        None => (!any_switch).then_some((Span::To(mark.time_ns), "not known")),
                    };
                    markers.off_cpu(span, shared);
                }
                MarkKind::Tracepoint { event, text } => {
                    let stack = stacks.remove(&(event, mark.time_ns)).flatten();
                    let text = text.and_then(|text| shared.text(export, text));
                    markers.push(export, event, mark.time_ns, Data::Tracepoint { text, stack }, shared);
                }
                MarkKind::Lost(lost) => markers.lost(lost, mark.time_ns, shared),
            }
            any_switch |= matches!(mark.kind, MarkKind::SwitchIn | MarkKind::SwitchOut { .. });
        }
        markers.off_cpu(out.map(|(since, why)| (Span::From(since), why)), shared);
        markers.list.sort_by_key(|marker| marker.span.start());
        markers
    }

    fn push(&mut self, export: &Export<'_>, event: u32, time_ns: u64, data: Data, shared: &mut Shared) {
        let name = shared.strings.number(&printable(export.event_name(event as usize)));
        self.list.push(Marker { name, span: Span::At(time_ns), data });
    }

    fn off_cpu(&mut self, span: Option<(Span, &'static str)>, shared: &mut Shared) {
        if let Some((span, why)) = span {
            let name = shared.strings.number("Off CPU");
            self.list.push(Marker { name, span, data: Data::OffCpu { why } });
        }
    }

    fn lost(&mut self, lost: LostMoment, time_ns: u64, shared: &mut Shared) {
        let (name, count) = match lost {
            LostMoment::Records(count) => ("Lost records", count),
            LostMoment::Samples(count) => ("Lost samples", count),
        };
        let name = shared.strings.number(name);
        self.list.push(Marker { name, span: Span::At(time_ns), data: Data::Lost { count } });
    }

    /// Writes the table.
    pub(super) fn write(&self, origin_ns: u64, json: &mut JsonWriter<'_>) {
        let time = |json: &mut JsonWriter<'_>, time_ns: Option<u64>| match time_ns {
            Some(time_ns) => json.milliseconds(time_ns.saturating_sub(origin_ns)),
            None => json.value(None::<u32>),
        };
        json.key("data").array(|json| self.list.iter().for_each(|marker| marker.data.write(json)));
        json.list("name", self.list.iter().map(|marker| marker.name));
        json.key("startTime").array(|json| {
            self.list.iter().for_each(|marker| time(json, marker.span.start()));
        });
        json.key("endTime").array(|json| self.list.iter().for_each(|marker| time(json, marker.span.end())));
        json.list("phase", self.list.iter().map(|marker| marker.span.phase()));
        json.list("category", self.list.iter().map(|_| Category::Other.index()));
        json.field("length", self.list.len());
    }
}

impl Data {
    fn write(self, json: &mut JsonWriter<'_>) {
        let cause = |json: &mut JsonWriter<'_>, stack: Option<u32>| {
            if let Some(stack) = stack {
                json.key("cause").object(|json| json.field("stack", stack));
            }
        };
        json.object(|json| match self {
            Data::OffCpu { why } => {
                json.field("type", meta::OFF_CPU.name);
                json.field("why", why);
            }
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

/// Whether an event is a tracepoint.
fn is_tracepoint(export: &Export<'_>, event: u32) -> bool {
    export.metadata.schema.event(event as usize).is_some_and(|event| event.attr.kind == TRACEPOINT)
}

fn why(preempted: bool) -> &'static str {
    if preempted { "preempted" } else { "waiting" }
}

impl Shared {
    /// The number of a mark's text.
    fn text(&mut self, export: &Export<'_>, text: TextId) -> Option<u32> {
        Some(self.strings.number(&printable(export.marks.text(text)?)))
    }
}
