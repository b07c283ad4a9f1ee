//! What is said of a recording as a whole: in a file before and behind its records, in a pipe as the first of them.

use crate::error::Result;
use crate::features::Features;
use crate::metadata::Metadata;
use crate::wire::attr::{EventAttr, SampleShape};
use crate::wire::encode::Encoder;
use crate::wire::endian::{ByteOrder, Order, with_order};
use crate::wire::feature::{Feature, bit};
use crate::wire::pass::{Fields as _, Pass as _};
use crate::wire::text::HeaderString;
use crate::write::parts::unwritable;

/// Size of what follows an attr in the table of attrs: offset and size of its ids.
pub(super) const IDS_SECTION: u64 = 16;

/// An event to be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrittenEvent {
    /// How it was opened.
    pub attr: EventAttr,
    /// Ids of its counters.
    pub ids: Vec<u64>,
    /// Its name, if EVENT_DESC does not tell it and should.
    pub name: Option<String>,
}

/// What is said of a recording as a whole.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The byte order that everything is written in.
    pub order: ByteOrder,
    /// The events.
    pub events: Vec<WrittenEvent>,
    /// The features, in that byte order.
    pub features: Features,
}

impl Head {
    /// A head that says nothing yet.
    pub(super) fn new(order: ByteOrder) -> Head {
        Head { order, events: Vec::new(), features: Features::new(order) }
    }

    /// The events of a recording that was read. Names that it tells otherwise than by EVENT_DESC, as version 1 does, come along.
    pub(super) fn events_of(metadata: &Metadata) -> Vec<WrittenEvent> {
        let has_desc = metadata.features.has(bit::EVENT_DESC);
        let event = |event: &crate::EventDescription| WrittenEvent {
            attr: event.attr.clone(),
            ids: event.ids.clone(),
            name: (event.named && !has_desc).then(|| event.name.clone()),
        };
        metadata.schema.events().iter().map(event).collect()
    }

    /// Puts the names of the events into EVENT_DESC, where they have some and it is not there.
    pub(super) fn describe_events(&mut self) -> Result<()> {
        if self.features.has(bit::EVENT_DESC) || self.events.iter().all(|event| event.name.is_none()) {
            return Ok(());
        }
        let mut section = Vec::new();
        with_order!(self.order, O => self.event_desc::<O>(&mut section)).map_err(unwritable)?;
        self.features.insert(bit::EVENT_DESC, crate::bytes::Bytes::new(section), 0);
        Ok(())
    }

    fn event_desc<O: Order>(&self, out: &mut Vec<u8>) -> std::result::Result<(), crate::wire::WireError> {
        let attr_size = self.events.iter().map(|event| event.attr.wire_size()).max().unwrap_or(0);
        let shape = SampleShape::default();
        let mut encoder = Encoder::<O>::new(out, &shape, 0);
        encoder.count_u32("nr_events", self.events.len())?;
        encoder.count_u32("attr_size", usize::try_from(attr_size).unwrap_or(usize::MAX))?;
        for WrittenEvent { attr, ids, name } in &self.events {
            let mut attr = attr.clone();
            let gap = attr_size.saturating_sub(attr.wire_size());
            attr.fields(&mut encoder)?;
            (0..gap).try_for_each(|_| encoder.u8("gap", &mut 0))?;
            encoder.count_u32("nr_ids", ids.len())?;
            let name = name.as_deref().unwrap_or_default();
            encoder.header_string("name", &mut HeaderString::new(name.as_bytes()))?;
            ids.iter().try_for_each(|id| encoder.u64("ids", &mut id.clone()))?;
        }
        Ok(())
    }

    /// Says a feature anew.
    pub(super) fn set(&mut self, bit: u32, feature: Feature<'_>) -> Result<()> {
        self.features.set(bit, feature).map_err(unwritable)
    }

    /// The bytes of an attr, at least `size` of them: in a table all are of one size. Fields that it did not have are zero
    /// then, so that it says the same.
    pub(super) fn attr_bytes(&self, attr: &EventAttr, size: u32) -> Result<Vec<u8>> {
        let (mut attr, mut bytes, shape) = (attr.clone(), Vec::new(), SampleShape::default());
        with_order!(self.order, O => attr.fields(&mut Encoder::<O>::new(&mut bytes, &shape, 0)))
            .map_err(unwritable)?;
        if attr.wire_size() < size {
            bytes.resize(usize::try_from(size).unwrap_or(bytes.len()), 0);
            let said = self.order.put_u32(size);
            bytes.iter_mut().skip(SIZE_AT).zip(said).for_each(|(byte, said)| *byte = said);
        }
        Ok(bytes)
    }
}

/// Where an attr says its own size.
const SIZE_AT: usize = 4;
