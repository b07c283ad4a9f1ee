//! Every command and format, by the program's own lists, and what is asked of each.

use crate::oracle::tool;
use flate2::read::GzDecoder;
use readperf::output::export::FORMATS;
use std::io::Read as _;
use std::path::Path;

/// What one run left: on standard output, on standard error, or in a file.
pub(crate) struct Written {
    /// The arguments, and which of the outputs.
    pub(crate) what: String,
    pub(crate) bytes: Vec<u8>,
    /// Whether it is a format that is no text.
    pub(crate) binary: bool,
}

/// Stands for the recording in arguments.
const FILE: &str = "{}";

/// What is asked of a command. A command that is missing here is not tried: that is a failure.
fn questions(command: &str) -> &'static [&'static [&'static str]] {
    match command {
        "" => &[&[FILE, "--csv-dir", "tables", "--all"]],
        "info" | "stats" | "dump" => &[&[FILE], &["--json", FILE]],
        "stat" => &[
            &[FILE],
            &["--json", FILE],
            &["--csv", FILE],
            &["--by", "thread", FILE],
            &["--by", "thread", "--csv", FILE],
            &["--by", "thread", "--json", FILE],
        ],
        "check" => &[&[FILE], &["--json", FILE]],
        "report" => &[
            &[FILE],
            &["--stdio", FILE],
            &["-g", "caller", FILE],
            &["-g", "folded", FILE],
            &["-g", "flat", FILE],
            &["--hierarchy", "--sort", "comm,dso,symbol", FILE],
            &["--sort", "pid,tid,cgroup,srcline,srcfile,symoff,addr,trace", FILE],
            &["--sort", "told.what,symbol", FILE],
            &["--parent", ".", "--sort", "parent,comm", FILE],
            &["--header", FILE],
            &["--group", FILE],
            &["-w", "20,30,40", FILE],
            &["--csv", FILE],
            &["--csv", "--sort", "pid,tid,cgroup,srcline,srcfile,symoff,addr,trace", FILE],
            &["-t", ",", FILE],
            &["-t", "|", "--sort", "comm,dso,symbol,cgroup", FILE],
            &["--json", FILE],
            &["--json", "-g", "caller", FILE],
            &["--json", "--sort", "pid,tid,cgroup,srcline,srcfile,symoff,addr,trace", FILE],
        ],
        "annotate" => &[
            &["--top", "1000", FILE],
            &["--top", "1000", "--no-asm", "--inclusive", FILE],
            &["--top", "1000", "--source-only", FILE],
            &["--top", "1000", "-o", "code.html", FILE],
            &["--top", "1000", "--json", FILE],
            &[FILE, "/./"],
        ],
        "script" => &[
            &[FILE],
            &["--header", FILE],
            &["--json", FILE],
            &["-F", "comm,tid,pid,time,cpu,event,trace,ip,sym,symoff,dso,dsoff,srcline,period,cgroup", FILE],
            &["-G", FILE],
            &["--inline", "--full-source-path", FILE],
            &[
                "--show-task-events",
                "--show-mmap-events",
                "--show-cgroup-events",
                "--show-bpf-events",
                "--show-namespace-events",
                FILE,
            ],
            &["--per-event-dump", FILE],
        ],
        "diff" => &[
            &[FILE, FILE],
            &["--by", "dso", FILE, FILE],
            &["--by", "comm", FILE, FILE],
            &["--json", FILE, FILE],
            &["--csv", FILE, FILE],
        ],
        "export" => &[],
        "timeline" => &[&[FILE], &["--json", FILE], &["--svg", FILE], &["-o", "timeline.svg", FILE]],
        // It writes a recording, which is no text.
        "edit" => &[],
        // Its parts are recordings, whose names and what it says of them are text.
        "merge" => &[&["-o", "merged.data", FILE, FILE]],
        "split" => &[&["-o", "parts", "--by", "event", FILE], &["-o", "parts", "--by", "process", FILE]],
        "pack" => &[&["--dry-run", "--sources", FILE]],
        // A program without the engine says so, and ends.
        "sql" => &[
            &["SELECT * FROM functions", FILE],
            &["--format", "csv", "SELECT folded(stack_id) FROM samples", FILE],
            &["--format", "json", "SELECT * FROM threads", FILE],
            &["SELECT no_such FROM binaries", FILE],
        ],
        // It needs a terminal: its views are tried by the tests of its crate.
        "browse" => &[],
        // It serves a page: its views are tried in a browser (tests/browser).
        "view" => &[],
        // They read no recording.
        "completions" | "man" => &[],
        _ => panic!("{command} is missing in the table of tests/hostile_support/commands.rs"),
    }
}

/// With what options a format is asked for.
fn export_options(format: &str) -> &'static [&'static [&'static str]] {
    match format {
        "folded" => &[&[], &["--annotate", "--with-tid"]],
        "flamegraph" | "flamegraph-html" => {
            &[&[], &["--min-share", "0"], &["--reverse", "--inverted"], &["--base", FILE]]
        }
        "firefox" | "pprof" => &[&[], &["--with-cpu"]],
        _ => &[&[]],
    }
}

/// All commands of the program, by what it says of itself; the main job is the empty one.
pub(crate) fn names() -> Vec<String> {
    let help = tool::answer(&["--help"]);
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let listed = listed.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let listed: Vec<String> = listed.filter(|command| *command != "help").map(str::to_owned).collect();
    assert!(listed.len() >= 12, "{listed:?}");
    std::iter::once(String::new()).chain(listed).collect()
}

/// Every question to every command about a recording in `directory`.
pub(crate) fn all(file: &Path) -> Vec<Vec<String>> {
    let path = file.display().to_string();
    let filled = |words: &[&str]| -> Vec<String> {
        words.iter().map(|word| if *word == FILE { path.clone() } else { (*word).to_owned() }).collect()
    };
    let mut all = Vec::new();
    for command in names() {
        for question in questions(&command) {
            let command = (!command.is_empty()).then(|| command.clone());
            all.push(command.into_iter().chain(filled(question)).collect());
        }
        if command == "export" {
            for format in FORMATS {
                for options in export_options(format.name) {
                    let ending = format.extensions.first().unwrap();
                    let out = format!("exported.{ending}");
                    let words = ["export", "-f", format.name, "-o", &out, FILE];
                    all.push(filled(&[&words[..], options].concat()));
                }
            }
        }
    }
    all
}

/// Runs the program in an empty directory; `symbols` is where names come from. Returns all that it wrote.
pub(crate) fn written(arguments: &[String], symbols: Option<&Path>) -> Vec<Written> {
    let directory = crate::oracle::scratch();
    let mut command = tool::command();
    command.args(arguments).current_dir(directory.path());
    let takes_symbols =
        !matches!(arguments[0].as_str(), "info" | "stats" | "stat" | "dump" | "split" | "merge");
    if let (Some(symbols), true) = (symbols, takes_symbols) {
        command.arg("--symbols").arg(symbols).args(["--kallsyms", "/dev/null"]);
    }
    let output = command.output().unwrap();
    let said = tool::stderr(&output);
    assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    let of = |which: &str, bytes: Vec<u8>, binary| Written {
        what: format!("{arguments:?}, {which}"),
        bytes,
        binary,
    };
    let mut all =
        vec![of("standard output", output.stdout, false), of("standard error", output.stderr, false)];
    let mut directories = vec![directory.path().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                directories.push(entry.path());
                continue;
            }
            let name = entry.file_name().into_encoded_bytes();
            all.push(of("name of a file", name.clone(), false));
            let name = String::from_utf8_lossy(&name).into_owned();
            // A recording says what was recorded, as it was.
            if name.ends_with(".data") {
                continue;
            }
            let format = readperf::output::export::by_file_name(&name);
            let mut bytes = std::fs::read(entry.path()).unwrap();
            let packed = bytes.starts_with(&[0x1f, 0x8b]);
            if packed {
                let mut unpacked = Vec::new();
                GzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked).unwrap();
                bytes = unpacked;
            }
            let is_text = format.is_none_or(|format| !format.binary || format.name == "firefox");
            all.push(of(&name, bytes, !is_text));
        }
    }
    all
}
