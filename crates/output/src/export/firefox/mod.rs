//! Firefox Profiler: the processed format, gzipped.
//!
//! The samples are those of one event; samples of the others, context switches and tracepoints are markers. Addresses are
//! offsets in the file, or from where the binary starts where it has none.

mod categories;
mod counters;
mod cpu;
mod libraries;
mod markers;
mod meta;
mod off_cpu;
mod samples;
mod tables;
mod thread;

use crate::export::json::JsonWriter;
use crate::export::packed::Packed;
use crate::export::threads::ByThread;
use crate::export::{Export, Flag, Format, Needs, Writing};
use categories::Categories;
use libraries::Shared;
use readperf_profile::{Mark, MarkKind, RowSlice};
use readperf_session::ThreadId;
use std::collections::BTreeSet;
use std::io::{self, Write};
use tables::Tables;

/// The format.
pub const FORMAT: Format = Format {
    name: "firefox",
    extensions: &["firefox.json.gz", "json.gz", "firefox.json"],
    help: "Firefox Profiler (profiler.firefox.com): threads, stacks by time, markers; gzipped JSON, or plain if the file is called .json",
    binary: true,
    needs: Needs { threads: true, times: true, lines: true, marks: true, ..Needs::PLACES },
    one_event: false,
    pictures_time: true,
    no_place_for: &[Flag::Annotate, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// What the threads show, by thread.
struct Source<'s> {
    /// The event in the samples.
    event: Option<usize>,
    /// The time that all times of the profile count from.
    origin_ns: u64,
    /// The last time of a sample or of anything else.
    end_ns: u64,
    samples: ByThread<RowSlice<'s>>,
    others: Vec<ByThread<RowSlice<'s>>>,
    /// Those of `sched_switch`, if it was recorded.
    switches: Option<ByThread<RowSlice<'s>>>,
    marks: ByThread<&'s [Mark]>,
    /// What belongs to no thread goes to the first.
    lost: Vec<&'s Mark>,
}

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut packed = Packed::new(out, export.options.plain);
    let mut json = JsonWriter::new(&mut packed);
    json.object(|json| write_profile(export, json));
    json.finish()?;
    packed.finish()
}

fn write_profile(export: &Export<'_>, json: &mut JsonWriter<'_>) {
    let source = Source::of(export);
    let threads = source.threads();
    let selected = match export.options.with_cpu {
        // CPUs come behind the threads, and are what was asked for.
        true => Some(threads.len()).filter(|_| cpu::any(export, &source)),
        false => source.busiest(export, &threads),
    };
    let categories = Categories::of(export);
    json.key("meta").object(|json| meta::write(export, &source, &categories, selected, json));
    let mut shared = Shared::of(export);
    let (mut tables, mut points) = (Tables::new(*export), Vec::new());
    json.key("threads").array(|json| {
        for (nr, thread) in threads.iter().enumerate() {
            json.line();
            let lost: &[&Mark] = if nr == 0 { &source.lost } else { &[] };
            let mut writer = thread::Writer {
                export,
                source: &source,
                categories: &categories,
                tables: &mut tables,
                shared: &mut shared,
                points: &mut points,
            };
            writer.thread(*thread, lost, json);
        }
        if export.options.with_cpu {
            cpu::write(export, &source, &categories, &mut tables, &mut shared, json);
        }
    });
    json.line();
    json.key("counters").array(|json| counters::write(export, &source, &threads, json));
    shared.write(export, json);
    json.list("pages", None::<u32>);
}

impl<'s> Source<'s> {
    fn of(export: &Export<'s>) -> Self {
        let profile = export.profile;
        let event = export.event();
        let by_thread = |event: usize| ByThread::new(profile.rows_of(event), |row| row.thread);
        let others = (0..profile.events().len()).filter(|other| Some(*other) != event).map(by_thread);
        let marks = export.marks.as_slice();
        let first_mark = marks.iter().map(|mark| mark.time_ns).find(|time| *time > 0);
        let last_mark = marks.last().map(|mark| mark.time_ns);
        let times = profile.times_ns();
        let lost =
            marks.iter().filter(|mark| mark.thread.is_none() && matches!(mark.kind, MarkKind::Lost(_)));
        Source {
            event,
            origin_ns: times.map(|(first, _)| first).into_iter().chain(first_mark).min().unwrap_or(0),
            end_ns: times.map(|(_, last)| last).into_iter().chain(last_mark).max().unwrap_or(0),
            // Without any event there is no row either.
            samples: by_thread(event.unwrap_or(0)),
            others: others.collect(),
            switches: off_cpu::switch_samples(export),
            marks: ByThread::new(marks, |mark| mark.thread),
            lost: lost.collect(),
        }
    }

    /// Every thread that has something to show.
    fn threads(&self) -> Vec<ThreadId> {
        let others = self.others.iter().flat_map(ByThread::threads);
        let all: BTreeSet<ThreadId> =
            self.samples.threads().chain(others).chain(self.marks.threads()).collect();
        all.into_iter().collect()
    }

    /// The index of the thread with the greatest weight.
    fn busiest(&self, export: &Export<'_>, threads: &[ThreadId]) -> Option<usize> {
        let weight = |thread: ThreadId| {
            self.samples.of(thread).fold(0u64, |sum, row| sum.saturating_add(export.weight(&row)))
        };
        let weights = threads.iter().enumerate().map(|(nr, thread)| (weight(*thread), nr));
        weights.max_by_key(|(weight, nr)| (*weight, std::cmp::Reverse(*nr))).map(|(_, nr)| nr)
    }
}
