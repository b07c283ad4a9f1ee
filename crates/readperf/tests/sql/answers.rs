//! Answers are those of other commands.

use crate::oracle::{SAMPLED, corpus_root, fixture, kind, skip, tool};
use crate::{rows, text, wrong};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

/// Samples, own and whole period by event, binary and function.
type Functions = BTreeMap<(String, String, String), [u64; 3]>;

fn of_report(file: &Path) -> Functions {
    // With branch stacks, `report` has a row for each branch.
    let words =
        ["report", "--json", "--children", "--no-branch-stack", "--sort", "dso,symbol", "--no-progress"];
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).chain([file.as_os_str()]).collect();
    let output = tool::run(&words);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut functions = Functions::new();
    for event in report["events"].as_array().unwrap() {
        for row in event["rows"].as_array().unwrap() {
            let name = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let key = (event["name"].as_str().unwrap().to_owned(), name("dso"), name("symbol"));
            let sums = functions.entry(key).or_default();
            for (sum, key) in sums.iter_mut().zip(["samples", "self_period", "total_period"]) {
                *sum += tool::number(&row[key]);
            }
        }
    }
    functions
}

fn of_view(file: &Path) -> Functions {
    let query = "SELECT event, coalesce(dso, '[unknown]') AS dso_name, \
                 coalesce(function, '0x' || lpad(substr(hex(address), 3), 16, '0')) || CASE WHEN inlined THEN ' (inlined)' ELSE '' END AS symbol, \
                 sum(self_samples) AS samples, sum(self_period) AS self_period, sum(total_period) AS total_period \
                 FROM functions GROUP BY 1, 2, 3";
    let mut functions = Functions::new();
    for row in rows(query, &[file]) {
        let name = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let sums = ["samples", "self_period", "total_period"].map(|key| tool::number(&row[key]));
        functions.insert((name("event"), name("dso_name"), name("symbol")), sums);
    }
    functions
}

#[test]
fn functions_are_those_of_report() {
    for name in SAMPLED.into_iter().chain(["zstd", "cut", "killed"]) {
        let file = fixture(name);
        assert_eq!(of_view(&file), of_report(&file), "{name}");
    }
}

#[test]
#[ignore = "live: READPERF_CORPUS"]
fn functions_are_those_of_report_in_the_corpus() {
    let root = corpus_root();
    if !root.exists() {
        return skip("functions_are_those_of_report_in_the_corpus", "there is no corpus");
    }
    let (mut compared, mut folders) = (0, vec![root]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            if file.is_dir() {
                folders.push(file);
                continue;
            }
            // What is no recording has no report.
            let stats = tool::run(&[OsStr::new("stats"), file.as_os_str()]);
            if !matches!(stats.status.code(), Some(0 | 3)) {
                continue;
            }
            let functions = of_report(&file);
            if !functions.is_empty() {
                let view = of_view(&file);
                assert!(view.keys().eq(functions.keys()), "{}", file.display());
                for (key, [samples, own, total]) in &functions {
                    let [found_samples, found_own, found] = &view[key];
                    assert_eq!((found_samples, found_own), (samples, own), "{}: {key:?}", file.display());
                    // `report` has a row for each of several functions of one name, and a stack with two of them is in both rows.
                    assert!(found <= total, "{}: {key:?}", file.display());
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 0, "no recording with samples");
}

#[test]
fn totals_are_those_of_stats() {
    for name in SAMPLED {
        let file = fixture(name);
        let stats = tool::json("stats", &file);
        let told = stats["events"].as_array().unwrap().iter();
        let told: BTreeMap<String, [u64; 2]> = told
            .map(|event| {
                let numbers = ["samples", "period"].map(|key| tool::number(&event[key]));
                (event["name"].as_str().unwrap().to_owned(), numbers)
            })
            .filter(|(_, [samples, _])| *samples > 0)
            .collect();
        for table in ["samples", "thread_totals", "timeline", "lines"] {
            let sums = match table {
                "samples" => "count(*) AS samples, sum(period) AS period",
                _ => "sum(samples) AS samples, sum(period) AS period",
            };
            let found = rows(&format!("SELECT event, {sums} FROM {table} GROUP BY event"), &[&file]);
            let found = found.iter().map(|row| {
                let numbers = ["samples", "period"].map(|key| tool::number(&row[key]));
                (row["event"].as_str().unwrap().to_owned(), numbers)
            });
            assert_eq!(found.collect::<BTreeMap<_, _>>(), told, "{name}: {table}");
        }
    }
}

#[test]
fn what_the_reader_leaves_out_the_query_would_leave_out() {
    let file = fixture("multi");
    let one = |query: &str| rows(query, &[&file]);
    let threads = one("SELECT DISTINCT tid, pid FROM samples");
    assert!(threads.len() > 1);
    for thread in &threads {
        let (tid, pid) = (&thread["tid"], &thread["pid"]);
        // An expression is nothing that the reader knows.
        for (told, hidden) in [
            (format!("tid = {tid}"), format!("tid + 0 = {tid}")),
            (
                format!("pid = {pid} AND event = 'cpu-clock'"),
                format!("pid + 0 = {pid} AND event || '' = 'cpu-clock'"),
            ),
        ] {
            let query = |condition: &str| {
                format!(
                    "SELECT event, count(*) AS n, sum(period) AS p, min(time_ns) AS t FROM samples WHERE {condition} GROUP BY event"
                )
            };
            assert_eq!(one(&query(&told)), one(&query(&hidden)), "{told}");
        }
    }
    let middle = "SELECT count(*) AS n FROM samples WHERE time_ns >= (SELECT avg(time_ns) FROM samples)";
    let time = one("SELECT CAST(avg(time_ns) AS BIGINT) AS t FROM samples")[0]["t"].clone();
    assert_eq!(one(&format!("SELECT count(*) AS n FROM samples WHERE time_ns >= {time}")), one(middle));
    let plan = text(
        &format!("EXPLAIN SELECT count(*) FROM samples WHERE time_ns >= {time} AND tid = 5"),
        &[&file],
        &[],
    );
    assert!(plan.contains("tids: [5]") && plan.contains("times_ns: ["), "{plan}");
    assert!(plan.contains("columns=[time_ns, tid]"), "{plan}");
    // The same number for a sample, whatever else is asked.
    let query = "SELECT a.sample_no FROM samples a JOIN (SELECT sample_no FROM samples WHERE event = 'cpu-clock') b USING (sample_no) \
                 WHERE a.event <> 'cpu-clock'";
    assert_eq!(one(query), Vec::<Value>::new());
}

#[test]
fn stacks_are_looked_up() {
    let file = fixture("dwarf");
    let bin = kind("bin");
    let symbols = ["--symfs", "/nowhere", "--symbols", bin.to_str().unwrap(), "--format", "json"];
    let rows = |query: &str, places: &[&Path]| -> Vec<Value> {
        serde_json::from_str(&text(query, places, &symbols)).unwrap()
    };
    let folded =
        rows("SELECT folded(stack_id) AS stack, sum(period) AS period FROM samples GROUP BY 1", &[&file]);
    let export =
        [&["export", "--no-progress", "--format", "folded"], &symbols[..4], &[file.to_str().unwrap()]]
            .concat();
    let export = tool::answer(&export);
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for line in export.lines() {
        let (stack, period) = line.rsplit_once(' ').unwrap();
        // The export begins with the name of the process.
        let (_, stack) = stack.split_once(';').unwrap();
        *expected.entry(stack.to_owned()).or_default() += period.parse::<u64>().unwrap();
    }
    let found =
        folded.iter().map(|row| (row["stack"].as_str().unwrap().to_owned(), tool::number(&row["period"])));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);

    let pattern = "^main$";
    let with = expected.iter().filter(|(stack, _)| stack.split(';').any(|name| name == "main"));
    let with: u64 = with.map(|(_, period)| period).sum();
    assert!(with > 0);
    let query = format!("SELECT sum(period) AS period FROM samples WHERE contains(stack_id, '{pattern}')");
    assert_eq!(tool::number(&rows(&query, &[&file])[0]["period"]), with);
    let query = format!(
        "SELECT sum(CASE WHEN contains(stack_id, '{pattern}') THEN period ELSE 0 END) AS period FROM samples"
    );
    assert_eq!(tool::number(&rows(&query, &[&file])[0]["period"]), with);
    let both = rows(
        "SELECT contains('abc', 'b') AS yes, hex(255) AS ff, hex(-1) AS all_bits, demangle('_ZN1a1bEv') AS name",
        &[&file],
    );
    assert_eq!(
        both[0].to_string(),
        r#"{"yes":true,"ff":"0xff","all_bits":"0xffffffffffffffff","name":"a::b()"}"#
    );
    assert!(wrong("SELECT contains(stack_id, '(') FROM samples", &[&file]).contains("unclosed group"));
}

/// Columns of two tables under one another, though each means something else.
#[test]
fn columns_of_several_tables_are_put_together() {
    let file = fixture("main");
    let query = "SELECT kind, count(DISTINCT id) AS ids FROM (\
                 SELECT 'stack' AS kind, stack_id AS id FROM samples \
                 UNION ALL SELECT 'function', function_id FROM symbols) GROUP BY kind ORDER BY kind";
    let found = rows(query, &[&file]);
    let count =
        |table: &str| rows(&format!("SELECT count(*) AS rows FROM {table}"), &[&file])[0]["rows"].clone();
    assert_eq!(found[0]["ids"], count("symbols"));
    assert_eq!(found[1]["ids"], count("stacks"));
}
