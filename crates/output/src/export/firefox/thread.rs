//! A thread: who it is, its samples, its markers, its tables; and the counters of a process.

use super::Source;
use super::libraries::Shared;
use super::markers::Markers;
use super::tables::Tables;
use crate::export::circumstances::Unit;
use crate::export::json::JsonWriter;
use crate::export::{Export, Weight};
use crate::text::{printable, printable_bytes};
use readperf_profile::SampleRow;
use readperf_session::{ProcessId, ThreadId};

/// Writes a thread. What belongs to no thread is shown in the first.
pub(super) fn write(
    export: &Export<'_>,
    source: &Source<'_>,
    thread: ThreadId,
    first: bool,
    tables: &mut Tables<'_>,
    shared: &mut Shared,
    json: &mut JsonWriter<'_>,
) {
    tables.clear();
    let rows: Vec<&SampleRow> = source.samples.of(thread).collect();
    let stacks: Vec<Option<u32>> = rows.iter().map(|row| tables.stack(row, shared)).collect();
    let lost = source.lost.iter().copied().filter(|_| first);
    let others = source.others.iter().flat_map(|other| other.of(thread));
    let marks = source.marks.of(thread).chain(lost);
    let markers = Markers::gather(export, others, marks, tables, shared);
    json.object(|json| {
        write_identity(export, source, thread, json);
        json.key("samples").object(|json| write_samples(export, source, &rows, &stacks, json));
        json.key("markers").object(|json| markers.write(source.origin_ns, json));
        tables.write(json);
    });
}

fn write_identity(export: &Export<'_>, source: &Source<'_>, thread: ThreadId, json: &mut JsonWriter<'_>) {
    let label = export.thread_label(thread);
    let known = export.session.thread(thread);
    let process_id = known.map(|known| known.process);
    let process = process_id.and_then(|process| export.session.process(process));
    let time = |json: &mut JsonWriter<'_>, key: &str, time_ns: Option<u64>| match time_ns {
        Some(time_ns) => json.key(key).milliseconds(time_ns.saturating_sub(source.origin_ns)),
        None => json.field(key, None::<u32>),
    };
    json.field("processType", "default");
    time(json, "processStartupTime", process.and_then(|process| process.fork_time_ns).or(Some(0)));
    time(json, "processShutdownTime", process.and_then(|process| process.exit_time_ns));
    time(json, "registerTime", known.and_then(|thread| thread.fork_time_ns).or(Some(0)));
    time(json, "unregisterTime", known.and_then(|thread| thread.exit_time_ns));
    json.list("pausedRanges", None::<u32>);
    json.field("name", printable(&label.comm));
    json.field("isMainThread", label.pid == label.tid);
    let process_name = process_id.map(|process| export.session.process_name(process)).unwrap_or_default();
    json.field("processName", printable_bytes(process_name));
    json.field("showMarkersInTimeline", true);
    json.field("pid", label.pid.to_string());
    json.field("tid", label.tid);
}

fn write_samples(
    export: &Export<'_>,
    source: &Source<'_>,
    rows: &[&SampleRow],
    stacks: &[Option<u32>],
    json: &mut JsonWriter<'_>,
) {
    let unit = source.event.map_or(Unit::Count, |event| export.unit(event));
    json.list("stack", stacks);
    json.key("timeDeltas").array(|json| write_deltas(source, rows, json));
    match (export.options.weight, unit) {
        (Weight::Period, Unit::Nanoseconds) => {
            json.key("weight").array(|json| rows.iter().for_each(|row| json.milliseconds(row.period)));
            json.field("weightType", "tracing-ms");
        }
        (Weight::Period, Unit::Count) => {
            json.list("weight", rows.iter().map(|row| row.period));
            json.field("weightType", "samples");
        }
        (Weight::Samples, _) => {
            json.field("weight", None::<u32>);
            json.field("weightType", "samples");
        }
    }
    // How long the thread ran since the sample before: what a clock counts.
    if unit == Unit::Nanoseconds {
        json.list("threadCPUDelta", rows.iter().map(|row| row.period));
    }
    json.field("length", rows.len());
}

/// How long after the one before each sample was taken; the first counts from the beginning.
fn write_deltas(source: &Source<'_>, rows: &[&SampleRow], json: &mut JsonWriter<'_>) {
    let mut before = source.origin_ns;
    for row in rows {
        json.milliseconds(row.time_ns.saturating_sub(before));
        before = before.max(row.time_ns);
    }
}

/// Writes the counter of an event in a process: by how much it went up with each sample.
pub(super) fn write_counter(
    export: &Export<'_>,
    source: &Source<'_>,
    event: usize,
    process: ProcessId,
    main_thread_index: usize,
    rows: &[&SampleRow],
    json: &mut JsonWriter<'_>,
) {
    let pid = export.session.process(process).map_or(0, |process| process.pid.cast_signed());
    json.field("name", printable(export.event_name(event)));
    json.field("category", "Event");
    json.field("description", format!("{} of the process", printable(export.event_name(event))));
    json.field("pid", pid.to_string());
    json.field("mainThreadIndex", main_thread_index);
    json.key("samples").object(|json| {
        json.key("timeDeltas").array(|json| write_deltas(source, rows, json));
        json.list("count", rows.iter().map(|row| export.weight(row)));
        json.field("length", rows.len());
    });
}
