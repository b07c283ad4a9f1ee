//! What the kernel's functions of a `print fmt` make of numbers and bytes: names, flags, lists.

use std::borrow::Cow;
use std::io::Write as _;

use super::ByteOrder;
use super::c_type::{IntType, Number};
use super::errors::EvalError;
use super::expr::Line;

/// The value without its sign extension, and the mask that takes the extension off others too.
fn unextended(value: Number) -> (u64, u64) {
    let int = IntType { signed: false, ..value.int_type.promoted() };
    (Number::new(value.bits, int).bits, Number::new(u64::MAX, int).bits)
}

/// The name of the value, or the value in hexadecimal. The kernel compares both as `unsigned long`.
pub(crate) fn symbolic(value: Number, table: &[Line], long: IntType) -> Cow<'_, [u8]> {
    let key = Number::new(value.bits, long).bits;
    let matches = |line: &&Line| line.number.is_some_and(|number| Number::new(number.bits, long).bits == key);
    match table.iter().find(matches) {
        Some(line) => Cow::Borrowed(&line.text),
        None => Cow::Owned(format!("0x{:x}", unextended(value).0).into_bytes()),
    }
}

/// The names of the bits that are set, in the order of the table; what no name covers follows in hexadecimal. A line
/// of value 0 is for no bit at all.
pub(crate) fn flags<'t>(value: Number, delimiter: &[u8], table: &'t [Line]) -> Cow<'t, [u8]> {
    let (mut value, mask) = unextended(value);
    let masks = table.iter().filter_map(|line| Some((line.number?.bits & mask, &line.text)));
    if value == 0 {
        let none = masks.clone().find(|(bits, _)| *bits == 0);
        return Cow::Borrowed(none.map_or(&[], |(_, text)| text));
    }
    let mut joined: Cow<'t, [u8]> = Cow::Borrowed(&[]);
    let mut first = true;
    let mut append = |text: Cow<'t, [u8]>| {
        if first {
            joined = text;
        } else {
            let joined = joined.to_mut();
            joined.extend_from_slice(delimiter);
            joined.extend_from_slice(&text);
        }
        first = false;
    };
    for (bits, text) in masks {
        if bits != 0 && value & bits == bits {
            append(Cow::Borrowed(text));
            value &= !bits;
        }
    }
    if value != 0 {
        append(Cow::Owned(format!("0x{value:x}").into_bytes()));
    }
    joined
}

/// Two digits for each byte.
pub(crate) fn write_hex(bytes: &[u8], separator: &[u8], out: &mut Vec<u8>) {
    for (index, byte) in bytes.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator);
        }
        // Writing to a vector cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
}

/// Unsigned integers with blanks between them.
pub(crate) fn write_array(
    bytes: &[u8],
    count: usize,
    size: u64,
    endian: ByteOrder,
    out: &mut Vec<u8>,
) -> Result<(), EvalError> {
    let int = IntType::new(size, false).ok_or(EvalError::Undefined)?;
    for (index, chunk) in bytes.chunks_exact(usize::from(int.size)).take(count).enumerate() {
        let separator = if index == 0 { "" } else { " " };
        let _ = write!(out, "{separator}{}", endian.unsigned(chunk).unwrap_or(0));
    }
    Ok(())
}
