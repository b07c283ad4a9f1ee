//! The tables: what a row is, and its columns. One a file.

pub(crate) mod binaries;
pub(crate) mod counters;
pub(crate) mod events;
pub(crate) mod frame_levels;
pub(crate) mod frames;
pub(crate) mod mappings;
pub(crate) mod profiles;
pub(crate) mod samples;
pub(crate) mod stacks;
pub(crate) mod switches;
pub(crate) mod symbols;
pub(crate) mod threads;
pub(crate) mod trace_fields;

use crate::field::{Field, Value};
use std::ops::Range;

/// The column that says of which recording a row is.
const fn profile_id<R>() -> Field<R> {
    Field::new(
        "profile_id",
        "The recording: `profiles.profile_id`.",
        Value::Int64(|made, _| Some(made.profile_id())),
    )
}

/// Some of a list.
fn part<R: Copy>(list: &[R], rows: Range<usize>) -> Vec<R> {
    list.get(rows).unwrap_or_default().to_vec()
}

/// A number that is unsigned where it was recorded: its bits.
fn bits(number: u64) -> Option<i64> {
    Some(number.cast_signed())
}

/// Bytes in hex.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
