//! What a sort key says, as text and as JSON.

use crate::names::UNKNOWN;
use crate::text::{decoded, seconds};
use readperf_profile::view::facts::Facts;
use readperf_profile::{FileId, Function, FunctionId, Value};
use readperf_session::{Binary, BinaryId};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// What perf shows where nothing is recorded.
const NOT_AVAILABLE: &str = "N/A";

fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    decoded(bytes)
}

fn binary<'f>(facts: &Facts<'f>, id: Option<BinaryId>) -> Option<&'f Binary> {
    facts.session.binary(id?)
}

/// The name of a function, or its address.
pub(super) fn function<'f>(facts: &Facts<'f>, id: FunctionId, inlined: bool) -> Cow<'f, str> {
    let Some(function) = facts.profile.function(id) else { return UNKNOWN.into() };
    match inlined {
        true => format!("{} (inlined)", function.label()).into(),
        false => Function::label(function),
    }
}

/// The name of a binary that stands where another name is missing; some have brackets of their own.
fn bracketed(name: Cow<'_, str>) -> Cow<'_, str> {
    if name.starts_with('[') { name } else { format!("[{name}]").into() }
}

/// The last part of a path.
fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Sizes of pages are powers of two: `4K`, `2M`, `1G`.
fn page_size(bytes: u64) -> String {
    let units = [("G", 30), ("M", 20), ("K", 10)];
    let whole = units.iter().find(|(_, shift)| bytes >= 1 << shift && bytes.trailing_zeros() >= *shift);
    whole.map_or_else(|| bytes.to_string(), |(unit, shift)| format!("{}{unit}", bytes >> shift))
}

/// How values are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellStyle {
    /// Whether source files have their directories.
    pub full_paths: bool,
}

/// A source file: as recorded, or only the last part of its path.
fn source<'f>(facts: &'f Facts<'_>, id: FileId, style: CellStyle) -> &'f str {
    let path = facts.profile.names().file(id).unwrap_or_default();
    if style.full_paths { path } else { base_name(path) }
}

/// As text, not yet made harmless. `samples` is how many the row has.
pub(super) fn text<'f>(facts: &'f Facts<'_>, style: CellStyle, value: Value, samples: u64) -> Cow<'f, str> {
    match value {
        Value::Unknown => NOT_AVAILABLE.into(),
        Value::Comm(id) => lossy(facts.session.comm(id)),
        Value::Process(id) => {
            let pid = facts.session.process(id).map_or(0, |process| process.pid.cast_signed());
            format!("{pid}:{}", lossy(facts.session.process_name(id))).into()
        }
        Value::Thread(id) => {
            let Some(thread) = facts.session.thread(id) else { return NOT_AVAILABLE.into() };
            format!("{}:{}", thread.tid.cast_signed(), lossy(facts.session.comm(thread.comm()))).into()
        }
        Value::Binary(id) => {
            binary(facts, id).map_or(Cow::Borrowed(UNKNOWN), |binary| lossy(&binary.short_name))
        }
        Value::Function { function: id, inlined } => function(facts, id, inlined),
        Value::Offset { function: id, offset } => {
            format!("{}+{offset:#x}", function(facts, id, false)).into()
        }
        Value::Code { binary: id, address } => {
            let name =
                binary(facts, Some(id)).map_or(Cow::Borrowed(UNKNOWN), |binary| lossy(&binary.short_name));
            format!("{name}[{address:x}]").into()
        }
        Value::File(id) => source(facts, id, style).into(),
        Value::NoFile(id) => {
            binary(facts, id).map_or(Cow::Borrowed(UNKNOWN), |binary| bracketed(lossy(&binary.short_name)))
        }
        Value::Line { file, line } => format!("{}:{line}", source(facts, file, style)).into(),
        Value::Number(number) => number.to_string().into(),
        Value::PerSample(number) => number.wrapping_mul(samples).to_string().into(),
        Value::Address(address) => format!("{address:#x}").into(),
        Value::Time(time) => seconds(time).into(),
        Value::Size(bytes) => page_size(bytes).into(),
        Value::Text(id) => lossy(facts.text(id)),
    }
}

/// What a value is in JSON: numbers stay numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JsonCell<'f> {
    /// Nothing.
    Null,
    /// A number.
    Number(u64),
    /// A text.
    Text(Cow<'f, str>),
}

impl<'f> JsonCell<'f> {
    /// A text, if there is one.
    pub(super) fn text(text: Option<impl Into<Cow<'f, str>>>) -> JsonCell<'f> {
        text.map_or(JsonCell::Null, |text| JsonCell::Text(text.into()))
    }
}

impl Serialize for JsonCell<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            JsonCell::Null => serializer.serialize_unit(),
            JsonCell::Number(number) => serializer.serialize_u64(*number),
            JsonCell::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// As JSON: paths are whole.
pub(super) fn json<'f>(facts: &'f Facts<'_>, value: Value, samples: u64) -> JsonCell<'f> {
    let number =
        |number: Option<u32>| number.map_or(JsonCell::Null, |number| JsonCell::Number(number.into()));
    match value {
        Value::Unknown | Value::NoFile(_) => JsonCell::Null,
        Value::Process(id) => number(facts.session.process(id).map(|process| process.pid)),
        Value::Thread(id) => number(facts.session.thread(id).map(|thread| thread.tid)),
        Value::File(id) => JsonCell::text(facts.profile.names().file(id)),
        Value::Line { file, line } => {
            let file = facts.profile.names().file(file).unwrap_or_default();
            JsonCell::Text(format!("{file}:{line}").into())
        }
        Value::PerSample(number) => JsonCell::Number(number.wrapping_mul(samples)),
        Value::Number(number) | Value::Time(number) | Value::Size(number) => JsonCell::Number(number),
        Value::Address(_)
        | Value::Comm(_)
        | Value::Binary(_)
        | Value::Function { .. }
        | Value::Offset { .. }
        | Value::Code { .. }
        | Value::Text(_) => JsonCell::Text(text(facts, CellStyle::default(), value, samples)),
    }
}

/// The path of the binary that a value names; nothing of other values.
pub(super) fn path<'f>(facts: &Facts<'f>, value: Value) -> Option<Cow<'f, str>> {
    let Value::Binary(id) = value else { return None };
    Some(binary(facts, id).map_or(Cow::Borrowed(UNKNOWN), |binary| lossy(&binary.name)))
}

/// The source file of the function that a value names.
pub(super) fn source_file<'f>(facts: &Facts<'f>, value: Value) -> Option<&'f str> {
    let Value::Function { function, .. } = value else { return None };
    facts.profile.function(function)?.source_file()
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_of_pages() {
        assert_eq!([4096, 2 << 20, 1 << 30, 5000].map(super::page_size), ["4K", "2M", "1G", "5000"]);
    }
}
