//! `readperf edit --anonymise`: no name of the original stands in any byte of what is written, and the numbers are the same.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{corpus_root, fixture, scratch, tool};
use regex::RegexBuilder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Fields of records and features that are names, in the words of `dump --json` and `info --json`.
const NAMES: [&str; 12] = [
    "filename",
    "comm",
    "name",
    "path",
    "event_name",
    "hostname",
    "osrelease",
    "cmdline",
    "symbol",
    "dso",
    "msg",
    "record_name",
];

/// What is the same on every machine, or says nothing: names of the kernel for kinds of memory, of events by their attrs, of hardware.
const PUBLIC: &[&str] = &[
    "[uprobes]",
    // Of the form of TRACING_DATA.
    "header_page header_event tracing events name: format: print fmt",
    "field: u64 timestamp; local_t commit; char data; offset: size: signed:",
    "[vectors]",
    "[sigpage]",
    "[vdso32]",
    "[vdsox32]",
    "[kernel.vmlinux]",
    "[kernel.kcore]",
    "[unknown]",
    "[kernel.kallsyms]_text",
    "[kernel.kallsyms]_stext",
    "[kernel.kallsyms]",
    "[guest.kernel.kallsyms]",
    "[vdso]",
    "[vsyscall]",
    "[heap]",
    "[stack]",
    "[vvar]",
    "//anon",
    "/anon_hugepage",
    "/dev/zero",
    "[kernel]",
    "{anon_group}",
    "(deleted)",
    "/memfd:",
    "anon_inode:",
    "/SYSV",
    "perf",
    "host",
    "comm",
    "event",
    "group",
    "symbol",
    "cgroup",
];

/// Features that stay as they are.
const HARDWARE: [&str; 10] = [
    "arch",
    "cpudesc",
    "cpuid",
    "pmu_mappings",
    "cpu_pmu_caps",
    "pmu_caps",
    "hybrid_topology",
    "cache",
    "numa_topology",
    "cpu_topology",
];

fn strings(value: &Value, is_name: bool, all: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if is_name => drop(all.insert(text.clone())),
        Value::Array(values) => values.iter().for_each(|value| strings(value, is_name, all)),
        Value::Object(fields) => {
            for (field, value) in fields {
                strings(value, is_name || NAMES.contains(&field.as_str()), all);
            }
        }
        _ => {}
    }
}

/// The names in a recording, and the parts of those that are paths.
fn names(recording: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let dump = tool::run(&["dump".as_ref(), "--json".as_ref(), recording.as_os_str()]);
    for line in String::from_utf8_lossy(&dump.stdout).lines() {
        // What a record is called is not what it holds.
        let mut record: Value = serde_json::from_str(line).unwrap();
        for field in ["type", "event"] {
            record.as_object_mut().unwrap().remove(field);
        }
        strings(&record, false, &mut all);
    }
    let info = tool::run(&["info".as_ref(), "--json".as_ref(), recording.as_os_str()]);
    let info: Value = serde_json::from_slice(&info.stdout).unwrap();
    for feature in
        ["hostname", "osrelease", "cmdline", "build_id", "event_desc", "group_desc", "file", "file2"]
    {
        strings(&info["features"][feature], true, &mut all);
    }
    let hardware: String = HARDWARE.iter().map(|feature| info["features"][feature].to_string()).collect();
    let parts: Vec<String> = all.iter().flat_map(|name| name.split('/')).map(str::to_owned).collect();
    all.extend(parts);
    all.retain(|name| !hardware.contains(name.as_str()));
    all
}

/// Names that may be there: what is public, and events that their attr tells.
fn is_public(name: &str) -> bool {
    let is_event = || {
        let base = name.split(':').next().unwrap();
        [
            "cycles",
            "instructions",
            "cache-",
            "branch",
            "cpu-clock",
            "task-clock",
            "page-faults",
            "faults",
            "context-switches",
            "cpu-migrations",
            "minor-faults",
            "major-faults",
            "alignment-faults",
            "emulation-faults",
            "dummy",
            "bpf-output",
            "cgroup-switches",
            "ref-cycles",
            "bus-cycles",
            "stalled-cycles",
            "L1-",
            "LLC-",
            "dTLB-",
            "iTLB-",
            "node-",
            "mem:",
            "raw ",
            "breakpoint",
        ]
        .iter()
        .any(|event| base.starts_with(event))
    };
    let is_number = || name.chars().all(|letter| letter.is_ascii_digit() || ".:x-".contains(letter));
    name.len() < 4 || PUBLIC.iter().any(|public| public.contains(name)) || is_event() || is_number()
}

fn anonymised(from: &Path, to: &Path, options: &[&str]) -> String {
    let output = tool::command()
        .arg("edit")
        .arg(from)
        .arg("-o")
        .arg(to)
        .arg("--anonymise")
        .args(options)
        .output()
        .unwrap();
    let said = tool::stderr(&output);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}: {said}", from.display());
    assert!(!said.contains("panicked"), "{said}");
    said
}

fn bytes(path: &Path) -> Vec<u8> {
    if !path.is_dir() {
        return fs::read(path).unwrap();
    }
    let mut files: Vec<PathBuf> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| bytes(file)).collect()
}

/// No name of one recording is in the other.
fn check_names(from: &Path, to: &Path) {
    let written = String::from_utf8_lossy(&bytes(to)).into_owned();
    // What is no UTF-8 is told by escapes.
    let names = names(from).into_iter().filter(|name| !is_public(name) && !name.contains('\\'));
    let names: Vec<String> = names.map(|name| regex::escape(&name)).collect();
    if names.is_empty() {
        return;
    }
    // All in one go: there may be thousands.
    let any = RegexBuilder::new(&names.join("|")).size_limit(1 << 30).build().unwrap();
    let found = any.find(&written).map(|name| name.as_str());
    assert_eq!(found, None, "{}: it is still there", from.display());
}

/// Samples and periods of the events, and rows of a report without the names in them.
fn numbers(recording: &Path) -> (Vec<(u64, u64)>, Vec<String>) {
    let answer = |arguments: &[&str]| -> Value {
        let output = tool::command().args(arguments).arg(recording).args(["--no-progress"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let stats = answer(&["stats", "--json"]);
    let events = stats["events"].as_array().unwrap().iter();
    let sums = events.map(|event| (event["samples"].as_u64().unwrap(), event["period"].as_u64().unwrap()));
    let report = answer(&["report", "--json", "--sort", "pid,tid,comm,dso", "--symfs", "/nonexistent"]);
    let mut rows = Vec::new();
    for (nr, event) in report["events"].as_array().unwrap().iter().enumerate() {
        for row in event["rows"].as_array().unwrap() {
            let number = |field: &str| row[field].as_u64().unwrap_or_default();
            rows.push(format!(
                "{nr} {} {} {}",
                number("self_period"),
                number("total_period"),
                number("samples")
            ));
        }
    }
    rows.sort();
    (sums.collect(), rows)
}

const FIXTURES: [&str; 12] = [
    "main",
    "multi",
    "kernel",
    "group",
    "everything",
    "dwarf",
    "rust",
    "threads",
    "tracepoints",
    "pipe",
    "zstd",
    "stat",
];

#[test]
fn no_name_is_left_and_the_numbers_are_the_same() {
    let folder = scratch();
    for name in FIXTURES {
        let to = folder.path().join(name);
        let said = anonymised(&fixture(name), &to, &["--decompress"]);
        assert!(said.contains("names are tokens"), "{name}: {said}");
        check_names(&fixture(name), &to);
        // Stacks that were recorded as copies are gone.
        if name == "dwarf" {
            assert_eq!(numbers(&to).0, numbers(&fixture(name)).0, "{name}");
        } else {
            assert_eq!(numbers(&to), numbers(&fixture(name)), "{name}");
        }
    }
}

#[test]
fn no_name_is_left_whatever_becomes_of_a_recording() {
    let folder = scratch();
    for (nr, (name, options)) in [
        ("multi", &["--pipe"][..]),
        ("pipe", &["--pipe"]),
        ("pipe", &["--file"]),
        ("pipe", &["--dir"]),
        ("everything", &["--pipe"]),
        ("everything", &["--byte-order", "big"]),
        ("tracepoints", &["--pipe"]),
        ("threads", &["--file"]),
        ("multi", &["--file", "--comm", "work", "--every", "2", "--sort"]),
    ]
    .iter()
    .enumerate()
    {
        let to = folder.path().join(nr.to_string());
        anonymised(&fixture(name), &to, &[options, &["--decompress"][..]].concat());
        check_names(&fixture(name), &to);
        if !options.contains(&"--every") {
            assert_eq!(numbers(&to), numbers(&fixture(name)), "{name} {options:?}");
        }
    }
}

#[test]
fn tokens_of_a_key_agree_and_build_ids_are_kept_where_asked_for() {
    let folder = scratch();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("key"), "a secret").unwrap();
    let key = path("key");
    let dsos = |file: &Path| -> BTreeSet<String> {
        let report: Value = serde_json::from_str(&tool::answer(&[
            "report",
            "--json",
            "--sort",
            "dso",
            "--symfs",
            "/nonexistent",
            file.to_str().unwrap(),
        ]))
        .unwrap();
        let rows = report["events"][0]["rows"].as_array().unwrap();
        rows.iter().map(|row| row["dso"].as_str().unwrap().to_owned()).collect()
    };
    for name in ["multi", "main"] {
        anonymised(&fixture(name), &path(name), &["--key", key.to_str().unwrap()]);
    }
    let (multi, main) = (dsos(&path("multi")), dsos(&path("main")));
    // The C library is in both.
    assert!(main.intersection(&multi).any(|dso| dso.starts_with("dso-")), "{main:?} {multi:?}");
    let ids = |file: &Path| -> BTreeSet<String> {
        let info = tool::json("info", file);
        let entries = info["features"]["build_id"].as_array().unwrap().clone();
        entries.iter().map(|entry| entry["build_id"].as_str().unwrap().to_owned()).collect()
    };
    anonymised(&fixture("multi"), &path("kept"), &["--keep-build-ids"]);
    assert_eq!(ids(&path("kept")), ids(&fixture("multi")));
    assert!(ids(&path("multi")).is_disjoint(&ids(&fixture("multi"))));
    fs::write(path("key"), "").unwrap();
    let output = tool::command()
        .args(["edit", "--anonymise", "--key"])
        .args([key.as_path(), &fixture("main"), Path::new("-o"), &path("none")])
        .output()
        .unwrap();
    assert!(output.status.code() == Some(1) && tool::stderr(&output).contains("it is empty"));
    assert!(!path("none").exists());
}

#[test]
#[ignore = "live: a corpus of recordings (READPERF_CORPUS)"]
fn no_name_of_the_corpus_is_left() {
    let root = corpus_root();
    assert!(root.exists(), "there is no corpus at {}", root.display());
    let folder = scratch();
    let (mut directories, mut tried) = (vec![root], 0);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let to = folder.path().join("out");
            let _ = fs::remove_file(&to);
            let output = tool::command()
                .arg("edit")
                .args([path.as_path(), Path::new("-o"), &to])
                .args(["--anonymise", "--decompress", "--file"])
                .output()
                .unwrap();
            assert!(
                !tool::stderr(&output).contains("panicked"),
                "{}: {}",
                path.display(),
                tool::stderr(&output)
            );
            if to.exists() && fs::metadata(&path).unwrap().len() < 1 << 20 {
                check_names(&path, &to);
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}
