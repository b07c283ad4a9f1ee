//! speedscope's own file format (`file-format-schema.json`): for every event a profile of all threads, where stacks that are
//! the same are one, and one of each thread in order of time.

use crate::export::circumstances::Unit;
use crate::export::json::JsonWriter;
use crate::export::threads::{ByThread, ThreadLabel};
use crate::export::{Export, Flag, Format, Needs, Weight, Writing};
use crate::text::{decoded, printable};
use readperf_profile::{AddressId, Apart, FrameTable, RowSlice, SampleRow, StackId, UniqueFrame};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "speedscope",
    extensions: &["speedscope.json"],
    help: "speedscope: all threads together, and each in order of time",
    binary: false,
    needs: Needs { threads: true, times: true, lines: true, ..Needs::PLACES },
    one_event: false,
    pictures_time: false,
    no_place_for: &[Flag::WithCpu, Flag::Annotate, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    // The viewer tells frames apart by name, file and line: a function as written in one file is one, at its first line.
    let frames = Frames::new(export.frame_table(Apart { files: true, ..Apart::default() }), export);
    let mut json = JsonWriter::new(out);
    json.object(|json| {
        json.field("$schema", "https://www.speedscope.app/file-format-schema.json");
        json.field("exporter", concat!("readperf ", env!("CARGO_PKG_VERSION")));
        json.field("name", printable(&export.title()));
        json.field("activeProfileIndex", 0);
        json.line();
        json.key("shared").object(|json| {
            json.key("frames").array(|json| {
                frames.shown().for_each(|frame| write_frame(export, frame, json));
            });
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

fn write_event(export: &Export<'_>, frames: &Frames, event: usize, json: &mut JsonWriter<'_>) {
    let rows = export.profile.rows_of(event);
    let event_name = printable(export.event_name(event));
    let all = sums(export, rows);
    write_profile(export, frames, event, &format!("{event_name}: all threads"), &all, json);
    let by_thread = ByThread::new(rows, |row| row.thread);
    for thread in by_thread.threads() {
        let ThreadLabel { pid, tid, comm } = export.thread_label(thread);
        let rows: Vec<(SampleRow, u64)> =
            by_thread.of(thread).map(|row| (row, export.weight(&row))).collect();
        let name = format!("{event_name}: {} ({pid}/{tid})", printable(&comm));
        write_profile(export, frames, event, &name, &rows, json);
    }
}

/// Rows with different stacks, and their weights, in the order of the first of each.
fn sums(export: &Export<'_>, rows: RowSlice<'_>) -> Vec<(SampleRow, u64)> {
    let mut sums: Vec<(SampleRow, u64)> = Vec::new();
    let mut numbers = FxHashMap::default();
    for row in rows {
        let key = (row.stack, (row.stack == StackId::EMPTY).then_some(row.address));
        let number = *numbers.entry(key).or_insert(sums.len());
        match sums.get_mut(number) {
            Some((_, sum)) => *sum = sum.wrapping_add(export.weight(&row)),
            None => sums.push((row, export.weight(&row))),
        }
    }
    sums
}

fn write_profile(
    export: &Export<'_>,
    frames: &Frames,
    event: usize,
    name: &str,
    rows: &[(SampleRow, u64)],
    json: &mut JsonWriter<'_>,
) {
    let unit = match (export.profile.weight(), export.unit(event)) {
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
                    stack.extend(frames.at(place));
                }
                // The outermost comes first.
                json.array(|json| stack.iter().rev().for_each(|frame| json.value(frame)));
            }
        });
        json.list("weights", rows.iter().map(|(_, weight)| weight));
    });
}

/// The frames that stacks have, by number.
struct Frames {
    table: FrameTable,
    /// For each frame of the table its number, if it is in a stack.
    numbers: Vec<Option<u32>>,
}

impl Frames {
    fn new(table: FrameTable, export: &Export<'_>) -> Frames {
        let mut is_shown = vec![false; export.profile.addresses().len()];
        let rows = export.shown_events().into_iter().flat_map(|event| export.profile.rows_of(event));
        for place in rows.flat_map(|row| export.places(&row)) {
            if let Some(is_shown) = is_shown.get_mut(place.index()) {
                *is_shown = true;
            }
        }
        let mut numbers = vec![None; table.frames().len()];
        let places = export.profile.addresses().ids().zip(is_shown).filter(|(_, is_shown)| *is_shown);
        for frame in places.flat_map(|(place, _)| table.at(place)) {
            if let Some(number) = numbers.get_mut(frame.index()) {
                *number = Some(0);
            }
        }
        for (next, number) in (0..).zip(numbers.iter_mut().flatten()) {
            *number = next;
        }
        Frames { table, numbers }
    }

    fn shown(&self) -> impl Iterator<Item = &UniqueFrame> {
        self.table
            .frames()
            .iter()
            .zip(&self.numbers)
            .filter(|(_, number)| number.is_some())
            .map(|(frame, _)| frame)
    }

    /// The frames at an address, the innermost first.
    fn at(&self, address: AddressId) -> impl Iterator<Item = u32> {
        self.table.at(address).iter().filter_map(|frame| *self.numbers.get(frame.index())?)
    }
}

fn write_frame(export: &Export<'_>, frame: &UniqueFrame, json: &mut JsonWriter<'_>) {
    let level = &frame.first;
    let source = level.file.and_then(|file| export.profile.names().file(file));
    // Where no source is known the binary says where the code is.
    let binary = || export.binary(level.address).map(|binary| decoded(&binary.name));
    let file = source.map(Cow::Borrowed).or_else(binary);
    json.line();
    json.object(|json| {
        json.field("name", printable(&export.label(frame)));
        if let Some(file) = &file {
            json.field("file", printable(file));
        }
        if frame.least_line > 0 {
            json.field("line", frame.least_line);
        }
    });
}
