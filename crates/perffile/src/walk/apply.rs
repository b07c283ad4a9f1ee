//! What perf's own records mean to the walk: events, names and features that are told on the way.

use super::batches::Batches;
use crate::bytes::Bytes;
use crate::features::Features;
use crate::issue::IssueKind;
use crate::place::{Part, Place};
use crate::schema::Schema;
use crate::simpleperf;
use crate::wire::attr::{EventAttr, SampleShape};
use crate::wire::endian::Order;
use crate::wire::feature::{bit, is_flag};
use crate::wire::head::RecordHead;
use crate::wire::record::event_update::{EventUpdate, EventUpdateType};
use crate::wire::record::header_attr::HeaderAttr;
use crate::wire::record::{Record, kind};
use crate::wire::words::U64s;
use std::ops::Range;
use std::sync::Arc;

/// How many features there may be: a file has a bit for each.
const FEATURES: u32 = 256;

impl Batches {
    /// Learns from a record of perf's own. `payload` is where the bytes behind it lie.
    pub(super) fn apply<O: Order>(
        &mut self,
        head: RecordHead,
        body: &[u8],
        bytes: &Bytes,
        payload: Range<usize>,
    ) {
        let dialect = self.metadata.schema.dialect();
        if let Some(bit) = dialect.feature(head.kind) {
            return self.add_feature(bit, bytes, payload.start - body.len()..payload.start);
        }
        match head.kind {
            kind::HEADER_ATTR | kind::HEADER_EVENT_TYPE | kind::EVENT_UPDATE | kind::EVENT_ID => {}
            kind::ID_INDEX if self.census.is_some() => {}
            kind::SPLIT | kind::SPLIT_END => return self.split_record(head.kind, body),
            kind::TRACING_DATA => {
                let data = simpleperf::tracing_data(body, O::ORDER);
                let start = payload.start - body.len();
                return self.add_tracing_data(bytes, start + data.start..start + data.end);
            }
            kind::HEADER_FEATURE => return self.feature::<O>(body, bytes, payload.start),
            kind::HEADER_TRACING_DATA => {
                let inside = payload.start - body.len().saturating_sub(4)..payload.start;
                let section = if payload.is_empty() { inside } else { payload };
                return self.add_feature(bit::TRACING_DATA, bytes, section);
            }
            _ => return,
        }
        match Record::decode::<O>(head.kind, body, &SampleShape::default(), head.misc) {
            Ok((Record::HeaderAttr(HeaderAttr { attr, ids }), _)) => {
                self.add_event(attr, ids, head);
            }
            Ok((Record::HeaderEventType(told), _)) => {
                let name = || told.event_name.display().into_owned();
                self.names.told(told.event_id, name, self.limits.events);
            }
            Ok((Record::EventUpdate(update), _)) => self.event_update(&update),
            Ok((Record::IdIndex(index), _)) => {
                if let Some(census) = &mut self.census {
                    census.expect(&index);
                }
            }
            Ok((Record::EventId(ids), _)) => {
                for entry in ids.entries.iter() {
                    let Ok(index) = usize::try_from(entry.attr_id) else { continue };
                    let Some(left) = self.ids_left.checked_sub(1) else { break };
                    self.ids_left = left;
                    self.schema().add_ids(index, [entry.event_id]);
                }
            }
            // Its size is told as wrong.
            Err(_) if head.kind == kind::ID_INDEX => {}
            Err(error) => {
                if head.kind == kind::HEADER_ATTR {
                    self.schema().set_incomplete();
                }
                let place = self.place(payload.start - body.len(), head).field(error.field);
                self.metadata
                    .issues
                    .add(IssueKind::BadAttr, place, || format!("what it says of an event is lost: {error}"));
            }
            Ok(_) => {}
        }
    }

    /// An event of a pipe, unless there are too many already.
    fn add_event(&mut self, attr: EventAttr, ids: U64s<'_>, head: RecordHead) {
        let known = self.metadata.schema.events().len();
        if known >= self.limits.events || ids.len() > self.ids_left {
            let place = self.place(0, head);
            let message = || format!("more than {known} events or their ids are more than this reader takes");
            return self.metadata.issues.add(IssueKind::BadAttr, place, message);
        }
        self.ids_left -= ids.len();
        self.schema().add(attr, ids.iter().collect());
        self.names.event_added();
        self.schema_changed();
    }

    pub(super) fn schema(&mut self) -> &mut Schema {
        Arc::make_mut(&mut self.metadata.schema)
    }

    fn features(&mut self) -> &mut Features {
        Arc::make_mut(&mut self.metadata.features)
    }

    fn event_update(&mut self, update: &EventUpdate<'_>) {
        let Some(index) = self.metadata.schema.event_of_id(update.event_id) else { return };
        let text = || update.text.display().into_owned();
        match update.update_type {
            EventUpdateType::UNIT => self.schema().set_unit(index, text()),
            EventUpdateType::SCALE => self.schema().set_scale(index, update.scale),
            EventUpdateType::NAME => self.schema().set_name(index, text()),
            _ => {}
        }
    }

    /// A part of a record of simpleperf, or its end: the only such record that means something here is that of the formats
    /// of tracepoints.
    fn split_record(&mut self, number: u32, body: &[u8]) {
        let order = self.metadata.order;
        let Some(whole) = self.split.push(number, body, order) else { return };
        if whole.number == kind::TRACING_DATA {
            let data = simpleperf::tracing_data(&whole.body, order);
            self.add_tracing_data(&Bytes::new(whole.body), data);
        }
    }

    /// Formats of tracepoints told on the way; those in the feature section are preferred.
    fn add_tracing_data(&mut self, bytes: &Bytes, section: Range<usize>) {
        if !self.metadata.features.has(bit::TRACING_DATA) {
            self.add_feature(bit::TRACING_DATA, bytes, section);
        }
    }

    /// A feature of a pipe. One without payload is the end mark, unless it is one that never has any.
    fn feature<O: Order>(&mut self, body: &[u8], bytes: &Bytes, end: usize) {
        let Some((id, payload)) = body.split_first_chunk() else { return };
        let Ok(feature) = u32::try_from(O::u64(*id)) else { return };
        if payload.is_empty() && !is_flag(feature) {
            return;
        }
        self.add_feature(feature, bytes, end - payload.len()..end);
    }

    /// The bytes of a feature, where they lie in the chunk at hand.
    fn add_feature(&mut self, feature: u32, bytes: &Bytes, section: Range<usize>) {
        let offset = self.window.newest().map_or(0, |chunk| chunk.offset) + section.start as u64;
        if feature >= FEATURES {
            let message = || format!("there is no feature {feature}: it is left out");
            let place = Place::new(Part::Feature(feature), offset);
            return self.metadata.issues.add(IssueKind::BadFeature, place, message);
        }
        // A part of a chunk would keep all of it in memory.
        let is_mapped = self.window.is_newest_mapped();
        let told = bytes.slice(section);
        let told = if is_mapped { told } else { Bytes::new(told.to_vec()) };
        let is_news = self.metadata.features.bytes(feature) != Some(&*told);
        self.features().insert(feature, told, offset);
        if is_news && let Some(Err(error)) = self.metadata.features.feature(feature) {
            let place = self.metadata.features.place(feature).unwrap_or_default().field(error.field);
            self.metadata.issues.add(IssueKind::BadFeature, place, || error.to_string());
        }
        if is_news {
            self.names.feature_added(feature, &self.metadata);
        }
        if feature == bit::SAMPLE_TIME && is_news {
            self.strays.learn(&self.metadata.features);
        }
        if feature == bit::EVENT_DESC {
            let features = Arc::clone(&self.metadata.features);
            self.schema().learn(&features);
        }
    }
}
