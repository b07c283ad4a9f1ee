//! Firefox Profiler: checked against the documentation of the processed format (docs-developer: CHANGELOG-formats and
//! the types of version 57), and read by it.

use crate::oracle::{fixture, tool};
use crate::run::{self, Stacks, assert_stacks, events, recordings, weights};
use crate::stacks::{names, number};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn profile(file: &Path, more: &[&str]) -> Value {
    run::json(&run::unzipped(&run::export("firefox", file, more)))
}

pub(crate) fn threads(profile: &Value) -> &Vec<Value> {
    profile["threads"].as_array().unwrap()
}

/// A weight in ns of a number of ms, exactly.
fn nanoseconds(weight: &Value) -> u64 {
    let text = weight.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    assert!(part.len() <= 6, "{text} ms is whole ns");
    format!("{whole}{part:0<6}").parse().unwrap()
}

fn stacks(profile: &Value) -> Stacks {
    let mut stacks = Stacks::new();
    for thread in threads(profile) {
        let samples = &thread["samples"];
        for row in 0..samples["length"].as_u64().unwrap() {
            let stack = number(samples, "stack", row).unwrap();
            let weight = &samples["weight"][row as usize];
            let weight = match samples["weightType"].as_str().unwrap() {
                "tracing-ms" => nanoseconds(weight),
                "samples" if samples["weight"].is_null() => 1,
                "samples" => weight.as_u64().unwrap(),
                other => panic!("weight type {other}"),
            };
            *stacks.entry(names(profile, thread, stack)).or_default() += weight;
        }
    }
    stacks
}

/// The columns of each table, as the types of version 57 have them.
const TABLES: [(&str, &[&str]); 7] = [
    ("samples", &["stack", "timeDeltas"]),
    ("markers", &["data", "name", "startTime", "endTime", "phase", "category"]),
    ("stackTable", &["frame", "prefix"]),
    (
        "frameTable",
        &[
            "address",
            "inlineDepth",
            "category",
            "subcategory",
            "func",
            "nativeSymbol",
            "innerWindowID",
            "line",
            "column",
        ],
    ),
    ("funcTable", &["name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"]),
    ("resourceTable", &["lib", "name", "host", "type"]),
    ("nativeSymbols", &["libIndex", "address", "name", "functionSize"]),
];

/// Which column points where: its table, or the texts, binaries or categories of the profile.
const REFERENCES: [(&str, &str, &str); 12] = [
    ("samples", "stack", "stackTable"),
    ("stackTable", "frame", "frameTable"),
    ("stackTable", "prefix", "stackTable"),
    ("frameTable", "func", "funcTable"),
    ("frameTable", "nativeSymbol", "nativeSymbols"),
    ("frameTable", "category", "categories"),
    ("funcTable", "name", "strings"),
    ("funcTable", "fileName", "strings"),
    ("resourceTable", "lib", "libs"),
    ("nativeSymbols", "libIndex", "libs"),
    ("nativeSymbols", "name", "strings"),
    ("markers", "name", "strings"),
];

fn length(profile: &Value, thread: &Value, table: &str) -> u64 {
    let of = |list: &Value| list.as_array().unwrap().len() as u64;
    match table {
        "strings" => of(&profile["shared"]["stringArray"]),
        "libs" => of(&profile["libs"]),
        "categories" => of(&profile["meta"]["categories"]),
        table => thread[table]["length"].as_u64().unwrap(),
    }
}

/// Asserts that a profile has the shape of its version.
pub(crate) fn assert_shape(profile: &Value) {
    let meta = &profile["meta"];
    assert_eq!(meta["preprocessedProfileVersion"], 57);
    for key in ["interval", "startTime", "processType", "version", "stackwalk"] {
        assert!(meta[key].is_number(), "meta.{key}");
    }
    let categories = meta["categories"].as_array().unwrap();
    assert!(categories.iter().any(|category| category["color"] == "grey"), "a default category");
    assert!(categories.iter().all(|category| category["subcategories"][0] == "Other"));
    let schemas: Vec<&str> = meta["markerSchema"]
        .as_array()
        .unwrap()
        .iter()
        .map(|schema| schema["name"].as_str().unwrap())
        .collect();
    for schema in meta["markerSchema"].as_array().unwrap() {
        for graph in schema["graphs"].as_array().into_iter().flatten() {
            let fields = schema["fields"].as_array().unwrap();
            assert!(fields.iter().any(|field| field["key"] == graph["key"]), "{graph} shows a field");
            assert!(["bar", "line", "line-filled"].contains(&graph["type"].as_str().unwrap()), "{graph}");
        }
    }
    for thread in threads(profile) {
        for (table, columns) in TABLES {
            let length = thread[table]["length"].as_u64().unwrap();
            for column in columns {
                assert_eq!(
                    thread[table][column].as_array().unwrap().len() as u64,
                    length,
                    "{table}.{column}"
                );
            }
        }
        for (table, column, to) in REFERENCES {
            let limit = length(profile, thread, to);
            for row in 0..thread[table]["length"].as_u64().unwrap() {
                let index = number(&thread[table], column, row);
                assert!(index.is_none_or(|index| index < limit), "{table}.{column}[{row}] is below {limit}");
            }
        }
        for data in thread["markers"]["data"].as_array().unwrap() {
            assert!(schemas.contains(&data["type"].as_str().unwrap()), "{data} has a schema");
        }
        assert!(thread["pid"].is_string() && thread["tid"].is_i64(), "since version 47");
    }
}

#[test]
fn weights_are_those_of_folded_stacks_and_totals_those_of_stats() {
    for file in recordings() {
        for (event, ..) in events(&file) {
            for weight in weights(&file) {
                let profile = profile(&file, &["--event", &event, "--weight", weight]);
                assert_shape(&profile);
                assert_stacks("firefox", &file, &event, &stacks(&profile), weight);
            }
        }
    }
}

/// Inlined functions lie above the function that they are in, at the same address.
#[test]
fn inlined_functions_have_their_depth() {
    let profile = profile(&fixture("main"), &[]);
    let mut inlined = 0;
    for thread in threads(&profile) {
        for stack in 0..thread["stackTable"]["length"].as_u64().unwrap() {
            let frame = number(&thread["stackTable"], "frame", stack).unwrap();
            let depth = number(&thread["frameTable"], "inlineDepth", frame).unwrap();
            if depth == 0 {
                continue;
            }
            inlined += 1;
            let caller = number(&thread["stackTable"], "prefix", stack).unwrap();
            let outer = number(&thread["stackTable"], "frame", caller).unwrap();
            let same = |column: &str| {
                assert_eq!(
                    thread["frameTable"][column][frame as usize],
                    thread["frameTable"][column][outer as usize],
                    "{column}"
                );
            };
            same("address");
            same("nativeSymbol");
            assert_eq!(number(&thread["frameTable"], "inlineDepth", outer), Some(depth - 1));
        }
    }
    assert!(inlined > 0, "the fixture has inlined functions");
}

/// Symbols are as large as the symbol table of the binary says.
#[test]
fn functions_have_their_sizes() {
    let binary = fixture("main").with_file_name("work");
    let Ok(output) = std::process::Command::new("nm").arg("-S").arg(&binary).output() else {
        eprintln!("**** no nm: sizes of functions are not compared ****");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(" T ").or_else(|| line.split_once(" t ")));
    let sizes: BTreeMap<&str, u64> = lines
        .filter_map(|(numbers, name)| Some((name, numbers.split_once(' ')?.1)))
        .map(|(name, size)| (name, u64::from_str_radix(size, 16).unwrap()))
        .collect();
    let profile = profile(&fixture("main"), &[]);
    let mut compared = 0;
    for thread in threads(&profile) {
        let symbols = &thread["nativeSymbols"];
        for row in 0..symbols["length"].as_u64().unwrap() {
            let name = number(symbols, "name", row).unwrap() as usize;
            let name = profile["shared"]["stringArray"][name].as_str().unwrap();
            if let Some(size) = sizes.get(name) {
                assert_eq!(number(symbols, "functionSize", row), Some(*size), "{name}");
                compared += 1;
            }
        }
    }
    assert!(compared > 3, "{compared} of {}", sizes.len());
}

/// Samples of the events that are not shown are markers and counters, and lose nothing of their periods.
#[test]
fn other_events_are_markers_and_counters() {
    let file = fixture("multi");
    let profile = profile(&file, &[]);
    assert_shape(&profile);
    for (event, samples, period) in events(&file).into_iter().skip(1) {
        let (mut count, mut sum) = (0, 0);
        for thread in threads(&profile) {
            let markers = &thread["markers"];
            for row in 0..markers["length"].as_u64().unwrap() {
                let name = number(markers, "name", row).unwrap();
                if profile["shared"]["stringArray"][name as usize] == event.as_str() {
                    let data = &markers["data"][row as usize];
                    count += 1;
                    sum += data["period"].as_u64().unwrap();
                    let stack = data["cause"]["stack"].as_u64().unwrap();
                    assert!(!names(&profile, thread, stack).is_empty());
                }
            }
        }
        assert_eq!((count, sum), (samples, period), "{event}");
        assert_eq!(counted(&profile, &event), period, "{event}");
    }
    let profile = self::profile(&file, &["--weight", "samples"]);
    for (event, samples, _) in events(&file).into_iter().skip(1) {
        assert_eq!(counted(&profile, &event), samples, "{event} by samples");
    }
}

/// What the counters of an event add up to.
fn counted(profile: &Value, event: &str) -> u64 {
    let counters = profile["counters"].as_array().unwrap().iter().filter(|counter| counter["name"] == event);
    let counts = counters.flat_map(|counter| counter["samples"]["count"].as_array().unwrap());
    counts.map(|count| count.as_u64().unwrap()).sum()
}

/// The samples of all threads lie between the first and the last that `stats` has.
#[test]
fn times_are_those_of_stats() {
    let file = fixture("multi");
    let profile = profile(&file, &[]);
    let stats = tool::json("stats", &file);
    let span = tool::number(&stats["last_time_ns"]) - tool::number(&stats["first_time_ns"]);
    let mut latest = 0;
    for thread in threads(&profile) {
        let deltas = thread["samples"]["timeDeltas"].as_array().unwrap();
        latest = latest.max(deltas.iter().map(nanoseconds).sum());
        assert!(deltas.iter().all(|delta| delta.as_f64().unwrap() >= 0.0));
    }
    let markers =
        threads(&profile).iter().flat_map(|thread| thread["markers"]["startTime"].as_array().unwrap());
    let latest = markers.filter(|time| !time.is_null()).map(nanoseconds).fold(latest, u64::max);
    assert_eq!(latest, span);
}
