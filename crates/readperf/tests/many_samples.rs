//! A recording of so many samples that several threads add them up: sums worked out in the test, by another way.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "handmade/mod.rs"]
mod handmade;
mod oracle;

use handmade::heap::{HEAP, Random, name_functions};
use handmade::{Attr, EVENT_UPDATE, PID, Pipe, Sample, padded};
use oracle::{scratch, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// More than the blocks on the way between threads hold, and more stacks than one thread takes at a time.
const SAMPLES: u64 = 30_000;
const PERIOD: u64 = 1000;
/// A page of generated code.
const FUNCTIONS: u64 = 256;

struct Recorded {
    /// The functions of each stack, the innermost first.
    stacks: Vec<Vec<u64>>,
    /// A stream in a file.
    data: PathBuf,
    /// The same records in a file with a header.
    file: PathBuf,
    dir: TempDir,
}

/// Samples between the ends of two rounds: what another thread does begins with a round.
const ROUND: u64 = 1000;

/// PERF_RECORD_FINISHED_ROUND.
const FINISHED_ROUND: u32 = 68;

/// Stacks of one to eight functions, some of which are in there twice; two threads, four CPUs.
fn recorded() -> Recorded {
    let dir = scratch();
    name_functions(dir.path(), FUNCTIONS);
    let mut pipe = Pipe::new(&[Attr::default()]);
    // What the event is called is told on the way.
    pipe.raw(EVENT_UPDATE, 0, &told_name());
    pipe.comm(PID, PID, "work");
    pipe.comm(PID, PID + 1, "work");
    pipe.map(PID, HEAP, "//anon", None, 0);
    let (mut random, mut stacks) = (Random(42), Vec::new());
    for nr in 0..SAMPLES {
        let depth = 1 + random.below(8);
        let stack: Vec<u64> = (0..depth).map(|level| random.below(FUNCTIONS >> level) << level).collect();
        let chain: Vec<u64> =
            stack.iter().map(|function| HEAP + function * 16 + 1 + random.below(14)).collect();
        pipe.sample(&Sample {
            ip: chain[0],
            chain,
            tid: PID + (nr % 2) as u32,
            cpu: (nr % 4) as u32,
            time: nr,
            ..Sample::default()
        });
        stacks.push(stack);
        if nr % ROUND == ROUND - 1 {
            pipe.raw(FINISHED_ROUND, 0, &[]);
        }
    }
    let (data, file) = (dir.path().join("perf.data"), dir.path().join("file.data"));
    std::fs::write(&data, &pipe.bytes).unwrap();
    std::fs::write(&file, pipe.as_file()).unwrap();
    Recorded { stacks, data, file, dir }
}

/// The body of EVENT_UPDATE: PERF_EVENT_UPDATE__NAME of the event with id 1.
fn told_name() -> Vec<u8> {
    [&2_u64.to_le_bytes()[..], &1_u64.to_le_bytes(), &padded("told")].concat()
}

fn run(recorded: &Recorded, arguments: &[&str], threads: &str) -> String {
    run_on(&recorded.data, recorded, arguments, threads)
}

fn run_on(data: &Path, recorded: &Recorded, arguments: &[&str], threads: &str) -> String {
    let symbols = ["--no-cache", "--threads", threads, "--symbols", path(recorded.dir.path())];
    tool::answer(&[arguments, &symbols, &[path(data)]].concat())
}

/// Fails with the first difference: all of them would fill the screen.
fn assert_same<V: PartialEq + std::fmt::Debug>(
    found: BTreeMap<String, V>,
    expected: &BTreeMap<String, V>,
    threads: &str,
) {
    let keys: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let different = keys.into_iter().find(|key| found.get(*key) != expected.get(*key));
    let values = different.map(|key| (key, found.get(key), expected.get(key)));
    assert!(values.is_none(), "{threads} threads: found and expected {values:?}");
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn sums_are_right_for_any_number_of_threads() {
    let recorded = recorded();
    let mut expected: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for stack in &recorded.stacks {
        expected.entry(format!("f{}", stack[0])).or_default().0 += PERIOD;
        for function in stack.iter().collect::<BTreeSet<_>>() {
            expected.entry(format!("f{function}")).or_default().1 += PERIOD;
        }
    }
    for threads in ["1", "2", "5"] {
        let arguments = ["report", "--json", "--sort", "symbol", "--children"];
        let answer: Value = serde_json::from_str(&run(&recorded, &arguments, threads)).unwrap();
        let rows = answer["events"][0]["rows"].as_array().unwrap();
        let sums = rows.iter().map(|row| {
            let period = |key: &str| row[key].as_u64().unwrap_or(0);
            (row["symbol"].as_str().unwrap().to_owned(), (period("self_period"), period("total_period")))
        });
        assert_same(sums.collect(), &expected, threads);
    }
}

#[test]
fn stacks_are_whole_for_any_number_of_threads() {
    let recorded = recorded();
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for stack in &recorded.stacks {
        let names: Vec<String> = stack.iter().rev().map(|function| format!(";f{function}")).collect();
        *expected.entry(format!("work{}", names.concat())).or_default() += PERIOD;
    }
    for threads in ["1", "2", "5"] {
        let folded = run(&recorded, &["export", "--format", "folded", "-o", "-"], threads);
        let lines = folded.lines().map(|line| line.rsplit_once(' ').unwrap());
        let found = lines.map(|(stack, weight)| (stack.to_owned(), weight.parse().unwrap()));
        assert_same(found.collect(), &expected, threads);
    }
}

/// Lines of a file wait for their names, and are written by a thread of its own if there are several.
#[test]
fn lines_are_in_order_for_any_number_of_threads() {
    let recorded = recorded();
    for threads in ["1", "2", "5"] {
        let text = run_on(&recorded.file, &recorded, &["script", "-F", "time,ip,sym"], threads);
        let samples: Vec<&str> = text.split("\n\n").filter(|sample| !sample.is_empty()).collect();
        assert_eq!(samples.len(), recorded.stacks.len(), "{threads} threads");
        for (nr, (sample, stack)) in samples.iter().zip(&recorded.stacks).enumerate() {
            let mut lines = sample.lines();
            let time = lines.next().unwrap().trim().trim_end_matches(':');
            assert_eq!(time, format!("0.{:06}", nr / 1000), "{threads} threads, sample {nr}");
            let names = lines.map(|line| line.rsplit_once(' ').unwrap().1.to_owned());
            let expected: Vec<String> = stack.iter().map(|function| format!("f{function}")).collect();
            assert_eq!(names.collect::<Vec<_>>(), expected, "{threads} threads, sample {nr}");
        }
    }
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let recorded = recorded();
    for arguments in [
        &["report"][..],
        &["report", "--no-children"],
        &["report", "-g", "caller"],
        &["report", "--sort", "cpu,tid,symbol", "--csv"],
        &["report", "--hierarchy", "--sort", "cpu,symbol"],
        &["script"],
        &["export", "--format", "jsonl", "-o", "-"],
        &["export", "--format", "speedscope", "-o", "-"],
        &["export", "--format", "callgrind", "-o", "-"],
    ] {
        let one = run(&recorded, arguments, "1");
        assert!(!one.is_empty());
        for threads in ["2", "5"] {
            assert!(one == run(&recorded, arguments, threads), "{arguments:?}: {threads} threads");
            let file = run_on(&recorded.file, &recorded, arguments, threads);
            assert!(one == file, "{arguments:?}: {threads} threads, from a file with a header");
        }
    }
}

/// Samples whose stacks are full of words where nothing is mapped. Some chains have no address at all, and are not shown; every fifth sample was taken
/// where nothing is mapped. Places are few enough to be held all the time, and lines too many for that. Returns the words of each chain.
fn record_words(recorded: &Recorded) -> Vec<Vec<u64>> {
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.raw(EVENT_UPDATE, 0, &told_name());
    pipe.comm(PID, PID, "work");
    pipe.map(PID, HEAP, "//anon", None, 0);
    let (mut random, mut chains) = (Random(3), Vec::new());
    for time in 0..5 * ROUND {
        let user = -512_i64 as u64;
        let mut words: Vec<u64> = (0..random.below(4))
            .map(|_| match random.below(3) {
                0 => 16 + random.below(50) * 8,
                _ => HEAP + random.below(100) * 40,
            })
            .collect();
        if let (0, Some(first)) = (time % 5, words.first_mut()) {
            *first = u64::MAX >> 17;
        }
        let ip = words.first().copied().unwrap_or(HEAP);
        let chain = [&[user], &*words].concat();
        pipe.sample(&Sample { ip, chain, time, ..Sample::default() });
        if time % ROUND == ROUND - 1 {
            pipe.raw(FINISHED_ROUND, 0, &[]);
        }
        chains.push(words);
    }
    std::fs::write(&recorded.file, pipe.as_file()).unwrap();
    std::fs::write(&recorded.data, &pipe.bytes).unwrap();
    chains
}

/// All words of a stack are shown, whatever they are.
#[test]
fn words_where_nothing_is_mapped_are_shown_as_they_are() {
    let recorded = recorded();
    let chains = record_words(&recorded);
    let is_mapped = |word: u64| (HEAP..HEAP + 4096).contains(&word);
    let expected: Vec<(u64, bool)> = chains.concat().iter().map(|word| (*word, !is_mapped(*word))).collect();
    for threads in ["1", "2", "5"] {
        for data in [&recorded.data, &recorded.file] {
            let text = run_on(data, &recorded, &["script", "-F", "ip,sym,dso"], threads);
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            let found = lines.map(|line| {
                let (word, name) = line.trim().split_once(' ').unwrap();
                (u64::from_str_radix(word, 16).unwrap(), name == "[unknown] ([unknown])")
            });
            assert!(found.eq(expected.iter().copied()), "{threads} threads, {data:?}: {text:.300}");
        }
    }
    let alone = run_on(&recorded.file, &recorded, &["script", "-G", "-F", "ip"], "1");
    let taken_at = alone.lines().map(|line| u64::from_str_radix(line.trim(), 16).unwrap());
    assert!(taken_at.eq(chains.iter().map(|chain| chain.first().copied().unwrap_or(HEAP))), "{alone:.300}");
}

/// Their places may come later than the lines are made, if these do not depend on them.
#[test]
fn what_is_chosen_of_lines_is_the_same_for_any_number_of_threads() {
    let recorded = recorded();
    let choices: [&[&str]; 8] = [
        &[],
        &["-G"],
        &["--max-stack", "2"],
        &["--max-stack", "0"],
        &["--stop-bt", "f16,f2"],
        &["-F", "comm,tid,ip,sym,symoff,dso", "--show-mmap-events"],
        &["-F", "tid,time"],
        // Here they are wanted at once.
        &["--json"],
    ];
    record_words(&recorded);
    let mut different = BTreeSet::new();
    for choice in choices {
        let script = |threads| run_on(&recorded.file, &recorded, &[&["script"], choice].concat(), threads);
        let one = script("1");
        assert!(!choice.is_empty() || one.lines().any(|line| line.ends_with(" told: ")), "{one:.200}");
        // Of a stream the events are not known when it begins, so each place is looked at by itself.
        let as_stream = run(&recorded, &[&["script"], choice].concat(), "1");
        for (other, whose) in
            [(script("2"), "2 threads"), (script("5"), "5 threads"), (as_stream, "a stream")]
        {
            let line = one.lines().zip(other.lines()).position(|(one, other)| one != other);
            assert_eq!((line, one.len()), (None, other.len()), "{choice:?}: {whose}");
        }
        different.insert(one);
    }
    assert_eq!(different.len(), choices.len());
}
