//! The parts of a recording, written.

use super::divider::{Divider, Key, Place};
use super::survey::Survey;
use crate::counts::{Counts, has_values};
use crate::role::Role;
use perffile::wire::feature::sample_time::SampleTime;
use perffile::wire::feature::{Feature, bit};
use perffile::write::{Gathered, Target, Writer};
use perffile::{Event, Ordering, Part as Stream, Recording, Result};
use std::ops::Range;

/// So many parts are written at a time: each is an open file, and gathers what is small before it is written.
const AT_A_TIME: usize = 128;

/// What was written of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Samples.
    pub samples: u64,
    /// All other records.
    pub others: u64,
    /// First and last time of a sample, ns.
    pub times_ns: Option<(u64, u64)>,
}

/// A part on its way.
struct Part<T> {
    writer: Writer<T>,
    written: Written,
    /// Whether records came since the last mark of a finished round.
    is_in_round: bool,
}

impl<T: Target> Part<T> {
    fn other(&mut self, event: &Event<'_>) -> Result<()> {
        self.written.others += 1;
        self.is_in_round = true;
        self.writer.raw(Stream::Data, event.raw(), event.payload())
    }

    fn sample(&mut self, event: &Event<'_>, bytes: &[u8]) -> Result<()> {
        self.written.samples += 1;
        self.is_in_round = true;
        if let Some(time) = event.time().filter(|_| !event.has_stray_time()) {
            let (first, last) = self.written.times_ns.unwrap_or((time, time));
            self.written.times_ns = Some((first.min(time), last.max(time)));
        }
        self.writer.raw(Stream::Data, bytes, &[])
    }

    fn finish(mut self) -> Result<Written> {
        let features = &mut self.writer.head_mut().features;
        if features.has(bit::SAMPLE_TIME) {
            let (first, last) = self.written.times_ns.unwrap_or_default();
            // Two numbers always fit.
            let _ = features.set(bit::SAMPLE_TIME, Feature::SampleTime(SampleTime { first, last }));
        }
        // All that is said has a place in a file.
        self.writer.finish().map(|_| self.written)
    }
}

impl Survey {
    /// Writes the parts of the recording that was surveyed. `open` makes a writer for the part with this number, for a file in the byte
    /// order of the recording; `progress` is told how many bytes were walked of how many.
    ///
    /// # Errors
    /// What the operating system says, and what `open` does.
    pub fn write<T: Target, E: From<perffile::Error>>(
        &self,
        recording: &Recording,
        mut open: impl FnMut(usize) -> std::result::Result<Writer<T>, E>,
        mut progress: impl FnMut((u64, u64)),
    ) -> std::result::Result<Vec<Written>, E> {
        let mut written = Vec::with_capacity(self.keys.len());
        while written.len() < self.keys.len() {
            let numbers = written.len()..(written.len() + AT_A_TIME).min(self.keys.len());
            let mut parts = Vec::with_capacity(numbers.len());
            for number in numbers.clone() {
                let mut writer = open(number)?;
                writer.head_mut().clone_from(&self.head);
                parts.push(Part { writer, written: Written::default(), is_in_round: false });
            }
            let pass = Pass {
                survey: self,
                numbers,
                parts,
                divider: Divider::new(&self.division),
                gathered: Gathered::new(recording.metadata()),
                counts: Counts::default(),
                bytes: Vec::new(),
            };
            written.extend(pass.run(recording, &mut progress)?);
        }
        Ok(written)
    }
}

/// One pass over the recording, for some of its parts.
struct Pass<'s, T> {
    survey: &'s Survey,
    /// The numbers of the parts.
    numbers: Range<usize>,
    parts: Vec<Part<T>>,
    divider: Divider<'s>,
    gathered: Gathered,
    counts: Counts,
    /// The bytes of a sample that is changed.
    bytes: Vec<u8>,
}

impl<T: Target> Pass<'_, T> {
    fn run(mut self, recording: &Recording, progress: &mut impl FnMut((u64, u64))) -> Result<Vec<Written>> {
        let mut batches = recording.batches(Ordering::Time)?;
        while let Some(batch) = batches.next() {
            for event in batch.iter() {
                if !self.gathered.takes(&event) {
                    self.event(&event)?;
                }
            }
            progress(batches.progress());
        }
        self.parts.into_iter().map(Part::finish).collect()
    }

    fn event(&mut self, event: &Event<'_>) -> Result<()> {
        match Role::of(event) {
            Role::Sample => match self.divider.sample(event) {
                Place::In(key) => self.sample(event, self.number(key)),
                Place::Nowhere => Ok(()),
            },
            Role::Mark { of_thread } => match self.divider.mark(event, of_thread) {
                Some(Place::Nowhere) => Ok(()),
                Some(Place::In(key)) => self.other(event, self.number(key)),
                // What does not say where it belongs is in the first.
                None => self.other(event, 0),
            },
            Role::State { pid, .. } => {
                let numbers = self.numbers_from(event);
                self.survey.needs.of(pid, numbers).try_for_each(|number| self.other(event, number))
            }
            Role::Common => self.numbers_from(event).try_for_each(|number| self.other(event, number)),
            Role::Round => self.parts.iter_mut().filter(|part| part.is_in_round).try_for_each(|part| {
                part.other(event)?;
                part.is_in_round = false;
                Ok(())
            }),
            Role::Trace => Ok(()),
        }
    }

    /// The parts at hand to which it can matter what is true from this record on.
    fn numbers_from(&mut self, event: &Event<'_>) -> Range<usize> {
        let first = self.divider.state(event);
        let first = self.survey.keys.partition_point(|key| *key < first);
        first.max(self.numbers.start)..self.numbers.end
    }

    /// The number of a part; of what belongs to none that has samples, that of the one before.
    fn number(&self, key: Key) -> usize {
        self.survey.keys.partition_point(|other| *other <= key).saturating_sub(1)
    }

    /// The part with this number, if it is among those at hand.
    fn part(&mut self, number: usize) -> Option<&mut Part<T>> {
        self.parts.get_mut(number.checked_sub(self.numbers.start)?)
    }

    fn other(&mut self, event: &Event<'_>, number: usize) -> Result<()> {
        self.part(number).map_or(Ok(()), |part| part.other(event))
    }

    fn sample(&mut self, event: &Event<'_>, number: usize) -> Result<()> {
        let Some(description) = event.event().filter(|description| has_values(description)) else {
            return self.part(number).map_or(Ok(()), |part| part.sample(event, event.raw()));
        };
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.extend_from_slice(event.raw());
        self.counts.stays(number, event, description, event.schema().order(), &mut bytes);
        let outcome = self.part(number).map_or(Ok(()), |part| part.sample(event, &bytes));
        self.bytes = bytes;
        outcome
    }
}
