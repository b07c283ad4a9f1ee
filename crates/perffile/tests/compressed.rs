//! Compressed records as perf writes them, its mistakes included, and streams that are damaged.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

mod fuzz_entry;
mod hostile;

use fuzz_entry::{pipe_start, push, same_by_mapping_and_by_reading};
use hostile::clock;
use hostile::noise::Noise;
use hostile::recipe::sample;
use perffile::bytes::Bytes;
use perffile::wire::record::kind;
use perffile::{IssueKind, Recording};
use std::io::Write;
use std::ops::Range;
use std::time::Duration;

/// Most data of a COMPRESSED2 record.
const MOST: usize = 65_519;

type Encoder = zstd::stream::write::Encoder<'static, Vec<u8>>;

fn encoder() -> Encoder {
    Encoder::new(Vec::new(), 1).unwrap()
}

/// What the stream goes on with for these bytes.
fn piece(encoder: &mut Encoder, bytes: &[u8]) -> Vec<u8> {
    encoder.write_all(bytes).unwrap();
    encoder.flush().unwrap();
    std::mem::take(encoder.get_mut())
}

/// Samples with these times that can hardly be compressed.
fn samples(times: Range<u64>) -> Vec<u8> {
    let mut noise = Noise::new(times.start);
    let mut out = Vec::new();
    for time in times {
        let mut one = sample(time);
        one[8..16].copy_from_slice(&noise.next().to_le_bytes());
        one[16..24].copy_from_slice(&noise.next().to_le_bytes());
        out.extend_from_slice(&one);
    }
    out
}

/// What perf 6.16 makes of a piece: one COMPRESSED2 record, or several of which only the first has the size of all, in too
/// few bits, and where the others have a size it is `garbage`.
fn compressed2(piece: &[u8], garbage: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for (nr, part) in piece.chunks(MOST).enumerate() {
        out.extend_from_slice(&83u32.to_le_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&(16 + part.len()).to_le_bytes()[..2]);
        out.extend_from_slice(&if nr == 0 { 0 } else { garbage }.to_le_bytes());
        out.extend_from_slice(part);
    }
    let total = out.len() as u64;
    out.resize(out.len().next_multiple_of(8), 0);
    // What does not fit is lost.
    let size = out.len().to_le_bytes();
    out[6..8].copy_from_slice(&size[..2]);
    out[8..16].copy_from_slice(&(total - 16).to_le_bytes());
    out
}

/// The times of all samples, the records of a type, and the issues.
fn read(file: &[u8], counted: u32) -> (Vec<u64>, usize, Vec<(IssueKind, u64)>) {
    let recording = Recording::from_bytes(Bytes::new(file.to_vec())).unwrap();
    let (mut times, mut count) = (Vec::new(), 0);
    let issues = recording
        .for_each(|event| {
            times.extend(event.time());
            count += usize::from(event.head().kind == counted);
        })
        .unwrap();
    (times, count, issues.iter().map(|issue| (issue.kind, issue.count)).collect())
}

#[test]
fn a_full_record_whose_size_wraps_to_zero() {
    let mut stream = encoder();
    let out = piece(&mut stream, &samples(1..4001));
    assert!(out.len() > MOST && out.len() < 2 * MOST, "{} bytes", out.len());
    let mut file = pipe_start();
    let full = compressed2(&out[..MOST], 0);
    assert_eq!(full[6..8], [0, 0]);
    file.extend_from_slice(&full);
    file.extend_from_slice(&compressed2(&out[MOST..], 0));
    file.extend_from_slice(&sample(4001));
    assert_eq!(read(&file, 83), ((1..4002).collect(), 2, vec![]));
}

#[test]
fn several_records_in_one() {
    for garbage in [0, 100, 70_000, u64::MAX, 0x5353_5353_0000_0053] {
        let mut stream = encoder();
        let mut file = pipe_start();
        for nr in 0..4 {
            let times = nr * 20_000 + 1..(nr + 1) * 20_000 + 1 - nr * 3000;
            let gap = times.end..(nr + 1) * 20_000 + 1;
            let out = piece(&mut stream, &samples(times));
            assert!(out.len() > 2 * MOST, "{} bytes", out.len());
            file.extend_from_slice(&compressed2(&out, garbage));
            gap.for_each(|time| file.extend_from_slice(&sample(time)));
        }
        let (times, records, issues) = read(&file, 83);
        assert_eq!(issues, []);
        assert_eq!(records, 4);
        assert!(times.into_iter().eq(1..80_001));
    }
}

#[test]
fn a_chain_that_breaks_is_as_long_as_its_size_tells() {
    let mut stream = encoder();
    let out = piece(&mut stream, &samples(1..9001));
    let mut chain = compressed2(&out, 0);
    // No record follows the first data.
    chain[16 + MOST] = 9;
    let size = usize::from(u16::from_le_bytes([chain[6], chain[7]]));
    chain.truncate(size);
    let mut file = pipe_start();
    file.extend_from_slice(&chain);
    (1_000_000..1_005_000).for_each(|time| file.extend_from_slice(&sample(time)));
    let (times, _, issues) = read(&file, 83);
    assert!(times.iter().filter(|time| **time >= 1_000_000).count() == 5000, "{} samples", times.len());
    assert!(!issues.iter().any(|issue| issue.0 == IssueKind::StrayBytes), "{issues:?}");
}

#[test]
fn where_the_bytes_are_divided_does_not_matter() {
    let mut stream = encoder();
    let mut chain = compressed2(&piece(&mut stream, &samples(1..9001)), u64::MAX);
    chain.extend_from_slice(&compressed2(&piece(&mut stream, &samples(9001..9100)), 0));
    let mut broken = chain.clone();
    broken[16 + MOST + 6] = 3;
    broken[16 + MOST + 7] = 0;
    // Its size is 0: only the size of its data tells how long it is.
    let full = compressed2(&piece(&mut encoder(), &samples(1..4001))[..MOST], 0);
    let heads = [0, 1, 7, 8, 9, 15, 16, 17, 1000, 16 + MOST, 16 + MOST + 3, 16 + MOST + 8, 32 + 2 * MOST];
    // A reading ends behind 1 MiB.
    for (nr, before) in heads.into_iter().chain([chain.len() - 1, chain.len()]).enumerate() {
        let mut file = pipe_start();
        while file.len() + 64 <= (1 << 20) + 16 - before {
            file.extend_from_slice(&sample(0));
        }
        let fill = (1 << 20) + 16 - before - file.len();
        push(&mut file, 200, &vec![0; fill - 8]);
        let start = file.len();
        for chain in [&chain, &broken, &full] {
            file.truncate(start);
            file.extend_from_slice(chain);
            file.extend_from_slice(&sample(9100).repeat(10));
            for most in [4097, 300_001] {
                same_by_mapping_and_by_reading(&file, most, nr as u64);
            }
        }
        for end in [start + 4, start + 12, start + 16 + MOST + 4, start + 40_000, start + 2 * MOST] {
            same_by_mapping_and_by_reading(&file[..end.min(file.len())], 65_533, nr as u64);
        }
    }
}

#[test]
fn many_empty_records_cost_next_to_nothing() {
    let mut stream = encoder();
    let mut file = pipe_start();
    // Half a record waits all the while.
    let whole = samples(1..3);
    push(&mut file, kind::COMPRESSED, &piece(&mut stream, &whole[..40]));
    (0..200_000).for_each(|_| push(&mut file, kind::COMPRESSED, &[]));
    push(&mut file, kind::COMPRESSED, &piece(&mut stream, &whole[40..]));
    // As many records that mean nothing tell how fast this machine is.
    let mut plain = pipe_start();
    (0..200_000).for_each(|_| push(&mut plain, 200, &[]));
    let start = clock::cpu_time();
    assert_eq!(read(&plain, 200).1, 200_000);
    let most = (clock::cpu_time() - start) * 4 + Duration::from_millis(20);
    let start = clock::cpu_time();
    let (times, records, issues) = read(&file, kind::COMPRESSED);
    let took = clock::cpu_time() - start;
    assert_eq!((times, records, issues), (vec![1, 2], 200_002, vec![]));
    assert!(took < most, "{took:?}, {most:?} at most");
}

#[test]
fn many_small_records_cost_little() {
    let mut stream = encoder();
    let mut file = pipe_start();
    for time in 1..20_001 {
        push(&mut file, kind::COMPRESSED, &piece(&mut stream, &sample(time)));
    }
    let start = clock::cpu_time();
    let (times, records, issues) = read(&file, kind::COMPRESSED);
    let took = clock::cpu_time() - start;
    assert!(times.into_iter().eq(1..20_001));
    assert_eq!((records, issues), (20_000, vec![]));
    assert!(took < Duration::from_millis(if cfg!(debug_assertions) { 2000 } else { 200 }), "{took:?}");
}

/// Reads a record that is damaged somewhere, with another record and a piece behind it; how many samples came out of it.
fn before_damage(damaged: &[u8]) -> u64 {
    let mut file = pipe_start();
    file.extend_from_slice(damaged);
    file.extend_from_slice(&sample(1_000_000));
    push(&mut file, kind::COMPRESSED, &[1, 2, 3]);
    let (times, _, issues) = read(&file, 83);
    assert_eq!(issues.first(), Some(&(IssueKind::BadCompression, 2)), "{issues:?}");
    let (last, before) = times.split_last().unwrap();
    assert_eq!(*last, 1_000_000);
    assert!(before.iter().copied().eq(1..=before.len() as u64));
    before.len() as u64
}

#[test]
fn what_comes_before_an_error_is_kept() {
    // One record: some blocks, and then what cannot be one.
    let mut stream = encoder();
    let mut data = Vec::new();
    samples(1..1001).chunks(3200).for_each(|part| data.extend_from_slice(&piece(&mut stream, part)));
    data.extend_from_slice(&[0xff; 2000]);
    let mut record = Vec::new();
    push(&mut record, kind::COMPRESSED, &data);
    let count = before_damage(&record);
    assert!((900..=1000).contains(&count), "{count}");
    // Several records in one: a block holds 4096 samples, and the second one is damaged.
    let mut data = piece(&mut encoder(), &samples(1..10_001));
    data[100_000..].fill(0xff);
    let count = before_damage(&compressed2(&data, 7));
    assert_eq!(count, 4096);
}

#[test]
fn what_waits_for_a_piece_that_fails_is_told_of() {
    let mut stream = encoder();
    let mut file = pipe_start();
    push(&mut file, kind::COMPRESSED, &piece(&mut stream, &samples(1..3)[..40]));
    push(&mut file, kind::COMPRESSED, &[0xff; 100]);
    let (times, _, issues) = read(&file, 83);
    assert_eq!(times, [1]);
    assert_eq!(issues, [(IssueKind::BadCompression, 1), (IssueKind::CutData, 1)]);
}
