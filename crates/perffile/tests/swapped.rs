//! Whole recordings written again in the other byte order, as pipe streams, by our own encoders: they give the same facts.
//!
//! Every event, feature and record is told again: records inside compressed ones as themselves, the events and features of a
//! file as the records that a pipe has for them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

mod wire_support;

use perffile::bytes::Bytes;
use perffile::wire::attr::SampleShape;
use perffile::wire::endian::{Be, ByteOrder, Le, Order};
use perffile::wire::feature::bit;
use perffile::wire::head::RecordHead;
use perffile::wire::record::header_attr::HeaderAttr;
use perffile::wire::record::{Record, kind};
use perffile::wire::words::U64s;
use perffile::{Container, Delivery, Dialect, Event, Metadata, Ordering, Recording};
use std::path::Path;
use wire_support::case::Parsed;
use wire_support::corpus::{corpus_or_skip, fixtures, recordings};
use wire_support::tree::{Tree, Value};

/// Most bytes of a feature that fit into a record.
const FEATURE_BYTES: usize = 65_000;

/// A record of perf's own, in byte order `O`.
fn user_record<O: Order>(out: &mut Vec<u8>, number: u32, body: &[u8]) {
    let size = u16::try_from(body.len() + 8).unwrap();
    RecordHead { kind: number, misc: 0, size }.put::<O>(out);
    out.extend_from_slice(body);
}

/// What a pipe tells before its first record: events, then features.
fn beginning<O: Order>(metadata: &Metadata, out: &mut Vec<u8>) {
    let shape = SampleShape::default();
    for event in metadata.schema.events() {
        let ids: Vec<u8> = event.ids.iter().flat_map(|id| O::put_u64(*id)).collect();
        let attr = HeaderAttr { attr: event.attr.clone(), ids: U64s::new(&ids, O::ORDER) };
        let mut body = Vec::new();
        Record::HeaderAttr(attr).encode::<O>(&mut body, &shape, 0).unwrap();
        user_record::<O>(out, kind::HEADER_ATTR, &body);
    }
    for bit in metadata.features.bits().filter(|bit| *bit != bit::TRACING_DATA) {
        if let Some(body) = feature_body::<O>(metadata, bit)
            && body.len() < FEATURE_BYTES
        {
            user_record::<O>(out, kind::HEADER_FEATURE, &body);
        }
    }
}

/// The body of a HEADER_FEATURE record in byte order `O`.
fn feature_body<O: Order>(metadata: &Metadata, bit: u32) -> Option<Vec<u8>> {
    let (mut feature, rest) = metadata.features.feature(bit)?.ok()?;
    let mut body = O::put_u64(u64::from(bit)).to_vec();
    feature.encode::<O>(&mut body).unwrap();
    body.extend_from_slice(rest);
    Some(body)
}

/// The feature that a HEADER_FEATURE record holds; its payload is bytes to a record, and has to be told again by itself.
fn feature_of<O: Order>(event: &Event<'_>) -> Option<u32> {
    let (bit, payload) = event.body().split_first_chunk()?;
    let holds = event.head().kind == kind::HEADER_FEATURE && !payload.is_empty();
    holds.then(|| u32::try_from(O::u64(*bit)).unwrap())
}

/// Whether a record goes along: what is only the wrapping of others does not.
fn goes_along(event: &Event<'_>) -> bool {
    !matches!(event.head().kind, kind::COMPRESSED | kind::COMPRESSED2)
}

/// The whole recording as a pipe stream in byte order `Other`; `None` if a record cannot be told again.
fn swapped<O: Order, Other: Order>(recording: &Recording) -> Option<Vec<u8>> {
    let mut out = Other::put_u64(0x3245_4c49_4652_4550).to_vec();
    out.extend_from_slice(&Other::put_u64(16));
    if recording.metadata().container != Container::Pipe {
        beginning::<Other>(recording.metadata(), &mut out);
    }
    let metadata = recording.read_metadata().unwrap();
    for batch in recording.batches(Ordering::File).unwrap() {
        for event in batch.iter().filter(goes_along) {
            if event.schema().dialect() != Dialect::Upstream {
                return None;
            }
            if let Some(bit) = feature_of::<O>(&event) {
                user_record::<Other>(&mut out, kind::HEADER_FEATURE, &feature_body::<Other>(&metadata, bit)?);
                continue;
            }
            let (_, shape) = event.body_and_shape();
            out.extend_from_slice(&Parsed::new::<O>(event.raw(), &shape).ok()?.encode::<Other>());
            out.extend_from_slice(event.payload());
        }
    }
    Some(out)
}

/// One record in words.
type Told = (u32, u16, Option<usize>, Option<u64>, Value, Option<Value>);

/// What a recording says: its records one by one, shares of the samples by event, and the order of time.
#[derive(Debug, PartialEq)]
struct Facts {
    records: Vec<Told>,
    shares: Vec<(u64, u64)>,
    times: Vec<u64>,
}

fn facts(recording: &Recording, skip: usize) -> Facts {
    let mut facts = Facts { records: Vec::new(), shares: Vec::new(), times: Vec::new() };
    let mut delivery = Delivery::default();
    for batch in recording.batches(Ordering::File).unwrap() {
        for event in batch.iter().filter(goes_along) {
            let (_, shape) = event.body_and_shape();
            let parsed = match event.schema().order() {
                ByteOrder::Little => Parsed::new::<Le>(event.raw(), &shape),
                ByteOrder::Big => Parsed::new::<Be>(event.raw(), &shape),
            };
            let parsed = parsed.unwrap();
            let head = event.head();
            let mut told = (parsed.describe(), parsed.describe_sample_id());
            if head.kind == kind::HEADER_FEATURE {
                // Its payload is compared as a feature.
                told.0 = Tree::of(|_| {});
            }
            facts.records.push((head.kind, head.misc, event.event_index(), event.time(), told.0, told.1));
            if let (Some(index), Some(sample)) = (event.event_index(), event.sample()) {
                facts.shares.resize(event.schema().events().len(), (0, 0));
                for share in delivery.shares(event.schema(), index, &sample) {
                    facts.shares[share.event].0 += 1;
                    facts.shares[share.event].1 = facts.shares[share.event].1.wrapping_add(share.period);
                }
            }
        }
    }
    facts.records.drain(..skip);
    for batch in recording.batches(Ordering::Time).unwrap() {
        facts.times.extend(batch.iter().filter_map(|event| event.time()));
    }
    facts
}

fn features(metadata: &Metadata) -> Vec<(u32, Value)> {
    let described = metadata.features.bits().filter(|bit| *bit != bit::TRACING_DATA).filter_map(|bit| {
        let small = metadata.features.bytes(bit)?.len() < FEATURE_BYTES - 8;
        // In a pipe a feature without payload would be the end mark, unless it never has any.
        let there = !metadata.features.bytes(bit)?.is_empty();
        let (mut feature, _) = metadata.features.feature(bit)?.ok()?;
        (small && there).then(|| (bit, Tree::of(|tree| feature.describe(tree))))
    });
    described.collect()
}

/// Says whether the file could be told again; panics if it then says something else.
fn check(name: &str, path: &Path) -> bool {
    let Ok(recording) = Recording::open(path) else { return false };
    let order = recording.metadata().order;
    let other = match order {
        ByteOrder::Little => swapped::<Le, Be>(&recording),
        ByteOrder::Big => swapped::<Be, Le>(&recording),
    };
    let Some(bytes) = other else { return false };
    let other = Recording::from_bytes(Bytes::new(bytes)).unwrap();
    assert_ne!(other.metadata().order, order, "{name}");
    let (one, two) = (recording.read_metadata().unwrap(), other.read_metadata().unwrap());
    let added = if one.container == Container::Pipe {
        0
    } else {
        let mut beginning_of = Vec::new();
        beginning::<Le>(recording.metadata(), &mut beginning_of);
        let stream = [b"PERFILE2\x10\0\0\0\0\0\0\0".as_slice(), &beginning_of].concat();
        let batches = Recording::from_bytes(Bytes::new(stream)).unwrap().batches(Ordering::File).unwrap();
        batches.map(|batch| batch.len()).sum()
    };
    let attrs = |metadata: &Metadata| -> Vec<_> {
        metadata.schema.events().iter().map(|event| (event.attr.clone(), event.ids.clone())).collect()
    };
    assert_eq!(attrs(&one), attrs(&two), "{name}");
    assert_eq!(features(&one), features(&two), "{name}");
    let (one, two) = (facts(&recording, 0), facts(&other, added));
    if let Some((a, b)) = one.records.iter().zip(&two.records).find(|(a, b)| a != b) {
        panic!("{name}: first record that differs:\n{a:?}\n{b:?}");
    }
    assert_eq!(one.records.len(), two.records.len(), "{name}");
    assert_eq!((one.shares, one.times), (two.shares, two.times), "{name}");
    true
}

fn check_all(root: &Path, at_least: usize) {
    let (mut told, mut untold) = (0, Vec::new());
    for path in recordings(root) {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        if check(&name, &path) { told += 1 } else { untold.push(name) }
    }
    eprintln!("{told} recordings say the same in the other byte order; not told again: {untold:#?}");
    assert!(told >= at_least, "{told} recordings are fewer than {at_least}; not told again: {untold:#?}");
}

#[test]
fn fixtures_say_the_same_in_the_other_byte_order() {
    check_all(&fixtures(), 12);
}

#[test]
fn corpus_says_the_same_in_the_other_byte_order() {
    let Some(root) = corpus_or_skip("corpus_says_the_same_in_the_other_byte_order") else { return };
    check_all(&root, 150);
}
