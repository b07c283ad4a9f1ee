//! The kernel's extensions of `%p` (its `Documentation/core-api/printk-formats.rst`).

use std::io::Write as _;

use super::bitmap::{write_bitmap_hex, write_bitmap_list};
use super::errors::EvalError;
use super::eval::Evaluated;
use super::network::{write_ipv4, write_ipv6, write_mac, write_socket_address};
use super::tables::write_hex;
use super::{Abi, ByteOrder, SymbolNames};

/// What the letters after `%p` ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PointerStyle {
    /// A plain address, also for letters that need the kernel's memory.
    Address,
    /// `%pS`, `%pF`: symbol and offset; `%ps`, `%pf`: symbol.
    Symbol { offset: bool },
    /// `%pM` and its kin.
    Mac { separator: Option<u8>, reversed: bool },
    /// `%pI4` with dots; `%pi4` with leading zeros. The order is that of the bytes.
    Ipv4 { zeros: bool, order: Option<ByteOrder> },
    /// `%pI6`, `%pi6` without colons, `%pI6c` shortened.
    Ipv6 { colons: bool, compressed: bool },
    /// `%pIS`: a socket address of either kind, `p` with its port.
    Socket { port: bool, compressed: bool },
    /// `%pUb`, `%pUl` and in capitals.
    Uuid { little: bool, upper: bool },
    /// `%*ph`: bytes with a separator.
    Hex { separator: Option<u8> },
    /// `%*pb`, `%*pbl`: bits.
    Bitmap { list: bool },
}

impl PointerStyle {
    /// Reads the letters after `%p`; gives how many belong to it.
    pub(crate) fn parse(rest: &[u8]) -> (Self, usize) {
        let second = rest.get(1).copied();
        match rest.first().copied() {
            // `%pSR` and `%psb` add to the name what only the kernel knows (an undone relocation, a build id).
            Some(b'S') => (PointerStyle::Symbol { offset: true }, 1 + run(rest, b"Rb")),
            Some(b's') => (PointerStyle::Symbol { offset: false }, 1),
            Some(b'F') => (PointerStyle::Symbol { offset: true }, 1),
            Some(b'f') => (PointerStyle::Symbol { offset: false }, 1),
            Some(b'M') => Self::mac(second, Some(b':')),
            Some(b'm') => Self::mac(second, None),
            Some(first @ (b'I' | b'i')) => Self::ip(first == b'I', rest),
            Some(b'U') => {
                let style = |little, upper| PointerStyle::Uuid { little, upper };
                match second {
                    Some(b'b') => (style(false, false), 2),
                    Some(b'B') => (style(false, true), 2),
                    Some(b'l') => (style(true, false), 2),
                    Some(b'L') => (style(true, true), 2),
                    _ => (style(false, false), 1),
                }
            }
            Some(b'h') => {
                let style = |separator| PointerStyle::Hex { separator };
                match second {
                    Some(b'C') => (style(Some(b':')), 2),
                    Some(b'D') => (style(Some(b'-')), 2),
                    Some(b'N') => (style(None), 2),
                    _ => (style(Some(b' ')), 1),
                }
            }
            Some(b'b') => {
                let list = second == Some(b'l');
                (PointerStyle::Bitmap { list }, 1 + usize::from(list))
            }
            _ => (PointerStyle::Address, rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()),
        }
    }

    fn mac(second: Option<u8>, separator: Option<u8>) -> (Self, usize) {
        match second {
            Some(b'R') => (PointerStyle::Mac { separator, reversed: true }, 2),
            Some(b'F') if separator.is_some() => {
                (PointerStyle::Mac { separator: Some(b'-'), reversed: false }, 2)
            }
            _ => (PointerStyle::Mac { separator, reversed: false }, 1),
        }
    }

    fn ip(capital: bool, rest: &[u8]) -> (Self, usize) {
        match rest.get(1) {
            Some(b'4') => {
                let (order, length) = match rest.get(2) {
                    Some(b'h') => (None, 3),
                    Some(b'l') => (Some(ByteOrder::Little), 3),
                    Some(b'n' | b'b') => (Some(ByteOrder::Big), 3),
                    _ => (Some(ByteOrder::Big), 2),
                };
                (PointerStyle::Ipv4 { zeros: !capital, order }, length)
            }
            Some(b'6') => {
                let compressed = capital && rest.get(2) == Some(&b'c');
                (PointerStyle::Ipv6 { colons: capital, compressed }, 2 + usize::from(compressed))
            }
            Some(b'S') => {
                let letters = rest.get(2..).unwrap_or_default();
                let length = letters.iter().take_while(|byte| b"pfschnbl".contains(byte)).count();
                let letters = letters.get(..length).unwrap_or_default();
                let has = |letter| letters.contains(&letter);
                (PointerStyle::Socket { port: has(b'p'), compressed: has(b'c') }, 2 + length)
            }
            _ => (PointerStyle::Address, 1),
        }
    }

    /// True if the width of the conversion is the size of the buffer, not that of the text.
    pub(crate) fn takes_width(self) -> bool {
        matches!(self, PointerStyle::Hex { .. } | PointerStyle::Bitmap { .. })
    }

    /// Appends the text of a value. `size` is the width of the conversion if it has one.
    pub(crate) fn write(
        self,
        value: &Evaluated<'_>,
        size: Option<usize>,
        abi: Abi,
        names: &dyn SymbolNames,
        out: &mut Vec<u8>,
    ) -> Result<(), EvalError> {
        match self {
            PointerStyle::Address => write_address(value, out)?,
            PointerStyle::Symbol { offset } => write_symbol(value.number()?.bits, offset, names, out),
            PointerStyle::Mac { separator, reversed } => {
                write_mac(at_least(value, 6)?, separator, reversed, out);
            }
            PointerStyle::Ipv4 { zeros, order } => {
                write_ipv4(at_least(value, 4)?, order.unwrap_or(abi.endian), zeros, out);
            }
            PointerStyle::Ipv6 { colons, compressed } => {
                write_ipv6(at_least(value, 16)?, colons, compressed, out);
            }
            PointerStyle::Socket { port, compressed } => {
                write_socket_address(at_least(value, 2)?, abi.endian, port, compressed, out);
            }
            PointerStyle::Uuid { little, upper } => write_uuid(at_least(value, 16)?, little, upper, out),
            PointerStyle::Hex { separator } => {
                let bytes = at_least(value, 0)?;
                let bytes = bytes.get(..size.unwrap_or(1).min(bytes.len())).unwrap_or_default();
                write_hex(bytes, separator.as_slice(), out);
            }
            PointerStyle::Bitmap { list } => {
                let bits = size.unwrap_or(usize::MAX);
                if list {
                    write_bitmap_list(at_least(value, 0)?, bits, abi, out);
                } else {
                    write_bitmap_hex(at_least(value, 0)?, abi, out);
                }
            }
        }
        Ok(())
    }
}

/// How many of the bytes after the first are among `letters`.
fn run(rest: &[u8], letters: &[u8]) -> usize {
    rest.iter().skip(1).take_while(|byte| letters.contains(byte)).count()
}

/// The bytes of an array that must have at least `count` of them.
fn at_least<'v>(value: &Evaluated<'v>, count: usize) -> Result<&'v [u8], EvalError> {
    match value {
        Evaluated::Bytes(bytes, _) if bytes.len() >= count => Ok(bytes),
        Evaluated::Bytes(..) => Err(EvalError::OutOfPayload),
        _ => Err(EvalError::NotBytes),
    }
}

/// As the C library of the GNU project prints a pointer.
fn write_address(value: &Evaluated<'_>, out: &mut Vec<u8>) -> Result<(), EvalError> {
    // Writing to a vector cannot fail.
    let _ = match value {
        Evaluated::Text(text) => out.write_all(text),
        _ => match value.number()?.bits {
            0 => out.write_all(b"(nil)"),
            address => write!(out, "0x{address:x}"),
        },
    };
    Ok(())
}

fn write_symbol(address: u64, offset: bool, names: &dyn SymbolNames, out: &mut Vec<u8>) {
    let Some(symbol) = names.symbol(address) else {
        let _ = write!(out, "0x{address:x}");
        return;
    };
    out.extend_from_slice(symbol.name.as_bytes());
    if offset {
        let _ = write!(out, "+0x{:x}", symbol.offset);
    }
}

/// Sixteen bytes in five groups; in the little form the first three groups are stored backwards (RFC 9562 and EFI).
fn write_uuid(bytes: &[u8], little: bool, upper: bool, out: &mut Vec<u8>) {
    const BIG: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    const LITTLE: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    for (place, index) in if little { LITTLE } else { BIG }.into_iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        let byte = bytes.get(index).copied().unwrap_or(0);
        let _ = if upper { write!(out, "{byte:02X}") } else { write!(out, "{byte:02x}") };
    }
}
