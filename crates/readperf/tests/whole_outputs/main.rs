//! Output files are whole or what they were before, whatever ends the program; and nothing temporary stays.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod ends;
#[path = "../handmade/mod.rs"]
mod handmade;
#[path = "../oracle/mod.rs"]
mod oracle;
mod places;

use oracle::{fixture, scratch, tool};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Output;

/// What stands in files before the program runs.
pub(crate) const OLD: &str = "what was there before\n";

/// The names in a folder, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A folder with nothing but `out`, as it was before.
pub(crate) fn old_output() -> (tempfile::TempDir, PathBuf) {
    let dir = scratch();
    let out = dir.path().join("out");
    fs::write(&out, OLD).unwrap();
    (dir, out)
}

/// Nothing has changed, and nothing was left.
pub(crate) fn check_untouched(what: &str, dir: &Path) {
    assert_eq!(names(dir), ["out"], "{what}");
    assert_eq!(fs::read_to_string(dir.join("out")).unwrap(), OLD, "{what}");
}

/// One line on standard error, under the program's name.
pub(crate) fn only_line(what: &str, output: &Output) -> String {
    let said = tool::stderr(output);
    assert!(said.lines().count() == 1 && said.starts_with("readperf: "), "{what}: {said:?}");
    said
}

/// The program in a shell that limits what it may use (`ulimit OPTIONS`).
fn limited(options: &str, arguments: &[&Path]) -> Output {
    let script = format!("ulimit {options}; exec \"$0\" \"$@\"");
    tool::under("sh", &["-c", &script]).args(arguments).output().unwrap()
}

#[test]
fn a_limit_of_the_size_of_files_is_told_and_costs_nothing() {
    let (dir, out) = old_output();
    // Blocks of 512 or 1024 bytes.
    let output = limited("-f 1", &[Path::new("dump"), Path::new("-o"), &out, &fixture("main")]);
    assert_eq!(output.status.code(), Some(1), "{:?}", output.status);
    let said = only_line("a limit", &output);
    assert!(said.contains("File too large") && said.contains(out.to_str().unwrap()), "{said}");
    check_untouched("a limit", dir.path());
}

#[test]
fn a_full_disk_is_told_in_one_line() {
    let full = Path::new("/dev/full");
    let main = fixture("main");
    let commands: [&[&str]; 9] = [
        &["--no-csv"],
        &["info"],
        &["stats"],
        &["dump"],
        &["report"],
        &["script"],
        &["check"],
        &["timeline"],
        &["export", "-f", "folded"],
    ];
    for command in commands {
        let output = tool::command().args(command).arg(&main).arg("-o").arg(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let said = only_line("-o /dev/full", &output);
        assert!(said.contains("/dev/full: No space left"), "{command:?}: {said}");
        let stdout = OpenOptions::new().write(true).open(full).unwrap();
        let output = tool::command().args(command).arg(&main).stdout(stdout).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let said = only_line("standard output is full", &output);
        assert!(said.contains("standard output: No space left"), "{command:?}: {said}");
    }
    let stdout = OpenOptions::new().write(true).open(full).unwrap();
    let output = tool::command().args(["completions", "bash"]).stdout(stdout).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    only_line("completions", &output);
}

#[test]
fn wrong_usage_that_shows_late_leaves_what_was_there() {
    let (dir, out) = old_output();
    // A stream tells its events on the way: only at its end it is known that none has this name.
    let arguments = [Path::new("dump"), Path::new("--event"), Path::new("none"), Path::new("-o"), &out];
    let input = File::open(fixture("pipe")).unwrap();
    let output = tool::command().args(arguments).arg("-").stdin(input).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", tool::stderr(&output));
    check_untouched("wrong usage", dir.path());
}

#[test]
fn a_damaged_recording_is_answered_unless_that_is_a_failure() {
    let (dir, out) = old_output();
    let cut = fixture("cut");
    let output = tool::run(&[Path::new("stats"), Path::new("--strict"), &cut, Path::new("-o"), &out]);
    assert_eq!(output.status.code(), Some(1));
    check_untouched("--strict", dir.path());
    let output = tool::run(&[Path::new("stats"), &cut, Path::new("-o"), &out]);
    assert_eq!(output.status.code(), Some(3));
    let shown = tool::run(&[Path::new("stats"), &cut]).stdout;
    assert!(fs::read(&out).unwrap() == shown);
    assert_eq!(names(dir.path()), ["out"]);
}

/// The four tables are of one recording: if one of them cannot be written, those of the run before stay together.
#[test]
fn tables_change_together() {
    let dir = scratch();
    let tables = ["overview.csv", "processes.csv", "results.csv", "stat.csv"];
    for bad in tables {
        for table in tables {
            fs::write(dir.path().join(table), OLD).unwrap();
        }
        fs::remove_file(dir.path().join(bad)).unwrap();
        fs::create_dir(dir.path().join(bad)).unwrap();
        let output = tool::run(&[&fixture("main"), Path::new("--csv-dir"), dir.path()]);
        assert_eq!(output.status.code(), Some(1), "{bad}");
        assert!(!output.stdout.is_empty(), "the overview itself is shown");
        let said = only_line(bad, &output);
        assert!(said.contains(&format!("error: {bad} could not be written")), "{said}");
        assert!(said.contains("so none of the tables was"), "{said}");
        assert_eq!(names(dir.path()), tables, "{bad}");
        for table in tables.iter().filter(|table| **table != bad) {
            assert_eq!(fs::read_to_string(dir.path().join(table)).unwrap(), OLD, "{bad}: {table}");
        }
        fs::remove_dir(dir.path().join(bad)).unwrap();
    }
    let output = tool::run(&[&fixture("main"), Path::new("--csv-dir"), dir.path()]);
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    assert_eq!(names(dir.path()), tables);
    for table in tables {
        assert_ne!(fs::read_to_string(dir.path().join(table)).unwrap(), OLD, "{table}");
    }
}

#[test]
fn tables_stay_where_the_disk_is_full() {
    let dir = scratch();
    for table in ["overview.csv", "processes.csv", "results.csv", "stat.csv"] {
        fs::write(dir.path().join(table), OLD).unwrap();
    }
    let output = limited("-f 4", &[&fixture("main"), Path::new("--csv-dir"), dir.path()]);
    assert_eq!(output.status.code(), Some(1), "{:?}", output.status);
    assert!(only_line("a limit", &output).contains("overview.csv could not be written"));
    for table in names(dir.path()) {
        assert_eq!(fs::read_to_string(dir.path().join(&table)).unwrap(), OLD, "{table}");
    }
}

/// Whatever way a recording is given, it is not written over.
#[test]
fn no_recording_is_written_over() {
    let dir = scratch();
    let copy = |name: &str| {
        let path = dir.path().join(name);
        fs::copy(fixture("main"), &path).unwrap();
        path
    };
    let (first, second) = (copy("first"), copy("second"));
    let content = fs::read(&first).unwrap();
    let commands: [&[&str]; 3] = [
        &["diff", "first", "second", "-o", "second"],
        &["export", "-f", "flamegraph", "first", "--base", "second", "-o", "second"],
        &["stats", "-", "-o", "first"],
    ];
    for command in commands {
        let stdin = File::open(&first).unwrap();
        let output = tool::command().args(command).current_dir(dir.path()).stdin(stdin).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(tool::stderr(&output).contains("overwritten"), "{}", tool::stderr(&output));
        for path in [&first, &second] {
            assert!(fs::read(path).unwrap() == content, "{command:?}");
        }
    }
}
