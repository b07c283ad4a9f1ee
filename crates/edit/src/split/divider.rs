//! Which part a record belongs to.

use perffile::Event;
use perffile::wire::record::{Record, kind};
use std::num::NonZeroU64;
use std::ops::RangeInclusive;

/// By what a recording is divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Division {
    /// A part for each so many ns from the first sample on.
    Every(NonZeroU64),
    /// A part for each of these times, ns of the recording's clock, both ends included. What is in none of them is left out.
    Times(Vec<RangeInclusive<u64>>),
    /// A part for about so many bytes of records. What says what was true before its first one comes on top.
    Bytes(NonZeroU64),
    /// A part for each process.
    Process,
    /// A part for each event.
    Event,
    /// A part for each CPU.
    Cpu,
}

/// Which part it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// The number of a stretch of time or of bytes, of a process, of an event, or of a CPU.
    Of(u64),
    /// What does not say which part it belongs to.
    Rest,
}

/// Where a sample or a mark belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    In(Key),
    /// In none of the parts that were asked for.
    Nowhere,
}

/// Tells which part a record belongs to. Asked for all records of a recording, in the same order, it answers the same.
#[derive(Debug)]
pub(super) struct Divider<'d> {
    division: &'d Division,
    /// Time of the first sample, ns.
    first_ns: Option<u64>,
    /// Of parts by bytes: the part at hand, and what is in it already.
    part: u64,
    bytes: u64,
    /// Whether a sample or a mark is in it.
    is_begun: bool,
}

impl<'d> Divider<'d> {
    pub(super) fn new(division: &'d Division) -> Self {
        Divider { division, first_ns: None, part: 0, bytes: 0, is_begun: false }
    }

    /// Where a sample belongs.
    pub(super) fn sample(&mut self, event: &Event<'_>) -> Place {
        let key = match self.division {
            Division::Every(_) | Division::Times(_) => {
                let time = event.time().filter(|time| *time != 0 && !event.has_stray_time());
                return time.map_or(Place::In(Key::Rest), |time| self.at(time));
            }
            Division::Bytes(most) => return self.next_bytes(event, most.get()),
            Division::Process => event.sample().and_then(|sample| sample.pid()).map(u64::from),
            Division::Event => event.event_index().map(|index| index as u64),
            Division::Cpu => event.sample().and_then(|sample| sample.cpu()).map(u64::from),
        };
        Place::In(key.map_or(Key::Rest, Key::Of))
    }

    /// Where a mark belongs; `None` if it does not say, as what perf has made up at the end as sums of what was lost.
    pub(super) fn mark(&mut self, event: &Event<'_>, of_thread: bool) -> Option<Place> {
        if let Division::Bytes(most) = self.division {
            return Some(self.next_bytes(event, most.get()));
        }
        let id = event.sample_id().filter(|_| event.time() != Some(0))?;
        let key = match self.division {
            Division::Every(_) | Division::Times(_) => return id.time.map(|time| self.at(time)),
            Division::Process => id.pid.filter(|_| of_thread).map(u64::from)?,
            // The trailer names the event that records were written for; what was lost is of the event that says so.
            Division::Event => lost_of(event).or_else(|| event.event_index())? as u64,
            Division::Cpu | Division::Bytes(_) => id.cpu.map(u64::from)?,
        };
        Some(Place::In(Key::Of(key)))
    }

    /// Takes note of a record that says what is true from now on; the first part that it can matter to.
    pub(super) fn state(&mut self, event: &Event<'_>) -> Key {
        match self.division {
            Division::Every(_) => match event.time().filter(|time| *time != 0).map(|time| self.at(time)) {
                Some(Place::In(key)) => key,
                _ => Key::Of(0),
            },
            Division::Bytes(_) => {
                self.bytes = self.bytes.saturating_add(event.raw().len() as u64);
                Key::Of(self.part)
            }
            // Ranges may be given in any order.
            _ => Key::Of(0),
        }
    }

    /// The part of this time.
    fn at(&mut self, time_ns: u64) -> Place {
        match self.division {
            Division::Every(ns) => {
                let first = *self.first_ns.get_or_insert(time_ns);
                Place::In(Key::Of(time_ns.saturating_sub(first) / ns.get()))
            }
            Division::Times(ranges) => {
                let index = ranges.iter().position(|range| range.contains(&time_ns));
                index.map_or(Place::Nowhere, |index| Place::In(Key::Of(index as u64)))
            }
            _ => Place::Nowhere,
        }
    }

    /// The part that the next bytes go to.
    fn next_bytes(&mut self, event: &Event<'_>, most: u64) -> Place {
        let size = event.raw().len() as u64;
        if self.is_begun && self.bytes.saturating_add(size) > most {
            (self.part, self.bytes) = (self.part + 1, 0);
        }
        self.is_begun = true;
        self.bytes = self.bytes.saturating_add(size);
        Place::In(Key::Of(self.part))
    }
}

/// The event that a record says of itself that something of it was lost or held back.
fn lost_of(event: &Event<'_>) -> Option<usize> {
    if !matches!(event.head().kind, kind::LOST | kind::THROTTLE | kind::UNTHROTTLE) {
        return None;
    }
    let id = match event.record().ok()?.0 {
        Record::Lost(lost) => lost.id,
        Record::Throttle(throttle) | Record::Unthrottle(throttle) => throttle.id,
        _ => return None,
    };
    event.schema().event_of_id(id)
}
