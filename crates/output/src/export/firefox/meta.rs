//! What a profile says of itself: the recording, the categories of code, the kinds of markers.

use super::Source;
use super::categories::Categories;
use crate::export::Export;
use crate::export::circumstances::Unit;
use crate::export::json::JsonWriter;
use crate::text::printable;
use perffile::wire::attr::AttrFlags;

/// The version of the processed format that is written. Upstream upgrades it to whatever is current.
pub(super) const PROCESSED_VERSION: u32 = 57;

/// A kind of marker, and the fields of its data: key, what people read, form.
pub(super) struct MarkerKind {
    pub(super) name: &'static str,
    /// What is shown in the chart and in the table.
    label: &'static str,
    fields: &'static [(&'static str, &'static str, &'static str)],
}

/// A thread had no CPU.
pub(super) const OFF_CPU: MarkerKind =
    MarkerKind { name: "OffCpu", label: "{marker.data.why}", fields: &[("why", "Why", "string")] };
/// A thread had a CPU: in the track of that.
pub(super) const RUNNING: MarkerKind = MarkerKind { name: "Running", label: "{marker.name}", fields: &[] };
/// A tracepoint was passed.
pub(super) const TRACEPOINT: MarkerKind = MarkerKind {
    name: "Tracepoint",
    label: "{marker.data.text}",
    fields: &[("text", "Text", "unique-string")],
};
/// A sample of an event that is not the one in the samples.
pub(super) const EVENT: MarkerKind =
    MarkerKind { name: "Event", label: "{marker.data.period}", fields: &[("period", "Period", "integer")] };
/// Something was lost.
pub(super) const LOST: MarkerKind =
    MarkerKind { name: "Lost", label: "{marker.data.count}", fields: &[("count", "How many", "integer")] };

const MARKERS: [MarkerKind; 5] = [OFF_CPU, RUNNING, TRACEPOINT, EVENT, LOST];

/// Writes the fields of `meta`; `selected` is the thread that is shown first.
pub(super) fn write(
    export: &Export<'_>,
    source: &Source<'_>,
    categories: &Categories,
    selected: Option<usize>,
    json: &mut JsonWriter<'_>,
) {
    let event = source.event;
    let features = &export.metadata.features;
    json.field("preprocessedProfileVersion", PROCESSED_VERSION);
    // Of the format of the browser, which this is not.
    json.field("version", 27);
    json.field("processType", 0);
    json.field("product", printable(&export.title()));
    json.field("importedFrom", "Linux perf");
    // Where it is 0 no date is shown.
    json.key("startTime").milliseconds(export.time_of_day(source.origin_ns).unwrap_or(0));
    json.field("profilingStartTime", 0);
    // What is at the end itself is not shown, and the last sample has its time, too.
    let interval_ns = interval_ns(export, event);
    json.key("profilingEndTime")
        .milliseconds(source.end_ns.saturating_sub(source.origin_ns).saturating_add(interval_ns));
    if export.clock_is_monotonic() {
        json.field("startTimeAsClockMonotonicNanosecondsSinceBoot", source.origin_ns);
    }
    json.key("interval").milliseconds(interval_ns);
    json.field("stackwalk", 1);
    json.field("symbolicated", true);
    json.field("symbolicationNotSupported", true);
    json.field("sourceCodeIsNotOnSearchfox", true);
    json.field("usesOnlyOneStackType", true);
    if let Some(command) = export.command_line() {
        json.field("arguments", printable(&command));
    }
    let system = [Some("Linux".into()), features.osrelease(), features.arch()];
    json.field("oscpu", printable(&system.into_iter().flatten().collect::<Vec<_>>().join(" ")));
    json.field("platform", "Linux");
    if let Some(cpu) = features.cpudesc() {
        json.field("CPUName", printable(&cpu));
    }
    if let Some(cpus) = features.nrcpus() {
        json.field("logicalCPUs", cpus.online);
    }
    if let Some(memory) = features.total_mem_kib() {
        json.field("mainMemory", memory.saturating_mul(1024));
    }
    json.key("sampleUnits").object(|json| {
        json.field("time", "ms");
        json.field("eventDelay", "ms");
        json.field("threadCPUDelta", "ns");
    });
    json.list("initialSelectedThreads", selected);
    json.key("categories").array(|json| categories.write(json));
    json.key("markerSchema").array(|json| MARKERS.iter().for_each(|kind| schema(kind, json)));
    json.key("extra").array(|json| facts(export, event, json));
}

fn schema(kind: &MarkerKind, json: &mut JsonWriter<'_>) {
    json.object(|json| {
        json.field("name", kind.name);
        json.field("tooltipLabel", "{marker.name}");
        json.field("tableLabel", kind.label);
        json.field("chartLabel", kind.label);
        json.list("display", ["marker-chart", "marker-table"]);
        json.key("fields").array(|json| {
            for (key, label, format) in kind.fields {
                json.object(|json| {
                    json.field("key", key);
                    json.field("label", label);
                    json.field("format", format);
                });
            }
        });
    });
}

/// What people read below "more info".
fn facts(export: &Export<'_>, event: Option<usize>, json: &mut JsonWriter<'_>) {
    let mut entries: Vec<(&str, String)> = Vec::new();
    if let Some(event) = event {
        entries.push(("event", export.event_name(event).to_owned()));
    }
    entries.extend(export.facts().into_iter().map(|(name, fact)| (name, fact.into_owned())));
    if export.marks.without_text > 0 {
        entries.push(("tracepoints without text", export.marks.without_text.to_string()));
    }
    json.object(|json| {
        json.field("label", "Recording");
        json.key("entries").array(|json| {
            for (label, value) in &entries {
                json.object(|json| {
                    json.field("label", label);
                    json.field("format", "string");
                    json.field("value", printable(value));
                });
            }
        });
    });
}

/// How far samples are apart, in ns, as far as that was fixed; else a ms.
pub(super) fn interval_ns(export: &Export<'_>, event: Option<usize>) -> u64 {
    let attr = event.and_then(|event| export.metadata.schema.event(event)).map(|event| &event.attr);
    let interval = match (attr, event.map(|event| export.unit(event))) {
        (Some(attr), _) if attr.flags.has(AttrFlags::freq) => {
            1_000_000_000u64.checked_div(attr.sample_period)
        }
        (Some(attr), Some(Unit::Nanoseconds)) => Some(attr.sample_period),
        _ => None,
    };
    interval.filter(|interval| *interval > 0).unwrap_or(1_000_000)
}

/// Whether samples of an event were taken by time: a clock's, or with a frequency.
pub(super) fn is_by_time(export: &Export<'_>, event: Option<usize>) -> bool {
    let attr = event.and_then(|event| export.metadata.schema.event(event)).map(|event| &event.attr);
    let is_clock = event.is_some_and(|event| export.unit(event) == Unit::Nanoseconds);
    is_clock || attr.is_some_and(|attr| attr.flags.has(AttrFlags::freq))
}
