//! `readperf merge`: what the merged recording says is what its parts say together.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::live::Perf;
use oracle::{fixture, scratch, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

fn merge(from: &[&Path], to: &Path, options: &[&str]) -> Output {
    tool::command().arg("merge").args(from).arg("-o").arg(to).args(options).output().unwrap()
}

/// Merges what has to be merged; what was said.
fn merged(from: &[&Path], to: &Path, options: &[&str]) -> String {
    let output = merge(from, to, options);
    assert_eq!(output.status.code(), Some(0), "{from:?} {options:?}: {}", tool::stderr(&output));
    assert!(output.stdout.is_empty());
    tool::stderr(&output)
}

/// What adds up: samples and period of each event, what was lost.
fn sums(files: &[&Path]) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for stats in files.iter().map(|file| tool::json("stats", file)) {
        for event in stats["events"].as_array().unwrap() {
            for what in ["samples", "period"] {
                let name = format!("{what} of {}", event["name"].as_str().unwrap());
                *sums.entry(name).or_default() += event[what].as_u64().unwrap();
            }
        }
        for what in ["lost_records", "lost_samples"] {
            *sums.entry(what.to_owned()).or_default() += stats[what].as_u64().unwrap();
        }
    }
    sums
}

/// Every sample with its chain and its names, but for those of functions, which need binaries; sorted.
fn samples(files: &[&Path], fields: &str) -> Vec<String> {
    let mut samples: Vec<String> = Vec::new();
    for file in files {
        let options =
            ["script", "--ns", "--symfs", "/nonexistent", "--kallsyms", "/dev/null", "-F", fields, "-i"];
        let output = tool::command().args(options).arg(file).output().unwrap();
        for line in String::from_utf8(output.stdout).unwrap().lines().filter(|line| !line.trim().is_empty()) {
            let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
            match samples.last_mut() {
                Some(sample) if line.starts_with('\t') => sample.push_str(&format!("; {words}")),
                _ => samples.push(words),
            }
        }
    }
    samples.sort();
    samples
}

const FIELDS: &str = "comm,pid,tid,time,event,ip,dso,period";

#[test]
fn a_merged_recording_says_what_its_parts_say() {
    let dir = scratch();
    let to = dir.path().join("merged");
    let pairs = [
        // Events of other shapes, without ids; counters of a group; formats of tracepoints; files of a directory.
        ["main", "multi"],
        ["multi", "main"],
        ["group", "multi"],
        ["multi", "tracepoints"],
        ["threads", "main"],
        // A pipe, and compressed records.
        ["pipe", "zstd"],
        ["zstd", "everything"],
        ["rust", "kernel"],
        // The same once more: its counters must not be taken for those of the first.
        ["group", "group"],
        ["multi", "multi"],
    ];
    for names in pairs {
        let [one, two] = names.map(fixture);
        let from = [one.as_path(), two.as_path()];
        let said = merged(&from, &to, &["--pids", "join"]);
        assert_eq!(sums(&[&to]), sums(&from), "{names:?}: {said}");
        assert_eq!(samples(&[&to], FIELDS), samples(&from, FIELDS), "{names:?}: {said}");
        assert_eq!(tool::json("stats", &to)["issues"].as_array().unwrap().len(), 0, "{names:?}");
    }
}

#[test]
fn what_was_divided_comes_together_again() {
    let dir = scratch();
    for name in ["multi", "group", "everything", "tracepoints", "zstd", "rust"] {
        for (nr, options) in
            [&["--every", "20ms"][..], &["--by", "process"], &["--by", "event"]].iter().enumerate()
        {
            let (parts, to) =
                (dir.path().join(format!("{name}-{nr}")), dir.path().join(format!("{name}-{nr}.data")));
            let output = tool::command()
                .arg("split")
                .arg(fixture(name))
                .arg("-o")
                .arg(&parts)
                .args(*options)
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
            let mut files: Vec<PathBuf> =
                fs::read_dir(&parts).unwrap().map(|part| part.unwrap().path()).collect();
            files.sort();
            let said = merged(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>(), &to, &[]);
            let whole = fixture(name);
            assert_eq!(sums(&[&to]), sums(&[&whole]), "{name} {options:?}");
            assert_eq!(samples(&[&to], FIELDS), samples(&[&whole], FIELDS), "{name} {options:?}");
            // Nothing is a conflict, and what all parts tell is there once, as in the whole.
            assert_eq!(said.lines().count(), 1, "{name}: {said}");
            let count = |file: &Path, kind: &str| {
                let stats = tool::json("stats", file);
                let of = stats["records"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .find(|record| record["type"] == kind)
                    .cloned();
                of.map_or(0, |record| record["count"].as_u64().unwrap())
            };
            for kind in ["COMM", "FORK", "EXIT", "MMAP", "MMAP2", "SWITCH", "LOST"] {
                let (now, before) = (count(&to, kind), count(&whole, kind));
                // Processes without samples are in no part.
                assert!(
                    now <= before && (now > 0 || before == 0),
                    "{name} {options:?} {kind}: {now} of {before}"
                );
            }
        }
    }
}

#[test]
fn pids_and_events_are_kept_apart_if_that_is_asked_for() {
    let (dir, from) = (scratch(), fixture("multi"));
    let to = dir.path().join("apart");
    merged(&[&from, &from], &to, &["--pids", "apart", "--events", "apart", "--compress"]);
    let mut wanted = sums(&[&from]);
    for (name, sum) in sums(&[&from]) {
        if name.contains(" of ") {
            wanted.insert(format!("{name}#2"), sum);
        } else {
            wanted.insert(name, 2 * sum);
        }
    }
    assert_eq!(sums(&[&to]), wanted);
    let fields = "comm,pid,time,event,ip,dso,period";
    let both: Vec<String> = samples(&[&from], fields);
    let pid = |line: &str| -> u64 { line.split_whitespace().nth(1).unwrap().parse().unwrap() };
    let now = samples(&[&to], fields);
    let (first, second): (Vec<_>, Vec<_>) = now.iter().cloned().partition(|line| pid(line) < 10_000_000);
    assert_eq!(first, both);
    let mut taken_off: Vec<String> = second
        .iter()
        .map(|line| {
            line.replacen(&pid(line).to_string(), &(pid(line) - 10_000_000).to_string(), 1)
                .replace("#2:", ":")
        })
        .collect();
    taken_off.sort();
    assert_eq!(taken_off, both);
}

#[test]
fn other_byte_orders_and_streams_are_merged_as_well() {
    let dir = scratch();
    let (big, to) = (dir.path().join("big"), dir.path().join("merged"));
    let output = tool::command()
        .args(["edit", "--byte-order", "big", "-o"])
        .args([&big, &fixture("multi")])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    let main = fixture("main");
    for from in [[big.as_path(), main.as_path()], [main.as_path(), big.as_path()]] {
        merged(&from, &to, &["--pids", "join"]);
        assert_eq!(samples(&[&to], FIELDS), samples(&from, FIELDS), "{from:?}");
    }
    let stdin = fs::File::open(fixture("pipe")).unwrap();
    let mut cat = std::process::Command::new("cat").stdin(stdin).stdout(Stdio::piped()).spawn().unwrap();
    let stream = cat.stdout.take().unwrap();
    let mut command = tool::command();
    let output = command.arg("merge").arg(&main).arg("-").arg("-o").arg(&to).stdin(stream).output().unwrap();
    cat.wait().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    assert_eq!(sums(&[&to]), sums(&[&main, &fixture("pipe")]));
}

#[test]
fn nothing_is_written_where_it_is_refused() {
    let dir = scratch();
    let own = dir.path().join("perf.data");
    fs::copy(fixture("main"), &own).unwrap();
    let refused = |from: &[&Path], to: &Path, options: &[&str], status: i32, why: &str| {
        let output = merge(from, to, options);
        assert_eq!(output.status.code(), Some(status), "{why}");
        assert!(tool::stderr(&output).contains(why), "{}", tool::stderr(&output));
    };
    let to = dir.path().join("out");
    let multi = fixture("multi");
    refused(&[&multi, &own], &own, &[], 1, "is the recording itself");
    refused(&[&own, &fixture("stat")], &to, &[], 1, "perf stat record");
    refused(&[&own, Path::new("nowhere")], &to, &[], 1, "nowhere");
    refused(&[&own, &multi], &dir.path().join("nowhere/out"), &[], 1, "No such file");
    refused(&[&own, &multi], Path::new("/dev/full"), &[], 1, "No space left");
    refused(&[&own, &fixture("cut")], &to, &["--strict"], 1, "cut");
    refused(&[], &to, &[], 2, "required");
    assert_eq!(fs::read(&own).unwrap(), fs::read(fixture("main")).unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    let damaged = merge(&[&own, &fixture("cut")], &to, &[]);
    assert_eq!(damaged.status.code(), Some(3), "{}", tool::stderr(&damaged));
    assert!(to.exists());
}

#[test]
#[ignore = "live: compares with perf"]
fn perf_reads_a_merged_recording() {
    let Some(perf) = Perf::or_skip("perf_reads_a_merged_recording") else { return };
    let dir = scratch();
    let to = dir.path().join("merged");
    for names in [["main", "multi"], ["multi", "group"], ["zstd", "everything"], ["rust", "tracepoints"]] {
        let from = names.map(fixture);
        merged(&[&from[0], &from[1]], &to, &["--pids", "join"]);
        let lines = |file: &Path| -> Vec<String> {
            let options = ["--ns", "--no-inline", "--symfs", "/nonexistent", "-F", "comm,pid,tid,time,event"];
            perf.says("script", file, &options)
                .lines()
                .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
                .filter(|line| line.contains(": "))
                .collect()
        };
        let sorted = |mut lines: Vec<String>| {
            lines.sort();
            lines
        };
        let wanted = sorted(from.iter().flat_map(|file| lines(file)).collect());
        assert!(wanted.len() > 100, "{names:?}: {wanted:?}");
        assert!(sorted(lines(&to)) == wanted, "{names:?}");
        let report = perf.report(&to, &["--stats"]);
        let count = |text: &str| -> u64 {
            let lines = text.lines().filter(|line| line.contains(" SAMPLE events:"));
            // The first line is of all events.
            lines.take(1).map(|line| line.split_whitespace().nth(2).unwrap().parse::<u64>().unwrap()).sum()
        };
        let parts: u64 = from.iter().map(|file| count(&perf.report(file, &["--stats"]))).sum();
        assert_eq!(count(&report), parts, "{names:?}: {report}");
    }
}

/// Two runs of one program, one after the other.
#[test]
#[ignore = "live: records with perf"]
fn recordings_of_this_machine_are_merged() {
    let Some(_) = Perf::or_skip("recordings_of_this_machine_are_merged") else { return };
    let dir = scratch();
    let files: Vec<PathBuf> = (0..2)
        .map(|nr| {
            let file = dir.path().join(format!("{nr}.data"));
            let status = std::process::Command::new("perf")
                .args(["record", "-q", "-e", "cpu-clock", "-g", "-k", "CLOCK_MONOTONIC", "-o"])
                .arg(&file)
                .args(["--", "sh", "-c", "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"])
                .stderr(Stdio::null())
                .status()
                .unwrap();
            assert!(status.success());
            file
        })
        .collect();
    let to = dir.path().join("merged");
    let from: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let said = merged(&from, &to, &[]);
    assert!(!said.contains("are kept apart") && !said.contains("are moved"), "{said}");
    assert_eq!(sums(&[&to]), sums(&from));
    assert_eq!(samples(&[&to], FIELDS), samples(&from, FIELDS));
    let stats: Vec<Value> =
        [&files[0], &files[1], &to].iter().map(|file| tool::json("stats", file)).collect();
    assert_eq!(stats[2]["first_time_ns"], stats[0]["first_time_ns"]);
    assert_eq!(stats[2]["last_time_ns"], stats[1]["last_time_ns"]);
}
