//! Directories of which something has gone (`perf record --threads`): what cannot be read is never passed over in silence.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use perffile::{IssueKind, Recording};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The fixture: two files of records, of 132 samples in all.
fn copy(to: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/threads/perf.data");
    let copied = to.join("perf.data");
    fs::create_dir(&copied).unwrap();
    for file in from.read_dir().unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), copied.join(file.file_name())).unwrap();
    }
    copied
}

/// How many samples there are, and what is said to be wrong: kinds, with where each was met first.
fn read(path: &Path) -> (u64, BTreeMap<IssueKind, String>) {
    let mut samples = 0;
    let recording = Recording::open(path).unwrap();
    let issues = recording.for_each(|event| samples += u64::from(event.sample().is_some())).unwrap();
    (samples, issues.iter().map(|issue| (issue.kind, issue.place.part.to_string())).collect())
}

/// What is left, and said, when something was done to a directory.
fn after(change: impl Fn(&Path)) -> (u64, BTreeMap<IssueKind, String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = copy(dir.path());
    change(&path);
    read(&path)
}

#[test]
fn nothing_is_wrong_with_all_of_it() {
    assert_eq!(after(|_| ()), (132, BTreeMap::new()));
}

/// A gap in the numbers; and the last file, which leaves none: the table of the counters tells of it.
#[test]
fn files_that_have_gone_are_told() {
    for (file, left) in [("data.0", 68), ("data.1", 64)] {
        let (samples, issues) = after(|path| fs::remove_file(path.join(file)).unwrap());
        assert_eq!((samples, issues.get(&IssueKind::MissingStream)), (left, Some(&file.to_owned())));
    }
    let (_, issues) = after(|path| {
        fs::remove_file(path.join("data.0")).unwrap();
        fs::remove_file(path.join("data.1")).unwrap();
    });
    assert!(issues.contains_key(&IssueKind::MissingStream), "{issues:?}");
}

/// A device would never end, a named pipe never open.
#[test]
fn what_is_no_file_is_told_and_not_opened() {
    for target in ["/dev/zero", "/dev/null", "nowhere", "."] {
        let (samples, issues) = after(|path| {
            fs::remove_file(path.join("data.0")).unwrap();
            symlink(target, path.join("data.0")).unwrap();
        });
        assert_eq!(samples, 68, "{target}");
        assert_eq!(issues.get(&IssueKind::MissingStream), Some(&"data.0".to_owned()), "{target}");
    }
}

/// An empty file is what a CPU leaves on which nothing ran: that samples are missing is known by the times of the first and
/// the last one.
#[test]
fn emptied_files_are_told_by_the_times_of_samples() {
    let empty = |path: &Path, file: &str| fs::write(path.join(file), []).unwrap();
    for (file, left) in [("data.0", 68), ("data.1", 64)] {
        let (samples, issues) = after(|path| empty(path, file));
        assert_eq!((samples, issues.contains_key(&IssueKind::MissingSamples)), (left, true), "{file}");
        assert!(!issues.contains_key(&IssueKind::MissingStream), "the file is there: {issues:?}");
    }
    let (samples, issues) = after(|path| {
        empty(path, "data.0");
        empty(path, "data.1");
    });
    assert_eq!((samples, issues.contains_key(&IssueKind::MissingSamples)), (0, true));
}
