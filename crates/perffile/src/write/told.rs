//! What one recording says of itself, for another one to say: its events and features, in another byte order, with other
//! fields.

use super::edit::Edit;
use super::head::Head;
use super::parts::{unwritable, user_record};
use super::target::tell_left_out;
use crate::bytes::Bytes;
use crate::error::Result;
use crate::event::Event;
use crate::features::Features;
use crate::issue::Issues;
use crate::metadata::{Container, Metadata};
use crate::tracepoint::TracingData;
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::feature::{Feature, bit, is_fill, is_flag};
use crate::wire::record::event_update::EventUpdateType;
use crate::wire::record::kind;

/// What records of a pipe have told that a file has a section for, and that the metadata do not have as it stands there.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Entries of the section BUILD_ID.
    build_ids: Vec<u8>,
    /// Formats of tracepoints, without what fills them up.
    tracing_data: Option<Bytes>,
}

/// Whether a record of a pipe says what a file has a section for. At the beginning of the stream, where it is only about the
/// recording as a whole, that goes for the names of events, too.
pub(super) fn is_told_by_file(event: &Event<'_>, is_beginning: bool) -> bool {
    let (number, dialect) = (event.head().kind, event.schema().dialect());
    let is_head = matches!(
        number,
        kind::HEADER_ATTR
            | kind::HEADER_EVENT_TYPE
            | kind::HEADER_TRACING_DATA
            | kind::HEADER_BUILD_ID
            | kind::HEADER_FEATURE
    );
    let is_name = is_beginning
        && number == kind::EVENT_UPDATE
        && event.schema().order().u64_at(event.body(), 0) == Some(EventUpdateType::NAME.0);
    is_head || is_name || dialect.feature(number).is_some()
}

/// Formats of tracepoints without what fills them up to eight bytes in a pipe.
fn without_fill(payload: &[u8]) -> &[u8] {
    let fill = TracingData::parse(payload).map_or(0, |data| data.trailing.len());
    let end = payload.len().saturating_sub(fill);
    match payload.get(end..) {
        Some(rest) if is_fill(rest) => payload.get(..end).unwrap_or(payload),
        _ => payload,
    }
}

/// What has to be said in the section of a feature.
enum Section {
    AsItIs,
    Anew(Vec<u8>),
    /// It cannot be said in the other byte order.
    Lost(String),
}

impl Told {
    /// Learns from a record of a pipe for which a file has a section.
    pub(super) fn learn(&mut self, event: &Event<'_>) {
        match event.head().kind {
            kind::HEADER_BUILD_ID => {
                // In the section its type is 0.
                self.build_ids.extend([0; 4]);
                self.build_ids.extend(event.raw().get(4..).unwrap_or_default());
            }
            kind::HEADER_TRACING_DATA => {
                let payload = event.payload();
                if !payload.is_empty() {
                    self.tracing_data = Some(Bytes::new(without_fill(payload).to_vec()));
                }
            }
            _ => {}
        }
    }

    /// Says it in another head.
    pub(super) fn put(
        &mut self,
        from: &Metadata,
        head: &mut Head,
        edit: &mut impl Edit,
        left_out: &mut Issues,
    ) -> Result<()> {
        head.events = Head::events_of(from);
        head.events.iter_mut().for_each(|event| {
            if let Some(name) = &mut event.name {
                edit.event_name(&event.attr, name);
            }
            edit.attr(&mut event.attr);
        });
        let mut features = Features::clone(&from.features);
        if from.container == Container::Pipe {
            if !self.build_ids.is_empty() {
                features.insert(bit::BUILD_ID, Bytes::new(std::mem::take(&mut self.build_ids)), 0);
            }
            if let Some(data) = self.tracing_data.take() {
                features.insert(bit::TRACING_DATA, data, 0);
            }
        }
        for feature in features.bits().collect::<Vec<_>>() {
            if !edit.keeps_feature(&features, feature) {
                continue;
            }
            let section = match section(&features, feature, head.order, edit)? {
                Section::AsItIs => features.shared_bytes(feature).unwrap_or_default(),
                Section::Anew(bytes) => Bytes::new(bytes),
                Section::Lost(why) => {
                    let place = features.place(feature).unwrap_or_default();
                    tell_left_out(left_out, place, 1, || why);
                    continue;
                }
            };
            head.features.insert(feature, section, 0);
        }
        Ok(())
    }

    /// The record of a pipe for a feature that it has told, if it is another one than it was.
    pub(super) fn feature_record(
        &self,
        from: &Metadata,
        feature: u32,
        order: ByteOrder,
        edit: &mut impl Edit,
        left_out: &mut Issues,
    ) -> Result<Option<Vec<u8>>> {
        let number = order.put_u64(u64::from(feature));
        let body = match section(&from.features, feature, order, edit)? {
            Section::AsItIs if order == from.order => return Ok(None),
            Section::AsItIs => [&number, from.features.bytes(feature).unwrap_or_default()].concat(),
            Section::Anew(bytes) => [number.as_slice(), &bytes].concat(),
            Section::Lost(why) => {
                let place = from.features.place(feature).unwrap_or_default();
                tell_left_out(left_out, place, 1, || why);
                return Ok(None);
            }
        };
        with_order!(order, O => user_record::<O>(kind::HEADER_FEATURE, 0, &body)).map(Some)
    }
}

/// A feature in this byte order, with the attrs as they are now.
fn section(features: &Features, feature: u32, order: ByteOrder, edit: &mut impl Edit) -> Result<Section> {
    if let Some(section) = edit.section(features, feature, order) {
        return Ok(Section::Anew(section));
    }
    let bytes = features.bytes(feature).unwrap_or_default();
    let is_same_order = order == features.order();
    // Formats of tracepoints say themselves in which byte order they are.
    let is_of_no_order = bytes.is_empty() || feature == bit::TRACING_DATA || is_flag(feature);
    if is_of_no_order || is_same_order && feature != bit::EVENT_DESC {
        return Ok(Section::AsItIs);
    }
    let (mut told, rest) = match features.feature(feature) {
        Some(Ok((Feature::Raw(_), _))) => {
            let why =
                "nothing is known of the fields of this feature: it cannot be said in the other byte order";
            return Ok(Section::Lost(why.to_owned()));
        }
        Some(Ok(decoded)) => decoded,
        _ if is_same_order => return Ok(Section::AsItIs),
        Some(Err(error)) => {
            return Ok(Section::Lost(format!("a feature cannot be said in the other byte order: {error}")));
        }
        None => return Ok(Section::AsItIs),
    };
    let mut is_changed = false;
    if let Feature::EventDesc(desc) = &mut told {
        desc.events.iter_mut().for_each(|event| is_changed |= edit.attr(&mut event.attr));
    }
    if is_same_order && !is_changed {
        return Ok(Section::AsItIs);
    }
    let mut section = Vec::new();
    with_order!(order, O => told.encode::<O>(&mut section)).map_err(unwritable)?;
    section.extend_from_slice(rest);
    Ok(Section::Anew(section))
}
