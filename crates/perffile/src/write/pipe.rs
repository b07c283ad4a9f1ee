//! Pipe streams: a header of sixteen bytes, then nothing but records. Events and features are the first of them.

use super::compressor::Compression;
use super::head::{Head, WrittenEvent};
use super::parts::{unwritable, user_record};
use super::run::Run;
use super::target::{Target, tell_left_out};
use crate::container::header::{MAGIC_2, PIPE_HEADER_SIZE};
use crate::error::Result;
use crate::features::Features;
use crate::issue::Issues;
use crate::metadata::Container;
use crate::place::{Part, Place};
use crate::wire::attr::SampleShape;
use crate::wire::encode::Encoder;
use crate::wire::endian::{ByteOrder, Order, with_order};
use crate::wire::feature::{Feature, bit, is_flag};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::pass::Fields as _;
use crate::wire::record::event_update::{EventUpdate, EventUpdateType};
use crate::wire::record::header_build_id::HeaderBuildId;
use crate::wire::record::{Record, USER_RECORDS, kind};
use crate::wire::text::CStr8;
use std::io::Write;

/// Most bytes of a feature that fit into a record: 65,535 less its head and its number.
const MOST_OF_A_FEATURE: usize = 65_519;

/// The machine of build-ids that are of no guest.
const HOST: i32 = -1;

/// A pipe stream. Events have to be known before the first record; features that are told or changed later come at the end.
#[derive(Debug)]
pub struct PipeTarget<W> {
    run: Run<W>,
    order: ByteOrder,
    /// What has been told: the features, and how many events.
    told: Features,
    events: usize,
    /// Whether the stream has said that its records are compressed.
    has_told_compression: bool,
}

impl<W: Write> PipeTarget<W> {
    /// A stream that is written to `out`.
    pub fn new(out: W, order: ByteOrder) -> PipeTarget<W> {
        let (run, told) = (Run::new(out, order), Features::new(order));
        PipeTarget { run, order, told, events: 0, has_told_compression: false }
    }

    fn event(&mut self, head: &Head, event: &WrittenEvent, issues: &mut Issues) -> Result<()> {
        let mut body = head.attr_bytes(&event.attr, 0)?;
        let most =
            (usize::from(u16::MAX) - HEAD_SIZE - body.len().min(usize::from(u16::MAX) - HEAD_SIZE)) / 8;
        if event.ids.len() > most {
            let lost = event.ids.len() - most;
            tell_left_out(issues, Place::new(Part::Ids, 0), lost as u64, || {
                format!(
                    "an event has {} ids: no more than {most} fit into a record of a pipe",
                    event.ids.len()
                )
            });
        }
        for id in event.ids.iter().take(most) {
            body.extend(self.order.put_u64(*id));
        }
        self.own(kind::HEADER_ATTR, &body, &[])
    }

    /// A record of perf's own.
    fn own(&mut self, number: u32, body: &[u8], payload: &[u8]) -> Result<()> {
        let record = with_order!(self.order, O => user_record::<O>(number, 0, body))?;
        self.run.record(&record, payload)
    }

    /// Says the features that were not told yet, or not like this.
    fn features(&mut self, head: &Head, issues: &mut Issues) -> Result<()> {
        // In the order of perf: what is said of events that these records are needed for comes behind them.
        let late = |feature: &u32| matches!(*feature, bit::TRACING_DATA | bit::BUILD_ID);
        let (last, first): (Vec<u32>, Vec<u32>) = head.features.bits().partition(late);
        let compresses = self.run.compression().is_some();
        for feature in first.into_iter().chain(last) {
            let is_news = self.told.bytes(feature) != head.features.bytes(feature);
            // How records are compressed is told before the first that is.
            if is_news && (feature != bit::COMPRESSED || !compresses) {
                self.feature(head, feature, issues)?;
                self.told.insert(feature, head.features.shared_bytes(feature).unwrap_or_default(), 0);
            }
        }
        Ok(())
    }

    /// Says a feature, in the record that a pipe has for it.
    fn feature(&mut self, head: &Head, feature: u32, issues: &mut Issues) -> Result<()> {
        let section = head.features.bytes(feature).unwrap_or_default();
        match feature {
            bit::TRACING_DATA => return self.tracing_data(section),
            bit::BUILD_ID => return self.build_ids(head, issues),
            // Where the records lie in a file, and how its directory is laid out, is nothing that is true of a pipe.
            bit::AUXTRACE | bit::DIR_FORMAT => return Ok(()),
            // Without payload it would be the mark behind the last feature.
            _ if section.is_empty() && !is_flag(feature) => return Ok(()),
            _ => {}
        }
        if section.len() > MOST_OF_A_FEATURE {
            // Its attrs and ids were told, and its names are.
            if feature == bit::EVENT_DESC {
                return Ok(());
            }
            let place = Place::new(Part::Feature(feature), 0);
            tell_left_out(issues, place, 1, || {
                format!("a feature of {} bytes does not fit into a record of a pipe", section.len())
            });
            return Ok(());
        }
        let mut body = self.order.put_u64(u64::from(feature)).to_vec();
        body.extend_from_slice(section);
        self.own(kind::HEADER_FEATURE, &body, &[])
    }

    /// Says the names of the events one by one: perf takes them from nowhere else in a pipe.
    fn event_names(&mut self, head: &Head) -> Result<()> {
        let events = head.features.event_desc().map_or_else(Vec::new, |desc| desc.events);
        for event in &events {
            // Where there is only one, 0 is its id, too.
            let only = (events.len() == 1).then_some(0);
            let Some(event_id) = event.ids.get(0).or(only) else { continue };
            let text = CStr8::new(event.name.bytes());
            let update =
                EventUpdate { update_type: EventUpdateType::NAME, event_id, text, ..EventUpdate::default() };
            self.typed(Record::EventUpdate(update), 0)?;
        }
        Ok(())
    }

    /// A record of perf's own, with its fields.
    fn typed(&mut self, mut record: Record<'_>, misc: u16) -> Result<()> {
        let (number, mut body, shape) =
            (record.number().unwrap_or_default(), Vec::new(), SampleShape::default());
        with_order!(self.order, O => record.encode::<O>(&mut body, &shape, misc)).map_err(unwritable)?;
        let record = with_order!(self.order, O => user_record::<O>(number, misc, &body))?;
        self.run.record(&record, &[])
    }

    /// Formats of tracepoints lie behind their record, padded to eight bytes.
    fn tracing_data(&mut self, section: &[u8]) -> Result<()> {
        let mut payload = section.to_vec();
        payload.resize(section.len().next_multiple_of(8), 0);
        // With what fills them up: perf refuses them otherwise.
        let size = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        // Sixteen bytes in all since perf 6.x; older ones read both.
        let body = [self.order.put_u32(size), [0; 4]].concat();
        self.own(kind::HEADER_TRACING_DATA, &body, &payload)
    }

    /// Each entry of the section is a record.
    fn build_ids(&mut self, head: &Head, issues: &mut Issues) -> Result<()> {
        let entries = match head.features.feature(bit::BUILD_ID) {
            Some(Ok((Feature::BuildId(ids), _))) => ids.entries,
            None | Some(Ok(_)) => return Ok(()),
            Some(Err(error)) => {
                let place = Place::new(Part::Feature(bit::BUILD_ID), 0);
                tell_left_out(issues, place, 1, || {
                    format!("a table of build-ids cannot be told in a pipe: {error}")
                });
                return Ok(());
            }
        };
        for entry in entries {
            let told = HeaderBuildId {
                // The oldest tables, which have none, are of the host.
                pid: entry.pid.unwrap_or(HOST),
                build_id: entry.build_id,
                size: entry.id_size,
                reserved: entry.reserved,
                filename: CStr8::from_padded(entry.filename),
            };
            self.typed(Record::HeaderBuildId(told), entry.misc)?;
        }
        Ok(())
    }

    /// Says how records are compressed, before the first that is.
    fn tell_compression(&mut self) -> Result<()> {
        let Some(mut told) = self.run.compression().filter(|_| !self.has_told_compression) else {
            return Ok(());
        };
        self.has_told_compression = true;
        let mut body = self.order.put_u64(u64::from(bit::COMPRESSED)).to_vec();
        let shape = Default::default();
        with_order!(self.order, O => told.fields(&mut Encoder::<O>::new(&mut body, &shape, 0)))
            .map_err(unwritable)?;
        self.own(kind::HEADER_FEATURE, &body, &[])
    }
}

impl<W: Write> Target for PipeTarget<W> {
    fn container(&self) -> Container {
        Container::Pipe
    }

    fn begin(&mut self, head: &mut Head, issues: &mut Issues) -> Result<()> {
        for word in [MAGIC_2, PIPE_HEADER_SIZE] {
            self.run.bytes(&self.order.put_u64(word))?;
        }
        head.describe_events()?;
        for event in &head.events {
            self.event(head, event, issues)?;
        }
        self.events = head.events.len();
        self.features(head, issues)?;
        self.event_names(head)?;
        self.tell_compression()
    }

    fn compress(&mut self, how: Option<Compression>) -> Result<()> {
        self.run.compress(how)
    }

    fn record(&mut self, _: Part, record: &[u8], payload: &[u8]) -> Result<()> {
        let head = with_order!(self.order, O => RecordHead::read::<O>(record)).unwrap_or_default();
        if head.kind < USER_RECORDS {
            self.tell_compression()?;
        }
        self.run.record(record, payload)
    }

    fn records(&mut self, _: Part, records: &[u8], _: ByteOrder) -> Result<()> {
        self.tell_compression()?;
        self.run.records(records)
    }

    fn finish(&mut self, head: &mut Head, issues: &mut Issues) -> Result<()> {
        self.features(head, issues)?;
        let late = head.events.len().saturating_sub(self.events) as u64;
        if late > 0 {
            let message = || "an event of a pipe has to be told before its first record".to_owned();
            tell_left_out(issues, Place::new(Part::Attrs, 0), late, message);
        }
        self.run.flush()
    }
}

/// The feature that a HEADER_FEATURE record holds, and its bytes; `None` for the mark behind the last one.
pub(super) fn feature_of<O: Order>(body: &[u8]) -> Option<(u32, &[u8])> {
    let (number, payload) = body.split_first_chunk()?;
    let feature = u32::try_from(O::u64(*number)).ok()?;
    (!payload.is_empty() || is_flag(feature)).then_some((feature, payload))
}
