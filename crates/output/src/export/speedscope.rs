//! speedscope's own file format (`file-format-schema.json`): for every event a profile of all threads, where stacks that are
//! the same are one, and one of each thread in order of time.

use crate::export::circumstances::Unit;
use crate::export::frames::Level;
use crate::export::json::JsonWriter;
use crate::export::threads::{ByThread, ThreadLabel};
use crate::export::{Export, Format, Needs, Weight};
use crate::text::{decoded, printable};
use readperf_profile::{FileId, FunctionId, SampleRow, StackId};
use readperf_session::BinaryId;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "speedscope",
    extensions: &["speedscope.json"],
    help: "speedscope: all threads together, and each in order of time",
    binary: false,
    needs: Needs { threads: true, times: true, lines: true, ..Needs::STACKS },
    write,
};

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let frames = Frames::of(export);
    let mut json = JsonWriter::new(out);
    json.object(|json| {
        json.field("$schema", "https://www.speedscope.app/file-format-schema.json");
        json.field("exporter", concat!("readperf ", env!("CARGO_PKG_VERSION")));
        json.field("name", name(export));
        json.field("activeProfileIndex", 0);
        json.line();
        json.key("shared").object(|json| {
            json.key("frames").array(|json| frames.list.iter().for_each(|frame| frame.write(export, json)));
        });
        json.line();
        json.key("profiles").array(|json| {
            for event in export.shown_events() {
                write_event(export, &frames, event, json);
            }
        });
    });
    json.finish()
}

/// What to call the whole.
fn name<'x>(export: &Export<'x>) -> Cow<'x, str> {
    let title = export.options.title.as_deref().map(Cow::Borrowed);
    title.or_else(|| export.command_line().map(Cow::Owned)).unwrap_or(Cow::Borrowed("perf.data"))
}

fn write_event(export: &Export<'_>, frames: &Frames, event: usize, json: &mut JsonWriter<'_>) {
    let rows = export.profile.rows_of(event);
    let event_name = printable(export.event_name(event));
    let all = sums(export, rows);
    write_profile(export, frames, event, &format!("{event_name}: all threads"), &all, json);
    let by_thread = ByThread::new(rows, |row| row.thread);
    for thread in by_thread.threads() {
        let ThreadLabel { pid, tid, comm } = export.thread_label(thread);
        let rows: Vec<(&SampleRow, u64)> =
            by_thread.of(thread).map(|row| (row, export.weight(row))).collect();
        let name = format!("{event_name}: {} ({pid}/{tid})", printable(&comm));
        write_profile(export, frames, event, &name, &rows, json);
    }
}

/// Rows with different stacks, and their weights, in the order of the first of each.
fn sums<'r>(export: &Export<'_>, rows: &'r [SampleRow]) -> Vec<(&'r SampleRow, u64)> {
    let mut sums: Vec<(&SampleRow, u64)> = Vec::new();
    let mut numbers = FxHashMap::default();
    for row in rows {
        let key = (row.stack, (row.stack == StackId::EMPTY).then_some(row.address));
        let number = *numbers.entry(key).or_insert(sums.len());
        match sums.get_mut(number) {
            Some((_, sum)) => *sum = sum.wrapping_add(export.weight(row)),
            None => sums.push((row, export.weight(row))),
        }
    }
    sums
}

fn write_profile(
    export: &Export<'_>,
    frames: &Frames,
    event: usize,
    name: &str,
    rows: &[(&SampleRow, u64)],
    json: &mut JsonWriter<'_>,
) {
    let unit = match (export.options.weight, export.unit(event)) {
        (Weight::Period, Unit::Nanoseconds) => "nanoseconds",
        (Weight::Period, Unit::Count) | (Weight::Samples, _) => "none",
    };
    let mut stack = Vec::new();
    json.line();
    json.object(|json| {
        json.field("type", "sampled");
        json.field("name", name);
        json.field("unit", unit);
        json.field("startValue", 0);
        json.field("endValue", rows.iter().fold(0u64, |sum, (_, weight)| sum.saturating_add(*weight)));
        json.key("samples").array(|json| {
            for (row, _) in rows {
                stack.clear();
                for place in export.places(row) {
                    stack.extend_from_slice(frames.at(place.index()));
                }
                // The outermost comes first.
                json.array(|json| stack.iter().rev().for_each(|frame| json.value(frame)));
            }
        });
        json.list("weights", rows.iter().map(|(_, weight)| weight));
    });
}

/// A function, or all that has no name in a binary.
#[derive(Clone, Copy, Debug)]
struct Frame {
    level: Level,
    /// The first of its lines that the profile shows; 0 where unknown.
    line: u32,
}

impl Frame {
    fn write(&self, export: &Export<'_>, json: &mut JsonWriter<'_>) {
        let source = self.level.file.and_then(|file| export.profile.names().file(file));
        // Where no source is known the binary says where the code is.
        let binary = || export.binary(self.level.address).map(|binary| decoded(&binary.name));
        let file = source.map(Cow::Borrowed).or_else(binary);
        json.line();
        json.object(|json| {
            json.field("name", printable(&export.label(&self.level)));
            if let Some(file) = &file {
                json.field("file", printable(file));
            }
            if self.line > 0 {
                json.field("line", self.line);
            }
        });
    }
}

/// What makes a frame one: a function as written in one file, or the binary of what has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Same {
    Function(FunctionId, Option<FileId>),
    Unnamed(Option<BinaryId>),
}

/// The frames, and which of them are at an address.
#[derive(Debug, Default)]
struct Frames {
    list: Vec<Frame>,
    /// Of all addresses, one after the other, the innermost first.
    numbers: Vec<u32>,
    /// Where those of an address end.
    ends: Vec<usize>,
}

impl Frames {
    fn of(export: &Export<'_>) -> Frames {
        let mut frames = Frames::default();
        let mut known = FxHashMap::default();
        for address in export.profile.addresses().ids() {
            for level in export.levels_at(address) {
                let same = match export.name(&level).is_some() {
                    true => Same::Function(level.function, level.file),
                    false => Same::Unnamed(export.profile.addresses().get(address).and_then(|c| c.binary)),
                };
                let next = u32::try_from(frames.list.len()).unwrap_or(u32::MAX);
                let number = *known.entry(same).or_insert(next);
                match frames.list.get_mut(number as usize) {
                    Some(frame) if frame.line == 0 || (level.line > 0 && level.line < frame.line) => {
                        frame.line = level.line;
                    }
                    Some(_) => {}
                    None => frames.list.push(Frame { level, line: level.line }),
                }
                frames.numbers.push(number);
            }
            frames.ends.push(frames.numbers.len());
        }
        frames
    }

    /// The frames at the address with this index, the innermost first.
    fn at(&self, address: usize) -> &[u32] {
        let start = address.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(address).copied().unwrap_or(0);
        self.numbers.get(start..end).unwrap_or_default()
    }
}
