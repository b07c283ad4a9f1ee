//! What the tests of event names need: recordings of chosen attrs, recordings robbed of their names, and perf's opinion.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::print_stderr)]

pub(crate) mod crafted;
pub(crate) mod perf;
pub(crate) mod robbed;

#[path = "../../../../tests/corpus_root.rs"]
mod corpus_root;

use perffile::Recording;
use perffile::bytes::Bytes;
use std::path::PathBuf;

/// Names of the events of a recording, in its order.
pub(crate) fn names(recording: &[u8]) -> Vec<String> {
    let recording = Recording::from_bytes(Bytes::new(recording.to_vec())).expect("a recording");
    let metadata = recording.read_metadata().expect("its metadata");
    metadata.schema.events().iter().map(|event| event.name.clone()).collect()
}

/// The folder of recordings that others made, where there is one.
pub(crate) fn corpus() -> Option<PathBuf> {
    let path = corpus_root::corpus_root();
    path.is_dir().then_some(path)
}

/// Every file below a folder, in order of the names.
pub(crate) fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Says in a way that cannot be overlooked that a test did not test anything.
pub(crate) fn skip(test: &str, why: &str) {
    eprintln!("\n**** SKIPPED {test}: {why} ****\n");
}
