//! Fields of `dump --json` against what the recording machine's own perf said of the same records (`perf report -D` and
//! `perf script -F trace` on it), on recordings of three architectures and both byte orders that lie beside the repository.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]

mod oracle;

use oracle::fields::{Tally, after, compare_line, compare_sample, compare_traces, dump, number, records};
use oracle::skip;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The recordings of the three machines in the corpus.
fn own_recordings() -> Vec<PathBuf> {
    let root = oracle::corpus_root();
    let mut files = Vec::new();
    for folder in ["own-aarch64", "own-armhf", "own-s390x"] {
        for entry in std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_file() && path.extension().is_some_and(|extension| extension == "data") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A text beside a recording, or its gzipped form.
fn text_beside(recording: &Path, extension: &str) -> Option<String> {
    let path = recording.with_extension(extension);
    if let Ok(text) = std::fs::read(&path) {
        return Some(String::from_utf8_lossy(&text).into_owned());
    }
    let output = Command::new("gzip").arg("-dc").arg(format!("{}.gz", path.display())).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn fields_are_what_the_machine_s_own_perf_says() {
    let recordings = own_recordings();
    if recordings.is_empty() {
        return skip("own_fields", "there is no corpus beside the repository");
    }
    let mut tally = Tally::default();
    for recording in &recordings {
        let name = recording
            .strip_prefix(recording.parent().unwrap().parent().unwrap())
            .unwrap()
            .display()
            .to_string();
        let Some(text) = text_beside(recording, "dump.txt") else { continue };
        // Records that were compressed have no offset of their own.
        if !dump(recording, "compressed,compressed2").is_empty() {
            continue;
        }
        let ours: BTreeMap<u64, Value> = dump(recording, "sample,mmap2")
            .into_iter()
            .map(|record| (number(&record["offset"]).unwrap(), record))
            .collect();
        let mut said = records(&text);
        // The last record's text may be cut.
        said.pop();
        for said in said {
            let Some(record) = ours.get(&said.offset) else { continue };
            let at = format!("{name}, {:#x}", said.offset);
            if said.is_sample() {
                compare_line(&said, record, &at, &mut tally);
                compare_sample(&said, record, &at, &mut tally);
            } else if said.line.contains("PERF_RECORD_MMAP2") {
                let permissions = after(said.line, "]: PERF_RECORD_MMAP2").map(|_| said.line);
                let permissions = permissions.and_then(|line| after(line.split_once(" @ ")?.1, "]: "));
                assert_eq!(record["prot_words"].as_str(), permissions, "{at}");
                *tally.0.entry("permissions").or_default() += 1;
            }
        }
    }
    eprintln!("compared: {:?}", tally.0);
    for (field, least) in [
        ("addr", 1000),
        ("register", 10_000),
        ("weight", 300),
        ("data_src", 300),
        ("phys_addr", 300),
        ("data_page_size", 300),
        ("code_page_size", 300),
        ("stack", 200),
        ("callchain", 5000),
        ("permissions", 500),
    ] {
        assert!(tally.of(field) >= least, "only {} {field} were compared", tally.of(field));
    }
}

#[test]
fn texts_of_tracepoints_are_what_the_machine_s_own_perf_says() {
    let mut compared = 0;
    let recordings = own_recordings();
    if recordings.is_empty() {
        return skip("own_fields", "there is no corpus beside the repository");
    }
    for recording in &recordings {
        if let Some(text) = text_beside(recording, "trace.txt") {
            compared += compare_traces(&dump(recording, "sample"), &text, &recording.display().to_string());
        }
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn texts_of_the_fixture_are_what_perf_says() {
    let text = oracle::said("tracepoints", "perf.script.txt").unwrap();
    let compared = compare_traces(&dump(&oracle::fixture("tracepoints"), "sample"), &text, "tracepoints");
    assert!(compared > 10, "{compared}");
}

/// What another machine's `perf record --kcore` made.
#[test]
fn a_kcore_directory_of_another_machine() {
    let path = oracle::corpus_root().join("own-s390x/kcore.data");
    if !path.is_dir() {
        return skip("own_fields", "there is no corpus beside the repository");
    }
    let info = oracle::tool::json("info", &path);
    assert_eq!(info["container"], "directory");
    assert_eq!(info["kcore_dir"].as_str(), path.join("kcore_dir").to_str());
    assert!(!dump(&path, "sample").is_empty());
}
