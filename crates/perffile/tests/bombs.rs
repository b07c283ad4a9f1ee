//! Compressed records that hold far more than anybody recorded, at every level of what they may hold.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod fuzz_entry;
mod hostile;

use fuzz_entry::{everything, pipe_start, push};
use hostile::allocation::{self, allocated, alone, peak};
use hostile::noise::Noise;
use hostile::recipe::{Recipe, sample};
use perffile::bytes::Bytes;
use perffile::wire::feature::bit;
use perffile::wire::record::kind;
use perffile::{IssueKind, Issues, Limits, Ordering, Recording};
use std::io::Write;

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

const MIB: usize = 1 << 20;

/// Cheaper to make than a bomb of the default's size, and as much of one.
fn small_limits() -> Limits {
    let mut limits = Limits::default();
    limits.expanded_bytes = 16 * MIB as u64;
    limits.expansion = 100;
    limits
}

/// Compressed records that expand to these bytes, cut into pieces of a stream.
fn records(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    for piece in pieces {
        encoder.write_all(&piece).unwrap();
        encoder.flush().unwrap();
        for part in std::mem::take(encoder.get_mut()).chunks(65_000) {
            push(&mut out, kind::COMPRESSED, part);
        }
    }
    out
}

/// A pipe of them.
fn pipe(pieces: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut file = pipe_start();
    file.extend(records(pieces));
    file
}

fn round() -> Vec<u8> {
    let mut out = Vec::new();
    push(&mut out, kind::FINISHED_ROUND, &[]);
    out
}

/// What came of reading a recording.
struct Read {
    batches: usize,
    records: u64,
    issues: Vec<(IssueKind, u64)>,
    messages: String,
    /// Bytes that were allocated at the peak.
    peak: usize,
}

fn read(file: &[u8], ordering: Ordering, limits: Limits) -> Read {
    let (mut batches, mut records) = (0, 0);
    let file = Bytes::new(file.to_vec());
    let (issues, peak): (Issues, usize) = peak(|| {
        let recording = Recording::from_bytes_with(&file, limits).unwrap();
        let mut walk = recording.batches(ordering).unwrap();
        for batch in walk.by_ref() {
            batches += 1;
            records += batch.len() as u64;
        }
        walk.issues().clone()
    });
    let messages = issues.iter().map(|issue| format!("{issue}\n")).collect();
    Read { batches, records, issues: issues.iter().map(|i| (i.kind, i.count)).collect(), messages, peak }
}

#[test]
fn zeros_in_a_record_are_passed_over_as_a_whole() {
    let _alone = alone();
    let file = pipe(std::iter::once(vec![0; 60 * MIB]));
    assert!(file.len() < 2500, "{} bytes", file.len());
    for ordering in [Ordering::File, Ordering::Time] {
        let read = read(&file, ordering, Limits::default());
        assert_eq!(read.records, 2, "the event and the compressed record");
        assert_eq!(read.issues, [(IssueKind::StrayBytes, 1)]);
        let whole = 60 * MIB;
        assert!(read.messages.contains(&format!("{whole} bytes are no records")), "{}", read.messages);
        assert!(read.peak < 24 * MIB, "{} bytes", read.peak);
    }
}

#[test]
fn what_follows_zeros_is_read() {
    let _alone = alone();
    // The zeros end within a part of what is expanded at a time, at its end, and around it.
    for zeros in [100, 4 * MIB - 8, 4 * MIB - 1, 4 * MIB, 4 * MIB + 3, 9 * MIB + 5] {
        let mut piece = vec![0; zeros];
        (1..10).for_each(|time| piece.extend_from_slice(&sample(time)));
        let read = read(&pipe(std::iter::once(piece)), Ordering::Time, Limits::default());
        assert_eq!(read.records, 2 + 9, "{zeros} zeros: {}", read.messages);
        assert_eq!(read.issues, [(IssueKind::StrayBytes, 1)]);
        assert!(read.messages.contains(&format!("{zeros} bytes are no records")), "{}", read.messages);
    }
}

#[test]
fn a_file_of_such_records_ends_at_the_limit() {
    let _alone = alone();
    for byte in [0, 0xff] {
        let file = pipe((0..8).map(|_| vec![byte; 60 * MIB]));
        let read = read(&file, Ordering::Time, small_limits());
        assert!(read.issues.contains(&(IssueKind::ExpandsTooFar, 8)), "{}", read.messages);
        // A stray byte counts nine times: the limit is at less than 2 MiB, and a part is 4 MiB.
        assert!(
            read.messages.contains(&format!("{} bytes are no records", 4 * MIB - 7)),
            "{}",
            read.messages
        );
        assert_eq!(read.records, 1 + 8, "they are records all the same");
    }
}

#[test]
fn empty_rounds_cost_nothing() {
    let _alone = alone();
    let rounds = 200_000;
    let file = pipe(std::iter::once(round().repeat(rounds)));
    assert!(file.len() < 300, "{} bytes", file.len());
    let all = read(&file, Ordering::Time, Limits::default());
    assert_eq!((all.records, all.issues), (2 + rounds as u64, vec![]));
    assert!(all.batches < rounds / 2000, "{} batches of {rounds} rounds", all.batches);
    // A round with something in it is one, and what waits is delivered where it was.
    let mut piece = round();
    for time in [2, 1, 3] {
        piece.extend_from_slice(&sample(time));
        piece.extend_from_slice(&round().repeat(3));
    }
    let some = read(&pipe(std::iter::once(piece)), Ordering::Time, Limits::default());
    assert_eq!((some.records, some.issues), (2 + 3 + 10, vec![(IssueKind::Unordered, 1)]));
}

#[test]
fn records_beyond_reason_end_at_the_limit() {
    let _alone = alone();
    let contents: [(&str, Vec<u8>); 4] = [
        ("rounds", round()),
        ("samples", sample(5)),
        ("rounds with a sample", [sample(5), round()].concat()),
        (
            "all of it",
            [sample(5), vec![0; 24], round(), sample(7), records(std::iter::once(sample(1)))].concat(),
        ),
    ];
    for (what, content) in contents {
        let piece = content.repeat(8 * MIB / content.len());
        let file = pipe((0..40).map(|_| piece.clone()));
        assert!(file.len() < MIB, "{} bytes", file.len());
        for ordering in [Ordering::File, Ordering::Time] {
            let read = read(&file, ordering, small_limits());
            assert!(read.issues.contains(&(IssueKind::ExpandsTooFar, 40)), "{what}: {}", read.messages);
            // The limit is at 32,768 records; what one part holds of them is read.
            let most = (4 * MIB / 8 + 1000) as u64;
            assert!(read.records < most, "{what}: {} records", read.records);
            assert!(read.peak < 96 * MIB, "{what}: {} MiB", read.peak / MIB);
        }
    }
}

#[test]
fn samples_that_were_compressed_beyond_reason_do_not_wait_for_their_round() {
    let _alone = alone();
    // 160 MiB of samples, all with the same time, and no mark of a finished round.
    let piece = sample(5).repeat(8 * MIB / 32);
    let file = pipe((0..20).map(|_| piece.clone()));
    let mut limits = Limits::default();
    limits.waiting_bytes = 32 * MIB as u64;
    limits.expansion = u64::MAX;
    let in_file = read(&file, Ordering::File, limits.clone());
    assert!(in_file.peak < 16 * MIB, "{} MiB", in_file.peak / MIB);
    let in_time = read(&file, Ordering::Time, limits);
    assert!(in_time.peak < 48 * MIB, "{} MiB", in_time.peak / MIB);
    assert_eq!(in_file.records, in_time.records);
    assert!(in_file.records > 5_000_000 && in_time.issues.is_empty(), "{}", in_time.messages);
}

#[test]
fn large_stacks_that_hold_next_to_nothing_are_no_bomb() {
    let _alone = alone();
    // What `--call-graph dwarf,65528` makes of small stacks: seen to shrink to a four thousandth.
    let samples = 2000u16;
    let mut noise = Noise::new(7);
    let pieces = (0..samples).map(|_| {
        let mut one = sample(noise.next() >> 40 | 1 << 40);
        one.resize(65_000, 0);
        one[6..8].copy_from_slice(&65_000u16.to_le_bytes());
        one
    });
    let file = pipe(std::iter::once(pieces.collect::<Vec<_>>().concat()));
    let times = usize::from(samples) * 65_000 / file.len();
    assert!(times > 3000, "{times}");
    let mut limits = Limits::default();
    limits.expanded_bytes = MIB as u64;
    let read = read(&file, Ordering::Time, limits);
    assert_eq!((read.records, read.issues), (2 + u64::from(samples), vec![]));
}

/// A file whose header tells of buffers of this size, with one compressed record.
fn told(mmap_len: u32, content: Vec<u8>) -> Vec<u8> {
    let told = [0, 1, 1, 5, mmap_len].map(u32::to_le_bytes).concat();
    let data = records(std::iter::once(content));
    Recipe { data, features: vec![(bit::COMPRESSED, told)], ..Recipe::default() }.bytes()
}

#[test]
fn a_record_holds_no_more_than_its_buffer_did() {
    let _alone = alone();
    let piece = sample(5).repeat(6 * MIB / 32);
    // What it told: too little by far, enough, and what nobody can have told.
    for (mmap_len, is_refused) in [(528_384, true), (6 * MIB as u32, false), (0, false), (4096, false)] {
        let file = told(mmap_len, piece.clone());
        let read = read(&file, Ordering::File, Limits::default());
        let is_whole = read.records == 6 * MIB as u64 / 32 + 1;
        assert_eq!(is_whole, !is_refused, "{mmap_len}: {} records", read.records);
        let refused = read.messages.contains("expands to more than the buffer it was taken from held");
        assert_eq!(refused, is_refused, "{mmap_len}: {}", read.messages);
        if is_refused {
            let most = u64::from(mmap_len) * 2 + (128 << 10);
            assert!(read.records * 32 <= most, "{} records", read.records);
        }
    }
}

#[test]
fn a_large_record_is_read_a_part_at_a_time() {
    let _alone = alone();
    // As of `perf record -m 64M`; sizes that fall on no part's end.
    let mut noise = Noise::new(3);
    let (mut piece, mut times) = (Vec::new(), Vec::new());
    while piece.len() < 40 * MIB {
        let time = 1 + times.len() as u64;
        let size = 32 + noise.next() % 3000 * 8;
        let mut one = sample(time);
        one.resize(size as usize, 0x11);
        one[6..8].copy_from_slice(&(size as u16).to_le_bytes());
        piece.extend_from_slice(&one);
        times.push(time);
    }
    let recording = Recording::from_bytes(Bytes::new(told(64 << 20, piece))).unwrap();
    let mut seen = Vec::new();
    let (issues, bytes) = peak(|| recording.for_each(|event| seen.extend(event.time())).unwrap());
    assert!(issues.is_empty(), "{issues:?}");
    assert_eq!(seen, times);
    // In order of time all of it waits; in that of the file a part does.
    assert!(bytes < 64 * MIB, "{bytes} bytes");
    let (_, bytes) =
        peak(|| recording.batches(Ordering::File).unwrap().map(|batch| batch.len()).sum::<usize>());
    assert!(bytes < 24 * MIB, "{bytes} bytes");
}

#[test]
fn a_compressed_record_that_waits_for_a_payload_without_end() {
    let _alone = alone();
    let mut record = Vec::new();
    push(&mut record, kind::AUXTRACE, &[&(1u64 << 63).to_le_bytes()[..], &[0; 32]].concat());
    record.resize(MIB, 0);
    let pieces = std::iter::once(record).chain((0..20).map(|_| vec![0; MIB]));
    let (_, bytes) = peak(|| everything(pipe(pieces)));
    assert!(bytes < 64 * MIB, "{bytes} bytes");
}

#[test]
fn compressed_records_in_compressed_records() {
    let _alone = alone();
    let mut inner = records(std::iter::once(sample(5).repeat(10)));
    inner.extend_from_slice(&sample(6));
    let mut file = pipe(std::iter::once(inner));
    file.extend_from_slice(&sample(7));
    let recording = Recording::from_bytes(Bytes::new(file)).unwrap();
    let mut times = Vec::new();
    let issues = recording.for_each(|event| times.extend(event.time())).unwrap();
    assert_eq!(times, [6, 7], "what follows the nested record, and what follows the outer one");
    let kinds: Vec<_> = issues.iter().map(|issue| issue.kind).collect();
    assert_eq!(kinds, [IssueKind::BadCompression]);
}

#[test]
fn a_wrapper_is_no_way_around_the_limit() {
    let _alone = alone();
    for content in [
        sample(5),
        [sample(5), round()].concat(),
        vec![0; 32],
        records(std::iter::once(sample(5).repeat(100_000))),
    ] {
        let mut file = pipe_start();
        (0..3).for_each(|_| file.extend(content.repeat(8 * MIB / content.len())));
        let wrapped = zstd::encode_all(&*file, 3).unwrap();
        assert!(wrapped.len() < 50_000, "{} bytes", wrapped.len());
        let mut limits = small_limits();
        limits.unwrapped_bytes = 1 << 30;
        let read = read(&wrapped, Ordering::Time, limits);
        assert_eq!(
            read.issues.iter().filter(|issue| issue.0 == IssueKind::ExpandsTooFar).count(),
            1,
            "{}",
            read.messages
        );
        assert!(read.records < 200_000, "{} records", read.records);
        assert!(read.peak < 48 * MIB, "{} MiB", read.peak / MIB);
    }
}

#[test]
fn a_batch_takes_along_only_what_its_records_lie_in() {
    let _alone = alone();
    // Samples that wait for the end, each in a compressed record of its own.
    let count = 60_000;
    let file = Bytes::new(pipe((0..count).map(|nr| sample(nr + 1))));
    let recording = Recording::from_bytes(file).unwrap();
    let (records, bytes) =
        allocated(|| recording.batches(Ordering::Time).unwrap().map(|batch| batch.len()).sum::<usize>());
    assert_eq!(records as u64, 1 + 2 * count);
    assert!(bytes < 60 * MIB, "{} MiB", bytes / MIB);
}
