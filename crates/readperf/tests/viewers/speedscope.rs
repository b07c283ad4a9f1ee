//! speedscope: read by the names of its file format. Its own code reads it in `tests/browser`.

use crate::oracle::fixture;
use crate::run::{self, Stacks, assert_stacks, events, recordings, spelled, weights};
use serde_json::Value;

/// Weights by stack of a profile.
fn stacks(file: &Value, profile: &Value) -> Stacks {
    let frames = file["shared"]["frames"].as_array().unwrap();
    let (samples, weights) = (profile["samples"].as_array().unwrap(), profile["weights"].as_array().unwrap());
    assert_eq!(samples.len(), weights.len());
    let mut stacks = Stacks::new();
    for (sample, weight) in samples.iter().zip(weights) {
        let name =
            |frame: &Value| spelled(frames[frame.as_u64().unwrap() as usize]["name"].as_str().unwrap());
        let names: Vec<String> = sample.as_array().unwrap().iter().map(name).collect();
        *stacks.entry(names.join(";")).or_default() += weight.as_u64().unwrap();
    }
    stacks
}

#[test]
fn weights_are_those_of_folded_stacks_and_totals_those_of_stats() {
    for path in recordings() {
        for weight in weights(&path) {
            let file = run::json(&run::export("speedscope", &path, &["--weight", weight]));
            let profiles = file["profiles"].as_array().unwrap();
            for (event, ..) in events(&path) {
                let of_event =
                    |profile: &&Value| profile["name"].as_str().unwrap().starts_with(&format!("{event}: "));
                let mut all = None;
                let mut by_thread = Stacks::new();
                for profile in profiles.iter().filter(of_event) {
                    let stacks = stacks(&file, profile);
                    assert_eq!(profile["endValue"].as_u64().unwrap(), stacks.values().sum::<u64>());
                    match profile["name"].as_str().unwrap().ends_with(": all threads") {
                        true => all = Some(stacks),
                        false => stacks.into_iter().for_each(|(k, v)| *by_thread.entry(k).or_default() += v),
                    }
                }
                assert_stacks("speedscope", &path, &event, &all.unwrap(), weight);
                assert_stacks("speedscope by thread", &path, &event, &by_thread, weight);
            }
        }
    }
}

/// Where no source is known, the binary is the file.
#[test]
fn frames_are_somewhere() {
    let place = |recording: &str, name: &str| {
        let file = run::json(&run::export("speedscope", &fixture(recording), &[]));
        let frames = file["shared"]["frames"].as_array().unwrap();
        let frame = frames.iter().find(|frame| frame["name"] == name);
        frame.unwrap_or_else(|| panic!("{name} is among {frames:?}"))["file"].as_str().map(str::to_owned)
    };
    assert_eq!(place("main", "spin_five").as_deref(), Some("./work.c"));
    assert!(place("main", "[libc.so.6]").unwrap().ends_with("/libc.so.6"));
    assert_eq!(place("multi", "[unknown]"), None);
    // Whether functions of the kernel have names depends on the kernel that runs here.
    let file = run::json(&run::export("speedscope", &fixture("multi"), &[]));
    let frames = file["shared"]["frames"].as_array().unwrap();
    assert!(frames.iter().any(|frame| frame["file"] == "[kernel.kallsyms]"), "{frames:?}");
}

#[test]
fn clocks_count_nanoseconds_and_other_events_have_no_unit() {
    let file = run::json(&run::export("speedscope", &fixture("multi"), &[]));
    let unit = |event: &str| {
        let profiles = file["profiles"].as_array().unwrap().iter();
        let mut units: Vec<&str> = profiles
            .filter(|profile| profile["name"].as_str().unwrap().starts_with(event))
            .map(|profile| profile["unit"].as_str().unwrap())
            .collect();
        units.dedup();
        units
    };
    assert_eq!(unit("cpu-clock"), ["nanoseconds"]);
    assert_eq!(unit("page-faults"), ["none"]);
}
