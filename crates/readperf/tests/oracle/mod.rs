//! What the tests of the binary compare with: the machine's own `perf`, the fixtures with perf's statements beside
//! them, and ways to run `readperf` itself.
//!
//! perf's exit status proves nothing, so only its output is used. A missing perf skips a test with a loud message.

// Each test binary uses a part of this module.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::print_stderr)]

#[path = "../../../../tests/corpus_root.rs"]
mod corpus_root;
pub(crate) mod fields;
pub(crate) mod golden;
pub(crate) mod live;
pub(crate) mod names;
pub(crate) mod report;
pub(crate) mod stats;
pub(crate) mod terminal;
pub(crate) mod tool;

#[allow(unused_imports)]
pub(crate) use corpus_root::corpus_root;
use std::path::{Path, PathBuf};

/// The folder of a fixture kind such as `main`.
pub(crate) fn kind(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)
}

/// The fixtures whose samples have an instruction pointer: what exports are tried on.
pub(crate) const SAMPLED: [&str; 10] =
    ["main", "multi", "kernel", "group", "everything", "dwarf", "rust", "threads", "tracepoints", "pipe"];

/// The recording of a fixture kind; a directory for `threads`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    let path = kind(name).join("perf.data");
    assert!(path.exists(), "fixture {} is missing; tests/fixtures/make.sh makes it", path.display());
    path
}

/// perf's statement about a fixture, `None` where perf had nothing to say.
pub(crate) fn said(name: &str, file: &str) -> Option<String> {
    std::fs::read_to_string(kind(name).join(file)).ok()
}

/// A scratch directory that goes away with the value.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("readperf-test-").tempdir().expect("a temporary directory")
}

/// Says in a way that cannot be overlooked that a test did not test anything.
pub(crate) fn skip(test: &str, why: &str) {
    eprintln!("\n**** SKIPPED {test}: {why} ****\n");
}
