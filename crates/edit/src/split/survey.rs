//! Which parts a recording has, and what each of them needs.

use super::divider::{Divider, Division, Key, Place};
use crate::lineage::Lineage;
use crate::role::Role;
use perffile::wire::attr::SampleType;
use perffile::write::{Gathered, Head};
use perffile::{Event, Issues, Metadata, Ordering, Recording, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::ops::Range;

/// The parts of a recording.
#[derive(Debug)]
pub struct Survey {
    pub(super) division: Division,
    /// In their order.
    pub(super) keys: Vec<Key>,
    pub(super) needs: Needs,
    /// What is said of the recording as a whole.
    pub(super) head: Head,
    metadata: Metadata,
    left_out: Issues,
    /// What is in no part, and how many records there are of AUX traces, which cannot be divided.
    outside: Outside,
    traces: u64,
}

/// What is in none of the parts that were asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outside {
    /// Samples.
    pub samples: u64,
    /// What else happened at a time: losses, switches.
    pub marks: u64,
}

/// Which parts need what is known of a process: numbers in [`Survey::keys`], in order.
#[derive(Debug, Default)]
pub(super) struct Needs {
    by_pid: FxHashMap<u32, Vec<usize>>,
    /// Parts with samples that do not say whose they are: they may need everything.
    everyone: Vec<usize>,
}

impl Needs {
    /// Which of these parts need what is said of a process.
    pub(super) fn of(&self, pid: u32, among: Range<usize>) -> impl Iterator<Item = usize> {
        let own = self.by_pid.get(&pid).map_or(&[][..], Vec::as_slice);
        let within = move |parts: &[usize]| {
            parts.partition_point(|part| *part < among.start)..parts.partition_point(|part| *part < among.end)
        };
        let own = own.get(within(own)).unwrap_or_default();
        own.iter().chain(self.everyone.get(within(&self.everyone)).unwrap_or_default()).copied()
    }
}

/// What is learned on the way.
struct Findings {
    samples: BTreeSet<Key>,
    /// The processes whose samples and marks are in a part, and those that they were forked from.
    pids: FxHashSet<(Key, u32)>,
    everyone: BTreeSet<Key>,
    lineage: Lineage,
    /// Whether records come in order of time, so that it is known who was forked from whom.
    is_ordered: bool,
    /// The last part and process: the next sample is most often of the same.
    last: Option<(Key, u32)>,
}

impl Findings {
    fn add(&mut self, key: Key, pid: Option<u32>) {
        let Some(pid) = pid.filter(|_| self.is_ordered) else {
            self.everyone.insert(key);
            return;
        };
        if self.last.replace((key, pid)) == Some((key, pid)) {
            return;
        }
        self.pids.insert((key, pid));
        for ancestor in self.lineage.ancestors(pid) {
            self.pids.insert((key, ancestor));
        }
    }

    fn needs(self, keys: &[Key]) -> Needs {
        let number = |key: &Key| keys.binary_search(key).ok();
        let mut needs =
            Needs { everyone: self.everyone.iter().filter_map(number).collect(), ..Needs::default() };
        for (key, pid) in &self.pids {
            if let Some(part) = number(key).filter(|_| !self.everyone.contains(key)) {
                needs.by_pid.entry(*pid).or_default().push(part);
            }
        }
        needs.by_pid.values_mut().for_each(|parts| parts.sort_unstable());
        needs
    }
}

impl Survey {
    /// Reads a recording that can be read again, and finds its parts. `progress` is told how many bytes were walked of how many.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn of(
        recording: &Recording,
        division: Division,
        mut progress: impl FnMut((u64, u64)),
    ) -> Result<Survey> {
        let (mut gathered, mut divider) = (Gathered::new(recording.metadata()), Divider::new(&division));
        let (mut outside, mut traces) = (Outside::default(), 0);
        let mut found = Findings {
            samples: BTreeSet::new(),
            pids: FxHashSet::default(),
            everyone: BTreeSet::new(),
            lineage: Lineage::default(),
            is_ordered: true,
            last: None,
        };
        let mut batches = recording.batches(Ordering::Time)?;
        while let Some(batch) = batches.next() {
            let first = batch.schema().events().first();
            found.is_ordered = first.is_none_or(|event| event.layout.shape().sample_id_all);
            for event in batch.iter().filter(|event| !gathered.takes(event)) {
                match Role::of(&event) {
                    Role::Sample => match divider.sample(&event) {
                        Place::In(key) => {
                            found.samples.insert(key);
                            found.add(key, pid_of(&event));
                        }
                        Place::Nowhere => outside.samples += 1,
                    },
                    Role::Mark { of_thread } => {
                        let place = divider.mark(&event, of_thread);
                        outside.marks += u64::from(place == Some(Place::Nowhere));
                        let pid = event.sample_id().and_then(|id| id.pid).filter(|_| of_thread);
                        if let (Some(Place::In(key)), Some(pid)) = (place, pid) {
                            found.add(key, Some(pid));
                        }
                    }
                    Role::State { pid, parent } => {
                        divider.state(&event);
                        if let Some(parent) = parent {
                            found.lineage.fork(pid, parent);
                            found.last = None;
                        }
                    }
                    Role::Common => {
                        divider.state(&event);
                    }
                    Role::Trace => traces += 1,
                    Role::Round => {}
                }
            }
            progress(batches.progress());
        }
        let metadata = batches.metadata().clone();
        let (head, left_out) = gathered.head(&metadata, metadata.order)?;
        // What there is besides samples has to be somewhere.
        let mut keys: Vec<Key> = found.samples.iter().copied().collect();
        if keys.is_empty() {
            keys.push(Key::Rest);
            found.everyone.insert(Key::Rest);
        }
        let needs = found.needs(&keys);
        Ok(Survey { division, keys, needs, head, metadata, left_out, outside, traces })
    }

    /// How the recording is divided.
    pub fn division(&self) -> &Division {
        &self.division
    }

    /// The parts, in their order. There is always one.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// What is known of the recording, all of it read.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What is said of the recording as a whole and has no place in its parts.
    pub fn left_out(&self) -> &Issues {
        &self.left_out
    }

    /// What is in none of the parts that were asked for.
    pub fn outside(&self) -> Outside {
        self.outside
    }

    /// Records of AUX traces, which are in no part: they cannot be divided.
    pub fn traces(&self) -> u64 {
        self.traces
    }
}

/// The process of a sample, if it says so.
fn pid_of(event: &Event<'_>) -> Option<u32> {
    let has_pid = |event: &perffile::EventDescription| event.attr.sample_type.has(SampleType::TID);
    event.event().filter(|event| has_pid(event))?;
    event.sample()?.pid()
}
