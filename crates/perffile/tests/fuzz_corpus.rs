//! What the fuzzer begins with, and what it has found, as plain tests: `fuzz/corpus/<target>/*` and the fixtures.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

mod fuzz_entry;
mod hostile;

use fuzz_entry::ENTRIES;
use hostile::files;
use std::path::Path;

#[test]
fn every_seed_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, entry) in ENTRIES {
        let folder = std::fs::read_dir(corpus.join(name)).into_iter().flatten();
        let paths: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        // Those of the others are copies of the fixtures.
        assert!(
            !paths.is_empty() || matches!(*name, "container" | "chunking" | "copied"),
            "no seeds of {name}"
        );
        for path in paths {
            eprintln!("{}", path.display());
            entry(&std::fs::read(path).unwrap());
        }
    }
}

#[test]
fn every_entry_takes_every_fixture() {
    for path in files::fixtures() {
        let bytes = std::fs::read(&path).unwrap();
        for (name, entry) in ENTRIES {
            eprintln!("{name} {}", path.display());
            entry(&bytes);
            entry(&[b"\x09", &bytes[..]].concat());
        }
    }
}

#[test]
fn every_target_has_an_entry_and_every_entry_a_target() {
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let found = std::fs::read_dir(targets).unwrap().map(|entry| entry.unwrap().file_name());
    let mut found: Vec<String> = found.map(|name| name.to_string_lossy().replace(".rs", "")).collect();
    let mut known: Vec<String> = ENTRIES.iter().map(|(name, _)| (*name).to_owned()).collect();
    found.sort();
    known.sort();
    assert_eq!(found, known);
}
