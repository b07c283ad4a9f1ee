//! Times of generated code in ticks of the processor.

use crate::handmade::{Attr, PID, flag};
use crate::oracle::{skip, tool};
use crate::{ASKED, asked_at, assert_only_damage, dumps_in, live, named, of_code};
use std::ops::Range;
use std::path::Path;

/// Records of perf's own (`enum perf_user_event_type`).
const FINISHED_ROUND: u32 = 68;
const ID_INDEX: u32 = 69;
const TIME_CONV: u32 = 79;

#[test]
#[ignore = "live: needs python3"]
fn ticks_are_times_of_a_recording_that_tells_what_they_are() {
    let test = "ticks_are_times_of_a_recording_that_tells_what_they_are";
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    if !dumps_in(test, dir, PID) {
        return;
    }
    // JITDUMP_FLAGS_ARCH_TIMESTAMP, in the last word of the header.
    let dump = dir.join(format!("jit-{PID}.dump"));
    let mut bytes = std::fs::read(&dump).unwrap();
    bytes[32] |= 1;
    std::fs::write(&dump, bytes).unwrap();
    // Three nanoseconds in two ticks; the clock began 100 ns after the ticks did.
    let zero = 100_u64.wrapping_neg();
    let at = |ticks: u64| ticks.wrapping_mul(3) / 2 - 100;
    let told: [&[u64]; 4] = [
        &[1, 3, zero],
        // As newer versions write it: the two flags are single bytes. Ticks have 9 bits.
        &[1, 3, zero, 0, 0, 0x0001],
        &[1, 3, zero, 512 + 300, 511, 0x0101],
        &[1, 3, zero, 512 + 300, u64::MAX, 0x0101],
    ];
    let expected: Vec<&str> = ASKED.iter().map(|(_, _, name)| *name).collect();
    for (nr, words) in told.iter().enumerate() {
        // Ticks of 9 bits are those after 512.
        let at = |ticks| at(ticks) + if nr == 2 { 768 } else { 0 };
        let (names, said) = named(dir, &asked_at(&Attr::default(), Some(words), at));
        let names: Vec<String> = names.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, expected);
        assert_only_damage(&said);
    }
    // What tells nothing: no record; one whose beginning is not known; one without a factor; another clock.
    let other = Attr { flags: Attr::default().flags | flag::USE_CLOCKID, clockid: 1, ..Attr::default() };
    let silent: [(Attr, Option<&[u64]>); 4] = [
        (Attr::default(), None),
        (Attr::default(), Some(&[1, 3, zero, 0, 0, 0])),
        (Attr::default(), Some(&[1, 0, zero])),
        (other, Some(&[1, 3, zero])),
    ];
    for (attr, words) in silent {
        let (names, said) = named(dir, &asked_at(&attr, words, at));
        assert_eq!(names[1].0, "instead");
        assert!(said.contains("2 because their times are ticks of the processor"), "{said}");
    }
}

/// What a program wrote of what it did, in ticks.
#[derive(Debug, Default)]
struct Account {
    /// Mappings.
    marks: Vec<Range<u64>>,
    /// What ran.
    runs: Vec<(Range<u64>, String)>,
}

impl Account {
    fn read(path: &Path) -> Account {
        let mut account = Account::default();
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let ticks = words[1].parse().unwrap()..words[2].parse().unwrap();
            match words[0] {
                "mark" => account.marks.push(ticks),
                _ => account.runs.push((ticks, words[3].to_owned())),
            }
        }
        account
    }

    /// How times of a recording follow from ticks: by the mapping that took the least time at the beginning, and that at the
    /// end.
    fn relation(&self, mapped_ns: &[u64]) -> Relation {
        let (first, last) = self.marks.split_at(self.marks.len() / 2);
        let best = |marks: &[Range<u64>], from: usize| {
            let at = (0..marks.len()).min_by_key(|at| marks[*at].end - marks[*at].start).unwrap();
            (marks[at].clone(), mapped_ns[from + at])
        };
        let (first, last) = (best(first, 0), best(last, first.len()));
        let middle = |ticks: &Range<u64>| ticks.start.midpoint(ticks.end);
        let ticks = u128::from(middle(&last.0) - middle(&first.0));
        let mult = u64::try_from((u128::from(last.1 - first.1) << 32) / ticks).unwrap();
        let wide = (first.0.end - first.0.start) + (last.0.end - last.0.start);
        let relation = Relation { mult, zero: 0, error_ns: 0 };
        let zero = first.1.wrapping_sub(relation.ns(middle(&first.0)));
        Relation { zero, error_ns: relation.ns(wide) + 2_000, ..relation }
    }
}

/// `time = zero + (ticks * mult >> 32)`.
#[derive(Clone, Copy, Debug)]
struct Relation {
    mult: u64,
    zero: u64,
    /// How far a time may be from what it should be.
    error_ns: u64,
}

impl Relation {
    fn ns(&self, ticks: u64) -> u64 {
        let ns = (u128::from(ticks) * u128::from(self.mult)) >> 32;
        self.zero.wrapping_add(u64::try_from(ns).unwrap())
    }
}

/// Where the records of a type are in a file: `struct perf_file_header`, whose seventh word is where data begins.
fn records(bytes: &[u8], wanted: u32) -> Vec<Range<usize>> {
    let word =
        |at: usize| usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap();
    let (mut at, end) = (word(40), word(40) + word(48));
    let mut found = Vec::new();
    while at + 8 <= end {
        let kind = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let size = usize::from(u16::from_le_bytes(bytes[at + 6..at + 8].try_into().unwrap()));
        if kind == wanted {
            found.push(at..at + size);
        }
        at += size.max(8);
    }
    found
}

/// Writes what a recording here would tell if the kernel did, in place of a record that is not needed for one event.
fn tell(bytes: &mut [u8], relation: Relation) {
    let head = |kind: u32, size: usize| u64::from(kind) | u64::try_from(size).unwrap() << 48;
    let place = records(bytes, ID_INDEX).into_iter().next().expect("perf writes it");
    // A finished round has no body: as many as there is room for.
    let rounds = std::iter::repeat_n(head(FINISHED_ROUND, 8), (place.len() - 32) / 8);
    let words = [head(TIME_CONV, 32), 32, relation.mult, relation.zero].into_iter().chain(rounds);
    let words: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    bytes[place.start..place.start + words.len()].copy_from_slice(&words);
}

/// Time, ns, and name of each line of generated code.
fn times(lines: &[String]) -> Vec<(u64, String)> {
    let time = |line: &str| {
        let time = line.split_whitespace().find_map(|word| word.strip_suffix(':')).unwrap();
        time.replace('.', "").parse().unwrap()
    };
    lines.iter().map(|line| (time(line), line.rsplit(' ').next().unwrap().to_owned())).collect()
}

/// A program that tells the ticks at which its code came: each sample as perf has it, and as the program itself tells what ran.
#[test]
#[ignore = "live: compares with perf"]
fn code_with_ticks_is_named_as_by_perf_and_as_it_was() {
    let test = "code_with_ticks_is_named_as_by_perf_and_as_it_was";
    let Some((perf, dir)) = live(test, "reuse") else { return };
    let record = ["-e", "cpu-clock:u", "-F", "4000", "--", "./reuse", "40", "5000000", "ticks"];
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    let account = Account::read(&dir.path().join("account.txt"));
    let maps = perf.says("script", &data, &["--ns", "--show-mmap-events", "-F", "comm,time,event,ip"]);
    let maps: Vec<String> = maps.lines().filter(|line| line.contains("rwxp")).map(str::to_owned).collect();
    if maps.len() != account.marks.len() {
        return skip(test, &format!("{} of {} mappings are told", maps.len(), account.marks.len()));
    }
    let mapped: Vec<u64> = times(&maps).into_iter().map(|(time, _)| time).collect();
    let relation = account.relation(&mapped);
    let mut bytes = std::fs::read(&data).unwrap();
    let is_told = !records(&bytes, TIME_CONV).is_empty();
    if !is_told {
        tell(&mut bytes, relation);
        std::fs::write(&data, bytes).unwrap();
    }
    let made = dir.path().join("made.data");
    perf.says("inject", &data, &["--jit", "-o", made.to_str().unwrap()]);
    let fields = ["--ns", "-F", "time,ip,sym"];
    let theirs = of_code(&perf.script_with(&made, &fields));
    let output = tool::command().args(["script", "--no-cache"]).args(fields).arg(&data).output().unwrap();
    assert_eq!(tool::stderr(&output), "");
    let mine = of_code(&String::from_utf8(output.stdout).unwrap());
    let mut compared = 0;
    for (time, name) in times(&mine) {
        let inside = |(ticks, _): &&(Range<u64>, String)| {
            relation.ns(ticks.start) + relation.error_ns < time
                && time + relation.error_ns < relation.ns(ticks.end)
        };
        if let Some((_, ran)) = account.runs.iter().find(inside) {
            assert_eq!(&name, ran, "at {time}");
            compared += 1;
        }
    }
    eprintln!(
        "{test}: {} lines, {} of perf, {compared} of which the program tells; told by the kernel: {is_told}; within {} ns",
        mine.len(),
        theirs.len(),
        relation.error_ns
    );
    if !made.exists() || theirs.is_empty() {
        return skip(test, "perf cannot read the dump");
    }
    assert_eq!(mine, theirs);
    if compared < 100 {
        skip(test, &format!("only {compared} samples of which the program tells surely"));
    }
}
