//! The four tables that `readperf FILE` writes: form, columns, and sums that must agree with each other.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, said, scratch, tool};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

const COLUMNS: [(&str, &str); 4] = [
    ("stat.csv", "type,count"),
    ("overview.csv", "nr,type,pid,tid,time,event,info"),
    ("processes.csv", "pid,name,mmaps,fork_time,exit_time,samples,period"),
    ("results.csv", "event,period,samples,percent,function,source_file,binary"),
];

fn column(rows: &[Vec<String>], at: usize) -> Vec<u64> {
    rows.iter().map(|r| r[at].parse().unwrap_or_else(|_| panic!("a whole number, not {:?}", r[at]))).collect()
}

#[test]
fn tables_have_their_columns_and_are_named_on_stderr() {
    let dir = scratch();
    let file = fixture("main");
    let output = tool::run(&[file.as_os_str(), OsStr::new("--csv-dir"), dir.path().as_os_str()]);
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    for (name, header) in COLUMNS {
        let path = dir.path().join(name);
        let first = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(first.lines().next(), Some(header), "{name}");
        let (_, rows) = tool::table(&path);
        assert!(!rows.is_empty(), "{name} has no rows");
        assert!(
            tool::stderr(&output).contains(name),
            "{name} is not named on standard error: {}",
            tool::stderr(&output)
        );
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 4, "four files and no more");
}

#[test]
fn tables_go_to_the_current_directory_unless_told_otherwise() {
    let dir = scratch();
    let output = tool::command().arg(fixture("main")).current_dir(dir.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    let written: BTreeSet<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(written, COLUMNS.iter().map(|c| c.0.to_owned()).collect());
}

#[test]
fn stat_table_is_the_statistics() {
    for name in ["main", "multi", "everything"] {
        let dir = scratch();
        tool::write_tables(&fixture(name), dir.path());
        let (_, rows) = tool::table(&dir.path().join("stat.csv"));
        let table: BTreeMap<String, u64> =
            rows.iter().map(|r| (r[0].clone(), r[1].parse().unwrap())).collect();
        let expected = oracle::stats::parse(&said(name, "perf.stats.txt").unwrap()).records;
        for (kind, count) in &expected {
            assert_eq!(table.get(kind), Some(count), "{name}: {kind} in stat.csv");
        }
    }
}

#[test]
fn results_add_up_to_the_total_of_each_event() {
    for name in ["main", "multi", "kernel", "tracepoints"] {
        let dir = scratch();
        tool::write_tables(&fixture(name), dir.path());
        let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for row in tool::results(dir.path()) {
            let sum = sums.entry(row.event).or_default();
            sum.0 += row.period;
            sum.1 += row.samples;
        }
        let stats = tool::json("stats", &fixture(name));
        let totals: BTreeMap<String, (u64, u64)> = stats["events"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|e| tool::number(&e["samples"]) > 0)
            .map(|e| {
                (
                    e["name"].as_str().unwrap().to_owned(),
                    (tool::number(&e["period"]), tool::number(&e["samples"])),
                )
            })
            .collect();
        assert!(!totals.is_empty(), "{name}");
        assert_eq!(sums, totals, "{name}: sums of results.csv left, totals of stats right");
    }
}

#[test]
fn results_state_where_a_function_of_the_program_is_written() {
    let dir = scratch();
    tool::write_tables(&fixture("main"), dir.path());
    let (_, rows) = tool::table(&dir.path().join("results.csv"));
    // By addr2line: spin_five is in work.c, lib_spin in libwork.c.
    for (function, source) in [("spin_five", "work.c"), ("spin_three", "work.c"), ("lib_spin", "libwork.c")] {
        let row = rows.iter().find(|r| r[4] == function).unwrap_or_else(|| panic!("{function} is missing"));
        assert!(row[5].contains(source), "{function}: source_file {:?}, expected {source}", row[5]);
    }
}

#[test]
fn overview_has_every_record_in_the_order_of_time() {
    for name in ["main", "multi"] {
        let dir = scratch();
        tool::write_tables(&fixture(name), dir.path());
        let (_, rows) = tool::table(&dir.path().join("overview.csv"));
        let walk: serde_json::Value = serde_json::from_str(&said(name, "walk.json").unwrap()).unwrap();
        let records: u64 = walk["records"].as_object().unwrap().values().map(tool::number).sum();
        assert_eq!(rows.len() as u64, records, "{name}: one row for each record");
        let numbers: BTreeSet<u64> = column(&rows, 0).into_iter().collect();
        assert_eq!(numbers.len(), rows.len(), "{name}: every nr once");
        // Synthesized records have no time (empty or 0); the others never go back.
        let times: Vec<u64> =
            rows.iter().filter_map(|r| r[4].replace('.', "").parse().ok()).filter(|t| *t > 0).collect();
        assert!(times.len() as u64 >= tool::number(&walk["records"]["9"]), "{name}: every sample has a time");
        assert!(times.windows(2).all(|w| w[0] <= w[1]), "{name}: times go back");
        let samples = rows.iter().filter(|r| r[1].ends_with("SAMPLE")).count() as u64;
        assert_eq!(samples, tool::number(&walk["records"]["9"]), "{name}: rows of samples");
    }
}

#[test]
fn processes_are_those_of_the_recording() {
    let dir = scratch();
    tool::write_tables(&fixture("main"), dir.path());
    let (_, rows) = tool::table(&dir.path().join("processes.csv"));
    let work: Vec<_> = rows.iter().filter(|r| r[1] == "work").collect();
    assert_eq!(work.len(), 1, "one process named work in {rows:?}");
    let table = oracle::report::parse(&said("main", "perf.report.txt").unwrap()).remove(0);
    assert_eq!(
        (work[0][5].parse(), work[0][6].parse()),
        (Ok(table.samples()), Ok(table.period)),
        "samples and period of work"
    );
    assert_ne!(work[0][2], "0", "mappings of work");
    assert!(!work[0][4].is_empty(), "exit_time of work: the recording has its EXIT");
    // perf.script.txt: `COMM PID/TID …`.
    let script = said("main", "perf.script.txt").unwrap();
    let pid = script.lines().next().unwrap().split_whitespace().nth(1).unwrap().split('/').next().unwrap();
    assert_eq!(work[0][0], pid);
}

#[test]
fn samples_of_all_processes_add_up() {
    let dir = scratch();
    tool::write_tables(&fixture("multi"), dir.path());
    let (_, rows) = tool::table(&dir.path().join("processes.csv"));
    let stats = tool::json("stats", &fixture("multi"));
    assert_eq!(column(&rows, 5).iter().sum::<u64>(), tool::number(&stats["samples"]), "{rows:?}");
    // Three processes had samples: work, its child, and tree, which a second child executed.
    let tables = oracle::report::parse(&said("multi", "perf.report.txt").unwrap());
    assert!(tables.iter().any(|t| t.rows.iter().any(|r| r.comm == "tree")));
    assert_eq!(column(&rows, 5).iter().filter(|n| **n > 0).count(), 3, "{rows:?}");
    assert!(
        rows.iter().filter(|r| !r[3].is_empty() && r[3] != "0").count() >= 2,
        "two processes were forked: {rows:?}"
    );
}

/// A comma, a quote and a line break in names must not tear a row apart: the reader above is strict, so a copy of
/// the recording with such a name is enough. The name has the length of the old one.
#[test]
fn hostile_names_stay_in_their_cell() {
    let dir = scratch();
    let mut content = std::fs::read(fixture("main")).unwrap();
    let old = b"/tmp/readperf-fixtures/main/libwork.so".as_slice();
    let new = b"/tmp/a,b\"c\nd/=HYPERLINK(),\"xlibwork.so".as_slice();
    assert_eq!(old.len(), new.len());
    let mut changed = 0;
    while let Some(at) = content.windows(old.len()).position(|w| w == old) {
        content[at..at + old.len()].copy_from_slice(new);
        changed += 1;
    }
    assert!(changed > 0, "the fixture has the name");
    let file = dir.path().join("hostile.data");
    std::fs::write(&file, content).unwrap();
    let out = scratch();
    tool::write_tables(&file, out.path());
    let mut all = String::new();
    for (name, header) in COLUMNS {
        let (columns, rows) = tool::table(&out.path().join(name));
        assert_eq!(columns.join(","), header);
        assert!(!rows.is_empty());
        all.extend(rows.concat());
    }
    assert!(all.contains(",\"xlibwork.so"), "the name is still there in some cell");
}
