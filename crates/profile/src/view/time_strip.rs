//! Samples by time, in equal parts: what a viewer draws as a strip, of all samples or of each thread.

use super::flame_tree::Sum;
use crate::addresses::AddressId;
use crate::profile::{Profile, SampleRow};
use crate::weight::Weight;
use readperf_session::{CpuMode, ThreadId};
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// A stretch of time in equal parts. Times are those of the recording's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The stretch, ns; both ends belong to it.
    pub range_ns: RangeInclusive<u64>,
    /// In how many parts it is cut.
    pub count: usize,
}

impl Parts {
    /// The part that a time lies in; none outside of the stretch.
    pub fn at(&self, time_ns: u64) -> Option<usize> {
        let since =
            time_ns.checked_sub(*self.range_ns.start()).filter(|_| self.range_ns.contains(&time_ns))?;
        // Nearly always that fits into 64 bits, which are divided several times as fast.
        let small = (u64::try_from(self.count).ok(), u64::try_from(self.length()).ok());
        if let (Some(count), Some(length)) = small
            && let Some(share) = since.checked_mul(count)
        {
            return usize::try_from(share / length).ok();
        }
        usize::try_from(u128::from(since) * self.count as u128 / self.length()).ok()
    }

    /// The times of a part, ns, both ends included.
    pub fn times(&self, part: usize) -> RangeInclusive<u64> {
        let begin = |part: usize| {
            let offset = (part as u128 * self.length()).div_ceil(self.count.max(1) as u128);
            u128::from(*self.range_ns.start()) + offset
        };
        let time = |time: u128| u64::try_from(time).unwrap_or(u64::MAX).min(*self.range_ns.end());
        // Where there are more parts than ns some have none of their own.
        let (first, last) = (begin(part), begin(part.saturating_add(1)).saturating_sub(1));
        time(first)..=time(last.max(first))
    }

    /// How long the stretch is, ns; never 0.
    fn length(&self) -> u128 {
        u128::from(self.range_ns.end().saturating_sub(*self.range_ns.start())) + 1
    }
}

/// Samples by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strip {
    /// What the samples in each part add up to.
    pub parts: Vec<Sum>,
    /// How many of each part were taken in the kernel.
    pub kernel: Vec<u64>,
    /// What they add up to together.
    pub total: Sum,
}

impl Strip {
    fn new(parts: &Parts) -> Strip {
        let (sums, kernel) = (vec![Sum::default(); parts.count], vec![0; parts.count]);
        Strip { parts: sums, kernel, total: Sum::default() }
    }

    #[inline]
    fn add(&mut self, profile: &Profile, parts: &Parts, time_ns: u64, sum: Sum, place: AddressId) {
        let Some(part) = parts.at(time_ns).filter(|_| time_ns > 0) else { return };
        self.total.add(sum);
        if let Some(part) = self.parts.get_mut(part) {
            part.add(sum);
        }
        let mode = profile.addresses.get(place).map(|code| code.mode);
        if let Some(kernel) = self.kernel.get_mut(part).filter(|_| mode == Some(CpuMode::Kernel)) {
            *kernel += sum.samples;
        }
    }
}

/// The samples of threads by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadStrips {
    /// Threads, that with most samples first.
    pub threads: Vec<(ThreadId, Strip)>,
    /// How many more there are.
    pub left_out: usize,
}

impl Profile {
    /// The samples of an event by time. The profile has to have kept times; samples without one are in no part.
    pub fn strip(&self, event: usize, parts: &Parts) -> Strip {
        self.strip_of(self.rows_of(event).iter().map(|row| (row, row.address)), parts)
    }

    /// Some samples by time, each with the place that says whether it is one of the kernel.
    pub fn strip_of(&self, rows: impl Iterator<Item = (SampleRow, AddressId)>, parts: &Parts) -> Strip {
        let mut strip = Strip::new(parts);
        rows.for_each(|(row, place)| strip.add(self, parts, row.time_ns, Sum::of(&row), place));
        strip
    }

    /// The same of the threads with the most of them. The profile has to have kept threads, too.
    pub fn thread_strips(
        &self,
        rows: impl Iterator<Item = (SampleRow, AddressId)> + Clone,
        parts: &Parts,
        weight: Weight,
        most: usize,
    ) -> ThreadStrips {
        let mut totals: Vec<(Sum, Option<ThreadId>)> = Vec::new();
        for (row, _) in rows.clone() {
            if row.time_ns == 0 || !parts.range_ns.contains(&row.time_ns) {
                continue;
            }
            let Some(thread) = row.thread else { continue };
            if totals.len() <= thread.index() {
                totals.resize(thread.index() + 1, (Sum::default(), None));
            }
            if let Some((sum, of)) = totals.get_mut(thread.index()) {
                *of = Some(thread);
                sum.add(Sum::of(&row));
            }
        }
        let mut threads: Vec<(Sum, ThreadId)> =
            totals.into_iter().filter_map(|(sum, thread)| Some((sum, thread?))).collect();
        threads.sort_by_key(|(sum, thread)| (Reverse(weight.of_sum(sum)), *thread));
        let left_out = threads.len().saturating_sub(most);
        threads.truncate(most);
        let threads: Vec<ThreadId> = threads.into_iter().map(|(_, thread)| thread).collect();
        let strips = self.strips_of_threads(rows, parts, &threads);
        ThreadStrips { threads: threads.into_iter().zip(strips).collect(), left_out }
    }

    /// The same of each of these threads.
    pub fn strips_of_threads(
        &self,
        rows: impl Iterator<Item = (SampleRow, AddressId)>,
        parts: &Parts,
        threads: &[ThreadId],
    ) -> Vec<Strip> {
        self.strips_of_groups(rows, parts, threads.iter().map(std::slice::from_ref))
    }

    /// The same of each of these groups of threads, none of which is in two.
    pub fn strips_of_groups<'g>(
        &self,
        rows: impl Iterator<Item = (SampleRow, AddressId)>,
        parts: &Parts,
        groups: impl Iterator<Item = &'g [ThreadId]> + Clone,
    ) -> Vec<Strip> {
        let mut strips: Vec<Strip> = groups.clone().map(|_| Strip::new(parts)).collect();
        let most = groups.clone().flatten().map(|thread| thread.index()).max().map_or(0, |most| most + 1);
        let mut places: Vec<Option<usize>> = vec![None; most];
        for (at, thread) in groups.enumerate().flat_map(|(at, group)| group.iter().map(move |one| (at, one)))
        {
            if let Some(place) = places.get_mut(thread.index()) {
                *place = Some(at);
            }
        }
        for (row, place) in rows {
            let strip = row.thread.and_then(|thread| places.get(thread.index()).copied().flatten());
            if let Some(strip) = strip.and_then(|at| strips.get_mut(at)) {
                strip.add(self, parts, row.time_ns, Sum::of(&row), place);
            }
        }
        strips
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_lies_in_the_part_whose_times_hold_it() {
        for (range_ns, count) in [(10..=109, 7), (0..=u64::MAX, 80), (5..=5, 3), (1..=2, 1000)] {
            let parts = Parts { range_ns: range_ns.clone(), count };
            let (first, last) = (*range_ns.start(), *range_ns.end());
            for step in 0..=53 {
                let time = first + u64::try_from(u128::from(last - first) * step / 53).unwrap();
                let part = parts.at(time).unwrap();
                assert!(
                    part < count && parts.times(part).contains(&time),
                    "{time} in part {part} of {parts:?}"
                );
            }
            assert_eq!(first.checked_sub(1).and_then(|before| parts.at(before)), None);
        }
    }
}
