//! Damaged recordings through the whole pipeline, but for symbols: no panic, no hang, no memory without bound, and every
//! sample is somewhere in the answer.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

#[path = "../../perffile/tests/hostile/mod.rs"]
mod hostile;

use hostile::mutation::{Anatomy, mutant};
use hostile::{allocation, clock, files, noise::Noise};
use perffile::Recording;
use perffile::bytes::Bytes;
use readperf::profile::{Keep, Times};
use readperf::symbols::Options;
use readperf::{PassOptions, Request};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

/// What one mutant may allocate at its peak, and take of CPU time.
const MOST_BYTES: usize = 1 << 30;
const MOST_TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });

/// Mutants a file, and bytes of mutants a file, unless asked for more.
const FEW: usize = 10;
const FEW_BYTES: usize = 1 << 20;

fn count(size: usize) -> usize {
    match std::env::var("READPERF_MUTANTS").ok().and_then(|count| count.parse().ok()) {
        Some(count) => count,
        None => (FEW_BYTES / size.max(1)).clamp(1, FEW),
    }
}

/// Everything is wanted of the recording, but no binary is found: nothing else matters.
fn no_symbols() -> Request {
    let nowhere = Path::new("/nonexistent").to_owned();
    let symbols = Options {
        symfs: Some(nowhere.clone()),
        build_id_cache: Some(nowhere),
        debug_dirs: Vec::new(),
        trust_running_kernel: false,
        ..Options::default()
    };
    let pass = PassOptions { stacks: true, ..PassOptions::default() };
    let keep = Keep { stacks: true, threads: true, cpus: true, times: Times::None };
    Request { symbols, pass, keep, statistics: true, ..Request::default() }
}

/// Whether it could be opened.
fn analyse(bytes: Vec<u8>, request: &Request) -> bool {
    let Ok(recording) = Recording::from_bytes(Bytes::new(bytes)) else { return false };
    let analysis = readperf::analyse(&recording, request).expect("a recording in memory can be read again");
    let summary = analysis.session.summary();
    let lost = summary.unknown_event + summary.undecodable_samples;
    assert_eq!(summary.samples + lost, analysis.statistics.samples(), "every sample is counted somewhere");
    for event in analysis.profile.events() {
        assert!(!event.name.is_empty() || event.samples == 0);
    }
    for issue in &analysis.issues {
        assert!(!issue.to_string().is_empty());
    }
    true
}

#[test]
fn damaged_recordings_are_analysed_calmly() {
    let _alone = allocation::alone();
    let dog = clock::Watchdog::new(Duration::from_secs(300));
    let options = no_symbols();
    let (mut tried, mut opened, mut most, mut slowest) = (0, 0, 0, Duration::ZERO);
    let mut failures = Vec::new();
    for path in files::recordings() {
        let bytes = std::fs::read(&path).unwrap();
        let anatomy = Anatomy::of(&bytes);
        let mut noise = Noise::new(files::seed(&path) ^ 1);
        for nr in 0..count(bytes.len()) {
            let (mutant, what) = mutant(&bytes, &anatomy, &mut noise);
            let what = format!("{}, mutant {nr}: {what}", path.display());
            dog.pet(&what);
            let start = clock::cpu_time();
            let (outcome, peak) =
                allocation::peak(|| catch_unwind(AssertUnwindSafe(|| analyse(mutant, &options))));
            let time = clock::cpu_time().saturating_sub(start);
            (tried, most, slowest) = (tried + 1, most.max(peak), slowest.max(time));
            match outcome {
                Ok(is_open) => opened += usize::from(is_open),
                Err(_) => failures.push(format!("PANIC {what}")),
            }
            if peak > MOST_BYTES || time > MOST_TIME {
                failures.push(format!("{} MiB, {time:?} {what}", peak >> 20));
            }
        }
    }
    eprintln!("{tried} mutants, {opened} opened, peak {} MiB, slowest {slowest:?}", most >> 20);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(opened * 2 > tried, "most damage leaves something to read");
}
