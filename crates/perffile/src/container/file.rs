//! Files: a header, a table of attrs, the records, and behind them the feature sections. In any order: only the header
//! tells where they are.

use super::header::{self, BITMAP_SIZE, FileHeader, HEADER_SIZE};
use super::opened::{Opened, error_at};
use super::stream::{Source, Stream};
use crate::bytes::Bytes;
use crate::error::{ErrorKind, Result};
use crate::event_name::NameSources;
use crate::features::Features;
use crate::issue::{IssueKind, Issues};
use crate::limits::Limits;
use crate::metadata::{Container, Metadata};
use crate::place::{Part, Place};
use crate::schema::Schema;
use crate::wire::attr::EventAttr;
use crate::wire::decode::Decoder;
use crate::wire::endian::{ByteOrder, Order, with_order};
use crate::wire::text::decoded;
use crate::wire::text::until_nul;
use crate::wire::words::U64s;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Size of an entry of the event_types table of version 1: u64 id, name of 64 bytes.
const EVENT_TYPE_SIZE: usize = 72;

/// Size of what follows an attr: offset and size of its ids.
const IDS_SECTION: u64 = 16;

/// Sizes that an attr may have: from the oldest to far beyond the newest.
const SIZES: std::ops::RangeInclusive<u64> = EventAttr::MIN_SIZE as u64..=u16::MAX as u64;

/// Least size of an entry of the attrs table.
const MIN_STRIDE: u64 = EventAttr::MIN_SIZE as u64 + IDS_SECTION;

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
    schema.learn(&features);
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
        kcore_dir: None,
        guest_kcore_dirs: Vec::new(),
        issues: file.issues,
    };
    Ok(Opened { metadata, streams: vec![data], wrapper_bytes: None })
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
        let stride = (MIN_STRIDE..=attrs_size.max(MIN_STRIDE)).contains(&attr_size).then_some(attr_size);
        if stride.is_none() {
            let message = || {
                format!(
                    "attrs of {attr_size} bytes in a table of {attrs_size}: each is taken by its own size"
                )
            };
            self.issues.add(IssueKind::BadHeader, Place::new(Part::Header, 16), message);
        }
        // Each event has its own: all together they are no more than the file has room for.
        let room = usize::try_from(self.len() / size_of::<u64>() as u64).unwrap_or(usize::MAX);
        let (mut at, mut ids_left) = (attrs_offset, self.limits.ids.min(room));
        let end = attrs_offset.saturating_add(attrs_size);
        let count = stride.map_or(u64::MAX, |stride| attrs_size / stride);
        for nr in 0..count {
            if stride.is_none() && at.saturating_add(MIN_STRIDE) > end {
                break;
            }
            if schema.events().len() >= self.limits.events {
                self.bad_attr(at, format!("there are more events than the {nr} that this reader takes"));
                break;
            }
            let Some((attr, ids, next)) = self.attr(at, stride, &mut ids_left) else {
                self.bad_attr(at, format!("attr {nr} lies outside the file or makes no sense"));
                break;
            };
            schema.add(attr, ids);
            at = next;
        }
        if schema.events().is_empty() {
            let what = "none of its events can be read".to_owned();
            return Err(error_at(Part::Attrs, attrs_offset, ErrorKind::Cut(what)));
        }
        Ok(schema)
    }

    fn bad_attr(&mut self, at: u64, message: String) {
        self.issues.add(IssueKind::BadAttr, Place::new(Part::Attrs, at), || message);
    }

    /// The attr at this offset, its ids, and the offset of the next one. Its size is what it says itself; if that makes no
    /// sense where the table's stride does, it is what the stride leaves.
    fn attr(
        &mut self,
        at: u64,
        stride: Option<u64>,
        ids_left: &mut usize,
    ) -> Option<(EventAttr, Vec<u64>, u64)> {
        let said = u64::from(self.order.u32_at(&self.bytes.section(at, MIN_STRIDE), 4)?);
        let by_stride = stride.map(|stride| stride - IDS_SECTION);
        let own = if SIZES.contains(&said) { Some(said) } else { by_stride };
        // Ids that are there speak for a size more than none at all, and that more than ids outside the file.
        let rank = |size: Option<u64>| match size.and_then(|size| self.ids_of(at, size)) {
            Some((_, 1.., true)) => 2,
            Some((_, 0, true)) => 1,
            _ => 0,
        };
        let size = if rank(own) >= rank(by_stride) { own } else { by_stride }?;
        let mut bytes = self.bytes.section(at, size).to_vec();
        if said != size && said != 0 {
            self.bad_attr(
                at,
                format!("an attr says that it has {said} bytes; the table, and what follows it, say {size}"),
            );
            if let (Ok(size), Some(field)) = (u32::try_from(size), bytes.get_mut(4..8)) {
                with_order!(self.order, O => field.copy_from_slice(&O::put_u32(size)));
            }
        }
        let shape = Default::default();
        let attr: EventAttr =
            with_order!(self.order, O => Decoder::<O, _>::new(&bytes, &shape, 0).value()).ok()?;
        let (ids_at, ids_size, _) = self.ids_of(at, size)?;
        let ids = self.bytes.section(ids_at, ids_size);
        if (ids.len() as u64) < ids_size {
            let what = format!("{ids_size} bytes of event ids lie outside the file");
            self.issues.add(IssueKind::BadAttr, Place::new(Part::Ids, ids_at), || what);
        }
        let ids = U64s::new(&ids, self.order);
        if ids.len() > *ids_left {
            let what = "the ids of all events are more than the file has room for, or than this reader takes";
            self.issues.add(IssueKind::BadAttr, Place::new(Part::Ids, ids_at), || what.to_owned());
        }
        let ids: Vec<u64> = ids.iter().take(*ids_left).collect();
        *ids_left -= ids.len();
        Some((attr, ids, at.checked_add(size)?.checked_add(IDS_SECTION)?))
    }

    /// Offset and size of the ids of the attr at this offset if it has this size, and whether that is possible.
    fn ids_of(&self, at: u64, size: u64) -> Option<(u64, u64, bool)> {
        let section = self.bytes.section(at.checked_add(size)?, IDS_SECTION);
        let (ids_at, ids_size) = (self.order.u64_at(&section, 0)?, self.order.u64_at(&section, 8)?);
        let inside = ids_at.checked_add(ids_size).is_some_and(|end| end <= self.len());
        Some((ids_at, ids_size, inside && ids_size.is_multiple_of(8)))
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
        schema.set_names_of_configs(|config| names.get(&config).map(|name| decoded(name).into_owned()));
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
        Ok(Stream { part: Part::Data, offset: data_offset, source, file: None })
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
