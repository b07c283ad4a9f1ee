//! Field values of one payload, and their plain listing.

use std::io::Write as _;

use super::c_type::{IntType, Number};
use super::{Abi, ByteOrder, EventFormat, Field, FieldKind, limits};

/// The value of one field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldValue<'p> {
    /// An unsigned integer.
    U64(u64),
    /// A signed integer.
    I64(i64),
    /// An address.
    Pointer(u64),
    /// Text without its NUL; any bytes, mostly UTF-8.
    Str(&'p [u8]),
    /// Bytes that are no text.
    Bytes(&'p [u8]),
    /// Integers.
    Array(IntArray<'p>),
    /// The payload ends before the field does, or a locator points outside.
    Missing,
}

/// The integers of an array, decoded on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntArray<'p> {
    /// The bytes of the array.
    pub bytes: &'p [u8],
    /// The type of one element.
    pub element: IntType,
    /// Byte order.
    pub endian: ByteOrder,
}

impl<'p> IntArray<'p> {
    /// The elements in order; a last one that is cut off is left out.
    pub fn iter(&self) -> impl Iterator<Item = Number> + use<'p> {
        let IntArray { bytes, element, endian } = *self;
        bytes
            .chunks_exact(usize::from(element.size.max(1)))
            .map(move |chunk| Number::new(endian.unsigned(chunk).unwrap_or(0), element))
    }
}

impl EventFormat {
    /// The event's own fields with their values in `payload` (the sample's raw data, from `common_type` on).
    pub fn field_values<'s, 'p>(
        &'s self,
        payload: &'p [u8],
    ) -> impl Iterator<Item = (&'s Field, FieldValue<'p>)> {
        let abi = self.abi;
        self.own_fields().iter().map(move |field| (field, field.value(payload, abi)))
    }

    /// Writes ` name=value` for each own field, as `perf` does when told to show raw fields.
    ///
    /// The text ends in ` ...` when it gets longer than [`limits::TEXT_BYTES`]: many fields may share one locator.
    pub fn write_fields(&self, payload: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        for field in self.own_fields() {
            if out.len() - start > limits::TEXT_BYTES {
                out.extend_from_slice(b" ...");
                return;
            }
            out.push(b' ');
            out.extend_from_slice(field.name.as_bytes());
            out.push(b'=');
            field.write_plain(payload, self.abi, out);
        }
    }

    /// Writes the value of one field, as [`EventFormat::write_fields`] does.
    pub fn write_field(&self, field: &Field, payload: &[u8], out: &mut Vec<u8>) {
        field.write_plain(payload, self.abi, out);
    }
}

impl Field {
    /// The value of the field in `payload`.
    pub fn value<'p>(&self, payload: &'p [u8], abi: Abi) -> FieldValue<'p> {
        let Some(bytes) = self.bytes(payload, abi) else { return FieldValue::Missing };
        match self.kind {
            FieldKind::Scalar(int) => match abi.endian.unsigned(bytes) {
                Some(bits) if int.signed => FieldValue::I64(Number::new(bits, int).bits.cast_signed()),
                Some(bits) => FieldValue::U64(bits),
                None => FieldValue::Missing,
            },
            FieldKind::Pointer(_) => {
                abi.endian.unsigned(bytes).map_or(FieldValue::Missing, FieldValue::Pointer)
            }
            FieldKind::Chars | FieldKind::Dynamic { chars: true, .. } => {
                let text = c_string(bytes);
                if self.is_text(text) { FieldValue::Str(text) } else { FieldValue::Bytes(bytes) }
            }
            FieldKind::Array(element) | FieldKind::Dynamic { element, .. } => {
                FieldValue::Array(IntArray { bytes, element, endian: abi.endian })
            }
            FieldKind::Unknown => FieldValue::Bytes(bytes),
        }
    }

    /// The bytes of the field itself; `None` if the payload is too short.
    pub(crate) fn own_bytes<'p>(&self, payload: &'p [u8]) -> Option<&'p [u8]> {
        let rest = payload.get(usize::try_from(self.offset).ok()?..)?;
        if self.size == 0 { Some(rest) } else { rest.get(..usize::try_from(self.size).ok()?) }
    }

    /// The bytes that the field stands for: those at the place of its locator if it is dynamic.
    pub(crate) fn bytes<'p>(&self, payload: &'p [u8], abi: Abi) -> Option<&'p [u8]> {
        let own = self.own_bytes(payload)?;
        let FieldKind::Dynamic { relative, .. } = self.kind else { return Some(own) };
        let locator = abi.endian.unsigned(own)?;
        let mut start = locator & 0xffff;
        if relative {
            start += u64::from(self.offset) + u64::from(self.size);
        }
        let rest = payload.get(usize::try_from(start).ok()?..)?;
        rest.get(..usize::try_from((locator >> 16) & 0xffff).ok()?)
    }

    /// Printable ASCII; in an array of `char` also UTF-8 (names of threads). Bytes of numbers are not to pass for it.
    fn is_text(&self, bytes: &[u8]) -> bool {
        if bytes.is_ascii() {
            return !bytes.iter().any(u8::is_ascii_control);
        }
        let of_char = self.c_type.contains("char") && !self.c_type.contains("unsigned");
        of_char && str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(char::is_control))
    }

    fn write_plain(&self, payload: &[u8], abi: Abi, out: &mut Vec<u8>) {
        let Some(bytes) = self.bytes(payload, abi) else {
            out.extend_from_slice(b"(missing)");
            return;
        };
        let number = match self.kind {
            FieldKind::Scalar(int) | FieldKind::Pointer(int) => {
                abi.endian.unsigned(bytes).map(|bits| Number::new(bits, int))
            }
            _ => None,
        };
        match number {
            Some(number) => self.write_number(number, out),
            None => self.write_bytes(bytes, out),
        }
    }

    /// Longs are in hexadecimal (they mostly hold addresses); but not signed ones of 8 bytes, nor any `short` or `char`.
    fn write_number(&self, number: Number, out: &mut Vec<u8>) {
        let Number { bits, int_type } = number;
        let low = Number::new(bits, IntType { signed: false, ..int_type }).bits;
        // Writing to a vector cannot fail.
        let _ = match (self.kind, int_type.signed, int_type.size) {
            (FieldKind::Pointer(_), _, _) => write!(out, "0x{low:x}"),
            (_, true, 4) if self.is_long() => write!(out, "0x{low:x}"),
            (_, true, 2) => write!(out, "{:2}", bits.cast_signed()),
            (_, true, _) => write!(out, "{}", bits.cast_signed()),
            (_, false, _) if self.is_long() => write!(out, "0x{low:x}"),
            (_, false, _) => write!(out, "{low}"),
        };
    }

    fn write_bytes(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let text_like = matches!(self.kind, FieldKind::Chars | FieldKind::Dynamic { chars: true, .. });
        if text_like && self.is_text(c_string(bytes)) {
            out.extend_from_slice(c_string(bytes));
            return;
        }
        out.extend_from_slice(b"ARRAY[");
        for (index, byte) in bytes.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let _ = write!(out, "{separator}{byte:02x}");
        }
        out.push(b']');
    }
}

/// Everything before the first NUL.
pub(crate) fn c_string(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}
