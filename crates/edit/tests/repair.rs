//! Recordings that are cut anywhere become sound ones, and no sample before the cut is lost.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use perffile::bytes::Bytes;
use perffile::wire::record::kind;
use perffile::write::{Compressed, Options, Writer, copy};
use perffile::{Ordering, Recording};
use readperf_edit::{Editor, Plan};
use std::io::Cursor;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn repaired(recording: &Recording) -> (Recording, u64) {
    let plan = Plan { repair: true, ..Plan::default() };
    let mut bytes = Cursor::new(Vec::new());
    let mut editor = Editor::new(&plan, None, |_| {});
    let options = Options { order: recording.metadata().order, compression: None };
    let writer = Writer::file(&mut bytes, options);
    copy(recording, Ordering::File, writer, Compressed::Kept, &mut editor).unwrap();
    let tally = editor.tally();
    (Recording::from_bytes(Bytes::new(bytes.into_inner())).unwrap(), tally.samples)
}

/// The samples of a known event whose fields can be decoded.
fn samples(recording: &Recording) -> Vec<Vec<u8>> {
    let mut samples = Vec::new();
    for batch in recording.batches(Ordering::File).unwrap() {
        let good = |event: &perffile::Event<'_>| {
            event.head().kind == kind::SAMPLE && event.event_index().is_some() && event.record().is_ok()
        };
        samples.extend(batch.iter().filter(good).map(|event| event.raw().to_vec()));
    }
    samples
}

/// Numbers that look random, and are the same every time.
fn numbers(most: usize) -> impl Iterator<Item = usize> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % most as u64).ok()
    })
}

#[test]
fn cut_anywhere_it_becomes_sound_and_keeps_its_samples() {
    let mut repairs = 0;
    for name in ["main", "multi", "group", "everything", "tracepoints", "zstd", "pipe", "dwarf"] {
        let whole = std::fs::read(fixtures().join(name).join("perf.data")).unwrap();
        let all = samples(&Recording::from_bytes(Bytes::new(whole.clone())).unwrap());
        for cut in numbers(whole.len()).take(200) {
            // Too little to say what it is.
            let Ok(damaged) = Recording::from_bytes(Bytes::new(whole[..cut].to_vec())) else { continue };
            let before = samples(&damaged);
            assert!(all.starts_with(&before), "{name} cut at {cut}");
            let (sound, kept) = repaired(&damaged);
            let after = samples(&sound);
            assert_eq!(after.len() as u64, kept, "{name} cut at {cut}");
            assert!(before == after, "{name} cut at {cut}: {} of {} samples", after.len(), before.len());
            let issues = sound.read_metadata().unwrap().issues;
            assert!(!issues.damaged(), "{name} cut at {cut}: {issues:?}");
            repairs += 1;
        }
    }
    assert!(repairs > 1200, "{repairs}");
}

#[test]
fn bits_that_flipped_leave_a_sound_recording() {
    for name in ["multi", "everything", "tracepoints"] {
        let whole = std::fs::read(fixtures().join(name).join("perf.data")).unwrap();
        for at in numbers(whole.len()).take(300) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            let Ok(damaged) = Recording::from_bytes(Bytes::new(bytes)) else { continue };
            let (sound, _) = repaired(&damaged);
            for batch in sound.batches(Ordering::File).unwrap() {
                for event in batch.iter() {
                    assert!(event.record().is_ok(), "{name} bit {at}: {}", event.place());
                }
            }
            let again = repaired(&sound).0;
            assert_eq!(samples(&again), samples(&sound), "{name} bit {at}");
        }
    }
}
