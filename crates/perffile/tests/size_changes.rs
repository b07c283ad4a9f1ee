//! Files that grow or become shorter while they are read.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use perffile::{IssueKind, Ordering, Recording};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)
}

/// What is told of a change between opening a recording and reading it.
fn told(path: &Path, change: impl FnOnce()) -> Vec<String> {
    let recording = Recording::open(path).unwrap();
    change();
    let mut batches = recording.batches(Ordering::File).unwrap();
    batches.by_ref().for_each(drop);
    let told = batches.issues().iter().filter(|issue| issue.kind == IssueKind::SizeChanged);
    told.map(|issue| issue.message.clone()).collect()
}

fn grow(path: &Path) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(&[0; 100]).unwrap();
}

#[test]
fn a_file_that_changes_its_size_is_told() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["main", "pipe"] {
        let path = dir.path().join(name);
        fs::copy(fixture(name).join("perf.data"), &path).unwrap();
        assert!(told(&path, || ()).is_empty());
        let messages = told(&path, || grow(&path));
        assert_eq!(messages.len(), 1);
        assert!(messages[0].starts_with(&format!("{name} has grown by 100 bytes")), "{messages:?}");
        // Not by a page: whoever touched that would get SIGBUS.
        let length = fs::metadata(&path).unwrap().len() - 50;
        let messages =
            told(&path, || OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap());
        assert!(messages[0].starts_with(&format!("{name} became shorter by 50 bytes")), "{messages:?}");
    }
}

/// perf gives the old file another name before it writes a new one.
#[test]
fn another_file_under_its_name_is_no_change() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("perf.data");
    fs::copy(fixture("main").join("perf.data"), &path).unwrap();
    let messages = told(&path, || {
        fs::rename(&path, dir.path().join("perf.data.old")).unwrap();
        fs::write(&path, "new").unwrap();
    });
    assert!(messages.is_empty(), "{messages:?}");
    assert!(told(&dir.path().join("perf.data.old"), || fs::remove_file(&path).unwrap()).is_empty());
}

#[test]
fn each_file_of_a_directory_counts() {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(fixture("threads").join("perf.data")).unwrap() {
        let file = entry.unwrap();
        if file.path().is_file() {
            fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
        }
    }
    assert!(told(dir.path(), || ()).is_empty());
    let messages =
        told(dir.path(), || ["data", "data.1"].iter().for_each(|name| grow(&dir.path().join(name))));
    assert_eq!(messages.len(), 1, "one kind, the first is told: {messages:?}");
    assert!(messages[0].starts_with("data has grown"), "{messages:?}");
    let messages = told(dir.path(), || grow(&dir.path().join("data.1")));
    assert!(messages[0].starts_with("data.1 has grown"), "{messages:?}");
}
