//! What the Firefox Profiler takes for granted of a profile of version 57, and stumbles over or shows wrongly otherwise: from the
//! types of the processed format, its upgraders, and the code that makes markers, tracks and graphs of it. Most of this is not
//! checked there.

use crate::firefox::threads;
use crate::stacks::number;
use serde_json::Value;
use std::collections::BTreeSet;

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
const REFERENCES: [(&str, &str, &str); 14] = [
    ("samples", "stack", "stackTable"),
    ("stackTable", "frame", "frameTable"),
    ("stackTable", "prefix", "stackTable"),
    ("frameTable", "func", "funcTable"),
    ("frameTable", "nativeSymbol", "nativeSymbols"),
    ("frameTable", "category", "categories"),
    ("funcTable", "name", "strings"),
    ("funcTable", "fileName", "strings"),
    ("resourceTable", "lib", "libs"),
    ("resourceTable", "name", "strings"),
    ("nativeSymbols", "libIndex", "libs"),
    ("nativeSymbols", "name", "strings"),
    ("markers", "name", "strings"),
    ("markers", "category", "categories"),
];

/// Columns in which nothing may be missing.
const NEVER_NULL: [(&str, &str); 9] = [
    ("stackTable", "frame"),
    ("frameTable", "func"),
    ("frameTable", "inlineDepth"),
    ("funcTable", "name"),
    ("resourceTable", "name"),
    ("nativeSymbols", "libIndex"),
    ("nativeSymbols", "name"),
    ("markers", "name"),
    ("markers", "category"),
];

/// The colours of categories that its style sheets know.
const COLORS: [&str; 13] = [
    "transparent",
    "purple",
    "green",
    "orange",
    "yellow",
    "lightblue",
    "blue",
    "brown",
    "magenta",
    "red",
    "lightred",
    "darkgrey",
    "grey",
];

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value} is a list"))
}

fn length(profile: &Value, thread: &Value, table: &str) -> u64 {
    let of = |value: &Value| list(value).len() as u64;
    match table {
        "strings" => of(&profile["shared"]["stringArray"]),
        "libs" => of(&profile["libs"]),
        "categories" => of(&profile["meta"]["categories"]),
        table => thread[table]["length"].as_u64().unwrap(),
    }
}

/// Asserts that a profile keeps all rules.
pub(crate) fn assert_shape(profile: &Value) {
    assert_meta(profile);
    assert_shared(profile);
    let mut tids = BTreeSet::new();
    for thread in threads(profile) {
        assert_identity(thread);
        assert!(
            tids.insert((thread["pid"].to_string(), thread["tid"].to_string())),
            "told apart: {}",
            thread["tid"]
        );
        assert_tables(profile, thread);
        assert_stacks(thread);
        assert_samples(thread);
        assert_markers(profile, thread);
    }
    list(&profile["counters"]).iter().for_each(|counter| assert_counter(profile, counter));
}

fn assert_meta(profile: &Value) {
    let meta = &profile["meta"];
    // Older ones are brought up to date, newer ones than its own are refused.
    assert_eq!(meta["preprocessedProfileVersion"], 57);
    for key in ["interval", "startTime", "processType", "version", "stackwalk"] {
        assert!(meta[key].is_number(), "meta.{key}");
    }
    assert!(meta["interval"].as_f64().unwrap() > 0.0, "graphs divide by it");
    assert!(meta["product"].is_string());
    assert_eq!(
        meta["sampleUnits"],
        serde_json::json!({ "time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns" })
    );
    let categories = list(&meta["categories"]);
    assert!(categories.iter().any(|category| category["color"] == "grey"), "a default category");
    for category in categories {
        assert!(COLORS.contains(&category["color"].as_str().unwrap()), "{category}");
        assert_eq!(category["subcategories"][0], "Other", "stands for the category itself");
    }
    let count = threads(profile).len() as u64;
    for selected in list(&meta["initialSelectedThreads"]) {
        assert!(selected.as_u64().unwrap() < count, "{selected} of {count}");
    }
    list(&meta["markerSchema"]).iter().for_each(assert_schema);
    for entry in list(&meta["extra"]).iter().flat_map(|section| list(&section["entries"])) {
        assert!(
            entry["label"].is_string() && entry["format"] == "string" && entry["value"].is_string(),
            "{entry}"
        );
    }
}

/// Labels name fields, and fields have a form that it knows.
fn assert_schema(schema: &Value) {
    let keys: Vec<&str> =
        list(&schema["fields"]).iter().map(|field| field["key"].as_str().unwrap()).collect();
    for field in list(&schema["fields"]) {
        assert!(
            ["string", "unique-string", "integer"].contains(&field["format"].as_str().unwrap()),
            "{field}"
        );
    }
    for place in list(&schema["display"]) {
        assert!(["marker-chart", "marker-table"].contains(&place.as_str().unwrap()), "{place}");
    }
    for label in ["tooltipLabel", "tableLabel", "chartLabel"] {
        for part in schema[label].as_str().unwrap().split('{').skip(1) {
            let named = part.split('}').next().unwrap();
            let known = named.strip_prefix("marker.data.").is_some_and(|key| keys.contains(&key));
            assert!(known || named == "marker.name", "{label}: {named}");
        }
    }
}

fn assert_shared(profile: &Value) {
    let strings = list(&profile["shared"]["stringArray"]);
    let different: BTreeSet<&str> = strings.iter().map(|string| string.as_str().unwrap()).collect();
    assert_eq!(different.len(), strings.len(), "each once: it looks numbers up by text, too");
    for lib in list(&profile["libs"]) {
        for key in ["arch", "name", "path", "debugName", "debugPath", "breakpadId"] {
            assert!(lib[key].is_string(), "{key} of {lib}");
        }
        assert!(lib["codeId"].is_string() || lib["codeId"].is_null());
    }
}

fn assert_identity(thread: &Value) {
    assert!(
        thread["pid"].is_string() && (thread["tid"].is_i64() || thread["tid"].is_string()),
        "since version 47"
    );
    assert!(thread["isMainThread"].is_boolean() && thread["name"].is_string());
    for (from, to) in [("processStartupTime", "processShutdownTime"), ("registerTime", "unregisterTime")] {
        let start = thread[from].as_f64().unwrap();
        assert!(thread[to].is_null() || thread[to].as_f64().unwrap() >= start, "{from} of {}", thread["tid"]);
    }
    assert_eq!(thread["pausedRanges"], serde_json::json!([]));
}

fn assert_tables(profile: &Value, thread: &Value) {
    for (table, columns) in TABLES {
        let length = thread[table]["length"].as_u64().unwrap();
        for column in columns {
            assert_eq!(list(&thread[table][column]).len() as u64, length, "{table}.{column}");
        }
    }
    for (table, column, to) in REFERENCES {
        let limit = length(profile, thread, to);
        for row in 0..thread[table]["length"].as_u64().unwrap() {
            let index = number(&thread[table], column, row);
            assert!(index.is_none_or(|index| index < limit), "{table}.{column}[{row}] is below {limit}");
            assert!(index.is_some() || !NEVER_NULL.contains(&(table, column)), "{table}.{column}[{row}]");
        }
    }
    let resources = length(profile, thread, "resourceTable");
    for resource in list(&thread["funcTable"]["resource"]) {
        assert!(resource == -1 || resource.as_u64().unwrap() < resources, "{resource} of {resources}");
    }
    for (lib, kind) in
        list(&thread["resourceTable"]["lib"]).iter().zip(list(&thread["resourceTable"]["type"]))
    {
        assert!(kind == 1 && lib.is_u64(), "a library is one");
    }
}

/// Callers come first, inlined functions lie on the one they are in, and places are numbers.
fn assert_stacks(thread: &Value) {
    let (stacks, frames) = (&thread["stackTable"], &thread["frameTable"]);
    for stack in 0..stacks["length"].as_u64().unwrap() {
        let caller = number(stacks, "prefix", stack);
        assert!(caller.is_none_or(|caller| caller < stack), "callers come first");
        let frame = number(stacks, "frame", stack).unwrap();
        let depth = number(frames, "inlineDepth", frame).unwrap();
        if depth > 0 {
            let outer = number(stacks, "frame", caller.unwrap()).unwrap();
            assert_eq!(number(frames, "inlineDepth", outer), Some(depth - 1));
            assert_eq!(frames["address"][frame as usize], frames["address"][outer as usize]);
        }
    }
    for (address, line) in list(&frames["address"]).iter().zip(list(&frames["line"])) {
        assert!(address == -1 || address.is_u64(), "{address}");
        assert!(line.is_null() || line.as_u64().unwrap() > 0, "lines count from 1");
    }
    // 0 is always there: it is the category itself.
    assert!(list(&frames["subcategory"]).iter().all(|subcategory| subcategory == 0));
}

fn assert_samples(thread: &Value) {
    let samples = &thread["samples"];
    let length = samples["length"].as_u64().unwrap() as usize;
    assert!(["samples", "tracing-ms"].contains(&samples["weightType"].as_str().unwrap()));
    if !samples["weight"].is_null() {
        let weights = list(&samples["weight"]);
        assert!(weights.len() == length && weights.iter().all(|weight| weight.as_f64().unwrap() >= 0.0));
    }
    if let Some(deltas) = samples.get("threadCPUDelta") {
        let known = |delta: &Value| delta.is_null() || delta.is_u64();
        assert!(list(deltas).len() == length && list(deltas).iter().all(known));
    }
    assert!(
        list(&samples["timeDeltas"]).iter().all(|delta| delta.as_f64().unwrap() >= 0.0),
        "in order of time"
    );
}

/// Times that its kind of marker has, in order; data that its schema describes.
fn assert_markers(profile: &Value, thread: &Value) {
    let markers = &thread["markers"];
    let mut before = 0.0;
    for row in 0..markers["length"].as_u64().unwrap() as usize {
        let (start, end) = (markers["startTime"][row].as_f64(), markers["endTime"][row].as_f64());
        let fits = match markers["phase"][row].as_u64().unwrap() {
            0 | 2 => start.is_some() && end.is_none(),
            1 => start.zip(end).is_some_and(|(start, end)| start <= end),
            3 => start.is_none() && end.is_some(),
            _ => false,
        };
        assert!(fits, "phase {} from {start:?} to {end:?}", markers["phase"][row]);
        assert!(start.is_none_or(|start| start >= before), "in order of their start");
        before = start.unwrap_or(before);
        let data = &markers["data"][row];
        let schema =
            list(&profile["meta"]["markerSchema"]).iter().find(|schema| schema["name"] == data["type"]);
        let schema = schema.unwrap_or_else(|| panic!("{data} has a schema"));
        for field in list(&schema["fields"]) {
            let value = &data[field["key"].as_str().unwrap()];
            let fits = match field["format"].as_str().unwrap() {
                "string" => value.is_string(),
                "integer" => value.is_u64(),
                _ => value.is_null() || value.as_u64().unwrap() < length(profile, thread, "strings"),
            };
            assert!(fits, "{field} of {data}");
        }
        if let Some(cause) = data.get("cause") {
            assert!(cause["stack"].as_u64().unwrap() < length(profile, thread, "stackTable"), "{cause}");
        }
    }
}

/// A counter belongs to a process that has a thread, and goes on in time.
fn assert_counter(profile: &Value, counter: &Value) {
    let main = counter["mainThreadIndex"].as_u64().unwrap() as usize;
    assert_eq!(threads(profile)[main]["pid"], counter["pid"], "the process whose track it is in");
    for key in ["name", "category", "description"] {
        assert!(counter[key].is_string(), "{key}");
    }
    let samples = &counter["samples"];
    let length = samples["length"].as_u64().unwrap() as usize;
    assert_eq!((list(&samples["count"]).len(), list(&samples["timeDeltas"]).len()), (length, length));
    assert!(list(&samples["count"]).iter().all(Value::is_number));
    let deltas = list(&samples["timeDeltas"]).iter().enumerate();
    for (row, delta) in deltas {
        let delta = delta.as_f64().unwrap();
        assert!(
            delta > 0.0 || (row == 0 && delta == 0.0),
            "rates are by the time since the point before: {delta}"
        );
    }
}
