//! Pipes: a header of 16 bytes, and then nothing but records, which tell events and features too.

use super::opened::Opened;
use super::stream::{Source, Stream};
use crate::features::Features;
use crate::issue::Issues;
use crate::metadata::Container;
use crate::metadata::Metadata;
use crate::place::Part;
use crate::schema::Schema;
use crate::wire::endian::ByteOrder;
use std::sync::Arc;

/// Size of the header in bytes.
pub(super) const HEADER_SIZE: usize = 16;

/// Opens a pipe stream whose header has been seen. Its events are learnt on the way.
pub(crate) fn open(records: Source, version: u8, order: ByteOrder) -> Opened {
    let metadata = Metadata {
        container: Container::Pipe,
        version,
        order,
        schema: Arc::new(Schema::new(order)),
        features: Arc::new(Features::new(order)),
        compressed: false,
        kcore_dir: None,
        guest_kcore_dirs: Vec::new(),
        issues: Issues::default(),
    };
    Opened {
        metadata,
        streams: vec![Stream { part: Part::Data, offset: HEADER_SIZE as u64, source: records, file: None }],
        wrapper_bytes: None,
    }
}
