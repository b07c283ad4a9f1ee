//! Where `--symbols` finds binaries: under any name, by their build-id.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, scratch, tool};
use std::fs;
use std::path::Path;

/// The fixture alone, and its program under another name, deep below a directory.
fn apart() -> (tempfile::TempDir, tempfile::TempDir) {
    let (recording, files) = (scratch(), scratch());
    fs::copy(fixture("main"), recording.path().join("perf.data")).unwrap();
    let deep = files.path().join("a/b/c");
    fs::create_dir_all(&deep).unwrap();
    let program = fixture("main").with_file_name("work");
    fs::copy(program, deep.join("0042.bin")).unwrap();
    // What else may lie there.
    fs::write(files.path().join("notes.txt"), "no ELF file").unwrap();
    fs::write(files.path().join("cut"), b"\x7fELF\x02\x01\x01").unwrap();
    std::os::unix::fs::symlink(files.path(), deep.join("circle")).unwrap();
    (recording, files)
}

fn report(recording: &Path, symbols: Option<&Path>) -> String {
    let mut arguments = vec!["report".into(), recording.join("perf.data").into_os_string()];
    if let Some(symbols) = symbols {
        arguments.extend(["--symbols".into(), symbols.as_os_str().to_owned()]);
    }
    tool::answer(&arguments)
}

#[test]
fn a_binary_under_another_name_is_found_by_its_build_id() {
    let (recording, files) = apart();
    assert!(!report(recording.path(), None).contains("spin_five"), "it is not found elsewhere");
    let names = report(recording.path(), Some(files.path()));
    assert!(names.contains("spin_five"), "{names}");
}

#[test]
fn an_elf_file_may_be_given_itself() {
    let (recording, files) = apart();
    let program = files.path().join("a/b/c/0042.bin");
    assert!(report(recording.path(), Some(&program)).contains("spin_five"));
    // One that belongs to nothing in the recording names nothing, and is no error.
    let other = fixture("main").with_file_name("libwork.so");
    let names = report(recording.path(), Some(&other));
    assert!(names.contains("lib_spin") && !names.contains("spin_five"), "{names}");
}

#[test]
fn what_is_given_and_cannot_be_used_is_told_in_plain_words() {
    let (recording, files) = apart();
    let recording = recording.path().join("perf.data");
    let path = |name: &str| files.path().join(name);
    // A tar file that ends in the middle of its only entry, and one that is cut in its header.
    let mut header = [0u8; 512];
    header[..4].copy_from_slice(b"file");
    header[124..135].copy_from_slice(b"00000001000");
    header[257..262].copy_from_slice(b"ustar");
    header[156] = b'0';
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    fs::write(path("short.tar"), [&header[..], b"too little"].concat()).unwrap();
    fs::write(path("head.tar"), &header[..100]).unwrap();
    fs::write(path("empty"), "").unwrap();
    for (name, status, words) in [
        ("notes.txt", 1, "neither an ELF file nor a tar archive"),
        ("cut", 1, "a damaged ELF file"),
        // What it has is used.
        ("short.tar", 3, "ends early"),
        ("head.tar", 1, "neither an ELF file nor a tar archive"),
        ("empty", 1, "an empty file"),
    ] {
        let place = path(name);
        let output =
            tool::run(&["report".as_ref(), recording.as_os_str(), "--symbols".as_ref(), place.as_os_str()]);
        let said = tool::stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{name}: {said}");
        assert!(said.contains(words) && said.contains(name), "{name}: {said}");
        assert!(!said.contains("numeric field"), "{said}");
    }
}
