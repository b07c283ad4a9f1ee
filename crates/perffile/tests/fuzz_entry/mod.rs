//! What is done with hostile bytes: one function per boundary, for the fuzz targets and for the tests alike.
//!
//! None of them looks at what comes out, but for what must hold whatever the bytes: that is asserted here, so that a
//! fuzzer finds it too.
#![allow(dead_code, unreachable_pub, unused_imports)] // Each user takes some of these.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "what must hold whatever the bytes is asserted here: a panic is how a fuzzer learns of it"
)]

mod chunked;
mod copied;
mod pieces;
mod show;
mod walk;

pub use chunked::{Chunked, chunking, same_by_mapping_and_by_reading};
pub use copied::copied;
pub use pieces::{attr, compressed, feature, pipe_start, push, record, tracepoint};
pub use show::Shown;
pub use walk::{Seen, container, everything, walk};

/// A function that takes hostile bytes.
pub type Entry = fn(&[u8]);

/// Every boundary, by the name of its fuzz target and its directory of seeds.
pub const ENTRIES: &[(&str, Entry)] = &[
    ("container", container),
    ("attr", attr),
    ("record", record),
    ("feature", feature),
    ("tracepoint", tracepoint),
    ("compressed", compressed),
    ("chunking", chunking),
    ("copied", copied),
];
