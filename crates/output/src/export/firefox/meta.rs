//! What a profile says of itself: the recording, the categories of code, the kinds of markers.

use crate::export::Export;
use crate::export::circumstances::Unit;
use crate::export::frames::CodeKind;
use crate::export::json::JsonWriter;
use crate::text::printable;
use perffile::wire::attr::AttrFlags;

/// The version of the processed format that is written. Upstream upgrades it to whatever is current.
pub(super) const PROCESSED_VERSION: u32 = 57;

/// What kind of code a frame is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Other,
    User,
    Kernel,
    Generated,
}

impl Category {
    /// All, in the order of their indices. One has to be grey: it stands for what has no category.
    const ALL: [(Category, &'static str, &'static str); 4] = [
        (Category::Other, "Other", "grey"),
        (Category::User, "User", "yellow"),
        (Category::Kernel, "Kernel", "orange"),
        (Category::Generated, "Generated code", "green"),
    ];

    pub(super) fn of(kind: CodeKind) -> Category {
        match kind {
            CodeKind::User => Category::User,
            CodeKind::Kernel => Category::Kernel,
            CodeKind::Jit => Category::Generated,
            CodeKind::Unknown => Category::Other,
        }
    }

    /// Its index in the profile's list.
    pub(super) fn index(self) -> u32 {
        match self {
            Category::Other => 0,
            Category::User => 1,
            Category::Kernel => 2,
            Category::Generated => 3,
        }
    }
}

/// A kind of marker, and the fields of its data: key, what people read, form.
pub(super) struct MarkerKind {
    pub(super) name: &'static str,
    /// What is shown in the chart and in the table.
    label: &'static str,
    fields: &'static [(&'static str, &'static str, &'static str)],
    /// The field that is shown as bars in a track of its own, if any. Counters that are not of the browser have no track.
    bars: Option<&'static str>,
}

/// A thread had no CPU.
pub(super) const OFF_CPU: MarkerKind = MarkerKind {
    name: "OffCpu",
    label: "{marker.data.why}",
    fields: &[("why", "Why", "string")],
    bars: None,
};
/// A tracepoint was passed.
pub(super) const TRACEPOINT: MarkerKind = MarkerKind {
    name: "Tracepoint",
    label: "{marker.data.text}",
    fields: &[("text", "Text", "unique-string")],
    bars: None,
};
/// A sample of an event that is not the one in the samples.
pub(super) const EVENT: MarkerKind = MarkerKind {
    name: "Event",
    label: "{marker.data.period}",
    fields: &[("period", "Period", "integer")],
    bars: Some("period"),
};
/// Something was lost.
pub(super) const LOST: MarkerKind = MarkerKind {
    name: "Lost",
    label: "{marker.data.count}",
    fields: &[("count", "How many", "integer")],
    bars: None,
};

const MARKERS: [MarkerKind; 4] = [OFF_CPU, TRACEPOINT, EVENT, LOST];

/// Writes the fields of `meta`. `origin_ns` is the time that all times of the profile count from, and `selected` the thread
/// that is shown first.
pub(super) fn write(
    export: &Export<'_>,
    event: Option<usize>,
    origin_ns: u64,
    selected: Option<usize>,
    json: &mut JsonWriter<'_>,
) {
    let features = &export.metadata.features;
    json.field("preprocessedProfileVersion", PROCESSED_VERSION);
    // Of the format of the browser, which this is not.
    json.field("version", 27);
    json.field("processType", 0);
    json.field("product", printable(&product(export)));
    json.field("importedFrom", "Linux perf");
    json.key("startTime").milliseconds(export.time_of_day(origin_ns).unwrap_or(0));
    json.field("interval", interval_ms(export, event));
    json.field("stackwalk", 1);
    json.field("debug", false);
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
    json.key("categories")
        .array(|json| Category::ALL.iter().for_each(|(_, name, color)| category(name, color, json)));
    json.key("markerSchema").array(|json| MARKERS.iter().for_each(|kind| schema(kind, json)));
    json.key("extra").array(|json| facts(export, event, json));
}

fn category(name: &str, color: &str, json: &mut JsonWriter<'_>) {
    json.object(|json| {
        json.field("name", name);
        json.field("color", color);
        json.list("subcategories", ["Other"]);
    });
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
        if let Some(key) = kind.bars {
            json.key("graphs").array(|json| {
                json.object(|json| {
                    json.field("key", key);
                    json.field("type", "bar");
                });
            });
        }
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

/// What was recorded: its title, else the command.
fn product(export: &Export<'_>) -> String {
    let title = export.options.title.clone();
    title.or_else(|| export.command_line()).unwrap_or_else(|| "perf.data".into())
}

/// How far samples are apart, as far as that was fixed.
fn interval_ms(export: &Export<'_>, event: Option<usize>) -> f64 {
    let attr = event.and_then(|event| export.metadata.schema.event(event)).map(|event| &event.attr);
    // Neither a frequency nor a period of that size loses anything that matters in a f64.
    let float = |number: u64| u32::try_from(number).map_or(f64::from(u32::MAX), f64::from);
    match (attr, event.map(|event| export.unit(event))) {
        (Some(attr), _) if attr.flags.has(AttrFlags::freq) && attr.sample_period > 0 => {
            1000.0 / float(attr.sample_period)
        }
        (Some(attr), Some(Unit::Nanoseconds)) if attr.sample_period > 0 => float(attr.sample_period) / 1e6,
        _ => 1.0,
    }
}
