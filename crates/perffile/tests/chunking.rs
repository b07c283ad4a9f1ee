//! The same recording mapped and as it arrives, in pieces of any size, wrapped or not: the same records and the same issues.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

mod fuzz_entry;
mod hostile;

use fuzz_entry::{pipe_start, push, same_by_mapping_and_by_reading};
use hostile::mutation::{Anatomy, mutant};
use hostile::recipe::sample;
use hostile::{files, noise::Noise};
use perffile::bytes::Bytes;
use perffile::wire::record::kind;
use perffile::{Container, Ordering, Recording};
use proptest::prelude::*;
use std::io::Write;
use std::path::PathBuf;

/// Recordings that can be read as they come.
fn pipes() -> Vec<PathBuf> {
    let is_pipe = |path: &PathBuf| {
        Recording::open(path).is_ok_and(|recording| recording.metadata().container == Container::Pipe)
    };
    let found: Vec<PathBuf> = files::recordings().into_iter().filter(is_pipe).collect();
    assert!(!found.is_empty(), "the fixtures have one");
    found
}

#[test]
fn pipes_in_pieces_are_the_same_recordings() {
    for path in pipes() {
        let bytes = std::fs::read(&path).unwrap();
        for most in [1, 7, 4096, 300_000] {
            let count = same_by_mapping_and_by_reading(&bytes, most, files::seed(&path));
            // A fuzzer's finds may hold nothing; they are the same both ways all the same.
            let is_fuzzed = path.components().any(|part| part.as_os_str() == "quipper-fuzz");
            assert!(count > 0 || is_fuzzed, "{}", path.display());
        }
    }
}

#[test]
fn swallowed_records_in_pieces_are_the_same_records() {
    for claimed in [0, 64, 72, 200, 3000, 3001, 100_000] {
        let mut bytes = pipe_start();
        let mut body = u64::to_le_bytes(claimed).to_vec();
        body.resize(40, 0);
        push(&mut bytes, kind::AUXTRACE, &body);
        bytes.extend([0x91; 64]);
        (1..300).for_each(|time| bytes.extend(sample(time)));
        for most in [1, 7, 300, 5000] {
            let count = same_by_mapping_and_by_reading(&bytes, most, claimed);
            assert!(count > 290 || claimed > 5000, "{claimed}: {count} records");
        }
    }
}

#[test]
fn damaged_pipes_in_pieces_are_the_same_recordings() {
    for path in pipes() {
        let bytes = std::fs::read(&path).unwrap();
        let anatomy = Anatomy::of(&bytes);
        let mut noise = Noise::new(files::seed(&path));
        for nr in 0..(2 << 20) / bytes.len().max(64 << 10) {
            let (mutant, what) = mutant(&bytes, &anatomy, &mut noise);
            eprintln!("{}, mutant {nr}: {what}", path.display());
            same_by_mapping_and_by_reading(&mutant, 5000, nr as u64);
        }
    }
}

/// A stream longer than what is read at a time, with records of all sizes.
fn long_stream(noise: &mut Noise, bytes: usize) -> Vec<u8> {
    let mut file = pipe_start();
    let mut time = 1;
    while file.len() < bytes {
        time += noise.next() % 100;
        match noise.below(4000) {
            400..410 => push(&mut file, kind::FINISHED_ROUND, &[]),
            1..400 => push(&mut file, 200, &vec![7; noise.below(100) * 8]),
            0 => {
                let count = noise.below(300_000);
                let mut body = (count as u64).to_le_bytes().to_vec();
                body.resize(40, 1);
                push(&mut file, kind::AUXTRACE, &body);
                file.resize(file.len() + count, 0xa5);
            }
            _ => file.extend_from_slice(&sample(time)),
        }
    }
    file
}

/// What is read at a time, behind the header.
const READING: usize = (1 << 20) + 16;

#[test]
fn damage_where_one_reading_ends() {
    let mut whole = pipe_start();
    (1..READING as u64 / 32 + 100).for_each(|time| whole.extend_from_slice(&sample(time)));
    for before in (0..60).step_by(3) {
        for size in [8, 40] {
            let mut bytes = whole.clone();
            let at = READING - before * 4;
            bytes[at..at + size].fill(0xff);
            same_by_mapping_and_by_reading(&bytes, 100_000, before as u64);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damage_anywhere_in_a_long_stream(seed in any::<u64>(), most in 1usize..200_000, damages in 0usize..6) {
        let mut noise = Noise::new(seed);
        let mut bytes = long_stream(&mut noise, (1 << 20) + (64 << 10));
        for _ in 0..damages {
            // Often where one reading ends and the next begins.
            let near = (1 << 20) - 128 + noise.below(256);
            let at = if noise.below(2) == 0 { near } else { noise.below(bytes.len()) }.min(bytes.len() - 1);
            match noise.below(4) {
                0 => bytes.truncate(at.max(1000)),
                1 => drop(bytes.drain(at..(at + noise.below(100)).min(bytes.len()))),
                2 => drop(bytes.splice(at..at, vec![0xff; noise.below(100)])),
                _ => bytes[at] ^= 0x55,
            }
        }
        same_by_mapping_and_by_reading(&bytes, most, seed);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn wrapped_recordings_are_the_same_recordings() {
    let count = |recording: &Recording| {
        let batches = recording.batches(Ordering::Time).unwrap();
        batches
            .map(|batch| batch.iter().map(|event| event.index() ^ event.time().unwrap_or(1)).sum::<u64>())
            .sum::<u64>()
    };
    for path in files::recordings().into_iter().filter(|path| path.metadata().unwrap().len() < 1 << 20) {
        let bytes = std::fs::read(&path).unwrap();
        let plain = Recording::from_bytes(Bytes::new(bytes.clone()));
        for wrapped in [gzip(&bytes), zstd(&bytes), xz(&bytes)] {
            match (&plain, Recording::from_bytes(Bytes::new(wrapped.clone()))) {
                (Ok(plain), Ok(found)) => {
                    assert_eq!(count(plain), count(&found), "{}", path.display());
                    assert_eq!(plain.metadata().issues, found.metadata().issues);
                }
                (Err(plain), Err(found)) => assert_eq!(plain.to_string(), found.to_string()),
                (plain, found) => panic!("{}: {plain:?} / {found:?}", path.display()),
            }
            same_by_mapping_and_by_reading(&wrapped, 9000, files::seed(&path));
        }
    }
}
