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
        let mut expected: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        let mut covered: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
        for event in trace_events(&trace) {
            let (tid, time) = (event["tid"].as_i64().unwrap(), nanoseconds(event));
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
                // The end of a slice is that of the innermost one. Some readers look for its name.
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

/// The other events are counters of their processes; the last values of all add up to the total of `stats`.
#[test]
fn counters_end_at_the_totals() {
    let mut seen = 0;
    for file in recordings() {
        for weight in weights(&file) {
            let trace = trace(&file, &["--weight", weight]);
            let mut last: BTreeMap<String, BTreeMap<i64, (i64, u64)>> = BTreeMap::new();
            for event in trace_events(&trace).iter().filter(|event| event["ph"] == "C") {
                let name = event["name"].as_str().unwrap().to_owned();
                let (time, count) = (nanoseconds(event), event["args"]["count"].as_u64().unwrap());
                let before =
                    last.entry(name).or_default().insert(event["pid"].as_i64().unwrap(), (time, count));
                assert!(before.is_none_or(|before| before.0 <= time && before.1 <= count), "{event}");
            }
            for (name, samples, period) in events(&file) {
                let clock = ["cpu-clock", "task-clock"].iter().any(|clock| name.starts_with(clock));
                let found: u64 =
                    last.remove(&name).unwrap_or_default().values().map(|(_, count)| count).sum();
                let expected = if *weight == "samples" { samples } else { period };
                seen += usize::from(found > 0);
                assert_eq!(found, if clock { 0 } else { expected }, "{name} of {}", file.display());
            }
            assert!(last.is_empty(), "{last:?}");
        }
    }
    assert!(seen > 5, "{seen}");
}

/// A thread had a CPU from when it was switched in until it was switched out.
#[test]
fn runs_lie_between_switches() {
    let (mut seen, mut none) = (0, 0);
    for file in recordings() {
        let trace = trace(&file, &[]);
        let mut switched_in: BTreeMap<i64, i64> = BTreeMap::new();
        let mut expected: Vec<(i64, i64, i64)> = Vec::new();
        let mut open: BTreeMap<(i64, &str), (i64, &Value)> = BTreeMap::new();
        let mut runs: Vec<(i64, i64, i64)> = Vec::new();
        for event in trace_events(&trace) {
            let (tid, time) = (event["tid"].as_i64().unwrap(), nanoseconds(event));
            match (event["ph"].as_str().unwrap(), event["name"].as_str().unwrap_or_default()) {
                ("i", "switched in") => _ = switched_in.insert(tid, time),
                ("i", "switched out") => {
                    expected.extend(switched_in.remove(&tid).map(|since| (tid, since, time)));
                }
                ("b", name) => {
                    assert!(name.starts_with("CPU ") && event["cat"] == "running", "{event}");
                    let before = open.insert((tid, event["id"].as_str().unwrap()), (time, &event["name"]));
                    assert!(before.is_none(), "{event}");
                }
                ("e", name) => {
                    let (since, begun) = open.remove(&(tid, event["id"].as_str().unwrap())).unwrap();
                    assert_eq!(begun, name);
                    runs.push((tid, since, time));
                }
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?}");
        expected.sort_unstable();
        runs.sort_unstable();
        for run in &expected {
            assert!(runs.contains(run), "{run:?} of {}", file.display());
        }
        // What had no switch out lasts until the thread exits, or the recording ends.
        assert!(runs.len() <= expected.len() + switched_in.len(), "{runs:?}");
        seen += expected.len();
        none += usize::from(runs.is_empty());
    }
    assert!(seen > 10 && none > 0, "{seen} {none}");
}
