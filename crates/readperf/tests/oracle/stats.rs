//! `perf report --stats` as numbers.

use super::{names, tool};
use serde_json::Value;
use std::collections::BTreeMap;

/// Records by type, and samples by event in the order of the recording.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Stats {
    /// Keyed by the kernel's name without `PERF_RECORD_`.
    pub(crate) records: BTreeMap<String, u64>,
    /// Event name and its samples; events without samples are missing, as in perf's output.
    pub(crate) events: Vec<(String, u64)>,
}

/// perf shortens some names of user records; readperf prints them all as the ABI spells them.
fn abi_name(shown: &str) -> String {
    match shown {
        "ATTR" | "FEATURE" | "EVENT_TYPE" | "TRACING_DATA" | "BUILD_ID" => format!("HEADER_{shown}"),
        other => other.to_owned(),
    }
}

/// Reads the blocks `Aggregated stats:` and `EVENT stats:` with lines `NAME events: COUNT  (P%)`.
pub(crate) fn parse(text: &str) -> Stats {
    let mut stats = Stats::default();
    let mut block = None;
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(" stats:") {
            block = Some(name.to_owned());
            continue;
        }
        let Some((name, rest)) = line.trim_start().split_once(" events:") else { continue };
        let count: u64 = rest.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a count");
        match block.as_deref() {
            Some("Aggregated") if name != "TOTAL" => {
                stats.records.insert(abi_name(name), count);
            }
            Some(event) if event != "Aggregated" && name == "SAMPLE" => {
                stats.events.push((event.to_owned(), count));
            }
            _ => {}
        }
    }
    stats
}

/// The same events with the same number of samples, whatever the order; and the same records. `mine` is `stats --json`.
pub(crate) fn check(what: &str, perf: &Stats, mine: &Value) {
    let mine = tool::stats(mine);
    assert_eq!(perf.records, mine.records, "{what}: records by type, perf left, readperf right");
    let of = |events: &[(String, u64)]| {
        let mut counts: Vec<u64> = events.iter().map(|e| e.1).collect();
        counts.sort_unstable();
        counts
    };
    assert_eq!(
        of(&perf.events),
        of(&mine.events),
        "{what}: samples by event, perf {:?}, readperf {:?}",
        perf.events,
        mine.events
    );
    for (name, samples) in &perf.events {
        let found = mine.events.iter().any(|(n, s)| s == samples && names::same_event(n, name));
        assert!(found, "{what}: no event {name} with {samples} samples in {:?}", mine.events);
    }
}

#[test]
fn reads_the_blocks_of_perf() {
    let text = "\nAggregated stats:\n           TOTAL events:         15\n         FEATURE events:          2  (13.3%)\n  \
                SAMPLE events:          13  ( 6.7%)\ncpu-clock:u stats:\n          SAMPLE events:          13\n";
    let stats = parse(text);
    assert_eq!(stats.records, [("HEADER_FEATURE".into(), 2), ("SAMPLE".into(), 13)].into());
    assert_eq!(stats.events, [("cpu-clock:u".into(), 13)]);
}
