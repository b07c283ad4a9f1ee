//! `readperf sql`: answers equal those of other commands, whatever way the tables are asked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod answers;
mod folders;
mod forms;
#[path = "../oracle/mod.rs"]
mod oracle;
mod other_schemas;
mod page;
mod prompt;
mod stacks;

use oracle::tool;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;

/// The rows of an answer.
fn rows(query: &str, places: &[&Path]) -> Vec<Value> {
    let output = asked(query, places, &["--format", "json"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{query}: {}", tool::stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn asked(query: &str, places: &[&Path], options: &[&str]) -> Output {
    let words = ["sql", "--no-progress"].iter().chain(options).chain([&query]).map(OsStr::new);
    let words: Vec<&OsStr> = words.chain(places.iter().map(|place| place.as_os_str())).collect();
    tool::run(&words)
}

/// The answer as text.
fn text(query: &str, places: &[&Path], options: &[&str]) -> String {
    let output = asked(query, places, options);
    assert_eq!(output.status.code(), Some(0), "{query}: {}", tool::stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Exports recordings into a folder.
fn exported(into: &Path, options: &[&str], files: &[&Path]) {
    let words = ["export", "--no-progress", "--format", "parquet", "-o"].map(OsStr::new);
    let words = words.into_iter().chain([into.as_os_str()]).chain(options.iter().map(OsStr::new));
    let words: Vec<&OsStr> = words.chain(files.iter().map(|file| file.as_os_str())).collect();
    let output = tool::run(&words);
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
}

/// What is said of a query that is wrong.
fn wrong(query: &str, places: &[&Path]) -> String {
    let output = asked(query, places, &[]);
    assert_eq!(output.status.code(), Some(1), "{query}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{query}");
    tool::stderr(&output)
}
