//! A thread: who it is, its samples, its markers, its tables.

use super::Source;
use super::categories::Categories;
use super::libraries::Shared;
use super::markers::Markers;
use super::off_cpu::{self, Point, RunningTime};
use super::samples;
use super::tables::Tables;
use crate::export::Export;
use crate::export::circumstances::Unit;
use crate::export::json::JsonWriter;
use crate::text::{printable, printable_bytes};
use readperf_profile::Mark;
use readperf_session::ThreadId;

/// Writes threads.
pub(super) struct Writer<'w, 'x> {
    pub(super) export: &'w Export<'x>,
    pub(super) source: &'w Source<'x>,
    pub(super) categories: &'w Categories,
    pub(super) tables: &'w mut Tables<'x>,
    pub(super) shared: &'w mut Shared,
    /// Memory for the samples of the thread at hand.
    pub(super) points: &'w mut Vec<Point>,
}

impl Writer<'_, '_> {
    /// Writes a thread; `lost` is what belongs to no thread and is shown in this one.
    pub(super) fn thread(&mut self, thread: ThreadId, lost: &[&Mark], json: &mut JsonWriter<'_>) {
        let Writer { export, source, categories, tables, shared, points } = self;
        tables.clear();
        let unit = source.event.map_or(Unit::Count, |event| export.unit(event));
        let rows = source.samples.of(thread);
        points.clear();
        points.extend(rows.map(|row| Point::of(export, unit, &row, tables.stack(&row, shared))));
        let times_off = off_cpu::times(export, source, thread);
        points.extend(off_cpu::points(export, source, &times_off, tables, shared));
        points.sort_by_key(|point| point.time_ns);
        let others = source.others.iter().flat_map(|other| other.of(thread));
        let marks = source.marks.of(thread).chain(lost.iter().copied());
        let mut markers = Markers::new(categories);
        markers.samples_and_marks(export, others, marks, tables, shared);
        markers.times_off(&times_off, tables, shared);
        let mut running = RunningTime::of(export, thread);
        let ran = export.marks.schedule.source.is_complete().then_some(|from, to| running.between(from, to));
        json.object(|json| {
            write_identity(export, source, thread, json);
            json.key("samples").object(|json| samples::write(export, source, points, ran, json));
            json.key("markers").object(|json| markers.write(source.origin_ns, json));
            tables.write(json);
        });
    }
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
