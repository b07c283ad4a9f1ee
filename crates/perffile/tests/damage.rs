//! One record in the middle whose size is wrong: the records behind it are found again, and the damage is told.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

use perffile::bytes::Bytes;
use perffile::{Issues, Ordering, Recording};
use std::path::Path;

const SAMPLE: u32 = 9;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name).join("perf.data"),
    )
    .unwrap()
}

fn u64_at(bytes: &[u8], at: usize) -> usize {
    usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap()
}

fn size_at(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes(bytes[at + 6..at + 8].try_into().unwrap()))
}

/// Samples, and what was wrong.
fn samples(bytes: Vec<u8>) -> (usize, Issues) {
    let recording = Recording::from_bytes(Bytes::new(bytes)).unwrap();
    let mut batches = recording.batches(Ordering::File).unwrap();
    let count =
        batches.by_ref().map(|batch| batch.iter().filter(|event| event.head().kind == SAMPLE).count()).sum();
    (count, batches.issues().clone())
}

/// Every 40th record of a recording gets each of some wrong sizes.
fn wrong_sizes(name: &str) {
    let sound = fixture(name);
    let (all, issues) = samples(sound.clone());
    assert!(!issues.damaged());
    let (mut at, end) = (u64_at(&sound, 40), u64_at(&sound, 40) + u64_at(&sound, 48));
    let (mut nr, mut tried) = (0, 0);
    while at < end {
        let size = size_at(&sound, at);
        // Not the last few: what is left behind them is too little to tell records from other bytes.
        if nr % 40 == 20 && at + 1000 < end {
            for wrong in [0u16, 4, 8, 16, 24, 41, 4_001, 60_000, u16::MAX] {
                let boundary = usize::from(wrong) == size;
                if boundary {
                    continue;
                }
                let mut damaged = sound.clone();
                damaged[at + 6..at + 8].copy_from_slice(&wrong.to_le_bytes());
                let (found, issues) = samples(damaged);
                assert!(found + 1 >= all, "{name}: size {wrong} at {at:#x}: {found} of {all} samples");
                assert!(issues.damaged(), "{name}: size {wrong} at {at:#x} goes unnoticed");
                tried += 1;
            }
        }
        nr += 1;
        at += size;
    }
    assert!(tried > 40, "{name}: {tried}");
}

#[test]
fn records_behind_a_wrong_size_are_found_again() {
    wrong_sizes("main");
    wrong_sizes("multi");
    wrong_sizes("everything");
}

/// A record that is not all there at the end stays one: what lies in it is not taken for records.
#[test]
fn a_cut_record_is_no_new_beginning() {
    let sound = fixture("multi");
    let (start, all) = (u64_at(&sound, 40), u64_at(&sound, 48));
    let (mut at, mut starts) = (start, Vec::new());
    while at < start + all {
        starts.push(at);
        at += size_at(&sound, at);
    }
    for cut in (start + 2_000..start + all).step_by(37) {
        let whole = starts.iter().filter(|at| **at + size_at(&sound, **at) <= cut).count();
        let recording = Recording::from_bytes(Bytes::new(sound[..cut].to_vec())).unwrap();
        let count: usize = recording.batches(Ordering::File).unwrap().map(|batch| batch.len()).sum();
        assert_eq!(count, whole, "cut at {cut:#x}");
    }
}

fn stats(bytes: Vec<u8>) -> (usize, Vec<Option<usize>>, Issues) {
    let recording = Recording::from_bytes(Bytes::new(bytes)).unwrap();
    let mut batches = recording.batches(Ordering::File).unwrap();
    let mut events = Vec::new();
    for batch in batches.by_ref() {
        events.extend(
            batch.iter().filter(|event| event.head().kind == SAMPLE).map(|event| event.event_index()),
        );
    }
    (batches.metadata().schema.events().len(), events, batches.issues().clone())
}

/// The table tells how far apart the attrs are, each attr how long it is, and where its ids are shows which of the two is
/// right.
#[test]
fn a_wrong_size_of_an_attr_costs_nothing() {
    let sound = fixture("multi");
    let attrs = u64_at(&sound, 24);
    let (_, all, _) = stats(sound.clone());
    for wrong in [63u32, 65, 72, 96, 144, 4096, u32::MAX] {
        let mut damaged = sound.clone();
        damaged[attrs + 4..attrs + 8].copy_from_slice(&wrong.to_le_bytes());
        let (events, samples, issues) = stats(damaged);
        assert_eq!((events, &samples), (3, &all), "attr size {wrong}");
        assert!(issues.damaged(), "attr size {wrong} goes unnoticed");
    }
    for wrong in [0u64, 1, 16, 72, 1 << 20, 1 << 63] {
        let mut damaged = sound.clone();
        damaged[16..24].copy_from_slice(&wrong.to_le_bytes());
        let (events, samples, issues) = stats(damaged);
        assert_eq!((events, &samples), (3, &all), "attr_size {wrong} in the header");
        assert!(issues.damaged(), "attr_size {wrong} goes unnoticed");
    }
}

/// With one of two events lost, its samples are not given to the other.
#[test]
fn samples_of_a_lost_event_of_a_pipe_are_nobodys() {
    let sound = fixture("pipe");
    let (_, all, _) = stats(sound.clone());
    let of_first = all.iter().filter(|event| **event == Some(0)).count();
    let mut damaged = sound;
    // The first record is HEADER_ATTR; its attr's size is behind the type.
    damaged[16 + 8 + 4..16 + 8 + 8].copy_from_slice(&u32::MAX.to_le_bytes());
    let (events, samples, issues) = stats(damaged);
    assert_eq!(events, 1);
    assert_eq!(samples.iter().filter(|event| event.is_none()).count(), of_first);
    assert!(issues.damaged());
}

/// A file by hand: one event with `sample_type` TIME, an AUXTRACE record with `claimed` and really 64 bytes behind it, samples,
/// another one that is right, samples; and the index of the two (feature 18).
fn traced(claimed: u64) -> Vec<u8> {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let sample = |time: u64| words(&[16 << 48 | 9, time]);
    let samples = |from: u64| (from..from + 6).flat_map(sample).collect::<Vec<u8>>();
    // Size, offset, reference, idx and tid, cpu; then data that looks like records.
    let auxtrace =
        |size: u64| [words(&[48 << 48 | 71, size, 0, 0, 0, 0]), (0..4).flat_map(sample).collect()].concat();
    let first = [auxtrace(claimed), samples(100)].concat();
    let data = [first.clone(), auxtrace(64), samples(200)].concat();
    let end = 184 + data.len() as u64;
    let head = [0x3245_4c49_4652_4550, 104, 80, 104, 80, 184, data.len() as u64, 0, 0, 1 << 18, 0, 0, 0];
    let attr = [64 << 32 | 1, 0, 1, 4, 0, 0, 0, 0, 0, 0];
    let index = [end + 16, 40, 2, 184, 48, 184 + first.len() as u64, 48];
    [words(&head), words(&attr), data, words(&index)].concat()
}

#[test]
fn a_payload_that_covers_the_next_one_cannot_be() {
    let (count, issues) = samples(traced(64));
    assert_eq!((count, issues.is_empty()), (12, true), "{issues:?}");
    for claimed in [64 + 6 * 16 + 8, 64 + 6 * 16 + 48 + 64, 64 + 6 * 16 + 48 + 64 + 16 * 3] {
        let (count, issues) = samples(traced(claimed));
        assert!(count >= 12, "{claimed}: {count} samples");
        let first = issues.iter().next().unwrap();
        assert!(first.message.contains("the next AUXTRACE record is inside"), "{claimed}: {first}");
        assert_eq!(first.place.offset, 184);
    }
}

/// A pipe by hand: an event with `sample_type` TIME, an AUXTRACE record with `claimed` and really 64 bytes of trace behind it,
/// then samples, the first of them of type `first`.
fn swallowing(claimed: u64, first: u64) -> Vec<u8> {
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let attr = [72 << 48 | 64, 64 << 32 | 1, 0, 1, 4, 0, 0, 0, 0];
    let auxtrace = [48 << 48 | 71, claimed, 0, 0, 0, 0];
    let trace = [0x0e38_71ab_2299_8040_u64; 8];
    let samples: Vec<u64> = (1..20).flat_map(|time| [16 << 48 | 9, time]).collect();
    let head = [0x3245_4c49_4652_4550, 16];
    [
        words(&head),
        words(&attr),
        words(&auxtrace),
        words(&trace),
        words(&[16 << 48 | first, 0]),
        words(&samples),
    ]
    .concat()
}

#[test]
fn a_payload_that_swallows_records_cannot_be() {
    let (count, issues) = samples(swallowing(64, 9));
    assert_eq!((count, issues.is_empty()), (20, true), "{issues:?}");
    // It ends inside of a record.
    for claimed in [64 + 8, 64 + 16 * 3 + 8, 64 + 16 * 15 + 4, 64 + 16 * 19 + 9] {
        let (count, issues) = samples(swallowing(claimed, 9));
        let first = issues.iter().next().unwrap();
        assert!(first.message.contains("records begin behind its first 64"), "{claimed}: {first}");
        assert_eq!((count, first.place.offset), (20, 16 + 72), "{claimed}");
    }
    // What follows is no record, but the payload holds none either: then that one is the damage.
    let (count, issues) = samples(swallowing(64, 0x7777_7777));
    assert_eq!(count, 19);
    assert!(issues.iter().all(|issue| !issue.message.contains("payload")), "{issues:?}");
    assert!(issues.damaged());
}

/// A size that ends exactly where a later record begins: what the record has behind its name tells.
#[test]
fn a_name_with_another_record_behind_it() {
    let tried: usize = ["main", "multi", "everything"].into_iter().map(sizes_that_take_in_the_next).sum();
    assert!(tried >= 20, "{tried}");
}

fn sizes_that_take_in_the_next(name: &str) -> usize {
    let sound = fixture(name);
    let (mut at, end) = (u64_at(&sound, 40), u64_at(&sound, 40) + u64_at(&sound, 48));
    let mut tried = 0;
    while at < end {
        let (number, size) = (sound[at], size_at(&sound, at));
        // MMAP, COMM, MMAP2, KSYMBOL, CGROUP.
        if [1, 3, 10, 17, 19].contains(&number) && at + size < end {
            let both = u16::try_from(size + size_at(&sound, at + size)).unwrap();
            let mut damaged = sound.clone();
            damaged[at + 6..at + 8].copy_from_slice(&both.to_le_bytes());
            let (_, issues) = samples(damaged);
            let told = issues.iter().find(|issue| issue.message.contains("behind the name"));
            assert!(told.is_some_and(|told| told.place.offset == at as u64), "{at:#x}: {issues:?}");
            tried += 1;
        }
        at += size;
    }
    tried
}

/// Where the records of a type lie in a fixture.
fn places(recording: &[u8], kind: u32) -> Vec<usize> {
    let (mut at, end) = (u64_at(recording, 40), u64_at(recording, 40) + u64_at(recording, 48));
    let mut places = Vec::new();
    while at < end {
        if u32::from_le_bytes(recording[at..at + 4].try_into().unwrap()) == kind {
            places.push(at);
        }
        at += size_at(recording, at);
    }
    places
}

/// A record whose type was changed has the wrong size for it, and is told: samples that claim to be what has a fixed size, names
/// that claim to be what is longer.
#[test]
fn records_that_cannot_be_are_told() {
    const COMM: u32 = 3;
    let sound = fixture("multi");
    let fixed = [2, 4, 5, 6, 7, 11, 12, 13, 14, 15, 18, 21, 68, 71, 76, 77, 82];
    let longer = [10, 16];
    let changes = fixed.map(|kind| (SAMPLE, kind)).into_iter().chain(longer.map(|kind| (COMM, kind)));
    for (from, to) in changes {
        let at = places(&sound, from).into_iter().max_by_key(|at| size_at(&sound, *at)).unwrap();
        let mut damaged = sound.clone();
        damaged[at..at + 4].copy_from_slice(&u32::to_le_bytes(to));
        let (_, issues) = samples(damaged);
        assert!(issues.damaged(), "type {from} of {} bytes as {to} goes unnoticed", size_at(&sound, at));
    }
}
