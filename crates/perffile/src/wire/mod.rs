//! Bytes to typed records and back. Pure: no files, no state between records.
//!
//! One declaration per record, feature section and attr (see [`pass`]); byte order is a type parameter ([`endian`]).

pub mod attr;
pub mod bitfield;
pub mod branch;
pub mod callchain;
pub mod clock;
pub mod data_src;
pub(crate) mod declare;
pub mod decode;
pub mod describe;
pub mod encode;
pub mod endian;
pub mod event_type;
pub mod feature;
pub mod head;
pub mod list;
pub mod measure;
pub mod misc;
mod names;
pub mod pass;
pub mod protection;
pub mod record;
pub mod registers;
pub mod sample;
pub mod text;
pub mod transaction;
pub mod value;
pub mod weight;
pub mod words;

use std::fmt;

pub use text::{CStr8, HeaderString};

/// Why the fields of a record, feature or attr could not be decoded. Offsets count from the start of its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The field at which it stopped, by its ABI name.
    pub field: &'static str,
    /// Offset of that field in the body, in bytes.
    pub at: u32,
    /// What is wrong.
    pub kind: WireErrorKind,
}

/// What is wrong with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireErrorKind {
    /// The body ends before the field does.
    Short {
        /// Bytes the field needs.
        need: u64,
        /// Bytes that are left.
        left: u32,
    },
    /// More elements than the wire type or the reader's limits can count.
    TooMany {
        /// The count.
        count: u64,
    },
    /// The field's value leaves no way to read on.
    Unreadable {
        /// What it holds.
        value: u64,
    },
}

impl WireError {
    #[cold]
    pub(crate) fn short(field: &'static str, at: usize, need: u64, left: usize) -> Self {
        let kind = WireErrorKind::Short { need, left: u32::try_from(left).unwrap_or(u32::MAX) };
        WireError { field, at: u32::try_from(at).unwrap_or(u32::MAX), kind }
    }

    #[cold]
    pub(crate) fn too_many(field: &'static str, count: u64) -> Self {
        WireError { field, at: 0, kind: WireErrorKind::TooMany { count } }
    }

    #[cold]
    pub(crate) fn unreadable(field: &'static str, value: u64) -> Self {
        WireError { field, at: 0, kind: WireErrorKind::Unreadable { value } }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WireError { field, at, kind } = self;
        match kind {
            WireErrorKind::Short { need, left } => {
                write!(f, "field `{field}` (byte {at} of the body) needs {need} bytes, {left} are left")
            }
            WireErrorKind::TooMany { count } => {
                write!(f, "field `{field}` counts {count} elements, which cannot be")
            }
            WireErrorKind::Unreadable { value } => {
                write!(f, "field `{field}` holds {value:#x}, which cannot be read")
            }
        }
    }
}

impl std::error::Error for WireError {}
