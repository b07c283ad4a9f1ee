//! Events: which of several recordings are the same, and which ids they have then.

use super::{Error, Source};
use crate::counts::has_values;
use perffile::EventDescription;
use perffile::wire::attr::SampleType;
use perffile::write::WrittenEvent;
use rustc_hash::FxHashMap;

/// The events of all recordings.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) written: Vec<WrittenEvent>,
    /// Whether samples and trailers have to say to which event they belong, and do not in the recordings.
    pub(super) adds_identifier: bool,
    /// By recording.
    pub(super) of: Vec<EventsOf>,
}

/// What becomes of the events of one recording.
#[derive(Debug, Default)]
pub(super) struct EventsOf {
    /// The event that each has become.
    pub(super) index: Vec<usize>,
    /// Ids that are other ones now.
    pub(super) ids: FxHashMap<u64, u64>,
    /// An id of each, for what says none.
    pub(super) first: Vec<Option<u64>>,
}

/// Ids that are taken.
#[derive(Default)]
struct Taken {
    /// By which event.
    by: FxHashMap<u64, usize>,
    highest: u64,
}

impl Taken {
    fn free(&mut self) -> Option<u64> {
        // Ids of counters are counted up from 1: there is always a higher one, unless they are made up.
        let highest = self.highest.checked_add(1)?;
        self.highest = highest;
        Some(highest)
    }
}

impl Events {
    pub(super) fn join(sources: &[Source<'_>], apart: bool) -> Result<Events, Error> {
        let all = || sources.iter().flat_map(|source| source.survey.metadata.schema.events());
        let mut events = Events { written: Vec::new(), adds_identifier: false, of: Vec::new() };
        let highest = all().flat_map(|event| event.ids.iter().copied()).max().unwrap_or(0);
        let mut taken = Taken { highest, ..Taken::default() };
        for (number, source) in sources.iter().enumerate() {
            let mut of = EventsOf::default();
            let mut own = Vec::new();
            for event in source.survey.metadata.schema.events() {
                let index = events.index_of(event, number, apart, &own);
                own.push(index);
                let mut first = None;
                for id in &event.ids {
                    let is_free = match taken.by.get(id) {
                        Some(by) => *by == index && !has_values(event),
                        // What has counted goes on from the last value of the same counter: there must be none.
                        None => true,
                    };
                    let new = if is_free { Some(*id) } else { taken.free() };
                    let new =
                        new.ok_or_else(|| Error::Refused("there are no ids left for events".to_owned()))?;
                    if new != *id {
                        of.ids.insert(*id, new);
                    }
                    if taken.by.insert(new, index).is_none()
                        && let Some(written) = events.written.get_mut(index)
                    {
                        written.ids.push(new);
                    }
                    first = first.or(Some(new));
                }
                of.first.push(first);
            }
            of.index = own;
            events.of.push(of);
        }
        events.tell_apart(&mut taken)?;
        Ok(events)
    }

    /// The event that one of a recording becomes: the one that was opened alike, or a new one. Two of one recording stay two.
    fn index_of(&mut self, event: &EventDescription, source: usize, apart: bool, own: &[usize]) -> usize {
        let is_same = |(index, written): &(usize, &WrittenEvent)| {
            written.attr == event.attr
                && written.name.as_deref() == Some(event.name.as_str())
                && !own.contains(index)
        };
        if !apart && let Some((index, _)) = self.written.iter().enumerate().find(is_same) {
            return index;
        }
        let is_taken = |name: &str| self.written.iter().any(|written| written.name.as_deref() == Some(name));
        let name = if apart && is_taken(&event.name) {
            format!("{}#{}", event.name, source + 1)
        } else {
            event.name.clone()
        };
        self.written.push(WrittenEvent { attr: event.attr.clone(), ids: Vec::new(), name: Some(name) });
        self.written.len() - 1
    }

    /// Sees to it that each sample says which event it belongs to, where there are several.
    fn tell_apart(&mut self, taken: &mut Taken) -> Result<(), Error> {
        let types = || self.written.iter().map(|event| event.attr.sample_type);
        let say_all = types().all(|fields| fields.has(SampleType::IDENTIFIER));
        let are_alike = types().all(|fields| Some(fields) == types().next() && fields.has(SampleType::ID));
        self.adds_identifier = self.written.len() > 1 && !say_all && !are_alike;
        if !self.adds_identifier {
            return Ok(());
        }
        for event in &mut self.written {
            event.attr.sample_type = event.attr.sample_type | SampleType::IDENTIFIER;
            if event.ids.is_empty() {
                let id = taken
                    .free()
                    .ok_or_else(|| Error::Refused("there are no ids left for events".to_owned()))?;
                event.ids.push(id);
            }
        }
        for of in &mut self.of {
            for (first, index) in of.first.iter_mut().zip(&of.index) {
                *first = first.or_else(|| self.written.get(*index)?.ids.first().copied());
            }
        }
        Ok(())
    }
}
