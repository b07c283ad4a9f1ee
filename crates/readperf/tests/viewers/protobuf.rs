//! Protocol buffers as fields by number: length, varint and fixed, as the encoding's description has them.

use std::collections::BTreeMap;

/// A field's content.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Number(u64),
    Bytes(Vec<u8>),
}

/// A message: the contents of each field, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    fields: BTreeMap<u64, Vec<Content>>,
    in_order: Vec<(u64, Content)>,
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

impl Message {
    pub(crate) fn new(bytes: &[u8]) -> Message {
        Message::maybe(bytes).expect("a message of varints and lengths: other wire types are not used here")
    }

    /// Bytes as a message, if they can be one.
    pub(crate) fn maybe(mut bytes: &[u8]) -> Option<Message> {
        let mut message = Message::default();
        while !bytes.is_empty() {
            let key = varint(&mut bytes)?;
            let content = match key & 7 {
                0 => Content::Number(varint(&mut bytes)?),
                2 => {
                    let len = varint(&mut bytes)? as usize;
                    let (content, rest) = bytes.split_at_checked(len)?;
                    bytes = rest;
                    Content::Bytes(content.to_vec())
                }
                _ => return None,
            };
            if key >> 3 == 0 {
                return None;
            }
            message.fields.entry(key >> 3).or_default().push(content.clone());
            message.in_order.push((key >> 3, content));
        }
        Some(message)
    }

    /// All fields, as they come.
    pub(crate) fn in_order(&self) -> &[(u64, Content)] {
        &self.in_order
    }

    fn contents(&self, field: u64) -> &[Content] {
        self.fields.get(&field).map_or(&[], Vec::as_slice)
    }

    /// The numbers of the fields that are there.
    pub(crate) fn fields(&self) -> impl Iterator<Item = u64> {
        self.fields.keys().copied()
    }

    pub(crate) fn has(&self, field: u64) -> bool {
        self.fields.contains_key(&field)
    }

    /// A number, 0 if it is not there.
    pub(crate) fn number(&self, field: u64) -> u64 {
        self.numbers(field).last().copied().unwrap_or(0)
    }

    /// Numbers, packed or not.
    pub(crate) fn numbers(&self, field: u64) -> Vec<u64> {
        let mut numbers = Vec::new();
        for content in self.contents(field) {
            match content {
                Content::Number(number) => numbers.push(*number),
                Content::Bytes(bytes) => {
                    let mut bytes = bytes.as_slice();
                    while !bytes.is_empty() {
                        numbers.push(varint(&mut bytes).expect("a number"));
                    }
                }
            }
        }
        numbers
    }

    fn bytes(&self, field: u64) -> impl Iterator<Item = &[u8]> {
        self.contents(field).iter().map(move |content| match content {
            Content::Bytes(bytes) => bytes.as_slice(),
            Content::Number(_) => panic!("field {field} is a number"),
        })
    }

    pub(crate) fn messages(&self, field: u64) -> Vec<Message> {
        self.bytes(field).map(Message::new).collect()
    }

    pub(crate) fn message(&self, field: u64) -> Option<Message> {
        self.bytes(field).last().map(Message::new)
    }

    pub(crate) fn texts(&self, field: u64) -> Vec<String> {
        self.bytes(field).map(|text| String::from_utf8(text.to_vec()).expect("UTF-8")).collect()
    }

    pub(crate) fn text(&self, field: u64) -> String {
        self.texts(field).pop().unwrap_or_default()
    }
}
