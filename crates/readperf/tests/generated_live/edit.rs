//! `edit --jit`: generated code has its names when the dumps are gone.

use crate::HEAP;
use crate::handmade::{Attr, CODE, PID, Pipe, Sample, flag};
use crate::live;
use crate::oracle::{scratch, tool};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Processes have lower numbers, so no file of a real one is in the way.
const RUNTIME: u32 = PID + 4_200_000;

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn record(kind: u32, time: u64, body: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &(body.len() as u32 + 16).to_le_bytes(), &words(&[time]), body].concat()
}

fn load(time: u64, start: u64, index: u64, name: &str) -> Vec<u8> {
    let place = words(&[u64::from(RUNTIME) << 32 | u64::from(RUNTIME), start, start, 0x40, index]);
    record(0, time, &[&place[..], name.as_bytes(), &[0], &[0x90; 0x40]].concat())
}

/// A dump: code with lines, other code in its place, code that is moved, and a record that is too short. jitdump-specification.txt of the
/// kernel.
fn dump() -> Vec<u8> {
    let head = [0x4a69_5444, 1, 40, 62, 0, RUNTIME, 0, 0, 0, 0];
    let entry = |address: u64, line: u64| [&words(&[address, line])[..], b"first.js\0"].concat();
    let lines = [words(&[HEAP, 2]), entry(HEAP, 10), entry(HEAP + 0x20, 11)].concat();
    let pids = u64::from(RUNTIME) << 32 | u64::from(RUNTIME);
    let moved = words(&[pids, HEAP + 0x200, HEAP + 0x100, HEAP + 0x200, 0x40, 2]);
    [
        head.iter().flat_map(|word: &u32| word.to_le_bytes()).collect(),
        record(2, 100, &lines),
        load(100, HEAP, 1, "../first\x1b[31m/one"),
        load(100, HEAP + 0x100, 2, "moves"),
        load(300, HEAP, 3, "instead"),
        record(1, 300, &moved),
        record(0, 400, b"too short"),
    ]
    .concat()
}

/// A recording with this clock in which the process runs code at these offsets and times.
fn recording(dir: &Path, clockid: i32, samples: &[(u64, u64)]) -> PathBuf {
    let flags = Attr::default().flags | flag::USE_CLOCKID;
    let mut pipe = Pipe::new(&[Attr { clockid, flags, ..Attr::default() }]);
    pipe.comm(RUNTIME, RUNTIME, "runtime");
    pipe.map_at(50, RUNTIME, HEAP, "//anon", None, 0);
    pipe.map_at(60, RUNTIME, CODE, &dir.join(format!("jit-{RUNTIME}.dump")).display().to_string(), None, 0);
    // A new protection of the memory is told like a new mapping.
    pipe.map_at(200, RUNTIME, HEAP, "//anon", None, 0);
    for (offset, time) in samples {
        let (ip, time) = (HEAP + offset, *time);
        pipe.sample(&Sample { pid: RUNTIME, tid: RUNTIME, ip, time, chain: vec![ip], ..Sample::default() });
    }
    let path = dir.join("perf.data");
    fs::write(&path, pipe.as_file()).unwrap();
    path
}

/// The function that each sample of a recording is in.
fn said(data: &Path) -> Vec<String> {
    let mut script = tool::command();
    let script = script.args(["script", "--no-cache", "--no-inline", "-F", "ip,sym", "-i"]).arg(data);
    let text = String::from_utf8(script.output().unwrap().stdout).unwrap();
    let words = text.lines().filter_map(|line| line.split_whitespace().nth(1));
    words.map(str::to_owned).collect()
}

#[test]
fn generated_code_has_its_names_without_the_dump() {
    let scratch = scratch();
    let dir = scratch.path();
    let dump_file = dir.join(format!("jit-{RUNTIME}.dump"));
    fs::write(&dump_file, dump()).unwrap();
    let asked = [(4, 210), (0x24, 210), (0x110, 210), (4, 310), (0x110, 310), (0x210, 310), (0x400, 310)];
    let data = recording(dir, 1, &asked);
    let names =
        ["../first\\x1b[31m/one", "../first\\x1b[31m/one", "moves", "instead", "moves", "moves", "[unknown]"];
    assert_eq!(said(&data), names);
    let edited = dir.join("edited.data");
    let output = tool::command().arg("edit").arg(&data).arg("--jit").arg("-o").arg(&edited).output().unwrap();
    let told = tool::stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    // Moved code is in the file of the code that was loaded.
    for part in
        ["3 files of generated code", "1 damaged record", "4 mappings of generated code were added, 2 of"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    fs::remove_file(dump_file).unwrap();
    assert_eq!(said(&edited), names);
    let script =
        tool::command().args(["script", "--no-cache", "-F", "ip,sym,srcline", "-i"]).arg(&edited).output();
    let lines = String::from_utf8(script.unwrap().stdout).unwrap();
    assert!(["first.js:10", "first.js:11"].iter().all(|line| lines.contains(line)), "{lines}");
    let mut names: Vec<_> =
        fs::read_dir(dir.join("edited.data.jit")).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(
        names,
        [0, 1, 2].map(|nr| format!("jitted-{RUNTIME}-{nr}.so").into()) as [std::ffi::OsString; 3]
    );

    // Another clock, and a folder that is there.
    fs::write(dir.join(format!("jit-{RUNTIME}.dump")), dump()).unwrap();
    for (clockid, why) in [(4, "record with -k mono"), (1, "it is there already")] {
        let data = recording(dir, clockid, &asked);
        let refused =
            tool::command().arg("edit").arg(&data).arg("--jit").arg("-o").arg(&edited).output().unwrap();
        let told = tool::stderr(&refused);
        assert!(refused.status.code() == Some(1) && told.contains(why), "{told}");
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn generated_code_is_named_as_by_perf() {
    let test = "generated_code_is_named_as_by_perf";
    let Some((perf, dir)) = live(test, "frames") else { return };
    let record = ["-k", "mono", "-e", "cpu-clock:u", "-F", "2000", "--", "./frames", "40", "4000000"];
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    let (theirs, ours) = (dir.path().join("theirs.data"), dir.path().join("ours.data"));
    perf.says("inject", &data, &["--jit", "-o", theirs.to_str().unwrap()]);
    let output = tool::command().arg("edit").arg(&data).arg("--jit").arg("-o").arg(&ours).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    for file in fs::read_dir(dir.path()).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "dump") {
            fs::remove_file(path).unwrap();
        }
    }
    let lines = |data: &Path| -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        let script = perf.script_with(data, &["--ns", "-F", "time,ip,sym"]);
        script.lines().for_each(|line| *counts.entry(line.to_owned()).or_default() += 1);
        counts
    };
    let (theirs, ours) = (lines(&theirs), lines(&ours));
    assert!(theirs.len() > 20 && theirs.keys().any(|line| line.contains("outer_")), "{theirs:?}");
    assert_eq!(ours, theirs);
}
