//! The rarer fields of `readperf script` against perf: times of day, cgroups, instructions, source text.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests fail by panicking"
)]

mod oracle;
mod script_support;

use oracle::live::Perf;
use oracle::{fixture, scratch, skip, tool};
use script_support::{Agreement, build, compare, script, without_plt_names};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;

/// A recording of the program with these options.
fn record(test: &str, options: &[&str]) -> Option<(&'static Perf, TempDir, PathBuf)> {
    let perf = Perf::or_skip(test)?;
    let dir = scratch();
    if let Err(why) = build(dir.path(), "shapes", &["-pie", "-fPIE", "-DSHARED", "-ldl"]) {
        skip(test, &why);
        return None;
    }
    let data = perf.record(test, dir.path(), &[options, &["--", "./shapes", "500"]].concat())?;
    Some((perf, dir, data))
}

/// Without the source text of a destructor that the compiler made, if perf has none: the line table says that it is of line 200 of
/// `std_thread.h`, and addr2line, which perf asks, takes the program's own file for it, which is shorter. Few recordings meet it.
fn without_implicit(text: &str, perf: &str) -> String {
    const TEXT: &str = "struct _State_impl : public _State";
    let is_there = |line: &&str| perf.contains(TEXT) || !(line.starts_with('|') && line.contains(TEXT));
    text.split('\n').filter(is_there).collect::<Vec<_>>().join("\n")
}

/// Compares all lines with these options, which both understand; what `held` holds has to be in perf's text.
fn same(test: &str, record_with: &[&str], options: &[&[&str]], held: &str) {
    let Some((perf, _dir, data)) = record(test, record_with) else { return };
    let mut all = Agreement::default();
    for options in options {
        let theirs = perf.script_with(&data, options);
        assert!(theirs.contains(held), "{test} {options:?}: perf shows none: {theirs:.500}");
        let mine = without_implicit(&script(&data, options), &theirs);
        let (theirs, mine) = (without_plt_names(&theirs), without_plt_names(&mine));
        all.add(compare(&format!("{test} {options:?}"), &theirs, &mine));
    }
    eprintln!("{test}: {} of {} lines equal", all.same, all.lines);
    // Names of some entries of procedure linkage tables are other ones, see tests/accept/script-differences.md.
    assert!(all.share() >= 0.99, "{test}: {all:?}");
}

#[test]
#[ignore = "live: compares with perf"]
fn times_of_day_are_those_of_perf() {
    same(
        "times_of_day_are_those_of_perf",
        &["-k", "CLOCK_MONOTONIC", "-F", "2000", "-e", "cpu-clock"],
        &[
            &["-F", "+tod"],
            &["-F", "tod,comm", "--ns"],
            &["-F", "comm,tod,time", "--reltime"],
            &["-F", "+tod", "--show-task-events"],
        ],
        "20",
    );
}

#[test]
#[ignore = "live: compares with perf"]
fn times_of_day_come_through_a_pipe() {
    let test = "times_of_day_come_through_a_pipe";
    let Some((perf, dir, _)) = record(test, &["-e", "cpu-clock"]) else { return };
    let data = dir.path().join("pipe.data");
    let options = ["-k", "CLOCK_MONOTONIC", "-F", "2000", "-e", "cpu-clock", "--", "./shapes", "500"];
    let mut recorder = perf.recorder(Path::new("-"), &options);
    let file = std::fs::File::create(&data).unwrap();
    recorder.current_dir(dir.path()).stdout(file).stderr(Stdio::null()).status().unwrap();
    let theirs = perf.script_with(&data, &["-F", "comm,tod"]);
    assert!(theirs.lines().count() > 20, "{theirs}");
    assert_eq!(theirs, script(&data, &["-F", "comm,tod"]));
}

#[test]
#[ignore = "live: compares with perf"]
fn instructions_are_those_of_perf() {
    same(
        "instructions_are_those_of_perf",
        &["-F", "4000", "-e", "cpu-clock,page-faults"],
        &[&["-F", "+insn"], &["-F", "+insnlen"], &["-F", "comm,ip,insn,insnlen"]],
        "l",
    );
    same(
        "instructions_are_those_of_perf",
        &["-F", "4000", "-g", "-e", "cpu-clock"],
        &[&["-F", "+insn,+insnlen"]],
        " insn: ",
    );
}

#[test]
#[ignore = "live: compares with perf"]
fn source_text_is_that_of_perf() {
    for chains in [&[][..], &["-g"]] {
        same(
            "source_text_is_that_of_perf",
            &[&["-F", "4000", "-e", "cpu-clock"], chains].concat(),
            &[&["-F", "+srccode"], &["-F", "ip,srccode"]],
            "for (int i = 0; i < 20000; i++) x = x * 31 + sink;",
        );
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn chains_stop_where_those_of_perf_do() {
    for last in ["main", "shapes::recurse,shapes::nested<1>", "nobody"] {
        let test = "chains_stop_where_those_of_perf_do";
        same(test, &["-F", "4000", "-g", "-e", "cpu-clock:u"], &[&["--stop-bt", last]], "nested<1>");
    }
}

#[test]
fn the_header_is_that_of_info() {
    for name in ["main", "pipe"] {
        let info = tool::answer(&["info", "--color", "never", fixture(name).to_str().unwrap()]);
        let header = script(&fixture(name), &["--header-only"]);
        let bare: Vec<&str> = header.lines().map(|line| line.trim_start_matches('#').trim()).collect();
        let told: Vec<&str> = info.lines().map(str::trim).chain([""]).collect();
        assert!(told.len() > 10, "{info}");
        assert_eq!(bare, told, "{name}");
        assert!(header.lines().all(|line| line.starts_with('#')));
    }
    let report = tool::answer(&["report", "--header-only", fixture("main").to_str().unwrap()]);
    assert_eq!(report, script(&fixture("main"), &["--header-only"]));
    let (with, without) = (script(&fixture("main"), &["--header"]), script(&fixture("main"), &[]));
    assert_eq!(with.strip_suffix(&without), Some(script(&fixture("main"), &["--header-only"]).as_str()));
}

/// perf 6.1 has no such field in `script`: the paths are those of the CGROUP records in its dump.
#[test]
#[ignore = "live: compares with perf"]
fn cgroups_are_those_of_the_records() {
    let test = "cgroups_are_those_of_the_records";
    let Some((perf, _dir, data)) = record(test, &["--all-cgroups", "-F", "2000", "-e", "cpu-clock"]) else {
        return;
    };
    let dump = perf.dump(&data);
    let told: Vec<(&str, &str)> = dump
        .lines()
        .filter_map(|line| line.split_once("PERF_RECORD_CGROUP cgroup: ")?.1.split_once(' '))
        .collect();
    assert!(!told.is_empty());
    let ids = tool::answer(&["dump", "--json", "--sorted", "--type", "sample", data.to_str().unwrap()]);
    let expected: Vec<String> = ids
        .lines()
        .map(|line| {
            let sample: serde_json::Value = serde_json::from_str(line).unwrap();
            let id = sample["cgroup"].to_string();
            let (_, path) = told.iter().find(|(told, _)| *told == id.trim_matches('"')).unwrap();
            format!(" {path}")
        })
        .collect();
    let mine = script(&data, &["-F", "cgroup"]);
    assert_eq!(mine.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn code_that_is_not_here_is_left_out() {
    // Binaries beside a recording are found.
    let dir = scratch();
    let data = dir.path().join("perf.data");
    std::fs::copy(fixture("main"), &data).unwrap();
    let text = script(&data, &["-F", "ip,insn,insnlen,srccode", "--symfs", "/nonexistent"]);
    assert!(text.lines().count() > 50);
    assert!(text.lines().all(|line| line.ends_with(" ilen: 0")), "{text:.300}");
}
