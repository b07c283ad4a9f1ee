//! Which event a sample belongs to, and what is known of it when that cannot be told.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

use perffile::bytes::Bytes;
use perffile::wire::attr::SampleType as T;
use perffile::{Batch, IssueKind, Issues, Ordering, Recording};

/// A little-endian pipe stream of some events, each a `sample_type` and its ids, and of some samples, each some words.
fn stream(events: &[(T, &[u64])], samples: &[&[u64]]) -> Recording {
    let mut bytes = b"PERFILE2\x10\0\0\0\0\0\0\0".to_vec();
    for (nr, (sample_type, ids)) in events.iter().enumerate() {
        let mut body = vec![0; 64];
        body[0..4].copy_from_slice(&1u32.to_le_bytes());
        body[4..8].copy_from_slice(&64u32.to_le_bytes());
        body[8..16].copy_from_slice(&(nr as u64).to_le_bytes());
        body[16..24].copy_from_slice(&7u64.to_le_bytes());
        body[24..32].copy_from_slice(&sample_type.0.to_le_bytes());
        body.extend(ids.iter().flat_map(|id| id.to_le_bytes()));
        record(&mut bytes, 64, &body);
    }
    for words in samples {
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        record(&mut bytes, 9, &body);
    }
    Recording::from_bytes(Bytes::new(bytes)).unwrap()
}

fn record(bytes: &mut Vec<u8>, kind: u32, body: &[u8]) {
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&2u16.to_le_bytes());
    bytes.extend_from_slice(&u16::try_from(body.len() + 8).unwrap().to_le_bytes());
    bytes.extend_from_slice(body);
}

/// Event and instruction pointer of a sample.
type Told = (Option<usize>, Option<u64>);

/// Of each sample.
fn samples(recording: &Recording) -> (Vec<Told>, Issues) {
    let mut batches = recording.batches(Ordering::File).unwrap();
    let all: Vec<Batch> = batches.by_ref().collect();
    let events = all.iter().flat_map(Batch::iter).filter(|event| event.head().kind == 9);
    let told = events.map(|event| (event.event_index(), event.sample().and_then(|sample| sample.ip())));
    (told.collect(), batches.issues().clone())
}

#[test]
fn ids_tell_the_event_even_at_different_places() {
    // The id lies behind ip, time and addr in the first event, behind ip alone in the second.
    let events: [(T, &[u64]); 2] = [(T::IP | T::TIME | T::ADDR | T::ID, &[11, 12]), (T::IP | T::ID, &[21])];
    let recording = stream(&events, &[&[0xa, 100, 0, 12], &[0xb, 21], &[0xc, 200, 5, 11]]);
    let (told, issues) = samples(&recording);
    assert_eq!(told, [(Some(0), Some(0xa)), (Some(1), Some(0xb)), (Some(0), Some(0xc))]);
    assert!(issues.is_empty(), "{issues:?}");
}

#[test]
fn an_id_at_the_place_of_another_event_is_not_taken_for_it() {
    // Word 1 of the first event's sample is a time, and happens to be the id of the second, which has it there.
    let events: [(T, &[u64]); 2] = [(T::IP | T::TIME | T::ID, &[11]), (T::IP | T::ID, &[21])];
    let (told, _) = samples(&stream(&events, &[&[0xa, 21, 11]]));
    assert_eq!(told, [(Some(0), Some(0xa))]);
}

#[test]
fn id_zero_is_the_first_event() {
    let events: [(T, &[u64]); 2] = [(T::IP | T::IDENTIFIER, &[11]), (T::IP | T::IDENTIFIER, &[21])];
    let (told, _) = samples(&stream(&events, &[&[0, 0xa], &[21, 0xb]]));
    assert_eq!(told, [(Some(0), Some(0xa)), (Some(1), Some(0xb))]);
}

#[test]
fn a_sample_of_no_known_event_is_still_read_where_all_agree() {
    let events: [(T, &[u64]); 2] = [(T::IP | T::IDENTIFIER, &[11]), (T::IP | T::IDENTIFIER, &[21])];
    let (told, _) = samples(&stream(&events, &[&[99, 0xa]]));
    assert_eq!(told, [(None, Some(0xa))]);
}

#[test]
fn a_sample_of_no_known_event_is_not_guessed_at_where_they_differ() {
    let events: [(T, &[u64]); 2] = [(T::IP | T::IDENTIFIER, &[11]), (T::IP | T::ADDR | T::IDENTIFIER, &[21])];
    let (told, _) = samples(&stream(&events, &[&[99, 0xa, 0]]));
    assert_eq!(told, [(None, None)]);
}

#[test]
fn without_any_id_all_count_for_the_first_and_that_is_said() {
    let events: [(T, &[u64]); 2] = [(T::IP, &[]), (T::IP, &[])];
    let (told, issues) = samples(&stream(&events, &[&[0xa], &[0xb]]));
    assert_eq!(told, [(Some(0), Some(0xa)), (Some(0), Some(0xb))]);
    assert!(issues.iter().any(|issue| issue.kind == IssueKind::AmbiguousEvents), "{issues:?}");
    assert!(!issues.damaged());
}

#[test]
fn one_event_needs_no_ids() {
    let (told, _) = samples(&stream(&[(T::IP | T::ID, &[])], &[&[0xa, 77]]));
    assert_eq!(told, [(Some(0), Some(0xa))]);
}

#[test]
fn an_id_is_not_taken_for_that_of_an_event_whose_samples_have_none() {
    // Word 1 is where the first event has its id, and happens to be the id of the second, which records none.
    let events: [(T, &[u64]); 2] = [(T::IP | T::ID, &[11]), (T::IP | T::TIME, &[21])];
    let (told, _) = samples(&stream(&events, &[&[0xa, 11], &[0xb, 21]]));
    assert_eq!(told, [(Some(0), Some(0xa)), (None, None)]);
}
