//! Output files are whole or what they were before, whatever ends the program; and nothing temporary stays.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod handmade;
mod oracle;

use handmade::{Attr, CODE, Pipe, Sample};
use oracle::{fixture, scratch, skip, tool};
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// What stands in files before the program runs.
const OLD: &str = "what was there before\n";

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A folder with nothing but `out`, as it was before.
fn old_output() -> (tempfile::TempDir, PathBuf) {
    let dir = scratch();
    let out = dir.path().join("out");
    fs::write(&out, OLD).unwrap();
    (dir, out)
}

/// Nothing has changed, and nothing was left.
fn check_untouched(what: &str, dir: &Path) {
    assert_eq!(names(dir), ["out"], "{what}");
    assert_eq!(fs::read_to_string(dir.join("out")).unwrap(), OLD, "{what}");
}

/// One line on standard error, under the program's name.
fn only_line(what: &str, output: &Output) -> String {
    let said = tool::stderr(output);
    assert!(said.lines().count() == 1 && said.starts_with("readperf: "), "{what}: {said:?}");
    said
}

/// The program in a shell that limits what it may use (`ulimit OPTIONS`).
fn limited(options: &str, arguments: &[&Path]) -> Output {
    let script = format!("ulimit {options}; exec \"$0\" \"$@\"");
    tool::under("sh", &["-c", &script]).args(arguments).output().unwrap()
}

#[test]
fn a_limit_of_the_size_of_files_is_told_and_costs_nothing() {
    let (dir, out) = old_output();
    // Blocks of 512 or 1024 bytes.
    let output = limited("-f 1", &[Path::new("dump"), Path::new("-o"), &out, &fixture("main")]);
    assert_eq!(output.status.code(), Some(1), "{:?}", output.status);
    let said = only_line("a limit", &output);
    assert!(said.contains("File too large") && said.contains(out.to_str().unwrap()), "{said}");
    check_untouched("a limit", dir.path());
}

#[test]
fn a_full_disk_is_told_in_one_line() {
    let full = Path::new("/dev/full");
    let main = fixture("main");
    let commands: [&[&str]; 9] = [
        &["--no-csv"],
        &["info"],
        &["stats"],
        &["dump"],
        &["report"],
        &["script"],
        &["check"],
        &["timeline"],
        &["export", "-f", "folded"],
    ];
    for command in commands {
        let output = tool::command().args(command).arg(&main).arg("-o").arg(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let said = only_line("-o /dev/full", &output);
        assert!(said.contains("/dev/full: No space left"), "{command:?}: {said}");
        let stdout = OpenOptions::new().write(true).open(full).unwrap();
        let output = tool::command().args(command).arg(&main).stdout(stdout).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        let said = only_line("standard output is full", &output);
        assert!(said.contains("standard output: No space left"), "{command:?}: {said}");
    }
    let stdout = OpenOptions::new().write(true).open(full).unwrap();
    let output = tool::command().args(["completions", "bash"]).stdout(stdout).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    only_line("completions", &output);
}

/// A child that has begun to write its output and waits for the rest of the recording.
fn waiting(arguments: &[&Path]) -> Child {
    let mut child = tool::command()
        .args(arguments)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let recording = fs::read(fixture("pipe")).unwrap();
    child.stdin.as_mut().unwrap().write_all(&recording[..recording.len() / 2]).unwrap();
    child
}

/// Waits until the child has made a file beside those that were there, or touched them.
fn wait_for_output(child: &mut Child, dir: &Path) {
    while names(dir) == ["out"] && fs::read_to_string(dir.join("out")).unwrap() == OLD {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
}

fn kill(child: &Child, signal: &str) {
    let killed = Command::new("kill").arg(format!("-{signal}")).arg(child.id().to_string()).status();
    assert!(killed.unwrap().success());
}

#[test]
fn a_signal_ends_the_program_and_leaves_what_was_there() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3), ("ABRT", 6)] {
        let (dir, out) = old_output();
        let mut child = waiting(&[Path::new("dump"), Path::new("-o"), &out]);
        wait_for_output(&mut child, dir.path());
        kill(&child, signal);
        // Its input stays open until it has ended.
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(output.status.signal(), Some(number), "{signal}: {:?}", output.status);
        assert_eq!(tool::stderr(&output), "", "{signal}");
        check_untouched(signal, dir.path());
    }
}

/// What a shell starts in the background is not to end by Ctrl-C, nor what `nohup` starts by the end of the terminal.
#[test]
fn signals_that_are_ignored_stay_ignored() {
    let (dir, out) = old_output();
    let mut child = tool::under("sh", &["-c", "trap '' INT HUP; exec \"$0\" dump - -o out"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let recording = fs::read(fixture("pipe")).unwrap();
    let (first, rest) = recording.split_at(recording.len() / 2);
    child.stdin.as_mut().unwrap().write_all(first).unwrap();
    wait_for_output(&mut child, dir.path());
    kill(&child, "INT");
    kill(&child, "HUP");
    child.stdin.take().unwrap().write_all(rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(names(dir.path()), ["out"]);
    assert_ne!(fs::read_to_string(&out).unwrap(), OLD);
}

#[test]
fn wrong_usage_that_shows_late_leaves_what_was_there() {
    let (dir, out) = old_output();
    // A stream tells its events on the way: only at its end it is known that none has this name.
    let arguments = [Path::new("dump"), Path::new("--event"), Path::new("none"), Path::new("-o"), &out];
    let input = File::open(fixture("pipe")).unwrap();
    let output = tool::command().args(arguments).arg("-").stdin(input).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", tool::stderr(&output));
    check_untouched("wrong usage", dir.path());
}

#[test]
fn a_damaged_recording_is_answered_unless_that_is_a_failure() {
    let (dir, out) = old_output();
    let cut = fixture("cut");
    let output = tool::run(&[Path::new("stats"), Path::new("--strict"), &cut, Path::new("-o"), &out]);
    assert_eq!(output.status.code(), Some(1));
    check_untouched("--strict", dir.path());
    let output = tool::run(&[Path::new("stats"), &cut, Path::new("-o"), &out]);
    assert_eq!(output.status.code(), Some(3));
    let shown = tool::run(&[Path::new("stats"), &cut]).stdout;
    assert!(fs::read(&out).unwrap() == shown);
    assert_eq!(names(dir.path()), ["out"]);
}

/// The four tables are of one recording: if one of them cannot be written, those of the run before stay together.
#[test]
fn tables_change_together() {
    let dir = scratch();
    let tables = ["overview.csv", "processes.csv", "results.csv", "stat.csv"];
    for bad in tables {
        for table in tables {
            fs::write(dir.path().join(table), OLD).unwrap();
        }
        fs::remove_file(dir.path().join(bad)).unwrap();
        fs::create_dir(dir.path().join(bad)).unwrap();
        let output = tool::run(&[&fixture("main"), Path::new("--csv-dir"), dir.path()]);
        assert_eq!(output.status.code(), Some(1), "{bad}");
        assert!(!output.stdout.is_empty(), "the overview itself is shown");
        let said = only_line(bad, &output);
        assert!(said.contains(&format!("error: {bad} could not be written")), "{said}");
        assert!(said.contains("so none of the tables was"), "{said}");
        assert_eq!(names(dir.path()), tables, "{bad}");
        for table in tables.iter().filter(|table| **table != bad) {
            assert_eq!(fs::read_to_string(dir.path().join(table)).unwrap(), OLD, "{bad}: {table}");
        }
        fs::remove_dir(dir.path().join(bad)).unwrap();
    }
    let output = tool::run(&[&fixture("main"), Path::new("--csv-dir"), dir.path()]);
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    assert_eq!(names(dir.path()), tables);
    for table in tables {
        assert_ne!(fs::read_to_string(dir.path().join(table)).unwrap(), OLD, "{table}");
    }
}

#[test]
fn tables_stay_where_the_disk_is_full() {
    let dir = scratch();
    for table in ["overview.csv", "processes.csv", "results.csv", "stat.csv"] {
        fs::write(dir.path().join(table), OLD).unwrap();
    }
    let output = limited("-f 4", &[&fixture("main"), Path::new("--csv-dir"), dir.path()]);
    assert_eq!(output.status.code(), Some(1), "{:?}", output.status);
    assert!(only_line("a limit", &output).contains("overview.csv could not be written"));
    for table in names(dir.path()) {
        assert_eq!(fs::read_to_string(dir.path().join(&table)).unwrap(), OLD, "{table}");
    }
}

fn stats_to(out: &Path) -> Output {
    tool::run(&[Path::new("stats"), &fixture("main"), Path::new("-o"), out])
}

fn stats() -> String {
    tool::answer(&[Path::new("stats"), &fixture("main")])
}

#[test]
fn a_link_keeps_leading_to_the_output() {
    let dir = scratch();
    let folder = dir.path().join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("old"), OLD).unwrap();
    symlink("folder/old", dir.path().join("to-old")).unwrap();
    symlink("to-old", dir.path().join("out")).unwrap();
    symlink("folder/new", dir.path().join("to-new")).unwrap();
    for (link, end) in [("out", "folder/old"), ("to-new", "folder/new")] {
        let output = stats_to(&dir.path().join(link));
        assert_eq!(output.status.code(), Some(0), "{link}: {}", tool::stderr(&output));
        assert!(fs::symlink_metadata(dir.path().join(link)).unwrap().is_symlink(), "{link}");
        assert_eq!(fs::read_to_string(dir.path().join(end)).unwrap(), stats(), "{link}");
    }
    assert_eq!(names(&folder), ["new", "old"]);
    assert_eq!(names(dir.path()), ["folder", "out", "to-new", "to-old"]);
    symlink("circle", dir.path().join("circle")).unwrap();
    assert_eq!(stats_to(&dir.path().join("circle")).status.code(), Some(1));
}

#[test]
fn permissions_are_those_of_a_plain_file() {
    let dir = scratch();
    let run = |umask: &str, out: &Path| {
        let script = format!("umask {umask}; exec \"$0\" stats \"$1\" -o \"$2\"");
        let ran = tool::under("sh", &["-c", &script]).arg(fixture("main")).arg(out).status().unwrap();
        assert_eq!(ran.code(), Some(0));
        fs::metadata(out).unwrap().mode() & 0o7777
    };
    for (umask, mode) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        assert_eq!(run(umask, &dir.path().join(umask)), mode, "umask {umask}");
    }
    for mode in [0o600, 0o640, 0o666, 0o755] {
        let out = dir.path().join("there");
        fs::write(&out, OLD).unwrap();
        fs::set_permissions(&out, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(run("027", &out), mode);
        assert_eq!(fs::read_to_string(&out).unwrap(), stats());
    }
}

/// A file with two names stays one file, as it would if it were written over.
#[test]
fn a_file_with_two_names_keeps_both() {
    let (dir, out) = old_output();
    fs::hard_link(&out, dir.path().join("other")).unwrap();
    // Longer than what is written.
    fs::write(&out, OLD.repeat(1000)).unwrap();
    assert_eq!(stats_to(&out).status.code(), Some(0));
    for name in ["out", "other"] {
        assert_eq!(fs::read_to_string(dir.path().join(name)).unwrap(), stats(), "{name}");
    }
    assert_eq!(names(dir.path()), ["other", "out"]);
}

/// In a folder that takes no new files, a file may still be written over; and as it was it stays if the answer fails.
#[test]
fn a_file_in_a_folder_that_takes_no_files_is_written_over() {
    let (dir, out) = old_output();
    let mut command = tool::command();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        // As root every folder takes files: so as nobody.
        command.uid(65534).gid(65534);
    }
    let input = File::open(fixture("main")).unwrap();
    match command.args(["stats", "-", "-o"]).arg(&out).stdin(input).output() {
        Ok(output) => {
            assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
            assert_eq!(fs::read_to_string(&out).unwrap(), stats());
        }
        Err(error) => skip("a_file_in_a_folder_that_takes_no_files", &error.to_string()),
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(names(dir.path()), ["out"]);
}

#[test]
fn pipes_and_open_files_are_written_straight() {
    let dir = scratch();
    // A file that standard output is appended to.
    let log = dir.path().join("log");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        fs::write(&log, OLD).unwrap();
        let stdout = OpenOptions::new().append(true).open(&log).unwrap();
        let mut command = tool::command();
        let status =
            command.args(["stats", "-o", name]).arg(fixture("main")).stdout(stdout).status().unwrap();
        assert_eq!(status.code(), Some(0), "{name}");
        assert_eq!(fs::read_to_string(&log).unwrap(), OLD.to_owned() + &stats(), "{name}");
    }
    let output = stats_to(Path::new("/dev/stdout"));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), stats());
    let fifo = dir.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut child = tool::command().args(["stats", "-o"]).arg(&fifo).arg(fixture("main")).spawn().unwrap();
    assert_eq!(fs::read_to_string(&fifo).unwrap(), stats());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(stats_to(Path::new("/dev/null")).status.code(), Some(0));
    assert_eq!(names(dir.path()), ["fifo", "log"]);
}

#[test]
fn where_no_file_can_be_it_is_said_at_once() {
    let dir = scratch();
    fs::create_dir(dir.path().join("folder")).unwrap();
    let too_long = "x".repeat(300);
    for (out, words) in [
        ("nowhere/out", "No such file or directory"),
        ("folder/", "Is a directory"),
        ("new/", "No such file or directory"),
        (".", "Is a directory"),
        ("/", "Is a directory"),
        (&too_long, "File name too long"),
    ] {
        let output = tool::command()
            .args(["stats", "-o", out])
            .arg(fixture("main"))
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{out}");
        let said = only_line(out, &output);
        assert!(said.contains(words) && !said.contains(".readperf"), "{said}");
    }
    assert_eq!(names(dir.path()), ["folder"]);
}

/// Whatever way a recording is given, it is not written over.
#[test]
fn no_recording_is_written_over() {
    let dir = scratch();
    let copy = |name: &str| {
        let path = dir.path().join(name);
        fs::copy(fixture("main"), &path).unwrap();
        path
    };
    let (first, second) = (copy("first"), copy("second"));
    let content = fs::read(&first).unwrap();
    let commands: [&[&str]; 3] = [
        &["diff", "first", "second", "-o", "second"],
        &["export", "-f", "flamegraph", "first", "--base", "second", "-o", "second"],
        &["stats", "-", "-o", "first"],
    ];
    for command in commands {
        let stdin = File::open(&first).unwrap();
        let output = tool::command().args(command).current_dir(dir.path()).stdin(stdin).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(tool::stderr(&output).contains("overwritten"), "{}", tool::stderr(&output));
        for path in [&first, &second] {
            assert!(fs::read(path).unwrap() == content, "{command:?}");
        }
    }
}

/// A recording of which the text is much longer than what a pipe holds, of samples and of other records.
fn long_recording(dir: &Path) -> PathBuf {
    let mut pipe = Pipe::sound(&[Attr { config: 0, ids: vec![1], ..Attr::default() }]);
    for nr in 0..10_000 {
        let (ip, time) = (CODE + nr * 4, 1_000_000_000 + nr);
        pipe.sample(&Sample { ip, time, id: 1, chain: vec![ip], ..Sample::default() });
        pipe.comm(100, 100, "a-program");
    }
    let path = dir.join("long.data");
    fs::write(&path, pipe.as_file()).unwrap();
    path
}

/// What a command says, and how it ends, on a recording that is changed while it answers: it is held up in the middle, since
/// nobody reads on, until the recording is as it is to be.
fn held_up(arguments: &[&str], recording: &Path, change: impl FnOnce(&File)) -> Output {
    let mut child = tool::command()
        .args(arguments)
        .arg(recording)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    change(&OpenOptions::new().append(true).open(recording).unwrap());
    child.wait_with_output().unwrap()
}

/// That raises SIGBUS.
#[test]
fn a_recording_that_is_cut_while_it_is_read_is_named() {
    let dir = scratch();
    let commands: [&[&str]; 4] = [
        &["dump"],
        &["dump", "--json"],
        &["script", "--json"],
        // Here there are other outputs on their way. What is chosen by name is written piece by piece.
        &["script", "--show-task-events", "--per-event-dump", "--focus=."],
    ];
    for arguments in commands {
        let recording = long_recording(dir.path());
        let output = held_up(arguments, &recording, |file| {
            assert_eq!(names(dir.path()).len() > 1, arguments.contains(&"--per-event-dump"), "{arguments:?}");
            file.set_len(4096).unwrap();
        });
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {:?}", output.status);
        let said = only_line("cut", &output);
        assert!(said.contains(recording.to_str().unwrap()), "{arguments:?}: {said}");
        assert!(said.contains("became shorter while it was read"), "{arguments:?}: {said}");
        assert_eq!(names(dir.path()), ["long.data"], "{arguments:?}");
    }
}

#[test]
fn a_recording_that_grows_while_it_is_read_is_told() {
    let dir = scratch();
    for arguments in [&["dump"][..], &["dump", "--json"]] {
        let recording = long_recording(dir.path());
        let output = held_up(arguments, &recording, |mut file| file.write_all(&[0; 100]).unwrap());
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {:?}", output.status);
        let said = only_line("grown", &output);
        assert!(said.contains("has grown by 100 bytes while it was read"), "{arguments:?}: {said}");
    }
}

/// A SIGBUS that somebody sends is a signal like others.
#[test]
fn a_sent_sigbus_is_no_cut_file() {
    let (dir, out) = old_output();
    let mut child = waiting(&[Path::new("dump"), Path::new("-o"), &out]);
    wait_for_output(&mut child, dir.path());
    kill(&child, "BUS");
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.signal(), Some(7), "{:?}", output.status);
    assert_eq!(tool::stderr(&output), "");
    check_untouched("SIGBUS", dir.path());
}
