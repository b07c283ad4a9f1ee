//! A description as a value: what `describe` tells, so that it can be compared.

use perffile::wire::describe::{Shown, Sink};
use perffile::wire::pass::WireType;

/// A described value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A number, or an address.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// A real number, as its bits: NaN is equal to itself.
    Float(u64),
    /// A name.
    Text(Vec<u8>),
    /// Opaque bytes.
    Bytes(Vec<u8>),
    /// Some of the same kind.
    List(Vec<Value>),
    /// Named ones, in their order.
    Map(Vec<(String, Value)>),
}

/// Collects a description.
#[derive(Debug)]
pub(crate) struct Tree {
    open: Vec<(String, Value)>,
}

impl Tree {
    /// What `describe` tells.
    pub(crate) fn of(describe: impl FnOnce(&mut Tree)) -> Value {
        let mut tree = Tree { open: vec![(String::new(), Value::Map(Vec::new()))] };
        describe(&mut tree);
        assert_eq!(tree.open.len(), 1, "every list and structure that is opened is closed");
        tree.open.pop().unwrap().1
    }

    fn put(&mut self, name: String, value: Value) {
        match &mut self.open.last_mut().unwrap().1 {
            Value::Map(fields) => fields.push((name, value)),
            Value::List(elements) => elements.push(value),
            other => panic!("{other:?} holds nothing"),
        }
    }

    fn close(&mut self) {
        let (name, value) = self.open.pop().unwrap();
        self.put(name, value);
    }
}

impl Sink for Tree {
    fn field(&mut self, name: &'static str, _: WireType, value: Shown<'_>) {
        let value = match value {
            Shown::Unsigned(n) | Shown::Address(n) => Value::Unsigned(n),
            Shown::Signed(n) => Value::Signed(n),
            Shown::Float(n) => Value::Float(n.to_bits()),
            Shown::Text(text) => Value::Text(text.to_vec()),
            Shown::Bytes(bytes) => Value::Bytes(bytes.to_vec()),
            Shown::Unsigneds(words) | Shown::Addresses(words) => {
                Value::List(words.iter().map(Value::Unsigned).collect())
            }
            Shown::Texts(texts) => {
                Value::List(texts.iter().map(|text| Value::Text(text.bytes().to_vec())).collect())
            }
        };
        self.put(name.to_owned(), value);
    }
    fn open_list(&mut self, name: &'static str) {
        self.open.push((name.to_owned(), Value::List(Vec::new())));
    }
    fn open_element(&mut self) {
        self.open.push((String::new(), Value::Map(Vec::new())));
    }
    fn close_element(&mut self) {
        self.close();
    }
    fn close_list(&mut self) {
        self.close();
    }
    fn open_inner(&mut self, name: &'static str) {
        self.open.push((name.to_owned(), Value::Map(Vec::new())));
    }
    fn close_inner(&mut self) {
        self.close();
    }
}
