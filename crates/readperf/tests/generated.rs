//! Names of generated code, by recordings made by hand and files that a script wrote.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "handmade/mod.rs"]
mod handmade;

use handmade::{Attr, CODE, PID, Pipe, Sample};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The number that the process sees of itself.
const INNER: u32 = 4321;
/// A page of the heap that it writes code to.
const HEAP: u64 = 0x7f00_1234_0000;

/// The functions of a report, by process.
fn functions(dir: &Path, pipe: &Pipe) -> Vec<(String, String)> {
    let path = dir.join("perf.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    let mut report = Command::new(env!("CARGO_BIN_EXE_readperf"));
    report.args(["report", "--json", "--no-cache", "--sort", "pid,symbol", "--symbols"]).arg(dir).arg(&path);
    let output = report.output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |row: &Value, key: &str| row[key].as_str().map_or_else(|| row[key].to_string(), str::to_owned);
    let rows = answer["events"][0]["rows"].as_array().unwrap();
    let mut found: Vec<_> = rows.iter().map(|row| (text(row, "pid"), text(row, "symbol"))).collect();
    found.sort();
    found
}

/// A recording in which each of these processes maps these files and has a sample in generated code.
fn recording(processes: &[(u32, Option<&str>)]) -> Pipe {
    let mut pipe = Pipe::new(&[Attr::default()]);
    for (pid, dump) in processes {
        pipe.comm(*pid, *pid, "runtime");
        if let Some(dump) = dump {
            pipe.map(*pid, CODE, dump, None, 0);
        }
        pipe.map(*pid, HEAP, "//anon", None, 0);
        let ip = HEAP + 64;
        pipe.sample(&Sample { pid: *pid, tid: *pid, ip, chain: vec![ip], ..Sample::default() });
    }
    pipe
}

#[test]
fn processes_in_namespaces_are_known_by_the_file_that_they_map() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../symbols/tests/against_tools/programs/jitdump.py");
    let mut python = Command::new("python3");
    let arguments = [INNER.to_string(), format!("{HEAP:#x}")];
    match python.arg(script).arg(dir).arg("little").args(&arguments).status() {
        Ok(status) => assert!(status.success()),
        Err(error) => return eprintln!("**** skipped: python3: {error} ****"),
    }
    let dump = format!("/tmp/jit-{INNER}.dump");
    // The numbers are greater than those of any process here.
    let [outer, other, host] = [PID, PID + 1, INNER].map(|pid| pid + 4_200_000);
    let name = |pid: u32, name: &str| (pid.to_string(), name.to_owned());
    let unnamed = |pid: u32| name(pid, &format!("{:#018x}", HEAP + 64));
    let found = functions(dir, &recording(&[(outer, Some(&dump)), (other, None)]));
    assert_eq!(found, [name(outer, "second"), unnamed(other)]);
    // Its perf map has the same number.
    std::fs::remove_file(dir.join(format!("jit-{INNER}.dump"))).unwrap();
    let found = functions(dir, &recording(&[(outer, Some(&dump)), (host, None)]));
    assert_eq!(found, [name(outer, "second"), unnamed(host)]);
    // What another process wrote of itself says nothing of a child that has its mappings.
    let found = functions(dir, &recording(&[(INNER, Some(&dump)), (outer, Some(&dump))]));
    assert_eq!(found, [unnamed(outer), name(INNER, "second")]);
}
