//! `readperf split`: what its parts say together is what the whole says.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::live::Perf;
use oracle::{fixture, scratch, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// Ways to divide a recording of this length (ns) and size (bytes).
fn divisions(length_ns: u64, size: u64) -> Vec<Vec<String>> {
    let words = |line: String| line.split(' ').map(str::to_owned).collect();
    [
        format!("--every {}ns", (length_ns / 4).max(1)),
        format!("--size {}", (size / 5).max(1000)),
        "--by process".to_owned(),
        "--by event".to_owned(),
        "--by cpu --compress".to_owned(),
    ]
    .map(words)
    .to_vec()
}

fn split(from: &Path, to: &Path, options: &[impl AsRef<std::ffi::OsStr>]) -> Output {
    tool::command().arg("split").arg(from).arg("-o").arg(to).args(options).output().unwrap()
}

/// The files in a folder, by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

/// What `stats` says, also of a recording that is damaged.
fn stats(file: &Path) -> Value {
    let output = tool::run(&["stats".as_ref(), "--json".as_ref(), file.as_os_str()]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}: {}", file.display(), tool::stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What adds up: samples and period of each event, what was lost.
fn sums<'s>(all: impl IntoIterator<Item = &'s Value>) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for stats in all {
        for event in stats["events"].as_array().unwrap() {
            for what in ["samples", "period"] {
                let name = format!("{what} of {}", event["name"].as_str().unwrap());
                *sums.entry(name).or_default() += event[what].as_u64().unwrap();
            }
        }
        for what in ["lost_records", "lost_samples", "unattributed_samples"] {
            *sums.entry(what.to_owned()).or_default() += stats[what].as_u64().unwrap();
        }
    }
    sums.retain(|_, sum| *sum > 0);
    sums
}

/// Every sample with its chain and its names, but for those of functions, which need binaries; sorted.
fn samples<'f>(files: impl IntoIterator<Item = &'f Path>) -> Vec<String> {
    let mut samples: Vec<String> = Vec::new();
    for file in files {
        let fields = "comm,pid,tid,cpu,time,event,ip,dso,period";
        let options =
            ["script", "--ns", "--symfs", "/nonexistent", "--kallsyms", "/dev/null", "-F", fields, "-i"];
        let output = tool::command().args(options).arg(file).output().unwrap();
        for line in String::from_utf8_lossy(&output.stdout).lines().filter(|line| !line.trim().is_empty()) {
            match samples.last_mut() {
                Some(sample) if line.starts_with('\t') => sample.push_str(line),
                _ => samples.push(line.to_owned()),
            }
        }
    }
    samples.sort();
    samples
}

/// Divides a recording in every way, and holds the parts against it; how many parts that were.
fn holds(from: &Path) -> usize {
    let dir = scratch();
    let whole = stats(from);
    let time = |what: &str| whole[what].as_u64().unwrap_or_default();
    let length = time("last_time_ns").saturating_sub(time("first_time_ns"));
    let (said, mut count) = (samples([from]), 0);
    for (nr, options) in divisions(length, fs::metadata(from).unwrap().len()).iter().enumerate() {
        let to = dir.path().join(nr.to_string());
        let output = split(from, &to, options);
        let what = format!("{} {options:?}", from.display());
        let is_damaged = !whole["issues"].as_array().unwrap().is_empty();
        let status = output.status.code();
        assert!(status == Some(0) || is_damaged && status == Some(3), "{what}: {}", tool::stderr(&output));
        let parts = files(&to);
        let each: Vec<Value> = parts.iter().map(|part| stats(part)).collect();
        assert_eq!(sums(&each), sums([&whole]), "{what}");
        assert!(samples(parts.iter().map(PathBuf::as_path)) == said, "{what}");
        count += parts.len();
    }
    count
}

#[test]
fn parts_add_up_to_the_whole_and_their_names_are_the_same() {
    let mut parts = 0;
    for name in [
        "main",
        "multi",
        "group",
        "everything",
        "tracepoints",
        "threads",
        "pipe",
        "zstd",
        "dwarf",
        "kernel",
        "rust",
        "stat",
        "cut",
        "killed",
    ] {
        parts += holds(&fixture(name));
    }
    assert!(parts > 150, "{parts}");
}

#[test]
#[ignore = "live: reads a corpus"]
fn parts_of_the_corpus_add_up() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let root = std::env::var_os("READPERF_CORPUS").map_or(beside, PathBuf::from);
    let Ok(folders) = fs::read_dir(&root) else { return };
    let mut recordings = 0;
    let files = folders.flatten().filter_map(|folder| fs::read_dir(folder.path()).ok()).flatten().flatten();
    for file in files.map(|file| file.path()).filter(|file| file.is_file()) {
        let output = tool::run(&["stats".as_ref(), file.as_os_str()]);
        if matches!(output.status.code(), Some(0 | 3)) && fs::metadata(&file).unwrap().len() < 4 << 20 {
            // What has no event at all is no recording that a file could be.
            if !stats(&file)["events"].as_array().unwrap().is_empty() {
                holds(&file);
                recordings += 1;
            }
        }
    }
    assert!(recordings > 80, "{recordings}");
}

#[test]
fn names_and_contents_are_those_that_were_asked_for() {
    let dir = scratch();
    let names = |options: &[&str]| -> Vec<String> {
        let to = dir.path().join(options.concat().replace('/', "_"));
        let output = split(&fixture("multi"), &to, options);
        assert_eq!(output.status.code(), Some(0), "{options:?}: {}", tool::stderr(&output));
        let said = String::from_utf8(output.stdout).unwrap();
        let files = files(&to);
        // What is said is what is there, in this order or another one.
        let mut told: Vec<PathBuf> =
            said.lines().map(|line| PathBuf::from(line.split_once(": ").unwrap().0)).collect();
        told.sort();
        assert_eq!(told, files);
        files.iter().map(|file| file.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    };
    let whole = stats(&fixture("multi"));
    let events: Vec<String> =
        whole["events"].as_array().unwrap().iter().map(|event| event["name"].to_string()).collect();
    assert_eq!(names(&["--by", "event"]).len(), events.len());
    assert_eq!(names(&["--time", "0%-50%,50%-100%"]), ["part-0001.data", "part-0002.data"]);
    let processes = names(&["--by", "process"]);
    assert!(processes.len() > 2 && processes.iter().all(|name| name.starts_with("pid-")), "{processes:?}");
    for name in &processes {
        let part = dir.path().join("--byprocess").join(name);
        let pid = name.trim_start_matches("pid-").trim_end_matches(".data");
        let lines = samples([part.as_path()]);
        assert!(
            !lines.is_empty() && lines.iter().all(|line| line.contains(&format!(" {pid}/"))),
            "{lines:?}"
        );
        // Its records are those of its own process and of those that it was forked from, not of all.
        assert!(fs::metadata(&part).unwrap().len() < fs::metadata(fixture("multi")).unwrap().len(), "{name}");
    }
    // Parts follow each other: none begins before the last has ended.
    names(&["--every", "20ms"]);
    let mut last = 0;
    for part in files(&dir.path().join("--every20ms")) {
        let part = stats(&part);
        assert!(part["first_time_ns"].as_u64().unwrap() >= last, "{part}");
        last = part["last_time_ns"].as_u64().unwrap();
    }
}

#[test]
fn a_stream_is_divided_as_well() {
    let dir = scratch();
    let stdin = fs::File::open(fixture("pipe")).unwrap();
    let mut cat = std::process::Command::new("cat").stdin(stdin).stdout(Stdio::piped()).spawn().unwrap();
    let stream = cat.stdout.take().unwrap();
    let to = dir.path().join("parts");
    let mut command = tool::command();
    command.args(["split", "-", "--by", "process", "-o"]).arg(&to).stdin(stream);
    let output = command.output().unwrap();
    cat.wait().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    let parts = files(&to);
    assert_eq!(samples(parts.iter().map(PathBuf::as_path)), samples([fixture("pipe").as_path()]));
}

#[test]
fn nothing_half_done_is_left() {
    let dir = scratch();
    let refused = |to: &Path, options: &[&str], status: i32, why: &str| {
        let output = split(&fixture("multi"), to, options);
        assert_eq!(output.status.code(), Some(status), "{why}");
        assert!(tool::stderr(&output).contains(why), "{}", tool::stderr(&output));
    };
    let to = dir.path().join("parts");
    refused(&to, &["--every", "1us", "--max-parts", "3"], 1, "--max-parts");
    refused(&to, &["--time", "0%-60%,50%-100%"], 1, "overlap");
    refused(&to, &["--every", "never"], 2, "no length of time");
    refused(&to, &["--every", "1s", "--by", "cpu"], 2, "cannot be used with");
    refused(&to, &[], 2, "required");
    refused(&dir.path().join("nowhere/parts"), &["--by", "cpu"], 1, "No such file");
    refused(dir.path(), &["--by", "cpu"], 1, "is there already");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    let output = split(&fixture("cut"), &to, &["--by", "cpu", "--strict"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "live: compares with perf"]
fn perf_reads_every_part() {
    let Some(perf) = Perf::or_skip("perf_reads_every_part") else { return };
    let dir = scratch();
    for name in ["main", "multi", "everything", "tracepoints", "zstd", "rust"] {
        let from = fixture(name);
        let options =
            ["--ns", "--no-inline", "--symfs", "/nonexistent", "-F", "comm,pid,tid,time,event,ip,dso"];
        let lines = |files: &[PathBuf]| {
            let said = files.iter().map(|file| perf.says("script", file, &options));
            let mut lines: Vec<String> =
                said.flat_map(|said| said.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
            lines.retain(|line| !line.trim().is_empty());
            lines.sort();
            lines
        };
        let whole = lines(std::slice::from_ref(&from));
        assert!(whole.len() > 30, "{name}: {whole:?}");
        for (nr, options) in divisions(100_000_000, 30_000).iter().enumerate() {
            let to = dir.path().join(format!("{name}-{nr}"));
            let output = split(&from, &to, options);
            assert_eq!(output.status.code(), Some(0), "{name} {options:?}: {}", tool::stderr(&output));
            assert!(lines(&files(&to)) == whole, "{name} {options:?}");
        }
    }
}
