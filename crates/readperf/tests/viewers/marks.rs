//! What else happened: context switches and tracepoints, as perf tells them.

use crate::chrome::{trace, trace_events};
use crate::firefox::{profile, threads};
use crate::oracle::{fixture, said};
use serde_json::Value;

/// Every SWITCH record is a moment of its thread; perf counts them.
#[test]
fn switches_are_those_that_perf_counts() {
    let stats = said("everything", "perf.stats.txt").unwrap();
    let line = stats.lines().find(|line| line.contains("SWITCH events:")).unwrap();
    let expected: usize = line.split_whitespace().nth(2).unwrap().parse().unwrap();
    let trace = trace(&fixture("everything"), &[]);
    let switches = trace_events(&trace)
        .iter()
        .filter(|event| event["ph"] == "i" && event["name"].as_str().unwrap().starts_with("switched "));
    assert_eq!(switches.count(), expected);
}

/// Times without a CPU begin where the thread was switched out, or forked, and end where it was switched in.
#[test]
fn times_off_the_cpu_are_between_switches() {
    let file = fixture("everything");
    let profile = profile(&file, &[]);
    let trace = trace(&file, &[]);
    let mut intervals = 0;
    for thread in threads(&profile) {
        let switches: Vec<&Value> = trace_events(&trace)
            .iter()
            .filter(|event| event["tid"] == thread["tid"] && event["ph"] == "i")
            .collect();
        for (start, end) in off_cpu(thread) {
            intervals += 1;
            // A new thread has no CPU before it is switched in for the first time.
            if thread["registerTime"] == start {
                continue;
            }
            // Chrome's times are µs of the recording's clock, those of Firefox ms since its beginning.
            let length = (end - start) * 1000.0;
            let pair = switches.windows(2).find(|pair| {
                let between = pair[1]["ts"].as_f64().unwrap() - pair[0]["ts"].as_f64().unwrap();
                pair[0]["name"] == "switched out"
                    && pair[1]["name"] == "switched in"
                    && (between - length).abs() < 0.01
            });
            assert!(pair.is_some(), "{start}..{end} of {}", thread["tid"]);
        }
    }
    assert!(intervals > 5, "{intervals}");
}

/// When a thread had no CPU: beginnings and ends, ms.
pub(crate) fn off_cpu(thread: &Value) -> Vec<(f64, f64)> {
    let markers = &thread["markers"];
    let rows = 0..markers["length"].as_u64().unwrap() as usize;
    let off = rows.filter(|row| markers["data"][*row]["type"] == "OffCpu" && markers["phase"][*row] == 1);
    off.map(|row| (markers["startTime"][row].as_f64().unwrap(), markers["endTime"][row].as_f64().unwrap()))
        .collect()
}

/// A thread without a CPU is not sampled. (The clock's samples are; a page fault is one of a running thread, too.)
#[test]
fn no_sample_is_taken_off_the_cpu() {
    let profile = profile(&fixture("everything"), &[]);
    let (mut samples, mut intervals) = (0, 0);
    for thread in threads(&profile) {
        let mut time = 0.0;
        let times: Vec<f64> = thread["samples"]["timeDeltas"]
            .as_array()
            .unwrap()
            .iter()
            .map(|delta| {
                time += delta.as_f64().unwrap();
                time
            })
            .collect();
        samples += times.len();
        for (start, end) in off_cpu(thread) {
            intervals += 1;
            // Sums of times are right to the nanosecond, which is 0.000001 ms.
            let inside = times.iter().find(|time| (start + 1e-5..end - 1e-5).contains(time));
            assert!(inside.is_none(), "{inside:?} in {start}..{end} of {}", thread["tid"]);
        }
    }
    assert!(samples > 20 && intervals > 5, "{samples} samples, {intervals} intervals");
}

/// The text of every tracepoint is the one that perf prints.
#[test]
fn tracepoints_have_perfs_text() {
    let script = said("tracepoints", "perf.script.txt").unwrap();
    let trace = trace(&fixture("tracepoints"), &[]);
    let mut texts = 0;
    for event in trace_events(&trace).iter().filter(|event| event["ph"] == "i") {
        let Some(text) = event["args"]["text"].as_str() else { continue };
        assert!(script.contains(text.trim()), "{}: {text}", event["name"]);
        texts += 1;
    }
    let lines = script.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(texts > 0 && texts <= lines, "{texts} of {lines}");
    let profile = profile(&fixture("tracepoints"), &[]);
    let marked: usize = threads(&profile)
        .iter()
        .map(|thread| {
            let data = thread["markers"]["data"].as_array().unwrap();
            data.iter().filter(|data| data["type"] == "Tracepoint").count()
        })
        .sum();
    assert_eq!(marked, texts);
}
