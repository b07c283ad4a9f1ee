//! Recordings that `readperf edit` changes, read by perf: build-ids that are added, names that are taken out.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, kind, scratch, tool};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn edited(from: &Path, to: &Path, options: &[&str]) -> PathBuf {
    let output = tool::command().arg("edit").arg(from).arg("-o").arg(to).args(options).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{options:?}: {}", tool::stderr(&output));
    to.to_owned()
}

fn perf(arguments: &[&str], recording: &Path) -> String {
    let mut command = Command::new("perf");
    let output = command.args(arguments).arg("-i").arg(recording).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
#[ignore = "live: perf"]
fn added_build_ids_are_those_of_perf() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name);
    let tree = kind("bin").join("tree");
    let record = ["record", "-q", "-B", "-N", "-g", "-F", "9999", "-e", "cpu-clock:u", "-o"];
    let recorded = path("perf.data");
    Command::new("perf").args(record).args([&recorded, &tree]).output().unwrap();
    let injected = path("injected.data");
    perf(&["inject", "-b", "-o", injected.to_str().unwrap()], &recorded);
    let ids = |recording: &Path| -> BTreeSet<String> {
        // Where there is none, the line begins with blanks.
        let list = perf(&["buildid-list"], recording);
        list.lines().filter(|line| !line.starts_with(' ') && !line.contains('[')).map(str::to_owned).collect()
    };
    let edited = edited(&recorded, &path("edited.data"), &["--add-build-ids"]);
    assert!(ids(&recorded).is_empty() && !ids(&injected).is_empty());
    // perf leaves out what has no sample but only callers.
    assert!(ids(&edited).is_superset(&ids(&injected)), "{:?} {:?}", ids(&edited), ids(&injected));
}

#[test]
#[ignore = "live: perf"]
fn perf_reads_what_has_no_names() {
    let folder = scratch();
    for name in ["main", "multi", "kernel", "group", "tracepoints", "threads", "stat"] {
        let anonymous = edited(&fixture(name), &folder.path().join(name), &["--anonymise"]);
        let numbers = |recording: &Path| -> Vec<String> {
            let stats = perf(&["report", "--stats"], recording);
            stats.lines().filter(|line| line.contains("events:")).map(str::to_owned).collect()
        };
        assert!(!numbers(&fixture(name)).is_empty(), "{name}");
        let (whole, written) = (numbers(&fixture(name)), numbers(&anonymous));
        // The names of events stand above; what perf makes up itself at the end of a directory is not a record of it.
        let of = |lines: &[String], what: &str| -> Vec<String> {
            let lines = lines.iter().filter(|line| line.contains(what));
            lines.map(|line| line.split('(').next().unwrap().trim().to_owned()).collect()
        };
        for what in ["SAMPLE", "COMM", "MMAP2", "FORK", "EXIT"] {
            assert_eq!(of(&written, what), of(&whole, what), "{name}");
        }
        let shares = |recording: &Path| -> Vec<String> {
            let report = [
                "report",
                "--stdio",
                "--no-children",
                "-g",
                "none",
                "--sort",
                "comm,dso",
                "-F",
                "overhead,sample",
            ];
            let report = perf(&report, recording);
            let rows = report.lines().filter(|line| !line.starts_with('#'));
            let mut rows: Vec<String> =
                rows.map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect();
            rows.sort();
            rows
        };
        assert_eq!(shares(&anonymous), shares(&fixture(name)), "{name}");
    }
}
