//! Hostile names. Names with characters that drive terminals, turn the direction of text, or cannot be seen: none is in any output of any
//! command, and none is dropped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation
)]

mod handmade;
mod hostile_support;
mod oracle;

use hostile_support::{commands, recording};
use oracle::{scratch, tool};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Every kind of character that must not be seen as it is, each behind a letter; two bytes that are no UTF-8; and what
/// separates or quotes in some format.
const HOSTILE: &[u8] = "a\u{1b}[2Jb\u{7}c\rd\u{7f}e\u{9b}2Jf\u{85}g\u{61c}h\u{200b}i\u{200d}j\u{200e}k\u{200f}l\u{2028}\
    m\u{2029}n\u{202a}o\u{202e}p\u{202c}q\u{2066}r\u{2069}s\u{feff}t\u{ad}u\u{e0041}v\u{fff9}w\u{3164}x\u{fe0f}\
    y\u{8}z\u{ffff}<b>&\"',;\\x41=1+\nnext"
    .as_bytes();

fn hostile() -> Vec<u8> {
    [HOSTILE, b"\xff\x9b."].concat()
}

/// Written by hand, not asked of the program: C0 and C1 but for the line break, DEL, what has no shape of its own, and
/// characters that there are none.
fn is_bad(c: char) -> bool {
    matches!(c, '\0'..='\u{9}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{61c}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// What is wrong with an output: a raw character, or bytes that are no text.
fn complaint(written: &commands::Written) -> Option<String> {
    let commands::Written { what, bytes, binary } = written;
    if *binary {
        // Lengths and keys may be any byte: what is looked for is the name.
        let raw: [&[u8]; 3] = [b"\x1b[2J", "\u{9b}2J".as_bytes(), "o\u{202e}p".as_bytes()];
        let found = raw.iter().find(|raw| bytes.windows(raw.len()).any(|part| part == **raw))?;
        return Some(format!("{what}: {:?}", found.escape_ascii().to_string()));
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Some(format!("{what}: no UTF-8")) };
    // Frames of `script` begin with a tab, and dumps of bytes have a format.
    let bad = |c: char| is_bad(c) && !(c == '\t' && (what.contains("\"script\"") || what.contains("html")));
    let (at, c) = text.char_indices().find(|(_, c)| bad(*c))?;
    let before = text[..at].char_indices().rev().nth(40).map_or(0, |(at, _)| at);
    Some(format!("{what}: {c:?} behind {:?}", &text[before..at]))
}

#[test]
fn no_output_of_any_command_holds_a_raw_character() {
    let directory = scratch();
    let names = recording::Names::all(&hostile(), 2, 3);
    let file = recording::write(&names, directory.path(), "perf.data");
    let counts = recording::write_counts(&hostile(), directory.path());
    let symbols = directory.path().join("symbols");
    let mut complaints = Vec::new();
    let mut outputs = 0;
    for (file, symbols) in [(&file, Some(symbols.as_path())), (&counts, None)] {
        for arguments in commands::all(file) {
            let written = commands::written(&arguments, symbols);
            outputs += written.len();
            complaints.extend(written.iter().filter_map(complaint));
        }
    }
    // `script --per-event-dump` writes beside the recording.
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let path = entry.unwrap().path();
        let what = "name of a file of \"script\"".to_owned();
        let name = path.file_name().unwrap().as_bytes().to_vec();
        complaints.extend(complaint(&commands::Written { what, bytes: name, binary: false }));
    }
    assert!(outputs > 200, "only {outputs} outputs");
    assert!(complaints.is_empty(), "{} of {outputs}:\n{}", complaints.len(), complaints.join("\n"));
}

/// What is typed, and what files are called, is quoted in messages.
#[test]
fn no_message_holds_a_raw_character() {
    let directory = scratch();
    let name = OsStr::from_bytes(&HOSTILE[..HOSTILE.len() - 5]).to_owned();
    let with = |front: &str| [OsStr::new(front), &name].join(OsStr::new(""));
    let no_recording = directory.path().join(with("no.data").to_string_lossy().replace('/', "_"));
    std::fs::write(&no_recording, "no recording at all, and long enough to be one").unwrap();
    let main = oracle::fixture("main");
    let (main, none) = (main.as_os_str(), no_recording.as_os_str());
    let command = |command: &'static str| OsStr::new(command);
    let cases: Vec<Vec<&OsStr>> = vec![
        vec![&name],
        vec![command("stats"), &name],
        vec![&name, main],
        vec![command("completions"), &name],
        vec![command("export"), main, command("-f"), &name],
        vec![command("export"), main, command("-o"), &name],
        vec![command("report"), main, command("--sort"), &name],
        vec![command("report"), main, command("--time"), &name],
        vec![command("report"), main, command("--focus"), command("(\u{1b}\u{202e}")],
        vec![command("script"), main, command("-F"), &name],
        vec![command("dump"), main, command("--type"), &name],
        vec![command("report"), main, command("--vmlinux"), &name],
        vec![command("stats"), none],
        vec![command("report"), none],
        vec![none],
        vec![command("diff"), none, main],
    ];
    let options = [with("--no-such-"), with("--json=")];
    let cases =
        cases.into_iter().chain(options.iter().map(|option| vec![command("stats"), option.as_os_str()]));
    let mut quoted = 0;
    for arguments in cases {
        let output = tool::run(&arguments);
        for bytes in [output.stdout, output.stderr] {
            quoted += usize::from(String::from_utf8_lossy(&bytes).contains("\\u{202e}"));
            let what = format!("{arguments:?}");
            assert_eq!(complaint(&commands::Written { what, bytes, binary: false }), None);
        }
    }
    assert!(quoted >= 12, "{quoted} messages quote the name");
}

/// Nothing is dropped: text has escapes, JSON gives back what was recorded.
#[test]
fn names_are_whole() {
    let directory = scratch();
    let names = recording::Names::all(&hostile(), 1, 1);
    let file = recording::write(&names, directory.path(), "perf.data");
    let escaped = "a\\x1b[2Jb\\x07c\\rd\\x7fe\\u{9b}2Jf\\u{85}g\\u{61c}h\\u{200b}i\\u{200d}j\\u{200e}k\\u{200f}\
        l\\u{2028}m\\u{2029}n\\u{202a}o\\u{202e}p\\u{202c}q\\u{2066}r\\u{2069}s\\u{feff}t\\u{ad}u\\u{e0041}\
        v\\u{fff9}w\\u{3164}x\\u{fe0f}y\\x08z\\u{ffff}<b>&\"',;\\x41=1+\\nnext\\xff\\x9b.";
    let ask = |arguments: &[&str]| {
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).chain([file.as_os_str()]).collect();
        String::from_utf8(tool::run(&arguments).stdout).unwrap()
    };
    for text in [&["report", "--sort", "comm"][..], &["script"], &["dump"], &["info"], &["stats"]] {
        assert!(ask(text).contains(escaped), "{text:?}\n{}", ask(text));
    }
    let in_csv = escaped.replace('"', "\"\"");
    for text in [&["report", "--csv"][..], &["export", "-f", "csv", "-o", "-"]] {
        assert!(ask(text).contains(&in_csv), "{text:?}\n{}", ask(text));
    }
    let exact = String::from_utf8(HOSTILE.to_vec()).unwrap() + "\\xff\\x9b.";
    let report: serde_json::Value =
        serde_json::from_str(&ask(&["report", "--json", "--sort", "comm"])).unwrap();
    assert_eq!(report["events"][0]["rows"][0]["comm"], exact.as_str());
    let script = ask(&["script", "--json"]);
    let first: serde_json::Value = serde_json::from_str(script.lines().next().unwrap()).unwrap();
    assert_eq!(first["comm"], exact.as_str());
}

/// What a name of 60 kB makes of a recording: no output is larger than so many times the input.
const MOST: usize = 40;

/// Lines of samples as JSON and as CSV have names whole, as long as any that the kernel writes.
const MOST_WHOLE: usize = 60;

fn grown(names: &recording::Names) -> Vec<String> {
    let directory = scratch();
    let file = recording::write(names, directory.path(), "perf.data");
    let symbols = directory.path().join("symbols");
    let size = |path: &Path| std::fs::metadata(path).unwrap().len() as usize;
    let read = size(&file) + size(&symbols.join("perf-10.map"));
    let mut too_much = Vec::new();
    for arguments in commands::all(&file) {
        let (what, wrote) = commands::written(&arguments, Some(&symbols))
            .iter()
            .fold((String::new(), 0), |(_, sum), written| (written.what.clone(), sum + written.bytes.len()));
        let has = |word: &str| arguments.iter().any(|argument| argument == word);
        let is_whole = has("script") && has("--json") || has("export") && (has("jsonl") || has("csv"));
        if wrote > read * if is_whole { MOST_WHOLE } else { MOST } {
            too_much.push(format!("{} times {read} bytes: {what}", wrote / read));
        }
    }
    too_much
}

#[test]
fn a_long_name_of_a_binary_does_not_multiply() {
    let short = b"short".to_vec();
    let binary = vec![b'x'; 60_000];
    let names = recording::Names { binary, symbol: short.clone(), other: short, functions: 100, samples: 10 };
    let too_much = grown(&names);
    assert!(too_much.is_empty(), "{}", too_much.join("\n"));
}

#[test]
fn long_names_of_everything_do_not_multiply() {
    let too_much = grown(&recording::Names::all(&[b'y'; 60_000], 10, 20));
    assert!(too_much.is_empty(), "{}", too_much.join("\n"));
}
