//! The four tables of the README's recording, byte for byte. Names come only from the binaries beside the recording, so
//! that the tables are the same on every machine. That the numbers in them are right is shown in `csv.rs` and
//! `differential.rs`, against perf; here it is shown that they stay so.
//!
//! After a deliberate change: `READPERF_BLESS=1 cargo test -p readperf --test golden`, and look at the difference.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::golden::assert_golden;
use oracle::{fixture, scratch, tool};

#[test]
fn the_four_tables_of_the_main_recording() {
    let (out, nothing) = (scratch(), scratch());
    let output = tool::command()
        .arg(fixture("main"))
        .arg("--csv-dir")
        .arg(out.path())
        .arg("--symfs")
        .arg(nothing.path())
        // The build-id cache of whoever runs the test is not for this recording.
        .env("HOME", nothing.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    for name in ["stat.csv", "overview.csv", "processes.csv", "results.csv"] {
        let written = std::fs::read_to_string(out.path().join(name)).unwrap();
        assert_golden(&format!("main/{name}"), &written);
    }
}

/// The same bytes whatever the number of threads.
#[test]
fn threads_change_nothing() {
    let answer = |threads: &str| {
        let output = tool::command()
            .args(["report", "--json", "--threads", threads])
            .arg(fixture("multi"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let one = answer("1");
    assert!(one.contains("self_period"), "{one}");
    assert_eq!(one, answer("2"));
    assert_eq!(one, answer("7"));
}
