//! `readperf dump`: every record with all its fields, their values and what these say in words.

mod lines;
pub(crate) mod payload;

use crate::json::{self, Tree};
use crate::text::{printable, seconds, shown};
use lines::Lines;
use payload::{Payload, catalog};
use perffile::simpleperf::{SplitRecords, WholeRecord};
use perffile::tracepoint::{Catalog, NoSymbols};
use perffile::wire::attr::{AttrFlags, SampleShape};
use perffile::wire::describe::{Describe, Shown, Sink};
use perffile::wire::event_type::EventType;
use perffile::wire::feature::bit;
use perffile::wire::pass::{Fields, WireType};
use perffile::wire::record::{Record, record_name};
use perffile::wire::registers::Machine;
use perffile::wire::value::WordsContext;
use perffile::{Event, Features, IssueKind, Issues, Metadata};
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::sync::Arc;

/// Shows records. What it has to know of the recording it is told on the way: [`Dumper::learn`] with each batch,
/// [`Dumper::meet`] with each record, also with those that are not shown.
#[derive(Debug, Default)]
pub struct Dumper {
    features: Option<Arc<Features>>,
    machine: Option<Machine>,
    catalog: Catalog,
    split: SplitRecords,
    whole: Option<WholeRecord>,
    issues: Issues,
}

impl Dumper {
    /// Takes what is known of the recording by now.
    pub fn learn(&mut self, metadata: &Metadata) {
        let features = &metadata.features;
        if self.features.as_ref().is_some_and(|known| Arc::ptr_eq(known, features)) {
            return;
        }
        self.machine = features.machine();
        let formats = |features: &Features| features.bytes(bit::TRACING_DATA).map(<[u8]>::as_ptr_range);
        if self.features.as_deref().and_then(formats) != formats(features) {
            self.catalog = features.bytes(bit::TRACING_DATA).map(catalog).unwrap_or_default();
        }
        self.features = Some(Arc::clone(features));
    }

    /// Takes the next record.
    pub fn meet(&mut self, event: &Event<'_>) {
        self.whole = self.split.push(event.head().kind, event.body(), event.schema().order());
    }

    /// What was wrong with the records that were shown.
    pub fn issues(&self) -> &Issues {
        &self.issues
    }

    /// The record met last as one line of JSON. What cannot be decoded is told in it and in the issues.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_json(&mut self, out: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        let mut tree = Tree::from(head(event)).with_words();
        let error = self.describe(event, &mut tree);
        let mut object = tree.finish();
        shorten(&mut object);
        if let (Some(description), Some(_)) = (event.event(), event.sample()) {
            // What a sample without a period of its own stands for.
            object.entry("period").or_insert_with(|| description.period(None).into());
        }
        if let Some(payload) = self.payload(event) {
            object.insert("fields".into(), payload.fields().into());
            object.insert("text".into(), payload.text.into());
        }
        if let Some(whole) = &self.whole {
            object.insert("reassembled".into(), reassembled(whole, self.machine));
        }
        if let Some(error) = error {
            object.insert("error".into(), error.into());
            object.insert("body".into(), json::hex(event.body()).into());
        }
        json::write(&mut *out, &object)?;
        writeln!(out)
    }

    /// The record met last as text: a line for its head, then a line a field.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_text(&mut self, out: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
        write_head(out, event)?;
        let mut lines = Lines::default();
        let error = self.describe(event, &mut lines);
        if let Some(payload) = self.payload(event) {
            lines.line("text", &printable(&payload.text));
            lines.line("fields", "");
            lines.depth += 1;
            for (name, value) in payload.fields() {
                lines.line(
                    &printable(&name),
                    &printable(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
                );
            }
            lines.depth -= 1;
        }
        if let Some(whole) = &self.whole {
            lines.line("reassembled", &format!("{} of {} bytes", record_name(whole.number), whole.size));
            lines.depth += 1;
            describe_whole(whole, self.machine, &mut lines);
            lines.depth -= 1;
        }
        out.write_all(lines.text.as_bytes())?;
        if let Some(error) = error {
            writeln!(out, "    cannot be decoded: {error}")?;
            let mut body = Lines { depth: 1, ..Lines::default() };
            body.hex_dump(event.body());
            out.write_all(body.text.as_bytes())?;
        }
        Ok(())
    }

    /// Tells `sink` the fields of a record, then those of its trailer; returns what keeps it from being decoded.
    fn describe(&mut self, event: &Event<'_>, sink: &mut impl Sink) -> Option<String> {
        let (_, shape) = event.body_and_shape();
        let (mut record, rest) = match event.record() {
            Ok(decoded) => decoded,
            Err(error) => {
                event.tell_undecodable(&error, &mut self.issues);
                return Some(error.to_string());
            }
        };
        // What is wrong with them is told; all of their fields are shown in any case.
        match &record {
            Record::Sample(_) => _ = event.usable_sample(&mut self.issues),
            Record::Stat(count) => _ = event.event_of_count(count, &mut self.issues),
            _ => {}
        }
        if let Record::Unknown(_) = record {
            // Its bytes are shown; that its type is unknown is worth a note.
            self.issues.add(IssueKind::UnknownRecord, event.place(), || {
                format!("records of type {} are unknown to this version", event.head().kind)
            });
        }
        describe_record(event, &mut record, self.machine, sink);
        if !rest.is_empty() {
            sink.field("unknown_bytes", WireType::Bytes, Shown::Bytes(rest));
        }
        if let Some(mut id) = event.sample_id() {
            sink.open_inner("sample_id");
            // A trailer has no counts: describing it cannot fail.
            let _ = id.fields(&mut Describe::new(sink, &shape, event.head().misc));
            sink.close_inner();
        }
        None
    }

    /// The payload of a tracepoint's sample.
    fn payload<'p>(&'p self, event: &Event<'p>) -> Option<Payload<'p>> {
        let attr = &event.event()?.attr;
        if attr.kind != EventType::TRACEPOINT {
            return None;
        }
        let (sample, _) = event.sample()?.decode().ok()?;
        Payload::new(&self.catalog, attr.config, sample.raw?, &NoSymbols)
    }
}

/// Tells `sink` the fields of a record.
fn describe_record(
    event: &Event<'_>,
    record: &mut Record<'_>,
    machine: Option<Machine>,
    sink: &mut impl Sink,
) {
    let (_, shape) = event.body_and_shape();
    let defers_callchains =
        event.event().is_some_and(|event| event.attr.flags.has(AttrFlags::defer_callchain));
    let context = WordsContext { machine, defers_callchains };
    record.describe_by(&mut Describe::new(sink, &shape, event.head().misc).context(context));
}

/// An object with the fields of a record as `dump --json` has them, behind what is in it already. What keeps it from being
/// decoded is its field `error`.
pub(crate) fn with_fields(
    mut object: Map<String, Value>,
    event: &Event<'_>,
    machine: Option<Machine>,
) -> Map<String, Value> {
    match event.record() {
        Ok((mut record, _)) => {
            let mut tree = Tree::from(object).with_words();
            describe_record(event, &mut record, machine, &mut tree);
            object = tree.finish();
            shorten(&mut object);
        }
        Err(error) => {
            object.insert("error".into(), error.to_string().into());
        }
    }
    object
}

fn misc_words(event: &Event<'_>) -> Vec<String> {
    perffile::wire::misc::words(event.head().kind, event.head().misc)
}

/// What a record has before its fields, as `dump --json` writes it.
pub fn head(event: &Event<'_>) -> Map<String, Value> {
    let head = event.head();
    let mut object = Map::new();
    object.insert("index".into(), event.index().into());
    object.insert("offset".into(), event.offset().into());
    object.insert("part".into(), event.part().to_string().into());
    object.insert("type".into(), event.type_name().into());
    object.insert("number".into(), head.kind.into());
    object.insert("misc".into(), head.misc.into());
    let words = misc_words(event);
    if !words.is_empty() {
        object.insert("misc_words".into(), words.into());
    }
    object.insert("size".into(), head.size.into());
    if let Some(time) = event.time() {
        object.insert("time".into(), time.into());
    }
    if let Some(description) = event.event() {
        object.insert("event".into(), description.name.as_str().into());
    }
    object
}

/// Bytes as lines: the place in them, sixteen in hex, and what of them is ASCII.
pub fn hex_dump(bytes: &[u8]) -> String {
    let mut lines = Lines::default();
    lines.indented_hex(bytes, 0);
    lines.text
}

fn write_head(out: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
    let head = event.head();
    write!(out, "{:#010x} #{} {}", event.offset(), event.index(), event.type_name())?;
    write!(out, "  misc {:#06x}", head.misc)?;
    let words = misc_words(event);
    if !words.is_empty() {
        write!(out, " ({})", words.join(" "))?;
    }
    write!(out, "  size {}", head.size)?;
    if let Some(time) = event.time() {
        write!(out, "  time {}", seconds(time))?;
    }
    if let Some(description) = event.event() {
        write!(out, "  event {}", shown(&description.name))?;
    }
    writeln!(out)
}

/// A record that lay in parts, under the last of them.
fn reassembled(whole: &WholeRecord, machine: Option<Machine>) -> Value {
    let mut object = Map::new();
    object.insert("type".into(), record_name(whole.number).into());
    object.insert("number".into(), whole.number.into());
    object.insert("size".into(), whole.size.into());
    let mut tree = Tree::from(object).with_words();
    describe_whole(whole, machine, &mut tree);
    tree.finish().into()
}

fn describe_whole(whole: &WholeRecord, machine: Option<Machine>, sink: &mut impl Sink) {
    match whole.record() {
        Ok((mut record, rest)) => {
            let shape = SampleShape::default();
            let context = WordsContext { machine, ..WordsContext::default() };
            record.describe_by(&mut Describe::new(sink, &shape, 0).context(context));
            if !rest.is_empty() {
                sink.field("unknown_bytes", WireType::Bytes, Shown::Bytes(rest));
            }
        }
        Err(error) => sink.field("error", WireType::Text, Shown::Text(error.to_string().as_bytes())),
    }
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
