//! When a thread had a CPU, in equal parts of time: what a viewer draws below its samples.

use super::time_strip::Parts;
use crate::schedule::{Schedule, ThreadState, WhyOff};
use readperf_session::ThreadId;

/// What a thread did in each part of a stretch of time, ns. What is not known is in neither.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunningStrip {
    /// How long it had a CPU.
    pub running_ns: Vec<u64>,
    /// How long it had none although it wanted one: another thread had been preferred.
    pub preempted_ns: Vec<u64>,
}

impl Schedule {
    /// What a thread did by time.
    pub fn strip(&self, thread: ThreadId, parts: &Parts) -> RunningStrip {
        let mut strip = RunningStrip { running_ns: vec![0; parts.count], preempted_ns: vec![0; parts.count] };
        let (first, last) = (*parts.range_ns.start(), *parts.range_ns.end());
        // Spans of a thread do not overlap: those that end before the stretch come first.
        let spans = self.of(thread);
        let begin = spans.partition_point(|span| span.to_ns.is_some_and(|to| to <= first));
        for span in spans.get(begin..).unwrap_or_default() {
            let from = span.from_ns.unwrap_or(0).max(first);
            if from > last {
                break;
            }
            let to = span.to_ns.unwrap_or(u64::MAX).min(last.saturating_add(1));
            match span.state {
                ThreadState::Running { .. } => add(&mut strip.running_ns, parts, from, to),
                ThreadState::Off(WhyOff::Preempted) => add(&mut strip.preempted_ns, parts, from, to),
                ThreadState::Off(_) => {}
            }
        }
        strip
    }
}

/// Adds the time from `from` to `to`, which does not belong to it, to the parts that it lies in.
fn add(sums: &mut [u64], parts: &Parts, from: u64, to: u64) {
    let (Some(last), Some(first)) = (to.checked_sub(1).and_then(|last| parts.at(last)), parts.at(from))
    else {
        return;
    };
    for part in first..=last {
        let times = parts.times(part);
        let (begin, end) = (from.max(*times.start()), to.min(times.end().saturating_add(1)));
        if let Some(sum) = sums.get_mut(part) {
            *sum += end.saturating_sub(begin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ns_is_in_one_part() {
        for (range_ns, count) in [(10..=109, 7), (10..=109, 100), (0..=999_999, 80)] {
            let parts = Parts { range_ns: range_ns.clone(), count };
            let (start, behind) = (*range_ns.start(), range_ns.end() + 1);
            for (from, to) in
                [(start, behind), (start + 3, start + 4), (start + 13, behind - 5), (start + 7, start + 7)]
            {
                let mut sums = vec![0; count];
                add(&mut sums, &parts, from, to);
                assert_eq!(sums.iter().sum::<u64>(), to - from, "{from}..{to} of {parts:?}");
                for (part, sum) in sums.iter().enumerate() {
                    let times = parts.times(part);
                    assert!(*sum <= times.end() - times.start() + 1);
                }
            }
        }
    }
}
