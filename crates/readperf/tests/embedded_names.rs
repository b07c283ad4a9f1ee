//! Names that recordings bring themselves.
//!
//! The expected counts were worked out from the bytes by a script of its own: samples of MMAP ranges, their addresses looked
//! up in the table of feature 128 (address − start + pgoff + lowest address of the file).
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "../../../tests/corpus_root.rs"]
mod corpus_root;

use readperf::symbols::Options;
use readperf::{PassOptions, Request, analyse};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A file of the corpus.
fn corpus(name: &str) -> Option<PathBuf> {
    let path = corpus_root::corpus_root().join(name);
    if !path.exists() {
        eprintln!("**** skipped: {} is not here ****", path.display());
        return None;
    }
    Some(path)
}

/// Samples by function, of what has a name.
fn functions(path: &Path) -> BTreeMap<String, u64> {
    let recording = perffile::Recording::open(path).unwrap();
    let symbols = Options { symfs: Some("/nonexistent".into()), ..Options::default() };
    let request = Request { symbols, pass: PassOptions::default(), ..Request::default() };
    let profile = analyse(&recording, &request).unwrap().profile;
    let mut sums = BTreeMap::new();
    for row in profile.rows() {
        let function = profile.function(profile.names().function_at(row.address).unwrap()).unwrap();
        if let Some(name) = function.name() {
            *sums.entry(name.to_owned()).or_default() += row.samples;
        }
    }
    sums
}

#[test]
fn tables_of_simpleperf_name_functions_of_files() {
    let Some(path) = corpus("simpleperf/perf_with_symbols.data") else { return };
    let found = functions(&path);
    assert_eq!((found["main"], found["func2"]), (572, 360));
}

#[test]
fn tables_of_simpleperf_name_generated_code() {
    let Some(path) = corpus("simpleperf/perf_with_jit_symbol.data") else { return };
    let found = functions(&path);
    assert_eq!(found["com.android.simpleperf.debuggable.MainActivity$1.run"], 128);
}
