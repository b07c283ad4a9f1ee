//! What a recording holds, to be compared with what a written one holds.
#![allow(dead_code, unreachable_pub, unused_imports)] // Each user takes some of these.

use perffile::bytes::Bytes;
use perffile::wire::attr::EventAttr;
use perffile::wire::feature::bit;
use perffile::wire::record::kind;
use perffile::write::{Compressed, Copied, Edit, Options, Target, Unchanged, Writer, copy};
use perffile::{Container, Dialect, Ordering, Part, Recording};
use std::collections::BTreeMap;
use std::io::Cursor;

/// A record as it lies in the file, with what lies behind it.
pub type Raw = (Vec<u8>, Vec<u8>);

/// What a recording holds.
#[derive(Debug, Default, PartialEq)]
pub struct Held {
    pub events: Vec<(EventAttr, Vec<u64>)>,
    pub features: BTreeMap<u32, Vec<u8>>,
    /// The records of each part, in the order of the file.
    pub records: BTreeMap<Part, Vec<Raw>>,
}

/// Whether records that only hold others, and those that say what a file has sections for, count as records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Count {
    /// All that is there.
    All,
    /// What was compressed counts, that it was does not.
    Expanded,
    /// Neither does what another kind of recording says in another place.
    Stream,
}

pub fn is_wrapping(number: u32) -> bool {
    matches!(number, kind::COMPRESSED | kind::COMPRESSED2)
}

fn is_head(number: u32, dialect: Dialect) -> bool {
    let is_head = [
        kind::HEADER_ATTR,
        kind::HEADER_EVENT_TYPE,
        kind::HEADER_TRACING_DATA,
        kind::HEADER_BUILD_ID,
        kind::HEADER_FEATURE,
    ];
    is_head.contains(&number) || dialect != Dialect::Upstream && number >= 69
}

pub fn held(recording: &Recording, count: Count) -> Held {
    let mut held = Held::default();
    let mut batches = recording.batches(Ordering::File).unwrap();
    for batch in batches.by_ref() {
        for event in batch.iter() {
            let number = event.head().kind;
            let leaves_out = match count {
                Count::All => event.was_compressed(),
                Count::Expanded => is_wrapping(number),
                Count::Stream => is_wrapping(number) || is_head(number, event.schema().dialect()),
            };
            if !leaves_out {
                let raw = (event.raw().to_vec(), event.payload().to_vec());
                held.records.entry(event.part()).or_default().push(raw);
            }
        }
    }
    let metadata = match recording.metadata().container {
        // What the stream tells later is not what the header says.
        Container::Pipe => batches.metadata(),
        _ => recording.metadata(),
    };
    let events = metadata.schema.events().iter();
    held.events = events.map(|event| (event.attr.clone(), event.ids.clone())).collect();
    for bit in metadata.features.bits() {
        held.features.insert(bit, metadata.features.bytes(bit).unwrap().to_vec());
    }
    if count != Count::All {
        held.features.remove(&bit::COMPRESSED);
    }
    held
}

/// A copy as a file.
pub fn as_file(
    recording: &Recording,
    options: Options,
    compressed: Compressed,
    edit: &mut impl Edit,
) -> (Vec<u8>, Copied) {
    let mut bytes = Cursor::new(Vec::new());
    let copied =
        copy(recording, Ordering::File, Writer::file(&mut bytes, options), compressed, edit).unwrap();
    (bytes.into_inner(), copied)
}

/// A copy as a pipe.
pub fn as_pipe(
    recording: &Recording,
    options: Options,
    compressed: Compressed,
    edit: &mut impl Edit,
) -> (Vec<u8>, Copied) {
    let mut bytes = Vec::new();
    let copied =
        copy(recording, Ordering::File, Writer::pipe(&mut bytes, options), compressed, edit).unwrap();
    (bytes, copied)
}

pub fn read(bytes: Vec<u8>) -> Recording {
    Recording::from_bytes(Bytes::new(bytes)).unwrap()
}
