//! Records counted by the batch are those that are counted one by one, whatever the recording is, damaged ones included.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use perffile::bytes::Bytes;
use perffile::{Ordering, Recording, Tally};
use readperf_profile::statistics::Statistics;
use std::path::{Path, PathBuf};

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let folders = root.read_dir().unwrap().map(|entry| entry.unwrap().path().join("perf.data"));
    let mut list: Vec<PathBuf> = folders.filter(|path| path.is_file()).collect();
    list.sort();
    assert!(list.len() > 5);
    list
}

/// What is counted by the batch, and one by one; `None` where the recording cannot be opened.
fn both_ways(recording: &[u8], ordering: Ordering) -> Option<[String; 2]> {
    let open = || Recording::from_bytes(Bytes::new(recording.to_vec()));
    let (mut by_batch, mut one_by_one) = (Statistics::default(), Statistics::default());
    for batch in open().ok()?.batches(ordering).ok()? {
        by_batch.add_batch(&batch);
    }
    for batch in open().ok()?.batches(ordering).ok()? {
        batch.iter().for_each(|event| one_by_one.add(&event));
    }
    Some([by_batch, one_by_one].map(|statistics| format!("{statistics:#?}")))
}

#[test]
fn batches_count_as_their_records() {
    for path in fixtures() {
        let recording = std::fs::read(&path).unwrap();
        for ordering in [Ordering::File, Ordering::Time] {
            let [by_batch, one_by_one] = both_ways(&recording, ordering).unwrap();
            assert_eq!(by_batch, one_by_one, "{}", path.display());
        }
    }
}

#[test]
fn damaged_batches_count_as_their_records() {
    // Numbers that look random, the same each time.
    let mut state = 7u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let mut opened = 0;
    for path in fixtures() {
        let whole = std::fs::read(&path).unwrap();
        for _ in 0..100 {
            let mut recording = whole.clone();
            for _ in 0..=draw(200) {
                let at = draw(recording.len());
                recording[at] = [0, 1, 9, 0xff, recording[at] ^ 8][draw(5)];
                // A word of 0: no time, no id, no period, no chain.
                let word = draw(recording.len() / 8) * 8;
                recording[word..word + 8].fill(0);
            }
            let Some([by_batch, one_by_one]) = both_ways(&recording, Ordering::File) else { continue };
            opened += 1;
            assert_eq!(by_batch, one_by_one, "{}", path.display());
        }
    }
    assert!(opened > 300, "{opened}");
}

#[test]
fn samples_are_counted_in_runs() {
    // Of the samples of each recording, those that come in runs, and the runs.
    let of = |name: &str| {
        let path = format!("{}/../../tests/fixtures/{name}/perf.data", env!("CARGO_MANIFEST_DIR"));
        let (mut samples, mut in_runs, mut runs) = (0, 0, 0);
        for batch in Recording::open(path).unwrap().batches(Ordering::File).unwrap() {
            samples += batch.iter().filter(|event| event.sample().is_some()).count() as u64;
            for tally in batch.tallies() {
                if let Tally::Samples(run) = tally {
                    in_runs += run.samples;
                    runs += 1;
                }
            }
        }
        (samples, in_runs, runs)
    };
    let (samples, in_runs, runs) = of("main");
    assert_eq!(in_runs, samples);
    assert!(runs * 20 < samples, "{runs} of {samples}");
    let (samples, in_runs, _) = of("multi");
    assert_eq!(in_runs, samples, "of several events");
}
