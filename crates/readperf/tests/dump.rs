//! `dump`: filters, words beside values, records in parts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]

mod oracle;

use oracle::{fixture, skip, tool};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn dump(file: &Path, options: &[&str]) -> Vec<Value> {
    let mut arguments = vec!["dump", "--json", file.to_str().unwrap()];
    arguments.extend(options);
    tool::answer(&arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Those of all records that a filter should let through.
fn check(file: &Path, options: &[&str], wanted: impl Fn(&Value) -> bool) {
    let expected: Vec<Value> = dump(file, &[]).into_iter().filter(|record| wanted(record)).collect();
    assert!(!expected.is_empty(), "{options:?} has something to find");
    assert_eq!(dump(file, options), expected, "{options:?}");
}

#[test]
fn types_are_counted_as_perf_counts_them() {
    let file = fixture("multi");
    let stats = oracle::said("multi", "perf.stats.txt").unwrap();
    for (name, option) in [("SAMPLE", "9"), ("MMAP2", "mmap2"), ("FORK", "PERF_RECORD_FORK")] {
        let line =
            stats.lines().find(|line| line.trim_start().starts_with(&format!("{name} events:"))).unwrap();
        let count: usize = line.split_whitespace().nth(2).unwrap().parse().unwrap();
        assert_eq!(dump(&file, &["--type", option]).len(), count, "{name}");
    }
    check(&file, &["--type", "comm,exit"], |record| record["type"] == "COMM" || record["type"] == "EXIT");
}

#[test]
fn events_are_chosen_by_name() {
    let multi = fixture("multi");
    // Their names have the options of the recorder in them.
    let name = |part: &str| {
        let all = dump(&multi, &["--type", "sample"]);
        let found = all.iter().find(|record| record["event"].as_str().unwrap().contains(part)).unwrap();
        found["event"].as_str().unwrap().to_owned()
    };
    let (faults, switches) = (name("page-faults"), name("context-switches"));
    check(&multi, &["--event", &faults], |record| record["type"] == "SAMPLE" && record["event"] == *faults);
    check(&multi, &["--event", &faults, "--event", &switches], |record| {
        record["type"] == "SAMPLE" && (record["event"] == *faults || record["event"] == *switches)
    });
    check(&fixture("pipe"), &["--event", "cpu-clock"], |record| {
        record["type"] == "SAMPLE" && record["event"] == "cpu-clock"
    });
}

#[test]
fn times_are_chosen_in_all_units() {
    let file = fixture("main");
    let samples = dump(&file, &["--type", "sample"]);
    let time = |nr: usize| samples[nr]["time"].as_u64().unwrap();
    let (from, to) = (time(100), time(200));
    let in_range = |record: &Value| record["time"].as_u64().is_some_and(|time| (from..=to).contains(&time));
    check(&file, &["--time", &format!("{from}ns,{to}ns")], in_range);
    let seconds = |ns: u64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    check(&file, &["--time", &format!("{},{}", seconds(from), seconds(to))], in_range);
    check(&file, &["--time", &format!("{},", seconds(from))], |record| {
        record["time"].as_u64().is_some_and(|time| time >= from)
    });
    let (first, last) = (time(0), time(samples.len() - 1));
    let middle = first + (last - first) / 2;
    check(&file, &["--time", "0%-50%", "--type", "sample"], |record| {
        record["type"] == "SAMPLE" && record["time"].as_u64().unwrap() <= middle
    });
}

#[test]
fn offsets_and_limit() {
    let file = fixture("main");
    let all = dump(&file, &[]);
    let offset = |nr: usize| all[nr]["offset"].as_u64().unwrap();
    let (from, to) = (offset(5), offset(9));
    check(&file, &["--offset", &format!("{from:#x}..{to}")], |record| {
        (from..to).contains(&record["offset"].as_u64().unwrap())
    });
    assert_eq!(dump(&file, &["--limit", "3"]), all[..3]);
    assert!(dump(&file, &["--limit", "0"]).is_empty());
    let samples = dump(&file, &["--type", "sample", "--limit", "2"]);
    assert_eq!(samples.len(), 2);
    assert_eq!(samples[0]["type"], "SAMPLE");
}

#[test]
fn a_bad_filter_is_wrong_usage_and_says_what_may_have_been_meant() {
    let file = fixture("multi");
    for (options, hint) in [
        (["--type", "smaple"], "SAMPLE"),
        (["--event", "cpu-clok"], "cpu-clock"),
        (["--time", "5"], "FROM,TO"),
        (["--offset", "9..5"], "empty"),
        (["--limit", "x"], "invalid"),
    ] {
        let output = tool::command().arg("dump").arg(&file).args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(tool::stderr(&output).contains(hint), "{options:?}: {}", tool::stderr(&output));
        assert!(output.stdout.is_empty(), "{options:?}");
    }
}

#[test]
fn a_stream_tells_at_its_end_that_it_has_no_such_event() {
    let file = std::fs::File::open(fixture("pipe")).unwrap();
    let output =
        tool::command().args(["dump", "-", "--event", "cpu-clok"]).stdin(Stdio::from(file)).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(tool::stderr(&output).contains("did you mean cpu-clock?"), "{}", tool::stderr(&output));
}

#[test]
fn a_stream_has_registers_and_texts_as_soon_as_they_are_known() {
    let Some(file) = corpus("own-aarch64/pipe-multi.data") else { return };
    let stdin = Stdio::from(std::fs::File::open(&file).unwrap());
    let output = tool::command().args(["dump", "--json", "-"]).stdin(stdin).output().unwrap();
    let from_stream = String::from_utf8(output.stdout).unwrap();
    let from_file = tool::answer(&["dump", "--json", file.to_str().unwrap()]);
    assert!(from_file.contains("prev_comm=") && from_stream == from_file);
}

fn corpus(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("READPERF_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from);
    let path = root.join(name);
    if !path.is_file() {
        skip(name, "there is no such file beside the repository");
        return None;
    }
    Some(path)
}

/// `perf script -F data_src` of perf 6.1.187 says the words below of 13 samples, and of one that it was locked.
#[test]
fn data_sources_have_perf_s_words() {
    let Some(file) = corpus("wild/numatop.perf-mem.data") else { return };
    let samples = dump(&file, &["--type", "sample"]);
    let with = |words: &str| samples.iter().filter(|sample| sample["data_src_words"] == words).count();
    assert_eq!(with("|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"), 13);
    assert_eq!(with("|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  N/A"), 1);
    assert_eq!(samples[0]["data_src"], "0x68100142");
    let text = tool::answer(&["dump", "--type", "sample", file.to_str().unwrap()]);
    assert!(text.contains("data_src         0x68100142  |OP LOAD|LVL L1 hit"), "{text}");
}

/// Worked out from the bytes: three SPLIT records, whose parts begin with a head of type 32777 and size 2 << 16 | 0x1a0c.
#[test]
fn split_records_are_shown_as_they_lie_and_whole() {
    let Some(file) = corpus("simpleperf/perf_with_big_trace_data.data") else { return };
    let records = dump(&file, &["--type", "split,split_end,tracing_data"]);
    let types: Vec<&str> = records.iter().map(|record| record["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["SPLIT", "SPLIT", "SPLIT", "SPLIT_END"]);
    let whole = &records[3]["reassembled"];
    assert_eq!((&whole["type"], &whole["size"]), (&"TRACING_DATA".into(), &0x21a0c.into()));
    let data = whole["data"].as_str().unwrap();
    assert_eq!(data.len(), 2 * 0x219d7);
    assert!(data.starts_with("17084474726163696e67"), "the mark of tracing data, then its name");
}

/// Worked out from the bytes at 0x548.
#[test]
fn an_unwinding_result_has_registers_stack_and_chain() {
    let Some(file) = corpus("simpleperf/debug_unwind_small_map_range.data") else { return };
    let record = &dump(&file, &["--type", "unwinding_result"])[0];
    assert_eq!(record["time"], 188_376_408_187_037_u64);
    assert_eq!(record["regs"].as_array().unwrap().len(), 20);
    assert_eq!(record["regs_words"]["IP"], "0x54c05060");
    assert_eq!(record["stack"]["dyn_size"], 0x16c8);
    assert_eq!(record["callchain"]["ips"], serde_json::json!(["0x54c05060", "0x54c04e3f"]));
    assert_eq!(record["callchain"]["sps"], serde_json::json!(["0x78301bef6938", "0x78301bef6938"]));
}

#[test]
fn call_chains_of_simpleperf_have_addresses_and_stack_pointers() {
    let Some(file) = corpus("simpleperf/perf_with_callchain_record.data") else { return };
    let records = dump(&file, &["--type", "callchain"]);
    assert_eq!(records.len(), 40);
    assert_eq!(records[0]["ips"], serde_json::json!(["0x5f378c", "0x5ea2c4"]));
    assert_eq!(records[0]["sps"], serde_json::json!(["0x7fd4af7f80", "0x7fd4af7f80"]));
}
