//! Names of generated code, by recordings made by hand and files that a script wrote.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "generated_live/dumps.rs"]
mod dumps;
#[path = "generated_live/edit.rs"]
mod edit;
#[path = "generated_live/frames.rs"]
mod frames;
#[path = "handmade/mod.rs"]
mod handmade;
mod oracle;
#[path = "generated_live/runtimes.rs"]
mod runtimes;
#[path = "generated_live/same.rs"]
mod same;
#[path = "generated_live/ticks.rs"]
mod ticks;

use handmade::{Attr, CODE, PID, Pipe, Sample, TIME_CONV, flag};
use oracle::live::Perf;
use oracle::{scratch, skip, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

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

/// Lets the script write its files here; false with a message if it cannot.
fn dumps_in(test: &str, dir: &Path, pid: u32) -> bool {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../symbols/tests/against_tools/programs/jitdump.py");
    let arguments = [pid.to_string(), format!("{HEAP:#x}")];
    match Command::new("python3").arg(script).arg(dir).arg("little").args(&arguments).status() {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            skip(test, &format!("python3: {error}"));
            return false;
        }
    }
    true
}

#[test]
#[ignore = "live: needs python3"]
fn processes_in_namespaces_are_known_by_the_file_that_they_map() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    if !dumps_in("processes_in_namespaces_are_known_by_the_file_that_they_map", dir, INNER) {
        return;
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

/// Offsets in the heap and times in ns at which code is asked for, and what is there: the script puts "instead" over the end
/// of "first one" at 400, and moves "third" at 500.
const ASKED: [(u64, u64, &str); 10] = [
    (4, 110, "first one"),
    (20, 110, "first one"),
    (20, 120, "first one"),
    (20, 399, "first one"),
    (20, 400, "instead"),
    (4, 401, "first one"),
    (40, 450, "instead"),
    (20, 460, "instead"),
    (130, 470, "third ä"),
    (260, 510, "third ä"),
];

/// A recording whose samples are those that are asked for, and that is told of the heap once more on the way.
fn asked(attr: &Attr) -> Pipe {
    asked_at(attr, None, |time| time)
}

/// The same at other times, in a recording that tells how its clock follows from the ticks of the processor.
fn asked_at(attr: &Attr, time_conv: Option<&[u64]>, at: impl Fn(u64) -> u64) -> Pipe {
    let mut pipe = Pipe::new(std::slice::from_ref(attr));
    if let Some(words) = time_conv {
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        pipe.raw(TIME_CONV, 0, &body);
    }
    pipe.comm(PID, PID, "runtime");
    pipe.map(PID, CODE, &format!("/tmp/jit-{PID}.dump"), None, 0);
    pipe.map(PID, HEAP, "//anon", None, 0);
    for (nr, (offset, time, _)) in ASKED.into_iter().enumerate() {
        if nr == 2 || nr == 5 || nr == 7 {
            // A new protection is told like a new mapping.
            pipe.map_at(at(time), PID, HEAP, "//anon", None, 0);
        }
        let ip = HEAP + offset;
        // The caller is where "first one" was.
        pipe.sample(&Sample { ip, time: at(time), chain: vec![ip, HEAP + 24], ..Sample::default() });
    }
    pipe
}

/// The names of each sample and its caller, and what is said on stderr.
fn named(dir: &Path, pipe: &Pipe) -> (Vec<(String, String)>, String) {
    let path = dir.join("perf.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    let output =
        tool::command().args(["script", "--json", "--symbols"]).arg(dir).arg(&path).output().unwrap();
    let name = |frame: &Value| frame["symbol"].as_str().unwrap_or("-").to_owned();
    let names = |line: &str| {
        let object: Value = serde_json::from_str(line).unwrap();
        (name(&object["frames"][0]), name(&object["frames"][1]))
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (text.lines().map(names).collect(), tool::stderr(&output))
}

/// The script damages some of what it writes, which is told. Nothing else is: all code is told by its time.
fn assert_only_damage(said: &str) {
    let damage = "1 damaged record, 1 record of an unknown kind, 1 move of code that was never loaded, \
                  1 record of source lines or frames that belongs to no code\n";
    assert!(said.ends_with(&format!("not all of /tmp/jit-{PID}.dump is used: {damage}")), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
#[ignore = "live: needs python3"]
fn code_is_named_by_the_time_of_the_sample() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    if !dumps_in("code_is_named_by_the_time_of_the_sample", dir, PID) {
        return;
    }
    let monotonic = Attr { flags: Attr::default().flags | flag::USE_CLOCKID, clockid: 1, ..Attr::default() };
    let caller = |time: u64| if time < 400 { "first one" } else { "instead" };
    let expected: Vec<_> =
        ASKED.iter().map(|(_, time, name)| ((*name).to_owned(), caller(*time).to_owned())).collect();
    let (names, said) = named(dir, &asked(&monotonic));
    assert_eq!(names, expected);
    assert_only_damage(&said);
    // With the source lines of that code.
    let report = tool::command()
        .args(["script", "--no-inline", "-F", "ip,srcline,sym", "--symbols"])
        .arg(dir)
        .arg(dir.join("perf.data"))
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    let lines = |text: &str| report.lines().filter(|line| line.trim() == text).count();
    assert_eq!((lines("other.js:8"), lines("moved.js:1")), (7, 2), "{report}");
    // One row for a function, however often it was there.
    let rows = functions(dir, &asked(&monotonic));
    let rows: Vec<&str> = rows.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(rows, ["first one", "instead", "third ä"]);
}

#[test]
#[ignore = "live: needs python3"]
fn other_clocks_say_nothing_of_the_time_and_that_is_told() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    if !dumps_in("other_clocks_say_nothing_of_the_time_and_that_is_told", dir, PID) {
        return;
    }
    let boottime = Attr { flags: Attr::default().flags | flag::USE_CLOCKID, clockid: 7, ..Attr::default() };
    for attr in [Attr::default(), boottime] {
        let (names, said) = named(dir, &asked(&attr));
        let last = |name: &str| if name == "first one" { "instead" } else { name }.to_owned();
        let expected: Vec<String> = ASKED
            .iter()
            .map(|(offset, _, name)| if *offset == 4 { (*name).to_owned() } else { last(name) })
            .collect();
        assert_eq!(names.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), expected);
        assert!(said.contains("2 pieces of generated code share their place with others"), "{said}");
        assert!(said.contains("2 because their times are not of the clock of the recording"), "{said}");
    }
}

/// Counts of equal lines.
fn counts<'t>(lines: impl Iterator<Item = &'t str>) -> BTreeMap<&'t str, u64> {
    let mut counts = BTreeMap::new();
    lines.for_each(|line| *counts.entry(line).or_default() += 1);
    counts
}

/// Builds one of the programs that write code; false with a message if it cannot.
fn is_built(test: &str, dir: &Path, program: &str) -> bool {
    if !cfg!(target_arch = "x86_64") {
        skip(test, "the program has code of x86-64");
        return false;
    }
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/generated_live").join(format!("{program}.c"));
    let built = Command::new("cc").args(["-O1", "-o", program]).arg(source).current_dir(dir).status();
    let is_built = built.is_ok_and(|status| status.success());
    if !is_built {
        skip(test, "no C compiler (cc)");
    }
    is_built
}

/// perf, and a directory with a program of `generated_live`; `None`, loudly, if either cannot be had.
fn live(test: &str, program: &str) -> Option<(&'static Perf, TempDir)> {
    let perf = Perf::or_skip(test)?;
    let dir = scratch();
    is_built(test, dir.path(), program).then_some((perf, dir))
}

/// The lines that name generated code. Names in the C library depend on what is installed.
fn of_code(text: &str) -> Vec<String> {
    let is_of_code = |line: &&str| ["function_", "over_", "stays"].iter().any(|name| line.contains(name));
    text.lines().filter(is_of_code).map(str::to_owned).collect()
}

/// A program that writes code to the same places again and again: each sample as perf has it after it has made files of the
/// dump.
#[test]
#[ignore = "live: compares with perf"]
fn code_that_takes_the_place_of_other_code_is_named_as_by_perf() {
    let test = "code_that_takes_the_place_of_other_code_is_named_as_by_perf";
    let Some((perf, dir)) = live(test, "reuse") else { return };
    let record = ["-k", "mono", "-e", "cpu-clock:u", "-F", "4000", "--", "./reuse", "40", "5000000"];
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    let made = dir.path().join("made.data");
    perf.says("inject", &data, &["--jit", "-o", made.to_str().unwrap()]);
    if !made.exists() {
        return skip(test, "perf cannot read the dump");
    }
    let fields = ["-F", "pid,tid,time,ip,sym"];
    let theirs = perf.script_with(&made, &fields);
    let output = tool::command().args(["script", "--no-cache"]).args(fields).arg(&data).output().unwrap();
    let mine = String::from_utf8(output.stdout).unwrap();
    let (theirs, mine) = (of_code(&theirs), of_code(&mine));
    eprintln!("{test}: {} lines, {} of perf", mine.len(), theirs.len());
    assert!(theirs.len() > 300, "{}", theirs.len());
    let differs = mine.iter().zip(&theirs).find(|(mine, theirs)| mine != theirs);
    assert_eq!((differs, mine.len()), (None, theirs.len()));
    // A report has the same samples under each name.
    let name = |line: &str| line.rsplit(' ').next().unwrap_or_default().to_owned();
    let theirs: Vec<String> = theirs.iter().map(|line| name(line)).collect();
    let mut report = tool::command();
    report.args(["report", "--json", "--no-children", "--no-cache", "--sort", "symbol"]).arg(&data);
    let answer: Value = serde_json::from_slice(&report.output().unwrap().stdout).unwrap();
    let mut rows: BTreeMap<&str, u64> = BTreeMap::new();
    for row in answer["events"][0]["rows"].as_array().unwrap() {
        *rows.entry(row["symbol"].as_str().unwrap()).or_default() += row["samples"].as_u64().unwrap();
    }
    for (name, count) in counts(theirs.iter().map(String::as_str)) {
        assert_eq!(rows.get(name), Some(&count), "{name}");
    }
}

/// Makes functions, and drops them so that their code is thrown away and its place used again.
const DROPPING: &str = "let x=0; const t=Date.now();
for (let round=0; Date.now()-t<2500; round++) {
  const made=[];
  for (let k=0; k<60; k++)
    made.push(new Function('n',`/*${round}*/let s=${k}; for(let i=0;i<n;i++){s+=i%${k+2};} return s; //# sourceURL=made_${round%50}_${k}`));
  for (const f of made) for (let j=0; j<3; j++) x+=f(5000);
  made.length=0;
  if (round%5===4) gc();
}
console.log(x);
";

/// The same with a runtime. Code that lies in the runtime's own file has the names of the file here.
#[test]
#[ignore = "live: compares with perf"]
fn a_runtime_that_throws_code_away_is_named_as_by_perf() {
    let test = "a_runtime_that_throws_code_away_is_named_as_by_perf";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    std::fs::write(dir.path().join("drop.js"), DROPPING).unwrap();
    let record = ["-k", "mono", "-e", "cpu-clock:u", "-F", "4000", "--", "node", "--perf-prof"];
    let flags = ["--expose-gc", "--always-sparkplug", "--stress-flush-code", "--flush-bytecode", "drop.js"];
    let Some(data) = perf.record(test, dir.path(), &[&record[..], &flags].concat()) else { return };
    let made = dir.path().join("made.data");
    perf.says("inject", &data, &["--jit", "-o", made.to_str().unwrap()]);
    if !made.exists() {
        return skip(test, "no node, or no dump of it");
    }
    let fields = ["-F", "time,ip,sym,dso"];
    let theirs = perf.script_with(&made, &fields);
    let output = tool::command().args(["script", "--no-cache"]).args(fields).arg(&data).output().unwrap();
    let mine = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(mine.lines().count(), theirs.lines().count());
    let mut compared = 0;
    for (mine, theirs) in mine.lines().zip(theirs.lines()) {
        let (Some((theirs, file)), Some((mine, memory))) = (theirs.rsplit_once(" ("), mine.rsplit_once(" ("))
        else {
            continue;
        };
        if file.contains("/jitted-") && memory.starts_with("/tmp/perf-") {
            assert_eq!(mine, theirs);
            compared += 1;
        }
    }
    eprintln!("{test}: {compared} samples");
    // How much of the time is spent in generated code depends on the version.
    if compared < 50 {
        skip(test, &format!("only {compared} samples of generated code"));
    }
}
