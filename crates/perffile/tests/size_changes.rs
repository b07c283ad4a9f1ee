//! Files that grow or become shorter while they are read.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use perffile::{IssueKind, Ordering, Recording};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

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

/// A recording with so many samples of 16 bytes, the first at offset 184: an event whose samples are an address each.
fn samples(count: u64) -> Vec<u8> {
    const PERFILE2: u64 = 0x3245_4c49_4652_4550;
    let head = [PERFILE2, 104, 80, 104, 80, 184, count * 16, 0, 0, 0, 0, 0, 0];
    let attr = [64 << 32 | 1, 0, 1, 1, 0, 0, 0, 0, 0, 0];
    let samples = (0..count).flat_map(|nr| [16 << 48 | 2 << 32 | 9, 0x1000 + nr]);
    head.into_iter().chain(attr).chain(samples).flat_map(u64::to_le_bytes).collect()
}

/// A folder with a file of so many samples, and its path.
fn file_of(count: u64) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("perf.data");
    fs::write(&path, samples(count)).unwrap();
    (dir, path)
}

/// Whoever has a mapping of what is cut off gets SIGBUS for it. Pieces that are read end where the file does.
#[test]
fn a_file_that_loses_pages_is_read_as_far_as_it_goes() {
    let (_dir, path) = file_of(40_000);
    let recording = Recording::open(&path).unwrap();
    let mut batches = recording.batches(Ordering::File).unwrap();
    let mut count = batches.next().unwrap().len();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(184 + 30_000 * 16 + 8).unwrap();
    count += batches.by_ref().map(|batch| batch.len()).sum::<usize>();
    assert_eq!(count, 30_000);
    let told: Vec<(IssueKind, &str)> =
        batches.issues().iter().map(|issue| (issue.kind, issue.message.as_str())).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[0], (IssueKind::CutData, "the last record is cut: 8 bytes of 16 bytes are there"));
    assert_eq!(told[1].0, IssueKind::SizeChanged);
    assert!(told[1].1.starts_with("perf.data became shorter by 159992 bytes"), "{told:?}");
}

/// Also while somebody keeps all that was read, which is then more than is read into memory.
#[test]
fn batches_that_are_kept_stay_as_they_are() {
    let (_dir, path) = file_of(100_000);
    let recording = Recording::open(&path).unwrap();
    for ordering in [Ordering::File, Ordering::Time] {
        let batches: Vec<perffile::Batch> = recording.batches(ordering).unwrap().collect();
        let ips = batches.iter().flat_map(|batch| batch.iter().filter_map(|event| event.sample()?.ip()));
        assert!(ips.eq((0..100_000).map(|nr| 0x1000 + nr)), "{ordering:?}");
    }
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
