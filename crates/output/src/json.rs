//! Declared fields as JSON: the sink behind `info --json` and `dump --json`.
//!
//! Names are those of the ABI; addresses are "0x…" strings, other integers numbers, bytes hex strings.

use perffile::wire::describe::{Shown, Sink};
use perffile::wire::pass::WireType;
use serde_json::{Map, Value};

/// Version of the JSON that commands print.
pub const SCHEMA: u32 = 1;

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
        Shown::Text(text) => String::from_utf8_lossy(text).into(),
        Shown::Bytes(bytes) => hex(bytes).into(),
        Shown::Unsigneds(numbers) => numbers.iter().collect(),
        Shown::Addresses(numbers) => Value::Array(numbers.iter().map(address).collect()),
        Shown::Texts(texts) => texts.iter().map(|text| text.display()).collect(),
    }
}

/// Builds a JSON object from a description.
#[derive(Debug, Default)]
pub struct Tree {
    /// What is open: the outermost object, then objects in lists and objects in objects.
    open: Vec<Node>,
    object: Map<String, Value>,
}

#[derive(Debug)]
enum Node {
    List(&'static str, Vec<Value>),
    Object(Option<&'static str>, Map<String, Value>),
}

impl Tree {
    /// A tree that goes on from an object.
    pub fn from(object: Map<String, Value>) -> Self {
        Tree { open: Vec::new(), object }
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
