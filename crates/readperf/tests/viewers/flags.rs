//! Flags of `export`: what they change, and that it is told where they have no place.

use crate::handmade::{Attr, CODE, PID, Pipe, Sample};
use crate::oracle::{self, fixture, tool};
use readperf::output::export::FORMATS;
use std::process::Stdio;

/// Flags that do nothing in a format are told; those that do are not.
#[test]
fn flags_without_a_place_are_told() {
    let told = |format: &str, flags: &[&str]| {
        let command = ["export", "--no-progress", "--format", format];
        let output = tool::command().args(command).args(flags).arg(fixture("main")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format}");
        let said = tool::stderr(&output);
        said.lines().find(|line| line.contains("has no place for")).map(str::to_owned)
    };
    let flags = ["--with-cpu", "--annotate", "--title", "t", "--weight", "samples", "--inverted"];
    let says = |flags: &str| Some(format!("readperf: {flags}"));
    assert_eq!(told("folded", &flags), says("folded has no place for --with-cpu, --title, --inverted"));
    assert_eq!(
        told("jsonl", &flags),
        says("jsonl has no place for --weight samples, --annotate, --title, --inverted")
    );
    assert_eq!(
        told("dot", &["--with-pid", "--min-share", "1"]),
        says("dot has no place for --with-pid, --min-share")
    );
    assert_eq!(
        told("flamegraph", &["--annotate", "--inverted", "--min-share", "1", "--colors", "name"]),
        None
    );
    assert_eq!(
        told("pprof", &["--with-cpu", "--with-tid", "--weight", "samples", "--min-share", "0.05"]),
        says("pprof has no place for --min-share")
    );
}

/// What a flag does is seen in the files of the formats that have a place for it, and in no other.
#[test]
fn flags_change_the_formats_that_have_a_place_for_them() {
    let formats = [
        "folded",
        "flamegraph",
        "pprof",
        "firefox",
        "speedscope",
        "perfetto",
        "chrome",
        "callgrind",
        "dot",
        "jsonl",
        "csv",
    ];
    let always: [(&[&str], &[&str]); 4] = [
        (&["--with-cpu"], &["perfetto", "chrome", "jsonl", "csv"]),
        (&["--with-tid"], &["pprof", "firefox", "speedscope", "perfetto", "chrome", "jsonl", "csv"]),
        (&["--weight", "samples"], &[]),
        (&["--title", "t"], &[]),
    ];
    let dir = oracle::scratch();
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.map(PID, CODE, "/bin/work", Some(7), 0);
    for nr in 0..2 {
        pipe.sample(&Sample { tid: PID + nr, cpu: nr, ..Sample::default() });
    }
    let file = dir.path().join("perf.data");
    std::fs::write(&file, &pipe.bytes).unwrap();
    let run = |format: &str, more: &[&str]| {
        let words = ["export", "--no-progress", "--symfs", "/nonexistent", "--format", format];
        tool::command().args(words).args(more).arg(&file).output().unwrap()
    };
    for format in formats {
        let plain = run(format, &[]);
        for (flag, always) in always {
            let with = run(format, flag);
            let told = tool::stderr(&with).contains("has no place for");
            let expected = !told && !always.contains(&format);
            assert_eq!(plain.stdout != with.stdout, expected, "{format} {flag:?}");
        }
    }
}

/// Nobody reads on: no format has anything to complain about then.
#[test]
fn a_closed_pipe_ends_every_format_in_silence() {
    let dir = oracle::scratch();
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.map(PID, CODE, "/bin/work", Some(7), 0);
    pipe.samples(20_000, &Sample::default());
    let file = dir.path().join("perf.data");
    std::fs::write(&file, &pipe.bytes).unwrap();
    let mut large = 0;
    for format in FORMATS {
        let words = ["export", "--no-progress", "--symfs", "/nonexistent", "--format", format.name];
        let mut command = tool::command();
        command.args(words).arg(&file).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = tool::stderr(&output);
        assert!(!said.contains("error") && output.status.code() == Some(0), "{}: {said}", format.name);
        large += usize::from(command.output().unwrap().stdout.len() > 1 << 17);
    }
    assert!(large >= 4, "more than a pipe and a buffer hold: {large}");
}
