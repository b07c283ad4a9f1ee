//! A sink that looks at every value and keeps nothing.

use perffile::wire::describe::{Shown as Value, Sink};
use perffile::wire::pass::WireType;

/// Counts what it is shown.
#[derive(Debug, Default)]
pub struct Shown {
    /// Fields.
    pub fields: u64,
    /// Sum of numbers and of lengths: every value has been looked at.
    pub sum: u64,
    depth: i64,
}

impl Shown {
    /// Whatever was opened has been closed, unless an error stopped the description.
    pub fn depth(&self) -> i64 {
        self.depth
    }

    fn add(&mut self, number: u64) {
        self.sum = self.sum.wrapping_add(number);
    }
}

impl Sink for Shown {
    fn field(&mut self, name: &'static str, _: WireType, value: Value<'_>) {
        assert!(!name.is_empty());
        self.fields += 1;
        match value {
            Value::Unsigned(number) | Value::Address(number) => self.add(number),
            Value::Signed(number) => self.add(number.cast_unsigned()),
            Value::Float(number) => self.add(number.to_bits()),
            Value::Text(bytes) | Value::Bytes(bytes) => self.add(bytes.len() as u64),
            Value::Unsigneds(words) | Value::Addresses(words) => {
                let sum = words.iter().fold(0, u64::wrapping_add);
                self.add(sum);
            }
            Value::Texts(texts) => texts.iter().for_each(|text| self.add(text.display().len() as u64)),
        }
    }
    fn open_list(&mut self, _: &'static str) {
        self.depth += 1;
    }
    fn open_element(&mut self) {
        self.depth += 1;
    }
    fn close_element(&mut self) {
        self.depth -= 1;
    }
    fn close_list(&mut self) {
        self.depth -= 1;
    }
    fn open_inner(&mut self, _: &'static str) {
        self.depth += 1;
    }
    fn close_inner(&mut self) {
        self.depth -= 1;
    }
}
