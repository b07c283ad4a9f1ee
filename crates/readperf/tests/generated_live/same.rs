//! A function whose code was generated several times is one function, in tables and in exports.

use crate::HEAP;
use crate::handmade::{Attr, CODE, PID, Pipe, Sample};
use crate::oracle::{scratch, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Processes have lower numbers, so no file of a real one is in the way.
const RUNTIME: u32 = PID + 4_200_000;

/// Where the pieces of code are in the heap. Two are one function.
const PIECES: [(u64, &str); 3] = [(0, "Hot.burn"), (0x100, "Hot.burn"), (0x200, "Hot.other")];

/// A recording of processes that generate the same code, and the perf map of each.
fn recording(dir: &Path, processes: &[u32]) -> PathBuf {
    let mut pipe = Pipe::new(&[Attr::default()]);
    for pid in processes {
        let lines: Vec<String> =
            PIECES.iter().map(|(at, name)| format!("{:x} 40 {name}\n", HEAP + at)).collect();
        std::fs::write(dir.join(format!("perf-{pid}.map")), lines.concat()).unwrap();
        pipe.comm(*pid, *pid, "runtime");
        pipe.map(*pid, CODE, "/bin/runtime", None, 0);
        pipe.map(*pid, HEAP, "//anon", None, 0);
        for (count, (at, _)) in [3, 2, 1].into_iter().zip(PIECES) {
            let ip = HEAP + at + 0x10;
            let sample = Sample { pid: *pid, tid: *pid, ip, chain: vec![ip, CODE], ..Sample::default() };
            pipe.samples(count, &sample);
        }
    }
    let path = dir.join("perf.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    path
}

fn answer(dir: &Path, arguments: &[&str], recording: &Path) -> String {
    let mut command = tool::command();
    command.args(arguments).args(["--no-cache", "--symbols"]).arg(dir).arg(recording);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", tool::stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// The rows of a report, by the values of these keys.
fn rows(dir: &Path, recording: &Path, keys: &str) -> BTreeMap<Vec<String>, u64> {
    let text = answer(dir, &["report", "--json", "--no-children", "--sort", keys], recording);
    let value: Value = serde_json::from_str(&text).unwrap();
    let rows = value["events"][0]["rows"].as_array().unwrap().clone();
    let key = |row: &Value| keys.split(',').map(|key| row[key].as_str().unwrap().to_owned()).collect();
    rows.iter().map(|row| (key(row), row["samples"].as_u64().unwrap())).collect()
}

#[test]
fn a_function_that_was_generated_again_is_one_row() {
    let scratch = scratch();
    let dir = scratch.path();
    let file = recording(dir, &[RUNTIME]);
    let row = |names: &[&str], count| (names.iter().map(|name| (*name).to_owned()).collect(), count);
    let expected: BTreeMap<Vec<String>, u64> = [row(&["Hot.burn"], 5), row(&["Hot.other"], 1)].into();
    assert_eq!(rows(dir, &file, "symbol"), expected);
    // The offset is that in the piece of code where the sample was.
    let expected = [row(&["Hot.burn+0x10"], 5), row(&["Hot.other+0x10"], 1)].into();
    assert_eq!(rows(dir, &file, "symoff"), expected);
    // Addresses tell the pieces apart.
    let address = |at: u64| format!("{:#018x}", HEAP + at + 0x10);
    let apart = rows(dir, &file, "symbol,addr");
    let counts: Vec<u64> = apart.values().copied().collect();
    assert_eq!(counts, [3, 2, 1], "{apart:?}, {}", address(0));
}

/// Two processes may have made something else of it.
#[test]
fn functions_of_two_processes_are_told_apart_by_their_binaries() {
    let scratch = scratch();
    let file = recording(scratch.path(), &[RUNTIME, RUNTIME + 1]);
    let found = rows(scratch.path(), &file, "dso,symbol");
    assert_eq!(found.values().copied().collect::<Vec<u64>>(), [5, 1, 5, 1], "{found:?}");
}

#[test]
fn exports_have_one_function_of_a_name() {
    let scratch = scratch();
    let dir = scratch.path();
    let file = recording(dir, &[RUNTIME]);
    let speedscope: Value =
        serde_json::from_str(&answer(dir, &["export", "-f", "speedscope"], &file)).unwrap();
    let names = |frames: &Value| -> Vec<String> {
        let named = frames.as_array().unwrap().iter().map(|frame| frame["name"].as_str().unwrap());
        let mut named: Vec<String> =
            named.filter(|name| name.starts_with("Hot.")).map(str::to_owned).collect();
        named.sort();
        named
    };
    assert_eq!(names(&speedscope["shared"]["frames"]), ["Hot.burn", "Hot.other"]);
    let dot = answer(dir, &["export", "-f", "dot"], &file);
    let nodes = dot.lines().filter(|line| line.contains("Hot.burn") && line.contains("label=")).count();
    assert_eq!(nodes, 1, "{dot}");
    let callgrind = answer(dir, &["export", "-f", "callgrind"], &file);
    let functions = callgrind.lines().filter(|line| line.contains(") Hot.burn")).count();
    assert_eq!(functions, 1, "{callgrind}");
    let jsonl = answer(dir, &["export", "-f", "jsonl"], &file);
    assert_eq!(jsonl.lines().filter(|line| line.contains("Hot.burn")).count(), 5, "{jsonl}");
}

/// Two runs of one script: the number of the process is no difference.
#[test]
fn runs_of_a_runtime_are_compared_by_function() {
    let (before, after) = (scratch(), scratch());
    let files = [recording(before.path(), &[RUNTIME]), recording(after.path(), &[RUNTIME + 7])];
    let mut command = tool::command();
    command.args(["diff", "--json", "--no-cache"]).args(&files);
    for dir in [before.path(), after.path()] {
        command.arg("--symbols").arg(dir);
    }
    let output = command.output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = value["events"][0]["rows"].as_array().unwrap();
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        (text("dso"), text("symbol"), text("presence"))
    };
    let text =
        |dso: &str, symbol: &str, presence: &str| (dso.to_owned(), symbol.to_owned(), presence.to_owned());
    let expected = [text("[JIT]", "Hot.burn", "both"), text("[JIT]", "Hot.other", "both")];
    assert_eq!(rows.iter().map(row).collect::<Vec<_>>(), expected);
    assert_eq!(tool::stderr(&output), "", "that was no guess");
}
