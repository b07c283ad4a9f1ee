//! `readperf annotate` on recordings of other machines, with the binaries that were recorded.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{corpus_root, skip, tool};
use serde_json::Value;
use std::path::Path;

/// What is known of the functions of the workload in a recording: how many have code, and how many samples they have.
fn functions(dir: &Path, recording: &str, dso: &str) -> Vec<Value> {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (bin, data) = (text(&dir.join("bin")), text(&dir.join(recording)));
    let places = ["--symfs", "/nowhere", "--symbols", &bin];
    let all = ["annotate", "--json", "--no-cache", "--source", &bin, "--top", "1000", &data];
    let output = tool::run(&[&all[..], &places].concat());
    let annotated: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of_workload = |function: &&Value| function["parts"][0]["dso"] == dso;
    let found: Vec<Value> =
        annotated["functions"].as_array().unwrap().iter().filter(of_workload).cloned().collect();
    let shares =
        ["report", "--json", "--no-cache", "--no-children", "--sort", "symbol", "--dsos", dso, &data];
    let report = tool::run(&[&shares[..], &places].concat());
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    let events = report["events"].as_array().unwrap().iter();
    let rows: Vec<&Value> = events.flat_map(|event| event["rows"].as_array().unwrap()).collect();
    for function in &found {
        let samples = |value: &Value| value["self_samples"].as_u64().unwrap();
        let all: u64 = function["events"].as_array().unwrap().iter().map(samples).sum();
        let same = rows.iter().filter(|row| row["symbol"] == function["symbol"]);
        assert_eq!(
            all,
            same.map(|row| row["samples"].as_u64().unwrap()).sum::<u64>(),
            "{}",
            function["symbol"]
        );
    }
    found
}

#[test]
fn every_sample_is_on_an_instruction_of_another_machine() {
    for (machine, recording, dso) in [
        ("own-aarch64", "plain.data", "wl"),
        ("own-aarch64", "static.data", "wl-static"),
        ("own-armhf", "plain.data", "wl"),
        ("own-armhf", "static.data", "wl-static"),
        ("own-s390x", "plain.data", "wl"),
    ] {
        let dir = corpus_root().join(machine);
        if !dir.join(recording).exists() {
            return skip("annotate_machines", "there is no corpus beside the repository");
        }
        let found = functions(&dir, recording, dso);
        let mut mixes = 0;
        for function in &found {
            let part = &function["parts"][0];
            assert!(part["no_code"].is_null(), "{machine}: {part}");
            assert_eq!(part["elsewhere"].as_array().unwrap().len(), 0, "{machine}: {}", function["symbol"]);
            let rows = part["instructions"].as_array().unwrap();
            assert!(
                rows.iter().all(|row| !row["text"].as_str().unwrap().contains("(bad)")),
                "{machine}: {part}"
            );
            if function["symbol"] == "leaf_mix" {
                let lines = function["lines"].as_array().unwrap();
                let hot = lines.iter().max_by_key(|line| line["events"][0]["self_samples"].as_u64()).unwrap();
                assert!(hot["text"].as_str().unwrap().contains("(x ^ (x >> 29))"), "{machine}: {hot}");
                assert!(rows.iter().any(|row| row["jumps"]["index"].is_u64()), "{machine}: the loop");
                mixes += 1;
            }
        }
        assert!(mixes == 1, "{machine}: {} functions", found.len());
    }
}
