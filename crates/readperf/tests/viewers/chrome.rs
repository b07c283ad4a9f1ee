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

/// A time of the trace in ns; in the file it is in µs.
fn nanoseconds(event: &Value) -> i64 {
    (event["ts"].as_f64().unwrap() * 1000.0).round() as i64
}

/// The outermost slices of a thread cover the time that its samples stand for, and nothing between: a sample stands for its
/// period before it, but not for what is before the sample ahead of it.
#[test]
fn slices_cover_what_samples_stand_for() {
    let (mut threads, mut gaps) = (0, 0);
    for file in recordings().iter().filter(|file| events(file)[0].0.starts_with("cpu-clock")) {
        let clock = &events(file)[0].0;
        let trace = trace(file, &[]);
        let mut expected: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
        let mut covered: BTreeMap<u64, (i64, i64)> = BTreeMap::new();
        for event in trace_events(&trace) {
            let (tid, time) = (event["tid"].as_u64().unwrap(), nanoseconds(event));
            match event["ph"].as_str().unwrap() {
                "P" if event["name"] == clock.as_str() => {
                    let (sum, before) = expected.entry(tid).or_default();
                    let period = event["args"]["weight"].as_i64().unwrap();
                    gaps += usize::from(*before > 0 && time - *before > period);
                    *sum += period.min(time - *before);
                    *before = time;
                }
                "B" => {
                    let (sum, depth) = covered.entry(tid).or_default();
                    *sum -= if *depth == 0 { time } else { 0 };
                    *depth += 1;
                }
                "E" => {
                    let (sum, depth) = covered.entry(tid).or_default();
                    *depth -= 1;
                    *sum += if *depth == 0 { time } else { 0 };
                }
                _ => {}
            }
        }
        for (tid, (sum, _)) in &expected {
            assert_eq!(covered[tid].0, *sum, "{}: thread {tid}", file.display());
            threads += 1;
        }
        assert_eq!(covered.len(), expected.len());
    }
    assert!(threads > 3 && gaps > 3, "{threads} threads, {gaps} gaps");
}

/// On each thread every end of a slice has a beginning, times never go back, and all end.
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
                // The end of a slice is that of the innermost one: it needs no name.
                "E" => assert!(open.entry(tid).or_default().pop().is_some() && event["name"].is_null()),
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
