//! Damaged copies of every recording there is, read, and written again: no panic, no hang, no memory without bound.
//!
//! The sample is fixed. `READPERF_MUTANTS=1000 cargo test --release -p perffile --test mutants` tries so many per file.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

mod fuzz_entry;
mod hostile;

use hostile::mutation::{Anatomy, mutant};
use hostile::{allocation, clock, files, noise::Noise};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

/// What one mutant may allocate at its peak.
const MOST_BYTES: usize = 1 << 30;
/// What one mutant may take, CPU time. Unoptimised code is a lot slower.
const MOST_TIME: Duration = Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 2 });
/// Mutants a file, and bytes of mutants a file, unless asked for more.
const FEW: usize = 20;
const FEW_BYTES: usize = 1 << 20;

#[derive(Default)]
struct Figures {
    files: usize,
    mutants: usize,
    opened: usize,
    records: u64,
    peak: usize,
    slowest: Duration,
    failures: Vec<String>,
}

fn count(size: usize) -> usize {
    match std::env::var("READPERF_MUTANTS").ok().and_then(|count| count.parse().ok()) {
        Some(count) => count,
        None => (FEW_BYTES / size.max(1)).clamp(1, FEW),
    }
}

fn file(path: &Path, dog: &clock::Watchdog, figures: &mut Figures) {
    let bytes = std::fs::read(path).unwrap();
    let anatomy = Anatomy::of(&bytes);
    let mut noise = Noise::new(files::seed(path));
    figures.files += 1;
    for nr in 0..count(bytes.len()) {
        let (mutant, what) = mutant(&bytes, &anatomy, &mut noise);
        let what = format!("{}, mutant {nr}: {what}", path.display());
        dog.pet(&what);
        let start = clock::cpu_time();
        let read_and_copied = || {
            fuzz_entry::copied(&mutant);
            fuzz_entry::everything(mutant)
        };
        let (outcome, peak) = allocation::peak(|| catch_unwind(AssertUnwindSafe(read_and_copied)));
        let time = clock::cpu_time().saturating_sub(start);
        figures.mutants += 1;
        figures.peak = figures.peak.max(peak);
        figures.slowest = figures.slowest.max(time);
        match outcome {
            Ok(seen) => {
                figures.opened += usize::from(seen.is_some());
                figures.records += seen.map_or(0, |seen| seen.records);
            }
            Err(_) => figures.failures.push(format!("PANIC {what}")),
        }
        if peak > MOST_BYTES {
            figures.failures.push(format!("{} MiB {what}", peak >> 20));
        }
        if time > MOST_TIME {
            figures.failures.push(format!("{time:?} {what}"));
        }
    }
}

#[test]
fn damaged_recordings_are_read_calmly() {
    let _alone = allocation::alone();
    let dog = clock::Watchdog::new(Duration::from_secs(300));
    let mut figures = Figures::default();
    for path in files::recordings() {
        file(&path, &dog, &mut figures);
    }
    eprintln!(
        "{} mutants of {} files, {} opened, {} records; peak {} MiB, slowest {:?}",
        figures.mutants,
        figures.files,
        figures.opened,
        figures.records,
        figures.peak >> 20,
        figures.slowest
    );
    assert!(
        figures.failures.is_empty(),
        "{} failures:\n{}",
        figures.failures.len(),
        figures.failures.join("\n")
    );
    assert!(figures.opened * 2 > figures.mutants, "most damage leaves something to read");
    assert!(figures.records > 10_000);
}
