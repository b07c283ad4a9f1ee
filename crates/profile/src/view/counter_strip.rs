//! What `perf stat` counted, by time: a count of an interval is spread evenly over it.

use super::time_strip::Parts;
use crate::counters::{Counters, Round};

/// The counts of an event by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CounterStrip {
    /// Index of the event.
    pub event: usize,
    /// What was counted in each part, in the event's own unit; projected where it had to take turns with others.
    pub parts: Vec<u64>,
    /// What they add up to together.
    pub total: u64,
}

impl Counters {
    /// What was counted of each event by time, in ns since the start; those that were counted nowhere are left out. Rounds that do not
    /// tell when they were are in no part.
    pub fn strips(&self, parts: &Parts) -> Vec<CounterStrip> {
        let mut strips: Vec<CounterStrip> = Vec::new();
        for round in self.rounds.iter().filter(|round| round.length_ns > 0) {
            for (owner, reading) in &round.readings {
                let Some(count) = reading.projected() else { continue };
                let at = strips.iter().position(|strip| strip.event == owner.event).unwrap_or_else(|| {
                    strips.push(CounterStrip { event: owner.event, parts: vec![0; parts.count], total: 0 });
                    strips.len() - 1
                });
                if let Some(strip) = strips.get_mut(at) {
                    strip.add(round, count, parts);
                }
            }
        }
        strips.sort_by_key(|strip| strip.event);
        strips
    }
}

impl CounterStrip {
    fn add(&mut self, round: &Round, count: u64, parts: &Parts) {
        let from = round.time_ns.saturating_sub(round.length_ns);
        let (first, last) =
            (from.max(*parts.range_ns.start()), (round.time_ns - 1).min(*parts.range_ns.end()));
        let (Some(begin), Some(end)) = (parts.at(first), parts.at(last)) else { return };
        // What had been counted at a time: differences of it add up to the whole.
        let until = |time: u64| {
            let since = u128::from(time.clamp(from, round.time_ns) - from);
            u64::try_from(u128::from(count) * since / u128::from(round.length_ns)).unwrap_or(count)
        };
        for part in begin..=end {
            let times = parts.times(part);
            let counted = until(times.end().saturating_add(1)) - until(*times.start());
            self.total = self.total.saturating_add(counted);
            if let Some(sum) = self.parts.get_mut(part) {
                *sum = sum.saturating_add(counted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{Owner, Reading, RoundKind};

    #[test]
    fn an_interval_is_spread_over_its_parts() {
        let owner = |event| Owner { event, cpu: None, thread: 0 };
        let reading = |count| Reading { count, enabled_ns: 10, running_ns: 5 };
        let round = |time_ns, length_ns, counts: &[(usize, u64)]| Round {
            kind: RoundKind::Interval,
            time_ns,
            length_ns,
            readings: counts.iter().map(|(event, count)| (owner(*event), reading(*count))).collect(),
        };
        let rounds =
            vec![round(100, 100, &[(0, 50), (3, 7)]), round(150, 50, &[(0, 1)]), round(0, 0, &[(0, 9)])];
        let mut counters = Counters::new();
        counters.rounds = rounds;
        let strips = counters.strips(&Parts { range_ns: 0..=149, count: 3 });
        // Half of the time it was not counted: twice as much is projected.
        let expected = [(0, vec![50, 50, 2], 102), (3, vec![7, 7, 0], 14)];
        let got: Vec<_> = strips.into_iter().map(|strip| (strip.event, strip.parts, strip.total)).collect();
        assert_eq!(got, expected);
        let seen = counters.strips(&Parts { range_ns: 90..=109, count: 7 });
        assert_eq!((seen[0].total, seen[0].parts.iter().sum::<u64>()), (10, 10));
    }
}
