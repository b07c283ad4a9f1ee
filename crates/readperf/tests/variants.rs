//! Recordings of kinds that no corpus has, put together by `tests/fixtures/variants/make.py`, which says of each what is
//! true of it; and what is no recording at all.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]

mod oracle;

use oracle::{kind, scratch, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// Exit status of an answer, and of a failure.
const ANSWERS: [i32; 2] = [0, 3];
const FAILED: i32 = 1;

fn variants() -> Vec<Value> {
    let text = std::fs::read_to_string(kind("variants").join("variants.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Writes a variant, a file or a directory.
fn written(variant: &Value, dir: &Path) -> PathBuf {
    let path = dir.join(variant["name"].as_str().unwrap());
    match &variant["files"] {
        Value::Object(files) => {
            std::fs::create_dir(&path).unwrap();
            files.iter().for_each(|(name, hex)| std::fs::write(path.join(name), bytes(hex)).unwrap());
        }
        _ => std::fs::write(&path, bytes(&variant["hex"])).unwrap(),
    }
    path
}

fn run(arguments: &[&str], path: &Path) -> Output {
    tool::command().args(arguments).arg(path).output().unwrap()
}

/// What is wrong about `found`, if it is not as `expected`; nothing is expected of what is not told.
struct Faults<'v> {
    variant: &'v Value,
    list: Vec<String>,
}

impl Faults<'_> {
    fn compare(&mut self, what: &str, found: &Value) {
        let expected = &self.variant[what];
        if !expected.is_null() && expected != found {
            self.list.push(format!("{}: {what} {found}, not {expected}", self.variant["name"]));
        }
    }

    fn says(&mut self, ok: bool, what: impl FnOnce() -> String) {
        if !ok {
            self.list.push(format!("{}: {}", self.variant["name"], what()));
        }
    }
}

/// The keys of `found` that `expected` names.
fn of_keys(found: &Value, expected: &Value) -> Value {
    let keys = expected.as_object().into_iter().flatten();
    keys.map(|(key, _)| (key.clone(), found[key].clone())).collect()
}

fn statistics(faults: &mut Faults<'_>, stats: &Value) {
    let each = |key: &'static str| stats[key].as_array().into_iter().flatten();
    faults.compare("samples", &stats["samples"]);
    let period: u64 = each("events").map(|event| tool::number(&event["period"])).sum();
    faults.compare("period", &period.into());
    let sampled = each("events").filter(|event| event["samples"] != 0);
    let events: Value =
        sampled.map(|event| (event["name"].as_str().unwrap(), event["samples"].clone())).collect();
    faults.compare("events", &events);
    let counts: Value =
        each("records").map(|record| (record["type"].as_str().unwrap(), record["count"].clone())).collect();
    faults.compare("records", &of_keys(&counts, &faults.variant["records"]));
    let kinds: BTreeMap<&str, ()> =
        each("issues").map(|issue| (issue["kind"].as_str().unwrap(), ())).collect();
    let mut expected: Vec<&str> = faults.variant["issues"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|kind| kind.as_str().unwrap())
        .collect();
    expected.sort_unstable();
    let is_told = !faults.variant["issues"].is_null();
    faults.says(!is_told || kinds.keys().eq(expected.iter()), || {
        format!("issues {}, not {expected:?}", stats["issues"])
    });
    faults
        .compare("times", &Value::from(vec![stats["first_time_ns"].clone(), stats["last_time_ns"].clone()]));
}

fn chains(path: &Path) -> Value {
    let dump = run(&["dump", "--sorted", "--json", "--type", "SAMPLE"], path);
    let lines = String::from_utf8(dump.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["callchain"].clone()).collect()
}

fn check(variant: &Value, dir: &Path) -> Vec<String> {
    let path = written(variant, dir);
    let mut faults = Faults { variant, list: Vec::new() };
    let plain = run(&["stats"], &path);
    faults.compare("exit", &plain.status.code().into());
    let told = tool::stderr(&plain);
    for part in variant["says"].as_array().into_iter().flatten() {
        faults.says(told.contains(part.as_str().unwrap()), || format!("says {told:?}, not {part}"));
    }
    if variant["exit"] != FAILED {
        statistics(&mut faults, &serde_json::from_slice(&run(&["stats", "--json"], &path).stdout).unwrap());
        let info: Value = serde_json::from_slice(&run(&["info", "--json"], &path).stdout).unwrap();
        faults.compare("info", &of_keys(&info, &variant["info"]));
        faults.compare("features", &of_keys(&info["features"], &variant["features"]));
        if !variant["chains"].is_null() {
            faults.compare("chains", &chains(&path));
        }
    }
    // Whatever it is, every command ends calmly.
    for command in
        [&["dump"][..], &["dump", "--json", "--sorted"], &["check", "--no-names"], &["info"], &["report"]]
    {
        let output = run(command, &path);
        let told = tool::stderr(&output);
        let code = output.status.code();
        let is_calm =
            code.is_some_and(|code| ANSWERS.contains(&code) || code == FAILED) && !told.contains("panicked");
        faults.says(is_calm && told.lines().count() <= 12, || {
            format!("{command:?} ends with {code:?}: {told}")
        });
    }
    faults.list
}

#[test]
fn every_variant_is_read_as_what_it_is() {
    let dir = scratch();
    let variants = variants();
    assert!(variants.len() > 140);
    let faults: Vec<String> = variants.iter().flat_map(|variant| check(variant, dir.path())).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// The same from standard input: pipes as they come, all else from a copy.
#[test]
fn every_file_is_the_same_from_standard_input() {
    let dir = scratch();
    for variant in variants().iter().filter(|variant| variant["files"].is_null()) {
        let path = written(variant, dir.path());
        let mut command = tool::command();
        command.args(["stats", "--json", "-"]).stdin(std::fs::File::open(&path).unwrap());
        let (piped, plain) = (command.output().unwrap(), run(&["stats", "--json"], &path));
        assert_eq!(piped.status.code(), plain.status.code(), "{}", variant["name"]);
        let parse = |output: &Output| serde_json::from_slice::<Value>(&output.stdout).unwrap();
        assert_eq!(parse(&piped), parse(&plain), "{}", variant["name"]);
    }
}

/// Copies of kernels beside the recording: the host's, and those of guests by the process that ran them.
#[test]
fn copies_of_the_kernels_of_guests() {
    let dir = scratch();
    let variants = variants();
    let path = written(variants.iter().find(|variant| variant["name"] == "directory").unwrap(), dir.path());
    for name in ["kcore_dir", "kcore_dir__123", "kcore_dir__45", "kcore_dir__x"] {
        std::fs::create_dir(path.join(name)).unwrap();
    }
    std::fs::write(path.join("kcore_dir__7"), "no folder").unwrap();
    let info: Value = serde_json::from_slice(&run(&["info", "--json"], &path).stdout).unwrap();
    let at = |name: &str| Value::from(path.join(name).to_str().unwrap());
    assert_eq!(info["kcore_dir"], at("kcore_dir"));
    let guests = serde_json::json!([
        {"pid": 45, "kcore_dir": at("kcore_dir__45")},
        {"pid": 123, "kcore_dir": at("kcore_dir__123")},
    ]);
    assert_eq!(info["guests"], guests);
    let text = String::from_utf8(run(&["info"], &path).stdout).unwrap();
    assert!(text.contains("(process 45)") && text.contains("kcore_dir__123"), "{text}");
}

#[test]
fn a_named_pipe_and_a_device() {
    let dir = scratch();
    let variants = variants();
    for name in ["pipe-little-features", "v2-big-attr-136"] {
        let variant = variants.iter().find(|variant| variant["name"] == name).unwrap();
        let path = written(variant, dir.path());
        let fifo = dir.path().join(format!("{name}.fifo"));
        let made = std::process::Command::new("mkfifo").arg(&fifo).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo is part of every system");
        let reader =
            tool::command().args(["stats", "--json"]).arg(&fifo).stdout(Stdio::piped()).spawn().unwrap();
        std::fs::write(&fifo, std::fs::read(&path).unwrap()).unwrap();
        let output = reader.wait_with_output().unwrap();
        let stats: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), stats["samples"].clone()), (Some(0), 3.into()), "{name}");
    }
    let output = run(&["stats"], Path::new("/dev/null"));
    assert_eq!(output.status.code(), Some(FAILED));
    assert!(tool::stderr(&output).contains("is empty"), "{}", tool::stderr(&output));
}
