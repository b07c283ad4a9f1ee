//! `readperf dump`: every record with all its fields.

use crate::json::{self, Tree};
use crate::text::{printable, printable_bytes, seconds};
use perffile::wire::describe::{Describe, Shown, Sink};
use perffile::wire::pass::{Fields, WireType};
use perffile::wire::record::Record;
use perffile::{Event, IssueKind, Issues};
use serde_json::{Map, Value};
use std::io::{self, Write};

/// One record as one line of JSON. What cannot be decoded is told in the record and in `issues`.
///
/// # Errors
/// What the writer says.
pub fn write_json(out: &mut impl Write, event: &Event<'_>, issues: &mut Issues) -> io::Result<()> {
    let head = event.head();
    let mut object = Map::new();
    object.insert("index".into(), event.index().into());
    object.insert("offset".into(), event.offset().into());
    object.insert("part".into(), event.part().to_string().into());
    object.insert("type".into(), event.type_name().into());
    object.insert("number".into(), head.kind.into());
    object.insert("misc".into(), head.misc.into());
    object.insert("size".into(), head.size.into());
    if let Some(time) = event.time() {
        object.insert("time".into(), time.into());
    }
    if let Some(description) = event.event() {
        object.insert("event".into(), description.name.as_str().into());
    }
    let mut tree = Tree::from(object);
    let error = describe(event, &mut tree, issues)?;
    let mut object = tree.finish();
    shorten(&mut object);
    if let (Some(description), Some(_)) = (event.event(), event.sample()) {
        // What a sample without a period of its own stands for.
        object.entry("period").or_insert_with(|| description.period(None).into());
    }
    if let Some(error) = error {
        object.insert("error".into(), error.into());
        object.insert("body".into(), json::hex(event.body()).into());
    }
    serde_json::to_writer(&mut *out, &object)?;
    writeln!(out)
}

/// Tells `sink` the fields of a record, then those of its trailer; returns what keeps it from being decoded.
fn describe(event: &Event<'_>, sink: &mut impl Sink, issues: &mut Issues) -> io::Result<Option<String>> {
    let (_, shape) = event.body_and_shape();
    let decoded = match event.record() {
        Ok(decoded) => decoded,
        Err(error) => {
            issues.add(IssueKind::BadRecord, *error.place().unwrap_or(&event.place()), || error.to_string());
            return Ok(Some(error.to_string()));
        }
    };
    let (record, rest) = decoded;
    if let Record::Unknown(_) = record {
        // Its bytes are shown; that its type is unknown is worth a note.
        issues.add(IssueKind::UnknownRecord, event.place(), || {
            format!("records of type {} are unknown to this version", event.head().kind)
        });
    }
    record.describe(sink, &shape, event.head().misc);
    if !rest.is_empty() {
        sink.field("unknown_bytes", WireType::Bytes, Shown::Bytes(rest));
    }
    if let Some(mut id) = event.sample_id() {
        sink.open_inner("sample_id");
        // A trailer has no counts: describing it cannot fail.
        let _ = id.fields(&mut Describe::new(sink, &shape, event.head().misc));
        sink.close_inner();
    }
    Ok(None)
}

/// A sample's id is `id`, wherever it lies; a copied stack is told by its sizes, not its bytes.
fn shorten(object: &mut Map<String, Value>) {
    object.shift_remove("cpu_reserved");
    if let Some(identifier) = object.shift_remove("identifier") {
        object.entry("id").or_insert(identifier);
    }
    for name in ["stack_user", "sample_id"] {
        if let Some(Value::Object(inner)) = object.get_mut(name) {
            inner.shift_remove("data");
            inner.shift_remove("cpu_reserved");
        }
    }
}

/// One record as text: a line for its head, then a line a field.
///
/// # Errors
/// What the writer says.
pub fn write_text(out: &mut impl Write, event: &Event<'_>, issues: &mut Issues) -> io::Result<()> {
    let head = event.head();
    write!(out, "{:#010x} #{} {}", event.offset(), event.index(), event.type_name())?;
    write!(out, "  misc {:#06x}  size {}", head.misc, head.size)?;
    if let Some(time) = event.time() {
        write!(out, "  time {}", seconds(time))?;
    }
    if let Some(description) = event.event() {
        write!(out, "  event {}", printable(&description.name))?;
    }
    writeln!(out)?;
    let mut lines = Lines::default();
    let error = describe(event, &mut lines, issues)?;
    out.write_all(lines.text.as_bytes())?;
    if let Some(error) = error {
        writeln!(out, "    cannot be decoded: {error}")?;
        let mut body = Lines { depth: 1, ..Lines::default() };
        body.hex_dump(event.body());
        out.write_all(body.text.as_bytes())?;
    }
    Ok(())
}

/// Fields as indented lines.
#[derive(Default)]
struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    fn line(&mut self, name: &str, value: &str) {
        let indent = (self.depth + 1) * 4;
        self.text.push_str(&format!("{:indent$}{name:<16} {value}\n", ""));
    }

    fn hex_dump(&mut self, bytes: &[u8]) {
        let indent = (self.depth + 2) * 4;
        for (nr, row) in bytes.chunks(16).enumerate() {
            let hex: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            let ascii: String = row
                .iter()
                .map(|byte| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' })
                .collect();
            self.text.push_str(&format!("{:indent$}{:04x}  {:<47}  {ascii}\n", "", nr * 16, hex.join(" ")));
        }
    }
}

impl Sink for Lines {
    fn field(&mut self, name: &'static str, _: WireType, value: Shown<'_>) {
        match value {
            Shown::Unsigned(number) => self.line(name, &number.to_string()),
            Shown::Signed(number) => self.line(name, &number.to_string()),
            Shown::Float(number) => self.line(name, &number.to_string()),
            Shown::Address(number) => self.line(name, &format!("{number:#x}")),
            Shown::Text(text) => self.line(name, &printable_bytes(text)),
            Shown::Texts(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| printable_bytes(text.bytes())).collect();
                self.line(name, &texts.join(" "));
            }
            Shown::Unsigneds(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(|number| number.to_string()).collect();
                self.line(name, &numbers.join(" "));
            }
            Shown::Addresses(numbers) => {
                self.line(name, &format!("{} entries", numbers.len()));
                let indent = (self.depth + 2) * 4;
                for number in numbers.iter() {
                    self.text.push_str(&format!("{:indent$}{number:#018x}\n", ""));
                }
            }
            Shown::Bytes(bytes) if bytes.len() <= 20 => self.line(name, &json::hex(bytes)),
            Shown::Bytes(bytes) => {
                self.line(name, &format!("{} bytes", bytes.len()));
                self.hex_dump(bytes);
            }
        }
    }
    fn open_list(&mut self, name: &'static str) {
        self.line(name, "");
        self.depth += 1;
    }
    fn open_element(&mut self) {
        self.line("-", "");
    }
    fn close_element(&mut self) {}
    fn close_list(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
    fn open_inner(&mut self, name: &'static str) {
        self.line(name, "");
        self.depth += 1;
    }
    fn close_inner(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
