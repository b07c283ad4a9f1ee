//! Runs of `readperf export`, and the recordings that they are made of.

use crate::oracle::{fixture, tool};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Weights by stack, `outermost;…;innermost`.
pub(crate) type Stacks = BTreeMap<String, u64>;

/// Recordings of every kind that matters here: without call chains, with several events and a kernel part, groups read as one,
/// switches, tracepoints, a directory.
pub(crate) fn recordings() -> Vec<PathBuf> {
    ["main", "multi", "group", "everything", "tracepoints", "threads"].map(fixture).to_vec()
}

/// By what to weigh a recording: by both where events differ in it.
pub(crate) fn weights(file: &Path) -> &'static [&'static str] {
    if file == fixture("multi") { &["period", "samples"] } else { &["period"] }
}

/// What an export writes to standard output.
pub(crate) fn export(format: &str, file: &Path, more: &[&str]) -> Vec<u8> {
    let nothing = crate::oracle::scratch();
    let output = tool::command()
        .args(["export", "--format", format])
        .args(more)
        .arg("--symfs")
        .arg(nothing.path())
        .arg(file)
        // The build-id cache of whoever runs the test is not for this recording.
        .env("HOME", nothing.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{format} of {}: {}", file.display(), tool::stderr(&output));
    output.stdout
}

/// What a gzipped export holds.
pub(crate) fn unzipped(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

/// A JSON export.
pub(crate) fn json(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}

/// Events with samples, as `stats` has them: name, samples, period.
pub(crate) fn events(file: &Path) -> Vec<(String, u64, u64)> {
    let stats = tool::json("stats", file);
    let event = |event: &serde_json::Value| {
        let name = event["name"].as_str().unwrap().to_owned();
        (name, tool::number(&event["samples"]), tool::number(&event["period"]))
    };
    let events = stats["events"].as_array().unwrap().iter().map(event);
    events.filter(|(_, samples, _)| *samples > 0).collect()
}

/// The folded stacks of an event, whatever the thread.
pub(crate) fn folded(file: &Path, event: &str, more: &[&str]) -> Stacks {
    let text = String::from_utf8(export("folded", file, &[&["--event", event], more].concat())).unwrap();
    let mut stacks = Stacks::new();
    for line in text.lines() {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        let (_, stack) = stack.split_once(';').unwrap_or((stack, ""));
        *stacks.entry(stack.to_owned()).or_default() += weight.parse::<u64>().unwrap();
    }
    stacks
}

/// A name as folded stacks spell it.
pub(crate) fn spelled(name: &str) -> String {
    name.replace(';', ":")
}

/// Asserts that stacks are those of the folded export, and add up to what `stats` says of the event.
pub(crate) fn assert_stacks(format: &str, file: &Path, event: &str, stacks: &Stacks, weight: &str) {
    let expected = folded(file, event, &["--weight", weight]);
    let shown = file.display();
    let (_, samples, period) = events(file).into_iter().find(|(name, ..)| name == event).unwrap();
    let total = if weight == "samples" { samples } else { period };
    assert!(total > 0, "{shown}: {event} has a total");
    assert_eq!(stacks.values().sum::<u64>(), total, "{format} of {shown}, {event} by {weight}: total");
    for (stack, weight) in &expected {
        assert_eq!(stacks.get(stack), Some(weight), "{format} of {shown}, {event}: {stack}");
    }
    assert_eq!(stacks.len(), expected.len(), "{format} of {shown}, {event}: no other stack");
}

/// Whether a program can be started.
pub(crate) fn installed<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> bool {
    let output = std::process::Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}
