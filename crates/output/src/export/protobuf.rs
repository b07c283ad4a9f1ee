//! Protocol buffers piece by piece: the fields of an outermost message, each written as soon as it is known, so that the
//! message is never held as a whole.
//!
//! A message is its fields one after the other in any order, each with a key (number and wire type), and a nested message
//! is a field with its length before it (Protocol Buffers, "Encoding").

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use std::io::{self, Write};

/// Writes the fields of a message.
pub(crate) struct FieldWriter<W> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> FieldWriter<W> {
    /// A message without a field yet.
    pub(crate) fn new(out: W) -> Self {
        FieldWriter { out, buffer: Vec::new() }
    }

    /// A nested message.
    pub(crate) fn message(&mut self, number: u32, message: &impl Message) -> io::Result<()> {
        self.buffer.clear();
        encode_key(number, WireType::LengthDelimited, &mut self.buffer);
        message.encode_length_delimited(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }

    /// A text.
    pub(crate) fn text(&mut self, number: u32, text: &str) -> io::Result<()> {
        self.buffer.clear();
        encode_key(number, WireType::LengthDelimited, &mut self.buffer);
        encode_varint(u64::try_from(text.len()).unwrap_or(u64::MAX), &mut self.buffer);
        self.out.write_all(&self.buffer)?;
        self.out.write_all(text.as_bytes())
    }

    /// A number: of the kinds without zigzag, in two's complement if signed.
    pub(crate) fn number(&mut self, number: u32, value: u64) -> io::Result<()> {
        self.buffer.clear();
        encode_key(number, WireType::Varint, &mut self.buffer);
        encode_varint(value, &mut self.buffer);
        self.out.write_all(&self.buffer)
    }

    /// What was written to, when the message is complete.
    pub(crate) fn into_inner(self) -> W {
        self.out
    }
}
