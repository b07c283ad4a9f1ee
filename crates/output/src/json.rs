//! The one way to write JSON, and declared fields as JSON: the sink behind `info --json` and `dump --json`.
//!
//! Names are those of the ABI; addresses are "0x…" strings, other integers numbers, bytes hex strings.

use crate::hidden::is_hidden;
use crate::text::decoded;
use perffile::wire::describe::{Shown, Sink};
use perffile::wire::pass::WireType;
use perffile::wire::value::Words;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};
use serde_json::{Map, Serializer, Value};
use std::io::{self, Write};

/// Version of the JSON that commands print.
pub const SCHEMA: u32 = 1;

/// Writes a value in one line. Texts are whole; what [`is_hidden`] is written as `\\u009b`, which readers give back.
///
/// # Errors
/// What the writer says.
pub fn write(out: impl Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Harmless(CompactFormatter)))?)
}

/// Writes a value in lines, indented.
///
/// # Errors
/// What the writer says.
pub fn write_pretty(out: impl Write, value: &(impl Serialize + ?Sized)) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(out, Harmless(PrettyFormatter::new())))?)
}

/// A value in one line.
pub fn line(value: &(impl Serialize + ?Sized)) -> String {
    let mut text = Vec::new();
    // A vector takes everything, and keys are strings.
    let _ = write(&mut text, value);
    String::from_utf8(text).unwrap_or_default()
}

/// The escape of a character: one unit of UTF-16, or two.
pub(crate) fn escaped(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Another way to write JSON, whose texts hold nothing that cannot be seen.
struct Harmless<F>(F);

/// Methods that are left to the other one.
macro_rules! as_inside {
    ($( $name:ident($($argument:ident: $type:ty)?) )*) => {
        $(
            fn $name<W: ?Sized + Write>(&mut self, out: &mut W $(, $argument: $type)?) -> io::Result<()> {
                self.0.$name(out $(, $argument)?)
            }
        )*
    };
}

impl<F: Formatter> Formatter for Harmless<F> {
    as_inside! {
        begin_array() end_array() begin_array_value(first: bool) end_array_value()
        begin_object() end_object() begin_object_key(first: bool) end_object_key()
        begin_object_value() end_object_value()
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        // Control characters below 0x20 are no part of fragments.
        let mut rest = fragment;
        while let Some(at) = hidden_at(rest) {
            let (plain, tail) = rest.split_at(at);
            out.write_all(plain.as_bytes())?;
            let mut characters = tail.chars();
            characters.next().map_or(Ok(()), |c| out.write_all(escaped(c).as_bytes()))?;
            rest = characters.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

/// Where the first character is that has to be escaped.
fn hidden_at(text: &str) -> Option<usize> {
    // Nearly all texts are plain, which is seen without looking at characters.
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) { None } else { text.find(is_hidden) }
}

/// An address.
pub fn address(address: u64) -> Value {
    Value::String(format!("{address:#x}"))
}

/// Bytes as hex digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Issues in the form that `stats --json` fixes.
pub fn issues<'i>(issues: impl IntoIterator<Item = &'i perffile::Issue>) -> Value {
    let one = |issue: &perffile::Issue| {
        serde_json::json!({
            "kind": issue.kind.name(),
            "offset": issue.place.offset,
            "message": issue.to_string(),
            "count": issue.count,
        })
    };
    Value::Array(issues.into_iter().map(one).collect())
}

fn shown(value: Shown<'_>) -> Value {
    match value {
        Shown::Unsigned(number) => number.into(),
        Shown::Signed(number) => number.into(),
        Shown::Float(number) => number.into(),
        Shown::Address(number) => address(number),
        Shown::Text(text) => decoded(text).into(),
        Shown::Bytes(bytes) => hex(bytes).into(),
        Shown::Unsigneds(numbers) => numbers.iter().collect(),
        Shown::Addresses(numbers) => Value::Array(numbers.iter().map(address).collect()),
        Shown::Texts(texts) => texts.iter().map(|text| text.display()).collect(),
    }
}

fn in_words(words: Words, value: Shown<'_>) -> Value {
    match words {
        Words::Text(text) => text.into(),
        Words::List(list) => list.into(),
        Words::Parts(parts) => {
            parts.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
        }
        Words::Names(names) => by_name(names, value),
        Words::Marks(marks) => marks
            .into_iter()
            .enumerate()
            .filter_map(|(nr, mark)| Some((nr.to_string(), Value::from(mark?))))
            .collect(),
    }
}

/// Values under their names. One that has several slots has them under numbered names.
fn by_name(names: Vec<Option<String>>, value: Shown<'_>) -> Value {
    let mut object = Map::new();
    let (Shown::Addresses(values) | Shown::Unsigneds(values)) = value else { return Value::Null };
    for (nr, (name, value)) in names.into_iter().zip(values).enumerate() {
        let mut name = name.unwrap_or_else(|| format!("#{nr}"));
        if object.contains_key(&name) {
            name.push_str("_high");
        }
        object.insert(name, address(value));
    }
    object.into()
}

/// Builds a JSON object from a description.
#[derive(Debug, Default)]
pub struct Tree {
    /// What is open: the outermost object, then objects in lists and objects in objects.
    open: Vec<Node>,
    object: Map<String, Value>,
    /// Whether what values say in words goes beside them, under `<name>_words`.
    with_words: bool,
}

#[derive(Debug)]
enum Node {
    List(&'static str, Vec<Value>),
    Object(Option<&'static str>, Map<String, Value>),
}

impl Tree {
    /// A tree that goes on from an object.
    pub fn from(object: Map<String, Value>) -> Self {
        Tree { object, ..Tree::default() }
    }

    /// With what values say in words.
    pub(crate) fn with_words(self) -> Self {
        Tree { with_words: true, ..self }
    }

    /// The object.
    pub fn finish(self) -> Map<String, Value> {
        self.object
    }

    fn here(&mut self) -> &mut Map<String, Value> {
        match self.open.last_mut() {
            Some(Node::Object(_, object)) => object,
            _ => &mut self.object,
        }
    }

    /// Adds a value to what is open. One whose name is taken is left out.
    pub fn add(&mut self, name: String, value: Value) {
        self.here().entry(name).or_insert(value);
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(Node::List(name, values)) => self.put(name, Value::Array(values)),
            Some(Node::Object(Some(name), object)) => self.put(name, Value::Object(object)),
            Some(Node::Object(None, object)) => {
                if let Some(Node::List(_, values)) = self.open.last_mut() {
                    values.push(Value::Object(object));
                }
            }
            None => {}
        }
    }

    /// A field whose name is taken (by what surrounds a record) is kept if it says something else.
    fn put(&mut self, name: &'static str, value: Value) {
        let here = self.here();
        match here.get(name) {
            None => here.insert(name.to_owned(), value),
            Some(taken) if *taken == value => None,
            Some(_) => here.insert(format!("record_{name}"), value),
        };
    }
}

impl Sink for Tree {
    fn field(&mut self, name: &'static str, _: WireType, value: Shown<'_>) {
        self.put(name, shown(value));
    }
    fn worded(&mut self, name: &'static str, wire: WireType, value: Shown<'_>, words: Words) {
        self.field(name, wire, value);
        if self.with_words {
            self.add(format!("{name}_words"), in_words(words, value));
        }
    }
    fn open_list(&mut self, name: &'static str) {
        self.open.push(Node::List(name, Vec::new()));
    }
    fn open_element(&mut self) {
        self.open.push(Node::Object(None, Map::new()));
    }
    fn close_element(&mut self) {
        self.close();
    }
    fn close_list(&mut self) {
        self.close();
    }
    fn open_inner(&mut self, name: &'static str) {
        self.open.push(Node::Object(Some(name), Map::new()));
    }
    fn close_inner(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_keep_their_meaning_and_hold_nothing_hidden() {
        let hostile =
            ["", "a\"\\b", "\u{1b}[2J\n\0", "\u{9b}2J\u{7f}\u{2028}größe", "\u{202e}a\u{e0041}\u{ffff}"];
        let value = serde_json::json!({ "\u{9b}key": hostile, "number": [1.5, -1], "nothing": null });
        let mut pretty = Vec::new();
        write_pretty(&mut pretty, &value).unwrap();
        let pretty = String::from_utf8(pretty).unwrap();
        for text in [line(&value), pretty.replace('\n', "")] {
            assert!(!text.contains(is_hidden), "{text:?}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
        let plain = serde_json::json!({ "a": ["größe", 1], "b": {} });
        assert_eq!(line(&plain), plain.to_string());
        assert_eq!(line("\u{e0041}"), "\"\\udb40\\udc41\"");
    }
}
