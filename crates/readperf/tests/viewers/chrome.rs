//! Chrome's trace events: read by the names of the Trace Event Format.

use crate::run::{self, Stacks, assert_stacks, events, recordings, spelled, weights};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn trace(file: &Path, more: &[&str]) -> Value {
    run::json(&run::export("chrome", file, more))
}

pub(crate) fn trace_events(trace: &Value) -> &Vec<Value> {
    trace["traceEvents"].as_array().unwrap()
}

fn stacks(trace: &Value, event: &str) -> Stacks {
    let mut stacks = Stacks::new();
    let samples = trace_events(trace).iter().filter(|sample| sample["ph"] == "P" && sample["name"] == event);
    for sample in samples {
        let mut names = Vec::new();
        let mut here = Some(&sample["sf"]);
        while let Some(id) = here.and_then(Value::as_str) {
            let frame = &trace["stackFrames"][id];
            names.push(spelled(frame["name"].as_str().unwrap()));
            here = frame.get("parent");
        }
        names.reverse();
        *stacks.entry(names.join(";")).or_default() += sample["args"]["weight"].as_u64().unwrap();
    }
    stacks
}

#[test]
fn weights_are_those_of_folded_stacks_and_totals_those_of_stats() {
    for file in recordings() {
        for weight in weights(&file) {
            let trace = trace(&file, &["--weight", weight]);
            for (event, ..) in events(&file) {
                assert_stacks("chrome", &file, &event, &stacks(&trace, &event), weight);
            }
        }
    }
}

/// On each thread slices end in the reverse order of their beginnings, times never go back, and all end.
#[test]
fn slices_nest() {
    let mut slices = 0;
    for file in recordings() {
        let trace = trace(&file, &[]);
        let mut open: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
        let mut before: BTreeMap<u64, f64> = BTreeMap::new();
        for event in trace_events(&trace) {
            let (tid, time) = (event["tid"].as_u64().unwrap(), event["ts"].as_f64().unwrap());
            match event["ph"].as_str().unwrap() {
                "B" => open.entry(tid).or_default().push(&event["name"]),
                "E" => assert_eq!(open.entry(tid).or_default().pop(), Some(&event["name"])),
                _ => continue,
            }
            slices += 1;
            let before = before.entry(tid).or_default();
            assert!(time >= *before, "{}: {time} after {before}", file.display());
            *before = time;
        }
        assert!(open.values().all(Vec::is_empty), "{}: all slices end", file.display());
    }
    assert!(slices > 1000);
}
