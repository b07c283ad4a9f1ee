//! All that is needed to decode a body: byte order, events, and which id belongs to which event.

use crate::dialect::Dialect;
use crate::event_name::{self, NameSources};
use crate::features::Features;
use crate::id_table::IdTable;
use crate::wire::attr::{AttrFlags, EventAttr, SampleShape, SampleType};
use crate::wire::endian::ByteOrder;
use crate::wire::sample::layout::{SampleLayout, TrailerLayout};

/// One event of a recording.
#[derive(Clone, Debug)]
pub struct EventDescription {
    /// How it was opened.
    pub attr: EventAttr,
    /// Ids of its counters: one per CPU or thread.
    pub ids: Vec<u64>,
    /// Its name, as EVENT_DESC or EVENT_UPDATE tell it, or made from the attr by [`event_name`].
    pub name: String,
    /// Whether the recording itself tells the name.
    pub named: bool,
    /// Unit of its counts, from EVENT_UPDATE.
    pub unit: Option<String>,
    /// What its counts have to be multiplied by, from EVENT_UPDATE.
    pub scale: Option<f64>,
    /// Where the fields of its samples lie.
    pub layout: SampleLayout,
    /// Where the fields of its trailers lie.
    pub trailer: TrailerLayout,
}

impl EventDescription {
    /// The period of a sample: its own, or what stands in for it.
    #[inline]
    pub fn period(&self, recorded: Option<u64>) -> u64 {
        recorded.unwrap_or_else(|| self.attr.default_period())
    }
}

/// The events of a recording and how to find the one a record belongs to.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    order: ByteOrder,
    dialect: Dialect,
    events: Vec<EventDescription>,
    ids: IdTable,
    /// Offsets from the start of a sample's body at which some event has its id.
    sample_id_at: Vec<usize>,
    /// Offsets from the end of a record at which some event's trailer has its id, with the size of that trailer.
    trailer_id_at: Vec<usize>,
    /// Whether all events lay out their samples' time and their trailers in the same way.
    uniform: bool,
    /// Whether all events lay out everything in the same way.
    same_shape: bool,
    /// Whether there were events that could not be read: then a lone one is not that of every sample.
    incomplete: bool,
    /// Whether some event leaves the user part of call chains to a later record.
    deferring: bool,
}

impl Schema {
    /// A schema without events.
    pub fn new(order: ByteOrder) -> Self {
        Schema { order, uniform: true, same_shape: true, ..Schema::default() }
    }

    /// Byte order of the recording.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Which tool's numbers of record types the recording uses.
    #[inline]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    pub(crate) fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }

    /// Notes that an event could not be read: what goes by the order of the events is not to be trusted then.
    pub(crate) fn set_incomplete(&mut self) {
        self.incomplete = true;
    }

    /// Whether some event leaves the user part of call chains to CALLCHAIN_DEFERRED records.
    pub(crate) fn is_deferring(&self) -> bool {
        self.deferring
    }

    /// The events, in the order of their attrs.
    pub fn events(&self) -> &[EventDescription] {
        &self.events
    }

    /// The event with this index.
    #[inline]
    pub fn event(&self, index: usize) -> Option<&EventDescription> {
        self.events.get(index)
    }

    /// Index of the event that a counter id belongs to.
    pub fn event_of_id(&self, id: u64) -> Option<usize> {
        self.ids.event(id)
    }

    /// Index of the event of a STAT record. With one event there is nothing to tell apart, and old recordings do not.
    pub fn event_of_count(&self, id: u64) -> Option<usize> {
        self.event_of_id(id).or_else(|| (self.events.len() == 1).then_some(0))
    }

    /// Whether the events lay out their records differently.
    pub fn is_mixed(&self) -> bool {
        !self.uniform
    }

    /// Whether several events share a recording whose samples do not say which one they belong to. They then count as samples
    /// of the first.
    pub fn is_ambiguous(&self) -> bool {
        self.events.len() > 1 && self.sample_id_at.is_empty() && self.same_shape
    }

    /// Adds an event.
    pub fn add(&mut self, attr: EventAttr, ids: Vec<u64>) {
        let shape = attr.shape();
        self.deferring |= attr.flags.has(AttrFlags::defer_callchain);
        let layout = SampleLayout::new(shape, self.order);
        let trailer = TrailerLayout::new(&shape);
        let index = self.events.len();
        for id in &ids {
            if self.ids.event(*id).is_none() {
                self.ids.put(*id, index);
            }
        }
        push_new(&mut self.sample_id_at, layout.id_offset());
        push_new(&mut self.trailer_id_at, trailer.id_offset().map(|at| trailer.size() - at));
        if let Some(first) = self.events.first() {
            self.uniform &= first.trailer == trailer && first.layout.time_offset() == layout.time_offset();
            self.same_shape &= *first.layout.shape() == shape;
        }
        let name = event_name::of_attr(&attr, &NameSources::default());
        self.events.push(EventDescription {
            attr,
            ids,
            name,
            named: false,
            unit: None,
            scale: None,
            layout,
            trailer,
        });
    }

    /// Gives an event the name that the recording tells; an empty one tells nothing.
    pub fn set_name(&mut self, index: usize, name: String) {
        if let Some(event) = self.events.get_mut(index).filter(|_| !name.is_empty()) {
            event.name = cut(name);
            event.named = true;
        }
    }

    /// Gives events without a name the one that old recordings tell for a `config`. They say nothing of the type, and have
    /// the name of what was asked for: `cycles` also where the kernel gave a software clock of the same number. So types
    /// whose numbers mean the same everywhere do not need it.
    pub(crate) fn set_names_of_configs(&mut self, name: impl Fn(u64) -> Option<String>) {
        for event in self.events.iter_mut().filter(|event| !event.named) {
            if !event_name::is_numbered_for_all(event.attr.kind)
                && let Some(name) = name(event.attr.config)
            {
                event.name = name;
                event.named = true;
            }
        }
    }

    /// Whether the recording leaves the name of some event to its reader.
    pub fn has_unnamed(&self) -> bool {
        self.events.iter().any(|event| !event.named)
    }

    /// Names the events that the recording does not name.
    pub fn set_fallback_names(&mut self, sources: &NameSources) {
        for event in self.events.iter_mut().filter(|event| !event.named) {
            event.name = event_name::of_attr(&event.attr, sources);
        }
    }

    /// Gives an event the unit of its counts.
    pub fn set_unit(&mut self, index: usize, unit: String) {
        if let Some(event) = self.events.get_mut(index) {
            event.unit = Some(unit);
        }
    }

    /// Gives an event the scale of its counts.
    pub fn set_scale(&mut self, index: usize, scale: f64) {
        if let Some(event) = self.events.get_mut(index) {
            event.scale = Some(scale);
        }
    }

    /// Adds ids to an event.
    pub fn add_ids(&mut self, index: usize, ids: impl IntoIterator<Item = u64>) {
        let Some(event) = self.events.get_mut(index) else { return };
        for id in ids {
            if self.ids.put(id, index) {
                event.ids.push(id);
            }
        }
    }

    /// EVENT_DESC names the events by their order, and has ids where the attrs have none.
    pub(crate) fn learn(&mut self, features: &Features) {
        if self.incomplete {
            return;
        }
        for (index, event) in features.event_desc().iter().flat_map(|desc| desc.events.iter().enumerate()) {
            self.set_name(index, event.name.display().into_owned());
            self.add_ids(index, event.ids.iter());
        }
    }

    /// The event of a sample. With one event always that one; an id of 0 stands for the first.
    #[inline(always)]
    pub fn event_of_sample(&self, body: &[u8]) -> Option<usize> {
        if self.events.len() == 1 && !self.incomplete {
            return Some(0);
        }
        // Mostly all events have their ids at one place.
        match self.sample_id_at() {
            Some(at) => self.known_id(self.order.u64_at(body, at)?),
            None => self.event_of_mixed_sample(body),
        }
    }

    /// The same where events have their ids at several places, or none at all: the place has to be that of the event found there.
    fn event_of_mixed_sample(&self, body: &[u8]) -> Option<usize> {
        let by_id = self.sample_id_at.iter().find_map(|at| {
            let found = self.known_id(self.order.u64_at(body, *at)?)?;
            let layout = &self.events.get(found)?.layout;
            (layout.id_offset() == Some(*at)).then_some(found)
        });
        by_id.or_else(|| self.is_ambiguous().then_some(0))
    }

    /// How a sample is laid out: as its event says, or as all events agree.
    #[inline]
    pub fn layout_of_sample(&self, body: &[u8]) -> Option<&SampleLayout> {
        let index = if self.same_shape { 0 } else { self.event_of_sample(body)? };
        self.events.get(index).map(|event| &event.layout)
    }

    /// The trailer of another record of the kernel, and the shape that goes with it: as its event says, or as all events
    /// agree.
    #[inline]
    pub fn trailer_of(&self, body: &[u8]) -> Option<(&TrailerLayout, &SampleShape)> {
        let index = if self.same_shape { 0 } else { self.event_of_trailer(body)? };
        self.events.get(index).map(|event| (&event.trailer, event.layout.shape()))
    }

    /// The event of another record of the kernel, from its trailer. Without an id it is the first.
    #[inline]
    pub fn event_of_trailer(&self, body: &[u8]) -> Option<usize> {
        if self.events.len() == 1 || self.trailer_id_at.is_empty() {
            return (!self.events.is_empty()).then_some(0);
        }
        self.trailer_id_at.iter().find_map(|from_end| {
            let at = body.len().checked_sub(*from_end)?;
            self.known_id(self.order.u64_at(body, at)?)
        })
    }

    #[inline]
    fn known_id(&self, id: u64) -> Option<usize> {
        // Records that perf makes up itself have id 0.
        if id == 0 { Some(0) } else { self.ids.event(id) }
    }

    /// Time of a sample, ns.
    #[inline]
    pub fn time_of_sample(&self, body: &[u8]) -> Option<u64> {
        let index = if self.uniform { 0 } else { self.event_of_sample(body)? };
        self.order.u64_at(body, self.events.get(index)?.layout.time_offset()?)
    }

    /// Where samples have their id, if all events agree.
    #[inline]
    pub(crate) fn sample_id_at(&self) -> Option<usize> {
        match self.sample_id_at.as_slice() {
            [at] if self.same_shape => Some(*at),
            _ => None,
        }
    }

    /// Where samples have their time, if all events agree.
    pub(crate) fn sample_time_at(&self) -> Option<usize> {
        self.events.first().filter(|_| self.uniform)?.layout.time_offset()
    }

    /// Time in the trailer of another record of the kernel, ns.
    #[inline]
    pub fn time_of_trailer(&self, body: &[u8]) -> Option<u64> {
        let index = if self.uniform { 0 } else { self.event_of_trailer(body)? };
        let trailer = &self.events.get(index)?.trailer;
        let at = body.len().checked_sub(trailer.size())? + trailer.time_offset()?;
        self.order.u64_at(body, at)
    }

    /// Whether records can be put in order of time: every event samples it, and other records have a trailer.
    pub fn has_time(&self) -> bool {
        self.events.iter().all(|e| e.attr.sample_type.has(SampleType::TIME) && e.attr.shape().sample_id_all)
    }
}

fn push_new(list: &mut Vec<usize>, at: Option<usize>) {
    if let Some(at) = at
        && !list.contains(&at)
    {
        list.push(at);
    }
}

/// The most bytes of an event's name: every line about a sample has it, and no real one comes near.
const LONGEST_NAME: usize = 4095;

/// A name that is not too long; where something is missing it ends with `…`.
fn cut(mut name: String) -> String {
    if name.len() > LONGEST_NAME {
        let end = (0..=LONGEST_NAME).rev().find(|end| name.is_char_boundary(*end));
        name.truncate(end.unwrap_or(0));
        name.push('…');
    }
    name
}
