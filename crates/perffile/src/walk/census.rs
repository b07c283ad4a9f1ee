//! Which files of a directory are there, and which should be: a missing file leaves no gap in the records of the others.
//!
//! ID_INDEX tells for each counter the number of its file and its CPU; SAMPLE_TIME the times of the first and the last sample.
//! What neither of them tells of cannot be missed: an empty file is also what a CPU leaves on which nothing ran. But a thread whose
//! end was recorded has a beginning, too.

use crate::container::directory::tell_missing;
use crate::container::stream::Stream;
use crate::issue::IssueKind;
use crate::metadata::Metadata;
use crate::place::{Part, Place};
use crate::wire::endian::Order;
use crate::wire::record::id_index::IdIndex;
use crate::wire::record::kind;
use std::collections::{BTreeMap, HashSet};

/// Of a counter that counts for all threads of a CPU, the thread in ID_INDEX.
const ALL_THREADS: u64 = u64::MAX;

/// The files of a directory and the times of its samples.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// The numbers of the files, and whether there is anything in them.
    there: BTreeMap<u32, bool>,
    /// The files that the counters belong to: of which CPU, if they are for all its threads.
    expected: BTreeMap<u32, Option<u64>>,
    /// Times of the first and the last sample, ns.
    times: Option<(u64, u64)>,
    samples: u64,
    /// Threads that were begun or named, and those that ended.
    begun: HashSet<u32>,
    ended: HashSet<u32>,
    /// Whether records are said to be lost: then what is missing has a reason.
    lost: bool,
}

impl Census {
    pub(super) fn of(streams: &[Stream]) -> Census {
        let number = |stream: &Stream| match stream.part {
            Part::Stream(number) => Some((number, stream.source.len() > 0)),
            _ => None,
        };
        Census { there: streams.iter().filter_map(number).collect(), ..Census::default() }
    }

    /// Takes in which counters belong to which file.
    pub(super) fn expect(&mut self, index: &IdIndex<'_>) {
        for entry in index.entries.iter() {
            // A number beyond this is none of a file.
            if let Ok(number) = u16::try_from(entry.idx) {
                let cpu = (entry.tid == ALL_THREADS).then_some(entry.cpu);
                self.expected.insert(number.into(), cpu);
            }
        }
    }

    /// Takes in a sample.
    #[inline]
    pub(super) fn sample(&mut self, time_ns: Option<u64>) {
        self.samples += 1;
        if let Some(time) = time_ns.filter(|time| *time > 0) {
            let (first, last) = self.times.unwrap_or((time, time));
            self.times = Some((first.min(time), last.max(time)));
        }
    }

    /// Takes in a record that is no sample: FORK and EXIT tell when a thread began and ended.
    #[inline]
    pub(super) fn record<O: Order>(&mut self, record: u32, body: &[u8]) {
        // COMM has pid and tid; FORK and EXIT pid, ppid, tid.
        let thread = |at: usize| O::ORDER.u32_at(body, at);
        match record {
            kind::COMM => self.begun.extend(thread(4)),
            kind::FORK => self.begun.extend(thread(8)),
            kind::EXIT => self.ended.extend(thread(8)),
            kind::LOST | kind::LOST_SAMPLES => self.lost = true,
            _ => {}
        }
    }

    /// Tells what is missing.
    pub(super) fn tell(&self, metadata: &mut Metadata) {
        // `perf record --kcore` makes a directory, too, of one file with all records.
        let is_one_file = metadata.features.dir_format().is_none_or(|format| format.version == 0);
        if self.there.is_empty() && is_one_file {
            return;
        }
        let last = self.there.keys().chain(self.expected.keys()).max().copied();
        let told = metadata.issues.iter().filter(|issue| issue.kind == IssueKind::MissingStream);
        let told: Vec<Part> = told.map(|issue| issue.place.part).collect();
        for number in last.map_or(0..0, |last| 0..last.saturating_add(1)).take(usize::from(u16::MAX)) {
            if !self.there.contains_key(&number) && !told.contains(&Part::Stream(number)) {
                tell_missing(&mut metadata.issues, number, "is missing");
            }
        }
        if !self.tell_missing_samples(metadata) {
            self.tell_empty(metadata);
        }
    }

    /// Whether there are samples that are not there, and says so.
    fn tell_missing_samples(&self, metadata: &mut Metadata) -> bool {
        let range =
            metadata.features.sample_time().filter(|range| range.last > 0 && range.last >= range.first);
        let empty = self.there.iter().find(|(_, filled)| !**filled).map(|(number, _)| *number);
        let all_empty = !self.there.is_empty() && self.there.values().all(|filled| !filled);
        let message = match (self.samples, range, self.times) {
            (0, Some(range), _) => {
                format!(
                    "the header tells of samples from {} to {} ns, and there is none",
                    range.first, range.last
                )
            }
            (0, None, _) if all_empty => {
                "all of its files but the first are empty: no sample is there".to_owned()
            }
            (_, Some(range), Some((first, last))) if (first, last) != (range.first, range.last) => format!(
                "the header tells of samples from {} to {} ns, and those that are there are from {first} to {last} ns",
                range.first, range.last
            ),
            _ => match self.only_ends(empty) {
                Some(message) => message,
                None => return false,
            },
        };
        metadata.issues.add(IssueKind::MissingSamples, Place::new(Part::Data, 0), || message);
        true
    }

    /// What to say where a file is empty, and threads end that never began: their beginning was recorded on some CPU.
    fn only_ends(&self, empty: Option<u32>) -> Option<String> {
        let threads = self.ended.difference(&self.begun).count();
        let number = empty.filter(|_| threads > 0 && !self.lost)?;
        let threads = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        Some(format!(
            "the file data.{number} is empty, and only the end of {threads} is there: its records are probably lost"
        ))
    }

    /// What has no record of a CPU whose threads were all recorded may have lost them.
    fn tell_empty(&self, metadata: &mut Metadata) {
        for (number, cpu) in &self.expected {
            if let (Some(cpu), Some(false)) = (cpu, self.there.get(number)) {
                let message = || {
                    format!(
                        "the file data.{number} is empty, although all threads on CPU {cpu} were recorded: nothing ran there, or it \
                         is lost"
                    )
                };
                metadata.issues.add(IssueKind::EmptyStream, Place::new(Part::Stream(*number), 0), message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, ErrorKind, Recording};

    /// What is told of a directory with these files and counters, and samples without a known range.
    fn told(there: &[(u32, bool)], expected: &[(u32, Option<u64>)], samples: u64) -> Vec<(IssueKind, Part)> {
        let error = Error::new(ErrorKind::Empty, None);
        let mut metadata = Recording::nothing(&error).unwrap().metadata().clone();
        metadata.issues = crate::Issues::default();
        let (there, expected) = (there.iter().copied().collect(), expected.iter().copied().collect());
        Census { there, expected, samples, ..Census::default() }.tell(&mut metadata);
        metadata.issues.iter().map(|issue| (issue.kind, issue.place.part)).collect()
    }

    /// Where only some threads were recorded, a CPU on which none of them ran leaves an empty file. In a recording of the whole
    /// system that is odd, but can be.
    #[test]
    fn an_empty_file_may_be_right() {
        let there = [(0, true), (1, false)];
        assert_eq!(told(&there, &[(0, None), (1, None)], 5), []);
        assert_eq!(
            told(&there, &[(0, Some(0)), (1, Some(1))], 5),
            [(IssueKind::EmptyStream, Part::Stream(1))]
        );
        assert_eq!(told(&[(0, false)], &[(0, None)], 0), [(IssueKind::MissingSamples, Part::Data)]);
    }

    #[test]
    fn a_thread_that_ends_has_begun() {
        let told = |lost: bool, begun: &[u32]| {
            let error = Error::new(ErrorKind::Empty, None);
            let mut metadata = Recording::nothing(&error).unwrap().metadata().clone();
            metadata.issues = crate::Issues::default();
            let mut census =
                Census { there: [(0, true), (1, false)].into(), samples: 5, ..Census::default() };
            let record = |kind: u32, words: [u32; 4]| (kind, words.map(u32::to_le_bytes).concat());
            let mut records = vec![record(kind::EXIT, [7, 1, 8, 1]), record(kind::EXIT, [7, 1, 9, 1])];
            records.extend(begun.iter().map(|tid| record(kind::FORK, [7, 1, *tid, 1])));
            records.extend(lost.then(|| record(kind::LOST, [1, 0, 3, 0])));
            for (kind, body) in &records {
                census.record::<crate::wire::endian::Le>(*kind, body);
            }
            census.tell(&mut metadata);
            metadata.issues.iter().map(|issue| issue.message.clone()).collect::<Vec<String>>()
        };
        assert!(
            told(false, &[8])[0]
                .starts_with("the file data.1 is empty, and only the end of 1 thread is there")
        );
        assert!(told(false, &[])[0].contains("of 2 threads"));
        assert!(told(false, &[9, 8]).is_empty() && told(true, &[]).is_empty());
    }

    #[test]
    fn the_table_of_counters_tells_of_the_last_file() {
        let missing = |number| [(IssueKind::MissingStream, Part::Stream(number))];
        assert_eq!(told(&[(0, true)], &[(0, None), (1, None)], 5), missing(1));
        assert_eq!(told(&[(0, true), (2, true)], &[], 5), missing(1));
        assert_eq!(told(&[(0, true)], &[], 5), [], "without it nobody knows");
    }
}
