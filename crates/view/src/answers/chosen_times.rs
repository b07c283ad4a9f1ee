//! The ranges of time that are chosen.

use super::Answers;
use readperf_explore::Step;
use std::ops::RangeInclusive;

impl Answers<'_, '_> {
    /// The ranges that are chosen, in order, in ns since the first sample, both ends included; nothing if all of the time is.
    pub(super) fn chosen_times(&self) -> Option<Vec<(u64, u64)>> {
        let left = in_all_steps(&self.explorer.state().steps)?;
        let since = |ns: u64| ns.saturating_sub(self.origin_ns);
        let recorded = left.iter().filter(|times| *times.end() >= self.origin_ns);
        Some(recorded.map(|times| (since(*times.start()), since(*times.end()))).collect())
    }
}

/// What is in a range of each step that chooses times; nothing if none does.
fn in_all_steps(steps: &[Step]) -> Option<Vec<RangeInclusive<u64>>> {
    let of_step = |step: &Step| match step {
        Step::Samples(filter) if !filter.times_ns.is_empty() => Some(in_order(&filter.times_ns)),
        _ => None,
    };
    steps.iter().filter_map(of_step).reduce(|left, more| {
        let both = left.iter().flat_map(|one| {
            more.iter().map(|other| *one.start().max(other.start())..=*one.end().min(other.end()))
        });
        both.filter(|times| !times.is_empty()).collect()
    })
}

/// Ranges by their beginning, those that meet as one.
fn in_order(ranges: &[RangeInclusive<u64>]) -> Vec<RangeInclusive<u64>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable_by_key(|times| *times.start());
    sorted.into_iter().fold(Vec::new(), |mut merged: Vec<RangeInclusive<u64>>, times| {
        match merged.last_mut() {
            Some(last) if *times.start() <= *last.end() => {
                *last = *last.start()..=*times.end().max(last.end());
            }
            _ => merged.push(times),
        }
        merged
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_profile::SampleFilter;

    fn times(times_ns: &[RangeInclusive<u64>]) -> Step {
        Step::Samples(SampleFilter { times_ns: times_ns.to_vec(), ..SampleFilter::default() })
    }

    #[test]
    fn what_all_steps_choose() {
        assert_eq!(in_all_steps(&[Step::thread(1)]), None);
        assert_eq!(
            in_all_steps(&[times(&[50..=60, 10..=20, 15..=30]), Step::thread(1)]),
            Some(vec![10..=30, 50..=60])
        );
        let steps = [times(&[10..=30, 50..=60]), times(&[0..=12, 25..=55])];
        assert_eq!(in_all_steps(&steps), Some(vec![10..=12, 25..=30, 50..=55]));
        assert_eq!(in_all_steps(&[times(&[1..=2]), times(&[3..=4])]), Some(vec![]), "nothing is left");
    }
}
