//! readperf against perf: counts by record type, periods by command, object and symbol, on the fixtures (perf's
//! statement lies beside them) and on recordings made in the test.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::live::{self, Perf};
use oracle::report::{self, Table};
use oracle::tool::Row;
use oracle::{fixture, kind, names, said, scratch, stats, tool};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::Path;

/// Fixtures about whose samples perf makes a plain statement: one value a sample.
const PLAIN: [&str; 10] =
    ["main", "multi", "kernel", "everything", "dwarf", "pipe", "zstd", "threads", "tracepoints", "rust"];

/// Period and samples of each key, and the keys that differ, in words.
fn differences<K: Ord + Clone + Debug>(
    perf: &BTreeMap<K, (u64, u64)>,
    mine: &BTreeMap<K, (u64, u64)>,
) -> Vec<String> {
    let keys: std::collections::BTreeSet<&K> = perf.keys().chain(mine.keys()).collect();
    keys.into_iter()
        .filter(|k| perf.get(k) != mine.get(k))
        .map(|k| format!("{k:?}: (period, samples) perf {:?}, readperf {:?}", perf.get(k), mine.get(k)))
        .collect()
}

fn sums<K: Ord>(rows: &[Row], event: &str, key: impl Fn(&Row) -> K) -> BTreeMap<K, (u64, u64)> {
    let mut sums = BTreeMap::new();
    for row in rows.iter().filter(|r| names::same_event(&r.event, event)) {
        let sum: &mut (u64, u64) = sums.entry(key(row)).or_default();
        sum.0 += row.period;
        sum.1 += row.samples;
    }
    sums
}

/// Total period per event from `stats --json`.
fn check_totals(what: &str, tables: &[Table], file: &Path) {
    let value = tool::json("stats", file);
    let events = value["events"].as_array().unwrap();
    for table in tables {
        let mine = events.iter().find(|e| names::same_event(e["name"].as_str().unwrap(), &table.event));
        let mine = mine.unwrap_or_else(|| panic!("{what}: no event {} in {events:?}", table.event));
        assert_eq!(tool::number(&mine["period"]), table.period, "{what}: total period of {}", table.event);
        assert_eq!(tool::number(&mine["samples"]), table.samples(), "{what}: samples of {}", table.event);
    }
}

fn check_comm_and_dso(what: &str, tables: &[Table], rows: &[Row]) {
    for table in tables {
        let perf = table.by(|r| (r.comm.clone(), names::dso(&r.dso)));
        let mine = sums(rows, &table.event, |r| (r.comm.clone(), r.dso.clone()));
        let wrong = differences(&perf, &mine);
        assert!(wrong.is_empty(), "{what}, {}, by comm and dso:\n{}", table.event, wrong.join("\n"));
    }
}

/// `only` limits the comparison to some objects, where the others cannot be known here.
fn check_symbols(what: &str, tables: &[Table], rows: &[Row], with_comm: bool, only: impl Fn(&str) -> bool) {
    for table in tables {
        let comm = |name: &str| if with_comm { name.to_owned() } else { String::new() };
        let mut perf = table.by(|r| (comm(&r.comm), names::dso(&r.dso), names::symbol(&r.symbol)));
        let mut mine = sums(rows, &table.event, |r| (comm(&r.comm), r.dso.clone(), names::symbol(&r.symbol)));
        perf.retain(|k, _| only(&k.1));
        mine.retain(|k, _| only(&k.1));
        let wrong = differences(&perf, &mine);
        assert!(wrong.is_empty(), "{what}, {}, by comm, dso and symbol:\n{}", table.event, wrong.join("\n"));
    }
}

fn tables_of(name: &str) -> Vec<Table> {
    let mut tables = report::parse(&said(name, "perf.report.txt").expect("perf's report"));
    tables.retain(|t| !t.rows.is_empty());
    assert!(!tables.is_empty(), "{name}: perf's report has no table");
    tables
}

#[test]
fn fixture_counts_are_those_of_perf() {
    for name in PLAIN {
        let perf = stats::parse(&said(name, "perf.stats.txt").expect("perf's statistics"));
        assert!(perf.records.contains_key("SAMPLE"), "{name}: perf's statistics have no samples");
        stats::check(name, &perf, &tool::json("stats", &fixture(name)));
    }
}

/// Groups are delivered by perf as one sample per counter and counters of `perf stat` are no samples: records only.
#[test]
fn fixture_records_of_groups_and_counters_are_those_of_perf() {
    for name in ["group", "stat"] {
        let perf = stats::parse(&said(name, "perf.stats.txt").expect("perf's statistics"));
        let mine = tool::stats(&tool::json("stats", &fixture(name)));
        assert_eq!(perf.records, mine.records, "{name}");
    }
}

/// `walk.json` counts the headers of the records and nothing else, also where perf gives up.
#[test]
fn fixture_counts_and_bytes_are_those_of_a_plain_walk() {
    let mut seen = 0;
    for name in PLAIN
        .into_iter()
        .chain(["group", "stat", "killed", "cut"])
        .filter(|n| !["zstd", "threads"].contains(n))
    {
        let walk: serde_json::Value =
            serde_json::from_str(&said(name, "walk.json").expect("walk.json")).unwrap();
        let output = tool::run(&["stats".as_ref(), "--json".as_ref(), fixture(name).as_os_str()]);
        let damaged = ["killed", "cut"].contains(&name);
        assert_eq!(
            output.status.code(),
            Some(if damaged { 3 } else { 0 }),
            "{name}: {}",
            tool::stderr(&output)
        );
        let mine: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        for (key, field) in [("records", "count"), ("bytes", "bytes")] {
            let expected: BTreeMap<u64, u64> = walk[key]
                .as_object()
                .unwrap()
                .iter()
                .map(|(k, v)| (k.parse().unwrap(), tool::number(v)))
                .collect();
            let got: BTreeMap<u64, u64> = mine["records"]
                .as_array()
                .unwrap()
                .iter()
                .map(|r| (tool::number(&r["number"]), tool::number(&r[field])))
                .collect();
            assert_eq!(expected, got, "{name}: {key} by type number");
        }
        let issues = mine["issues"].as_array().unwrap();
        assert_eq!(issues.is_empty(), !damaged, "{name}: issues {issues:?}");
        seen += 1;
    }
    assert_eq!(seen, 12);
}

#[test]
fn fixture_periods_by_comm_and_dso_are_those_of_perf() {
    for name in PLAIN {
        let tables = tables_of(name);
        check_totals(name, &tables, &fixture(name));
        check_comm_and_dso(name, &tables, &tool::report(&fixture(name)));
    }
}

/// `main` has its program and library beside the recording, so their names must be found on any machine.
#[test]
fn main_fixture_symbols_are_those_of_perf() {
    let ours = |dso: &str| ["work", "libwork.so"].contains(&dso);
    let tables = tables_of("main");
    check_symbols("report --json", &tables, &tool::report(&fixture("main")), true, ours);
    let dir = scratch();
    tool::write_tables(&fixture("main"), dir.path());
    check_symbols("results.csv", &tables, &tool::results(dir.path()), false, ours);
    assert!(
        tables[0].rows.iter().filter(|r| ours(&r.dso)).count() >= 4,
        "the fixture has too few functions to prove anything"
    );
}

/// The overview names the hottest function with its share, rounded as the reader likes.
#[test]
fn overview_names_the_hottest_function_with_its_share() {
    let table = tables_of("main").remove(0);
    let hottest = table.rows.iter().max_by_key(|r| r.period).unwrap();
    let share = 100 * hottest.period / table.period;
    let text = tool::answer(&[fixture("main").as_os_str(), "--no-csv".as_ref()]);
    let line = text
        .lines()
        .find(|l| l.contains(&hottest.symbol))
        .unwrap_or_else(|| panic!("no {} in:\n{text}", hottest.symbol));
    let near = |word: &str| {
        word.trim_end_matches('%').parse::<f64>().is_ok_and(|v| (v.floor() - share as f64).abs() <= 1.0)
    };
    assert!(line.split_whitespace().any(near), "no share of about {share} % in: {line}");
    assert!(!kind("main").join("results.csv").exists(), "--no-csv writes nothing");
}

/// The share printed in results.csv belongs to the period beside it.
#[test]
fn percent_is_the_share_of_the_period_of_the_event() {
    let dir = scratch();
    tool::write_tables(&fixture("multi"), dir.path());
    let (_, rows) = tool::table(&dir.path().join("results.csv"));
    let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
    for row in &rows {
        *totals.entry(&row[0]).or_default() += row[1].parse::<f64>().unwrap();
    }
    assert_eq!(totals.len(), 3, "three events in {:?}", totals.keys());
    for row in &rows {
        let percent: f64 = row[3].trim_end_matches('%').parse().unwrap();
        let expected = 100.0 * row[1].parse::<f64>().unwrap() / totals[row[0].as_str()];
        assert!((percent - expected).abs() <= 0.01, "{row:?}: expected {expected}");
    }
}

/// Everything there is to compare on a fresh recording, names included: the files are those that perf sees.
fn check_live(test: &str, options: &[&str], events: usize) {
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    if live::program(test, dir.path(), "burn").is_none() {
        return;
    }
    let Some(data) = perf.record(test, dir.path(), options) else { return };
    let tables = perf.tables(&data);
    assert_eq!(
        tables.len(),
        events,
        "{test}: perf reports {:?}",
        tables.iter().map(|t| &t.event).collect::<Vec<_>>()
    );
    stats::check(test, &perf.stats(&data), &tool::json("stats", &data));
    check_totals(test, &tables, &data);
    let rows = tool::report(&data);
    check_comm_and_dso(test, &tables, &rows);
    check_symbols(test, &tables, &rows, true, |_| true);
    let out = scratch();
    tool::write_tables(&data, out.path());
    check_symbols(test, &tables, &tool::results(out.path()), false, |_| true);
}

#[test]
#[ignore = "live: compares with perf"]
fn live_one_event_of_user_code() {
    check_live("live_one_event_of_user_code", &["-e", "cpu-clock:u", "-F", "1999", "./burn"], 1);
}

#[test]
#[ignore = "live: compares with perf"]
fn live_one_event_with_kernel() {
    check_live("live_one_event_with_kernel", &["-e", "cpu-clock", "-F", "1999", "./burn"], 1);
}

#[test]
#[ignore = "live: compares with perf"]
fn live_three_events_with_call_chains() {
    let options = ["-g", "-F", "999", "-e", "cpu-clock,page-faults,context-switches", "./burn"];
    check_live("live_three_events_with_call_chains", &options, 3);
}

/// Of a whole system only what does not depend on other programs' files and namespaces: counts, totals, objects, and the
/// names of the kernel and of a program that no other test runs (theirs may be gone by the time they are looked up).
#[test]
#[ignore = "live: compares with perf"]
fn live_system_wide() {
    let test = "live_system_wide";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    if live::program(test, dir.path(), "burn-wide").is_none() {
        return;
    }
    let Some(data) = perf.record(test, dir.path(), &["-a", "-e", "cpu-clock", "-F", "999", "./burn-wide"])
    else {
        return;
    };
    let tables = perf.tables(&data);
    stats::check(test, &perf.stats(&data), &tool::json("stats", &data));
    check_totals(test, &tables, &data);
    let rows = tool::report(&data);
    check_comm_and_dso(test, &tables, &rows);
    check_symbols(test, &tables, &rows, true, |dso| dso == "burn-wide" || dso == "[kernel.kallsyms]");
}
