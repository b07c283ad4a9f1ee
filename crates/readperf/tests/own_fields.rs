//! Fields of `dump --json` against what the recording machine's own perf said of the same records (`perf report -D` and
//! `perf script -F trace` on it), on recordings of three architectures and both byte orders that lie beside the repository.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]

mod oracle;

use oracle::{skip, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What perf shows for a sample that records no data source.
const NO_DATA_SOURCE: u64 = 0x508_0021;

/// The corpus: `$READPERF_CORPUS`, else `../shared/corpus` beside the repository.
fn own_recordings() -> Vec<PathBuf> {
    let root = std::env::var_os("READPERF_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
    let mut files = Vec::new();
    for folder in ["own-aarch64", "own-armhf", "own-s390x"] {
        for entry in std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_file() && path.extension().is_some_and(|extension| extension == "data") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A text beside a recording, or its gzipped form.
fn text_beside(recording: &Path, extension: &str) -> Option<String> {
    let path = recording.with_extension(extension);
    if let Ok(text) = std::fs::read(&path) {
        return Some(String::from_utf8_lossy(&text).into_owned());
    }
    let output = Command::new("gzip").arg("-dc").arg(format!("{}.gz", path.display())).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn dump(recording: &Path, types: &str) -> Vec<Value> {
    let arguments = ["dump", "--json", "--sorted", "--type", types, recording.to_str().unwrap()];
    tool::answer(&arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or_else(|_| panic!("{text:?} is hex"))
}

/// An address or number of our JSON.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str().map(hex))
}

/// The text of one record: its line, and the lines behind it.
struct Said<'t> {
    offset: u64,
    line: &'t str,
    details: Vec<&'t str>,
}

/// The records in perf's dump: `[CPU] TIME OFFSET [SIZE]: PERF_RECORD_…`.
fn records(text: &str) -> Vec<Said<'_>> {
    let mut records: Vec<Said<'_>> = Vec::new();
    for line in text.lines() {
        if let Some((head, _)) = line.split_once("]: PERF_RECORD_") {
            let offset = head.split_whitespace().rev().nth(1).unwrap();
            records.push(Said { offset: hex(offset), line, details: Vec::new() });
        } else if line.contains(": event: ") {
            // The head of the next one's hex dump.
            records.push(Said { offset: u64::MAX, line: "", details: Vec::new() });
        } else if let Some(last) = records.last_mut() {
            last.details.push(line.trim_start());
        }
    }
    // The last record's text may be cut.
    records.pop();
    records.retain(|record| record.offset != u64::MAX);
    records
}

/// What was compared, by name of field.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, usize>);

impl Tally {
    fn same(&mut self, field: &'static str, at: &str, perf: Option<u64>, ours: Option<u64>) {
        assert_eq!(ours, perf, "{field} of {at}");
        *self.0.entry(field).or_default() += 1;
    }

    fn of(&self, field: &str) -> usize {
        self.0.get(field).copied().unwrap_or(0)
    }
}

fn after<'t>(line: &'t str, mark: &str) -> Option<&'t str> {
    line.split_once(mark).map(|(_, rest)| rest.split_whitespace().next().unwrap_or_default())
}

/// `N/A`, `4K`, `2M`.
fn page_size(text: &str) -> u64 {
    match text.strip_suffix('K') {
        Some(kib) => kib.parse::<u64>().unwrap() << 10,
        None => text.strip_suffix('M').map_or(0, |mib| mib.parse::<u64>().unwrap() << 20),
    }
}

fn compare_sample(said: &Said<'_>, ours: &Value, at: &str, tally: &mut Tally) {
    if let (Some(addr), false) = (after(said.line, "addr: "), ours["addr"].is_null()) {
        tally.same("addr", at, Some(hex(addr)), number(&ours["addr"]));
    }
    let mut registers = "";
    let mut chain = Vec::new();
    for line in &said.details {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["...", kind @ ("user" | "intr"), "regs:", "mask", mask, "ABI", abi] => {
                registers = if kind == "user" { "regs_user" } else { "regs_intr" };
                let count = hex(mask).count_ones() as usize;
                assert_eq!(ours[registers]["regs"].as_array().unwrap().len(), count, "{registers} of {at}");
                let abi = if abi == "64-bit" { 2 } else { 1 };
                tally.same("abi", at, Some(abi), number(&ours[registers]["abi"]));
            }
            ["....", name, value] if value.starts_with("0x") => {
                let value_ours = number(&ours[registers]["regs_words"][name]);
                assert!(value_ours.is_some(), "{registers} has no {name} at {at}");
                tally.same("register", at, Some(hex(value)), value_ours);
            }
            ["...", "weight:", weight] => {
                let parts = &ours["weight_struct_words"]["var1"];
                let weight_ours = number(&ours["weight"]).or_else(|| number(parts));
                tally.same("weight", at, weight.trim_end_matches(',').parse().ok(), weight_ours);
            }
            [".", "data_src:", source] if ours["data_src"].is_null() => {
                assert_eq!(hex(source), NO_DATA_SOURCE)
            }
            [".", "data_src:", source] => {
                tally.same("data_src", at, Some(hex(source)), number(&ours["data_src"]))
            }
            ["..", "phys_addr:", address] => {
                tally.same("phys_addr", at, Some(hex(address)), number(&ours["phys_addr"]));
            }
            ["..", "data", "page", "size:", size] => {
                tally.same("data_page_size", at, Some(page_size(size)), number(&ours["data_page_size"]));
            }
            ["..", "code", "page", "size:", size] => {
                tally.same("code_page_size", at, Some(page_size(size)), number(&ours["code_page_size"]));
            }
            ["...", "ustack:", "size", size, ..] => {
                let valid = size.trim_end_matches(',').parse().ok();
                tally.same("stack", at, valid, number(&ours["stack_user"]["dyn_size"]));
            }
            [".....", nr, entry] if nr.ends_with(':') => chain.push(hex(entry)),
            _ => {}
        }
    }
    if !chain.is_empty() {
        let ours: Vec<u64> =
            ours["callchain"].as_array().unwrap().iter().map(|entry| number(entry).unwrap()).collect();
        assert_eq!(ours, chain, "callchain of {at}");
        *tally.0.entry("callchain").or_default() += 1;
    }
}

#[test]
fn fields_are_what_the_machine_s_own_perf_says() {
    let recordings = own_recordings();
    if recordings.is_empty() {
        return skip("own_fields", "there is no corpus beside the repository");
    }
    let mut tally = Tally::default();
    for recording in &recordings {
        let name = recording
            .strip_prefix(recording.parent().unwrap().parent().unwrap())
            .unwrap()
            .display()
            .to_string();
        let Some(text) = text_beside(recording, "dump.txt") else { continue };
        // Records that were compressed have no offset of their own.
        if !dump(recording, "compressed,compressed2").is_empty() {
            continue;
        }
        let ours: BTreeMap<u64, Value> = dump(recording, "sample,mmap2")
            .into_iter()
            .map(|record| (number(&record["offset"]).unwrap(), record))
            .collect();
        for said in records(&text) {
            let Some(record) = ours.get(&said.offset) else { continue };
            let at = format!("{name}, {:#x}", said.offset);
            if said.line.contains("PERF_RECORD_SAMPLE") {
                compare_sample(&said, record, &at, &mut tally);
            } else if said.line.contains("PERF_RECORD_MMAP2") {
                let permissions = after(said.line, "]: PERF_RECORD_MMAP2").map(|_| said.line);
                let permissions = permissions.and_then(|line| after(line.split_once(" @ ")?.1, "]: "));
                assert_eq!(record["prot_words"].as_str(), permissions, "{at}");
                *tally.0.entry("permissions").or_default() += 1;
            }
        }
    }
    eprintln!("compared: {:?}", tally.0);
    for (field, least) in [
        ("addr", 1000),
        ("register", 10_000),
        ("weight", 300),
        ("data_src", 300),
        ("phys_addr", 300),
        ("data_page_size", 300),
        ("code_page_size", 300),
        ("stack", 200),
        ("callchain", 5000),
        ("permissions", 500),
    ] {
        assert!(tally.of(field) >= least, "only {} {field} were compared", tally.of(field));
    }
}

/// `TIME: SYSTEM:EVENT: TEXT`, what stands before it passed over.
fn traces(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let name = words.windows(2).find(|pair| is_time(pair[0]) && pair[1].ends_with(':'))?[1];
            let (_, text) = line.split_once(name)?;
            Some((name.strip_suffix(':')?, text.trim()))
        })
        .filter(|(name, _)| name.contains(':'))
        .collect()
}

fn is_time(word: &str) -> bool {
    word.strip_suffix(':').is_some_and(|time| time.contains('.') && time.parse::<f64>().is_ok())
}

fn compare_traces(ours: &[Value], text: &str, what: &str) -> usize {
    let ours: Vec<&Value> = ours.iter().filter(|record| record["text"].is_string()).collect();
    let theirs = traces(text);
    assert!(ours.len() >= theirs.len(), "{what}: {} texts, perf has {}", ours.len(), theirs.len());
    for (record, (event, text)) in ours.iter().zip(&theirs) {
        let at = format!("{what}, {}", record["offset"]);
        assert_eq!(record["event"].as_str(), Some(*event), "{at}");
        assert_eq!(record["text"].as_str().map(str::trim), Some(*text), "{at}");
        assert!(record["fields"].as_object().is_some_and(|fields| !fields.is_empty()), "{at}");
    }
    theirs.len()
}

#[test]
fn texts_of_tracepoints_are_what_the_machine_s_own_perf_says() {
    let mut compared = 0;
    let recordings = own_recordings();
    if recordings.is_empty() {
        return skip("own_fields", "there is no corpus beside the repository");
    }
    for recording in &recordings {
        if let Some(text) = text_beside(recording, "trace.txt") {
            compared += compare_traces(&dump(recording, "sample"), &text, &recording.display().to_string());
        }
    }
    assert!(compared > 5000, "{compared}");
}

#[test]
fn texts_of_the_fixture_are_what_perf_says() {
    let text = oracle::said("tracepoints", "perf.script.txt").unwrap();
    let compared = compare_traces(&dump(&oracle::fixture("tracepoints"), "sample"), &text, "tracepoints");
    assert!(compared > 10, "{compared}");
}
