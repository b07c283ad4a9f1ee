//! The program where the system gives little: files, memory, threads, stacks; and where what is usually there is not. It says what
//! is missing and why, with an exit status, or does without.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops where something is not as expected"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// How a run ended.
#[derive(Debug)]
struct Run {
    /// Exit status; `None` if a signal ended it.
    status: Option<i32>,
    out: String,
    err: String,
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)
}

fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("limits_{name}"));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Runs the program behind something that a shell does first (`ulimit`). Nothing of this machine's binaries is looked at.
fn run(first: &str, arguments: &[&str]) -> Run {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("limits_home");
    std::fs::create_dir_all(&home).unwrap();
    let script = format!("{first}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_readperf")]).args(arguments);
    command
        .env("HOME", home)
        .env_remove("RUST_MIN_STACK")
        .env_remove("DEBUGINFOD_URLS")
        .env("RUST_BACKTRACE", "1");
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

fn recording() -> String {
    fixture("dwarf/perf.data").to_str().unwrap().to_owned()
}

/// Commands that look for binaries, unwind stacks and name things.
fn with_names(first: &str, command: &[&str]) -> Run {
    let (recording, symbols) = (recording(), fixture("bin"));
    let arguments = [command, &[&recording, "--symbols", symbols.to_str().unwrap(), "--no-cache"]].concat();
    run(first, &arguments)
}

const COMMANDS: [&[&str]; 3] =
    [&["script"], &["report", "--stdio"], &["export", "--format", "folded", "-o", "-"]];

fn unknown(text: &str) -> usize {
    text.matches("[unknown]").count()
}

#[test]
fn too_few_open_files_are_said() {
    let out = folder("files").join("out.txt");
    let script = |first: &str| {
        let _ = std::fs::remove_file(&out);
        let run = with_names(first, &["script", "-o", out.to_str().unwrap()]);
        (run, unknown(&std::fs::read_to_string(&out).unwrap_or_default()))
    };
    let (usual, unknown) = script("true");
    assert_eq!((usual.status, unknown), (Some(0), 0), "{usual:?}");
    // How many files the program itself has open is its own affair: somewhere there is one for the output, and none for binaries.
    let mut lost = 0;
    for most in 4..16 {
        let (run, unknown) = script(&format!("ulimit -n {most}"));
        match run.status {
            Some(0) => assert_eq!(unknown, 0, "{most}: {run:?}"),
            Some(3) => {
                lost += usize::from(unknown > 0);
                assert!(run.err.contains("names may be missing: cannot read /"), "{most}: {run:?}");
                assert!(run.err.contains("Too many open files (os error 24)"), "{most}: {run:?}");
            }
            // Not even the recording could be read, or the program be loaded.
            Some(1 | 127) => assert!(run.err.contains("Too many open files") || run.err.contains("rror 24")),
            _ => panic!("{most}: {run:?}"),
        }
    }
    assert!(lost > 0);
}

/// Threads take what is left from each other, so it is not always the same that is missing; that something is, is always said.
#[test]
fn too_few_open_files_are_no_lack_of_tables() {
    let out = folder("tables").join("out.txt");
    let export = ["export", "--format", "folded", "-o", out.to_str().unwrap()];
    let usual = with_names("true", &export);
    for most in 4..16 {
        let run = with_names(&format!("ulimit -n {most}"), &export);
        if run.status == Some(0) {
            assert_eq!(run.err, usual.err, "{most}");
        } else {
            assert!(run.err.contains("rror 24"), "{most}: {run:?}");
        }
    }
}

#[test]
fn too_little_memory_is_said_in_one_line() {
    // What the program needs to begin with depends on how it was built.
    let least = (8..64)
        .map(|nr| nr * 8192)
        .find(|limit| run(&format!("ulimit -c 0; ulimit -v {limit}"), &["--version"]).status == Some(0));
    let least = least.unwrap();
    let mut ended = 0;
    for nr in 0..8 {
        let limit = least + nr * 15_000;
        for command in COMMANDS {
            let run = with_names(&format!("ulimit -c 0; ulimit -v {limit}"), command);
            match run.status {
                Some(0) => {}
                Some(1) => {
                    ended += usize::from(run.err.contains("out of memory: "));
                    // What is told of the recording may be told already.
                    let errors = run.err.lines().filter(|line| line.starts_with("readperf: error: "));
                    assert_eq!(errors.count(), 1, "{limit}: {run:?}");
                    assert!(run.err.lines().all(is_ours_or_of_the_c_library), "{limit}: {run:?}");
                }
                Some(3) => assert!(run.err.contains("os error 12"), "{limit}: {run:?}"),
                _ => panic!("{limit} {command:?}: {run:?}"),
            }
        }
    }
    assert!(ended > 0);
}

/// Where a thread begins, the C library needs memory, and has its say before ours.
fn is_ours_or_of_the_c_library(line: &str) -> bool {
    line.starts_with("readperf: ")
        || line == "Fatal glibc error: failed to register TLS destructor: out of memory"
}

#[test]
fn small_stacks_and_no_threads_do() {
    for command in COMMANDS {
        let usual = with_names("true", command);
        assert_eq!(usual.status, Some(0), "{usual:?}");
        for first in [
            "ulimit -s 256",
            "ulimit -s 128",
            "export RUST_MIN_STACK=65536",
            // No thread can have it.
            "export RUST_MIN_STACK=70368744177664",
        ] {
            let run = with_names(first, command);
            assert_eq!(
                (run.status, &run.out, &run.err),
                (Some(0), &usual.out, &usual.err),
                "{first} {command:?}"
            );
        }
    }
}

/// What is usually there: a home, a folder for temporary files, a working directory, the three files, a locale.
#[test]
fn nothing_but_the_recording_is_needed() {
    let gone = folder("gone");
    let leave = format!("cd {0} && rmdir {0}", gone.to_str().unwrap());
    for command in COMMANDS {
        let usual = with_names("true", command);
        for first in [
            "unset HOME",
            "export HOME=/proc/none",
            "export TMPDIR=/proc/none",
            "unset TMPDIR",
            "export LC_ALL=C",
            &leave,
        ] {
            std::fs::create_dir_all(&gone).unwrap();
            let run = with_names(first, command);
            assert_eq!(
                (run.status, &run.out, &run.err),
                (Some(0), &usual.out, &usual.err),
                "{first} {command:?}"
            );
        }
        for (first, has_out) in
            [("exec <&-", true), ("exec 2>&-", true), ("exec >&-", false), ("exec <&- >&- 2>&-", false)]
        {
            let run = with_names(first, command);
            assert_eq!(run.status, Some(0), "{first} {command:?}");
            assert_eq!(run.out, if has_out { usual.out.as_str() } else { "" }, "{first} {command:?}");
        }
    }
}
