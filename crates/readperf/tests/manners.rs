//! How the program behaves as a command: exit status, messages, pipes, colours, help.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, scratch, skip, tool};
use std::io::Read;
use std::path::Path;
use std::process::{Output, Stdio};

const OK: i32 = 0;
const FAILED: i32 = 1;
const USAGE: i32 = 2;
const DAMAGED: i32 = 3;

fn status(output: &Output) -> i32 {
    output
        .status
        .code()
        .unwrap_or_else(|| panic!("ended by a signal: {:?}; {}", output.status, tool::stderr(output)))
}

/// A failure says so in a few lines that begin with the name of the program, and never as a panic.
fn check_message(what: &str, output: &Output) {
    let text = tool::stderr(output);
    assert!(!text.contains("panicked"), "{what}: {text}");
    assert!(!text.contains("RUST_BACKTRACE"), "{what}: {text}");
    if status(output) != OK {
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("readperf"), "{what}: the first line on standard error is {first:?}");
        assert!(
            text.lines().count() <= 12,
            "{what}: {} lines on standard error:\n{text}",
            text.lines().count()
        );
    }
}

fn fails(what: &str, arguments: &[&Path]) -> String {
    let output = tool::run(arguments);
    check_message(what, &output);
    assert_eq!(status(&output), FAILED, "{what}: {}", tool::stderr(&output));
    tool::stderr(&output)
}

/// Every command that reads a recording, with what it needs to write nothing.
fn reading_commands() -> [&'static [&'static str]; 5] {
    [&["--no-csv"], &["info"], &["stats"], &["dump"], &["report"]]
}

#[test]
fn good_recordings_end_with_zero_and_no_complaint() {
    for command in reading_commands() {
        let output = tool::command().args(command).arg(fixture("main")).output().unwrap();
        check_message(&format!("{command:?}"), &output);
        assert_eq!(status(&output), OK, "{command:?}: {}", tool::stderr(&output));
        assert!(!output.stdout.is_empty(), "{command:?} says nothing");
    }
}

#[test]
fn usage_errors_end_with_two() {
    for arguments in [
        &["--no-such-option"][..],
        &["stats", "--no-such-option"],
        &["stats", "a", "b", "c"],
        &["report", "--cpu", "9-2", "a"],
        &["completions", "no-such-shell"],
    ] {
        let output = tool::run(arguments);
        assert_eq!(status(&output), USAGE, "{arguments:?}: {}", tool::stderr(&output));
        assert!(
            !output.stderr.is_empty() && output.stdout.is_empty(),
            "{arguments:?} explains itself on standard error only"
        );
    }
}

/// Where names come from is checked before anything is read: otherwise names would be missing, and nobody said why.
#[test]
fn mistyped_places_of_names_are_told() {
    let recording = fixture("main");
    let nowhere = Path::new("/no/such/place");
    let directory = recording.parent().unwrap();
    for (option, place, words) in [
        ("--vmlinux", nowhere, "No such file"),
        ("--kallsyms", nowhere, "No such file"),
        ("--guestvmlinux", directory, "a directory, not a file"),
        ("--symfs", &recording, "not a directory"),
        ("--symbols", nowhere, "No such file"),
        ("--symbols", &recording, "neither an ELF file nor a tar archive"),
    ] {
        let text = fails(option, &[Path::new("report"), &recording, Path::new(option), place]);
        assert!(text.contains(&format!("{option} {}", place.display())) && text.contains(words), "{text}");
    }
}

#[test]
fn a_mistyped_command_is_named_and_the_right_one_suggested() {
    let output = tool::run(&["reprot", "perf.data"]);
    assert_eq!(status(&output), USAGE);
    let text = tool::stderr(&output);
    assert!(text.contains("`reprot`") && text.contains("did you mean report?"), "{text}");
}

#[test]
fn files_that_are_no_recordings_fail_with_a_message_that_names_them() {
    let dir = scratch();
    let text = dir.path().join("notes.txt");
    std::fs::write(&text, "This is not a recording, but long enough to look for a header in it.\n".repeat(9))
        .unwrap();
    let empty = dir.path().join("empty.data");
    std::fs::write(&empty, "").unwrap();
    let missing = dir.path().join("missing.data");
    let folder = dir.path().join("folder");
    std::fs::create_dir(&folder).unwrap();
    for (what, path) in [
        ("a text", &text),
        ("an empty file", &empty),
        ("a missing file", &missing),
        ("a folder without data", &folder),
    ] {
        for command in ["stats", "info", "dump", "report"] {
            let message = fails(what, &[Path::new(command), path]);
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(message.contains(name), "{what}: {command} does not name {name}: {message}");
        }
    }
}

#[test]
fn a_file_without_permission_fails() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = scratch();
    let path = dir.path().join("secret.data");
    std::fs::copy(fixture("main"), &path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(&path).is_ok() {
        return skip("a_file_without_permission_fails", "root may read everything");
    }
    let message = fails("no permission", &[Path::new("stats"), &path]);
    assert!(message.to_lowercase().contains("permission"), "{message}");
}

#[test]
fn a_cut_recording_is_answered_as_damaged() {
    for (kind, of) in [("cut", "main"), ("killed", "killed")] {
        let output = tool::run(&[Path::new("stats"), Path::new("--json"), &fixture(kind)]);
        check_message(kind, &output);
        assert_eq!(status(&output), DAMAGED, "{kind}: {}", tool::stderr(&output));
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(tool::number(&value["samples"]) > 100, "{kind}: what is left of {of} is counted");
    }
}

#[test]
fn strict_makes_damage_a_failure() {
    let output = tool::run(&[Path::new("stats"), Path::new("--strict"), &fixture("cut")]);
    assert_eq!(status(&output), FAILED, "{}", tool::stderr(&output));
    let output = tool::run(&[Path::new("stats"), Path::new("--strict"), &fixture("main")]);
    assert_eq!(status(&output), OK, "{}", tool::stderr(&output));
}

/// Lengths around every boundary of the header, and steps through the rest of the file.
fn lengths(size: usize) -> Vec<usize> {
    let edges = [
        0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 39, 40, 63, 64, 71, 72, 73, 103, 104, 105, 119, 120, 135, 136,
        247, 248, 263, 264, 265, 271, 272,
    ];
    let steps = (1..48).map(|i| size * i / 48 + i % 8);
    edges.into_iter().chain(steps).chain([size - 9, size - 8, size - 1]).filter(|l| *l < size).collect()
}

#[test]
fn a_recording_cut_anywhere_ends_in_order() {
    for kind in ["main", "pipe", "zstd"] {
        let dir = scratch();
        let file = fixture(kind);
        let size = usize::try_from(std::fs::metadata(&file).unwrap().len()).unwrap();
        let mut answered = 0;
        for length in lengths(size) {
            let path = tool::cut(&file, length, dir.path());
            for command in [["stats", "--json"], ["--no-csv", "--strict"]] {
                let output = tool::command().args(command).arg(&path).output().unwrap();
                check_message(&format!("{kind} cut at {length}, {command:?}"), &output);
                assert!(
                    [OK, FAILED, DAMAGED].contains(&status(&output)),
                    "{kind} cut at {length}, {command:?}: {}",
                    status(&output)
                );
                answered += usize::from(command[0] == "stats" && status(&output) != FAILED);
            }
            std::fs::remove_file(&path).unwrap();
        }
        assert!(answered >= 40, "{kind}: only {answered} cut files were answered");
    }
}

/// One changed byte anywhere in the first kilobyte (header, attrs, first records) must not bring the program down.
#[test]
fn a_recording_with_a_changed_byte_ends_in_order() {
    let dir = scratch();
    let content = std::fs::read(fixture("main")).unwrap();
    for at in (0..1024).step_by(5) {
        let mut changed = content.clone();
        changed[at] ^= 0xff;
        let path = dir.path().join("changed.data");
        std::fs::write(&path, changed).unwrap();
        let output = tool::run(&[Path::new("stats"), Path::new("--json"), &path]);
        check_message(&format!("byte {at} changed"), &output);
        assert!([OK, FAILED, DAMAGED].contains(&status(&output)), "byte {at}: {}", status(&output));
    }
}

#[test]
fn standard_input_is_a_recording_too() {
    let from_file = tool::answer(&[Path::new("stats"), Path::new("--json"), &fixture("pipe")]);
    let input = std::fs::File::open(fixture("pipe")).unwrap();
    let output = tool::command().args(["stats", "--json", "-"]).stdin(input).output().unwrap();
    assert_eq!(status(&output), OK, "{}", tool::stderr(&output));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), from_file);
}

#[test]
fn perf_data_of_the_current_directory_is_the_default() {
    let dir = scratch();
    std::fs::copy(fixture("main"), dir.path().join("perf.data")).unwrap();
    let output = tool::command().args(["stats", "--json"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(status(&output), OK, "{}", tool::stderr(&output));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        tool::answer(&[Path::new("stats"), Path::new("--json"), &fixture("main")])
    );
}

#[test]
fn output_can_be_sent_to_standard_output_by_name_or_to_a_file() {
    let dir = scratch();
    let run = |out: &str| {
        let arguments = ["stats", "--json", "-o", out];
        let output =
            tool::command().args(arguments).arg(fixture("multi")).current_dir(dir.path()).output().unwrap();
        assert_eq!(status(&output), OK, "{}", tool::stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let shown = run("-");
    assert!(shown.contains("\"samples\""), "{shown}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "no file named - or otherwise");
    assert_eq!(run("out.json"), "");
    assert_eq!(std::fs::read_to_string(dir.path().join("out.json")).unwrap(), shown);
}

/// The recording is mapped while it is read: written over, it would be gone.
#[test]
fn the_recording_is_never_written_over() {
    let dir = scratch();
    let recording = dir.path().join("overview.csv");
    let content = std::fs::read(fixture("main")).unwrap();
    std::fs::write(&recording, &content).unwrap();
    std::os::unix::fs::symlink(&recording, dir.path().join("link")).unwrap();
    for arguments in [
        &["stats", "-o", "overview.csv", "overview.csv"][..],
        &["dump", "-o", "link", "overview.csv"],
        &["overview.csv"],
        &["--csv-dir", ".", "link"],
    ] {
        let output = tool::command().args(arguments).current_dir(dir.path()).output().unwrap();
        assert_eq!(status(&output), FAILED, "{arguments:?}: {}", tool::stderr(&output));
        assert!(tool::stderr(&output).contains("overwritten"), "{}", tool::stderr(&output));
        assert!(std::fs::read(&recording).unwrap() == content, "{arguments:?} changed the recording");
    }
}

/// `readperf dump | head -1`: the reader goes away, which is no failure and not worth a word.
#[test]
fn a_closed_pipe_is_silent_success() {
    for (bytes, command) in [
        (0, &["dump"][..]),
        (1, &["dump"]),
        (1, &["dump", "--json"]),
        (0, &["stats", "--json"]),
        (0, &["--no-csv"]),
    ] {
        let mut child = tool::command()
            .args(command)
            .arg(fixture("main"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut vec![0; bytes]).unwrap();
        drop(stdout);
        let output = child.wait_with_output().unwrap();
        assert_eq!(status(&output), OK, "{command:?}: {}", tool::stderr(&output));
        assert_eq!(tool::stderr(&output), "", "{command:?}");
    }
}

#[test]
fn no_colours_when_not_wanted_or_not_a_terminal() {
    for value in [None, Some("1")] {
        for command in reading_commands() {
            let mut run = tool::command();
            if let Some(value) = value {
                run.env("NO_COLOR", value);
            }
            let output = run.args(command).arg(fixture("main")).output().unwrap();
            assert!(
                !output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b),
                "{command:?}, NO_COLOR {value:?}"
            );
        }
    }
}

/// Escape sequences in a recorded name must not reach the terminal.
#[test]
fn control_characters_in_names_are_neutralised() {
    let dir = scratch();
    let mut content = std::fs::read(fixture("main")).unwrap();
    // The COMM of the program: "work" and a NUL; four bytes of an escape sequence in its place.
    let at = content.windows(8).position(|w| w == b"work\0\0\0\0").expect("the COMM of work");
    content[at..at + 4].copy_from_slice(b"\x1b[2J");
    let path = dir.path().join("escape.data");
    std::fs::write(&path, content).unwrap();
    for command in reading_commands() {
        let output = tool::command().args(command).arg(&path).output().unwrap();
        assert_eq!(status(&output), OK, "{command:?}: {}", tool::stderr(&output));
        assert!(
            !output.stdout.contains(&0x1b) && !output.stderr.contains(&0x1b),
            "{command:?} passes an escape on"
        );
    }
}

#[test]
fn help_has_examples_and_the_version_is_stated() {
    let help = tool::answer(&["--help"]);
    for word in ["Examples", "readperf", "stats", "info", "dump", "report", "--no-csv", "--csv-dir"] {
        assert!(help.contains(word), "--help does not mention {word}");
    }
    assert!(tool::answer(&["--version"]).starts_with(&format!("readperf {}", env!("CARGO_PKG_VERSION"))));
    for command in ["info", "stats", "dump", "report"] {
        assert!(tool::answer(&[command, "--help"]).contains("Usage"), "{command} --help");
    }
}

#[test]
fn completions_for_three_shells() {
    let scripts = ["bash", "zsh", "fish"].map(|shell| tool::answer(&["completions", shell]));
    for script in &scripts {
        assert!(script.contains("readperf") && script.contains("stats"), "{script}");
    }
    assert!(scripts[0] != scripts[1] && scripts[1] != scripts[2]);
}

/// A mistyped command without a file behind it: a word that is no file, and like a command.
#[test]
fn a_lone_mistyped_command_gets_a_suggestion() {
    let dir = oracle::scratch();
    for (typed, meant) in [("infoo", "info"), ("stat5", ""), ("reprot", "report"), ("dmup", "dump")] {
        let output = tool::command().arg(typed).current_dir(dir.path()).output().unwrap();
        let said = tool::stderr(&output);
        assert_eq!(said.contains("did you mean"), !meant.is_empty(), "{said}");
        if !meant.is_empty() {
            assert_eq!(status(&output), 2, "{said}");
            assert!(said.contains(&format!("did you mean {meant}?")) && said.lines().count() == 1, "{said}");
        }
    }
    // A file of that name is a file.
    std::fs::copy(oracle::fixture("main"), dir.path().join("infoo")).unwrap();
    let output = tool::command().args(["--no-csv", "infoo"]).current_dir(dir.path()).output().unwrap();
    assert_eq!(status(&output), OK, "{}", tool::stderr(&output));
    let output = tool::command().arg("infoo").current_dir(dir.path()).output().unwrap();
    assert_eq!(status(&output), OK, "{}", tool::stderr(&output));
}

/// Every command has a page of its own, with its options and its examples line by line.
#[test]
fn manual_pages() {
    let dir = scratch();
    let pages = dir.path().join("man");
    assert_eq!(tool::answer(&[Path::new("man"), &pages]), "");
    let read = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    let whole = read("readperf.1");
    let help = tool::answer(&["--help"]);
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let commands: Vec<&str> = listed
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        // What it says is what the pages are made of.
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() >= 12, "{commands:?}");
    for command in &commands {
        assert!(whole.contains(&format!("readperf\\-{command}(1)")), "{command}\n{whole}");
        let page = read(&format!("readperf-{command}.1"));
        assert!(page.contains(".SH OPTIONS") && page.contains(".SH EXAMPLES\n.nf\n"), "{command}");
        assert!(page.contains(&format!("readperf {command}")), "{command}: the program is in its usage");
    }
    assert_eq!(std::fs::read_dir(&pages).unwrap().count(), commands.len() + 1);
    let report = read("readperf-report.1");
    assert!(report.contains("\\-\\-percent\\-limit") && report.contains("\\-\\-debuginfod"), "{report}");
    // A line that begins with a dot or a quote would be taken for a command of the formatter.
    let known = ["ie ", "el ", "TH ", "SH ", "TP", "RS ", "RE", "IP ", "PP", "br", "nf", "fi"];
    for line in report.lines().filter_map(|line| line.strip_prefix('.')) {
        assert!(known.iter().any(|known| line.starts_with(known)), "{line}");
    }
}

/// The browser needs a terminal, and says what does not.
#[cfg(feature = "browse")]
#[test]
fn without_a_terminal_there_is_no_browser() {
    let output = tool::command().arg("browse").arg(fixture("main")).output().unwrap();
    check_message("browse", &output);
    assert_eq!(status(&output), FAILED);
    assert!(tool::stderr(&output).contains("readperf report"), "{}", tool::stderr(&output));
    let output = tool::command().args(["browse", "-o", "x"]).arg(fixture("main")).output().unwrap();
    assert_eq!(status(&output), USAGE);
}
