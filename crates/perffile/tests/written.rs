//! Typed records written and read back are the same: any sequence of them, in all kinds of recordings, in both byte orders,
//! compressed or not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

mod write_support;

use perffile::wire::attr::{AttrFlags, BranchSampleType, EventAttr, ReadFormat, SampleShape, SampleType};
use perffile::wire::endian::Le;
use perffile::wire::feature::{Feature, bit};
use perffile::wire::record::{RECORDS, Record, USER_RECORDS, kind};
use perffile::wire::sample::{Sample, SampleId};
use perffile::wire::{CStr8, HeaderString};
use perffile::write::{CompressedRecords, Compression, Options, Target, Writer};
use perffile::{ByteOrder, Container, ErrorKind, Ordering, Recording};
use proptest::prelude::*;
use std::io::Cursor;

/// Types that say something to the walk, or whose data lies behind them: they are tested by recordings that are copied.
const NOT_HERE: [u32; 11] = [
    kind::HEADER_ATTR,
    kind::HEADER_FEATURE,
    kind::HEADER_TRACING_DATA,
    kind::AUXTRACE,
    kind::COMPRESSED,
    kind::COMPRESSED2,
    kind::EVENT_UPDATE,
    kind::SPLIT,
    kind::SPLIT_END,
    kind::EVENT_ID,
    kind::TRACING_DATA,
];

/// A record as bytes, of which typed ones are made: type, `misc`, body in little-endian.
type Seed = (u32, u16, Vec<u8>);

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    let numbers: Vec<u32> =
        RECORDS.iter().map(|kind| kind.number).filter(|number| !NOT_HERE.contains(number)).collect();
    // Counts have to be small for a record to have what it counts.
    let word = prop_oneof![4 => 0u64..4, 1 => any::<u64>()];
    let body = proptest::collection::vec(word, 0..24)
        .prop_map(|words| words.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>());
    let number = prop_oneof![1 => Just(kind::SAMPLE), 3 => proptest::sample::select(numbers)];
    proptest::collection::vec((number, any::<u16>(), body), 0..40)
}

fn shapes() -> impl Strategy<Value = SampleShape> {
    // Some fields, not nearly all: what is behind them would seldom fit into few bytes.
    let few = (any::<u64>(), any::<u64>()).prop_map(|(one, other)| one & other);
    (few, 0u64..32, 0u64..1 << 20, 0u64..8, any::<bool>()).prop_map(|(fields, read, branches, regs, all)| {
        SampleShape {
            sample_type: SampleType(fields & ((1 << 25) - 1)),
            read_format: ReadFormat(read),
            branch_sample_type: BranchSampleType(branches),
            sample_regs_user: regs,
            sample_regs_intr: regs,
            sample_id_all: all,
        }
    })
}

fn options() -> impl Strategy<Value = Options> {
    let records = prop_oneof![Just(CompressedRecords::Compressed), Just(CompressedRecords::Compressed2)];
    let compression = proptest::option::of((1..4, records));
    (any::<bool>(), compression).prop_map(|(is_big, compression)| Options {
        order: if is_big { ByteOrder::Big } else { ByteOrder::Little },
        compression: compression.map(|(level, records)| Compression { level, records }),
    })
}

/// What is known of a record: its type, `misc`, fields, trailer; in words, since it outlives its bytes.
type Told = (u32, u16, String, String);

fn attr(shape: &SampleShape) -> EventAttr {
    let flags = if shape.sample_id_all { AttrFlags::sample_id_all } else { AttrFlags(0) };
    EventAttr {
        sample_type: shape.sample_type,
        read_format: shape.read_format,
        branch_sample_type: shape.branch_sample_type,
        sample_regs_user: shape.sample_regs_user,
        sample_regs_intr: shape.sample_regs_intr,
        flags,
        size: 128,
        ..EventAttr::default()
    }
}

fn id(shape: &SampleShape) -> SampleId {
    let has = |field: SampleType| shape.sample_type.has(field);
    let number = |field: SampleType| has(field).then_some(7);
    SampleId {
        pid: has(SampleType::TID).then_some(1),
        tid: has(SampleType::TID).then_some(2),
        time: number(SampleType::TIME),
        id: number(SampleType::ID),
        stream_id: number(SampleType::STREAM_ID),
        cpu: has(SampleType::CPU).then_some(3),
        cpu_reserved: has(SampleType::CPU).then_some(0),
        identifier: number(SampleType::IDENTIFIER),
    }
}

/// Writes what can be written of the seeds; says what that is.
fn write<T: Target>(mut writer: Writer<T>, seeds: &[Seed], shape: &SampleShape) -> Vec<Told> {
    let event = writer.event(attr(shape), &[7, 8], "first");
    let container = writer.target().container();
    let mut told = Vec::new();
    for (number, misc, body) in seeds {
        let shape = if *number < USER_RECORDS { *shape } else { SampleShape::default() };
        let Ok((record, _)) = Record::decode::<Le>(*number, body, &shape, *misc) else { continue };
        let words = format!("{record:?}");
        let id = id(&shape);
        let has_trailer = *number < USER_RECORDS && *number != kind::SAMPLE && shape.sample_id_all;
        let trailer = (has_trailer && shape.sample_type.0 & 0x1_02c6 != 0).then_some(id);
        match writer.record(event, *misc, record, &id) {
            Ok(()) => told.push((*number, *misc, words, format!("{trailer:?}"))),
            // Not every body has a length that a record can have.
            Err(error) => assert!(matches!(error.kind(), ErrorKind::Unwritable(_)), "{error}"),
        }
    }
    assert!(writer.finish().unwrap().is_empty());
    // A directory has no rounds, and a file that has nothing else looks unfinished.
    if container == Container::Directory || container == Container::File && told.len() == 1 {
        told.retain(|told| told.0 != kind::FINISHED_ROUND);
    }
    told
}

/// What is read again.
fn read(recording: &Recording, shape: &SampleShape) -> Vec<Told> {
    let mut told = Vec::new();
    let mut batches = recording.batches(Ordering::File).unwrap();
    for batch in batches.by_ref() {
        for event in batch.iter() {
            let number = event.head().kind;
            let is_of_the_head =
                matches!(number, kind::HEADER_ATTR | kind::HEADER_FEATURE | kind::EVENT_UPDATE);
            if is_of_the_head || write_support::is_wrapping(number) {
                continue;
            }
            let (record, rest) = event.record().unwrap();
            assert!(rest.is_empty(), "{record:?} {rest:?}");
            told.push((number, event.head().misc, format!("{record:?}"), format!("{:?}", event.sample_id())));
        }
    }
    // A file without records would look unfinished, and has this one.
    if recording.metadata().container != Container::Pipe && told.len() == 1 {
        told.retain(|told| told.0 != kind::FINISHED_ROUND);
    }
    let schema = &batches.metadata().schema;
    assert_eq!(schema.events()[0].attr.shape(), *shape);
    assert_eq!((schema.events()[0].ids.as_slice(), schema.events()[0].name.as_str()), (&[7, 8][..], "first"));
    told
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(seeds in seeds(), shape in shapes(), options in options()) {
        let mut file = Cursor::new(Vec::new());
        let told = write(Writer::file(&mut file, options), &seeds, &shape);
        let recording = write_support::read(file.into_inner());
        prop_assert_eq!(recording.metadata().order, options.order);
        prop_assert_eq!(&told, &read(&recording, &shape), "file");

        let mut pipe = Vec::new();
        let told = write(Writer::pipe(&mut pipe, options), &seeds, &shape);
        let recording = write_support::read(pipe);
        prop_assert_eq!(recording.metadata().container, Container::Pipe);
        prop_assert_eq!(&told, &read(&recording, &shape), "pipe");
    }
}

proptest! {
    // These are files of the file system.
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_to_a_directory_is_read(seeds in seeds(), shape in shapes(), options in options()) {
        let folder = tempfile::tempdir().unwrap();
        let told = write(Writer::directory(folder.path(), options).unwrap(), &seeds, &shape);
        let recording = Recording::open(folder.path()).unwrap();
        prop_assert_eq!(recording.metadata().container, Container::Directory);
        prop_assert_eq!(&told, &read(&recording, &shape));
    }
}

#[test]
fn features_and_events_told_late_are_in_the_file() {
    let mut file = Cursor::new(Vec::new());
    let mut writer = Writer::file(&mut file, Options { order: ByteOrder::Big, compression: None });
    let early = writer.event(attr(&SampleShape::default()), &[1], "early");
    writer.record(early, 0, Record::FinishedInit(Default::default()), &SampleId::default()).unwrap();
    writer.event(attr(&SampleShape::default()), &[2, 3], "late");
    writer
        .feature(Feature::Hostname(perffile::wire::feature::text::Text { text: HeaderString::new(b"box") }))
        .unwrap();
    assert!(writer.finish().unwrap().is_empty());
    let recording = write_support::read(file.into_inner());
    let metadata = recording.metadata();
    let events: Vec<_> =
        metadata.schema.events().iter().map(|event| (event.name.as_str(), event.ids.clone())).collect();
    assert_eq!(events, [("early", vec![1]), ("late", vec![2, 3])]);
    assert_eq!(metadata.features.hostname().as_deref(), Some("box"));
    assert!(metadata.features.has(bit::EVENT_DESC) && metadata.issues.is_empty());
}

#[test]
fn a_pipe_says_late_features_at_its_end_and_no_late_events() {
    let hostname =
        |name| Feature::Hostname(perffile::wire::feature::text::Text { text: HeaderString::new(name) });
    let mut pipe = Vec::new();
    let mut writer = Writer::pipe(&mut pipe, Options::default());
    let event = writer.event(attr(&SampleShape::default()), &[1], "early");
    writer.feature(hostname(b"before")).unwrap();
    writer.record(event, 0, Record::FinishedInit(Default::default()), &SampleId::default()).unwrap();
    writer.feature(hostname(b"after")).unwrap();
    writer.event(attr(&SampleShape::default()), &[2], "late");
    let left_out = writer.finish().unwrap();
    assert_eq!(left_out.iter().map(|issue| issue.count).collect::<Vec<_>>(), [1], "{left_out:?}");
    let metadata = write_support::read(pipe).read_metadata().unwrap();
    assert_eq!(metadata.features.hostname().as_deref(), Some("after"));
    assert_eq!(metadata.schema.events().len(), 1);
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let mut writer = Writer::pipe(Vec::new(), Options::default());
    let record =
        || Record::Comm(perffile::wire::record::comm::Comm { pid: 1, tid: 1, comm: CStr8::new(b"x") });
    let error = writer.record(0, 0, record(), &SampleId::default()).unwrap_err();
    assert!(error.to_string().contains("there is no event 0"), "{error}");
    let shape = SampleShape { sample_type: SampleType::RAW, ..SampleShape::default() };
    let event = writer.event(attr(&shape), &[], "");
    let long = vec![0; 65_536];
    for raw in [long.as_slice(), &[0; 5]] {
        let sample = Sample { raw: Some(raw), ..Sample::default() };
        let error = writer.record(event, 0, Record::Sample(sample), &SampleId::default()).unwrap_err();
        assert!(error.to_string().contains("bytes: at most 65,535"), "{error}");
    }
    assert!(writer.feature(Feature::Raw(&[1])).is_err());
}

#[test]
fn an_attr_gets_the_least_size_that_holds_it() {
    let least = |attr: EventAttr| attr.least_size();
    assert_eq!(least(EventAttr::default()), 64);
    assert_eq!(least(EventAttr { config2: 1, ..EventAttr::default() }), 72);
    assert_eq!(least(EventAttr { sample_max_stack: 1, ..EventAttr::default() }), 112);
    assert_eq!(least(EventAttr { config4: 1 << 63, ..EventAttr::default() }), 144);
    assert_eq!(least(EventAttr { tail: vec![0; 8], ..EventAttr::default() }), 152);
}
