//! The records of all recordings, in order of time.

use super::Merge;
use super::translation::Translation;
use crate::role::Role;
use perffile::wire::record::Record;
use perffile::wire::sample::SampleId;
use perffile::write::{Gathered, Target, Writer};
use perffile::{Batch, Batches, Event, IssueKind, Issues, Ordering, Part, Result};
use rustc_hash::FxHashMap;

/// After so many bytes what came before is in order: readers need not hold more.
const ROUND_BYTES: u64 = 1 << 20;

/// What became of the records of one recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Samples.
    pub samples: u64,
    /// All other records that are there.
    pub others: u64,
    /// Records that another recording has told alike.
    pub told_alike: u64,
    /// Records of a kernel that no sample is in, and in whose place another one is.
    pub of_other_kernel: u64,
}

/// What was merged.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// By recording.
    pub tallies: Vec<Tally>,
    /// What has no place in the merged recording.
    pub left_out: Issues,
}

/// The records of one recording that are still to come.
struct Run<'m> {
    batches: Batches,
    gathered: Gathered,
    batch: Option<Batch>,
    next: usize,
    /// When the next record is, ns; those without a time come with the one before.
    time_ns: u64,
    translation: Translation<'m>,
    tally: Tally,
}

impl Run<'_> {
    /// Goes to the next record that is one of a file; says whether another batch has begun.
    fn find(&mut self) -> bool {
        let mut is_new = false;
        loop {
            while let Some(event) = self.batch.as_ref().and_then(|batch| batch.get(self.next)) {
                if !self.gathered.takes(&event) && !matches!(Role::of(&event), Role::Round | Role::Trace) {
                    let time = event.time().filter(|time| *time != 0 && !event.has_stray_time());
                    self.time_ns = time.map_or(self.time_ns, |time| self.translation.time(time));
                    return is_new;
                }
                self.next += 1;
            }
            (self.batch, self.next) = (self.batches.next(), 0);
            is_new = true;
            if self.batch.is_none() {
                return is_new;
            }
        }
    }
}

/// The merged recording on its way.
struct Output<'m, T> {
    merge: &'m Merge<'m>,
    writer: Writer<T>,
    left_out: Issues,
    /// What was told of processes and of the whole at this time, and by which recording.
    told_now: FxHashMap<Box<[u8]>, usize>,
    told_at_ns: u64,
    /// What was told at no time.
    told: FxHashMap<Box<[u8]>, usize>,
    round_bytes: u64,
    bytes: Vec<u8>,
}

impl Merge<'_> {
    /// Writes the merged recording to a writer of the byte order of the first, to which nothing has been written. `progress` is told
    /// how many bytes were walked of how many.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn write<T: Target>(
        &self,
        mut writer: Writer<T>,
        mut progress: impl FnMut((u64, u64)),
    ) -> Result<Merged> {
        writer.head_mut().clone_from(&self.head);
        let mut runs = Vec::new();
        for (number, source) in self.sources.iter().enumerate() {
            let Some(translation) = Translation::of(self, number) else { continue };
            let mut run = Run {
                batches: source.recording.batches(Ordering::Time)?,
                gathered: Gathered::new(source.recording.metadata()),
                batch: None,
                next: 0,
                time_ns: 0,
                translation,
                tally: Tally::default(),
            };
            run.find();
            runs.push(run);
        }
        let mut output = Output {
            merge: self,
            writer,
            left_out: Issues::default(),
            told_now: FxHashMap::default(),
            told_at_ns: 0,
            told: FxHashMap::default(),
            round_bytes: 0,
            bytes: Vec::new(),
        };
        let total: u64 = self.sources.iter().map(|source| source.recording.data_bytes()).sum();
        while let Some((number, until_ns)) = next(&runs) {
            let Some(run) = runs.get_mut(number) else { break };
            // As long as no other recording has something earlier.
            while run.batch.is_some() && run.time_ns <= until_ns {
                output.record(run, number)?;
                run.next += 1;
                // With each batch it is said how far that is.
                if run.find() {
                    break;
                }
            }
            progress((runs.iter().map(|run| run.batches.progress().0).sum(), total));
        }
        let tallies = runs.iter().map(|run| run.tally).collect();
        output.left_out.extend(&output.writer.finish()?);
        Ok(Merged { tallies, left_out: output.left_out })
    }
}

/// The recording whose record is next, and until when it is its turn.
fn next(runs: &[Run<'_>]) -> Option<(usize, u64)> {
    let mut waiting: Option<(usize, u64)> = None;
    let mut until_ns = u64::MAX;
    for (number, run) in runs.iter().enumerate().filter(|(_, run)| run.batch.is_some()) {
        match waiting {
            // Of equal times those of the recording that was named first come first.
            Some((_, time)) if run.time_ns >= time => until_ns = until_ns.min(run.time_ns),
            Some((_, time)) => {
                // The one before is to have its turn at its own time.
                until_ns = until_ns.min(time.saturating_sub(1));
                waiting = Some((number, run.time_ns));
            }
            None => waiting = Some((number, run.time_ns)),
        }
    }
    let (number, time) = waiting?;
    Some((number, until_ns.max(time)))
}

impl<T: Target> Output<'_, T> {
    fn record(&mut self, run: &mut Run<'_>, number: usize) -> Result<()> {
        let Some(event) = run.batch.as_ref().and_then(|batch| batch.get(run.next)) else { return Ok(()) };
        if run.translation.drops(&event) {
            run.tally.of_other_kernel += 1;
            return Ok(());
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        let written =
            if run.translation.is_idle { Ok(()) } else { run.translation.write(&event, &mut bytes) };
        let record = if run.translation.is_idle { event.raw() } else { &bytes };
        // Ids tell recordings apart, not what they tell.
        let told = if run.translation.tells_the_same { event.raw() } else { record };
        let role = Role::of(&event);
        let is_of_all = matches!(role, Role::State { .. } | Role::Common);
        let outcome = match written {
            Ok(()) if is_of_all && self.is_told(run.time_ns, &event, told, number) => {
                run.tally.told_alike += 1;
                Ok(())
            }
            Ok(()) => self.put(run.time_ns, &event, record, &mut run.tally),
            Err(error) => {
                let message = || format!("a record cannot be written anew and is left out: {}", error.kind());
                self.left_out.add(IssueKind::NotWritten, event.place(), message);
                Ok(())
            }
        };
        self.bytes = bytes;
        outcome
    }

    fn put(&mut self, time_ns: u64, event: &Event<'_>, record: &[u8], tally: &mut Tally) -> Result<()> {
        let role = Role::of(event);
        *(if role == Role::Sample { &mut tally.samples } else { &mut tally.others }) += 1;
        self.writer.raw(Part::Data, record, event.payload())?;
        self.round_bytes += record.len() as u64;
        // Only what is in order may be said to be.
        if self.round_bytes > ROUND_BYTES
            && time_ns > 0
            && !self.merge.events.written.is_empty()
            && self.merge.is_timed()
        {
            self.round_bytes = 0;
            let mark = Record::FinishedRound(Default::default());
            self.writer.record(0, 0, mark, &SampleId::default())?;
        }
        Ok(())
    }

    /// Whether another recording has told the same of the same time; takes note of it if not.
    fn is_told(&mut self, time_ns: u64, event: &Event<'_>, record: &[u8], number: usize) -> bool {
        let is_timed = event.time().is_some_and(|time| time != 0);
        if is_timed && self.told_at_ns != time_ns {
            self.told_now.clear();
            self.told_at_ns = time_ns;
        }
        let told = if is_timed { &mut self.told_now } else { &mut self.told };
        match told.get(record) {
            Some(by) => *by != number,
            None => {
                told.insert(record.into(), number);
                false
            }
        }
    }
}

impl Merge<'_> {
    fn is_timed(&self) -> bool {
        self.sources.first().is_some_and(|source| source.survey.is_timed())
    }
}
