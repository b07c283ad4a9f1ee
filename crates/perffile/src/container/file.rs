//! Files: a header, a table of attrs, the records, and behind them the feature sections. In any order: only the header
//! tells where they are.

use super::event_name::NameSources;
use super::features::Features;
use super::header::{self, BITMAP_SIZE, FileHeader, HEADER_SIZE};
use super::stream::{Source, Stream};
use super::{Container, Opened, error_at};
use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};
use crate::issue::{IssueKind, Issues};
use crate::limits::Limits;
use crate::place::{Part, Place};
use crate::recording::Metadata;
use crate::schema::Schema;
use crate::wire::attr::EventAttr;
use crate::wire::decode::Decoder;
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::feature::bit;
use crate::wire::text::until_nul;
use crate::wire::words::U64s;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Size of an entry of the event_types table of version 1: u64 id, name of 64 bytes.
const EVENT_TYPE_SIZE: usize = 72;

/// Opens a file whose magic has been seen.
pub(crate) fn open(bytes: &Bytes, version: u8, order: ByteOrder, limits: &Limits) -> Result<Opened> {
    let shape = Default::default();
    let head: FileHeader =
        with_order!(order, O => Decoder::<O, _>::new(bytes, &shape, 0).value()).map_err(|error| {
            let what = format!("{} bytes are less than a header", bytes.len());
            error_at(Part::Header, u64::from(error.at), ErrorKind::Cut(what))
        })?;
    let mut file = File { bytes, order, head, limits, issues: Issues::default() };
    let mut schema = file.attrs()?;
    file.event_types(&mut schema);
    let data = file.data()?;
    let mut features = Features::new(order);
    if head.data_size != 0 {
        file.features(&mut features);
    }
    names_and_ids(&features, &mut schema);
    if schema.has_unnamed() {
        schema.set_fallback_names(&NameSources::new(&features, order));
    }
    let metadata = Metadata {
        container: Container::File,
        version,
        order,
        schema: Arc::new(schema),
        features: Arc::new(features),
        compressed: false,
        issues: file.issues,
    };
    Ok(Opened { metadata, streams: vec![data] })
}

/// EVENT_DESC names the events by their order, and has ids where the attrs have none.
pub(crate) fn names_and_ids(features: &Features, schema: &mut Schema) {
    for (index, event) in features.event_desc().iter().flat_map(|desc| desc.events.iter().enumerate()) {
        schema.set_name(index, event.name.display().into_owned());
        schema.add_ids(index, event.ids.iter());
    }
}

struct File<'f> {
    bytes: &'f Bytes,
    order: ByteOrder,
    head: FileHeader,
    limits: &'f Limits,
    issues: Issues,
}

impl File<'_> {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The attrs one after the other, each by its own size: it and the table's stride agree in sane files only.
    fn attrs(&mut self) -> Result<Schema> {
        let FileHeader { attr_size, attrs_offset, attrs_size, .. } = self.head;
        let mut schema = Schema::new(self.order);
        if attr_size < u64::from(EventAttr::MIN_SIZE) + 16 {
            let what = format!("attrs of {attr_size} bytes are smaller than any");
            return Err(error_at(Part::Header, 16, ErrorKind::BadHeader(what)));
        }
        let (mut at, mut ids_left) = (attrs_offset, self.limits.ids);
        let count = attrs_size / attr_size;
        for nr in 0..count {
            if schema.events().len() >= self.limits.events {
                self.bad_attr(at, format!("{count} events are more than this reader takes"));
                break;
            }
            let Some((attr, ids, next)) = self.attr(at, &mut ids_left) else {
                self.bad_attr(at, format!("attr {nr} of {count} lies outside the file"));
                break;
            };
            schema.add(attr, ids);
            at = next;
        }
        if schema.events().is_empty() {
            let what = format!("none of {count} events can be read");
            return Err(error_at(Part::Attrs, attrs_offset, ErrorKind::Cut(what)));
        }
        Ok(schema)
    }

    fn bad_attr(&mut self, at: u64, message: String) {
        self.issues.add(IssueKind::BadAttr, Place::new(Part::Attrs, at), || message);
    }

    /// The attr at this offset, its ids, and the offset of the next one.
    fn attr(&mut self, at: u64, ids_left: &mut usize) -> Option<(EventAttr, Vec<u64>, u64)> {
        let stride = self.head.attr_size;
        let own_size = u64::from(self.order.u32_at(&self.bytes.section(at, stride), 4)?);
        let size = if own_size >= u64::from(EventAttr::MIN_SIZE) { own_size } else { stride - 16 };
        let bytes = self.bytes.section(at, size);
        let shape = Default::default();
        let attr: EventAttr =
            with_order!(self.order, O => Decoder::<O, _>::new(&bytes, &shape, 0).value()).ok()?;
        let ids_section = at.checked_add(size)?;
        let section = self.bytes.section(ids_section, 16);
        let (ids_at, ids_size) = (self.order.u64_at(&section, 0)?, self.order.u64_at(&section, 8)?);
        let ids = self.bytes.section(ids_at, ids_size);
        if (ids.len() as u64) < ids_size {
            let what = format!("{ids_size} bytes of event ids lie outside the file");
            self.issues.add(IssueKind::BadAttr, Place::new(Part::Ids, ids_at), || what);
        }
        let ids: Vec<u64> = U64s::new(&ids, self.order).iter().take(*ids_left).collect();
        *ids_left -= ids.len();
        Some((attr, ids, ids_section.checked_add(16)?))
    }

    /// Version 1: names of the events by their `config`.
    fn event_types(&mut self, schema: &mut Schema) {
        let table = self.bytes.section(self.head.event_types_offset, self.head.event_types_size);
        // By config, so that a long table with many events does not take their product.
        let mut names = FxHashMap::default();
        for entry in table.chunks_exact(EVENT_TYPE_SIZE) {
            if let Some(config) = self.order.u64_at(entry, 0) {
                names.entry(config).or_insert_with(|| until_nul(entry.get(8..).unwrap_or_default()));
            }
        }
        schema.set_names_of_configs(|config| {
            names.get(&config).map(|name| String::from_utf8_lossy(name).into_owned())
        });
    }

    /// The records: to the size the header tells, or to the end where the recorder did not finish or the file is cut.
    fn data(&mut self) -> Result<Stream> {
        let FileHeader { data_offset, data_size, .. } = self.head;
        let place = Place::new(Part::Header, 48);
        if data_offset > self.len() {
            let what = format!("its records begin at {data_offset:#x}, it ends at {:#x}", self.len());
            return Err(error_at(Part::Data, data_offset, ErrorKind::Cut(what)));
        }
        let there = self.len() - data_offset;
        if data_size == 0 {
            let what = "the recorder did not finish: the size of the data is not in the header; all up to the end of the \
                        file is read, there are no features";
            self.issues.add(IssueKind::Unfinished, place, || what.into());
        } else if data_size > there {
            let what =
                format!("the file is cut: {there} of {data_size} bytes of records are there, no features");
            self.issues.add(IssueKind::CutData, Place::new(Part::Data, self.len()), || what);
        }
        let size = if data_size == 0 { there } else { data_size };
        let source = Source::Bytes(self.bytes.section(data_offset, size));
        Ok(Stream { part: Part::Data, offset: data_offset, source })
    }

    /// The table behind the records has an offset and a size for each set bit, ascending. Sections whose writer failed
    /// leave unused entries at its end.
    fn features(&mut self, features: &mut Features) {
        let Some(bitmap) = self.bitmap() else { return };
        let table = self.head.data_offset.saturating_add(self.head.data_size);
        for (nr, bit) in (0u64..).zip(header::feature_bits(&bitmap, self.order)) {
            let at = table.saturating_add(nr * 16);
            let entry = self.bytes.section(at, 16);
            let (Some(offset), Some(size)) = (self.order.u64_at(&entry, 0), self.order.u64_at(&entry, 8))
            else {
                // A cut file has been told of already.
                if table <= self.len() {
                    let what = format!("the feature table ends before its entry {nr}");
                    self.issues.add(IssueKind::BadFeature, Place::new(Part::FeatureTable, at), || what);
                }
                return;
            };
            let bytes = self.bytes.section(offset, size.min(self.limits.feature_bytes));
            if (bytes.len() as u64) < size {
                let what = format!("its section has {} of {size} bytes", bytes.len());
                self.issues.add(IssueKind::BadFeature, Place::new(Part::Feature(bit), offset), || what);
            }
            features.insert(bit, bytes, offset);
        }
        for bit in features.bits().collect::<Vec<_>>() {
            if let Some(Err(error)) = features.feature(bit) {
                let place = features.place(bit).unwrap_or_default().field(error.field);
                self.issues.add(IssueKind::BadFeature, place, || error.to_string());
            }
        }
    }

    /// The feature bits, unless the header is of the size that has none.
    fn bitmap(&self) -> Option<[u8; BITMAP_SIZE]> {
        let size = usize::try_from(self.head.size).ok()?;
        if size < HEADER_SIZE + BITMAP_SIZE {
            return None;
        }
        self.bytes.get(HEADER_SIZE..)?.first_chunk().copied()
    }
}

/// Whether a feature bit only says that something is so.
pub(crate) fn has_no_payload(bit: u32) -> bool {
    matches!(bit, bit::BRANCH_STACK | bit::STAT)
}
