//! A recording may be given as standard input, as a FIFO or as a device: what can be one is read, what cannot is refused in a
//! line, and the disk is left alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, scratch, skip, tool};
use std::fs::File;
use std::io::Write;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

const FAILED: i32 = 1;

/// readperf where no file can grow beyond a mebibyte: what is copied without end ends by a signal instead of filling the disk.
fn bounded(directory: &Path) -> Command {
    let tool = tool::command();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 2048; exec \"$0\" \"$@\""]).arg(tool.get_program());
    for (name, value) in tool.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("TMPDIR", directory);
    command
}

fn samples(output: &Output) -> u64 {
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(output));
    let stats: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    tool::number(&stats["samples"])
}

fn samples_of(name: &str) -> u64 {
    samples(&tool::run(&[Path::new("stats"), Path::new("--json"), &fixture(name)]))
}

/// It fails with a single line that has these words.
fn refused(what: &str, output: &Output, words: &str) {
    let told = tool::stderr(output);
    assert_eq!(output.status.code(), Some(FAILED), "{what}: {told}");
    assert!(told.lines().count() == 1 && told.starts_with("readperf: error: "), "{what}: {told}");
    assert!(told.contains(words), "{what}: {told}");
    assert!(output.stdout.is_empty(), "{what}");
}

#[test]
fn devices_are_refused_by_their_first_bytes() {
    let directory = scratch();
    let zero = "not a perf.data recording: it starts with the bytes 00 00 00 00 00 00 00 00";
    for (device, words) in [
        ("/dev/zero", zero),
        ("/dev/full", zero),
        ("/dev/null", "the file is empty"),
        // The other end of a terminal of its own.
        ("/dev/ptmx", "this is a terminal"),
    ] {
        // Some containers have next to no devices.
        if File::open(device).is_err() {
            skip("devices_are_refused_by_their_first_bytes", device);
            continue;
        }
        for command in [&["stats"][..], &["report"], &["--no-csv"], &["dump"], &["script"]] {
            let named = bounded(directory.path()).args(command).arg(device).output().unwrap();
            refused(device, &named, words);
            let stdin = File::open(device).unwrap();
            let piped = bounded(directory.path()).args(command).arg("-").stdin(stdin).output().unwrap();
            refused(device, &piped, words);
        }
    }
}

#[test]
fn what_is_no_stream_of_bytes_is_refused() {
    let directory = scratch();
    let socket = directory.path().join("socket");
    let _listener = UnixListener::bind(&socket).unwrap();
    refused("a socket", &tool::run(&[Path::new("stats"), &socket]), "socket: ");
    let stdin = File::open(directory.path()).unwrap();
    let output = bounded(directory.path()).args(["stats", "-"]).stdin(stdin).output().unwrap();
    refused("a directory", &output, "Is a directory");
}

fn fifo(directory: &Path) -> PathBuf {
    let path = directory.join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

#[test]
fn a_fifo_as_file_is_read_as_a_stream() {
    for name in ["pipe", "main"] {
        let directory = scratch();
        let path = fifo(directory.path());
        let reader = tool::command()
            .args(["stats", "--json"])
            .arg(&path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Waits for the reader.
        std::fs::write(&path, std::fs::read(fixture(name)).unwrap()).unwrap();
        assert_eq!(samples(&reader.wait_with_output().unwrap()), samples_of(name), "{name}");
    }
}

#[test]
fn an_endless_fifo_is_refused() {
    let directory = scratch();
    let path = fifo(directory.path());
    let mut reader = bounded(directory.path());
    reader.arg("report").arg(&path).stderr(Stdio::piped()).stdout(Stdio::piped());
    let reader = reader.spawn().unwrap();
    let mut writer = File::options().write(true).open(&path).unwrap();
    // The reader goes away.
    while writer.write_all(&[0; 4096]).is_ok() {}
    refused("a FIFO of zeros", &reader.wait_with_output().unwrap(), "it starts with the bytes 00 00");
}

/// Runs it on standard input from a pipe that is written to, or a socket.
fn fed(bytes: &[u8], socket: bool) -> Output {
    let mut command = tool::command();
    command.args(["stats", "--json", "-"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    if socket {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let child = command.stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs))).spawn().unwrap();
        drop(command);
        (&ours).write_all(bytes).unwrap();
        drop(ours);
        return child.wait_with_output().unwrap();
    }
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn any_recording_may_arrive() {
    for name in ["pipe", "main", "zstd"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        for socket in [false, true] {
            assert_eq!(samples(&fed(&bytes, socket)), samples_of(name), "{name}");
        }
    }
}

/// No file may be written at all: the recording is read where it is.
#[test]
fn a_file_as_standard_input_is_not_copied() {
    let directory = scratch();
    let missing = directory.path().join("missing");
    for name in ["pipe", "main", "zstd"] {
        let mut command = tool::command();
        command.env("TMPDIR", &missing).args(["stats", "--json", "-"]);
        let output = command.stdin(File::open(fixture(name)).unwrap()).output().unwrap();
        assert_eq!(samples(&output), samples_of(name), "{name}");
    }
}

/// What somebody has read of it already is gone, as with any program.
#[test]
fn a_file_is_read_from_where_it_is() {
    use std::io::Seek as _;
    let mut stdin = tempfile::tempfile().unwrap();
    let before = b"what somebody else has read";
    stdin.write_all(before).unwrap();
    stdin.write_all(&std::fs::read(fixture("main")).unwrap()).unwrap();
    stdin.seek(std::io::SeekFrom::Start(before.len() as u64)).unwrap();
    let output = tool::command().args(["stats", "--json", "-"]).stdin(stdin).output().unwrap();
    assert_eq!(samples(&output), samples_of("main"));
}

/// The copy of what arrives never has a name, so that nothing is left of it whatever ends the program.
#[test]
fn a_copy_has_no_name() {
    let directory = scratch();
    let mut child: Child = tool::command()
        .args(["stats", "-"])
        .env("TMPDIR", directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut bytes = std::fs::read(fixture("main")).unwrap();
    bytes.resize(1 << 20, 0);
    let mut stdin = child.stdin.take().unwrap();
    // As much as that is more than a pipe holds: some of it has been copied.
    stdin.write_all(&bytes).unwrap();
    let names = || std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(names(), 0);
    let open = std::fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
    let copy = open.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let copy = copy.filter(|path| path.starts_with(directory.path())).count();
    assert_eq!(copy, 1, "it is open");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(names(), 0);
}
