//! The walk, decoding in order of time, and the main job without files, on about 100 MB: the recording of the fixture
//! `multi` told again and again, each time later and with other processes.
//!
//! `cargo bench -p readperf --bench pipeline`. Ratios to rivals: `benches/compare.sh`.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a benchmark may state what it expects in the shortest way; criterion's macro makes undocumented items"
)]

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use perffile::bytes::Bytes;
use perffile::wire::endian::{Le, Order};
use perffile::wire::head::RecordHead;
use perffile::wire::record::kind;
use perffile::{Ordering, Recording};
use readperf::Request;
use std::hint::black_box;
use std::path::Path;

const BYTES: usize = 100 << 20;

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    Le::u64(bytes[at..at + 8].try_into().unwrap())
}

fn add_u64(bytes: &mut [u8], at: usize, more: u64) {
    let value = u64_at(bytes, at);
    if value != 0 {
        bytes[at..at + 8].copy_from_slice(&Le::put_u64(value.wrapping_add(more)));
    }
}

fn add_pid(bytes: &mut [u8], at: usize, more: u32) {
    let value = Le::u32(bytes[at..at + 4].try_into().unwrap());
    // The kernel's own records have pid 0 or -1.
    if value != 0 && value != u32::MAX {
        bytes[at..at + 4].copy_from_slice(&Le::put_u32(value + more));
    }
}

/// A record of the same recording, `round` rounds later.
fn later(record: &mut [u8], recording: &Recording, round: u32, span_ns: u64) {
    let head = RecordHead::read::<Le>(record).unwrap();
    let (pids, time) = (round * 100_000, u64::from(round) * span_ns);
    let event = &recording.metadata().schema.events()[0];
    match head.kind {
        // IDENTIFIER, IP, then pid and tid; the time behind them.
        kind::SAMPLE => {
            let at = event.layout.time_offset().unwrap() + 8;
            add_u64(record, at, time);
            add_pid(record, at - 8, pids);
            add_pid(record, at - 4, pids);
        }
        kind::MMAP | kind::MMAP2 | kind::COMM | kind::FORK | kind::EXIT => {
            let words = if matches!(head.kind, kind::FORK | kind::EXIT) { 4 } else { 2 };
            (0..words).for_each(|nr| add_pid(record, 8 + nr * 4, pids));
            let trailer = record.len() - event.trailer.size();
            add_u64(record, trailer + event.trailer.time_offset().unwrap(), time);
        }
        _ => {}
    }
}

/// The file of the fixture with its records repeated until there are about [`BYTES`] of them.
fn repeated() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/multi/perf.data");
    let file = std::fs::read(path).unwrap();
    let recording = Recording::from_bytes(Bytes::new(file.clone())).unwrap();
    let (start, size) =
        (usize::try_from(u64_at(&file, 40)).unwrap(), usize::try_from(u64_at(&file, 48)).unwrap());
    let mut out = file[..start].to_vec();
    let mut round = 0;
    while out.len() < BYTES {
        let from = out.len();
        out.extend_from_slice(&file[start..start + size]);
        let mut at = from;
        while at < out.len() {
            let head = RecordHead::read::<Le>(&out[at..]).unwrap();
            let end = at + usize::from(head.size);
            later(&mut out[at..end], &recording, round, 1_000_000_000);
            at = end;
        }
        round += 1;
    }
    let data = (out.len() - start) as u64;
    out[48..56].copy_from_slice(&Le::put_u64(data));
    // No features: their table would lie behind the records.
    out[72..104].fill(0);
    out
}

fn pipeline(criterion: &mut Criterion) {
    let bytes = Bytes::new(repeated());
    let recording = Recording::from_bytes(bytes.clone()).unwrap();
    let mut group = criterion.benchmark_group("pipeline");
    group.sample_size(10).throughput(Throughput::Bytes(bytes.len() as u64));
    group.bench_function("walk", |bencher| {
        bencher.iter(|| recording.batches(Ordering::File).unwrap().map(|batch| batch.len()).sum::<usize>());
    });
    group.bench_function("decode in order of time", |bencher| {
        bencher.iter(|| {
            let mut sum = 0u64;
            for batch in recording.batches(Ordering::Time).unwrap() {
                for sample in batch.iter().filter_map(|event| event.sample()) {
                    let sample = sample.essentials().unwrap();
                    sum ^= sample.ip
                        ^ sample.time
                        ^ sample.period
                        ^ sample.callchain.iter().fold(0, |sum, ip| sum ^ ip);
                }
            }
            black_box(sum)
        });
    });
    group.bench_function("main job", |bencher| {
        bencher.iter_batched(
            || Request { statistics: true, ..Request::default() },
            |request| black_box(readperf::analyse(&recording, &request).unwrap().statistics.samples()),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
