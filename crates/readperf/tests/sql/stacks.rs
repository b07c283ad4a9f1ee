//! Stacks of many recordings, added up from their tables: what the recordings themselves say, merged to one.

use crate::exported;
use crate::oracle::{fixture, scratch, tool};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// What an export writes.
fn export(words: &[&str], files: &[&Path]) -> String {
    let output = run(words, files);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", tool::stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn run(words: &[&str], files: &[&Path]) -> std::process::Output {
    let words = ["export", "--no-progress"].iter().chain(words).map(OsStr::new);
    tool::run(&words.chain(files.iter().map(|file| file.as_os_str())).collect::<Vec<_>>())
}

/// What is said of wrong words.
fn refused(words: &[&str], files: &[&Path]) -> String {
    let output = run(words, files);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{words:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{words:?}");
    tool::stderr(&output)
}

/// The lines of folded stacks, added up and sorted.
fn added_up(texts: &[String]) -> Vec<String> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        *sums.entry(stack).or_default() += weight.parse::<u64>().unwrap();
    }
    let mut lines: Vec<String> = sums.iter().map(|(stack, weight)| format!("{stack} {weight}")).collect();
    lines.sort_unstable();
    lines
}

const WAYS: [&[&str]; 5] = [
    &[],
    &["--weight", "samples", "--annotate"],
    &["--no-inline"],
    &["--focus", "main|spin", "--annotate"],
    &["--drop-prefix", "_"],
];

#[test]
fn stacks_of_tables_are_those_of_their_recordings_added_up() {
    let dir = scratch();
    let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
    for (event, names) in
        [("cpu-clock:u", ["main", "rust", "dwarf"]), ("cpu-clock", ["multi", "everything", "pipe"])]
    {
        let recordings = names.map(fixture);
        exported(&one, &["--replace"], &[&recordings[0], &recordings[1]]);
        exported(&two, &["--replace"], &[&recordings[2]]);
        for way in WAYS {
            let words = [way, &["--format", "folded"]].concat();
            let alone = [&words[..], &["--event", event]].concat();
            let apart = recordings.each_ref().map(|file| export(&alone, &[file]));
            let of_tables = [&words[..], &["--from", "tables", "--event", event]].concat();
            let found = export(&of_tables, &[&one, &two]);
            assert_eq!(added_up(std::slice::from_ref(&found)), added_up(&apart), "{event} {way:?}");
            assert!(found.lines().count() > 1, "{event} {way:?}");
            assert_eq!(found, export(&of_tables, &[&two, &one]), "{way:?}: the order is settled");
        }
    }
}

#[test]
fn stacks_of_tables_are_those_of_the_merged_recordings() {
    let dir = scratch();
    let [merged, tables] = ["merged.data", "tables"].map(|name| dir.path().join(name));
    for name in ["main", "dwarf"] {
        // Merged events are one only if they were opened in the same way.
        let recording = fixture(name);
        let parts = ["10%-40%", "50%-80%"].map(|time| {
            let part = dir.path().join(format!("{name}-{time}.data"));
            let words = ["edit", "--no-progress", "--time", time, "-o"].map(OsStr::new);
            ran(&[&words[..], &[part.as_os_str(), recording.as_os_str()]].concat());
            part
        });
        let words = ["merge", "--no-progress", "-o"].map(OsStr::new);
        ran(&[&words[..], &[merged.as_os_str(), parts[0].as_os_str(), parts[1].as_os_str()]].concat());
        let beside = ["--symbols", recording.parent().unwrap().to_str().unwrap()];
        let _ = std::fs::remove_dir_all(&tables);
        exported(&tables, &beside, &parts.each_ref().map(|file| file.as_path()));
        for way in WAYS {
            let words = [way, &["--format", "folded"]].concat();
            let wanted = export(&[&words[..], &beside].concat(), &[&merged]);
            let found = export(&[&words[..], &["--from", "tables"]].concat(), &[&tables]);
            assert!(wanted.lines().count() > 1, "{name} {way:?}");
            assert_eq!(found, wanted, "{name} {way:?}");
        }
    }
}

fn ran(words: &[&OsStr]) {
    let output = tool::run(words);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", tool::stderr(&output));
}

#[test]
fn conditions_choose_samples() {
    let dir = scratch();
    let [main, everything] = ["main", "everything"].map(fixture);
    let tables = dir.path().join("tables");
    exported(&tables, &["--label", "service=web"], &[&main]);
    exported(&tables, &["--label", "service=db"], &[&everything]);
    let folded = ["--format", "folded", "--from", "tables"];
    let chosen = |condition: &str| export(&[&folded[..], &["--where", condition]].concat(), &[&tables]);
    let alone = |file: &Path| export(&["--format", "folded"], &[file]);
    // By a label, by a column of profiles, by one of samples, by a function of a stack; a comment ends with its line.
    assert_eq!(chosen("service = 'web'"), alone(&main));
    assert_eq!(chosen("source LIKE '%/main/perf.data' -- all of it"), alone(&main));
    assert_eq!(chosen("profiles.samples = 574 AND tid > 0"), alone(&main));
    let focus = ["--format", "folded", "--focus", "^spin_five$"];
    assert_eq!(chosen("service = 'web' AND contains(stack_id, '^spin_five$')"), export(&focus, &[&main]));
    let output = run(&[&folded[..], &["--where", "service = 'none'"]].concat(), &[&tables]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    assert!(tool::stderr(&output).contains("no samples are chosen"));
    let said = refused(&[&folded[..], &["--where", "servise = 'web'"]].concat(), &[&tables]);
    assert!(said.contains("servise") && said.contains("service"), "{said}");
    let said = refused(&[&folded[..], &["--where", "tid = 1; DROP TABLE samples"]].concat(), &[&tables]);
    assert!(said.contains("DROP"), "{said}");
}

#[test]
fn pictures_are_drawn_of_them() {
    let dir = scratch();
    let tables = dir.path().join("tables");
    exported(&tables, &[], &[&fixture("main"), &fixture("rust")]);
    for format in ["flamegraph", "flamegraph-html", "dot"] {
        let words = ["--format", format, "--from", "tables", "--where", "comm <> 'x'"];
        let picture = export(&words, &[&tables]);
        assert!(picture.contains("spin_five"), "{format}");
        assert!(picture.contains("recording"), "{format}: {}", &picture[..400.min(picture.len())]);
    }
}

#[test]
fn what_tables_do_not_have_is_refused() {
    let dir = scratch();
    let (main, tables) = (fixture("main"), dir.path().join("tables"));
    exported(&tables, &[], &[&main]);
    let folded = ["--format", "folded", "--from", "tables"];
    assert!(refused(&folded, &[&main]).contains("no tables are here"));
    assert!(refused(&["--format", "firefox", "--from", "tables"], &[&tables]).contains("flamegraph"));
    for flag in ["--no-cache", "--symfs=x", "--demangle=none", "--guestmount=x", "--no-debuginfod"] {
        let said = refused(&[&folded[..], &[flag]].concat(), &[&tables]);
        assert!(said.contains("--from tables has no place for") && said.contains(&flag[..6]), "{said}");
    }
    assert!(refused(&["--format", "parquet", "--from", "tables"], &[&tables]).contains("made of recordings"));
    for option in [&["--with-pid"][..], &["--pid", "1"], &["--base", "x"], &["--label", "a=b"]] {
        let said = refused(&[&folded[..], option].concat(), &[&tables]);
        assert!(said.contains(option[0]), "{said}");
    }
    assert!(refused(&["--format", "folded", "--where", "tid = 1"], &[&main]).contains("--from"));
    let said = refused(&[&folded[..], &["--event", "cycles"]].concat(), &[&tables]);
    assert!(said.contains("cpu-clock:u"), "{said}");
}
