//! Ends that come from outside: signals, and recordings that are changed while they are read.

use crate::handmade::{Attr, CODE, Pipe, Sample};
use crate::oracle::{fixture, scratch, tool};
use crate::{OLD, check_untouched, names, old_output, only_line};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

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

/// The C library ends the program where it has no memory for a thread that begins, which hardly ever happens at will.
#[test]
fn an_abort_where_there_is_no_memory_is_said() {
    let (dir, out) = old_output();
    let mut child = waiting(&[Path::new("dump"), Path::new("-o"), &out]);
    wait_for_output(&mut child, dir.path());
    let nothing = Rlimit { current: Some(0), maximum: None };
    prlimit(Pid::from_raw(child.id().try_into().unwrap()), Resource::As, nothing).unwrap();
    kill(&child, "ABRT");
    let stdin = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(stdin);
    assert_eq!(output.status.code(), Some(1), "{:?}", output.status);
    let said = only_line("no memory", &output);
    assert!(said.starts_with("readperf: error: out of memory: "), "{said}");
    check_untouched("no memory", dir.path());
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
