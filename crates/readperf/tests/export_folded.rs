//! Folded stacks: totals are those of `stats`, the same bytes as before, names that would break a line, and what perf itself
//! says of the same stacks.
//!
//! After a deliberate change: `READPERF_BLESS=1 cargo test -p readperf --test export_folded`, and look at the difference.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    reason = "a test may fail loudly"
)]

mod handmade;
mod oracle;

use handmade::{Attr, CODE, PID, Pipe, Sample};
use oracle::golden::assert_golden;
use oracle::{SAMPLED, fixture, kind, scratch, tool};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Stacks and their weights.
type Folded = BTreeMap<String, u64>;

fn parse(text: &str) -> Folded {
    let line = |line: &str| {
        let (stack, weight) = line.rsplit_once(' ').expect("a stack, a space, a weight");
        (stack.to_owned(), weight.parse().expect("a weight"))
    };
    let lines: Vec<(String, u64)> = text.lines().map(line).collect();
    let folded: Folded = lines.iter().cloned().collect();
    assert_eq!(folded.len(), lines.len(), "no stack is on two lines");
    folded
}

fn run(file: &Path, words: &[&str]) -> String {
    let nothing = scratch();
    let output = tool::command()
        .args(["export", "--format", "folded", "--no-progress", "--kallsyms", "/dev/null", "--symfs"])
        .arg(nothing.path())
        .arg("--symbols")
        .arg(kind("bin"))
        .args(words)
        .arg(file)
        .env("HOME", nothing.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn save(pipe: &Pipe, directory: &Path) -> PathBuf {
    let file = directory.join("handmade.data");
    std::fs::write(&file, &pipe.bytes).unwrap();
    file
}

#[test]
fn golden_stacks() {
    for (name, words) in [
        ("main", &[][..]),
        ("multi", &[]),
        ("multi", &["--annotate", "--with-tid", "--weight", "samples"]),
        ("rust", &["--no-inline"]),
        ("rust", &["--annotate"]),
    ] {
        let written = run(&fixture(name), words);
        let file = format!("export/{name}{}.folded", words.concat().replace("--", "-"));
        assert_golden(&file, &written);
    }
}

#[test]
fn totals_are_those_of_stats_for_every_event() {
    for name in SAMPLED {
        let file = fixture(name);
        let stats = tool::json("stats", &file);
        let mut told = 0;
        for event in stats["events"].as_array().unwrap() {
            let (samples, period) = (tool::number(&event["samples"]), tool::number(&event["period"]));
            if samples == 0 {
                continue;
            }
            told += 1;
            let event = event["name"].as_str().unwrap();
            let sum = |words: &[&str]| -> u64 { parse(&run(&file, words)).values().sum() };
            assert_eq!(sum(&["--event", event]), period, "{name}: period of {event}");
            assert_eq!(
                sum(&["--event", event, "--weight", "samples"]),
                samples,
                "{name}: samples of {event}"
            );
            assert_eq!(
                sum(&["--event", event, "--with-tid", "--annotate"]),
                period,
                "{name}: with ids and marks"
            );
        }
        assert!(told > 0, "{name} has events");
    }
}

/// perf's own lines about a recording without chains: comm, period, ip and function of every sample.
#[test]
fn leaves_are_what_perf_script_says() {
    let script = oracle::said("rust", "perf.script.txt").expect("perf had something to say");
    let mut expected = Folded::new();
    for line in script.lines().filter(|line| !line.trim().is_empty()) {
        // rusty 123/123 12.345: 200040 cpu-clock:u: 55… function (/path/binary)
        let (head, place) = line.split_once("cpu-clock:u:").expect("the event");
        let mut head = head.split_whitespace();
        let (comm, period) = (head.next().unwrap(), head.next_back().unwrap());
        let (_, place) = place.trim().split_once(' ').expect("an address");
        let (function, binary) = place.rsplit_once(' ').expect("a binary");
        let binary = binary.trim_matches(['(', ')']);
        if function.contains("[unknown]") || !binary.ends_with("/rusty") {
            continue;
        }
        *expected.entry(format!("{comm};{function}")).or_default() += period.parse::<u64>().unwrap();
    }
    assert!(expected.len() > 1, "{script}");
    let ours = parse(&run(&fixture("rust"), &["--no-inline"]));
    for (stack, weight) in &expected {
        assert_eq!(ours.get(stack), Some(weight), "{stack} in {ours:?}");
    }
}

#[test]
fn names_that_would_break_a_line() {
    let directory = scratch();
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, "two words;\n1");
    pipe.map(PID, CODE, "/bin/a;b c\nd\u{1b}[2J", None, 0);
    pipe.sample(&Sample { chain: vec![-512i64 as u64, CODE + 0x10, CODE + 0x20], ..Sample::default() });
    pipe.sample(&Sample { chain: vec![-512i64 as u64, 0x10], ip: 0x10, ..Sample::default() });
    let text = run(&save(&pipe, directory.path()), &[]);
    assert_eq!(
        text,
        "two_words:\\n1;[a:b c\\nd\\x1b[2J];[a:b c\\nd\\x1b[2J] 1000\ntwo_words:\\n1;[unknown] 1000\n"
    );
}

#[test]
fn lines_are_in_the_order_of_their_bytes() {
    let directory = scratch();
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, "x");
    let names = ["f", "f1", "f<a>", "f!", "g"];
    for (nr, name) in names.iter().enumerate() {
        pipe.map(PID, CODE + 0x10_0000 * nr as u64, &format!("/bin/{name}"), None, 0);
    }
    let at = |nr: usize| CODE + 0x10_0000 * nr as u64 + 0x10;
    for outer in 0..names.len() {
        for inner in 0..names.len() {
            let chain = vec![-512i64 as u64, at(inner), at(outer)];
            pipe.sample(&Sample { chain, ip: at(inner), ..Sample::default() });
        }
        pipe.sample(&Sample { chain: vec![-512i64 as u64, at(outer)], ip: at(outer), ..Sample::default() });
    }
    let text = run(&save(&pipe, directory.path()), &[]);
    let stack = |line: &str| line.rsplit_once(' ').unwrap().0.as_bytes().to_vec();
    let stacks: Vec<Vec<u8>> = text.lines().map(stack).collect();
    assert_eq!(stacks.len(), 30);
    assert!(stacks.is_sorted(), "{text}");
}

#[test]
fn nothing_and_one_sample() {
    let directory = scratch();
    let empty = save(&Pipe::sound(&[Attr::default()]), directory.path());
    assert_eq!(run(&empty, &[]), "");
    let mut pipe = Pipe::sound(&[Attr::default()]);
    pipe.sample(&Sample::default());
    let one = save(&pipe, directory.path());
    assert_eq!(run(&one, &[]), "work;[work];[work];[work] 1000\n");
    assert_eq!(run(&one, &["--with-pid"]), "work-10;[work];[work];[work] 1000\n");
    assert_eq!(run(&one, &["--with-tid", "--weight", "samples"]), "work-10/10;[work];[work];[work] 1\n");
}

#[test]
fn one_event_of_many_is_told() {
    let output = tool::run(&["export", "-f", "folded", fixture("multi").to_str().unwrap()]);
    let told = tool::stderr(&output);
    assert!(told.contains("only cpu-clock is shown") && told.contains("page-faults"), "{told}");
    let output =
        tool::run(&["export", "-f", "folded", "--event", "cpu-clock", fixture("multi").to_str().unwrap()]);
    assert!(!tool::stderr(&output).contains("only"), "{}", tool::stderr(&output));
}
