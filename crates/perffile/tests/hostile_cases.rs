//! Lies that somebody might think of: counts, sizes and offsets that cannot be, bombs, and nests.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

mod fuzz_entry;
mod hostile;

use fuzz_entry::everything;
use hostile::allocation::{self, allocated, alone, peak};
use hostile::clock;
use hostile::recipe::{Recipe, attr, sample};
use perffile::bytes::Bytes;
use perffile::tracepoint::{System, TracingData};
use perffile::wire::endian::{Le, Order};
use perffile::wire::feature::{FEATURES, bit};
use perffile::wire::record::kind;
use perffile::{IssueKind, Metadata, Ordering, Recording};
use std::io::{Cursor, Read, Write};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

const MIB: usize = 1 << 20;

/// Unoptimised code is a lot slower.
fn seconds(count: u64) -> Duration {
    Duration::from_secs(if cfg!(debug_assertions) { count * 10 } else { count })
}

/// Runs it, and checks that it stays within these bounds; what it returns.
fn bounded<T>(most_mib: usize, most: Duration, work: impl FnOnce() -> T) -> T {
    let start = clock::cpu_time();
    let (result, bytes) = peak(work);
    let time = clock::cpu_time() - start;
    assert!(bytes <= most_mib * MIB, "{} MiB at the peak", bytes / MIB);
    assert!(time <= most, "{time:?}");
    result
}

fn open(bytes: Vec<u8>) -> perffile::Result<Recording> {
    Recording::from_bytes(Bytes::new(bytes))
}

fn issues(metadata: &Metadata) -> Vec<IssueKind> {
    metadata.issues.iter().map(|issue| issue.kind).collect()
}

#[test]
fn counts_without_end_in_every_feature() {
    let _alone = alone();
    let mut bits: Vec<u32> = FEATURES.iter().map(|kind| kind.bit).collect();
    bits.sort_unstable();
    for word in [u64::MAX, 1 << 32, (1 << 32) - 1, 1 << 63, 1 << 61, 0x7fff_ffff] {
        for words in [1, 2, 100] {
            let section = Le::put_u64(word).repeat(words);
            let features = bits.iter().map(|bit| (*bit, section.clone())).collect();
            let recipe = Recipe { features, data: sample(1), ..Recipe::default() };
            let seen = bounded(16, seconds(1), || everything(recipe.bytes())).expect("still a recording");
            assert_eq!((seen.records, seen.samples), (1, 2));
        }
    }
}

#[test]
fn attr_sizes_that_cannot_be() {
    let _alone = alone();
    for size in [0, 1, 63, 65, 4096, 1 << 31, u32::MAX] {
        for stride in [64, 79, 80, 81, 144, 4096, 1 << 32, 1 << 63, u64::MAX - 15, u64::MAX] {
            let attrs_size = Some(if stride > 1 << 30 { u64::MAX } else { 80 * 1000 });
            let recipe = Recipe {
                attr_size: stride,
                attrs_size,
                attrs: attr(size, u64::MAX - 7, u64::MAX).repeat(1000),
                data: sample(1),
                ..Recipe::default()
            };
            // Read at a wrong stride, many attrs name the same bytes as their ids; `Limits::ids` bounds that.
            bounded(64, seconds(1), || everything(recipe.bytes()));
        }
    }
}

#[test]
fn more_attrs_than_anybody_needs() {
    let _alone = alone();
    // As many as fit, and their ids all in the same place.
    let count = 100_000;
    let ids: Vec<u8> = (1u64..=1000).flat_map(u64::to_le_bytes).collect();
    let recipe = Recipe {
        attrs: attr(64, 104 + 80 * count as u64, ids.len() as u64).repeat(count),
        attrs_size: Some(u64::MAX),
        data: ids,
        ..Recipe::default()
    };
    let bytes = recipe.bytes();
    let recording = bounded(600, seconds(5), || open(bytes)).unwrap();
    assert_eq!(recording.metadata().schema.events().len(), 65_536);
    assert!(issues(recording.metadata()).contains(&IssueKind::BadAttr));
    let ids: usize = recording.metadata().schema.events().iter().map(|event| event.ids.len()).sum();
    assert!(ids <= 16 << 20, "{ids} ids");
}

#[test]
fn as_many_events_in_a_pipe() {
    let _alone = alone();
    let mut file = b"PERFILE2\x10\0\0\0\0\0\0\0".to_vec();
    let one = &attr(64, 0, 0)[..64];
    for _ in 0..70_000 {
        fuzz_entry::push(&mut file, kind::HEADER_ATTR, one);
    }
    let recording = open(file).unwrap();
    let metadata = bounded(400, seconds(5), || recording.read_metadata()).unwrap();
    assert_eq!(metadata.schema.events().len(), 65_536);
    // Without ids nothing tells which of them a sample would belong to.
    assert_eq!(issues(&metadata), [IssueKind::BadAttr, IssueKind::AmbiguousEvents]);
}

/// A pipe with this many events, whose names are left to the reader.
fn unnamed(events: usize) -> Vec<u8> {
    let mut file = b"PERFILE2\x10\0\0\0\0\0\0\0".to_vec();
    let mut one = attr(64, 0, 0)[..64].to_vec();
    one[0] = 2;
    (0..events).for_each(|_| fuzz_entry::push(&mut file, kind::HEADER_ATTR, &one));
    file
}

#[test]
fn names_that_come_with_every_round() {
    let _alone = alone();
    let mut file = unnamed(4000);
    for id in 0..4000u64 {
        let mut told = (id + 7).to_le_bytes().to_vec();
        told.resize(72, b'n');
        fuzz_entry::push(&mut file, kind::HEADER_EVENT_TYPE, &told);
        fuzz_entry::push(&mut file, kind::FINISHED_ROUND, &[]);
    }
    let size = file.len();
    let recording = open(file).unwrap();
    let (metadata, bytes) = allocated(|| {
        let mut batches = recording.batches(Ordering::Time).unwrap();
        batches.by_ref().for_each(drop);
        batches.metadata().clone()
    });
    assert_eq!(metadata.schema.events().len(), 4000);
    // A name for each event after every round would be 16 million names.
    assert!(bytes < 60 * MIB, "{} MiB for {size} bytes", bytes / MIB);
}

#[test]
fn formats_that_are_read_again_and_again() {
    let _alone = alone();
    let format = b"name: x\nID: 7\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->a\n";
    let formats = vec![&format[..]; 20_000];
    let data = TracingData {
        version: b"0.6",
        long_size: 8,
        page_size: 4096,
        systems: vec![System { name: b"s", formats }],
        ..TracingData::default()
    };
    let data = data.encode();
    let mut file = unnamed(1);
    fuzz_entry::push(&mut file, kind::HEADER_TRACING_DATA, &u32::try_from(data.len()).unwrap().to_le_bytes());
    file.extend_from_slice(&data);
    file.resize(file.len() + data.len().next_multiple_of(8) - data.len(), 0);
    for nr in 0..64u64 {
        let told = [&u64::from(bit::PMU_MAPPINGS).to_le_bytes()[..], &[0; 4], &nr.to_le_bytes()].concat();
        fuzz_entry::push(&mut file, kind::HEADER_FEATURE, &told);
        file.extend(sample(nr + 1));
        fuzz_entry::push(&mut file, kind::FINISHED_ROUND, &[]);
    }
    let recording = open(file).unwrap();
    let read = || recording.batches(Ordering::Time).unwrap().map(|batch| batch.len()).sum::<usize>();
    let (_, bytes) = allocated(read);
    assert!(bytes < 200 * data.len(), "{} times the {} bytes of formats", bytes / data.len(), data.len());
}

#[test]
fn features_do_not_keep_what_they_came_in() {
    let _alone = alone();
    let mut file = fuzz_entry::pipe_start();
    for id in 0..300u64 {
        fuzz_entry::push(&mut file, kind::HEADER_FEATURE, &[&id.to_le_bytes()[..], b"some"].concat());
        file.extend(sample(id + 1).repeat(13_000));
    }
    let size = file.len();
    let recording = Recording::from_reader(Cursor::new(file)).unwrap();
    let metadata = bounded(24, seconds(5), || recording.read_metadata()).unwrap();
    assert!(size > 100 * MIB, "{size}");
    assert_eq!(metadata.features.bits().count(), 256);
    assert!(issues(&metadata).contains(&IssueKind::BadFeature));
}

#[test]
fn a_long_table_of_names_for_many_events() {
    let _alone = alone();
    let events = 30_000;
    // Only types whose numbers differ from machine to machine take names from the table: tracepoints are one.
    let mut tracepoint = attr(64, 0, 0);
    tracepoint[0] = 2;
    let mut recipe = Recipe { attrs: tracepoint.repeat(events), ..Recipe::default() };
    // All events have config 0, whose name is the last of the table.
    for config in (0..100_000u64).rev() {
        recipe.data.extend_from_slice(&Le::put_u64(config));
        recipe.data.extend_from_slice(&[b'n'; 64]);
    }
    let mut bytes = recipe.bytes();
    let (at, size) = (104 + recipe.attrs.len() as u64, recipe.data.len() as u64);
    bytes[56..64].copy_from_slice(&Le::put_u64(at));
    bytes[64..72].copy_from_slice(&Le::put_u64(size));
    // The table stands where the records were.
    bytes[40..48].copy_from_slice(&Le::put_u64(at + size));
    bytes[48..56].copy_from_slice(&Le::put_u64(0));
    let recording = bounded(200, seconds(2), || open(bytes)).unwrap();
    assert_eq!(recording.metadata().schema.events()[7].name, "n".repeat(64));
}

/// Bytes that a reader gives without end, after some that it gives first.
struct Endless {
    first: Cursor<Vec<u8>>,
    given: u64,
    most: u64,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.first.read(out)?;
        if count > 0 {
            return Ok(count);
        }
        let count = usize::try_from(self.most - self.given).unwrap_or(usize::MAX).min(out.len());
        self.given += count as u64;
        out[..count].fill(0);
        Ok(count)
    }
}

fn auxtrace(size: u64) -> Vec<u8> {
    let mut file = fuzz_entry::pipe_start();
    let mut body = Le::put_u64(size).to_vec();
    body.resize(40, 0);
    fuzz_entry::push(&mut file, kind::AUXTRACE, &body);
    file
}

#[test]
fn a_payload_larger_than_the_world_does_not_fill_the_memory() {
    let _alone = alone();
    let given = 400 * MIB as u64;
    for size in [1 << 63, u64::MAX, 1 << 40] {
        let reader = Endless { first: Cursor::new(auxtrace(size)), given: 0, most: given };
        let metadata = bounded(16, seconds(5), || Recording::from_reader(reader)?.read_metadata()).unwrap();
        assert_eq!(issues(&metadata), [IssueKind::CutData]);
        let message = metadata.issues.iter().next().unwrap().message.clone();
        assert!(message.contains(&given.to_string()), "{message}");
        // The same from memory.
        let mut bytes = auxtrace(size);
        bytes.resize(bytes.len() + 1000, 0);
        let metadata = bounded(1, seconds(1), || open(bytes).unwrap().read_metadata()).unwrap();
        assert_eq!(issues(&metadata), [IssueKind::CutData]);
    }
}

#[test]
fn what_follows_a_payload_that_was_passed_over_is_read() {
    let _alone = alone();
    let size = 200 * MIB as u64;
    let payload = Endless { first: Cursor::new(auxtrace(size)), given: 0, most: size };
    let reader = payload.chain(Cursor::new(sample(77).repeat(3)));
    let recording = Recording::from_reader(reader).unwrap();
    let mut times = Vec::new();
    let issues = bounded(16, seconds(5), || recording.for_each(|event| times.extend(event.time()))).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    assert_eq!(times, [77; 3]);
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn wrappers_in_wrappers() {
    let _alone = alone();
    let recipe = Recipe { data: sample(1), ..Recipe::default() };
    let mut bytes = recipe.bytes();
    for _ in 0..3 {
        bytes = gzip(&bytes);
    }
    assert!(open(bytes.clone()).is_ok(), "three are odd, but can be read");
    for _ in 0..200 {
        bytes = gzip(&bytes);
    }
    let error = bounded(8, seconds(1), || open(bytes)).unwrap_err();
    assert!(error.to_string().contains("wrapper"), "{error}");
}

#[test]
fn a_wrapper_that_expands_without_end() {
    let _alone = alone();
    // More than 1 GiB of zeros behind a header.
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(&Recipe::default().bytes()).unwrap();
    for _ in 0..1100 {
        encoder.write_all(&vec![0; MIB]).unwrap();
    }
    let bytes = encoder.finish().unwrap();
    let recording = bounded(64, seconds(10), || open(bytes)).unwrap();
    let messages: Vec<_> = recording.metadata().issues.iter().map(|issue| issue.message.clone()).collect();
    assert!(messages.iter().any(|message| message.contains("expands to more than")), "{messages:?}");
}

#[test]
fn a_directory_with_thousands_of_streams() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let recipe = Recipe { data: sample(1), ..Recipe::default() };
    std::fs::write(path.join("data"), recipe.bytes()).unwrap();
    for nr in 0..3000u64 {
        std::fs::write(path.join(format!("data.{nr}")), sample(10_000 - nr)).unwrap();
    }
    std::fs::create_dir(path.join("data.3000")).unwrap();
    std::fs::write(path.join("data.3001"), "").unwrap();
    std::fs::write(path.join("data.-1"), "no stream").unwrap();
    let pipe = path.join("data.3002");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success());
    assert!(made, "mkfifo is part of every system");
    let recording = bounded(16, seconds(2), || Recording::open(path)).unwrap();
    let mut times = Vec::new();
    let issues = recording.for_each(|event| times.extend(event.time())).unwrap();
    let told: Vec<_> = issues.iter().map(|issue| (issue.kind, issue.count)).collect();
    assert_eq!(told, [(perffile::IssueKind::MissingStream, 2)], "the folder and the pipe: {issues:?}");
    assert_eq!(times.len(), 3001);
    assert!(times.is_sorted());
}

/// A table of attrs that goes on over all of the file: what are no attrs say that their ids are whatever lies at some other place.
#[test]
fn events_have_no_more_ids_than_the_file_has_room_for() {
    let _alone = alone();
    for name in ["group", "kernel", "multi"] {
        let path = format!("{}/../../tests/fixtures/{name}/perf.data", env!("CARGO_MANIFEST_DIR"));
        let mut bytes = std::fs::read(path).unwrap();
        let room = bytes.len() / 8;
        // The size of the table, in the header.
        bytes[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        let recording = Recording::from_bytes(Bytes::new(bytes)).unwrap();
        let metadata = recording.metadata();
        let ids: usize = metadata.schema.events().iter().map(|event| event.ids.len()).sum();
        assert!(ids <= room, "{name}: {ids} ids in a file with room for {room}");
        assert!(metadata.issues.iter().any(|issue| issue.kind == IssueKind::BadAttr), "{name}");
    }
}
