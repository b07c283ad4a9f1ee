//! Names, one source file for each function, all frames; of new binaries, known ones and cached ones.
//!
//! `cargo bench -p readperf-symbols`. The binaries are this program, which has debug information, and the C++ library
//! with its debug information, if that is installed (libstdc++6-12-dbg). The program has to lie still for a second
//! before its frames are cached.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    missing_docs,
    reason = "a benchmark"
)]

use std::path::{Path, PathBuf};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use readperf_symbols::{AddressBatch, BuildId, Files, Options, Resolver, Subject};

const ADDRESSES: u64 = 100_000;

/// What is asked for: whether lines, and whether source files of functions.
const MODES: &[(&str, bool, bool)] =
    &[("names", false, false), ("file_of_each_function", false, true), ("all_frames", true, false)];

fn options(lines: bool, source_files: bool) -> Options {
    Options { lines, source_files, build_id_cache: None, ..Options::default() }
}

/// The part of a file that has its code, from what `readelf` prints.
fn code(path: &Path) -> Option<(u64, u64)> {
    let output = std::process::Command::new("readelf").arg("-SW").arg(path).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let words: Vec<&str> =
        text.lines().find(|line| line.contains(" .text "))?.split(']').nth(1)?.split_whitespace().collect();
    let number = |word: &str| u64::from_str_radix(word, 16).ok();
    Some((number(words[3])?, number(words[4])?))
}

fn build_id(path: &Path) -> Option<BuildId> {
    let output = std::process::Command::new("readelf").arg("-n").arg(path).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).and_then(BuildId::parse)
}

/// Addresses all over the code.
fn batch(path: &Path) -> Option<AddressBatch> {
    let (start, size) = code(path)?;
    let addresses = (0..ADDRESSES).map(|n| start + n * size / ADDRESSES).collect();
    let subject = Subject::File { path: path.to_owned(), build_id: build_id(path) };
    Some(AddressBatch::new(subject, addresses))
}

fn resolve(criterion: &mut Criterion) {
    let own = std::env::current_exe().unwrap();
    let library = PathBuf::from("/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6");
    for (name, path) in [("own", own), ("libstdc++", library)] {
        let Some(batch) = batch(&path) else {
            eprintln!("SKIPPED: {}", path.display());
            continue;
        };
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(ADDRESSES)).sample_size(10);
        for (mode, lines, source_files) in MODES {
            let options = options(*lines, *source_files);
            group.bench_function(format!("{mode}/new"), |bencher| {
                bencher.iter_batched(
                    || batch.clone(),
                    |batch| readperf_symbols::resolve(&options, vec![batch]),
                    BatchSize::PerIteration,
                );
            });
            let files = Files::new();
            let mut resolver = Resolver::new(&files, options.clone());
            resolver.resolve(vec![batch.clone()]);
            group.bench_function(format!("{mode}/known"), |bencher| {
                bencher.iter_batched(
                    || batch.clone(),
                    |batch| resolver.resolve(vec![batch]),
                    BatchSize::PerIteration,
                );
            });
        }
        let cache = tempfile::tempdir().unwrap();
        let options = Options { cache: Some(cache.path().to_owned()), ..options(true, false) };
        std::thread::sleep(std::time::Duration::from_millis(1200));
        readperf_symbols::resolve(&options, vec![batch.clone()]);
        group.bench_function("all_frames/cached", |bencher| {
            bencher.iter_batched(
                || batch.clone(),
                |batch| readperf_symbols::resolve(&options, vec![batch]),
                BatchSize::PerIteration,
            );
        });
        group.finish();
    }
}

criterion_group!(benches, resolve);
criterion_main!(benches);
