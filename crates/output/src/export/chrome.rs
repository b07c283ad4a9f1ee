//! Chrome's trace events as JSON, for chrome://tracing, ui.perfetto.dev and what else reads them.
//!
//! Every sample is an event (`P`) with its stack and weight; a stack is the number of a frame, which tells its caller. What is the
//! same for all events of a kind, as a category, is not written.
//!
//! Events that count time also become slices: the time that a sample
//! stands for ends where it was taken, and begins as long before as its period says, but not before the sample ahead of it.
//! The other events are counters (`C`), which go up with every sample. When threads had a CPU is told by asynchronous slices (`b`,
//! `e`): the others of a thread need not end with them.

use crate::export::circumstances::Unit;
use crate::export::json::JsonWriter;
use crate::export::threads::{ByThread, ThreadLabel};
use crate::export::{Export, Flag, Format, Needs, Writing};
use crate::text::{printable, printable_bytes, shown};
use readperf_profile::{AddressId, Apart, FrameId, FrameTable, Mark, MarkKind, SampleRow, StackId};
use readperf_session::{LostMoment, ThreadId};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "chrome",
    extensions: &["trace.json", "chrome.json"],
    help: "Chrome's trace events: slices, samples with stacks, counters",
    binary: false,
    needs: Needs { threads: true, cpus: true, times: true, lines: true, marks: true, ..Needs::PLACES },
    one_event: false,
    pictures_time: true,
    no_place_for: &[Flag::Annotate, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer { export, frames: StackFrames::new(export) };
    let mut json = JsonWriter::new(out);
    json.object(|json| {
        json.field("displayTimeUnit", "ns");
        json.key("traceEvents").array(|json| writer.events(json));
        json.line();
        json.key("stackFrames").object(|json| writer.frames.write(json));
        json.line();
        json.key("otherData").object(|json| {
            for (name, fact) in export.facts() {
                json.field(name, printable(&fact));
            }
        });
    });
    json.finish()
}

/// Numbers of the frames that samples refer to. A frame tells its caller, so that its number stands for a stack.
#[derive(Debug)]
struct StackFrames<'x> {
    table: FrameTable,
    /// What frames and their binaries are called, by frame.
    names: Vec<(Cow<'x, str>, Cow<'x, str>)>,
    list: Vec<StackFrame>,
    numbers: FxHashMap<StackFrame, u32>,
    known: FxHashMap<(StackId, Option<AddressId>), u32>,
}

/// A frame, and the number of its caller, [`OUTERMOST`] if it has none. There are as many as stacks branch: they are small.
type StackFrame = (FrameId, u32);

/// Of a frame without a caller.
const OUTERMOST: u32 = u32::MAX;

impl<'x> StackFrames<'x> {
    fn new(export: &Export<'x>) -> StackFrames<'x> {
        let table = export.frame_table(Apart::default());
        let names = table.frames().iter();
        let names = names.map(|frame| (export.label(frame), export.binary_name(frame.first.address)));
        StackFrames {
            names: names.collect(),
            table,
            list: Vec::new(),
            numbers: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    /// The frames of a row's stack, the outermost first.
    fn stack(&self, export: &Export<'_>, row: &SampleRow) -> Vec<FrameId> {
        let innermost_first = export.places(row).flat_map(|place| self.table.at(place));
        let mut stack: Vec<FrameId> = innermost_first.copied().collect();
        stack.reverse();
        stack
    }

    /// What a frame is called.
    fn name(&self, frame: FrameId) -> &str {
        self.names.get(frame.index()).map_or("", |(name, _)| name)
    }

    /// The number of a row's stack.
    fn number(&mut self, export: &Export<'_>, row: &SampleRow) -> Option<u32> {
        let key = (row.stack, (row.stack == StackId::EMPTY).then_some(row.address));
        if let Some(known) = self.known.get(&key) {
            return Some(*known);
        }
        let mut caller = OUTERMOST;
        for frame in self.stack(export, row) {
            let next = u32::try_from(self.list.len()).unwrap_or(OUTERMOST);
            let called = (frame, caller);
            caller = *self.numbers.entry(called).or_insert(next);
            if caller == next {
                self.list.push(called);
            }
        }
        if caller == OUTERMOST {
            return None;
        }
        self.known.insert(key, caller);
        Some(caller)
    }

    fn write(&self, json: &mut JsonWriter<'_>) {
        for (number, (frame, caller)) in self.list.iter().enumerate() {
            let Some((name, binary)) = self.names.get(frame.index()) else { continue };
            json.line();
            json.key(&number.to_string()).object(|json| {
                json.field("category", printable(binary));
                json.field("name", printable(name));
                if *caller != OUTERMOST {
                    json.field("parent", caller.to_string());
                }
            });
        }
    }
}

struct Writer<'w, 'x> {
    export: &'w Export<'x>,
    frames: StackFrames<'x>,
}

/// What an event of the trace is, and of whom.
struct Head<'h> {
    phase: &'h str,
    name: &'h str,
    time_ns: u64,
    pid: i32,
    tid: i32,
}

impl Head<'_> {
    fn write(&self, json: &mut JsonWriter<'_>) {
        json.field("ph", self.phase);
        json.field("name", self.name);
        json.key("ts").microseconds(self.time_ns);
        json.field("pid", self.pid);
        json.field("tid", self.tid);
    }
}

impl Writer<'_, '_> {
    fn events(&mut self, json: &mut JsonWriter<'_>) {
        self.names(json);
        for event in self.export.shown_events() {
            let rows = ByThread::new(self.export.profile.rows_of(event), |row| row.thread);
            for thread in rows.threads() {
                let rows: Vec<SampleRow> = rows.of(thread).collect();
                if self.export.unit(event) == Unit::Nanoseconds {
                    self.slices(thread, &rows, json);
                }
                self.samples(event, thread, &rows, json);
            }
            if self.export.unit(event) == Unit::Count {
                self.counters(event, json);
            }
        }
        let marks = ByThread::new(self.export.marks.as_slice(), |mark| mark.thread);
        for thread in marks.threads() {
            self.runs(thread, json);
            marks.of(thread).for_each(|mark| self.mark(Some(thread), mark, json));
        }
        let of_none = self.export.marks.as_slice().iter().filter(|mark| mark.thread.is_none());
        of_none.for_each(|mark| self.mark(None, mark, json));
    }

    /// What processes and threads are called.
    fn names(&self, json: &mut JsonWriter<'_>) {
        let rows = self.export.profile.rows().iter().filter_map(|row| row.thread);
        let marks = self.export.marks.as_slice().iter().filter_map(|mark| mark.thread);
        let threads: BTreeSet<ThreadId> = rows.chain(marks).collect();
        for thread in threads {
            let label = self.export.thread_label(thread);
            let process = self.export.session.thread(thread).map(|thread| thread.process);
            let process_name = process.map(|process| self.export.session.process_name(process));
            let process_name = printable_bytes(process_name.unwrap_or_default());
            for (name, value) in [("process_name", &*process_name), ("thread_name", &printable(&label.comm))]
            {
                json.line();
                json.object(|json| {
                    Head { phase: "M", name, time_ns: 0, pid: label.pid, tid: label.tid }.write(json);
                    json.key("args").object(|json| json.field("name", value));
                });
            }
        }
    }

    /// Every sample, with its stack and its weight.
    fn samples(&mut self, event: usize, thread: ThreadId, rows: &[SampleRow], json: &mut JsonWriter<'_>) {
        let label = self.export.thread_label(thread);
        let name = shown(self.export.event_name(event));
        for row in rows {
            let stack = self.frames.number(self.export, row);
            json.line();
            json.object(|json| {
                let (pid, tid) = (label.pid, label.tid);
                Head { phase: "P", name: &name, time_ns: row.time_ns, pid, tid }.write(json);
                if let Some(stack) = stack {
                    json.field("sf", stack.to_string());
                }
                json.key("args").object(|json| {
                    json.field("weight", self.export.weight(row));
                    if let Some(cpu) = row.cpu {
                        json.field("cpu", cpu);
                    }
                });
            });
        }
    }

    /// How often an event has happened in each process: what its samples so far add up to.
    fn counters(&self, event: usize, json: &mut JsonWriter<'_>) {
        let name = shown(self.export.event_name(event));
        let mut counts: FxHashMap<i32, u64> = FxHashMap::default();
        for row in self.export.profile.rows_of(event) {
            let Some((pid, tid)) = self.export.ids(&row) else { continue };
            let count = counts.entry(pid).or_default();
            *count = count.wrapping_add(self.export.weight(&row));
            json.line();
            json.object(|json| {
                Head { phase: "C", name: &name, time_ns: row.time_ns, pid, tid }.write(json);
                json.key("args").object(|json| json.field("count", *count));
            });
        }
    }

    /// When a thread had a CPU.
    fn runs(&self, thread: ThreadId, json: &mut JsonWriter<'_>) {
        let ThreadLabel { pid, tid, .. } = self.export.thread_label(thread);
        let last = self.export.marks.as_slice().last().map_or(0, |mark| mark.time_ns);
        for run in self.export.runs(thread) {
            let name = run.name();
            // The reader wants an end of each.
            let end = run.to_ns.unwrap_or_else(|| last.max(run.from_ns));
            for (phase, time_ns) in [("b", run.from_ns), ("e", end)] {
                json.line();
                json.object(|json| {
                    Head { phase, name: &name, time_ns, pid, tid }.write(json);
                    // What belongs together agrees in these; threads do in neither.
                    json.field("cat", "running");
                    json.field("id", thread.index().to_string());
                });
            }
        }
    }

    /// Stacks as slices within slices. What two samples in a row share stays open between them if they follow without a gap.
    fn slices(&self, thread: ThreadId, rows: &[SampleRow], json: &mut JsonWriter<'_>) {
        let label = self.export.thread_label(thread);
        let (pid, tid) = (label.pid, label.tid);
        let mut open: Vec<FrameId> = Vec::new();
        let mut until = 0;
        let slice = |phase, frame, time_ns, json: &mut JsonWriter<'_>| {
            let name = &shown(self.frames.name(frame));
            json.line();
            json.object(|json| Head { phase, name, time_ns, pid, tid }.write(json));
        };
        // Ends have names, too: some readers end what has this name, and not the innermost.
        let close = |open: &mut Vec<FrameId>, left: usize, time_ns: u64, json: &mut JsonWriter<'_>| {
            open.drain(left..).rev().for_each(|frame| slice("E", frame, time_ns, json));
        };
        for row in rows {
            let start = row.time_ns.saturating_sub(row.period).max(until);
            let stack = self.frames.stack(self.export, row);
            let shared = stack.iter().zip(&open).take_while(|(new, open)| new == open).count();
            let shared = if start == until { shared } else { 0 };
            close(&mut open, shared, until, json);
            for frame in stack.into_iter().skip(shared) {
                slice("B", frame, start, json);
                open.push(frame);
            }
            until = row.time_ns;
        }
        close(&mut open, 0, until, json);
    }

    /// A context switch, a tracepoint, a loss: a moment.
    fn mark(&self, thread: Option<ThreadId>, mark: &Mark, json: &mut JsonWriter<'_>) {
        let label = thread.map(|thread| self.export.thread_label(thread));
        let (pid, tid) = label.map_or((0, 0), |label| (label.pid, label.tid));
        let (name, argument): (Cow<'_, str>, Option<(&str, Cow<'_, str>)>) = match mark.kind {
            MarkKind::SwitchIn => ("switched in".into(), None),
            MarkKind::SwitchOut { preempted } => {
                ("switched out".into(), preempted.then(|| ("why", "preempted".into())))
            }
            MarkKind::Lost(LostMoment::Records(count)) => {
                ("lost records".into(), Some(("count", count.to_string().into())))
            }
            MarkKind::Lost(LostMoment::Samples(count)) => {
                ("lost samples".into(), Some(("count", count.to_string().into())))
            }
            MarkKind::Tracepoint { event, text } => {
                let text = text.and_then(|text| self.export.marks.text(text));
                let name = shown(self.export.event_name(event as usize));
                (name, text.map(|text| ("text", printable(text))))
            }
        };
        json.line();
        json.object(|json| {
            Head { phase: "i", name: &name, time_ns: mark.time_ns, pid, tid }.write(json);
            // Of the thread, or of everything.
            json.field("s", if thread.is_some() { "t" } else { "g" });
            json.key("args").object(|json| {
                if let Some((key, value)) = &argument {
                    json.field(key, value);
                }
                if let Some(cpu) = mark.cpu {
                    json.field("cpu", cpu);
                }
            });
        });
    }
}
