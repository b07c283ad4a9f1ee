//! Tracepoints: the descriptions a recording carries, and the text of one sample's payload.
//!
//! A recording with tracepoint events holds a blob (`HEADER_TRACING_DATA`) with one text per event: its fields with
//! offsets and sizes, and a `print fmt` line, which is a C `printf` call. [`TracingData`] takes the blob apart,
//! [`EventFormat`] one text, [`PrintFmt`] the C expressions of its last line, and [`Catalog`] holds all of them by
//! event id, ready to turn payloads into text.
//!
//! Everything here takes byte slices and returns values. Whatever the bytes, nothing panics, and time and memory stay
//! proportional to the input; see [`limits`].

mod arithmetic;
mod bitmap;
mod c_type;
mod calls;
mod catalog;
mod declaration;
mod errors;
mod eval;
mod expr;
mod format;
mod lexer;
mod network;
mod parser;
mod pointer;
mod printf;
mod side_tables;
mod symbol_names;
mod tables;
mod tracing_data;
mod value;

pub use c_type::{IntType, Number};
pub use catalog::{Catalog, Tracepoint};
pub use errors::{EvalError, ParseError};
pub use format::{EventFormat, Field, FieldKind, FormatError};
pub use printf::PrintFmt;
pub use side_tables::{KallsymsEntry, PrintkFormats, kernel_symbols, saved_cmdlines};
pub use symbol_names::{NoSymbols, SymbolName, SymbolNames};
pub use tracing_data::{Partial, System, TracingData, TracingDataError};
pub use value::{FieldValue, IntArray};

pub use crate::wire::endian::ByteOrder;

/// What the recorder's C compiler took for granted: needed to read payloads and to evaluate C expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Abi {
    /// Byte order of the payloads.
    pub endian: ByteOrder,
    /// Bytes in a `long` and in a pointer of the recorded kernel: 4 or 8.
    pub long_size: u8,
}

impl Abi {
    /// An ABI whose `long_size` is forced to 4 or 8 (a blob may claim anything).
    pub fn new(endian: ByteOrder, long_size: u8) -> Self {
        Abi { endian, long_size: if long_size == 4 { 4 } else { 8 } }
    }
}

/// Bounds that keep hostile input harmless.
pub mod limits {
    /// Deepest nesting of an expression in a `print fmt`. The kernel's own stay below 30.
    pub const EXPRESSION_DEPTH: u16 = 128;
    /// Longest text made of one payload, in bytes; the rest is refused.
    pub const TEXT_BYTES: usize = 1 << 20;
    /// Largest width or precision of a `printf` conversion.
    pub const FIELD_WIDTH: usize = 4096;
    /// Most fields of one event format.
    pub const FIELDS: usize = 4096;
    /// Longest declaration of a field, in bytes; longer ones are not taken apart.
    pub const DECLARATION_BYTES: usize = 4096;
    /// Longest `print fmt`, in bytes. The kernel's longest are below 10,000.
    pub const PRINT_FMT_BYTES: usize = 1 << 18;
}
