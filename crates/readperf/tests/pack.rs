//! `readperf pack`: what is answered from an archive is what was answered where it was packed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, kind, scratch, tool};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, UNIX_EPOCH};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

/// What is asked, with and without names, lines and code.
const QUESTIONS: &[&[&str]] = &[
    &["report"],
    &["report", "-g", "caller", "--sort", "comm,dso,srcline,symbol"],
    &["script", "-F", "+srcline", "--inline"],
    &["script", "-F", "+srccode"],
    &["script", "--json"],
    &["annotate", "--top", "100"],
    &["annotate", "--top", "100", "--json", "--inclusive"],
    &["export", "-f", "flamegraph"],
    &["export", "-f", "folded", "--annotate"],
    &["--no-csv"],
    &["stats"],
];

/// Packs from a machine that has nothing but what lies in the fixtures; what was said.
fn pack(recording: &Path, to: &Path, options: &[&str]) -> String {
    let output = tool::command()
        .arg("pack")
        .arg(recording)
        .arg("-o")
        .arg(to)
        .args(["--symfs", "/nonexistent", "--symbols"])
        .arg(kind("bin"))
        .args(options)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    tool::stderr(&output)
}

/// Asks about a recording where nothing else is.
fn ask(question: &[&str], recording: &Path, symbols: &[&str], temporary: &Path) -> Output {
    let mut command = tool::command();
    command.args(question).arg(recording).env("TMPDIR", temporary).current_dir(temporary);
    if !question.contains(&"stats") {
        command.args(symbols);
    }
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(output));
    shown(output)
}

fn shown(output: &Output) -> String {
    // Where nothing is, paths are told as they were looked for.
    String::from_utf8_lossy(&output.stdout).replace("/nonexistent/", "/")
}

/// The members of an archive: files with their bytes, links with where they lead.
fn members(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut archive = tar::Archive::new(zstd::Decoder::new(fs::File::open(archive).unwrap()).unwrap());
    let member = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        match entry.link_name().unwrap() {
            Some(link) => bytes.extend(link.to_str().unwrap().bytes()),
            None => drop(entry.read_to_end(&mut bytes).unwrap()),
        }
        (entry.path().unwrap().to_str().unwrap().to_owned(), bytes)
    };
    archive.entries().unwrap().map(member).collect()
}

/// A recording in a folder of its own, with the programs that belong to it.
fn alone(name: &str, beside: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let folder = scratch();
    let recording = folder.path().join("perf.data");
    fs::copy(fixture(name), &recording).unwrap();
    for (from, to) in beside {
        fs::copy(kind(from), folder.path().join(to)).unwrap();
    }
    (folder, recording)
}

/// The sources of the fixtures, older than any binary: when a checkout wrote which files says nothing.
fn old_sources() -> TempDir {
    let folder = scratch();
    for entry in fs::read_dir(kind("src")).unwrap().map(Result::unwrap) {
        let copy = folder.path().join(entry.file_name());
        fs::copy(entry.path(), &copy).unwrap();
        let file = fs::File::options().write(true).open(copy).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    }
    folder
}

#[test]
fn an_archive_answers_as_the_recording_did() {
    let sources = old_sources();
    let source = sources.path().to_str().unwrap();
    for name in ["main", "multi", "dwarf", "rust", "kernel", "pipe", "zstd", "threads", "tracepoints"] {
        let (folder, elsewhere) = (scratch(), scratch());
        let archive = folder.path().join("packed.tar.zst");
        pack(&fixture(name), &archive, &["--sources", "--source", source]);
        let here = ["--symfs", "/nonexistent", "--symbols"].map(str::to_owned);
        let bin = kind("bin");
        let here: Vec<&str> = here.iter().map(String::as_str).chain([bin.to_str().unwrap()]).collect();
        for question in QUESTIONS {
            let takes_sources = question[0] == "annotate";
            let with_sources = [&here[..], &["--source", source]].concat();
            let symbols = if takes_sources { &with_sources } else { &here };
            let (whole, packed) = (
                ask(question, &fixture(name), symbols, elsewhere.path()),
                ask(question, &archive, &[], elsewhere.path()),
            );
            // Source text of scripts is read at the path that the compiler wrote alone, which nobody has here.
            let is_more = question.contains(&"+srccode");
            assert_eq!(packed.status, whole.status, "{name}: {question:?}: {}", tool::stderr(&packed));
            let (whole, packed) = (shown(&whole), shown(&packed));
            let lines = |text: &str| -> Vec<String> {
                text.lines().filter(|line| !(is_more && line.starts_with('|'))).map(str::to_owned).collect()
            };
            assert_eq!(lines(&packed), lines(&whole), "{name}: {question:?}");
        }
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn without_code_there_are_the_same_names_and_no_code() {
    let (folder, elsewhere) = (scratch(), scratch());
    let names: Vec<&&[&str]> = QUESTIONS.iter().filter(|question| question[0] != "annotate").collect();
    for name in ["main", "dwarf", "rust"] {
        let (whole, tables) = (folder.path().join("whole.tar.zst"), folder.path().join("tables.tar.zst"));
        pack(&fixture(name), &whole, &[]);
        pack(&fixture(name), &tables, &["--only-symbols"]);
        for question in &names {
            let (whole, tables) =
                (ask(question, &whole, &[], elsewhere.path()), ask(question, &tables, &[], elsewhere.path()));
            assert_eq!(text(&tables), text(&whole), "{name}: {question:?}");
        }
        assert!(fs::metadata(&tables).unwrap().len() < fs::metadata(&whole).unwrap().len(), "{name}");
        let (whole, tables) = (members(&whole), members(&tables));
        let elf = whole.keys().find(|path| path.ends_with("/elf")).unwrap();
        // What begins right behind the call frames is code: nowhere in the other archive is it to be found.
        let code = code_of(&whole[elf]);
        let holds = |members: &BTreeMap<String, Vec<u8>>| {
            members.values().any(|bytes| bytes.windows(code.len()).any(|window| window == code))
        };
        assert!(holds(&whole) && !holds(&tables), "{name}");
    }
    let answer = ask(&["annotate"], &folder.path().join("tables.tar.zst"), &[], elsewhere.path());
    assert!(text(&answer).contains("no instructions: only the debug file"), "{}", text(&answer));
}

/// Some bytes out of the middle of `.text` of a little-endian ELF file of 64 bits (System V ABI, chapter 4).
fn code_of(elf: &[u8]) -> Vec<u8> {
    let number = |at: usize, bytes: usize| {
        elf[at..at + bytes].iter().rev().fold(0, |all, byte| all * 256 + usize::from(*byte))
    };
    let (table, entry, count, names) = (number(40, 8), number(58, 2), number(60, 2), number(62, 2));
    let names = number(table + names * entry + 24, 8);
    let text = (0..count).map(|nr| table + nr * entry).find(|header| {
        let name = names + number(*header, 4);
        elf[name..].starts_with(b".text\0")
    });
    let middle = number(text.unwrap() + 24, 8) + number(text.unwrap() + 32, 8) / 2;
    elf[middle..middle + 48].to_vec()
}

#[test]
fn an_archive_is_a_build_id_cache_with_a_recording() {
    let folder = scratch();
    let archive = folder.path().join("packed.tar.zst");
    let said = pack(&fixture("dwarf"), &archive, &[]);
    assert!(said.contains("recording ") && said.contains(" before compression"), "{said}");
    assert!(said.contains("not packed: /usr/lib/x86_64-linux-gnu/libc.so.6"), "{said}");
    let members = members(&archive);
    assert_eq!(members["perf.data"], fs::read(fixture("dwarf")).unwrap());
    let link = members.keys().find(|path| path.starts_with(".debug/.build-id/")).unwrap();
    let (first, rest) = link.strip_prefix(".debug/.build-id/").unwrap().split_once('/').unwrap();
    let elf = format!(".debug/tmp/readperf-fixtures/bin/tree/{first}{rest}/elf");
    assert_eq!(members[&elf], fs::read(kind("bin").join("tree")).unwrap());
    let to = String::from_utf8_lossy(&members[link]).into_owned();
    assert!(to.ends_with(&format!("tree/{first}{rest}")), "{to}");
    let manifest: serde_json::Value = serde_json::from_slice(&members["readperf-pack.json"]).unwrap();
    assert_eq!(manifest["version"], 1);
    assert!(manifest["files"].as_array().unwrap().iter().any(|file| file["path"] == elf), "{manifest}");
}

#[test]
fn a_binary_of_another_build_is_not_packed_and_that_is_said() {
    let (folder, recording) = alone("main", &[("main/work", "work"), ("main/libwork.so", "libwork.so")]);
    let (archive, work) = (folder.path().join("packed.tar.zst"), folder.path().join("work"));
    // The note with the build-id: sizes of name and contents, type 3, name, contents.
    let mut other = fs::read(&work).unwrap();
    let note = b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0";
    let id = other.windows(note.len()).position(|window| window == note).unwrap() + note.len();
    other[id] ^= 1;
    fs::write(&work, &other).unwrap();
    let output = tool::command()
        .args(["pack", "--symfs", "/nonexistent", "-o"])
        .args([&archive, &recording])
        .output()
        .unwrap();
    let said = tool::stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let line = said.lines().find(|line| line.contains("not packed: /tmp/readperf-fixtures/main/work"));
    assert!(line.is_some_and(|line| line.contains("build-id")), "{said}");
    let members = members(&archive);
    assert!(members.keys().any(|path| path.contains("libwork.so")), "{members:?}");
    assert!(members.values().all(|bytes| *bytes != other));
}

#[test]
fn what_is_only_asked_for_is_not_written() {
    let (folder, recording) = alone("main", &[("main/work", "work")]);
    let before = fs::read_dir(folder.path()).unwrap().count();
    let output = tool::command().args(["pack", "--dry-run"]).arg(&recording).output().unwrap();
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(listed.lines().any(|line| line.contains(" perf.data ")), "{listed}");
    assert!(listed.contains("work/") && listed.contains("/elf"), "{listed}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before);
}

#[test]
fn what_cannot_be_packed_is_told() {
    let (folder, recording) = alone("main", &[]);
    let refused = |arguments: &[&str], why: &str| {
        let stdin = fs::File::open(fixture("pipe")).unwrap();
        let output = tool::command().arg("pack").args(arguments).stdin(stdin).output().unwrap();
        let said = tool::stderr(&output);
        assert!(output.status.code() == Some(1) && said.contains(why), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    };
    let path = recording.to_str().unwrap();
    refused(&[path, "-o", path], "is the recording itself");
    refused(&[path, "-o", "-"], "needs a name");
    refused(&[path, "-o", folder.path().join("no/out").to_str().unwrap()], "No such file");
    refused(&["-", "-o", folder.path().join("out").to_str().unwrap()], "can be read only once");
    refused(&["/nonexistent/perf.data"], "No such file");
    let full = tool::command().args(["pack", path, "-o", "/dev/full"]).output().unwrap();
    assert!(full.status.code() == Some(1) && tool::stderr(&full).contains("No space left"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// Path, kind, where it leads, contents.
type Member<'m> = (&'m str, EntryType, &'m str, &'m [u8]);

/// An archive of these members behind a manifest.
fn archive(folder: &Path, members: &[Member<'_>]) -> PathBuf {
    let manifest = br#"{"format":"readperf pack","version":1,"files":[]}"#;
    let mut builder = Builder::new(Vec::new());
    let first = ("readperf-pack.json", EntryType::Regular, "", &manifest[..]);
    for (path, kind, link, bytes) in std::iter::once(&first).chain(members) {
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    let path = folder.join("hostile.tar.zst");
    fs::write(&path, zstd::encode_all(&builder.into_inner().unwrap()[..], 1).unwrap()).unwrap();
    path
}

#[test]
fn a_hostile_archive_is_an_error_and_leaves_nothing() {
    let recording = fs::read(fixture("main")).unwrap();
    let data = ("perf.data", EntryType::Regular, "", &recording[..]);
    let hostile: [(&[Member<'_>], &str); 6] = [
        (&[data, ("../outside", EntryType::Regular, "", b"bad")], "leads out"),
        (&[data, (".debug/x", EntryType::Symlink, "/etc", b"")], "leads out"),
        (&[data, ("root/dev", EntryType::Char, "", b"")], "neither a file"),
        (&[("perf.data", EntryType::Symlink, "/etc/passwd", b"")], "leads out"),
        (&[("perf.data", EntryType::Regular, "", b"no recording")], "perf"),
        (&[("other", EntryType::Regular, "", b"")], "no recording in it"),
    ];
    for (members, why) in hostile {
        let (folder, temporary) = (scratch(), scratch());
        let path = archive(folder.path(), members);
        let output = ask(&["report"], &path, &[], temporary.path());
        let said = tool::stderr(&output);
        assert!(output.status.code() == Some(1) && said.contains(why), "{why}: {said}");
        assert!(said.contains("hostile.tar.zst") && said.lines().count() == 1, "{said}");
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "{why}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{why}");
    }
}

#[test]
fn a_damaged_archive_is_an_error() {
    let (folder, temporary) = (scratch(), scratch());
    let whole = folder.path().join("whole.tar.zst");
    pack(&fixture("main"), &whole, &[]);
    let bytes = fs::read(&whole).unwrap();
    let damaged = folder.path().join("damaged.tar.zst");
    for nr in 1..40 {
        let at = bytes.len() * nr / 40;
        let mut changed = bytes.clone();
        if nr % 2 == 0 {
            changed.truncate(at)
        } else {
            changed[at] ^= 0x55
        };
        fs::write(&damaged, &changed).unwrap();
        let output = ask(&["report"], &damaged, &[], temporary.path());
        let said = tool::stderr(&output);
        assert!(output.status.code() == Some(1) && said.lines().count() == 1, "{nr}: {said}");
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "{nr}");
    }
}

/// In a root without anything but the program.
#[test]
#[ignore = "live: chroot as root, perf"]
fn an_empty_root_answers_as_this_machine() {
    let folder = scratch();
    let (data, root) = (folder.path().join("perf.data"), folder.path().join("root"));
    fs::create_dir_all(root.join("tmp")).unwrap();
    let recorded = std::process::Command::new("perf")
        .args(["record", "-q", "-g", "-F", "999", "-e", "cpu-clock", "-o"])
        .args([data.as_os_str(), kind("bin").join("tree").as_os_str()])
        .output()
        .unwrap();
    assert!(data.exists(), "{}", tool::stderr(&recorded));
    let archive = root.join("packed.tar.zst");
    let packed = tool::command().arg("pack").args([&data, Path::new("-o"), &archive]).output().unwrap();
    assert!(packed.status.success(), "{}", tool::stderr(&packed));
    // The libraries of the program lie where no recording has them.
    let program = Path::new(env!("CARGO_BIN_EXE_readperf"));
    let needed = std::process::Command::new("ldd").arg(program).output().unwrap();
    let needed = String::from_utf8(needed.stdout).unwrap();
    let libraries = needed.split_whitespace().filter(|word| word.starts_with('/'));
    for file in libraries.map(Path::new).chain([program]) {
        fs::copy(file, root.join(file.file_name().unwrap())).unwrap();
    }
    let loader = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let loader = loader.into_iter().find(|name| name.starts_with("ld-")).unwrap();
    for question in QUESTIONS.iter().filter(|question| question[0] != "annotate") {
        let here = tool::command().args(*question).arg(&data).output().unwrap();
        let there = std::process::Command::new("chroot")
            .arg(&root)
            .args([format!("/{loader}").as_str(), "--library-path", "/", "/readperf"])
            .args(*question)
            .arg("/packed.tar.zst")
            .output()
            .unwrap();
        assert_eq!(text(&there), text(&here), "{question:?}");
    }
    assert_eq!(fs::read_dir(root.join("tmp")).unwrap().count(), 0);
}
