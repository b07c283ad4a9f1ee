//! What the comparison scripts cannot see, and is in the bytes (`tests/accept/exceptions.md`); and the order of records of perf stat.
//!
//! Needs the corpus: `READPERF_CORPUS`, or `../shared/corpus` beside the repository.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

#[path = "../../../tests/corpus_root.rs"]
mod corpus_root;

use perffile::{Ordering, Recording};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn corpus(file: &str) -> Option<PathBuf> {
    let path = corpus_root::corpus_root().join(file);
    if !path.exists() {
        eprintln!("**** SKIPPED: {} is not here ****", path.display());
        return None;
    }
    Some(path)
}

fn counts(path: &std::path::Path) -> BTreeMap<u32, u64> {
    let mut counts = BTreeMap::new();
    for batch in Recording::open(path).unwrap().batches(Ordering::File).unwrap() {
        for event in batch.iter() {
            *counts.entry(event.head().kind).or_default() += 1;
        }
    }
    counts
}

#[test]
fn records_go_on_behind_the_one_of_no_size() {
    let Some(path) = corpus("quipper/perf.data.piped.corrupted.zero_size_sample-3.2") else { return };
    let bytes = std::fs::read(&path).unwrap();
    let head = |at: usize| {
        let kind = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        (kind, usize::from(u16::from_le_bytes(bytes[at + 6..at + 8].try_into().unwrap())))
    };
    // A walk of its own: from the start to the bad record, then from behind it to the end.
    let mut walked: BTreeMap<u32, u64> = BTreeMap::new();
    let mut at = 16;
    while head(at).1 != 0 {
        *walked.entry(head(at).0).or_default() += 1;
        at += head(at).1;
    }
    assert_eq!((at, head(at)), (0xbfd0, (9, 0)));
    let mut at = 0xc000;
    let mut behind = 0;
    while at < bytes.len() {
        let (kind, size) = head(at);
        assert!(size >= 8 && size % 8 == 0 && at + size <= bytes.len(), "a record at {at:#x}");
        *walked.entry(kind).or_default() += 1;
        behind += 1;
        at += size;
    }
    assert_eq!(behind, 236);
    assert_eq!(walked, counts(&path));
}

#[test]
fn records_of_perf_stat_are_delivered_in_the_order_of_perf() {
    for name in [
        "own-aarch64/pmu-stat",
        "own-aarch64/stat-interval",
        "own-armhf/stat",
        "own-armhf/stat-interval",
        "own-s390x/stat",
    ] {
        let Some(path) = corpus(&format!("{name}.data")) else { return };
        let dump = std::fs::read_to_string(path.with_extension("dump.txt")).unwrap();
        // `-1 -1 0x360 [0x28]: PERF_RECORD_…`
        let expected: Vec<u64> = dump
            .lines()
            .filter(|line| line.contains("]: PERF_RECORD_"))
            .map(|line| {
                let offset = line.split(" [0x").next().unwrap().rsplit(' ').next().unwrap();
                u64::from_str_radix(offset.trim_start_matches("0x"), 16).unwrap()
            })
            .collect();
        let mut delivered = Vec::new();
        for batch in Recording::open(&path).unwrap().batches(Ordering::Time).unwrap() {
            delivered.extend(batch.iter().map(|event| event.offset()));
        }
        assert!(expected.len() >= 10, "{name}: {expected:?}");
        assert_eq!(delivered, expected, "{name}");
    }
}
