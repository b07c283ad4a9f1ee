//! Samples as JSON, a line a sample, in order of time, with everything that is known of their stacks.
//!
//! A line: `event`, `time_ns` (of the recording's clock), `comm`, `pid`, `tid`, `cpu`, `period`, `ip` (hex), and `stack`, the
//! innermost level first: `symbol`, `dso`, `kind` (user, kernel, jit, unknown), `address` (hex; in files the offset, of callers
//! within the call), `file`, `line`, `inlined` (into the next one). What is not known is null.
//!
//! What else was recorded of a sample comes between, and is not there otherwise: `addr` and `phys_addr` (hex), `weight`,
//! `ins_lat`, `p_stage_cyc`, `data_src`, `transaction`, `cgroup`, `data_page_size`, `code_page_size`; of tracepoints `text` and
//! `fields`, of other payloads `raw`, their bytes in hex.
//!
//! The texts of a function and of a file are made once; a line is put together from them.

use crate::export::in_time::in_time;
use crate::export::recorded::{DETAILS, NUMBERS, Number, Recorded, Told};
use crate::export::{Export, Flag, Format, Needs, Writing};
use crate::json;
use readperf_profile::{Apart, CodeKind, FrameId, FrameTable, Level, SampleRow, UniqueFrame};
use readperf_session::CommId;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::fmt::Display;
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "jsonl",
    extensions: &["jsonl", "ndjson"],
    help: "a line of JSON a sample: its stack with symbols, files, lines; all else that was recorded of it",
    binary: false,
    needs: Needs { threads: true, cpus: true, times: true, lines: true, details: DETAILS, ..Needs::PLACES },
    one_event: false,
    pictures_time: false,
    no_place_for: &[Flag::Weight, Flag::Annotate, Flag::Title, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut texts = Texts::of(export);
    let recorded = Recorded::new(*export);
    let mut line = Vec::new();
    for row in in_time(export.profile) {
        line.clear();
        texts.push_sample(export, &recorded, &row, &mut line);
        out.write_all(&line)?;
    }
    Ok(())
}

/// The texts that lines are put together from.
#[derive(Debug)]
struct Texts {
    events: Vec<Box<[u8]>>,
    comms: FxHashMap<CommId, Box<[u8]>>,
    files: Vec<Box<[u8]>>,
    /// By frame: what is the same at all addresses of a function.
    functions: Vec<Box<[u8]>>,
    /// The frames at each address; their numbers are those of `functions`.
    table: FrameTable,
}

impl Texts {
    fn of(export: &Export<'_>) -> Texts {
        // What has no name differs in its address only, which is written when its turn comes.
        let table = export.frame_table(Apart { variants: true, binaries: true, ..Apart::default() });
        Texts {
            events: export.profile.events().iter().map(|event| bytes(event.name.as_str())).collect(),
            comms: FxHashMap::default(),
            files: export.profile.names().files().map(bytes).collect(),
            functions: table.frames().iter().map(|frame| function(export, frame)).collect(),
            table,
        }
    }

    fn push_sample(
        &mut self,
        export: &Export<'_>,
        recorded: &Recorded<'_>,
        row: &SampleRow,
        line: &mut Vec<u8>,
    ) {
        line.extend_from_slice(b"{\"event\":");
        line.extend_from_slice(self.events.get(row.event as usize).map_or(b"null", |text| text));
        push_number(line, "time_ns", (row.time_ns > 0).then_some(row.time_ns));
        line.extend_from_slice(b",\"comm\":");
        line.extend_from_slice(self.comms.entry(row.comm).or_insert_with(|| bytes(export.comm(row))));
        let ids = export.ids(row);
        push_number(line, "pid", ids.map(|(pid, _)| pid));
        push_number(line, "tid", ids.map(|(_, tid)| tid));
        push_number(line, "cpu", row.cpu);
        push_number(line, "period", Some(row.period));
        push_recorded_number(line, "ip", recorded.ip(row));
        push_recorded(recorded, row, line);
        line.extend_from_slice(b",\"stack\":[");
        let start = line.len();
        for address in export.places(row) {
            for (frame, level) in self.table.at(address).iter().zip(export.levels_at(address)) {
                if line.len() > start {
                    line.push(b',');
                }
                self.push_level(export, *frame, &level, line);
            }
        }
        line.extend_from_slice(b"]}\n");
    }

    fn push_level(&self, export: &Export<'_>, frame: FrameId, level: &Level, line: &mut Vec<u8>) {
        line.extend_from_slice(self.functions.get(frame.index()).map_or(b"{\"symbol\":null", |text| text));
        if let Some(code) = export.profile.addresses().get(level.address) {
            // A vector takes everything.
            let _ = write!(line, ",\"address\":\"{:#x}\"", code.address);
        }
        line.extend_from_slice(b",\"file\":");
        let file = level.file.and_then(|file| self.files.get(file.index()));
        line.extend_from_slice(file.map_or(b"null", |text| text));
        push_number(line, "line", (level.line > 0).then_some(level.line));
        line.extend_from_slice(if level.inlined { b",\"inlined\":true}" } else { b",\"inlined\":false}" });
    }
}

/// The beginning of a level: all but where in the function.
fn function(export: &Export<'_>, frame: &UniqueFrame) -> Box<[u8]> {
    let level = &frame.first;
    let mut text = b"{\"symbol\":".to_vec();
    text.extend_from_slice(&export.name(level).map_or_else(|| b"null".as_slice().into(), bytes));
    text.extend_from_slice(b",\"dso\":");
    text.extend_from_slice(&bytes(export.binary_name(level.address)));
    text.extend_from_slice(match frame.kind {
        CodeKind::User => b",\"kind\":\"user\"",
        CodeKind::Kernel => b",\"kind\":\"kernel\"",
        CodeKind::Jit => b",\"kind\":\"jit\"",
        CodeKind::Unknown => b",\"kind\":\"unknown\"",
    });
    text.into()
}

fn push_number(line: &mut Vec<u8>, key: &str, number: Option<impl Display>) {
    // A vector takes everything.
    let _ = match number {
        Some(number) => write!(line, ",\"{key}\":{number}"),
        None => write!(line, ",\"{key}\":null"),
    };
}

/// A number that not every recording has.
fn push_recorded_number(line: &mut Vec<u8>, key: &str, number: Option<Number>) {
    // A vector takes everything.
    let _ = match number {
        Some(plain @ Number::Plain(_)) => write!(line, ",\"{key}\":{plain}"),
        Some(address @ Number::Address(_)) => write!(line, ",\"{key}\":\"{address}\""),
        None => Ok(()),
    };
}

/// What else was recorded of a sample.
fn push_recorded(recorded: &Recorded<'_>, row: &SampleRow, line: &mut Vec<u8>) {
    for (name, field) in NUMBERS {
        push_recorded_number(line, name, recorded.number(row, field));
    }
    let mut push = |key: &str, value: Value| {
        // A vector takes everything.
        let _ = write!(line, ",\"{key}\":");
        line.extend_from_slice(&bytes(value));
    };
    match recorded.payload(row) {
        Some(Told::Tracepoint(text, fields)) => {
            push("text", text.into());
            push("fields", fields.into());
        }
        Some(Told::Bytes(bytes)) => push("raw", bytes.into()),
        None => {}
    }
}

/// A value as it stands in a line.
fn bytes(value: impl Into<Value>) -> Box<[u8]> {
    json::line(&value.into()).into_bytes().into()
}
