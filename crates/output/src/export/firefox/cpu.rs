//! CPUs as threads of a process of their own: what ran on each, whoever it was. Only on demand: all samples are in the file
//! once more then.

use super::Source;
use super::categories::Categories;
use super::libraries::Shared;
use super::markers::Markers;
use super::off_cpu::Point;
use super::samples;
use super::tables::Tables;
use crate::export::Export;
use crate::export::circumstances::Unit;
use crate::export::json::JsonWriter;
use crate::text::printable;
use readperf_profile::{RowSlice, SampleRow, ScheduleSpan, ThreadState};
use readperf_session::ThreadId;
use std::collections::BTreeMap;

/// What stands for a process id: that of no process.
const PID: &str = "CPUs";

/// Writes the CPUs that have a number in some sample.
pub(super) fn write<'x>(
    export: &Export<'x>,
    source: &Source<'x>,
    categories: &Categories,
    tables: &mut Tables<'x>,
    shared: &mut Shared,
    json: &mut JsonWriter<'_>,
) {
    let mut cpus: BTreeMap<u32, Vec<SampleRow>> = BTreeMap::new();
    for row in rows(export, source) {
        if let Some(cpu) = row.cpu {
            cpus.entry(cpu).or_default().push(row);
        }
    }
    for (cpu, rows) in cpus {
        tables.clear();
        let points = points(export, source, &rows, tables, shared);
        let mut markers = Markers::new(categories);
        markers.runs(runs(export, cpu), |thread| thread_name(export, thread), shared);
        json.line();
        json.object(|json| {
            write_identity(cpu, json);
            let ran = None::<fn(u64, u64) -> Option<u64>>;
            json.key("samples").object(|json| samples::write(export, source, &points, ran, json));
            json.key("markers").object(|json| markers.write(source.origin_ns, json));
            tables.write(json);
        });
    }
}

/// Whether there is one.
pub(super) fn any(export: &Export<'_>, source: &Source<'_>) -> bool {
    rows(export, source).iter().any(|row| row.cpu.is_some())
}

/// The samples, of whatever CPU.
fn rows<'x>(export: &Export<'x>, source: &Source<'_>) -> RowSlice<'x> {
    // Without any event there is no row either.
    export.profile.rows_of(source.event.unwrap_or(0))
}

/// The samples of a CPU. The outermost frame of each stack names the thread.
fn points<'x>(
    export: &Export<'x>,
    source: &Source<'x>,
    rows: &[SampleRow],
    tables: &mut Tables<'x>,
    shared: &mut Shared,
) -> Vec<Point> {
    let unit = source.event.map_or(Unit::Count, |event| export.unit(event));
    let mut by_thread: BTreeMap<Option<ThreadId>, Vec<SampleRow>> = BTreeMap::new();
    for row in rows {
        by_thread.entry(row.thread).or_default().push(*row);
    }
    let mut points = Vec::with_capacity(rows.len());
    for (thread, rows) in by_thread {
        let name = thread.map_or_else(|| "[unknown thread]".to_owned(), |thread| thread_name(export, thread));
        tables.begin_below(&name, shared);
        points.extend(rows.iter().map(|row| Point::of(export, unit, row, tables.stack(row, shared))));
    }
    points.sort_by_key(|point| point.time_ns);
    points
}

/// Name and number of a thread.
fn thread_name(export: &Export<'_>, thread: ThreadId) -> String {
    let label = export.thread_label(thread);
    format!("{} ({})", printable(&label.comm), label.tid)
}

/// When threads had a CPU, in order of time.
fn runs<'x>(export: &Export<'x>, cpu: u32) -> Vec<&'x ScheduleSpan> {
    let on_this = |span: &&ScheduleSpan| span.state == ThreadState::Running { cpu: Some(cpu) };
    let mut runs: Vec<&ScheduleSpan> = export.marks.schedule.spans().iter().filter(on_this).collect();
    runs.sort_by_key(|span| span.from_ns);
    runs
}

fn write_identity(cpu: u32, json: &mut JsonWriter<'_>) {
    json.field("processType", "default");
    json.field("processStartupTime", 0);
    json.field("processShutdownTime", None::<u32>);
    json.field("registerTime", 0);
    json.field("unregisterTime", None::<u32>);
    json.list("pausedRanges", None::<u32>);
    json.field("name", format!("CPU {cpu}"));
    json.field("isMainThread", false);
    json.field("processName", "CPUs");
    json.field("showMarkersInTimeline", true);
    json.field("pid", PID);
    // Numbers of threads are not below -1.
    json.field("tid", format!("CPU {cpu}"));
}
