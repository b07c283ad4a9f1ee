//! Whatever an output's path leads to: it is as if the file had been written over.

use crate::oracle::{fixture, scratch, skip, tool};
use crate::{OLD, names, old_output, only_line};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output};

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
