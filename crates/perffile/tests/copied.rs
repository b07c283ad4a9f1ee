//! Recordings read and written again: nothing is lost, not a byte of a record.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

mod wire_support;
mod write_support;

use perffile::wire::endian::ByteOrder;
use perffile::wire::feature::bit;
use perffile::write::{Compressed, CompressedRecords, Compression, Options, Unchanged};
use perffile::{Container, IssueKind, Recording};
use std::path::Path;
use wire_support::corpus::{corpus_or_skip, fixtures, recordings};
use write_support::{Count, Held, as_file, as_pipe, held, read};

/// Runs a check over all recordings below a folder; how many were read.
fn each(root: &Path, mut check: impl FnMut(&str, &Recording)) -> usize {
    let mut checked = 0;
    for path in recordings(root) {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        // Damage may make of it something that cannot be opened at all.
        let Ok(recording) = Recording::open(&path) else { continue };
        checked += 1;
        check(&name, &recording);
    }
    checked
}

fn options(recording: &Recording) -> Options {
    Options { order: recording.metadata().order, compression: None }
}

/// What is compared: where AUXTRACE records lie differs, and a big-endian file gets a HOSTNAME if it has none.
fn comparable(mut held: Held, order: ByteOrder) -> Held {
    if held.features.contains_key(&bit::AUXTRACE) {
        let index = held.features.get_mut(&bit::AUXTRACE).unwrap();
        let size = index.len();
        // simpleperf does not count them, and a pipe does not say that.
        *index = vec![0; size / 16];
    }
    if order == ByteOrder::Big && held.features.get(&bit::HOSTNAME).is_some_and(|name| name[4..] == [0; 64]) {
        held.features.remove(&bit::HOSTNAME);
    }
    held
}

fn assert_same(name: &str, order: ByteOrder, one: Held, other: Held) {
    let (one, other) = (comparable(one, order), comparable(other, order));
    assert_eq!(one.events, other.events, "{name}");
    for (bit, section) in &one.features {
        assert_eq!(Some(section), other.features.get(bit), "{name}: feature {bit}");
    }
    assert_eq!(one.features.len(), other.features.len(), "{name}: features");
    let counts =
        |held: &Held| held.records.iter().map(|(part, records)| (*part, records.len())).collect::<Vec<_>>();
    assert_eq!(counts(&one), counts(&other), "{name}");
    for (part, records) in &one.records {
        let differs = records.iter().zip(&other.records[part]).position(|(one, other)| one != other);
        assert_eq!(differs, None, "{name}: {part}: first record that differs");
    }
}

/// Whether the records of a recording are all there: of others, what is there goes over.
fn is_sound(recording: &Recording) -> bool {
    !recording.read_metadata().unwrap().issues.damaged()
}

fn unchanged(name: &str, recording: &Recording) {
    let (order, container) = (recording.metadata().order, recording.metadata().container);
    let (bytes, copied) = match container {
        Container::Pipe => as_pipe(recording, options(recording), Compressed::Kept, &mut Unchanged),
        _ => as_file(recording, options(recording), Compressed::Kept, &mut Unchanged),
    };
    assert_eq!(copied.dropped, 0, "{name}");
    let written = read(bytes);
    if !is_sound(recording) {
        let left_out: u64 = copied.left_out.iter().map(|issue| issue.count).sum();
        let before = held(recording, Count::Expanded).records.values().map(Vec::len).sum::<usize>() as u64;
        assert_eq!(copied.records + left_out, before, "{name}: {copied:?}");
        let after = held(&written, Count::Expanded).records.values().map(Vec::len).sum::<usize>() as u64;
        assert_eq!(copied.records, after, "{name}: {:?}", written.read_metadata().unwrap().issues);
        return;
    }
    assert!(copied.left_out.is_empty(), "{name}: {:?}", copied.left_out);
    assert!(!written.read_metadata().unwrap().issues.damaged(), "{name}");
    assert_same(name, order, held(recording, Count::All), held(&written, Count::All));
}

fn through_a_pipe(name: &str, recording: &Recording) {
    let order = recording.metadata().order;
    if !is_sound(recording) || recording.metadata().container != Container::File {
        return;
    }
    let (pipe, copied) = as_pipe(recording, options(recording), Compressed::Kept, &mut Unchanged);
    let too_large = copied.left_out.iter().any(|issue| issue.kind == IssueKind::NotWritten);
    let (file, _) = as_file(&read(pipe), options(recording), Compressed::Kept, &mut Unchanged);
    let names = |recording: &Recording| -> Vec<String> {
        recording.read_metadata().unwrap().schema.events().iter().map(|event| event.name.clone()).collect()
    };
    assert_eq!(names(recording), names(&read(file.clone())), "{name}");
    let (mut before, mut after) = (held(recording, Count::Stream), held(&read(file), Count::Stream));
    // A pipe does not say where records lie in a file; and what does not say anything cannot be said in it.
    before
        .features
        .retain(|bit, section| *bit != bit::DIR_FORMAT && (!section.is_empty() || matches!(*bit, 15 | 19)));
    if too_large {
        eprintln!("{name}: {:?}", copied.left_out);
        before.features.retain(|bit, _| after.features.contains_key(bit));
    }
    // Old recordings have their names elsewhere, and get an EVENT_DESC.
    // simpleperf has the formats of tracepoints among the records, and of a pipe that cannot be told apart.
    for added in [bit::EVENT_DESC, bit::TRACING_DATA] {
        if !before.features.contains_key(&added) {
            after.features.remove(&added);
        }
    }
    // A table that holds nothing is none, those of the oldest form get the newer one, and the type of its entries says nothing.
    let lacks_pid = recording
        .metadata()
        .features
        .build_ids()
        .is_some_and(|ids| ids.entries.iter().any(|id| id.pid.is_none()));
    for held in [&mut before, &mut after] {
        let mut table = held.features.remove(&bit::BUILD_ID).unwrap_or_default();
        let mut at = 0;
        while at + 8 <= table.len() {
            table[at..at + 4].fill(0);
            let size = [table[at + 6], table[at + 7]];
            at += usize::from(if order == ByteOrder::Big {
                u16::from_be_bytes(size)
            } else {
                u16::from_le_bytes(size)
            });
        }
        if !table.is_empty() && !lacks_pid {
            held.features.insert(bit::BUILD_ID, table);
        }
    }
    assert_same(name, order, before, after);
}

fn compressed_and_back(name: &str, recording: &Recording) {
    let order = recording.metadata().order;
    if !is_sound(recording) {
        return;
    }
    for records in [CompressedRecords::Compressed, CompressedRecords::Compressed2] {
        let compression = Compression { level: 3, records };
        let how = Options { order, compression: Some(compression) };
        let (small, copied) = as_file(recording, how, Compressed::Anew, &mut Unchanged);
        assert!(copied.left_out.is_empty(), "{name}");
        let small = read(small);
        let metadata = small.read_metadata().unwrap();
        assert!(!metadata.issues.damaged(), "{name}: {:?}", metadata.issues);
        let (plain, _) = as_file(&small, options(recording), Compressed::Anew, &mut Unchanged);
        let plain = read(plain);
        assert!(!plain.read_metadata().unwrap().compressed, "{name}");
        let (mut before, after) = (held(recording, Count::Stream), held(&plain, Count::Stream));
        if recording.metadata().container == Container::Pipe {
            // What fills up a section of a pipe may be less.
            before.features.clone_from(&after.features);
        }
        assert_same(name, order, before, after);
    }
}

fn in_both_byte_orders(name: &str, recording: &Recording) {
    let order = recording.metadata().order;
    if !is_sound(recording) || recording.metadata().container != Container::File {
        return;
    }
    let other = if order == ByteOrder::Big { ByteOrder::Little } else { ByteOrder::Big };
    let how = Options { order: other, compression: None };
    let (swapped, copied) = as_file(recording, how, Compressed::Anew, &mut Unchanged);
    if !copied.left_out.is_empty() {
        eprintln!("{name}: {:?}", copied.left_out);
        return;
    }
    let swapped = read(swapped);
    assert_eq!(swapped.metadata().order, other, "{name}");
    let (back, copied) = as_file(&swapped, options(recording), Compressed::Anew, &mut Unchanged);
    assert!(copied.left_out.is_empty(), "{name}: {:?}", copied.left_out);
    let (before, mut after) = (held(recording, Count::Expanded), held(&read(back), Count::Expanded));
    if !before.features.contains_key(&bit::HOSTNAME) {
        after.features.remove(&bit::HOSTNAME);
    }
    assert_same(name, order, before, after);
}

type Check = fn(&str, &Recording);

const CHECKS: [(&str, Check); 4] = [
    ("unchanged", unchanged),
    ("through a pipe", through_a_pipe),
    ("compressed and back", compressed_and_back),
    ("in both byte orders", in_both_byte_orders),
];

#[test]
fn fixtures_are_the_same_afterwards() {
    for (what, check) in CHECKS {
        eprintln!("{what}");
        assert!(each(&fixtures(), check) >= 12);
    }
}

#[test]
fn the_corpus_is_the_same_afterwards() {
    let Some(root) = corpus_or_skip("the_corpus_is_the_same_afterwards") else { return };
    for (what, check) in CHECKS {
        eprintln!("{what}");
        assert!(each(&root, check) > 150);
    }
}
