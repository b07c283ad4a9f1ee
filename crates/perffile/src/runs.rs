//! Waiting records as runs that are each in order of time, merged where they lie.
//!
//! What the buffer of a CPU held is in order but for little, so a round is a few long runs. They are noted as they come; then each
//! record is moved once, from its run to where it belongs among all. Where runs are so short that there is nothing to merge, the
//! records are sorted instead.

use crate::order::Entry;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::hint::select_unpredictable;
use std::ops::Range;

/// Runs that are shorter than this, in the mean, are sorted.
const SHORT: usize = 4;

/// From so many records of each of two runs on, before one of a third, it is worth it to merge those by themselves.
const LONG: usize = 8;

/// So many runs are kept in order by moving one among them.
const MOST_IN_ORDER: usize = 16;

/// Records as they came, by their runs.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    /// In order within a run; runs, and records of the same time, in the order of the file.
    records: Vec<Entry>,
    /// Where each run begins, but for the first.
    starts: Vec<usize>,
    /// Time of the last record.
    last_time: u64,
    /// The latest time of those before its run.
    latest: u64,
}

impl Runs {
    /// Takes the record that is next in the file.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: Entry) {
        if entry.time < self.last_time {
            self.begin_run();
        }
        self.last_time = entry.time;
        self.records.push(entry);
    }

    #[inline(never)]
    fn begin_run(&mut self) {
        self.latest = self.latest.max(self.last_time);
        self.starts.push(self.records.len());
    }

    /// The latest time of all records that ever came.
    pub(crate) fn latest(&self) -> u64 {
        self.latest.max(self.last_time)
    }

    /// How many records have an earlier time.
    pub(crate) fn count_before(&self, time: u64) -> u64 {
        let before = |run| {
            self.records
                .get::<Range<usize>>(run)
                .unwrap_or_default()
                .partition_point(|entry| entry.time < time)
        };
        self.ranges().into_iter().map(before).sum::<usize>() as u64
    }

    /// Moves the records up to and with this time to the end of `out`, in order.
    pub(crate) fn take_until(&mut self, bound: u64, out: &mut Vec<Entry>) {
        if self.starts.len() > self.records.len() / SHORT {
            self.records.sort_by_key(|entry| entry.time);
            self.starts.clear();
        }
        let runs = self.ranges();
        let heads: Vec<Range<usize>> = runs.iter().map(|run| run.start..self.end_until(run, bound)).collect();
        out.reserve(heads.iter().map(ExactSizeIterator::len).sum());
        let taken = heads.iter().map(|head| head.end).collect::<Vec<_>>();
        self.merge(heads, out);
        self.keep(runs.into_iter().zip(taken).map(|(run, taken)| taken..run.end));
    }

    /// The runs, as places in `records`.
    fn ranges(&self) -> Vec<Range<usize>> {
        let starts = std::iter::once(0).chain(self.starts.iter().copied());
        let ends = self.starts.iter().copied().chain([self.records.len()]);
        starts.zip(ends).map(|(start, end)| start..end).collect()
    }

    /// Where in a run the records behind this time begin.
    fn end_until(&self, run: &Range<usize>, bound: u64) -> usize {
        let records = self.records.get(run.clone()).unwrap_or_default();
        run.start + records.partition_point(|entry| entry.time <= bound)
    }

    /// Appends the records of these parts of runs to `out`, in order.
    fn merge(&self, heads: Vec<Range<usize>>, out: &mut Vec<Entry>) {
        let part = |(nr, head)| Part::of(nr, self.records.get::<Range<usize>>(head)?);
        let mut parts: Vec<Part<'_>> = heads.into_iter().enumerate().filter_map(part).collect();
        if parts.len() > MOST_IN_ORDER {
            return merge_many(parts, out);
        }
        parts.sort_unstable();
        merge_few(parts, out);
    }

    /// Lets go of all records but these parts of runs.
    fn keep(&mut self, parts: impl Iterator<Item = Range<usize>>) {
        self.latest = self.latest();
        self.starts.clear();
        self.last_time = 0;
        let mut end = 0;
        for part in parts.filter(|part| !part.is_empty()) {
            let count = part.len();
            if self.records.get(part.start).is_some_and(|first| first.time < self.last_time) {
                self.starts.push(end);
            }
            self.records.copy_within(part, end);
            end += count;
            self.last_time =
                end.checked_sub(1).and_then(|last| self.records.get(last)).map_or(0, |last| last.time);
        }
        self.records.truncate(end);
    }

    /// How many records there are.
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// The records, in the order of the file where they were not sorted.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.records.iter()
    }
}

/// What is left of a run that is being merged.
#[derive(Clone, Copy)]
struct Part<'r> {
    /// Time of the first record that is left, and the number of the run.
    time: u64,
    nr: usize,
    left: &'r [Entry],
}

impl<'r> Part<'r> {
    fn of(nr: usize, left: &'r [Entry]) -> Option<Part<'r>> {
        left.first().map(|first| Part { time: first.time, nr, left })
    }

    /// Which is next: of equal times that of the first run.
    #[inline(always)]
    fn key(&self) -> (u64, usize) {
        (self.time, self.nr)
    }

    /// Whether there are many records with earlier times.
    #[inline(always)]
    fn is_long_before(&self, time: u64) -> bool {
        self.left.get(LONG).is_some_and(|entry| entry.time < time)
    }

    /// Takes the records with earlier times.
    fn take_before(&mut self, time: u64) -> &'r [Entry] {
        let (taken, left) = self.left.split_at(self.left.partition_point(|entry| entry.time < time));
        self.left = left;
        self.time = left.first().map_or(u64::MAX, |entry| entry.time);
        taken
    }

    /// Moves the first record to `out`, and those behind it up to and with this time. Says whether some are left.
    #[inline(always)]
    fn take(&mut self, limit: u64, out: &mut Vec<Entry>) -> bool {
        while let [first, left @ ..] = self.left {
            out.push(*first);
            self.left = left;
            let Some(next) = left.first() else { return false };
            self.time = next.time;
            if next.time > limit {
                return true;
            }
        }
        false
    }
}

/// Merges what two parts have before this time. Which one is next is as good as random: nothing waits for the answer.
fn merge_two<'r>(first: &mut Part<'r>, second: &mut Part<'r>, end: u64, out: &mut Vec<Entry>) {
    let (one, other) = if first.nr < second.nr { (first, second) } else { (second, first) };
    let (ours, theirs) = (one.take_before(end), other.take_before(end));
    let (mut at, mut their_at) = (0, 0);
    while let (Some(our), Some(their)) = (ours.get(at), theirs.get(their_at)) {
        let is_theirs = their.time < our.time;
        out.push(*select_unpredictable(is_theirs, their, our));
        their_at += usize::from(is_theirs);
        at += usize::from(!is_theirs);
    }
    out.extend_from_slice(ours.get(at..).unwrap_or_default());
    out.extend_from_slice(theirs.get(their_at..).unwrap_or_default());
}

/// Merges parts that are in order of what is next, the last first. Where it is mostly the turn of the same few, the others are not
/// looked at.
fn merge_few(mut parts: Vec<Part<'_>>, out: &mut Vec<Entry>) {
    while let [others @ .., second, first] = parts.as_mut_slice() {
        let others_begin = others.last().map_or(u64::MAX, |part| part.time);
        if first.is_long_before(others_begin) && second.is_long_before(others_begin) {
            merge_two(first, second, others_begin, out);
            parts.retain(|part| !part.left.is_empty());
            parts.sort_unstable();
            continue;
        }
        let limit = if first.nr < second.nr { second.time } else { second.time.saturating_sub(1) };
        if !first.take(limit, out) {
            parts.pop();
            continue;
        }
        std::mem::swap(first, second);
        let mut others = parts.split_last_mut().map_or(&mut [][..], |(_, others)| others);
        while let [.., later, moved] = others
            && moved.key() > later.key()
        {
            std::mem::swap(moved, later);
            others = others.split_last_mut().map_or(&mut [][..], |(_, others)| others);
        }
    }
    parts.first().into_iter().for_each(|part| out.extend_from_slice(part.left));
}

/// Merges so many parts that it would take long to put one in order among them.
fn merge_many(parts: Vec<Part<'_>>, out: &mut Vec<Entry>) {
    let mut heap = BinaryHeap::from(parts);
    while let Some(mut first) = heap.peek_mut() {
        if !first.take(0, out) {
            PeekMut::pop(first);
        }
    }
}

/// The greatest is the next.
impl Ord for Part<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Part<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Part<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What rounds of records with these times give, by `take`: after each round those up to the bound.
    fn delivered(
        rounds: &[(Vec<u64>, u64)],
        mut take: impl FnMut(&[Entry], u64) -> Vec<Entry>,
    ) -> Vec<Entry> {
        let mut index = 0;
        let mut all = Vec::new();
        for (times, bound) in rounds {
            let entries: Vec<Entry> = times
                .iter()
                .map(|&time| {
                    index += 1;
                    Entry { time, index, chunk: 0, pos: 0 }
                })
                .collect();
            all.extend(take(&entries, *bound));
        }
        all.extend(take(&[], u64::MAX));
        all
    }

    fn merged(rounds: &[(Vec<u64>, u64)]) -> Vec<Entry> {
        let mut runs = Runs::default();
        delivered(rounds, |entries, bound| {
            let mut out = Vec::new();
            entries.iter().for_each(|entry| runs.push(*entry));
            runs.take_until(bound, &mut out);
            out
        })
    }

    fn sorted(rounds: &[(Vec<u64>, u64)]) -> Vec<Entry> {
        let mut pending = Vec::new();
        delivered(rounds, |entries, bound| {
            pending.extend_from_slice(entries);
            pending.sort_by_key(|entry: &Entry| (entry.time, entry.index));
            let count = pending.partition_point(|entry| entry.time <= bound);
            pending.drain(..count).collect()
        })
    }

    /// Times as buffers have them: some runs, each rising by little; of a run of length 1 on to long ones.
    fn a_round(longest: usize) -> impl Strategy<Value = (Vec<u64>, u64)> {
        let run = (1..40u64, prop::collection::vec(0..4u64, 1..longest)).prop_map(|(first, steps)| {
            let rise = |time: &mut u64, step| {
                *time += step;
                Some(*time)
            };
            steps.into_iter().scan(first, rise).collect::<Vec<u64>>()
        });
        (prop::collection::vec(run, 0..12).prop_map(|runs| runs.concat()), 0..60u64)
    }

    proptest! {
        #[test]
        fn merged_is_sorted(rounds in prop::collection::vec(prop_oneof![a_round(2), a_round(6), a_round(40)], 0..6)) {
            prop_assert_eq!(merged(&rounds), sorted(&rounds));
        }
    }

    #[test]
    fn of_equal_times_the_first_in_the_file_is_first() {
        let rounds = [(vec![5, 5, 7, 1, 5, 9, 9, 9, 9, 9], 5), (vec![7, 7, 9, 9, 6, 7, 8, 9], 100)];
        assert_eq!(merged(&rounds), sorted(&rounds));
    }
}
