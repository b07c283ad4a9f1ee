//! What is found by the index is what a walk from the first record finds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may fail loudly"
)]

use perffile::bytes::Bytes;
use perffile::{ErrorKind, Event, IssueKind, Limits, Ordering, RecordIndex, Recording};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// What is compared of a record.
#[derive(Clone, Debug, PartialEq)]
struct Found {
    index: u64,
    offset: u64,
    part: String,
    time: Option<u64>,
    event: Option<usize>,
    bytes: Vec<u8>,
    payload: Vec<u8>,
}

fn found(event: &Event<'_>) -> Found {
    Found {
        index: event.index(),
        offset: event.offset(),
        part: event.part().to_string(),
        time: event.time(),
        event: event.event_index(),
        bytes: event.raw().to_vec(),
        payload: event.payload().to_vec(),
    }
}

fn walked(recording: &Recording) -> Vec<Found> {
    let batches = recording.batches(Ordering::File).unwrap();
    batches.flat_map(|batch| batch.iter().map(|event| found(&event)).collect::<Vec<_>>()).collect()
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

/// Every recording among the fixtures.
fn recordings() -> Vec<PathBuf> {
    let mut list = Vec::new();
    let mut folders = vec![fixtures()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_recording = path.extension().is_some_and(|end| end == "data" || end == "dir");
            match (path.is_dir(), is_recording) {
                (_, true) => list.push(path),
                (true, false) => folders.push(path),
                _ => {}
            }
        }
    }
    list.sort();
    list
}

fn same(recording: &Recording) -> (Vec<Found>, RecordIndex) {
    let (expected, index) = (walked(recording), RecordIndex::of(recording).unwrap());
    assert_eq!(index.len(), expected.len() as u64);
    let got: Vec<Found> = index.from(0).map(|event| found(&event)).collect();
    assert_eq!(got, expected);
    let types: u64 = index.types().values().sum();
    assert_eq!(types, index.len());
    (expected, index)
}

#[test]
fn every_record_is_found_by_its_number() {
    let mut compressed = 0;
    let list = recordings();
    assert!(list.len() > 10, "{list:?}");
    for path in list {
        let Ok(recording) = Recording::open(&path) else { continue };
        let (expected, index) = same(&recording);
        compressed += usize::from(index.metadata().compressed);
        for number in (0..expected.len()).step_by(97).chain([expected.len().saturating_sub(1)]) {
            let event = index.from(number as u64).next().map(|event| found(&event));
            assert_eq!(event.as_ref(), expected.get(number), "{}: {number}", path.display());
        }
    }
    assert!(compressed > 0, "no recording is compressed");
}

#[test]
fn times_and_offsets_lead_to_the_first_record_behind_them() {
    for name in ["main", "multi", "zstd", "everything"] {
        let recording = Recording::open(fixtures().join(name).join("perf.data")).unwrap();
        let (expected, index) = same(&recording);
        let first = |is_it: &dyn Fn(&Found) -> bool| expected.iter().find(|record| is_it(record)).cloned();
        for record in expected.iter().step_by(13) {
            let at = record.offset - 3;
            let by_offset = index.at_offset(at).map(|event| found(&event));
            assert_eq!(by_offset, first(&|other| other.offset >= at), "{name}: {at:#x}");
            let Some(time) = record.time else { continue };
            let by_time = index.at_time(time).map(|event| found(&event));
            assert_eq!(
                by_time,
                first(&|other| other.time.is_some_and(|other| other >= time)),
                "{name}: {time}"
            );
        }
        assert!(index.at_time(u64::MAX).is_none() && index.at_offset(u64::MAX).is_none());
    }
}

#[test]
fn a_stream_has_none() {
    let bytes = std::fs::read(fixtures().join("pipe/perf.data")).unwrap();
    let recording = Recording::from_reader(std::io::Cursor::new(bytes)).unwrap();
    assert!(matches!(RecordIndex::of(&recording).unwrap_err().kind(), ErrorKind::Consumed));
    assert!(recording.batches(Ordering::File).is_ok(), "asking takes nothing from it");
}

#[test]
fn what_was_compressed_has_a_limit() {
    let mut limits = Limits::default();
    limits.spooled_bytes = 1000;
    let recording = Recording::open_with(fixtures().join("zstd/perf.data"), limits).unwrap();
    assert!(matches!(RecordIndex::of(&recording).unwrap_err().kind(), ErrorKind::Unsupported(_)));
}

/// Where the records of the fixture lie, by its header.
fn data_section(bytes: &[u8]) -> (usize, usize) {
    let word =
        |at: usize| usize::try_from(u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())).unwrap();
    (word(40), word(48))
}

#[test]
fn what_is_no_record_is_counted() {
    let mut bytes = std::fs::read(fixtures().join("main/perf.data")).unwrap();
    let (start, size) = data_section(&bytes);
    let recording = Recording::from_bytes(Bytes::new(bytes.clone())).unwrap();
    let records = walked(&recording);
    let (first, last) = (&records[40], &records[43]);
    let hole = usize::try_from(first.offset).unwrap()..usize::try_from(last.offset).unwrap();
    bytes[hole.clone()].fill(0xff);
    let recording = Recording::from_bytes(Bytes::new(bytes.clone())).unwrap();
    let (_, index) = same(&recording);
    let stray: Vec<_> = index.runs().iter().filter(|run| run.stray_bytes() > 0).collect();
    assert_eq!(stray.len(), 1);
    assert_eq!(stray[0].stray(), &bytes[hole]);
    assert_eq!(stray[0].offset(), last.offset);
    assert_eq!(stray[0].numbers().start, 40);

    // The last record is cut: what is there of it is behind all records.
    let end = usize::try_from(records.last().unwrap().offset).unwrap() + 5;
    bytes.truncate(end.min(start + size));
    let recording = Recording::from_bytes(Bytes::new(bytes)).unwrap();
    let (_, index) = same(&recording);
    let rest = index.runs().last().unwrap();
    assert_eq!((rest.stray_bytes(), rest.numbers().count()), (5, 0));
    assert!(index.metadata().issues.iter().any(|issue| issue.kind == IssueKind::CutData));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn damage_changes_nothing_about_that(changes in prop::collection::vec((0.0..1.0f64, any::<u8>()), 1..40), cut in 0.5..1.5f64) {
        let mut bytes = std::fs::read(fixtures().join("main/perf.data")).unwrap();
        let (start, size) = data_section(&bytes);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a file")]
        let place = |share: f64| start + (size as f64 * share) as usize;
        for (share, byte) in changes {
            bytes[place(share).min(start + size - 1)] = byte;
        }
        bytes.truncate(place(cut).min(bytes.len()));
        if let Ok(recording) = Recording::from_bytes(Bytes::new(bytes)) {
            let (records, index) = same(&recording);
            // All that there is between header and end is a record, belongs to one, or is counted. Where a size is wrong, the next
            // record may begin inside the one before.
            let known: u64 = records.iter().map(|record| (record.bytes.len() + record.payload.len()) as u64).sum();
            let stray: u64 = index.runs().iter().map(perffile::Run::stray_bytes).sum();
            if !records.is_empty() {
                prop_assert!(known + stray >= recording.data_bytes(), "{} and {}", known, stray);
            }
        }
    }
}
